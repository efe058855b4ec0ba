// The one rule for window reads and writes: a box of static extents at run-time offsets in a tensor or tile; and when it is one
// band of rows.
#pragma once

#include "descriptor.hpp"

namespace tessera::detail {

/// Operands `first`.. of `in` are one offset per dim of `source`, then, with attribute has_valid, one valid extent per dim.
/// The window's extents are `window.dims`. Bounds that are known are checked; the others are trusted.
constexpr Verdict check_window(const InferInput& in, const Type& source, const Type& window, int first) {
  const std::int64_t rank = source.rank;
  const bool has_valid = in.attr(AttrKey::has_valid, 0) != 0;
  if (window.rank != rank) return breaks(rule::window_rank_differs, arg_op, arg(std::int64_t{window.rank}), arg(rank));
  const std::int64_t given = in.count - first;
  if (!has_valid && given != rank) return breaks(rule::offset_count_differs, arg_op, arg(given), arg(rank));
  if (has_valid && given != 2 * rank) return breaks(rule::valid_count_differs, arg_op, arg(given - rank), arg(rank));
  for (int i = first; i < in.count; ++i)
    if (!in.type(i).is_scalar() || !is_integer_or_index(in.type(i).dtype))
      return breaks(rule::operand_is_not_an_integer, arg_op, arg(std::int64_t{i - first}));
  for (int axis = 0; axis < rank; ++axis) {
    const OperandInfo& offset = in.operands[first + axis];
    const std::int64_t dim = source.dims[axis], extent = window.dims[axis];
    std::int64_t reach = extent;
    if (has_valid) {
      const OperandInfo& valid = in.operands[first + rank + axis];
      if (valid.is_constant && valid.constant < 0) return breaks(rule::valid_is_negative, arg_op, arg(valid.constant));
      if (valid.is_constant && valid.constant > extent)
        return breaks(rule::valid_exceeds_window, arg_op, arg(valid.constant), arg_dim(extent));
      reach = valid.is_constant ? valid.constant : 0;
      if (valid.is_constant && reach == 0 && !(offset.is_constant && offset.constant < 0)) continue;  // nothing is read
    }
    if (offset.is_constant && offset.constant < 0) return breaks(rule::window_offset_is_negative, arg_op, arg(offset.constant));
    if (is_dynamic(extent)) continue;
    if (is_dynamic(dim)) {
      if (!has_valid && extent > 1) return breaks(rule::window_needs_valid, arg_op, arg(extent), arg_dim(dim));
      continue;
    }
    const std::int64_t start = offset.is_constant ? offset.constant : 0;
    if (reach > dim || start > dim - reach) return breaks(rule::window_out_of_bounds, arg_op, arg(start), arg(reach), arg(dim));
  }
  return lawful();
}

/// Whether a box is one band of rows of what it is a part of: behind its first dim above 1 each dim but the last is covered whole.
constexpr bool is_band(const std::int64_t* box, const std::int64_t* whole, int rank) {
  bool inner = false;
  for (int i = 0; i + 1 < rank; ++i) {
    if (inner && box[i] != whole[i]) return false;
    inner = inner || box[i] != 1;
  }
  return true;
}
constexpr bool is_band(const Type& box, const Type& whole) { return is_band(box.dims, whole.dims, box.rank); }

/// Operands `first`.. are one integer per dim of `source`, each inside.
constexpr Verdict check_indices(const InferInput& in, const Type& source, int first, int last) {
  if (last - first != source.rank)
    return breaks(rule::index_count_differs, arg_op, arg(std::int64_t{last - first}), arg(std::int64_t{source.rank}));
  for (int i = first; i < last; ++i) {
    if (!in.type(i).is_scalar() || !is_integer_or_index(in.type(i).dtype))
      return breaks(rule::operand_is_not_an_integer, arg_op, arg(std::int64_t{i - first}));
    const std::int64_t dim = source.dims[i - first];
    if (in.operands[i].is_constant && (in.operands[i].constant < 0 || (!is_dynamic(dim) && in.operands[i].constant >= dim)))
      return breaks(rule::index_out_of_bounds, arg_op, arg(in.operands[i].constant), arg_dim(dim));
  }
  return lawful();
}

}  // namespace tessera::detail
