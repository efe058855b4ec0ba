// Tile level: the loop, the windows and what is on chip are yours.
#include <tessera/kernel.hpp>

namespace my_kernels {
using namespace tessera;

inline const auto scaled_add = kernel("scaled_add", params("a", "b", "s", "out"),
  [](Tensor<Shape<256, 128>, f32> a, Tensor<Shape<256, 128>, f32> b, Scalar<f32> s, Out<Tensor<Shape<256, 128>, f32>> out) {
    for (Index i : range(0, 256, 32)) {
      auto ta = load<Shape<32, 128>>(a, at(i, 0));  // Tile<Shape<32,128>, f32, Vec>
      auto tb = load<Shape<32, 128>>(b, at(i, 0));
      store(ta + tb * s, out, at(i, 0));
    }
  });

}  // namespace my_kernels
