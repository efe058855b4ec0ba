// create in Mat, gather_row and paged_gather: windows, places and sizes.
#include <tessera/kernel.hpp>
using namespace tessera;  // NOLINT: a test

using Acc2 = Tensor<Shape<16, 64>, f16>;
void test(Acc2 acc, Tensor<Shape<256, 64>, f16> pool, Tensor<Shape<256, 64>, f32> wide, Tensor<Shape<64>, f16> flat, Tensor<Shape<16>, i32> index,
          Tensor<Shape<8>, i32> table, Tensor<Shape<8>, i64> longs, Tensor<Shape<2, 8>, i32> two, Tensor<Shape<4, 256, 64>, f16> pages,
          Tile<Shape<16, 64>, f16, Vec> vec, Tile<Shape<16, 64>, f16, Left> left, Index i, Scalar<f32> s,
          Tile<Shape<16, 1>, f16, Vec> column, Tensor<Shape<256, 1>, f16> thin) {
#if CASE == 0
  auto mat = create<Shape<16, 64>, f16, Mat>();
  (void)create<Shape<64, 16>, f16, Mat, Form::transposed>();
  (void)gather_row<Shape<1, 64>>(mat, pool, at(i, 0), at(3, 0));
  (void)gather_row<Shape<1, 64>>(vec, pool, at(0_c, 0_c), at(255_c, i), valid(1, i));
  (void)paged_gather<PagedGather{.block_size = 32, .size = 64, .max_indices = 16}>(pool, index, table);
#elif CASE == 1
  (void)create<Shape<16, 64>, f16, Left>();  // expect: result_is_in_the_wrong_space<(&tessera::ops::create|\(& tessera::ops::create\)), tessera::Left>
#elif CASE == 2
  (void)create<Shape<16, 64>, f16, Vec, Form::transposed>();  // expect: transposed_form_is_for_mat<(&tessera::ops::create|\(& tessera::ops::create\)), tessera::Vec>
#elif CASE == 3
  (void)gather_row<Shape<1, 64>>(acc, wide, at(i, 0), at(3, 0));  // expect: window_dtype_differs<(&tessera::ops::gather_row|\(& tessera::ops::gather_row\)), tessera::f16, tessera::f32>
#elif CASE == 4
  (void)gather_row<Shape<1, 64>>(acc, flat, at(i, 0), at(3, 0));  // expect: gather_row_is_for_matrices<(&tessera::ops::gather_row|\(& tessera::ops::gather_row\)), 1>
#elif CASE == 5
  (void)gather_row<Shape<64>>(acc, pool, at(i, 0), at(3, 0));  // expect: gather_row_is_for_matrices<(&tessera::ops::gather_row|\(& tessera::ops::gather_row\)), 1>
#elif CASE == 6
  (void)gather_row<Shape<dyn<"S">, 64>>(acc, pool, at(i, 0), at(3, 0));  // expect: tile_dim_is_dynamic<(&tessera::ops::gather_row|\(& tessera::ops::gather_row\)), .*"S"
#elif CASE == 7
  (void)gather_row<Shape<1, 64>>(acc, pool, at(i), at(3, 0));  // expect: offset_count_differs<(&tessera::ops::gather_row|\(& tessera::ops::gather_row\)), 1, 2>
#elif CASE == 8
  (void)gather_row<Shape<1, 64>>(acc, pool, at(i, 0), at(256_c, 0));  // expect: window_out_of_bounds<(&tessera::ops::gather_row|\(& tessera::ops::gather_row\)), 256, 1, 256>
#elif CASE == 9
  (void)gather_row<Shape<1, 64>>(acc, pool, at(i, 0), at(0, 0), valid(2_c, 64));  // expect: valid_exceeds_window<(&tessera::ops::gather_row|\(& tessera::ops::gather_row\)), 2, 1>
#elif CASE == 10
  (void)gather_row<Shape<1, 64>>(acc, pool, at(i, 0), at(0, 0), valid(1));  // expect: valid_count_differs<(&tessera::ops::gather_row|\(& tessera::ops::gather_row\)), 1, 2>
#elif CASE == 11
  (void)gather_row<Shape<1, 16>, Form::transposed>(acc, pool, at(0, 0), at(0, 0), valid(1, i));  // expect: gather_row_transposed_has_valid<>
#elif CASE == 12
  (void)gather_row<Shape<1, 16>, Form::transposed>(vec, pool, at(0, 0), at(0, 0));  // expect: transposed_form_is_for_mat<(&tessera::ops::gather_row|\(& tessera::ops::gather_row\)), tessera::Vec>
#elif CASE == 13
  (void)gather_row<Shape<1, 16>>(acc, pool, at(0, 8_c), at(0, 0));  // expect: gather_row_starts_inside_a_block<8>
#elif CASE == 14
  (void)gather_row<Shape<1, 64>>(acc, vec, at(0, 0), at(0, 0));  // expect: operand_is_not_a_tensor<(&tessera::ops::gather_row|\(& tessera::ops::gather_row\))>
#elif CASE == 15
  (void)gather_row<Shape<1, 64>>(left, pool, at(0, 0), at(0, 0));  // expect: operand_is_in_the_wrong_space<(&tessera::ops::gather_row|\(& tessera::ops::gather_row\)), 0, tessera::Left>
#elif CASE == 16
  (void)paged_gather<PagedGather{.size = 64, .max_indices = 16}>(pool, index, table);  // expect: paged_gather_sizes<0, 64, 16>
#elif CASE == 17
  (void)paged_gather<PagedGather{.block_size = 32, .size = 64, .max_indices = 8}>(pool, index, table);  // expect: paged_gather_has_too_many_indices<16, 8>
#elif CASE == 18
  (void)paged_gather<PagedGather{.block_size = 32, .size = 64, .max_indices = 16}>(pages, index, table);  // expect: paged_gather_source_is_not_a_matrix<3>
#elif CASE == 19
  (void)paged_gather<PagedGather{.block_size = 32, .size = 64, .max_indices = 16}>(pool, index, longs);  // expect: paged_gather_index_dtype<tessera::i64>
#elif CASE == 20
  (void)paged_gather<PagedGather{.block_size = 32, .size = 64, .max_indices = 16}>(pool, two, table);  // expect: paged_gather_index_is_not_one_row<2>
#elif CASE == 21
  (void)paged_gather<PagedGather{.block_size = 32, .size = 64, .max_indices = 16, .form = Form::transposed, .space = Vec}>(pool, index, table);  // expect: transposed_form_is_for_mat<(&tessera::ops::paged_gather|\(& tessera::ops::paged_gather\)), tessera::Vec>
#elif CASE == 22
  (void)paged_gather<PagedGather{.block_size = 32, .size = 64, .max_indices = 16, .space = Acc}>(pool, index, table);  // expect: paged_gather_place<tessera::Acc>
#elif CASE == 23
  (void)paged_gather<PagedGather{.block_size = 32, .size = 64, .max_indices = 16, .column = 1}>(pool, index, table);  // expect: window_out_of_bounds<(&tessera::ops::paged_gather|\(& tessera::ops::paged_gather\)), 1, 64, 64>
#elif CASE == 24
  (void)paged_gather<PagedGather{.block_size = 32, .size = 32, .max_indices = 16, .column = -1}>(pool, index, table);  // expect: window_offset_is_negative<(&tessera::ops::paged_gather|\(& tessera::ops::paged_gather\)), -1>
#elif CASE == 25
  (void)gather_row<Shape<1, 1>>(column, pool, at(0, 0), at(0, 0));  // expect: rows_are_gathered_into_a_column<(&tessera::ops::gather_row|\(& tessera::ops::gather_row\)), 16>
#elif CASE == 26
  (void)gather_row<Shape<1, 1>>(acc, thin, at(0, 0), at(0, 0));  // expect: rows_are_gathered_from_a_column<(&tessera::ops::gather_row|\(& tessera::ops::gather_row\)), 256>
#elif CASE == 27
  (void)paged_gather<PagedGather{.block_size = 32, .size = 1, .max_indices = 16, .space = Vec}>(pool, index, table);  // expect: rows_are_gathered_into_a_column<(&tessera::ops::paged_gather|\(& tessera::ops::paged_gather\)), 16>
#elif CASE == 28
  (void)paged_gather<PagedGather{.block_size = 32, .size = 1, .max_indices = 16}>(thin, index, table);  // expect: rows_are_gathered_from_a_column<(&tessera::ops::paged_gather|\(& tessera::ops::paged_gather\)), 256>
#elif CASE == 29
  (void)paged_gather<PagedGather{.block_size = 32, .size = 64, .max_indices = 16}>(pool, index);  // expect: operand_is_missing<(&tessera::ops::paged_gather|\(& tessera::ops::paged_gather\))>
#endif
}
