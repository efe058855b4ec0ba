// Rows of mean 0 and variance 1, scaled and shifted by one row each. Columns [M,1] and rows [1,N] broadcast by themselves.
#include <tessera/kernel.hpp>

namespace my_kernels {
using namespace tessera;

inline const auto layer_norm = kernel("layer_norm", params("x", "gamma", "beta"),
  [](Tensor<Shape<32, 256>, f32> x, Tensor<Shape<1, 256>, f32> gamma, Tensor<Shape<1, 256>, f32> beta) {
    constexpr float per_row = 1.0f / 256;
    auto centred = x - row_sum(x) * per_row;
    auto variance = row_sum(centred * centred) * per_row;
    return centred * rsqrt(variance + 1e-5f) * gamma + beta;
  });

}  // namespace my_kernels
