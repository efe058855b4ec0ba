// Reductions over the valid extents. f32 and integers are added and multiplied in their own type, in order; f16 and bf16 in f32,
// with one rounding at the end. Nothing to reduce gives poison.
#pragma once

#include "elementwise.hpp"

namespace tessera::simulator {

/// Combines the valid elements along one axis: result = f(...f(f(x0, x1), x2)...).
template <class F>
void reduce(Call& c, int from_end, F f) {
  const Data& x = c.in(0);
  Data r = c.fresh();
  const int axis = x.dims.rank - 1 - from_end;
  const Box valid = c.valid(0), strides = strides_of(x.dims), result_strides = strides_of(r.dims);
  Box kept = valid;
  kept[axis] = 1;
  if (valid[axis] == 0) kept = Box{valid.rank, {}};
  const auto step = static_cast<std::size_t>(strides[axis]);
  const auto one = [&](const Box& index) {
    const auto to = static_cast<std::size_t>(dot(result_strides, index));
    auto from = static_cast<std::size_t>(dot(strides, index));
    double real = 0;
    std::int64_t integer = 0;
    for (std::int64_t k = 0; k < valid[axis]; ++k, from += step) {
      if (x.known[from] == 0) c.fail_poison(0, x, static_cast<std::int64_t>(from));
      if (is_float(x.dtype)) {
        const auto value = static_cast<double>(x.floats[from]);
        real = k == 0 ? value : static_cast<double>(static_cast<float>(f(real, value)));
      } else {
        integer = k == 0 ? x.integers[from] : wrapped(x.dtype, f(integer, x.integers[from]));
      }
    }
    if (is_float(r.dtype)) r.floats[to] = rounded(r.dtype, real);
    else r.integers[to] = integer;
    r.known[to] = 1;
  };
  for_each_row(kept, [&](const Box& row) {
    Box index = row;
    for (std::int64_t j = 0; j < kept.last(); ++j) {
      index[index.rank - 1] = j;
      one(index);
    }
  });
  c.result(std::move(r));
}

/// Where the element stands that no earlier one precedes: the first of the largest, or of the smallest. NaN precedes all.
template <class Precedes>
void arg_reduce(Call& c, int from_end, Precedes precedes) {
  const Data& x = c.in(0);
  Data r = c.fresh();
  const int axis = x.dims.rank - 1 - from_end;
  const Box valid = c.valid(0), strides = strides_of(x.dims), result_strides = strides_of(r.dims);
  Box kept = valid;
  kept[axis] = 1;
  if (valid[axis] == 0) kept = Box{valid.rank, {}};
  const auto comes_first = [&](std::size_t a, std::size_t b) {
    if (!is_float(x.dtype)) return precedes(x.integers[a], x.integers[b]);
    if (std::isnan(x.floats[a]) || std::isnan(x.floats[b])) return std::isnan(x.floats[a]) && !std::isnan(x.floats[b]);
    return precedes(x.floats[a], x.floats[b]);
  };
  for_each_row(kept, [&](const Box& row) {
    Box index = row;
    for (std::int64_t j = 0; j < kept.last(); ++j) {
      index[index.rank - 1] = j;
      const auto start = static_cast<std::size_t>(dot(strides, index)), to = static_cast<std::size_t>(dot(result_strides, index));
      std::int64_t best = 0;
      for (std::int64_t k = 0; k < valid[axis]; ++k) {
        const std::size_t at = start + static_cast<std::size_t>(k * strides[axis]);
        if (x.known[at] == 0) c.fail_poison(0, x, static_cast<std::int64_t>(at));
        if (comes_first(at, start + static_cast<std::size_t>(best * strides[axis]))) best = k;
      }
      r.integers[to] = best;
      r.known[to] = 1;
    }
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
