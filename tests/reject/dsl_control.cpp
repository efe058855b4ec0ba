// if_, while_ and range.
#include <tessera/kernel.hpp>
using namespace tessera;  // NOLINT: a test

void test(Tensor<Shape<4, 64>, f32> x, Index i, Scalar<f32> s, Scalar<i32> n, Var<Tensor<Shape<4, 64>, f32>> v, Var<Index> k) {
#if CASE == 0
  if_(i == 0, [&] { v = x; });
  if_(n < i, [&] { v = x; }, [&]() mutable { v = exp(x); });
  while_([&] { return k < 8; }, [&] { k = k + 1; });
  for ([[maybe_unused]] Index j : range(n)) v = x;
  for ([[maybe_unused]] Index j : range(0, i, 4)) v = x;
  for ([[maybe_unused]] Index j : range(0, i, 4).pipelined(2)) v = x;
#elif CASE == 1
  if_(i, [&] { v = x; });  // expect: condition_is_not_boolean<>
#elif CASE == 2
  if_(true, [&] { v = x; });  // expect: condition_is_not_boolean<>
#elif CASE == 3
  if_(x, [&] { v = x; }, [&] { v = exp(x); });  // expect: condition_is_not_boolean<>
#elif CASE == 4
  if_(i == 0, [&](int) { v = x; });  // expect: body_takes_parameters<>
#elif CASE == 5
  if_(i == 0, [&] { v = x; }, 3);  // expect: body_takes_parameters<>
#elif CASE == 6
  if_(i == 0, v = x);  // expect: body_takes_parameters<>
#elif CASE == 7
  while_([&] { return true; }, [&] { k = k + 1; });  // expect: condition_is_not_boolean<>
#elif CASE == 8
  while_(k < 8, [&] { k = k + 1; });  // expect: while_condition_is_not_a_lambda<>
#elif CASE == 9
  while_([&] { return k < 8; }, [&](Index) { k = k + 1; });  // expect: body_takes_parameters<>
#elif CASE == 10
  for (Index j : range(0.5)) k = j;  // expect: range_bound_is_not_an_integer<>
#elif CASE == 11
  for (Index j : range(0, s)) k = j;  // expect: range_bound_is_not_an_integer<>
#elif CASE == 12
  for (Index j : range(0, 8, 1.0f)) k = j;  // expect: range_bound_is_not_an_integer<>
#elif CASE == 13
  for (Index j : range(x)) k = j;  // expect: range_bound_is_not_an_integer<>
#elif CASE == 14
  for (Index j : range(8).pipelined(i)) k = j;  // expect: pipelined_count_is_not_an_integer<>
#elif CASE == 15
  for (Index j : range(8).pipelined(2.0)) k = j;  // expect: pipelined_count_is_not_an_integer<>
#endif
}
