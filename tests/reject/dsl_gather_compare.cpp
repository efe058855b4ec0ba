// gather_compare: shapes, element types, places, comparisons.
#include <tessera/kernel.hpp>
using namespace tessera;  // NOLINT: a test

void test(Tensor<Shape<8, 64>, f32> x, Tensor<Shape<8, 64>, i32> i, Tensor<Shape<8, 64>, bf16> b, Tensor<Shape<8, 48>, f32> narrow,
          Tensor<Shape<2, 8, 64>, f32> deep, Tile<Shape<8, 64>, f32, Vec> t, Scalar<f32> k, Scalar<f16> h) {
  (void)x, (void)i, (void)b, (void)narrow, (void)deep, (void)t, (void)k, (void)h;
#if CASE == 0
  (void)gather_compare<Compare::eq, 8>(x, k);
  (void)gather_compare<Compare::gt, 64>(t + 1, 0.5f, 3);
  (void)gather_compare<Compare::gt, 16>(i, 3);
#elif CASE == 1
  (void)gather_compare<Compare::lt, 8>(x, k);  // expect: matches_are_by_eq_or_gt<(&tessera::ops::find_positions|\(& tessera::ops::find_positions\))>
#elif CASE == 2
  (void)gather_compare<Compare::eq, 12>(x, k);  // expect: match_places<12, 64>
#elif CASE == 3
  (void)gather_compare<Compare::eq, 72>(x, k);  // expect: match_places<72, 64>
#elif CASE == 4
  (void)gather_compare<Compare::eq, 8>(narrow, k);  // expect: matches_are_of_rows_of_64<(&tessera::ops::find_positions|\(& tessera::ops::find_positions\)), 2, 48>
#elif CASE == 5
  (void)gather_compare<Compare::eq, 8>(deep, k);  // expect: matches_are_of_rows_of_64<(&tessera::ops::find_positions|\(& tessera::ops::find_positions\)), 3, 64>
#elif CASE == 6
  (void)gather_compare<Compare::eq, 8>(b, 1.0f);  // expect: dtype_not_supported<(&tessera::ops::find_positions|\(& tessera::ops::find_positions\)), tessera::bf16>
#elif CASE == 7
  (void)gather_compare<Compare::eq, 8>(x, h);  // expect: scalar_dtype_differs<(&tessera::ops::find_positions|\(& tessera::ops::find_positions\)), tessera::f32, tessera::f16>
#elif CASE == 8
  (void)gather_compare<Compare::eq, 8>(i, 0.5f);  // expect: floating_literal_with_integers<(&tessera::ops::find_positions|\(& tessera::ops::find_positions\)), tessera::i32>
#endif
}
