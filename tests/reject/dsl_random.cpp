// random: shapes, element types, words of key and counter.
#include <tessera/kernel.hpp>
using namespace tessera;  // NOLINT: a test

void test(Index i, Scalar<i32> n, Scalar<u32> u, Scalar<f32> f) {
  (void)i, (void)n, (void)u, (void)f;
#if CASE == 0
  (void)random<Shape<4, 256>, u32>(philox_key(n, 2), philox_counter(cast<i32>(i), u, 0xFFFFFFFFu, 0_c));
  (void)random<Shape<1, 7>, i32, Vec>(philox_key(1, 2), philox_counter(n + 1, 0, 0, 0), 7);
#elif CASE == 1
  (void)random<Shape<4, 256>, f32>(philox_key(1, 2), philox_counter(0, 0, 0, 0));  // expect: dtype_not_supported<(&tessera::ops::random|\(& tessera::ops::random\)), tessera::f32>
#elif CASE == 2
  (void)random<Shape<2, 4, 256>, u32>(philox_key(1, 2), philox_counter(0, 0, 0, 0));  // expect: random_is_not_rows<3, 256>
#elif CASE == 3
  (void)random<Shape<256, 1>, u32>(philox_key(1, 2), philox_counter(0, 0, 0, 0));  // expect: random_is_not_rows<2, 1>
#elif CASE == 4
  philox_counter(i, 0, 0, 0);  // expect: random_word_is_not_i32<>
#elif CASE == 5
  philox_key(1, 2.5);  // expect: random_word_is_not_i32<>
#elif CASE == 6
  philox_key(1, f);  // expect: random_word_is_not_i32<>
#elif CASE == 7
  (void)random<Shape<4, 256>, u32, Mat>(philox_key(1, 2), philox_counter(0, 0, 0, 0));  // expect: result_is_in_the_wrong_space<(&tessera::ops::random|\(& tessera::ops::random\)), tessera::Mat>
#elif CASE == 8
  (void)random<Shape<4, dyn<"S">>, u32>(philox_key(1, 2), philox_counter(0, 0, 0, 0));  // expect: tile_dim_is_dynamic<(&tessera::ops::random|\(& tessera::ops::random\)), .*>
#endif
}
