// Comparisons of tensors and tiles, whose result is a mask of the same shape, and select, which reads it.
#pragma once

#include "elementwise.hpp"

namespace tessera {
namespace detail {

constexpr Verdict infer_mask(const OpInfo& op, const InferInput& in) {
  const Verdict v = infer_binary(op, in);
  return v.lawful() ? lawful(with_dtype(v.result, boolean)) : v;
}
constexpr Verdict infer_scalar_mask(const OpInfo& op, const InferInput& in) {
  const Verdict v = infer_scalar_form(op, in);
  return v.lawful() ? lawful(with_dtype(v.result, boolean)) : v;
}
constexpr Verdict infer_tile_select(const OpInfo&, const InferInput& in) {
  const Type &mask = in.type(0), &a = in.type(1);
  if (!is_mask(mask)) return breaks(rule::condition_is_not_boolean, arg_op);
  for (int i = 1; i < 3; ++i)
    if (is_mask(in.type(i))) return breaks(rule::mask_is_for_select_only, arg_op);
  const Verdict pair = check_pair(a, in.type(2));
  if (!pair.lawful()) return pair;
  if (a.kind != mask.kind) return breaks(rule::tensor_and_tile_mixed, arg_op);
  for (const Type* t : {&in.type(2), &mask}) {
    if (a.rank != t->rank) return breaks(t == &mask ? rule::mask_rank_differs : rule::ranks_differ, arg_op, arg(std::int64_t{a.rank}), arg(std::int64_t{t->rank}));
    for (int i = 0; i < a.rank; ++i)
      if (a.last(i) != t->last(i)) return breaks(rule::shapes_differ, arg_op, arg_dim(a.last(i)), arg_dim(t->last(i)));
  }
  return lawful(a);
}
inline constexpr DTypeSet compared_a3 = dtypes(i32, f16, f32);

}  // namespace detail

namespace ops {

inline constexpr OpInfo compare = {
    .name = "compare", .summary = "a < b and the like, a mask: true where it holds; attribute: compare", .infer = infer_mask,
    .valid = ValidRule::intersection, .dtypes = {compared_a3, every_word}, .shape_rule = rule::compare_shapes_do_not_broadcast, .pto = "tcmp",
    .form = PtoForm::compare, .operand_spaces = {spaces(Vec), spaces(Vec), {}}, .row_major = true, .may_alias = false};
inline constexpr OpInfo compares = {
    .name = "compares", .summary = "x < s and the like, a mask: true where it holds; attribute: compare", .infer = infer_scalar_mask,
    .valid = ValidRule::first, .dtypes = {compared_a3, dtypes(i8, i16, i32, f16, f32)}, .pto = "tcmps",
    .form = PtoForm::compare, .operand_spaces = {spaces(Vec), {}, {}}, .row_major = true, .may_alias = false};
inline constexpr OpInfo select = {
    .name = "select", .summary = "mask ? a : b, element by element", .infer = infer_tile_select, .valid = ValidRule::select,
    .dtypes = {words | dtypes(bf16), every_word}, .since_0_60 = {dtypes(bf16), dtypes(bf16)}, .pto = "tsel",
    .operand_spaces = {spaces(Vec), spaces(Vec), spaces(Vec)}, .scratch = ScratchRule::one_block, .row_major = true, .typed_by = 1,
    .reads_masks = true};

inline constexpr const OpInfo* compare_family[] = {&compare, &compares, &select};

}  // namespace ops
}  // namespace tessera
