#include <tessera/kernel.hpp>

namespace my_kernels {
using namespace tessera;

inline const auto ten_operations = kernel("ten_operations", [](Tensor<Shape<16, 64>, f32> x, Tensor<Shape<16, 64>, f32> y) {
  auto a = x + y;
  auto b = a * x;
  auto c = b - row_max(b);
  auto d = c / y;
  auto e = sqrt(d) * 2.0f;
  auto f = maximum(e, y);
  auto g = abs(f) + x;
  return g / row_sum(g);
});

inline const auto gemm = kernel("gemm", [](Tensor<Shape<128, 256>, f16> a, Tensor<Shape<256, 128>, f16> b, Out<Tensor<Shape<128, 128>, f32>> c) {
  for (Index i : range(0, 128, 64)) {
    Var acc = tile<Shape<64, 128>, f32, Acc>();
    for (Index k : range(0, 256, 64)) {
      auto l = move<Left>(load<Shape<64, 64>, Mat>(a, at(i, k)));
      auto r = move<Right>(load<Shape<64, 128>, Mat>(b, at(k, 0)));
      if_(k == 0, [&] { acc = matmul(l, r); }, [&] { acc = matmul_acc(acc, l, r); });
    }
    store(acc, c, at(i, 0));
  }
});

}  // namespace my_kernels
