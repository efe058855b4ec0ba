// A dim that is known at run time only, in windows of 16 rows; the last window may hold fewer.
#include <tessera/kernel.hpp>

namespace my_kernels {
using namespace tessera;

inline const auto widen = kernel("widen", [](Tensor<Shape<4, dyn<"S">, 512>, bf16> x, Out<Tensor<Shape<4, dyn<"S">, 512>, f32>> out) {
  Index s = dim(x, 1);
  for (Index b : range(4)) for (Index c : range(0, s, 16)) {
    auto t = load<Shape<1, 16, 512>>(x, at(b, c, 0), valid(1, min(16, s - c), 512));
    store(cast<f32>(t), out, at(b, c, 0));  // stores what is valid
  }
});

}  // namespace my_kernels
