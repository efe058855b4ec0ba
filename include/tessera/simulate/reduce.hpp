// Reductions over the valid extents. f32 and integers are added and multiplied in their own type, in order; f16 and bf16 in f32,
// with one rounding at the end. Nothing to reduce gives poison.
#pragma once

#include "elementwise.hpp"

namespace tessera::simulator {

/// Calls line(start, step, count, to) for each line of valid elements along an axis: its first element, the way to the next
/// one, how many there are, and where the result stands. Every element must be known.
template <class Line>
void for_each_line(Call& c, Data& r, int from_end, Line&& line) {
  const Data& x = c.in(0);
  const int axis = x.dims.rank - 1 - from_end;
  const Box valid = c.valid(0), strides = strides_of(x.dims), result_strides = strides_of(r.dims);
  Box kept = valid;
  kept[axis] = 1;
  if (valid[axis] == 0) kept = Box{valid.rank, {}};
  for_each_row(kept, [&](const Box& row) {
    Box index = row;
    for (std::int64_t j = 0; j < kept.last(); ++j) {
      index[index.rank - 1] = j;
      const std::int64_t start = dot(strides, index);
      const auto to = static_cast<std::size_t>(dot(result_strides, index));
      for (std::int64_t k = 0; k < valid[axis]; ++k)
        if (!x.is_known(start + k * strides[axis])) c.fail_poison(0, x, start + k * strides[axis]);
      line(static_cast<std::size_t>(start), static_cast<std::size_t>(strides[axis]), valid[axis], to);
      r.known[to] = 1;
    }
  });
}

/// Combines the valid elements along one axis: result = f(...f(f(x0, x1), x2)...).
template <class F>
void reduce(Call& c, int from_end, F f) {
  const Data& x = c.in(0);
  Data r = c.fresh();
  for_each_line(c, r, from_end, [&](std::size_t from, std::size_t step, std::int64_t count, std::size_t to) {
    double real = 0;
    std::int64_t integer = 0;
    for (std::int64_t k = 0; k < count; ++k, from += step) {
      if (is_float(x.dtype)) {
        const auto value = static_cast<double>(x.floats[from]);
        real = k == 0 ? value : static_cast<double>(static_cast<float>(f(real, value)));
      } else {
        integer = k == 0 ? x.integers[from] : wrapped(x.dtype, f(integer, x.integers[from]));
      }
    }
    if (is_float(r.dtype)) r.floats[to] = rounded(r.dtype, real);
    else r.integers[to] = integer;
  });
  c.result(std::move(r));
}

/// Where the element stands that no earlier one precedes: the first of the largest, or of the smallest. NaN precedes all.
template <class Precedes>
void arg_reduce(Call& c, int from_end, Precedes precedes) {
  const Data& x = c.in(0);
  Data r = c.fresh();
  const auto comes_first = [&](std::size_t a, std::size_t b) {
    if (!is_float(x.dtype)) return precedes(x.integers[a], x.integers[b]);
    if (std::isnan(x.floats[a]) || std::isnan(x.floats[b])) return std::isnan(x.floats[a]) && !std::isnan(x.floats[b]);
    return precedes(x.floats[a], x.floats[b]);
  };
  for_each_line(c, r, from_end, [&](std::size_t start, std::size_t step, std::int64_t count, std::size_t to) {
    std::size_t best = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k)
      if (comes_first(start + k * step, start + best * step)) best = k;
    r.integers[to] = static_cast<std::int64_t>(best);
  });
  c.result(std::move(r));
}
inline constexpr auto is_larger = [](auto a, auto b) { return a > b; };
inline constexpr auto is_smaller = [](auto a, auto b) { return a < b; };

inline constexpr TableEntry reduce_table[] = {
    {&ops::row_sum, [](Call& c) { reduce(c, 0, sum); }},
    {&ops::row_max, [](Call& c) { reduce(c, 0, larger); }},
    {&ops::row_min, [](Call& c) { reduce(c, 0, smaller); }},
    {&ops::row_prod, [](Call& c) { reduce(c, 0, product); }},
    {&ops::col_sum, [](Call& c) { reduce(c, 1, sum); }},
    {&ops::col_max, [](Call& c) { reduce(c, 1, larger); }},
    {&ops::col_min, [](Call& c) { reduce(c, 1, smaller); }},
    {&ops::col_prod, [](Call& c) { reduce(c, 1, product); }},
    {&ops::row_argmax, [](Call& c) { arg_reduce(c, 0, is_larger); }},
    {&ops::row_argmin, [](Call& c) { arg_reduce(c, 0, is_smaller); }},
    {&ops::col_argmax, [](Call& c) { arg_reduce(c, 1, is_larger); }},
    {&ops::col_argmin, [](Call& c) { arg_reduce(c, 1, is_smaller); }},
};

}  // namespace tessera::simulator
