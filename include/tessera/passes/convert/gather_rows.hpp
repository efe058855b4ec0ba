// Storage in Mat, rows that are loaded into it, and paged_gather: a loop that reads an index and the block table, and loads one
// row. Each row goes from GM to its place by one load; the indices are read as scalars.
#pragma once

#include "converter.hpp"

namespace tessera::convert {

/// Storage of a tensor value: where the user states it, or where it is wanted.
[[nodiscard]] inline Type storage_type(const Type& tensor, MemorySpace space, bool transposed) {
  Type t = lowered(tensor, space);
  if (transposed) t.layout = Layout::zn;
  return t;
}
inline void lower_create(Converter& c, OpId op) {
  if (c.collecting().is_storage(op)) return;
  const ValueId r = c.in().result(op);
  if (!c.in().type(r).is_tensor()) return c.plain(op);
  const bool transposed = c.in().attr(op, AttrKey::transposed) != 0;
  c.set(r, c.build().value(ops::create, {}, {}, storage_type(c.in().type(r), c.placement().place(r), transposed)));
}

inline void require_memory(Converter& c, OpId op, int i) {
  if (c.placement().is_memory(op, i)) return;
  fail(c.location(op), std::string(c.in().info(op).name) + ": a tensor value is read like memory (operand " + std::to_string(i) + ")",
       "pass a parameter of the kernel: rows are loaded from GM, and the indices that name them are read there one by one");
}
inline void lower_gather_row(Converter& c, OpId op) {
  const Function& in = c.in();
  require_memory(c, op, 1);
  const ValueId r = in.result(op);
  std::vector<ValueId> operands = c.rewriter().operands(op);
  if (in.type(r).is_tensor()) operands[0] = c.placed(c.operand(op, 0), c.placement().place(r));
  c.set(r, c.build().value(ops::gather_row, operands, c.rewriter().attrs(op)));
}

/// An element of a vector, or of the only row of a tensor, as an index.
[[nodiscard]] inline ValueId read_index(Converter& c, ValueId tensor, ValueId at) {
  std::vector<ValueId> operands{tensor};
  operands.resize(c.out().type(tensor).rank, c.build().index(0));
  operands.push_back(at);
  return c.build().value(ops::scalar_cast, {c.build().value(ops::read, operands)}, {}, index_scalar);
}
/// The row of the source that index number `i` means.
[[nodiscard]] inline ValueId physical_row(Converter& c, ValueId indices, ValueId table, ValueId i, std::int64_t block) {
  Builder& b = c.build();
  const ValueId index = read_index(c, indices, i), size = b.index(block);
  const ValueId page = read_index(c, table, b.scalar(ops::scalar_div, index, size));
  return b.add(b.mul(page, size), b.scalar(ops::scalar_rem, index, size));
}
inline void lower_paged_gather(Converter& c, OpId op) {
  const Function& in = c.in();
  Function& f = c.out();
  Builder& b = c.build();
  for (int i = 0; i < 3; ++i) require_memory(c, op, i);
  const ValueId r = in.result(op);
  const bool transposed = in.attr(op, AttrKey::transposed) != 0;
  const std::int64_t size = in.attr(op, AttrKey::columns);
  const std::vector<ValueId> operands = c.rewriter().operands(op);
  // More indices than the result has rows are an error of the caller; they must not be written behind its end.
  const ValueId rows = b.min(f.dim_value(f.type(operands[1]).last()), b.index(in.attr(op, AttrKey::rows))), zero = b.index(0);
  const ValueId initial = b.value(ops::create, {}, {}, storage_type(in.type(r), c.placement().place(r), transposed));
  std::vector<Attr> attrs{int_attr(AttrKey::rows, 1), int_attr(AttrKey::columns, size)};
  if (transposed) attrs.push_back(int_attr(AttrKey::transposed, 1));
  const ValueId made = b.repeat(rows, initial, [&](ValueId i, ValueId gathered) {
    const ValueId row = physical_row(c, operands[1], operands[2], i, in.attr(op, AttrKey::block_size));
    return b.value(ops::gather_row, {gathered, operands[0], transposed ? zero : i, transposed ? i : zero, row, b.index(in.attr(op, AttrKey::column))}, attrs);
  });
  c.set(r, c.with_extents_of(r, made));
}

}  // namespace tessera::convert
