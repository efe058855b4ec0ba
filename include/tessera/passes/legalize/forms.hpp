// The form of an operation that takes the place of one that the target or the shape does not allow.
#pragma once

#include <optional>
#include <utility>

#include "../../ops/forms.hpp"

namespace tessera::detail {

/// A function that repeats one operand beside another: a column (by_row), a row (by_col), or none (plain; null: the operand is
/// repeated and that is all). `then` follows the plain one.
struct Broadcast {
  const OpInfo* by_row;
  const OpInfo* by_col;
  const OpInfo* plain;
  const OpInfo* then = nullptr;
};
[[nodiscard]] inline std::optional<Broadcast> broadcast_of(const OpInfo& op) {
  constexpr Broadcast without_operator[] = {{&ops::row_expand_expdif, &ops::col_expand_expdif, &ops::sub, &ops::exp},
                                            {&ops::row_expand, &ops::col_expand, nullptr}};
  for (const Broadcast& b : without_operator)
    if (b.by_row == &op || b.by_col == &op) return b;
  for (const binary_forms* f : binary_functions)
    if (f->column == &op || f->row == &op) return Broadcast{f->column, f->row, f->plain};
  return std::nullopt;
}

/// The operation on tiles behind one with a scalar.
[[nodiscard]] inline const OpInfo* plain_form_of(const OpInfo& op) {
  for (const binary_forms* f : binary_functions)
    if (f->scalar == &op) return f->plain;
  return nullptr;
}
/// The reduction of a row that is one of its column's elements.
[[nodiscard]] inline const OpInfo* over_row_of(const OpInfo& op) {
  constexpr std::pair<const OpInfo*, const OpInfo*> forms[] = {{&ops::col_sum, &ops::row_sum},
                                                               {&ops::col_max, &ops::row_max},
                                                               {&ops::col_min, &ops::row_min},
                                                               {&ops::col_prod, &ops::row_prod},
                                                               {&ops::col_argmax, &ops::row_argmax},
                                                               {&ops::col_argmin, &ops::row_argmin}};
  for (const auto& [over_column, over_row] : forms)
    if (over_column == &op) return over_row;
  return nullptr;
}

}  // namespace tessera::detail
