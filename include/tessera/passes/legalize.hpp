// legalize: what a target's instructions need and a user need not know. Rank-1 tiles become one row; columns [M,1] are read
// as rows where an instruction wants rows; casts become chains; scratch is added; what the target cannot do is refused.
//
// Padding stays out of the IR: a tile has its own dims, and `stored` (core/type.hpp) is the one rule for the dims that are
// allocated (32-byte rows, 16-row boxes). A Mat tile that is read transposed is a load of its own, read by transpose_view only.
#pragma once

#include "legalize/elementwise.hpp"
#include "legalize/indexed.hpp"
#include "legalize/memory.hpp"
#include "legalize/shapes.hpp"

namespace tessera {
namespace detail {

// Rows and columns of the product are padded to boxes; padding along K would be summed up.
inline void check_product(Legalizer& l, OpId op) {
  const Type t = l.out.type(l.r.map(l.in.operand(op, l.in.info(op).first_factor)));
  const std::int64_t block = block_elements(t.dtype);
  if (t.last() % block != 0)
    l.refuse(op,
           "the inner dimension is not a whole number of 32-byte blocks (K = " + std::to_string(t.last()) + ", " +
               std::string(name(t.dtype)) + ": " + std::to_string(block) + ")",
           "use a K that is a multiple of " + std::to_string(block) + "; pad both operands with zeros in the tensor");
}

struct Legalization {
  const OpInfo* op;
  void (*legalize)(Legalizer&, OpId);
};
/// The operations that need more than a scratch tile and rows.
inline constexpr Legalization legalizations[] = {
    {&ops::load, legalize_load},
    {&ops::store, legalize_store},
    {&ops::cast, legalize_cast},
    {&ops::reshape, legalize_reshape},
    {&ops::reinterpret, legalize_reinterpret},
    {&ops::fillpad_expand, legalize_fillpad_expand},
    {&ops::gather_flat, legalize_gather},
    {&ops::gather_mask, legalize_gather_mask},
    {&ops::find_positions, legalize_matches},
    {&ops::count_matches, legalize_matches},
    {&ops::scatter_flat, legalize_scatter},
    {&ops::scatter_strided, legalize_scatter},
    {&ops::compare, legalize_compare},
    {&ops::compares, legalize_compare},
    {&ops::select, legalize_select},
    {&ops::concat, legalize_concat},
    {&ops::merge_sort, legalize_merge_sort},
    {&ops::sin, legalize_trigonometry},
    {&ops::cos, legalize_trigonometry},
    {&ops::transpose, legalize_transpose},
    {&ops::transpose_view, legalize_transpose_view},
    {&ops::slice, legalize_slice},
    {&ops::assemble, legalize_assemble},
    {&ops::set_valid_shape, legalize_element},
    {&ops::read, legalize_element},
    {&ops::write, legalize_element},
};

inline void legalize_operation(Legalizer& l, OpId op) {
  const OpInfo& info = l.in.info(op);
  for (const Legalization& entry : legalizations)
    if (entry.op == &info) return entry.legalize(l, op);
  if (&info == &ops::full && is_column(l.result_type(op))) return legalize_full_column(l, op);
  if (info.first_factor >= 0) check_product(l, op);
  const bool reduces = info.valid == ValidRule::row_reduce || info.valid == ValidRule::col_reduce;
  if (reduces && Legalizer::stands_as_column(l.operand_type(op, 0))) return legalize_reduce_column(l, op);
  if (const auto forms = broadcast_of(info)) return legalize_broadcast(l, op, *forms);
  if (needs_filled(l, info, op)) return legalize_filled(l, op, *plain_form_of(info));
  l.plain(op, l.r.operands(op));
}

inline Function run_legalize(const Function& f, const PassContext& context) {
  return Legalizer(f, context.arch).run(legalize_operation);
}

}  // namespace detail

/// Makes every operation one that the target has, in a form that its instruction takes.
inline constexpr Pass legalize = {.name = "legalize",
                                  .required = {Property::tile_ops, Property::tiles_2d},
                                  .produced = {Property::legal},
                                  .invalidated = {Property::spaces_inferred, Property::buffers_assigned, Property::addresses_planned},
                                  .run = detail::run_legalize};

}  // namespace tessera
