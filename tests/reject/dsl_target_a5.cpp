// What the target a5 does not have.
#define TESSERA_TARGET_A5
#include <tessera/kernel.hpp>
using namespace tessera;  // NOLINT: a test

void test(Tensor<Shape<4, 64>, i8> i, Tensor<Shape<4, 64>, i32> w, Tensor<Shape<4096, 64>, f32> x) {
#if CASE == 0
  (void)(i + i);
  (void)(w / w);
  (void)load<Shape<512, 64>>(x, at(0, 0));
#elif CASE == 1
  (void)load<Shape<2048, 64>>(x, at(0, 0));  // expect: tile_is_larger_than_its_space<tessera::Vec, 524288, [0-9]+>
#elif CASE == 2
  (void)tile<Shape<512, 64>, f32, Left>();  // expect: tile_is_larger_than_its_space<tessera::Left, 131072, [0-9]+>
#endif
}
