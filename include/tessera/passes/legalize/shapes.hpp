// Other looks at a tile, and windows of it.
#pragma once

#include "legalizer.hpp"

namespace tessera::detail {

// A single row or column is contiguous whatever its padding; several rows are when they have none.
[[nodiscard]] inline bool contiguous(const Type& t) { return t.dims[0] == 1 || is_column(t) || stored(t).last() == t.last(); }
inline void legalize_reshape(Legalizer& l, OpId op) {
  const ValueId x = l.r.map(l.in.operand(op, 0));
  const Type from = l.out.type(x), to = as_row(l.result_type(op));
  if (from == to) return l.finish(op, x);
  const auto row = l.known_rows.find(x.index);
  if (row != l.known_rows.end() && l.out.type(row->second) == to) return l.finish(op, row->second);
  if (from.space == Acc) return l.finish(op, l.emit(op, ops::reshape, {l.in_vec(op, x)}, {}, with_space(to, Vec)));
  if (from.space != Vec)
    l.refuse(op, "a tile in " + std::string(name(from.space)) + " is stored in boxes and has no other shape",
           "reshape the tensor, or move<Vec>(...) first");
  if (!contiguous(from) || !contiguous(to))
    l.refuse(op,
           "the rows are padded to 32 bytes, so the tile has no other shape (" + Legalizer::shape_text(from) + " to " +
               Legalizer::shape_text(to) + ")",
           "use rows of a multiple of 32 bytes, or reshape the tensor before it is loaded");
  l.finish(op, l.emit(op, ops::reshape, {x}, {}, to));
}
inline void legalize_reinterpret(Legalizer& l, OpId op) {
  const ValueId x = l.r.map(l.in.operand(op, 0));
  const Type from = l.out.type(x), to = as_row(l.result_type(op));
  if (!contiguous(from) || !contiguous(to))
    l.refuse(op,
           "the rows are padded to 32 bytes, so the tile is not seen in another element type (" + Legalizer::shape_text(from) +
               " to " + Legalizer::shape_text(to) + ")",
           "use rows of a multiple of 32 bytes, or one row");
  l.finish(op, l.emit_same(op, ops::reinterpret, {x}, {}, to));
}
// A column grows as the row that it is read as.
inline void legalize_fillpad_expand(Legalizer& l, OpId op) {
  const ValueId x = l.r.map(l.in.operand(op, 0));
  const Type to = as_row(l.result_type(op));
  const bool column = is_column(l.out.type(x));
  if (column != is_column(to))
    l.refuse(op, "a column and rows are stored in different orders (" + Legalizer::shape_text(l.out.type(x)) + " to " + Legalizer::shape_text(to) + ")",
           "grow the rows alone, or transpose the column first");
  if (!column) return l.finish(op, l.emit(op, ops::fillpad_expand, {x}, l.r.attrs(op), to));
  l.finish(op, l.column_of(l.emit(op, ops::fillpad_expand, {l.row_of(x)}, l.r.attrs(op), Legalizer::row_type(to))));
}
inline void legalize_transpose(Legalizer& l, OpId op) {
  const ValueId x = l.first_operand(op);
  const Type t = l.out.type(x);
  if (is_column(t)) return l.finish(op, l.row_of(x));
  if (t.dims[0] == 1 && t.last() != 1) return l.finish(op, l.column_of(x));
  std::vector<ValueId> operands = l.r.operands(op);
  l.add_scratch(op, operands);
  l.finish(op, l.emit(op, ops::transpose, operands, l.r.attrs(op), as_row(l.result_type(op))));
}
// The operands have as many valid rows as the result. A column is turned into rows of one element.
inline void legalize_concat(Legalizer& l, OpId op) {
  std::vector<ValueId> operands = l.r.operands(op);
  for (ValueId& x : operands) {
    if (l.out.type(x).space == Acc) x = l.in_vec(op, x);
    if (is_column(l.out.type(x))) x = l.strip_of(op, x);
  }
  const ValueId made = l.emit_same(op, ops::concat, operands, {}, as_row(l.result_type(op)));
  const OpId o = l.out.definition(made);
  for (int i = 0; i < 2; ++i) {
    const ValueId x = l.out.operand(o, i);
    const Extent rows = l.out.valid(made, 0);
    if (l.out.valid(x, 0) == rows) continue;
    const BlockId block = l.b.block();
    l.b.to_before(o);
    l.out.set_operand(o, i, l.b.value(ops::set_valid_shape, {x, l.b.value_of(rows), l.b.value_of(l.out.valid(x, 1))}));
    l.b.to_end_of(block);
  }
  l.finish(op, made);
}
[[nodiscard]] inline std::vector<ValueId> window_operands(Legalizer& l, OpId op, int offsets_from) {
  std::vector<ValueId> operands = l.r.operands(op);
  if (l.operand_type(op, 0).rank != 1) return operands;
  // Offsets, and valid extents where there are some, get the row in front.
  const auto first = static_cast<std::ptrdiff_t>(offsets_from);
  if (operands.size() > static_cast<std::size_t>(offsets_from) + 1)
    operands.insert(operands.begin() + first + 1, l.b.index(1));
  operands.insert(operands.begin() + first, l.b.index(0));
  return operands;
}
// The run of a window in a row (in a column of dn) starts at a multiple of 32 bytes.
inline void check_start(Legalizer& l, OpId op, const Type& t, ValueId row, ValueId col) {
  const bool column = is_column(t);
  const ValueId start = column ? row : col;
  if (t.space != Vec || !l.out.is_constant(start)) return;
  const std::int64_t n = l.out[start].integer;
  if (is_whole_blocks(t.dtype, n)) return;
  l.refuse(op,
         std::string("a window starts inside a block of 32 bytes (") + (column ? "row " : "column ") +
             std::to_string(n) + " of " + Legalizer::shape_text(t) + ")",
         "use an offset that is a multiple of " + std::to_string(block_elements(t.dtype)) +
             " elements, or load the part from the tensor");
}
// A column of a row-major tile is a row of the transposed one.
inline void slice_column(Legalizer& l, OpId op, std::vector<ValueId> operands) {
  const ValueId turned = l.transposed(op, operands[0]);
  operands[0] = turned;
  std::swap(operands[1], operands[2]);
  if (operands.size() == 5) std::swap(operands[3], operands[4]);
  check_start(l, op, l.out.type(turned), operands[1], operands[2]);
  const std::int64_t dims[2] = {1, l.result_type(op).dims[0]};
  l.finish(op, l.column_of(l.emit(op, ops::slice, operands, l.r.attrs(op), with_shape(l.out.type(turned), dims, 2))));
}
inline void legalize_slice(Legalizer& l, OpId op) {
  std::vector<ValueId> operands = window_operands(l, op, 1);
  Type from = l.out.type(operands[0]);
  const Type to = as_row(l.result_type(op));
  if (is_column(to) && !is_column(from)) return slice_column(l, op, operands);
  if (is_column(from) && !is_column(to)) {  // one element, of the column as a row
    operands[0] = l.row_of(operands[0]);
    from = l.out.type(operands[0]);
    std::swap(operands[1], operands[2]);
    if (operands.size() == 5) std::swap(operands[3], operands[4]);
  }
  check_start(l, op, from, operands[1], operands[2]);
  l.finish(op, l.emit_same(op, ops::slice, operands, l.r.attrs(op), to));
}
inline void legalize_assemble(Legalizer& l, OpId op) {
  const std::vector<ValueId> operands = window_operands(l, op, 2);
  const Type &target = l.out.type(operands[0]), &source = l.out.type(operands[1]);
  if (target.space == Vec && source.space == Vec && target.layout != source.layout)
    l.refuse(op,
           "a column and rows are stored in different orders (" + Legalizer::shape_text(source) + " into " + Legalizer::shape_text(target) +
               ")",
           "put rows into rows; single elements are set with write(...)");
  check_start(l, op, target, operands[2], operands[3]);
  l.finish(op, l.emit_same(op, ops::assemble, operands, l.r.attrs(op), as_row(l.result_type(op))));
}
// set_valid_shape, read, write: the row in front of the extents or indices.
inline void legalize_element(Legalizer& l, OpId op) {
  const bool extents = l.in.is(op, ops::set_valid_shape);
  std::vector<ValueId> operands = l.r.operands(op);
  if (l.operand_type(op, 0).rank == 1 && l.operand_type(op, 0).is_tile())
    operands.insert(operands.begin() + (l.in.is(op, ops::write) ? 2 : 1), l.b.index(extents ? 1 : 0));
  l.finish(op, l.emit_same(op, l.in.info(op), operands, l.r.attrs(op), as_row(l.result_type(op))));
}

}  // namespace tessera::detail
