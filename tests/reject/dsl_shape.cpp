// Shapes: broadcasts, ranks, reductions, reshape, transpose, and Shape itself.
#include <tessera/kernel.hpp>
using namespace tessera;  // NOLINT: a test

void test(Tensor<Shape<4, 64>, f32> a, Tensor<Shape<4, 128>, f32> b, Tensor<Shape<2, 4, 64>, f32> c, Tensor<Shape<1, 64>, f32> row,
          Tensor<Shape<4, 1>, f32> column, Tensor<Shape<2, 1, 64>, f32> middle, Tensor<Shape<64>, f32> flat,
          Tensor<Shape<12>, f32> flat3, Tensor<Shape<4, 1>, i8> bytes,
          Tensor<Shape<4, dyn<"S">>, f32> s, Tensor<Shape<4, dyn<"T">>, f32> t) {
#if CASE == 0
  (void)(a + row);
  (void)(a * column - row);
  (void)(s + s);
  (void)reshape<Shape<2, 2, 64>>(a);
  (void)transpose(c);
  (void)row_expand<Shape<4, 64>>(column);
  (void)col_expand<Shape<4, 64>>(row);
  (void)row_expand_add(a, column);
  (void)col_sum(a);
  (void)concat(a, b, column);
  (void)row_argmax(a);
  (void)(c + middle);
  (void)(middle - a);
  (void)(middle < c);
  (void)broadcast_to<Shape<2, 4, 64>>(middle);
  Shape<4, dyn<"seq_len10">> ok;
  (void)ok;
#elif CASE == 1
  (void)(a + b);  // expect: add_shapes_do_not_broadcast<64, 128>
#elif CASE == 2
  (void)(a - b);  // expect: sub_shapes_do_not_broadcast<64, 128>
#elif CASE == 3
  (void)(a * b);  // expect: mul_shapes_do_not_broadcast<64, 128>
#elif CASE == 4
  (void)(a / b);  // expect: div_shapes_do_not_broadcast<64, 128>
#elif CASE == 5
  (void)maximum(a, b);  // expect: maximum_shapes_do_not_broadcast<64, 128>
#elif CASE == 6
  (void)minimum(a, b);  // expect: minimum_shapes_do_not_broadcast<64, 128>
#elif CASE == 7
  (void)broadcast_to<Shape<2, 8, 64>>(c);  // expect: broadcast_dim_differs<1, 4, 8>
#elif CASE == 8
  (void)(s + t);  // expect: add_shapes_do_not_broadcast<.*"S".*"T"
#elif CASE == 9
  (void)row_expand_add(a, row);  // expect: row_operand_is_not_a_column<(&tessera::ops::row_expand_add|\(& tessera::ops::row_expand_add\)), 0, 1, 4>
#elif CASE == 10
  (void)col_expand_mul(a, column);  // expect: col_operand_is_not_a_row<(&tessera::ops::col_expand_mul|\(& tessera::ops::col_expand_mul\)), 1, 1, 64>
#elif CASE == 11
  (void)row_expand<Shape<8, 64>>(column);  // expect: row_operand_is_not_a_column<(&tessera::ops::row_expand|\(& tessera::ops::row_expand\)), 0, 4, 8>
#elif CASE == 12
  (void)col_expand<Shape<8, 32>>(row);  // expect: col_operand_is_not_a_row<(&tessera::ops::col_expand|\(& tessera::ops::col_expand\)), 1, 64, 32>
#elif CASE == 13
  (void)reshape<Shape<4, 32>>(a);  // expect: reshape_changes_the_element_count<256, 128>
#elif CASE == 14
  (void)transpose(flat);  // expect: axis_out_of_range<(&tessera::ops::transpose|\(& tessera::ops::transpose\)), -2, 1>
#elif CASE == 15
  (void)col_sum(flat);  // expect: rank_too_small<(&tessera::ops::col_sum|\(& tessera::ops::col_sum\)), 1, 2>
#elif CASE == 16
  (void)reshape<Shape<4, 32>>(s);  // expect: tile_dim_is_dynamic<(&tessera::ops::reshape|\(& tessera::ops::reshape\)), .*"S"
#elif CASE == 17
  (void)sizeof(Shape<4, 0>);  // expect: constraint failure .*shape_has_1_to_8_positive_dims|constraints not satisfied .* D = <4, 0>
#elif CASE == 18
  (void)sizeof(Shape<1, 2, 3, 4, 5, 6, 7, 8, 9>);  // expect: constraint failure .*shape_has_1_to_8_positive_dims|constraints not satisfied .*8, 9>
#elif CASE == 19
  (void)sizeof(Shape<4, -16>);  // expect: constraint failure .*shape_has_1_to_8_positive_dims|constraints not satisfied .* D = <4, -16>
#elif CASE == 20
  (void)dyn<"">;  // expect: invalid variable template .dyn<"">|constraints not satisfied for variable template
#elif CASE == 21
  (void)dyn<"sequence_len">;  // expect: invalid variable template .dyn<"sequence_len">|constraints not satisfied .*"sequence_len"
#elif CASE == 22
  (void)dyn<"a-b">;  // expect: invalid variable template .dyn<"a-b">|constraints not satisfied .*"a-b"
#elif CASE == 23
  (void)log((exp(a) + 1.0f) * 2.0f + b);  // expect: add_shapes_do_not_broadcast<64, 128>
#elif CASE == 24
  (void)arange<Shape<4, 16>, i32>(0);  // expect: sequence_is_not_one_row<4>
#elif CASE == 25
  (void)arange<Shape<1, 1>, i32>(0);  // expect: sequence_is_not_one_row<1>
#elif CASE == 26
  (void)concat(a, row);  // expect: dim_beside_the_axis_differs<(&tessera::ops::concat|\(& tessera::ops::concat\)), 0, 4, 1>
#elif CASE == 27
  (void)concat(column, a);  // expect: concat_starts_inside_a_block<1>
#elif CASE == 28
  (void)concat(a, flat);  // expect: ranks_differ<(&tessera::ops::concat|\(& tessera::ops::concat\)), 2, 1>
#elif CASE == 29
  (void)concat(a, s);  // expect: tile_dim_is_dynamic<(&tessera::ops::concat|\(& tessera::ops::concat\)), .*"S"
#elif CASE == 30
  (void)concat(a, 1.0f);  // expect: value_is_not_recorded<(&tessera::ops::concat|\(& tessera::ops::concat\))>
#elif CASE == 31
  (void)col_argmax(flat);  // expect: rank_too_small<(&tessera::ops::col_argmax|\(& tessera::ops::col_argmax\)), 1, 2>
#elif CASE == 32
  (void)broadcast_to<Shape<64>>(row);  // expect: broadcast_lowers_the_rank<2, 1>
#elif CASE == 33
  (void)broadcast_to<Shape<2, 4, dyn<"S">>>(column);  // expect: tile_dim_is_dynamic<(&tessera::ops::broadcast_to|\(& tessera::ops::broadcast_to\)), .*"S"
#elif CASE == 34
  (void)broadcast_to<Shape<4, 64>>(bytes);  // expect: broadcast_of_bytes_along_rows<tessera::i8>
#elif CASE == 35
  (void)(c - reshape<Shape<3, 4, 1>>(flat3));  // expect: sub_shapes_do_not_broadcast<2, 3>
#elif CASE == 36
  (void)broadcast_to<Shape<4, 64>>(1.0f);  // expect: value_is_not_recorded<(&tessera::ops::broadcast_to|\(& tessera::ops::broadcast_to\))>
#elif CASE == 37
  (void)col_expand_add(c, broadcast_to<Shape<2, 1, 64>>(row));  // expect: col_operand_is_not_a_row<(&tessera::ops::col_expand_add|\(& tessera::ops::col_expand_add\)), 0, 2, 1>
#elif CASE == 38
  (void)col_expand<Shape<2, 4, 64>>(col_sum(c));  // expect: col_operand_is_not_a_row<(&tessera::ops::col_expand|\(& tessera::ops::col_expand\)), 0, 2, 1>
#elif CASE == 39
  (void)row_expand_add(a, reshape<Shape<1, 4, 1>>(column));  // expect: ranks_differ<(&tessera::ops::row_expand_add|\(& tessera::ops::row_expand_add\)), 2, 3>
#elif CASE == 40
  (void)col_expand_add(a, reshape<Shape<1, 1, 64>>(row));  // expect: ranks_differ<(&tessera::ops::col_expand_add|\(& tessera::ops::col_expand_add\)), 2, 3>
#endif
}
