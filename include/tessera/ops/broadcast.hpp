// Broadcasts: a wide operand [..,M,N] with a column [..,M,1] or with a row [1,..,1,N]; an operand repeated to a larger shape.
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
/// What keeps `narrow` from being one column of `wide`, with its first dim at fault.
constexpr Verdict breaks_column(const Type& narrow, const Type& wide) {
  if (narrow.rank != wide.rank) return breaks(rule::ranks_differ, arg_op, arg(std::int64_t{wide.rank}), arg(std::int64_t{narrow.rank}));
  int i = 0;
  while (i + 1 < wide.rank && narrow.dims[i] == wide.dims[i]) ++i;
  return breaks(rule::row_operand_is_not_a_column, arg_op, arg(std::int64_t{i}), arg_dim(narrow.dims[i]), i + 1 < wide.rank ? arg_dim(wide.dims[i]) : arg_dim(1));
}
/// What keeps `narrow` from being one row of `wide`, with its last dim or else the first one at fault.
constexpr Verdict breaks_row(const Type& narrow, const Type& wide) {
  if (narrow.rank == 0 || narrow.rank > wide.rank) return breaks(rule::ranks_differ, arg_op, arg(std::int64_t{wide.rank}), arg(std::int64_t{narrow.rank}));
  const int last = narrow.rank - 1;
  int i = narrow.last() == wide.last() ? 0 : last;
  while (i < last && narrow.dims[i] == 1) ++i;
  return breaks(rule::col_operand_is_not_a_row, arg_op, arg(std::int64_t{i}), arg_dim(narrow.dims[i]), i < last ? arg_dim(1) : arg_dim(wide.last()));
}
/// The dim of an operand along an axis of a broadcast result: missing leading dims are 1.
[[nodiscard]] constexpr std::int64_t dim_of_operand(const Type& x, int axis, int rank) {
  return axis < rank - x.rank ? 1 : x.dims[axis - (rank - x.rank)];
}
/// The shape in which two shapes meet, each dim equal or 1 in one of them; rank 0 where there is none.
[[nodiscard]] constexpr Type broadcast_shape(const Type& a, const Type& b) {
  Type r = a.rank >= b.rank ? a : b;
  for (int i = 0; i < r.rank; ++i) {
    const std::int64_t x = dim_of_operand(a, i, r.rank), y = dim_of_operand(b, i, r.rank);
    if (x != y && x != 1 && y != 1) return {};
    r.dims[i] = x == 1 ? y : x;
  }
  return with_shape(r, r.dims, r.rank);
}

constexpr Verdict infer_row_expand(const OpInfo&, const InferInput& in) {
  const Verdict pair = check_pair(in.type(0), in.type(1));
  if (!pair.lawful()) return pair;
  const Type &wide = in.type(0), &column = in.type(1);
  if (!is_column_of(column, wide)) return breaks_column(column, wide);
  return lawful(wide);
}
constexpr Verdict infer_col_expand(const OpInfo&, const InferInput& in) {
  const Verdict pair = check_pair(in.type(0), in.type(1));
  if (!pair.lawful()) return pair;
  const Type &wide = in.type(0), &row = in.type(1);
  if (!is_row_of(row, wide)) return breaks_row(row, wide);
  return lawful(wide);
}
// The result's shape is stated; the operand is its column or its row.
constexpr Verdict infer_row_fill(const OpInfo&, const InferInput& in) {
  if (!in.type(0).is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  const Type wide = with_shape(in.type(0), in.requested.dims, in.requested.rank);
  if (!is_column_of(in.type(0), wide)) return breaks_column(in.type(0), wide);
  return lawful(wide);
}
constexpr Verdict infer_col_fill(const OpInfo&, const InferInput& in) {
  if (!in.type(0).is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  const Type wide = with_shape(in.type(0), in.requested.dims, in.requested.rank);
  if (!is_row_of(in.type(0), wide)) return breaks_row(in.type(0), wide);
  return lawful(wide);
}
// Dims are compared from the last one; each of the operand is 1 or that of the result.
constexpr Verdict infer_broadcast(const OpInfo&, const InferInput& in) {
  const Type& x = in.type(0);
  if (!x.is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  const Type wide = with_shape(x, in.requested.dims, in.requested.rank);
  if (x.rank > wide.rank) return breaks(rule::broadcast_lowers_the_rank, arg(std::int64_t{x.rank}), arg(std::int64_t{wide.rank}));
  bool repeats = false;
  for (int i = 0; i < wide.rank; ++i) {
    const std::int64_t own = dim_of_operand(x, i, wide.rank);
    if (own == wide.dims[i]) continue;
    repeats = true;
    if (own != 1) return breaks(rule::broadcast_dim_differs, arg(std::int64_t{i}), arg_dim(own), arg_dim(wide.dims[i]));
    if (is_dynamic(wide.dims[i])) return breaks(rule::tile_dim_is_dynamic, arg_op, arg_dim(wide.dims[i]));
  }
  // Rows of one element are repeated as rows of a block.
  if (repeats && x.last() == 1 && info(x.dtype).bits == 8) return breaks(rule::broadcast_of_bytes_along_rows, arg(x.dtype));
  return lawful(wide);
}

constexpr OpInfo row_expand_form(std::string_view name, std::string_view pto, std::string_view summary, DTypeSet a3,
                                 DTypeSet a5) {
  return {.name = name, .summary = summary, .infer = infer_row_expand, .valid = ValidRule::wide, .dtypes = {a3, a5},
          .pto = pto, .operand_spaces = {spaces(Vec), spaces(Vec), {}}, .may_alias = false};
}
constexpr OpInfo col_expand_form(std::string_view name, std::string_view pto, std::string_view summary, DTypeSet a3,
                                 DTypeSet a5) {
  return {.name = name, .summary = summary, .infer = infer_col_expand, .valid = ValidRule::wide, .dtypes = {a3, a5},
          .pto = pto, .operand_spaces = {spaces(Vec), spaces(Vec), {}}, .packed = 0b01, .may_alias = false};
}

}  // namespace detail

namespace ops {

inline constexpr OpInfo row_expand_add = row_expand_form("row_expand_add", "trowexpandadd", "x[..,M,N] + v[..,M,1]", words, words);
inline constexpr OpInfo row_expand_sub = row_expand_form("row_expand_sub", "trowexpandsub", "x[..,M,N] - v[..,M,1]", words, words);
inline constexpr OpInfo row_expand_mul = row_expand_form("row_expand_mul", "trowexpandmul", "x[..,M,N] * v[..,M,1]", words, words);
inline constexpr OpInfo row_expand_div = dividing(row_expand_form("row_expand_div", "trowexpanddiv", "x[..,M,N] / v[..,M,1]", floats, floats));
inline constexpr OpInfo row_expand_max = row_expand_form("row_expand_max", "trowexpandmax", "the larger of x[..,M,N] and v[..,M,1]", words, words);
inline constexpr OpInfo row_expand_min = row_expand_form("row_expand_min", "trowexpandmin", "the smaller of x[..,M,N] and v[..,M,1]", words, words);
inline constexpr OpInfo col_expand_add = col_expand_form("col_expand_add", "tcolexpandadd", "x[..,M,N] + v[1,N]", words, words);
inline constexpr OpInfo col_expand_sub = col_expand_form("col_expand_sub", "tcolexpandsub", "x[..,M,N] - v[1,N]", words, words);
inline constexpr OpInfo col_expand_mul = col_expand_form("col_expand_mul", "tcolexpandmul", "x[..,M,N] * v[1,N]", words, words);
inline constexpr OpInfo col_expand_div = dividing(col_expand_form("col_expand_div", "tcolexpanddiv", "x[..,M,N] / v[1,N]", floats, floats));
inline constexpr OpInfo col_expand_max = col_expand_form("col_expand_max", "tcolexpandmax", "the larger of x[..,M,N] and v[1,N]", words, words);
inline constexpr OpInfo col_expand_min = col_expand_form("col_expand_min", "tcolexpandmin", "the smaller of x[..,M,N] and v[1,N]", words, words);
inline constexpr OpInfo row_expand_expdif = row_expand_form("row_expand_expdif", "trowexpandexpdif", "exp(x[..,M,N] - v[..,M,1])", floats, floats);
inline constexpr OpInfo col_expand_expdif = col_expand_form("col_expand_expdif", "tcolexpandexpdif", "exp(x[..,M,N] - v[1,N])", floats, floats);
inline constexpr OpInfo row_expand = {
    .name = "row_expand", .summary = "v[..,M,1] repeated over N columns", .infer = infer_row_fill, .valid = ValidRule::repeated,
    .dtypes = {words | dtypes(bf16), words | dtypes(bf16)}, .pto = "trowexpand", .operand_spaces = {spaces(Vec), {}, {}},
    .may_alias = false};
inline constexpr OpInfo col_expand = {
    .name = "col_expand", .summary = "v[1,N] repeated over M rows", .infer = infer_col_fill, .valid = ValidRule::repeated,
    .dtypes = {every_word, every_word}, .pto = "tcolexpand", .operand_spaces = {spaces(Vec), {}, {}}, .may_alias = false};
inline constexpr OpInfo broadcast_to = {
    .name = "broadcast_to", .summary = "x repeated to a shape; each dim of x, from the last, is 1 or that of the shape", .infer = infer_broadcast,
    .valid = ValidRule::repeated, .dtypes = {every_word, every_word}, .form = PtoForm::expanded, .operand_spaces = {spaces(Vec), {}, {}},
    .may_alias = false, .self_loading = true};

inline constexpr const OpInfo* broadcast_family[] = {&row_expand_add, &row_expand_sub, &row_expand_mul, &row_expand_div,
    &row_expand_max, &row_expand_min, &col_expand_add, &col_expand_sub, &col_expand_mul, &col_expand_div,
    &col_expand_max, &col_expand_min, &row_expand_expdif, &col_expand_expdif, &row_expand, &col_expand, &broadcast_to};

}  // namespace ops
}  // namespace tessera
