// A family of kernels is an ordinary template; each member that is used is a kernel with a name of its own.
#include <tessera/kernel.hpp>

namespace my_kernels {
using namespace tessera;

template <int M, int N>
auto rms_norm() {
  return kernel("rms_norm_" + dims<M, N>(), params("x", "gamma"),
    [](Tensor<Shape<M, N>, bf16> x, Tensor<Shape<1, N>, bf16> gamma) {
      auto xf = cast<f32>(x);
      auto inv = rsqrt(row_sum(xf * xf) * (1.0f / N) + 1e-6f);
      return cast<bf16>(xf * inv * cast<f32>(gamma));  // [M,1] and [1,N] broadcasts are chosen by the compiler
    });
}
inline const auto rms_norm_16x512 = rms_norm<16, 512>();

}  // namespace my_kernels
