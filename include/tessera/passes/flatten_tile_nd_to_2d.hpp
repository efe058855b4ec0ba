// flatten_tile_nd_to_2d: tiles of rank > 2 become 2-D ([2,3,4] becomes [6,4]); the batched product becomes one product per
// page. A load or store keeps the box of the tensor that it covers in the attribute `window`, or addresses the tensor as a
// matrix (loads to Mat); tiles of rank 1 and 2 stay.
#pragma once

#include "flatten/by_page.hpp"
#include "flatten/check.hpp"
#include "flatten/products.hpp"
#include "flatten/variables.hpp"
#include "flatten/windows.hpp"

namespace tessera {
namespace detail {

struct Flattening {
  const OpInfo* op;
  void (*flatten)(Flattener&, OpId);
};
/// Operations that are rewritten whatever the rank of their tiles.
inline constexpr Flattening any_rank_flattenings[] = {
    {&ops::transpose, flatten_transpose}, {&ops::transpose_view, flatten_transpose_view}, {&ops::broadcast_to, flatten_broadcast}};
/// Operations on tiles of rank > 2 that do more than the same to more rows.
inline constexpr Flattening flattenings[] = {
    {&ops::load, flatten_load},
    {&ops::store, flatten_store},
    {&ops::create, flatten_create},
    {&ops::move, flatten_move},
    {&ops::fillpad_expand, flatten_fillpad_expand},
    {&ops::assemble, flatten_assemble},
    {&ops::reshape, flatten_reshape},
    {&ops::set_valid_shape, flatten_set_valid_shape},
    {&ops::slice, flatten_slice},
    {&ops::place, flatten_place},
    {&ops::read, refuse_access},
    {&ops::write, refuse_access},
};

inline void flatten_operation(Flattener& l, OpId op) {
  const OpInfo& info = l.in.info(op);
  if (info.level == Level::control) return flatten_control(l, op);
  check_tiles(l, op);
  if (info.first_factor >= 0) return flatten_product(l, op);
  for (const Flattening& entry : any_rank_flattenings)
    if (entry.op == &info) return entry.flatten(l, op);
  if (!l.touches_nd(op)) return l.keep(op);
  for (const Flattening& entry : flattenings)
    if (entry.op == &info) return entry.flatten(l, op);
  if (info.valid == ValidRule::col_reduce && has_pages(l.in.type(l.in.operand(op, 0)))) return reduce_columns_by_page(l, op);
  l.same_on_rows(op);
}

inline Function run_flatten(const Function& f, const PassContext& context) {
  Flattener l(f, context.arch);
  l.r.copy_parameters();
  l.r.run(FlattenVisitor{&l});
  return l.finish();
}

}  // namespace detail

/// Tiles of rank > 2 to 2-D; batched products to products of matrices.
inline constexpr Pass flatten_tile_nd_to_2d = {.name = "flatten_tile_nd_to_2d",
                                               .required = {Property::tile_ops},
                                               .produced = {Property::tiles_2d},
                                               .invalidated = {Property::legal, Property::spaces_inferred,
                                                               Property::buffers_assigned, Property::addresses_planned},
                                               .run = detail::run_flatten};

}  // namespace tessera
