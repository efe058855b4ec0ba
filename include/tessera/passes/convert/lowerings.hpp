// Operations that do not simply keep their name in convert_tensor_to_tile_ops: windows, products, scalar access, results.
#pragma once

#include "converter.hpp"

namespace tessera::convert {

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

/// Results become Out parameters, each with a store.
inline void lower_return(Converter& c, OpId op) {
  const Function& in = c.in();
  Function& out = c.out();
  std::vector<ValueId> scalars;
  int unnamed = 0;
  const auto taken = [&](const std::string& name) {
    return std::any_of(out.parameters.begin(), out.parameters.end(),
                       [&](const Parameter& p) { return std::string_view(p.name) == name; });
  };
  const auto fresh = [&](const std::string& hint) {
    std::string name = hint;
    for (int n = 1; name.empty() || taken(name); ++n) {
      if (hint.empty()) name = unnamed == 0 ? "out" : "out" + std::to_string(unnamed), ++unnamed;
      else name = hint + std::to_string(n);
    }
    return name;
  };
  for (int i = 0; i < in.operand_count(op); ++i) {
    const ValueId v = in.operand(op, i);
    if (!in.type(v).is_shaped()) {
      scalars.push_back(c.rewriter().map(v));
      continue;
    }
    const ValueId source = c.operand(op, i);
    const ValueId target = out.add_argument(out.body(), with_space(in.type(v), Gm));
    const std::string hint = c.placement().is_parameter(v) ? std::string() : std::string(in.name_of(v));
    out.parameters.push_back({target, fresh(hint), Direction::out, c.location(op)});
    std::vector<ValueId> operands = {source, target};
    operands.resize(2 + in.type(v).rank, c.build().index(0));
    c.build().emit(ops::store, operands);
  }
  c.build().control(ops::return_op, scalars, {}, 0);
}

}  // namespace tessera::convert
