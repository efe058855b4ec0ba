// One operation on whole tensors.
#include <tessera/kernel.hpp>

namespace my_kernels {
using namespace tessera;

inline const auto vector_add =
    kernel("vector_add", params("a", "b"), [](Tensor<Shape<64, 256>, f32> a, Tensor<Shape<64, 256>, f32> b) { return a + b; });

}  // namespace my_kernels
