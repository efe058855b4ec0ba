// Operations in other forms: those that repeat one operand beside another by rows (a column is repeated), by columns (a row
// is), and plain; those with a scalar on tiles; reductions of a column on its row.
#pragma once

#include <utility>

#include "../../ops/all.hpp"

namespace tessera::detail {

/// One function in its three forms; without a plain one the operand is repeated and that is all. `then` follows the plain one.
struct Broadcast {
  const OpInfo* by_row;
  const OpInfo* by_col;
  const OpInfo* plain;
  const OpInfo* then = nullptr;
};
inline constexpr Broadcast broadcasts[] = {{&ops::row_expand_add, &ops::col_expand_add, &ops::add},
                                           {&ops::row_expand_sub, &ops::col_expand_sub, &ops::sub},
                                           {&ops::row_expand_mul, &ops::col_expand_mul, &ops::mul},
                                           {&ops::row_expand_div, &ops::col_expand_div, &ops::div},
                                           {&ops::row_expand_max, &ops::col_expand_max, &ops::maximum},
                                           {&ops::row_expand_min, &ops::col_expand_min, &ops::minimum},
                                           {&ops::row_expand_expdif, &ops::col_expand_expdif, &ops::sub, &ops::exp},
                                           {&ops::row_expand, &ops::col_expand, nullptr}};

[[nodiscard]] constexpr const Broadcast* broadcast_of(const OpInfo& op) {
  for (const Broadcast& b : broadcasts)
    if (b.by_row == &op || b.by_col == &op) return &b;
  return nullptr;
}

/// The operation on tiles behind one with a scalar that some target lacks.
[[nodiscard]] constexpr const OpInfo* filled_form_of(const OpInfo& op) {
  constexpr std::pair<const OpInfo*, const OpInfo*> forms[] = {
      {&ops::bit_ands, &ops::bit_and}, {&ops::bit_ors, &ops::bit_or}, {&ops::bit_xors, &ops::bit_xor}};
  for (const auto& [with_scalar, plain] : forms)
    if (with_scalar == &op) return plain;
  return nullptr;
}
/// The reduction of a row that is one of its column's elements.
[[nodiscard]] constexpr const OpInfo* over_row_of(const OpInfo& op) {
  constexpr std::pair<const OpInfo*, const OpInfo*> forms[] = {{&ops::col_sum, &ops::row_sum},
                                                               {&ops::col_max, &ops::row_max},
                                                               {&ops::col_min, &ops::row_min},
                                                               {&ops::col_prod, &ops::row_prod}};
  for (const auto& [over_column, over_row] : forms)
    if (over_column == &op) return over_row;
  return nullptr;
}

}  // namespace tessera::detail
