// A layer at tensor level: the compiler loads the weights transposed, moves operands into the cube's memories and the sum out.
#include <tessera/kernel.hpp>

namespace my_kernels {
using namespace tessera;

inline const auto fused_linear = kernel("fused_linear", params("x", "weight", "bias"),
  [](Tensor<Shape<64, 128>, f16> x, Tensor<Shape<128, 128>, f16> weight, Tensor<Shape<1, 128>, f32> bias) {
    return relu(matmul(x, transpose(weight)) + bias);
  });

}  // namespace my_kernels
