// The kernels of the layer. In a header, so that any source can call them; each is registered once.
#pragma once

#include <tessera/kernel.hpp>

namespace my_layer {
using namespace tessera;

inline const auto linear = kernel("linear", params("x", "weight", "bias"),
  [](Tensor<Shape<64, 128>, f32> x, Tensor<Shape<128, 128>, f32> weight, Tensor<Shape<1, 128>, f32> bias) {
    return relu(matmul(x, transpose(weight)) + bias);
  });

inline const auto softmax = kernel("softmax", params("x"), [](Tensor<Shape<64, 128>, f32> x) {
  auto e = exp(x - row_max(x));
  return e / row_sum(e);
});

// Each block scales its share of the rows, so that a wrapper can spread them over the cores.
inline const auto scale_rows = kernel("scale_rows", params("x", "factor", "out"),
  [](Tensor<Shape<64, 128>, f32> x, Scalar<f32> factor, Out<Tensor<Shape<64, 128>, f32>> out) {
    Index rows = 64 / block_count();
    for (Index i : range(0, rows, 8)) {
      Index first = block_index() * rows + i;
      store(load<Shape<8, 128>>(x, at(first, 0)) * factor, out, at(first, 0));
    }
  });

}  // namespace my_layer
