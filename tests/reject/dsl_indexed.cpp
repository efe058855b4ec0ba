// Gathers along axes and by patterns, scatters: shapes, element types, indices.
#include <tessera/kernel.hpp>
using namespace tessera;  // NOLINT: a test

void test(Tensor<Shape<8, 16>, f32> x, Tensor<Shape<8, 16>, i32> i, Tensor<Shape<3, 16>, i32> rows, Tensor<Shape<8, 4>, i32> few, Tensor<Shape<8, 4>, i16> short_few,
          Tensor<Shape<8, 4>, f32> y, Tensor<Shape<8, 8>, f32> half_row, Tensor<Shape<2, 8, 2, 4>, f32> deep, Tensor<Shape<2, 8, 2, 4>, i32> deep_i,
          Tensor<Shape<9, 16>, i32> more_i, Tensor<Shape<9, 16>, f32> more, Tensor<Shape<2, 4>, i32> index, Tensor<Shape<1, 3>, i32> three,
          Tensor<Shape<8, 16>, f16> h, Tensor<Shape<64, 512>, f16> wide, Tensor<Shape<1, 512>, f16> one_row, Tensor<Shape<1, 1>, i32> one,
          Tile<Shape<8, 16>, f32, Vec> t, Tile<Shape<8, 16>, i32, Vec> ti, Tensor<Shape<8, 6>, f32> six, Tensor<Shape<8, 16>, u32> u) {
#if CASE == 0
  (void)gather<0>(x, rows);
  (void)gather<-1>(x, few);
  (void)gather<MaskPattern::P0101>(x);
  (void)gather<MaskPattern::P1010, i32>(x);
  (void)scatter(x, few, y);
  (void)scatter<MaskPattern::P0101>(x, half_row);
  (void)scatter_update(x, index, x);
  (void)scatter_flat(t, t, ti);
  (void)scatter_strided<MaskPattern::P1111>(t, t);
#elif CASE == 1
  (void)gather<2>(x, rows);  // expect: axis_out_of_range<(&tessera::ops::gather|\(& tessera::ops::gather\)), 2, 2>
#elif CASE == 2
  (void)gather<1>(deep, deep_i);  // expect: gather_axis_has_no_instruction<1, 4>
#elif CASE == 3
  (void)gather<0>(x, few);  // expect: dim_beside_the_axis_differs<(&tessera::ops::gather|\(& tessera::ops::gather\)), 1, 16, 4>
#elif CASE == 4
  (void)gather<MaskPattern::P0001>(six);  // expect: pattern_does_not_divide<(&tessera::ops::gather|\(& tessera::ops::gather\)), 6, 4>
#elif CASE == 5
  (void)gather<MaskPattern::P1010, f16>(x);  // expect: gathered_width_differs<tessera::f16, tessera::f32>
#elif CASE == 6
  (void)scatter(x, short_few, y);  // expect: scatter_index_dtype<(&tessera::ops::scatter|\(& tessera::ops::scatter\)), tessera::i16, tessera::f32>
#elif CASE == 7
  (void)scatter(x, few, half_row);  // expect: shapes_differ<(&tessera::ops::scatter|\(& tessera::ops::scatter\)), 4, 8>
#elif CASE == 8
  (void)scatter(x, more_i, more);  // expect: scatter_source_is_larger<(&tessera::ops::scatter|\(& tessera::ops::scatter\)), 9, 8>
#elif CASE == 9
  (void)scatter(h, few, y);  // expect: operand_dtypes_differ<(&tessera::ops::scatter|\(& tessera::ops::scatter\)), tessera::f16, tessera::f32>
#elif CASE == 10
  (void)scatter<MaskPattern::P0101>(x, y);  // expect: pattern_does_not_fill_the_row<(&tessera::ops::scatter|\(& tessera::ops::scatter\)), 16, 4, 2>
#elif CASE == 11
  (void)scatter_update(deep, index, deep);  // expect: scatter_is_not_2d<(&tessera::ops::scatter_update|\(& tessera::ops::scatter_update\)), 4>
#elif CASE == 12
  (void)scatter_update(x, three, x);  // expect: scatter_update_row_count_differs<8, 3>
#elif CASE == 13
  (void)scatter_update(x, short_few, x);  // expect: row_index_is_not_i32<(&tessera::ops::scatter_update|\(& tessera::ops::scatter_update\)), tessera::i16>
#elif CASE == 14
  (void)scatter_update(wide, one, one_row);  // expect: positions_do_not_fit_i16<(&tessera::ops::scatter_update|\(& tessera::ops::scatter_update\)), 32768, 32767>
#elif CASE == 15
  (void)scatter_flat(x, x, i);  // expect: operand_is_not_a_tile<(&tessera::ops::scatter_flat|\(& tessera::ops::scatter_flat\))>
#elif CASE == 16
  (void)scatter(u, i, u);  // expect: dtype_not_supported<(&tessera::ops::scatter|\(& tessera::ops::scatter\)), tessera::u32>
#elif CASE == 17
  (void)scatter(x, 3, y);  // expect: value_is_not_recorded<(&tessera::ops::scatter|\(& tessera::ops::scatter\))>
#elif CASE == 18
  (void)gather<0>(x, 3);  // expect: value_is_not_recorded<(&tessera::ops::gather|\(& tessera::ops::gather\))>
#elif CASE == 19
  (void)scatter<MaskPattern::P0101>(more, half_row);  // expect: dim_beside_the_axis_differs<(&tessera::ops::scatter|\(& tessera::ops::scatter\)), 0, 9, 8>
#endif
}
