// Scalar operations: on floats in double with one rounding, on integers exact and wrapped to their type.
#pragma once

#include "elementwise.hpp"

namespace tessera::simulator {

/// f(a, b) in the arithmetic of the operands' type: double, int64_t, or uint64_t for u64.
template <class F>
auto in_arithmetic_of(DType d, const Number& a, const Number& b, F f) -> decltype(f(a, b, 0.0, 0.0)) {
  if (is_float(d)) return f(a, b, a.real, b.real);
  if (d == u64) return f(a, b, static_cast<std::uint64_t>(a.integer), static_cast<std::uint64_t>(b.integer));
  return f(a, b, a.integer, b.integer);
}
template <class F>
void scalar_binary(Call& c, F f) {
  const DType d = c.type(0).dtype;
  c.result(in_arithmetic_of(d, c.number(0), c.number(1), [&](const Number&, const Number&, auto a, auto b) {
    if constexpr (std::is_floating_point_v<decltype(a)>) return make_number(d, static_cast<double>(f(a, b)));
    else return make_number(d, static_cast<std::int64_t>(f(a, b)));
  }));
}
inline void scalar_compare(Call& c) {
  const auto how = static_cast<Compare>(c.attr(AttrKey::compare));
  c.result(
      in_arithmetic_of(c.type(0).dtype, c.number(0), c.number(1), [&](const Number&, const Number&, auto a, auto b) {
    return make_number(boolean, std::int64_t{compares(how, a, b)});
  }));
}
inline void scalar_cast(Call& c) {
  const Number x = c.number(0);
  const DType to = c.result_type().dtype;
  const auto mode = static_cast<Rounding>(c.attr(AttrKey::rounding, static_cast<std::int64_t>(Rounding::trunc)));
  if (is_float(to)) c.result(make_number(to, is_float(x.dtype) ? x.real : to_double(x.dtype, x.integer)));
  else c.result(make_number(to, is_float(x.dtype) ? to_integer(to, x.real, mode) : x.integer));
}
inline void scalar_neg(Call& c) {
  const Number x = c.number(0);
  c.result(is_float(x.dtype) ? make_number(x.dtype, -x.real) : make_number(x.dtype, negated(x.integer)));
}

inline constexpr TableEntry scalar_table[] = {
    {&ops::scalar_add, [](Call& c) { scalar_binary(c, sum); }},
    {&ops::scalar_sub, [](Call& c) { scalar_binary(c, difference); }},
    {&ops::scalar_mul, [](Call& c) { scalar_binary(c, product); }},
    {&ops::scalar_div, [](Call& c) { scalar_binary(c, [&](auto a, auto b) { return quotient(c, a, b); }); }},
    {&ops::scalar_rem, [](Call& c) { scalar_binary(c, [&](auto a, auto b) { return remainder(c, a, b); }); }},
    {&ops::scalar_min, [](Call& c) { scalar_binary(c, smaller); }},
    {&ops::scalar_max, [](Call& c) { scalar_binary(c, larger); }},
    {&ops::scalar_and, [](Call& c) { c.result(make_number(c.type(0).dtype, c.integer(0) & c.integer(1))); }},
    {&ops::scalar_or, [](Call& c) { c.result(make_number(c.type(0).dtype, c.integer(0) | c.integer(1))); }},
    {&ops::scalar_xor, [](Call& c) { c.result(make_number(c.type(0).dtype, c.integer(0) ^ c.integer(1))); }},
    {&ops::scalar_shl, [](Call& c) { scalar_binary(c, [&](auto a, auto n) { return shifted_left(c, a, n); }); }},
    {&ops::scalar_shr, [](Call& c) { scalar_binary(c, [&](auto a, auto n) { return shifted_right(c, a, n); }); }},
    {&ops::scalar_neg, scalar_neg},
    {&ops::scalar_not, [](Call& c) { c.result(make_number(boolean, std::int64_t{c.integer(0) == 0})); }},
    {&ops::scalar_compare, scalar_compare},
    {&ops::scalar_select, [](Call& c) { c.result(c.integer(0) != 0 ? c.number(1) : c.number(2)); }},
    {&ops::scalar_cast, scalar_cast},
    {&ops::block_index, [](Call& c) { c.result(make_number(index_type, c.engine.options.block)); }},
    {&ops::block_count, [](Call& c) { c.result(make_number(index_type, c.engine.options.blocks)); }},
    {&ops::subblock_index, [](Call& c) { c.result(make_number(index_type, c.engine.options.subblock)); }},
    {&ops::subblock_count, [](Call& c) { c.result(make_number(index_type, c.engine.options.subblocks)); }},
};

}  // namespace tessera::simulator
