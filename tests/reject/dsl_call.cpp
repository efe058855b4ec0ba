// Calls of kernels: count and types of arguments, named dims; what registers callers.
#include <tessera/kernel.hpp>
using namespace tessera;  // NOLINT: a test
using X = Tensor<Shape<16, 64>, f32>;
using S = Tensor<Shape<dyn<"S">, 64>, f32>;
using T = Tensor<Shape<dyn<"T">, 64>, f32>;

inline const auto k = kernel("k", [](X x, Scalar<f32> s, Index n, Out<X> o) { o = x * s + read(x, at(n, 0)); });
inline const auto pair_sum = kernel("pair_sum", [](S x, S y, Out<S> o) { write(o, at(0, 0), read(x, at(0, 0)) + read(y, at(0, 0))); });
inline const auto grow = orchestration("grow", [](S x) {
  auto o = create<Shape<dyn<"S">, 64>, f32>();
  pair_sum(x, x, o);
  return o;
});

#if CASE == 15
inline const auto w = orchestration("w", [](auto y) { return y; });  // expect: kernel_lambda_is_generic<>
#elif CASE == 16
inline const auto w = group("w", params("a"), [](X y, X z) { return results(y, z); });  // expect: kernel_parameter_name_count_differs<1, 2>
#elif CASE == 17
inline const auto w = spmd("w", 2, [](X y) { return dim(y, 0); });  // expect: kernel_returns_something_else<>
#elif CASE == 18
inline const auto w = spmd("w", 2.5, [](X y) { return y; });  // expect: spmd_block_count_is_not_an_integer<>
#elif CASE == 19
inline const auto w = spmd("w", params("y"), [](X y) { return y; });  // expect: spmd_block_count_is_not_an_integer<>
#endif

void test(X x, Tensor<Shape<16, 64>, bf16> h, Tensor<Shape<16, 32>, f32> narrow, Tensor<Shape<16>, f32> row, S s, T t, Out<X> o, Scalar<f32> f, Scalar<i32> i) {
#if CASE == 0
  k(x, f, i, o);
  k(x, 2, i + 1, x);
  pair_sum(x, x, x);
  pair_sum(t, t, t);
  (void)grow(s);
#elif CASE == 1
  k(x, f, i);  // expect: call_argument_count_differs<3, 4>
#elif CASE == 2
  k(x, f, i, o, o);  // expect: call_argument_count_differs<5, 4>
#elif CASE == 3
  k(f, f, i, o);  // expect: call_argument_is_not_a_tensor<0>
#elif CASE == 4
  k(x, f, i, 3);  // expect: call_argument_is_not_a_tensor<3>
#elif CASE == 5
  k(h, f, i, o);  // expect: call_argument_dtype_differs<0, tessera::bf16, tessera::f32>
#elif CASE == 6
  k(row, f, i, o);  // expect: call_argument_rank_differs<0, 1, 2>
#elif CASE == 7
  k(x, f, i, narrow);  // expect: call_argument_dim_differs<3, 1, 32, 64>
#elif CASE == 8
  k(s, f, i, o);  // expect: call_argument_dim_differs<0, 0, .*"S".*, 16>
#elif CASE == 9
  k(x, i, i, o);  // expect: call_number_does_not_fit<1, tessera::f32>
#elif CASE == 10
  k(x, f, 1.5, o);  // expect: call_number_does_not_fit<2, tessera::index_type>
#elif CASE == 11
  pair_sum(s, t, s);  // expect: call_dim_has_two_sizes<1, .*"S".*, .*"S".*, .*"T"
#elif CASE == 12
  pair_sum(x, s, s);  // expect: call_dim_has_two_sizes<1, .*"S".*, 16, .*"S"
#elif CASE == 13
  (void)grow(t);  // expect: call_result_dim_is_renamed<.*"S".*, .*"T"
#elif CASE == 14
  k(load<Shape<16, 64>>(x, at(0, 0)), f, i, o);  // expect: call_argument_is_not_a_tensor<0>
#endif
}
