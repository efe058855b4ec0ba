// On rank 3, matmul is the batched product; batch dims broadcast, so one right operand serves all batches.
#include <tessera/kernel.hpp>

namespace my_kernels {
using namespace tessera;

inline const auto batched_matmul = kernel("batched_matmul", params("x", "w"),
  [](Tensor<Shape<4, 32, 64>, f16> x, Tensor<Shape<1, 64, 32>, f16> w) { return matmul(x, w); });

}  // namespace my_kernels
