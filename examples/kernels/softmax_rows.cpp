// A tile operation of one's own: softmax over the rows of a tile, called with tiles in a loop with a tail, and with tensors.
#include <tessera/kernel.hpp>

namespace my_kernels {
using namespace tessera;

inline const auto softmax_rows = tileop("softmax_rows", [](Tile<Shape<16, 128>, f32, Vec> x) {
  auto e = exp(x - row_max(x));
  return e / row_sum(e);
});

// One definition, two calls: with tensors it is an operation of the tensor level.
inline const auto twice = kernel("twice", [](Tensor<Shape<16, 128>, f32> x) {
  return softmax_rows(softmax_rows(x));
});

inline const auto softmax_tails = kernel("softmax_tails", params("x", "out"),
  [](Tensor<Shape<dyn<"S">, 128>, f32> x, Out<Tensor<Shape<dyn<"S">, 128>, f32>> out) {
    for (Index i : range(0, dim(x, 0), 16)) {
      auto t = load<Shape<16, 128>>(x, at(i, 0), clamped);       // the last window may be cut off
      store(softmax_rows(t), out, at(i, 0));
    }
  });

}  // namespace my_kernels
