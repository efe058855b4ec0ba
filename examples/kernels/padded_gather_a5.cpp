// A gather, element by element, in 256 threads: where the index is the one that stands for nothing, the thread writes zero and
// reads nothing. A launch has a fixed count of threads, so each takes every 256th element.
#include <tessera/kernel.hpp>

namespace my_kernels {
using namespace tessera;

inline const auto padded_gather = simt("padded_gather", threads(256), params("x", "indices", "padding", "out"),
  [](Tensor<Shape<dyn<"N">>, f32> x, Tensor<Shape<dyn<"M">>, i32> indices, Scalar<i32> padding, Out<Tensor<Shape<dyn<"M">>, f32>> out) {
    for (Index k : range(thread_index(), dim(indices, 0), thread_count())) {
      auto i = read(indices, at(k));
      Var value = 0.0f;
      if_(i != padding, [&] { value = read(x, at(i)); });
      write(out, at(k), value);
    }
  });

}  // namespace my_kernels
