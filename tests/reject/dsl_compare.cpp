// Comparisons of tensors and tiles: what can be compared, and what takes the mask that comes out.
#include <tessera/kernel.hpp>
using namespace tessera;  // NOLINT: a test

void test(Tensor<Shape<4, 64>, f32> x, Tensor<Shape<4, 64>, f32> y, Tensor<Shape<4, 64>, i32> n, Tensor<Shape<4, 1>, f32> column,
          Tensor<Shape<1, 64>, f32> row, Tensor<Shape<64>, f32> rank1, Tensor<Shape<4, 32>, f32> half, Tile<Shape<4, 64>, f32, Vec> t, Tile<Shape<4, 64>, f32, Acc> acc,
          Scalar<f32> s, Scalar<i32> k, Out<Tensor<Shape<4, 64>, f32>> o, Tensor<Shape<4, 64>, i64> wide) {
#if CASE == 0
  o = select(x < y, x, y);
  o = select(x == 0, x, 1.0f);
  o = select(2.0f >= x, s, y);
  o = select(x != s, x, y);
  (void)select(t > t, t, 0);
  (void)select(n <= k, n, k);
  const auto mask = x > y;
  o = select(mask, x, select(mask, y, 0.5f));
  (void)(x > row_expand<Shape<4, 64>>(column));
  (void)select(x < column, x, y);
  (void)select(row == x, x, y);
  (void)select(x > rank1, x, y);
#elif CASE == 1
  (void)(x < half);  // expect: compare_shapes_do_not_broadcast<64, 32>
#elif CASE == 2
  (void)(half == row);  // expect: compare_shapes_do_not_broadcast<32, 64>
#elif CASE == 3
  (void)(half > rank1);  // expect: compare_shapes_do_not_broadcast<32, 64>
#elif CASE == 4
  (void)(x < n);  // expect: operand_dtypes_differ<(&tessera::ops::compare|\(& tessera::ops::compare\)), tessera::f32, tessera::i32>
#elif CASE == 5
  (void)(x < t);  // expect: tensor_and_tile_mixed<(&tessera::ops::compare|\(& tessera::ops::compare\))>
#elif CASE == 6
  (void)(x < k);  // expect: scalar_dtype_differs<(&tessera::ops::compare|\(& tessera::ops::compare\)), tessera::f32, tessera::i32>
#elif CASE == 7
  (void)(n < 0.5f);  // expect: floating_literal_with_integers<(&tessera::ops::compare|\(& tessera::ops::compare\)), tessera::i32>
#elif CASE == 8
  (void)(wide < wide);  // expect: dtype_not_supported<(&tessera::ops::compare|\(& tessera::ops::compare\)), tessera::i64>
#elif CASE == 9
  (void)(acc < acc);  // expect: operand_is_in_the_wrong_space<(&tessera::ops::compare|\(& tessera::ops::compare\)), 0, tessera::Acc>
#elif CASE == 10
  (void)((x < y) + x);  // expect: mask_is_for_select_only<(&tessera::ops::add|\(& tessera::ops::add\))>
#elif CASE == 11
  (void)exp(x < y);  // expect: mask_is_for_select_only<(&tessera::ops::exp|\(& tessera::ops::exp\))>
#elif CASE == 12
  (void)cast<f32>(x < y);  // expect: mask_is_for_select_only<(&tessera::ops::cast|\(& tessera::ops::cast\))>
#elif CASE == 13
  (void)((x < y) & (x > y));  // expect: mask_is_for_select_only<(&tessera::ops::bit_and|\(& tessera::ops::bit_and\))>
#elif CASE == 14
  (void)!(x < y);  // expect: mask_is_for_select_only<(&tessera::ops::scalar_not|\(& tessera::ops::scalar_not\))>
#elif CASE == 15
  (void)((x < y) == (x > y));  // expect: mask_is_for_select_only<(&tessera::ops::compare|\(& tessera::ops::compare\))>
#elif CASE == 16
  if_(x < y, [&] { o = x; });  // expect: condition_is_not_boolean<>
#elif CASE == 17
  if (x < y) o = x;  // expect: recorded_value_is_no_native_condition_use_if_or_while
#elif CASE == 18
  Var mask = x < y;  // expect: mask_is_for_select_only
#elif CASE == 19
  o = x < y;  // expect: assigned_type_differs<tessera::f32, tessera::boolean>
#elif CASE == 20
  (void)select(x < y, 1.0f, 0.0f);  // expect: select_sides_are_numbers<>
#elif CASE == 21
  (void)select(x < y, column, y);  // expect: shapes_differ<(&tessera::ops::select|\(& tessera::ops::select\)), 1, 64>
#elif CASE == 22
  (void)select(x < y, n, y);  // expect: operand_dtypes_differ<(&tessera::ops::select|\(& tessera::ops::select\)), tessera::i32, tessera::f32>
#elif CASE == 23
  (void)select(x < y, t, 0);  // expect: tensor_and_tile_mixed<(&tessera::ops::select|\(& tessera::ops::select\))>
#elif CASE == 24
  (void)select(n < 3, n, 0.5f);  // expect: floating_literal_with_integers<(&tessera::ops::select|\(& tessera::ops::select\)), tessera::i32>
#elif CASE == 25
  (void)select(x < y, x < y, x < y);  // expect: mask_is_for_select_only<(&tessera::ops::select|\(& tessera::ops::select\))>
#elif CASE == 26
// errors: 1|2
  (void)kernel("k", [](Tensor<Shape<4, 64>, f32> a) { return a < 0; });  // expect: mask_is_for_select_only<>
#elif CASE == 27
  (void)store(t < t, o, at(0, 0));  // expect: mask_is_for_select_only<(&tessera::ops::store|\(& tessera::ops::store\))>
#elif CASE == 28
  (void)select(s > 0.0f, x, y);  // expect: select_condition_is_one_number<>
#elif CASE == 29
  (void)select(x, x, y);  // expect: select_condition_is_no_comparison<>
#elif CASE == 30
  (void)select(x, s, s);  // expect: select_condition_is_no_comparison<>
#endif
}
