// The Gaussian error linear unit in its sigmoid form, x / (1 + exp(-1.702 x)): within 0.021 of the exact one.
#include <tessera/kernel.hpp>

namespace my_kernels {
using namespace tessera;

inline const auto gelu = kernel("gelu", params("x"), [](Tensor<Shape<64, 128>, f32> x) {
  auto gate = recip(exp(x * -1.702f) + 1.0f);
  return x * gate;
});

}  // namespace my_kernels
