// Elementwise operations and broadcasts: one rounding each, on the elements that are valid in the result. Poison in gives
// poison out. The larger or smaller of a number and NaN is NaN.
#pragma once

#include "engine.hpp"
#include "trigonometry.hpp"

namespace tessera::simulator {

// Arithmetic on double, int64_t and uint64_t (the last for u64 scalars); integers wrap.
inline constexpr auto sum = [](auto a, auto b) {
  if constexpr (std::is_floating_point_v<decltype(a)>) return a + b;
  else return static_cast<decltype(a)>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
};
inline constexpr auto difference = [](auto a, auto b) {
  if constexpr (std::is_floating_point_v<decltype(a)>) return a - b;
  else return static_cast<decltype(a)>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
};
inline constexpr auto product = [](auto a, auto b) {
  if constexpr (std::is_floating_point_v<decltype(a)>) return a * b;
  else return static_cast<decltype(a)>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
};
inline constexpr auto negated = [](auto a) {
  if constexpr (std::is_floating_point_v<decltype(a)>) return -a;
  else return difference(decltype(a){0}, a);
};
inline constexpr auto magnitude = [](auto a) {
  if constexpr (std::is_floating_point_v<decltype(a)>) return std::fabs(a);
  else return a < 0 ? negated(a) : a;
};
inline constexpr auto larger = [](auto a, auto b) {
  if (a != a) return a;
  return b > a || b != b ? b : a;
};
inline constexpr auto smaller = [](auto a, auto b) {
  if (a != a) return a;
  return b < a || b != b ? b : a;
};
/// a / b; integers truncate toward zero.
template <class T>
T quotient(const Call& c, T a, T b) {
  if constexpr (!std::is_floating_point_v<T>) {
    if (b == 0) c.fail("an integer is divided by zero (" + std::to_string(a) + " / 0)", "guard the divisor: max(n, 1)");
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return negated(a);
  }
  return a / b;
}
/// a % b, with the sign of a.
template <class T>
T remainder(const Call& c, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(a, b);
  } else {
    if (b == 0) c.fail("an integer is divided by zero (" + std::to_string(a) + " % 0)", "guard the divisor: max(n, 1)");
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return a % b;
  }
}

/// Bits; those of a signed number are copied from its sign without end. Elements are floating numbers in no instance.
template <class F>
constexpr auto on_bits(F f) {
  return [f](auto... x) {
    if constexpr ((std::is_floating_point_v<decltype(x)> || ...)) return (x + ...);
    else return static_cast<std::int64_t>(f(static_cast<std::uint64_t>(x)...));
  };
}
/// The position of a bit, checked.
template <class T>
int shift_amount(const Call& c, T n) {
  const int bits = info(c.type(0).dtype).bits;
  if (n < 0 || n >= static_cast<T>(bits))
    c.fail(rule::shift_out_of_range, std::to_string(n) + ", " + std::string(tessera::name(c.type(0).dtype)));
  return static_cast<int>(n);
}

/// result[i] = f(x[i]); f takes and gives double or int64_t.
template <class F>
void unary(Call& c, F f) {
  const Data& x = c.in(0);
  Data r = c.fresh();
  for (std::size_t i = 0; i < r.known.size(); ++i) {
    if (x.known[i] == 0) continue;
    if (is_float(r.dtype)) r.floats[i] = rounded(r.dtype, static_cast<double>(f(static_cast<double>(x.floats[i]))));
    else if constexpr (std::is_same_v<decltype(f(std::int64_t{})), std::int64_t>)
      r.integers[i] = wrapped(r.dtype, f(x.integers[i]));
    else throw InternalError("simulate: " + std::string(c.name()) + " of integers");
    r.known[i] = 1;
  }
  c.result(std::move(r));
}

/// result[i] = f(a[i], b[i]); axes of extent 1 in b repeat, and missing leading ones.
template <class F>
void binary(Call& c, F f) {
  const Data &a = c.in(0), &b = c.in(1);
  Data r = c.fresh();
  const Box strides = broadcast_strides(b.dims, r.dims.rank);
  const std::int64_t step = strides.rank > 0 ? strides[strides.rank - 1] : 0, width = r.dims.last();
  std::size_t i = 0;
  for_each_row(r.dims, [&](const Box& index) {
    auto j = static_cast<std::size_t>(dot(strides, index));
    for (std::int64_t k = 0; k < width; ++k, ++i, j += static_cast<std::size_t>(step)) {
      if (a.known[i] == 0 || b.known[j] == 0) continue;
      if (is_float(r.dtype))
        r.floats[i] = rounded(r.dtype, f(static_cast<double>(a.floats[i]), static_cast<double>(b.floats[j])));
      else r.integers[i] = wrapped(r.dtype, f(a.integers[i], b.integers[j]));
      r.known[i] = 1;
    }
  });
  c.result(std::move(r));
}

/// Where both operands are valid f of both, elsewhere the one that is.
template <class F>
void parts(Call& c, F f) {
  const Data &a = c.in(0), &b = c.in(1);
  const Box in_a = c.valid(0), in_b = c.valid(1);
  Data r = c.fresh();
  std::size_t i = 0;
  for_each_row(r.dims, [&](const Box& row) {
    Box index = row;
    for (std::int64_t k = 0; k < r.dims.last(); ++k, ++i) {
      index[index.rank - 1] = k;
      const bool of_a = is_inside(index, in_a), of_b = is_inside(index, in_b);
      if (of_a != of_b) {
        r.copy(static_cast<std::int64_t>(i), of_a ? a : b, static_cast<std::int64_t>(i), 1);
        continue;
      }
      if (!of_a || a.known[i] == 0 || b.known[i] == 0) continue;
      if (is_float(r.dtype))
        r.floats[i] = rounded(r.dtype, f(static_cast<double>(a.floats[i]), static_cast<double>(b.floats[i])));
      else r.integers[i] = wrapped(r.dtype, f(a.integers[i], b.integers[i]));
      r.known[i] = 1;
    }
  });
  c.result(std::move(r));
}

/// result[i] = f(x[i], scalar).
template <class F>
void with_scalar(Call& c, F f) {
  const Data& x = c.in(0);
  const Number s = c.number(1);
  Data r = c.fresh();
  for (std::size_t i = 0; i < r.known.size(); ++i) {
    if (x.known[i] == 0) continue;
    if (is_float(r.dtype)) r.floats[i] = rounded(r.dtype, f(static_cast<double>(x.floats[i]), s.real));
    else r.integers[i] = wrapped(r.dtype, f(x.integers[i], s.integer));
    r.known[i] = 1;
  }
  c.result(std::move(r));
}

// The only operation whose operand types may differ is the cast.
inline void convert_element(const Data& x, Data& r, std::size_t i, Rounding mode) {
  const bool from_float = is_float(x.dtype);
  if (is_float(r.dtype)) {
    const double value = from_float ? static_cast<double>(x.floats[i]) : to_double(x.dtype, x.integers[i]);
    r.floats[i] = rounded(r.dtype, value, mode);
  } else {
    r.integers[i] =
        from_float ? to_integer(r.dtype, static_cast<double>(x.floats[i]), mode) : wrapped(r.dtype, x.integers[i]);
  }
}
inline void cast_elements(Call& c) {
  const Data& x = c.in(0);
  const auto mode = static_cast<Rounding>(c.attr(AttrKey::rounding));
  Data r = c.fresh();
  for (std::size_t i = 0; i < r.known.size(); ++i) {
    if (x.known[i] == 0) continue;
    convert_element(x, r, i, mode);
    r.known[i] = 1;
  }
  c.result(std::move(r));
}

/// The result is the operand, walked with the given strides.
inline void copy_strided(Call& c, const Box& strides) {
  const Data& x = c.in(0);
  Data r = c.fresh();
  const std::int64_t step = strides[strides.rank - 1], width = r.dims.last();
  std::int64_t i = 0;
  for_each_row(r.dims, [&](const Box& index) {
    std::int64_t j = dot(strides, index);
    for (std::int64_t k = 0; k < width; ++k, ++i, j += step) r.copy(i, x, j, 1);
  });
  c.result(std::move(r));
}
/// The operand repeated over the axes in which the result is larger.
inline void repeat(Call& c) { copy_strided(c, broadcast_strides(c.in(0).dims, c.result_type().rank)); }

inline void divide(Call& c) {
  binary(c, [&](auto a, auto b) { return quotient(c, a, b); });
}
inline void divide_by_scalar(Call& c) {
  with_scalar(c, [&](auto a, auto b) { return quotient(c, a, b); });
}

inline void remainders(Call& c) {
  binary(c, [&](auto a, auto b) { return remainder(c, a, b); });
}
inline void remainders_of_scalar(Call& c) {
  with_scalar(c, [&](auto a, auto b) { return remainder(c, a, b); });
}
// The difference is an element, too.
inline void exponentials_of_differences(Call& c) {
  binary(c, [d = c.type(0).dtype](auto a, auto b) {
    return static_cast<decltype(a)>(std::exp(static_cast<double>(rounded(d, static_cast<double>(a - b)))));
  });
}
inline constexpr auto both_bits = on_bits([](std::uint64_t a, std::uint64_t b) { return a & b; });
inline constexpr auto any_bits = on_bits([](std::uint64_t a, std::uint64_t b) { return a | b; });
inline constexpr auto other_bits = on_bits([](std::uint64_t a, std::uint64_t b) { return a ^ b; });
inline constexpr auto no_bits = on_bits([](std::uint64_t a) { return ~a; });
template <class T>
T shifted_left(const Call& c, T a, T n) {
  if constexpr (std::is_floating_point_v<T>) return a;
  else return static_cast<T>(static_cast<std::uint64_t>(a) << shift_amount(c, n));
}
template <class T>
T shifted_right(const Call& c, T a, T n) {
  if constexpr (std::is_floating_point_v<T>) return a;
  else return a >> shift_amount(c, n);
}

inline constexpr TableEntry elementwise_table[] = {
    {&ops::neg, [](Call& c) { unary(c, negated); }},
    {&ops::abs, [](Call& c) { unary(c, magnitude); }},
    {&ops::exp, [](Call& c) { unary(c, [](auto x) { return std::exp(static_cast<double>(x)); }); }},
    {&ops::log, [](Call& c) { unary(c, [](auto x) { return std::log(static_cast<double>(x)); }); }},
    {&ops::sqrt, [](Call& c) { unary(c, [](auto x) { return std::sqrt(static_cast<double>(x)); }); }},
    {&ops::rsqrt, [](Call& c) { unary(c, [](auto x) { return 1 / std::sqrt(static_cast<double>(x)); }); }},
    {&ops::recip, [](Call& c) { unary(c, [](auto x) { return 1 / static_cast<double>(x); }); }},
    {&ops::relu, [](Call& c) { unary(c, [](auto x) { return larger(x, decltype(x){0}); }); }},
    {&ops::sin, [](Call& c) { unary(c, [](auto x) { return sine(static_cast<double>(x)); }); }},
    {&ops::cos, [](Call& c) { unary(c, [](auto x) { return cosine(static_cast<double>(x)); }); }},
    {&ops::lrelu, [](Call& c) { with_scalar(c, [](auto x, auto s) { return x > 0 ? x : x * s; }); }},
    {&ops::add, [](Call& c) { binary(c, sum); }},
    {&ops::sub, [](Call& c) { binary(c, difference); }},
    {&ops::mul, [](Call& c) { binary(c, product); }},
    {&ops::div, divide},
    {&ops::maximum, [](Call& c) { binary(c, larger); }},
    {&ops::minimum, [](Call& c) { binary(c, smaller); }},
    {&ops::adds, [](Call& c) { with_scalar(c, sum); }},
    {&ops::subs, [](Call& c) { with_scalar(c, difference); }},
    {&ops::muls, [](Call& c) { with_scalar(c, product); }},
    {&ops::divs, divide_by_scalar},
    {&ops::maximums, [](Call& c) { with_scalar(c, larger); }},
    {&ops::minimums, [](Call& c) { with_scalar(c, smaller); }},
    {&ops::fmod, remainders},
    {&ops::fmods, remainders_of_scalar},
    {&ops::bit_and, [](Call& c) { binary(c, both_bits); }},
    {&ops::bit_or, [](Call& c) { binary(c, any_bits); }},
    {&ops::bit_xor, [](Call& c) { binary(c, other_bits); }},
    {&ops::bit_not, [](Call& c) { unary(c, no_bits); }},
    {&ops::shl, [](Call& c) { binary(c, [&](auto a, auto n) { return shifted_left(c, a, n); }); }},
    {&ops::shr, [](Call& c) { binary(c, [&](auto a, auto n) { return shifted_right(c, a, n); }); }},
    {&ops::bit_ands, [](Call& c) { with_scalar(c, both_bits); }},
    {&ops::bit_ors, [](Call& c) { with_scalar(c, any_bits); }},
    {&ops::bit_xors, [](Call& c) { with_scalar(c, other_bits); }},
    {&ops::shls, [](Call& c) { with_scalar(c, [&](auto a, auto n) { return shifted_left(c, a, n); }); }},
    {&ops::shrs, [](Call& c) { with_scalar(c, [&](auto a, auto n) { return shifted_right(c, a, n); }); }},
    {&ops::part_add, [](Call& c) { parts(c, sum); }},
    {&ops::part_mul, [](Call& c) { parts(c, product); }},
    {&ops::part_max, [](Call& c) { parts(c, larger); }},
    {&ops::part_min, [](Call& c) { parts(c, smaller); }},
    {&ops::cast, cast_elements},
    {&ops::row_expand_add, [](Call& c) { binary(c, sum); }},
    {&ops::row_expand_sub, [](Call& c) { binary(c, difference); }},
    {&ops::row_expand_mul, [](Call& c) { binary(c, product); }},
    {&ops::row_expand_div, divide},
    {&ops::row_expand_max, [](Call& c) { binary(c, larger); }},
    {&ops::row_expand_min, [](Call& c) { binary(c, smaller); }},
    {&ops::col_expand_add, [](Call& c) { binary(c, sum); }},
    {&ops::col_expand_sub, [](Call& c) { binary(c, difference); }},
    {&ops::col_expand_mul, [](Call& c) { binary(c, product); }},
    {&ops::col_expand_div, divide},
    {&ops::col_expand_max, [](Call& c) { binary(c, larger); }},
    {&ops::col_expand_min, [](Call& c) { binary(c, smaller); }},
    {&ops::row_expand_expdif, exponentials_of_differences},
    {&ops::col_expand_expdif, exponentials_of_differences},
    {&ops::row_expand, repeat},
    {&ops::col_expand, repeat},
    {&ops::broadcast_to, repeat},
};

}  // namespace tessera::simulator
