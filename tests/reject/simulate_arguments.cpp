// Arguments of simulate: arrays that fit the kernel's parameters, in their order.
#include <tessera/simulate.hpp>
using namespace tessera;  // NOLINT: a test

namespace {
const auto scale = kernel("scale", [](Tensor<Shape<4, 64>, f32> x, Scalar<f32> s, Out<Tensor<Shape<4, 64>, f32>> y) { y = x * s; });
}

void test(Array<Tensor<Shape<4, 64>, f32>> x, const Array<Tensor<Shape<4, 64>, f32>>& constant, Array<Tensor<Shape<4, 64>, f16>> half,
          Array<Tensor<Shape<64, 4>, f32>> turned) {
#if CASE == 0
  simulate(scale, x, 2.0, x);
  simulate(scale, constant, 2, x);
  simulate(scale, {.arch = Arch::a5}, constant, 2.0f, x);
  (void)half;
  (void)turned;
#elif CASE == 1
  simulate(scale, x, 2.0);  // expect: simulate_argument_count_differs<2, 3>
#elif CASE == 2
  simulate(scale, half, 2.0, x);  // expect: simulate_argument_does_not_fit<0>
#elif CASE == 3
  simulate(scale, turned, 2.0, x);  // expect: simulate_argument_does_not_fit<0>
#elif CASE == 4
  simulate(scale, x, x, x);  // expect: simulate_argument_does_not_fit<1>
#elif CASE == 5
  simulate(scale, x, 2.0, constant);  // expect: simulate_argument_does_not_fit<2>
#elif CASE == 6
  simulate(scale, {.arch = Arch::a5}, x, 2.0, half);  // expect: simulate_argument_does_not_fit<2>
#elif CASE == 7
  const SimulateOptions options;
  simulate(scale, options, x);  // expect: simulate_argument_count_differs<1, 3>
#endif
}
