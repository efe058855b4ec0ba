// kernel(...): its lambda, parameters, names and results. Where a lambda has an error, clang adds that it has no call operator.
#include <tessera/kernel.hpp>
#include <vector>
using namespace tessera;  // NOLINT: a test
using X = Tensor<Shape<16, 64>, f32>;

#if CASE == 0
inline const auto k = kernel("k", params("x", "n"), [](X x, Scalar<f32> n) { return x * n; });
inline const auto k2 = kernel("k2", [](const X& x, Out<X> o) noexcept { o = exp(x); });
inline const auto k3 = kernel("k3", [n = 0](X x) mutable { ++n; return results(exp(x), x + 1); });
#elif CASE == 1
inline const auto k = kernel("k", [](auto x) { return x; });  // expect: kernel_lambda_is_generic<>
#elif CASE == 2
inline const auto k = kernel("k", [](X x, int n) { return x + n; });  // expect: kernel_parameter_type_is_not_supported<>
#elif CASE == 3
inline const auto k = kernel("k", [](std::vector<X> x) { return x[0]; });  // expect: kernel_parameter_type_is_not_supported<>
#elif CASE == 4
inline const auto k = kernel("k", [](Tile<Shape<16, 64>, f32, Vec> x) { return x; });  // expect: kernel_parameter_type_is_not_supported<>
#elif CASE == 5
inline const auto k = kernel("k", [](X x, Out<X>& o) { o = x; });  // expect: kernel_parameter_type_is_not_supported<>
#elif CASE == 6
inline const auto k = kernel("k", [](X x) { (void)x; return 3; });  // expect: kernel_returns_something_else<>
#elif CASE == 7
inline const auto k = kernel("k", [](X x) { return dim(x, 0); });  // expect: kernel_returns_something_else<>
#elif CASE == 8
inline const auto k = kernel("k", [](X x) { return results(x, dim(x, 0)); });  // expect: kernel_returns_something_else<>
#elif CASE == 9
inline const auto k = kernel("k", params("x"), [](X x, X y) { return x + y; });  // expect: kernel_parameter_name_count_differs<1, 2>
#elif CASE == 10
inline const auto k = kernel("k", params("x", "y", "z"), [](X x, X y) { return x + y; });  // expect: kernel_parameter_name_count_differs<3, 2>
#elif CASE == 11
inline const auto k = kernel("k", 3);  // expect: kernel_body_is_not_a_lambda<>
#elif CASE == 12
X scaled(X x);
inline const auto k = kernel("k", scaled);  // expect: kernel_body_is_not_a_lambda<>
#elif CASE == 13
inline const auto k = kernel("k", params("x"), [](auto x) { return x; });  // expect: kernel_lambda_is_generic<>
#elif CASE == 14
// errors: 1|2
inline const auto k = kernel("k", [](X x, Tensor<Shape<16, 32>, f32> y) {
  auto e = exp(x + y);  // expect: add_shapes_do_not_broadcast<64, 32>
  return e / row_sum(e);
});
#elif CASE == 15
// errors: 1|2
inline const auto k = kernel("k", [](X x, Tensor<Shape<16, 32>, f32> y) {
  auto e = exp(x);
  return e * y;  // expect: mul_shapes_do_not_broadcast<64, 32>
});
#elif CASE == 16
// errors: 1|2
inline const auto k = kernel("k", params("x", "y"), [](X x, Tensor<Shape<16, 32>, f32> y) {
  return x - y;  // expect: sub_shapes_do_not_broadcast<64, 32>
});
#elif CASE == 17
inline const auto k = kernel("k", [](X x, Tensor<Shape<16, 32>, f32> y, Out<X> o) {
  store(x + y, o, at(0, 0));  // expect: add_shapes_do_not_broadcast<64, 32>
});
#elif CASE == 18
inline const auto k = kernel("k", [](X x) { return exp(x); });
void test() {
  (void)k.trace();  // expect: trace_needs_include_tessera_compile_hpp<>
}
#elif CASE == 19
inline const auto k = kernel("k", params("x", 3), [](X x, X y) { return x + y; });  // expect: parameter_name_is_not_text<>
#elif CASE == 20
// errors: 1|2
inline const auto k = kernel("k", [](X x) {
  return results(x, x, x, x, x);  // expect: result_count_is_not_supported<5>
});
#elif CASE == 21
// errors: 1|2
inline const auto k = kernel("k", [](X) {
  return results();  // expect: result_count_is_not_supported<0>
});
#endif
