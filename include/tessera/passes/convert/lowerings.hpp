// Operations that do not simply keep their name in convert_tensor_to_tile_ops: windows, products, scalar access, results.
#pragma once

#include "broadcast.hpp"

namespace tessera::convert {

/// A parameter seen with other dims stays memory.
inline void lower_view(Converter& c, OpId op) {
  c.set(c.in().result(op), c.build().value(ops::view, {c.rewriter().map(c.in().operand(op, 0))}, {}, c.in().type(c.in().result(op))));
}
/// A window of a parameter becomes a load into each place where it is wanted; a window of a tile stays a view.
inline void lower_slice(Converter& c, OpId op) {
  if (!c.placement().is_memory(op, 0)) return c.plain(op);
  const ValueId r = c.in().result(op);
  const std::vector<ValueId> operands = c.rewriter().operands(op);
  const std::vector<Attr> attrs = c.rewriter().attrs(op);
  c.each_place(r,
               [&](MemorySpace s) { return c.build().value(ops::load, operands, attrs, lowered(c.in().type(r), s)); });
}

/// An operand of a product: in Mat, read through a view where it is transposed.
[[nodiscard]] inline ValueId product_operand(Converter& c, OpId op, int i, bool transposed) {
  const ValueId t = c.operand(op, i);
  return transposed ? c.build().value(ops::transpose_view, {c.placed(t, Mat)}) : t;
}
inline void lower_product(Converter& c, OpId op) {
  const Function& in = c.in();
  const int first = in.info(op).first_factor;
  if (!in.type(in.operand(op, first)).is_tensor()) return c.plain(op);
  const ValueId accumulator = first > 0 ? c.operand(op, 0) : ValueId{};
  const ValueId lhs = product_operand(c, op, first, in.attr(op, AttrKey::transpose_lhs) != 0);
  const ValueId rhs = product_operand(c, op, first + 1, in.attr(op, AttrKey::transpose_rhs) != 0);
  if (!accumulator) return c.set(in.result(op), c.build().value(ops::matmul, {lhs, rhs}));
  if (c.out().type(accumulator).space == Acc)
    return c.set(in.result(op), c.build().value(ops::matmul_acc, {accumulator, lhs, rhs}));
  // No instruction brings a sum into Acc: it is added outside.
  const ValueId product = c.placed(c.build().value(ops::matmul, {lhs, rhs}), Vec);
  c.set(in.result(op), c.build().value(ops::add, {accumulator, product}));
}

/// An element of a parameter is read from GM, or from the tile that holds the whole parameter anyway.
inline void lower_read(Converter& c, OpId op) {
  const Function& in = c.in();
  const ValueId source = in.operand(op, 0);
  if (!c.placement().is_memory(op, 0) || !c.placement().loaded_at_entry(source) || in.type(source).rank > 2)
    return c.plain(op);
  std::vector<ValueId> operands = c.rewriter().operands(op);
  operands[0] = c.tile(source, Vec, op);
  c.set(in.result(op), c.build().value(ops::read, operands));
}
/// An element of a parameter is written to GM; of a tensor value it makes a new tile, which later operations see.
inline void lower_write(Converter& c, OpId op) {
  const Function& in = c.in();
  const ValueId target = in.operand(op, 0);
  if (!in.type(target).is_tensor() || c.placement().is_memory(op, 0)) return c.plain(op);
  if (in.defining_block(target) != in[op].parent)
    fail(c.location(op), "write: the tensor value is made outside of this loop or branch",
         "make it a Var, so that the loop carries it, or write to an Out parameter");
  std::vector<ValueId> operands = c.rewriter().operands(op);
  operands[0] = c.placed(operands[0], Vec);
  c.set(target, c.build().value(ops::write, operands));
  c.set_second(target, {});
}

/// The argument of a tile operation: the tensor's tile, in the space of the parameter where a move leads there. (Where none does,
/// infer_memory_space says so at the operation that wants it there.)
inline void lower_to_tile(Converter& c, OpId op) {
  const ValueId result = c.in().result(op), tile = c.operand(op, 0);
  const MemorySpace from = c.out().type(tile).space, to = c.in().type(result).space;
  c.set(result, detail::can_move(from, to, c.arch()) ? c.placed(tile, to) : tile);
}
/// What a tile operation gives is the tensor value's tile.
inline void lower_to_tensor(Converter& c, OpId op) { c.set(c.in().result(op), c.rewriter().map(c.in().operand(op, 0))); }

/// A part of what a loop collects is stored to the result.
inline void lower_assemble(Converter& c, OpId op) {
  const int result = c.collecting().result_of(op);
  if (result < 0) return c.plain(op);
  std::vector<ValueId> offsets;
  for (int i = 2; i < c.in().operand_count(op); ++i) offsets.push_back(c.rewriter().map(c.in().operand(op, i)));
  c.store(c.operand(op, 1), c.result_parameter(result), offsets);
}
/// A loop that collects a result carries nothing. `lower` lowers the operations of its body.
template <class Lower>
void lower_collecting_loop(Converter& c, OpId op, Lower&& lower) {
  const Function& in = c.in();
  const ValueId bounds[] = {c.rewriter().map(in.operand(op, 0)), c.rewriter().map(in.operand(op, 1)),
                            c.rewriter().map(in.operand(op, 2))};
  static_cast<void>(c.result_parameter(c.collecting().result_of(op)));
  const OpId made = c.build().control(ops::for_loop, {bounds, 3}, {}, 1, c.rewriter().attrs(op));
  const BlockId body = c.out().block(made);
  c.set(in[in.block(op)].arguments[0], c.out().add_argument(body, index_scalar));
  c.rewriter().block(in.block(op), body, [&](OpId o) {
    if (in.is(o, ops::yield)) c.build().control(ops::yield, {}, {}, 0);
    else lower(c, o);
  });
}

/// Results become Out parameters, each with a store.
inline void lower_return(Converter& c, OpId op) {
  const Function& in = c.in();
  std::vector<ValueId> scalars;
  for (int i = 0; i < in.operand_count(op); ++i) {
    const ValueId v = in.operand(op, i);
    if (!in.type(v).is_shaped()) {
      scalars.push_back(c.rewriter().map(v));
      continue;
    }
    const OpId by = in.definition(v);
    if (by && c.collecting().result_of(by) == i) continue;  // stored already
    const OpId broadcast = streamed(c, v);
    const ValueId source = broadcast ? ValueId{} : c.operand(op, i);
    const ValueId target = c.result_parameter(i);
    const std::vector<ValueId> offsets(in.type(v).rank, c.build().index(0));
    if (broadcast) store_streamed(c, broadcast, target, offsets, {});
    else c.store(source, target, offsets);
  }
  c.build().control(ops::return_op, scalars, {}, 0);
}

}  // namespace tessera::convert
