// Row and column broadcasts: a wide operand [..,M,N] with a column [..,M,1], or with a row [1,..,1,N].
#pragma once

#include "elementwise.hpp"

namespace tessera {
namespace detail {

/// Whether `narrow` is one column of `wide`: equal dims but a last dim of 1.
[[nodiscard]] constexpr bool is_column_of(const Type& narrow, const Type& wide) {
  if (narrow.rank != wide.rank || narrow.rank == 0 || narrow.last() != 1) return false;
  for (int i = 0; i + 1 < wide.rank; ++i)
    if (narrow.dims[i] != wide.dims[i]) return false;
  return true;
}
/// Whether `narrow` is one row of `wide`: an equal last dim, all others 1 or absent.
[[nodiscard]] constexpr bool is_row_of(const Type& narrow, const Type& wide) {
  if (narrow.rank == 0 || narrow.rank > wide.rank || narrow.last() != wide.last()) return false;
  for (int i = 0; i + 1 < narrow.rank; ++i)
    if (narrow.dims[i] != 1) return false;
  return true;
}

constexpr Verdict infer_row_expand(const OpInfo&, const InferInput& in) {
  const Verdict pair = check_pair(in.type(0), in.type(1));
  if (!pair.lawful()) return pair;
  const Type &wide = in.type(0), &column = in.type(1);
  if (!is_column_of(column, wide))
    return breaks(rule::row_operand_is_not_a_column, arg_op, arg_dim(wide.rank > 1 ? wide.last(1) : 1),
                  arg_dim(column.rank > 1 ? column.last(1) : 1), arg_dim(column.rank > 0 ? column.last() : 0));
  return lawful(wide);
}
constexpr Verdict infer_col_expand(const OpInfo&, const InferInput& in) {
  const Verdict pair = check_pair(in.type(0), in.type(1));
  if (!pair.lawful()) return pair;
  const Type &wide = in.type(0), &row = in.type(1);
  if (!is_row_of(row, wide))
    return breaks(rule::col_operand_is_not_a_row, arg_op, arg_dim(wide.rank > 0 ? wide.last() : 0),
                  arg_dim(row.rank > 0 ? row.last() : 0));
  return lawful(wide);
}
// The result's shape is stated; the operand is its column or its row.
constexpr Verdict infer_row_fill(const OpInfo&, const InferInput& in) {
  if (!in.type(0).is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  const Type wide = with_shape(in.type(0), in.requested.dims, in.requested.rank);
  if (!is_column_of(in.type(0), wide))
    return breaks(rule::row_operand_is_not_a_column, arg_op, arg_dim(wide.rank > 1 ? wide.last(1) : 1),
                  arg_dim(in.type(0).rank > 1 ? in.type(0).last(1) : 1), arg_dim(in.type(0).last()));
  return lawful(wide);
}
constexpr Verdict infer_col_fill(const OpInfo&, const InferInput& in) {
  if (!in.type(0).is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  const Type wide = with_shape(in.type(0), in.requested.dims, in.requested.rank);
  if (!is_row_of(in.type(0), wide))
    return breaks(rule::col_operand_is_not_a_row, arg_op, arg_dim(wide.last()), arg_dim(in.type(0).last()));
  return lawful(wide);
}

constexpr OpInfo row_expand_form(std::string_view name, std::string_view pto, std::string_view summary, DTypeSet a3,
                                 DTypeSet a5) {
  return {.name = name, .summary = summary, .infer = infer_row_expand, .valid = ValidRule::first, .dtypes = {a3, a5},
          .pto = pto, .operand_spaces = {spaces(Vec), spaces(Vec), {}}, .may_alias = false};
}
constexpr OpInfo col_expand_form(std::string_view name, std::string_view pto, std::string_view summary, DTypeSet a3,
                                 DTypeSet a5) {
  return {.name = name, .summary = summary, .infer = infer_col_expand, .valid = ValidRule::first, .dtypes = {a3, a5},
          .pto = pto, .operand_spaces = {spaces(Vec), spaces(Vec), {}}, .may_alias = false};
}

}  // namespace detail

namespace ops {

inline constexpr OpInfo row_expand_add = row_expand_form("row_expand_add", "trowexpandadd", "x[..,M,N] + v[..,M,1]", words, words);
inline constexpr OpInfo row_expand_sub = row_expand_form("row_expand_sub", "trowexpandsub", "x[..,M,N] - v[..,M,1]", words, words);
inline constexpr OpInfo row_expand_mul = row_expand_form("row_expand_mul", "trowexpandmul", "x[..,M,N] * v[..,M,1]", words, words);
inline constexpr OpInfo row_expand_div = row_expand_form("row_expand_div", "trowexpanddiv", "x[..,M,N] / v[..,M,1]", floats, floats);
inline constexpr OpInfo row_expand_max = row_expand_form("row_expand_max", "trowexpandmax", "the larger of x[..,M,N] and v[..,M,1]", words, words);
inline constexpr OpInfo row_expand_min = row_expand_form("row_expand_min", "trowexpandmin", "the smaller of x[..,M,N] and v[..,M,1]", words, words);
inline constexpr OpInfo col_expand_add = col_expand_form("col_expand_add", "tcolexpandadd", "x[..,M,N] + v[1,N]", words, words);
inline constexpr OpInfo col_expand_sub = col_expand_form("col_expand_sub", "tcolexpandsub", "x[..,M,N] - v[1,N]", words, words);
inline constexpr OpInfo col_expand_mul = col_expand_form("col_expand_mul", "tcolexpandmul", "x[..,M,N] * v[1,N]", words, words);
inline constexpr OpInfo col_expand_div = col_expand_form("col_expand_div", "tcolexpanddiv", "x[..,M,N] / v[1,N]", floats, floats);
inline constexpr OpInfo col_expand_max = col_expand_form("col_expand_max", "tcolexpandmax", "the larger of x[..,M,N] and v[1,N]", words, words);
inline constexpr OpInfo col_expand_min = col_expand_form("col_expand_min", "tcolexpandmin", "the smaller of x[..,M,N] and v[1,N]", words, words);
inline constexpr OpInfo row_expand_expdif = row_expand_form("row_expand_expdif", "trowexpandexpdif", "exp(x[..,M,N] - v[..,M,1])", floats, floats);
inline constexpr OpInfo col_expand_expdif = col_expand_form("col_expand_expdif", "tcolexpandexpdif", "exp(x[..,M,N] - v[1,N])", floats, floats);
inline constexpr OpInfo row_expand = {
    .name = "row_expand", .summary = "v[..,M,1] repeated over N columns", .infer = infer_row_fill, .valid = ValidRule::full,
    .dtypes = {words | dtypes(bf16), words | dtypes(bf16)}, .pto = "trowexpand", .operand_spaces = {spaces(Vec), {}, {}},
    .may_alias = false};
inline constexpr OpInfo col_expand = {
    .name = "col_expand", .summary = "v[1,N] repeated over M rows", .infer = infer_col_fill, .valid = ValidRule::full,
    .dtypes = {every_word, every_word}, .pto = "tcolexpand", .operand_spaces = {spaces(Vec), {}, {}}, .may_alias = false};

inline constexpr const OpInfo* broadcast_family[] = {&row_expand_add, &row_expand_sub, &row_expand_mul, &row_expand_div,
    &row_expand_max, &row_expand_min, &col_expand_add, &col_expand_sub, &col_expand_mul, &col_expand_div,
    &col_expand_max, &col_expand_min, &row_expand_expdif, &col_expand_expdif, &row_expand, &col_expand};

}  // namespace ops
}  // namespace tessera
