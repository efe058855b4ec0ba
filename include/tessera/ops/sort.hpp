// Sorting: blocks of 32 elements with their indices, and merges of sorted blocks or lists. A pair of a value and its index takes
// 8 bytes: of f32 the value and the bits of the index, of f16 the value, an element that is reserved, and the two halves of the
// index, the low one first.
#pragma once

#include "elementwise.hpp"

namespace tessera {
namespace detail {

/// How many elements a pair takes.
[[nodiscard]] constexpr std::int64_t pair_elements(DType d) { return 64 / info(d).bits; }
inline constexpr std::int64_t sort_block = 32;

constexpr Verdict infer_sort32(const OpInfo&, const InferInput& in) {
  const Type &x = in.type(0), &index = in.type(1);
  if (!x.is_shaped() || !index.is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  if (x.kind != index.kind) return breaks(rule::tensor_and_tile_mixed, arg_op);
  if (index.dtype != u32) return breaks(rule::sort_index_dtype, arg(index.dtype));
  if (is_dynamic(x.last())) return breaks(rule::tile_dim_is_dynamic, arg_op, arg_dim(x.last()));
  if (x.last() % sort_block != 0) return breaks(rule::sort_width, arg(x.last()));
  if (x.rank != index.rank) return breaks(rule::ranks_differ, arg_op, arg(std::int64_t{x.rank}), arg(std::int64_t{index.rank}));
  bool one_row = true;
  for (int i = 0; i + 1 < x.rank; ++i) one_row = one_row && index.dims[i] == 1;
  for (int i = 0; i < x.rank; ++i)
    if (index.dims[i] != x.dims[i] && !(one_row && i + 1 < x.rank))
      return breaks(rule::sort_indices_differ, arg_dim(x.dims[i]), arg_dim(index.dims[i]));
  return lawful(with_dim(x, x.rank - 1, x.last() * pair_elements(x.dtype)));
}

constexpr Verdict check_merged(const Type& x) {
  if (!x.is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  for (int i = 0; i < x.rank; ++i)
    if (is_dynamic(x.dims[i])) return breaks(rule::tile_dim_is_dynamic, arg_op, arg_dim(x.dims[i]));
  for (int i = 0; i + 1 < x.rank; ++i)
    if (x.dims[i] != 1) return breaks(rule::merge_is_for_one_row, arg_op, arg(x.dims[i]));
  if (x.last() % pair_elements(x.dtype) != 0) return breaks(rule::merge_list_is_not_whole_pairs, arg_op, arg(x.last()));
  return lawful(x);
}
/// Operands: x, the length of a block. Each four blocks become one; two or three blocks of a row are merged, too.
constexpr Verdict infer_merge_sort(const OpInfo&, const InferInput& in) {
  const Type &x = in.type(0), &s = in.type(1);
  const Verdict row = check_merged(x);
  if (!row.lawful()) return row;
  if (!s.is_scalar() || s.dtype != i32) return breaks(rule::operand_is_not_an_integer, arg_op, arg(std::int64_t{1}));
  const OperandInfo& length = in.operands[1];
  if (!length.is_constant) return in.at_run_time ? breaks(rule::merge_block_is_not_constant) : row;
  const std::int64_t block = length.constant;
  if (block <= 0 || block % 64 != 0) return breaks(rule::merge_block_length, arg(block));
  const std::int64_t count = x.last() / block;
  if (x.last() % block != 0 || count < 2 || (count > 3 && count % 4 != 0))
    return breaks(rule::merge_blocks_do_not_group, arg(x.last()), arg(block));
  return row;
}
/// Operands: the lists, and scratch that holds all of them.
constexpr Verdict infer_merge_lists(const OpInfo& op, const InferInput& in) {
  std::int64_t width = 0;
  for (int i = 0; i < op.lists; ++i) {
    const Verdict list = check_merged(in.type(i));
    if (!list.lawful()) return list;
    const Verdict pair = check_pair(in.type(0), in.type(i));
    if (!pair.lawful()) return pair;
    if (in.type(0).rank != in.type(i).rank)
      return breaks(rule::ranks_differ, arg_op, arg(std::int64_t{in.type(0).rank}), arg(std::int64_t{in.type(i).rank}));
    width += in.type(i).last();
  }
  return lawful(with_dim(in.type(0), in.type(0).rank - 1, width));
}
constexpr OpInfo merge(std::string_view name, std::string_view summary, int lists) {
  return {.name = name, .summary = summary, .infer = lists == 1 ? infer_merge_sort : infer_merge_lists,
          .valid = ValidRule::whole_rows, .dtypes = {floats, floats}, .pto = "tmrgsort", .form = PtoForm::merge,
          .operand_spaces = {spaces(Vec), spaces(Vec), spaces(Vec)}, .scratch = lists == 1 ? ScratchRule::none : ScratchRule::sum,
          .row_major = true, .may_alias = false, .lists = static_cast<std::int8_t>(lists)};
}

}  // namespace detail

namespace ops {

inline constexpr OpInfo sort32 = {
    .name = "sort32", .summary = "[..,N] and u32 indices -> pairs, each 32 in descending order: [..,2N] of f32, [..,4N] of f16",
    .infer = infer_sort32, .valid = ValidRule::whole_rows, .dtypes = {floats, floats}, .pto = "tsort32",
    .operand_spaces = {spaces(Vec), spaces(Vec), {}}, .row_major = true, .may_alias = false};
inline constexpr OpInfo merge_sort = merge("merge_sort", "each four sorted blocks of pairs in one row become one; operands: x, block length", 1);
inline constexpr OpInfo merge_sort2 = merge("merge_sort2", "two sorted rows of pairs become one, of both widths", 2);
inline constexpr OpInfo merge_sort3 = merge("merge_sort3", "three sorted rows of pairs become one", 3);
inline constexpr OpInfo merge_sort4 = merge("merge_sort4", "four sorted rows of pairs become one", 4);

inline constexpr const OpInfo* sort_family[] = {&sort32, &merge_sort, &merge_sort2, &merge_sort3, &merge_sort4};

}  // namespace ops
}  // namespace tessera
