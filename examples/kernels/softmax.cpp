// Rows that sum to one: the smallest complete kernel. Written on tensors; the compiler loads, stores and places the tiles.
#include <tessera/kernel.hpp>

namespace my_kernels {
using namespace tessera;

inline const auto softmax = kernel("softmax", [](Tensor<Shape<64, 128>, f32> x) {
  auto e = exp(x - row_max(x));  // recorded once, used twice
  return e / row_sum(e);         // a result becomes an Out parameter with a store
});

}  // namespace my_kernels
