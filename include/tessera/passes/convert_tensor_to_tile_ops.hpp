// Tensor operations become tile operations: parameters are loaded, results stored to Out parameters, written parameters
// become Out or InOut. Operations that are at tile level already stay as they are.
#pragma once

#include "convert/gather.hpp"
#include "convert/lowerings.hpp"
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
    {&ops::gather, lower_gather},     {&ops::read, lower_read},      {&ops::write, lower_write},
    {&ops::return_op, lower_return},
};

inline void lower(Converter& c, OpId op) {
  for (const Lowering& l : lowerings)
    if (l.op == &c.in().info(op)) return l.lower(c, op);
  if (c.in().info(op).level == Level::control) c.control(op, lower);
  else c.plain(op);
}

/// Bulk stores and scalar writes reach a tensor by different ways, and neither waits for the other.
inline void refuse_mixed_writes(const Function& f) {
  std::vector<OpId> bulk(f.value_count()), scalar(f.value_count());
  for (const OpId op : all_operations(f)) {
    const Effect effect = f.info(op).effect;
    if (effect != Effect::writes_first && effect != Effect::writes_second) continue;
    std::vector<OpId>& writers = effect == Effect::writes_second ? bulk : scalar;
    OpId& writer = writers[f.operand(op, memory_operand(f.info(op))).index];
    if (!writer) writer = op;
  }
  for (const Parameter& p : f.parameters)
    if (bulk[p.value.index] && scalar[p.value.index])
      fail(f[scalar[p.value.index]].location,
           "write: the tensor is written by store, too; bulk and scalar stores cannot be mixed (" + p.name + ")",
           "write the elements into a tile and store that, or write to another tensor");
}

inline Function convert_function(const Function& in, const PassContext& context) {
  refuse_mixed_writes(in);
  Function absorbed, out;
  Converter(absorb_transposes(in, absorbed) ? absorbed : in, out, context).run(lower);
  if (auto fault = split_fault(out)) throw UserError(std::move(*fault));
  return out;
}

}  // namespace convert

inline constexpr Pass convert_tensor_to_tile_ops = {
    .name = "convert_tensor_to_tile_ops", .produced = {Property::tile_ops, Property::split_regions_valid}, .run = convert::convert_function};

}  // namespace tessera
