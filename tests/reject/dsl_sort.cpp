// sort32 and merge_sort: widths, indices, blocks.
#include <tessera/kernel.hpp>
using namespace tessera;  // NOLINT: a test

void test(Tensor<Shape<4, 64>, f32> x, Tensor<Shape<4, 64>, u32> index, Tensor<Shape<1, 64>, u32> one, Tensor<Shape<4, 64>, i32> n,
          Tensor<Shape<4, 40>, f32> odd, Tensor<Shape<1, 512>, f16> row, Tensor<Shape<1, 512>, f32> wide, Tensor<Shape<1, 3>, f32> broken,
          Tensor<Shape<64>, u32> flat, Tensor<Shape<4, dyn<"S">>, f32> s, Tile<Shape<1, 256>, f32, Mat> mat, Index length) {
#if CASE == 0
  (void)sort32(x, index);
  (void)sort32(x, one);
  (void)merge_sort(row, 128_c);
  (void)merge_sort(row, 256);
  (void)merge_sort(row, row, row, row);
#elif CASE == 1
  (void)sort32(odd, index);  // expect: sort_width<40>
#elif CASE == 2
  (void)sort32(x, n);  // expect: sort_index_dtype<tessera::i32>
#elif CASE == 3
  (void)sort32(n, index);  // expect: dtype_not_supported<(&tessera::ops::sort32|\(& tessera::ops::sort32\)), tessera::i32>
#elif CASE == 4
  (void)sort32(wide, one);  // expect: sort_indices_differ<512, 64>
#elif CASE == 5
  (void)sort32(x, flat);  // expect: ranks_differ<(&tessera::ops::sort32|\(& tessera::ops::sort32\)), 2, 1>
#elif CASE == 6
  (void)sort32(s, index);  // expect: tile_dim_is_dynamic<(&tessera::ops::sort32|\(& tessera::ops::sort32\)), .*"S"
#elif CASE == 7
  (void)merge_sort(x, 64_c);  // expect: merge_is_for_one_row<(&tessera::ops::merge_sort|\(& tessera::ops::merge_sort\)), 4>
#elif CASE == 8
  (void)merge_sort(row, 96_c);  // expect: merge_block_length<96>
#elif CASE == 9
  (void)merge_sort(row, 512_c);  // expect: merge_blocks_do_not_group<512, 512>
#elif CASE == 10
  (void)merge_sort(row, length);  // expect: merge_block_is_not_constant<>
#elif CASE == 11
  (void)merge_sort(row, wide);  // expect: operand_dtypes_differ<(&tessera::ops::merge_sort2|\(& tessera::ops::merge_sort2\)), tessera::f16, tessera::f32>
#elif CASE == 12
  (void)merge_sort(wide, broken, wide);  // expect: merge_list_is_not_whole_pairs<(&tessera::ops::merge_sort3|\(& tessera::ops::merge_sort3\)), 3>
#elif CASE == 13
  (void)merge_sort(mat, mat);  // expect: operand_is_in_the_wrong_space<(&tessera::ops::merge_sort2|\(& tessera::ops::merge_sort2\)), 0, tessera::Mat>
#elif CASE == 14
  (void)sort32(x, 1.0f);  // expect: value_is_not_recorded<(&tessera::ops::sort32|\(& tessera::ops::sort32\))>
#endif
}
