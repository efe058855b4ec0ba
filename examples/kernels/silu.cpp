// The gate of many language models, silu(gate) * up: 16-bit in memory, 32-bit while computing.
#include <tessera/kernel.hpp>

namespace my_kernels {
using namespace tessera;

inline const auto silu = kernel("silu", params("gate", "up"), [](Tensor<Shape<32, 256>, bf16> gate, Tensor<Shape<32, 256>, bf16> up) {
  auto g = cast<f32>(gate);
  auto activated = g / (exp(-g) + 1.0f);
  return cast<bf16>(activated * cast<f32>(up));
});

}  // namespace my_kernels
