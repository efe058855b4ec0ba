// What recorded values are not: native conditions, C++ variables, pointers.
#include <tessera/kernel.hpp>
#include <string>
using namespace tessera;  // NOLINT: a test

void test(Tensor<Shape<4, 64>, f32> x, Index i, Index j, Scalar<f32> s, Var<Tensor<Shape<4, 64>, f32>> v, Var<Index> n, Tile<Shape<4, 64>, f32, Vec> t,
          Out<Tensor<Shape<4, 64>, f32>> o, Tensor<Shape<4, 32>, f32> narrow, Tensor<Shape<4, 1>, f32> column) {
#if CASE == 0
  v = exp(x);
  v += x;
  v *= column;
  n = 3;
  n += i;
  ++n;
  --n;
  o = x + 1;
  if_((i < j) & (j < 3), [&] { v = x; });
#elif CASE == 1
  if (i < j) v = x;  // expect: recorded_value_is_no_native_condition_use_if_or_while
#elif CASE == 2
  while (i < 3) v = x;  // expect: recorded_value_is_no_native_condition_use_if_or_while
#elif CASE == 3
  (void)(i == 3 ? 1 : 2);  // expect: recorded_value_is_no_native_condition_use_if_or_while
#elif CASE == 4
  (void)(i < 3 && j < 3);  // expect: logical_operator_on_recorded_values<>
#elif CASE == 5
  (void)(i < 3 || true);  // expect: logical_operator_on_recorded_values<>
#elif CASE == 6
  (void)&i;  // expect: recorded_value_has_no_address
#elif CASE == 7
  auto e = exp(x);
  (void)&e;  // expect: recorded_value_has_no_address
#elif CASE == 8
  x = exp(x);  // expect: handles_are_immutable_use_var<>
#elif CASE == 9
  i = j;  // expect: handles_are_immutable_use_var<>
#elif CASE == 10
  i = 3;  // expect: handles_are_immutable_use_var<>
#elif CASE == 11
  t = load<Shape<4, 64>>(x, at(0, 0));  // expect: handles_are_immutable_use_var<>
#elif CASE == 12
  auto e = exp(x);
  e = log(x);  // expect: handles_are_immutable_use_var<>
#elif CASE == 13
  auto e = exp(x);
  e = exp(x);  // expect: handles_are_immutable_use_var<>
#elif CASE == 14
  i += 2;  // expect: handles_are_immutable_use_var<>
#elif CASE == 15
  ++i;  // expect: handles_are_immutable_use_var<>
#elif CASE == 16
  v = narrow;  // expect: assigned_type_differs<64, 32>
#elif CASE == 17
  v = t;  // expect: assigned_type_differs<tessera::Gm, tessera::Vec>
#elif CASE == 18
  v = cast<f16>(x);  // expect: assigned_type_differs<tessera::f32, tessera::f16>
#elif CASE == 19
  n = 1.5;  // expect: floating_literal_with_integers<tessera::index_type>
#elif CASE == 20
  n = s;  // expect: assigned_type_differs<tessera::index_type, tessera::f32>
#elif CASE == 21
  o = narrow;  // expect: assigned_type_differs<64, 32>
#elif CASE == 22
  o = 1.0f;  // expect: value_is_not_recorded<>
#elif CASE == 23
  (void)(x + std::string("one"));  // expect: value_is_not_recorded<(&tessera::ops::add|\(& tessera::ops::add\))>
#elif CASE == 24
  (void)("one" * x);  // expect: value_is_not_recorded<(&tessera::ops::mul|\(& tessera::ops::mul\))>
#elif CASE == 25
  (void)(i < std::string("one"));  // expect: value_is_not_recorded<(&tessera::ops::scalar_compare|\(& tessera::ops::scalar_compare\))>
#elif CASE == 26
  (void)(i == nullptr);  // expect: value_is_not_recorded<(&tessera::ops::scalar_compare|\(& tessera::ops::scalar_compare\))>
#elif CASE == 27
  v += narrow;  // expect: add_shapes_do_not_broadcast<64, 32>
#elif CASE == 28
  Var c = column;
  c += x;  // expect: assigned_type_differs<1, 64>
#elif CASE == 29
  n *= 0.5;  // expect: floating_literal_with_integers<(&tessera::ops::scalar_mul|\(& tessera::ops::scalar_mul\)), tessera::index_type>
#elif CASE == 30
  (void)select(i, s, s);  // expect: condition_is_not_boolean<(&tessera::ops::scalar_select|\(& tessera::ops::scalar_select\))>
#elif CASE == 31
  (void)select(i < 3, s, i);  // expect: operand_dtypes_differ<(&tessera::ops::scalar_select|\(& tessera::ops::scalar_select\)), tessera::f32, tessera::index_type>
#elif CASE == 32
  if (x) v = x;  // expect: recorded_value_is_no_native_condition_use_if_or_while
#elif CASE == 33
  (void)!x;  // expect: recorded_value_is_no_native_condition_use_if_or_while
#elif CASE == 34
  (void)row_expand_add(x, 1.0f);  // expect: value_is_not_recorded<(&tessera::ops::row_expand_add|\(& tessera::ops::row_expand_add\))>
#elif CASE == 35
  (void)select(true, s, s);  // expect: condition_is_not_boolean<(&tessera::ops::scalar_select|\(& tessera::ops::scalar_select\))>
#elif CASE == 36
  i++;  // expect: handles_are_immutable_use_var<>
#elif CASE == 37
  x -= 1.0f;  // expect: handles_are_immutable_use_var<>
#elif CASE == 38
  o += x;  // expect: output_has_no_compound_assignment<>
#elif CASE == 39
  o = t;  // expect: tile_is_assigned_to_an_output<>
#elif CASE == 40
  (void)max(x, 0.0f);  // expect: operand_is_shaped_use_maximum_or_minimum<>
#endif
}
