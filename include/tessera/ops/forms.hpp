// Operations that are one function in several forms: on equal shapes, with a scalar, with a column or a row that is repeated,
// and on two scalars.
#pragma once

#include "all.hpp"

namespace tessera::detail {

/// The forms of a binary function. Null where there is none; the flags say the same, since g++ with -fsanitize=undefined knows
/// no comparison of addresses in constant expressions.
struct binary_forms {
  const OpInfo* plain;
  const OpInfo* scalar;
  const OpInfo* column;
  const OpInfo* row;
  const OpInfo* on_scalars;
  bool commutes;
  bool accumulates = false;  ///< with a matrix product it becomes matmul_acc
  bool broadcasts = true;    ///< there are forms with a column and a row
  bool for_scalars = true;   ///< there is one for two scalars
};
inline constexpr binary_forms forms_add = {&ops::add, &ops::adds, &ops::row_expand_add, &ops::col_expand_add, &ops::scalar_add, true, true};
inline constexpr binary_forms forms_sub = {&ops::sub, &ops::subs, &ops::row_expand_sub, &ops::col_expand_sub, &ops::scalar_sub, false};
inline constexpr binary_forms forms_mul = {&ops::mul, &ops::muls, &ops::row_expand_mul, &ops::col_expand_mul, &ops::scalar_mul, true};
inline constexpr binary_forms forms_div = {&ops::div, &ops::divs, &ops::row_expand_div, &ops::col_expand_div, &ops::scalar_div, false};
inline constexpr binary_forms forms_max = {&ops::maximum, &ops::maximums, &ops::row_expand_max, &ops::col_expand_max, &ops::scalar_max, true};
inline constexpr binary_forms forms_min = {&ops::minimum, &ops::minimums, &ops::row_expand_min, &ops::col_expand_min, &ops::scalar_min, true};
inline constexpr binary_forms forms_fmod = {&ops::fmod, &ops::fmods, nullptr, nullptr, nullptr, false, false, false, false};
inline constexpr binary_forms forms_and = {&ops::bit_and, &ops::bit_ands, nullptr, nullptr, &ops::scalar_and, true, false, false};
inline constexpr binary_forms forms_or = {&ops::bit_or, &ops::bit_ors, nullptr, nullptr, &ops::scalar_or, true, false, false};
inline constexpr binary_forms forms_xor = {&ops::bit_xor, &ops::bit_xors, nullptr, nullptr, &ops::scalar_xor, true, false, false};
inline constexpr binary_forms forms_shl = {&ops::shl, &ops::shls, nullptr, nullptr, &ops::scalar_shl, false, false, false};
inline constexpr binary_forms forms_shr = {&ops::shr, &ops::shrs, nullptr, nullptr, &ops::scalar_shr, false, false, false};
inline constexpr binary_forms forms_compare = {&ops::compare, &ops::compares, nullptr, nullptr, nullptr, false, false, false, false};
inline constexpr const binary_forms* binary_functions[] = {&forms_add, &forms_sub, &forms_mul, &forms_div, &forms_max, &forms_min,
                                                           &forms_fmod, &forms_and, &forms_or, &forms_xor, &forms_shl, &forms_shr};

}  // namespace tessera::detail
