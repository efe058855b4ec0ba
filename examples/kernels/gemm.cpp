// A matrix product with explicit memory spaces: GM to Mat, Mat to Left and Right, the sum in Acc, and back.
#include <tessera/kernel.hpp>

namespace my_kernels {
using namespace tessera;

inline const auto gemm = kernel("gemm", [](Tensor<Shape<256, 512>, f16> a, Tensor<Shape<512, 256>, f16> b, Out<Tensor<Shape<256, 256>, f32>> c) {
  for (Index i : range(0, 256, 128)) for (Index j : range(0, 256, 128)) {
    Var acc = tile<Shape<128, 128>, f32, Acc>();
    for (Index k : range(0, 512, 64)) {
      auto l = move<Left>(load<Shape<128, 64>, Mat>(a, at(i, k)));
      auto r = move<Right>(load<Shape<64, 128>, Mat>(b, at(k, j)));
      if_(k == 0, [&] { acc = matmul(l, r); }, [&] { acc = matmul_acc(acc, l, r); });
    }
    store(acc, c, at(i, j));
  }
});

}  // namespace my_kernels
