// Comparisons of tensors and tiles, and select. Comparisons are those of IEEE 754: with NaN only `!=` holds. What select does
// not take may be poison.
#pragma once

#include "scalar.hpp"

namespace tessera::simulator {

/// mask[i] = a[i] op b[i], or x[i] op scalar.
inline void compare_elements(Call& c) {
  const Data &a = c.in(0), &b = c.in(1);
  const auto how = static_cast<Compare>(c.attr(AttrKey::compare));
  Data r = c.fresh();
  for (std::size_t i = 0; i < r.known.size(); ++i) {
    if (a.known[i] == 0 || b.known[i] == 0) continue;
    r.integers[i] = is_float(a.dtype) ? compares(how, a.floats[i], b.floats[i]) : compares(how, a.integers[i], b.integers[i]);
    r.known[i] = 1;
  }
  c.result(std::move(r));
}
inline void compare_with_scalar(Call& c) {
  const Data& x = c.in(0);
  const Number s = c.number(1);
  const auto how = static_cast<Compare>(c.attr(AttrKey::compare));
  Data r = c.fresh();
  for (std::size_t i = 0; i < r.known.size(); ++i) {
    if (x.known[i] == 0) continue;
    r.integers[i] = is_float(x.dtype) ? compares(how, static_cast<double>(x.floats[i]), s.real) : compares(how, x.integers[i], s.integer);
    r.known[i] = 1;
  }
  c.result(std::move(r));
}
inline void select_elements(Call& c) {
  const Data &mask = c.in(0), &a = c.in(1), &b = c.in(2);
  Data r = c.fresh();
  for (std::size_t i = 0; i < r.known.size(); ++i) {
    if (mask.known[i] == 0) continue;
    const auto at = static_cast<std::int64_t>(i);
    r.copy(at, mask.integers[i] != 0 ? a : b, at, 1);
  }
  c.result(std::move(r));
}

inline constexpr TableEntry compare_table[] = {
    {&ops::compare, compare_elements},
    {&ops::compares, compare_with_scalar},
    {&ops::select, select_elements},
};

}  // namespace tessera::simulator
