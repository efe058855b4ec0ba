// The operations that repeat one operand beside another: by rows (a column is repeated), by columns (a row is), and plain.
#pragma once

#include "../../ops/all.hpp"

namespace tessera::detail {

/// One function in its three forms; without a plain one the operand is repeated and that is all.
struct Broadcast {
  const OpInfo* by_row;
  const OpInfo* by_col;
  const OpInfo* plain;
};
inline constexpr Broadcast broadcasts[] = {{&ops::row_expand_add, &ops::col_expand_add, &ops::add},
                                           {&ops::row_expand_sub, &ops::col_expand_sub, &ops::sub},
                                           {&ops::row_expand_mul, &ops::col_expand_mul, &ops::mul},
                                           {&ops::row_expand_div, &ops::col_expand_div, &ops::div},
                                           {&ops::row_expand_max, &ops::col_expand_max, &ops::maximum},
                                           {&ops::row_expand_min, &ops::col_expand_min, &ops::minimum},
                                           {&ops::row_expand, &ops::col_expand, nullptr}};

[[nodiscard]] constexpr const Broadcast* broadcast_of(const OpInfo& op) {
  for (const Broadcast& b : broadcasts)
    if (b.by_row == &op || b.by_col == &op) return &b;
  return nullptr;
}

}  // namespace tessera::detail
