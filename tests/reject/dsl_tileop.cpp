// tileop(...): its lambda, and the arguments of its calls with tiles and with tensors.
#include <tessera/kernel.hpp>
using namespace tessera;  // NOLINT: a test
using T = Tile<Shape<16, 64>, f32, Vec>;
using X = Tensor<Shape<16, 64>, f32>;
using S = Tensor<Shape<dyn<"S">, 64>, f32>;

inline const auto f = tileop("f", params("x", "y"), [](T x, T y) { return x + y; });
inline const auto g = tileop("g", [](InOut<T> y, T x, Scalar<f32> s, Index n) { y = y + x * s * cast<f32>(n); });
inline const auto h = tileop("h", [](S x, Out<S> out) { store(load<Shape<16, 64>>(x, at(0, 0), clamped), out, at(0, 0)); });
inline const auto left = tileop("left", [](Tile<Shape<16, 64>, f16, Mat> x) { return move<Left>(x); });
inline const auto acc = tileop("acc", [](Tile<Shape<16, 64>, f32, Acc> x) { return move<Vec>(x) + 1.0f; });

#if CASE == 20
inline const auto w = tileop("w", [](auto x) { return x; });  // expect: kernel_lambda_is_generic<>
#elif CASE == 21
inline const auto w = tileop("w", [](T x, int n) { return x + n; });  // expect: tileop_parameter_type_is_not_supported<>
#elif CASE == 22
inline const auto w = tileop("w", [](T x, Out<T>& y) { y = x; });  // expect: tileop_parameter_type_is_not_supported<>
#elif CASE == 23
inline const auto w = tileop("w", [](X x) { return exp(x); });  // expect: tileop_returns_something_else<>
#elif CASE == 24
inline const auto w = tileop("w", [](T x) { return results(x, read(x, at(0, 0))); });  // expect: tileop_returns_something_else<>
#elif CASE == 25
inline const auto w = tileop("w", params("x", "y"), [](T x) { return exp(x); });  // expect: kernel_parameter_name_count_differs<2, 1>
#elif CASE == 26
inline const auto w = tileop("w", 3);  // expect: kernel_body_is_not_a_lambda<>
#elif CASE == 27
inline const auto w = tileop("w", [](T x) { return x > 0.0f; });  // expect: mask_is_for_select_only<>
#elif CASE == 28
// errors: 1|2
inline const auto w = tileop("w", [](T x, Out<T> y) {
  y = row_sum(x);  // expect: assigned_type_differs<64, 1>
});
#elif CASE == 29
inline const auto w = tileop("w", [](Tile<Shape<16, 64>, boolean, Vec> m, T x) { return select(m, x, 2.0f); });  // expect: tileop_parameter_type_is_not_supported<>
#elif CASE == 30
inline const auto w = tileop("w", [](Tile<Shape<16, 64>, f32, Gm> x) { return x; });  // expect: tileop_parameter_type_is_not_supported<>
#endif

void test(T t, X x, S s, Out<S> os, Tile<Shape<16, 64>, f16, Vec> half, Tile<Shape<16, 32>, f32, Vec> narrow, Tile<Shape<64>, f32, Vec> row,
          Tile<Shape<16, 64>, f32, Mat> mat, Tensor<Shape<8, 64>, f32> few, Tensor<Shape<16, 64>, f16> halves) {
  Var v = t;
  Var w = x;
#if CASE == 0
  T a = f(t, exp(t));
  X b = f(x, exp(x) + 1.0f);
  g(v, t, 2, 3);
  g(w, x + 1.0f, 2, 3);
  h(s, os);
  (void)f(a, v);
  (void)f(b, w);
#elif CASE == 1
  (void)f(t);  // expect: call_argument_count_differs<1, 2>
#elif CASE == 2
  (void)f(t, 2.0f);  // expect: tileop_argument_is_not_a_tile<1>
#elif CASE == 3
  (void)f(mat, t);  // expect: tileop_argument_space_differs<0, tessera::Mat, tessera::Vec>
#elif CASE == 4
  (void)f(t, half);  // expect: call_argument_dtype_differs<1, tessera::f16, tessera::f32>
#elif CASE == 5
  (void)f(t, row);  // expect: tileop_argument_rank_differs<1, 1, 2>
#elif CASE == 6
  (void)f(t, narrow);  // expect: tileop_argument_dim_differs<1, 1, 32, 64>
#elif CASE == 7
  (void)f(few, x);  // expect: tileop_argument_dim_differs<0, 0, 8, 16>
#elif CASE == 8
  (void)f(s, x);  // expect: tileop_argument_dim_differs<0, 0, .*"S".*, 16>
#elif CASE == 9
  (void)f(x, t);  // expect: tileop_mixes_tensors_and_tiles<1, 0>
#elif CASE == 10
  g(t, t, 2, 3);  // expect: tileop_output_is_not_a_variable<0>
#elif CASE == 11
  g(v, t, 2, 1.5);  // expect: call_number_does_not_fit<3, tessera::index_type>
#elif CASE == 12
  h(s, s);  // expect: not_an_output<
#elif CASE == 13
  h(t, os);  // expect: call_argument_is_not_a_tensor<0>
#elif CASE == 14
  (void)acc(x);  // expect: tileop_tensor_has_no_way_to_the_space<0, tessera::Acc>
#elif CASE == 15
  (void)left(halves);  // expect: tileop_result_has_no_way_to_a_tensor<tessera::Left>
#elif CASE == 16
  (void)f(exp(t), exp(x));  // expect: tileop_mixes_tensors_and_tiles<0, 1>
#elif CASE == 17
  g(exp(t), t, 2, 3);  // expect: tileop_output_is_not_a_variable<0>
#elif CASE == 18
  h(few, os);  // expect: call_dim_has_two_sizes<1
#elif CASE == 19
  const Var c = t;
  g(c, t, 2, 3);  // expect: tileop_output_is_not_a_variable<0>
#endif
}
