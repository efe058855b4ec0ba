// A variable that a loop carries; how often the loop runs is known at run time only.
#include <tessera/kernel.hpp>

namespace my_kernels {
using namespace tessera;

inline const auto running_max = kernel("running_max", [](Tensor<Shape<1024, 64>, f32> x, Scalar<i32> n) {
  Var m = full<Shape<1, 64>, f32>(-infinity);  // tessera::infinity: no <cmath> needed
  for (Index i : range(0, n, 1)) m = maximum(m, slice<Shape<1, 64>>(x, at(i, 0)));
  return m;
});

}  // namespace my_kernels
