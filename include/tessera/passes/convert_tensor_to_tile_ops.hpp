// Tensor operations become tile operations: parameters are loaded, results stored to Out parameters, written parameters
// become Out or InOut. Operations that are at tile level already stay as they are.
#pragma once

#include "convert/callers.hpp"
#include "convert/coherence.hpp"
#include "convert/gather.hpp"
#include "convert/gather_rows.hpp"
#include "convert/lowerings.hpp"
#include "convert/scalar_writes.hpp"
#include "convert/scatter.hpp"
#include "convert/transposes.hpp"

namespace tessera {
namespace convert {

struct Lowering {
  const OpInfo* op;
  void (*lower)(Converter&, OpId);
};
/// The operations that need more than their operands as tiles.
inline constexpr Lowering lowerings[] = {
    {&ops::slice, lower_slice},       {&ops::matmul, lower_product}, {&ops::matmul_acc, lower_product},
    {&ops::gather, lower_gather},     {&ops::broadcast_to, lower_broadcast}, {&ops::store, lower_store},
    {&ops::read, lower_read},         {&ops::write, lower_write},         {&ops::view, lower_view},
    {&ops::create, lower_create},     {&ops::assemble, lower_assemble}, {&ops::gather_row, lower_gather_row},
    {&ops::paged_gather, lower_paged_gather},                             {&ops::scatter, lower_scatter},
    {&ops::scatter_mask, lower_scatter_mask},                             {&ops::scatter_update, lower_scatter_update},
    {&ops::to_tile, lower_to_tile},                                       {&ops::to_tensor, lower_to_tensor},
    {&ops::return_op, lower_return},
};

inline void lower(Converter& c, OpId op) {
  for (const Lowering& l : lowerings)
    if (l.op == &c.in().info(op)) return l.lower(c, op);
  if (c.collecting().result_of(op) >= 0) lower_collecting_loop(c, op, lower);
  else if (c.in().info(op).level == Level::control) c.control(op, lower);
  else c.plain(op);
}

inline Function convert_function(const Function& in, const PassContext& context) {
  for (const OpId op : all_operations(in))
    if (in.is(op, ops::call)) throw InternalError("convert_tensor_to_tile_ops: " + std::string(in.name.c_str()) + " calls tile operations, which inline_tileops writes out");
  Function canonical, absorbed, out;
  ScalarWrites writes(in, context.arch);
  if (writes.any()) writes.rewrite(canonical);
  const Function& recorded = writes.any() ? canonical : in;
  Coherence(recorded).check();
  refuse_uncovered(recorded);
  Converter(absorb_transposes(recorded, absorbed) ? absorbed : recorded, out, context).run(lower);
  if (auto fault = split_fault(out)) throw UserError(std::move(*fault));
  return out;
}

}  // namespace convert

inline constexpr Pass convert_tensor_to_tile_ops = {
    .name = "convert_tensor_to_tile_ops", .produced = {Property::tile_ops, Property::split_regions_valid},
    .invalidated = {Property::tiles_2d, Property::legal, Property::spaces_inferred, Property::buffers_assigned,
                    Property::addresses_planned},
    .run = convert::convert_function, .run_caller = convert::convert_caller};

}  // namespace tessera
