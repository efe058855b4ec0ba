// Tensors of rank 3: tiles become 2-D on the way, here [4,16,64] to [64,64].
#include <tessera/kernel.hpp>

namespace my_kernels {
using namespace tessera;

inline const auto elementwise_3d = kernel("elementwise_3d", params("a", "b"),
  [](Tensor<Shape<4, 16, 64>, f32> a, Tensor<Shape<4, 16, 64>, f32> b) {
    auto larger = maximum(a, b);
    return larger * 2.0f - abs(a * b);
  });

}  // namespace my_kernels
