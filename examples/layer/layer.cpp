// A layer of several kernels: tensors between them are created where a kernel returns one, or by create.
#include "kernels.hpp"

namespace my_layer {

inline const auto scale = spmd("scale", 8, params("x", "factor", "out"),
  [](Tensor<Shape<64, 128>, f32> x, Scalar<f32> factor, Out<Tensor<Shape<64, 128>, f32>> out) { scale_rows(x, factor, out); });

inline const auto layer = orchestration("layer", params("x", "weight", "bias", "repeats"),
  [](Tensor<Shape<64, 128>, f32> x, Tensor<Shape<128, 128>, f32> weight, Tensor<Shape<1, 128>, f32> bias, Index repeats) {
    Var h = linear(x, weight, bias);
    for (Index i : range(repeats)) {
      auto scaled = create<Shape<64, 128>, f32>();
      scale(h, 0.125f, scaled);
      h = linear(scaled, weight, bias);
    }
    return softmax(h);
  });

}  // namespace my_layer
