// Gathers, scatters and sorts: instructions that count positions know no padding.
#pragma once

#include "legalizer.hpp"

namespace tessera::detail {

// The instruction merges four blocks at a time: fewer are lists of their own.
inline void legalize_merge_sort(Legalizer& l, OpId op) {
  const ValueId x = l.as_row_in_vec(op, l.r.map(l.in.operand(op, 0)));
  const Type row = l.out.type(x);
  const std::int64_t block = l.in[l.in.operand(op, 1)].integer, count = row.last() / block;
  if (count >= 4) return l.plain(op, {x, l.r.map(l.in.operand(op, 1))});
  std::vector<ValueId> lists;
  for (std::int64_t i = 0; i < count; ++i)
    lists.push_back(l.emit(op, ops::slice, {x, l.b.index(0), l.b.index(i * block)}, {}, with_dim(row, 1, block)));
  const OpInfo& merge = count == 2 ? ops::merge_sort2 : ops::merge_sort3;
  lists.push_back(l.scratch_of(op, merge, lists));
  l.finish(op, l.emit(op, merge, lists));
}
// The instruction takes rows without padding that are valid as a whole: further positions 0 fill them, and what they give is
// cut off.
inline void legalize_gather(Legalizer& l, OpId op) {
  const ValueId x = l.r.map(l.in.operand(op, 0)), index = l.as_row_in_vec(op, l.r.map(l.in.operand(op, 1)));
  const bool column = is_column(l.result_type(op));
  const Type t = l.out.type(index), from = l.out.type(x);
  if (from.dims[0] > 1 && stored(from).last() != from.last())
    l.refuse(op, "the positions do not count the padding of rows (" + Legalizer::shape_text(from) + ")",
           "use rows of a multiple of 32 bytes, or gather from one row at a time");
  const std::int64_t block = std::max(block_elements(from.dtype), block_elements(t.dtype));
  const std::int64_t cols = align_up(t.last(), block);
  ValueId positions = index;
  if (cols != t.last() || l.out.valid(index, 1) != Extent{cols, {}}) {
    const ValueId zeros =
        l.emit(op, ops::full, {l.out.constant(t.dtype, std::int64_t{0})}, {}, with_dim(t, t.rank - 1, cols));
    positions = l.emit(op, ops::assemble, {zeros, index, l.b.index(0), l.b.index(0)});
  }
  const bool has_scratch = l.in.operand_count(op) > 2 && cols == t.last() && !column;
  const ValueId scratch = has_scratch ? l.r.map(l.in.operand(op, 2)) : l.scratch_of(op, ops::gather_flat, {x, positions});
  const ValueId made = l.emit(op, ops::gather_flat, {x, positions, scratch});
  const Type wanted = column ? Legalizer::row_type(l.result_type(op)) : as_row(l.result_type(op));
  const ValueId cut = cols == t.last() ? made : l.emit(op, ops::slice, {made, l.b.index(0), l.b.index(0)}, {}, wanted);
  l.finish(op, l.with_extents_of(op, column ? l.column_of(cut) : cut));
}
// The instruction wants whole columns, and whole blocks of 32 bytes of them: further elements fill the rows, and what they
// give is cut off.
inline void legalize_gather_mask(Legalizer& l, OpId op) {
  ValueId x = l.as_row_in_vec(op, l.r.map(l.in.operand(op, 0)));
  const Type from = l.out.type(x), old = as_row(l.result_type(op)), to = is_column(old) && from.dims[0] == 1 ? Legalizer::row_type(old) : old;
  const std::int64_t cols = padded_to_blocks(to.dtype, to.last());
  const Extent whole_rows[] = {l.out.valid(x, 0), {from.last(), {}}};
  x = l.b.with_valid(x, {whole_rows, 2});
  if (cols != to.last()) {
    const ValueId wide = l.emit(op, ops::create, {}, {}, with_dim(from, 1, from.last() / to.last() * cols));
    x = l.emit(op, ops::assemble, {wide, x, l.b.index(0), l.b.index(0)});
  }
  const ValueId made = l.emit(op, ops::gather_mask, {x}, l.r.attrs(op), with_dim(to, 1, cols));
  if (cols == to.last()) return l.finish(op, l.with_extents_of(op, to == old ? made : l.column_of(made)));
  const bool column = is_column(to);
  const ValueId cut = l.emit(op, ops::slice, {column ? l.transposed(op, made) : made, l.b.index(0), l.b.index(0)}, {}, column ? Legalizer::row_type(to) : to);
  l.finish(op, l.with_extents_of(op, is_column(old) ? l.column_of(cut) : cut));
}
// On a3 the instruction keeps bits in its scratch [M,N], and behind that, where no operand of it says so, the positions of all
// elements and a copy of the number for each row, in whole repeats of 256 bytes.
[[nodiscard]] inline ValueId scratch_for_matches(Legalizer& l, OpId op, const Type& x) {
  const std::int64_t rows = x.dims[0], cols = x.last(), copies = (rows * 4 + 255) / 256 * 256;
  const std::int64_t all[2] = {5 * rows + (copies + cols - 1) / cols, cols}, own[2] = {rows, cols}, none[2] = {1, 32};
  const bool on_a3 = l.arch == Arch::a3;
  const Type bytes = with_dtype(with_space(x, Vec), u8);
  const ValueId storage = l.emit(op, ops::create, {}, {}, with_shape(bytes, on_a3 ? all : none, 2));
  return on_a3 ? l.emit(op, ops::slice, {storage, l.b.index(0), l.b.index(0)}, {}, with_shape(bytes, own, 2)) : storage;
}
// The instruction gives positions and counts: what is not asked for goes to storage of its own.
inline void legalize_matches(Legalizer& l, OpId op) {
  if (l.in.operand_count(op) > 3) return l.plain(op, l.r.operands(op));
  std::vector<ValueId> operands = l.r.operands(op);
  operands[0] = l.as_row_in_vec(op, operands[0]);
  const Type x = with_dtype(with_space(l.out.type(operands[0]), Vec), i32);
  const std::int64_t counts[2] = {1, x.dims[0]};
  const bool finds = l.in.is(op, ops::find_positions);
  operands.push_back(scratch_for_matches(l, op, x));
  operands.push_back(l.emit(op, ops::create, {}, {}, finds ? with_shape(x, counts, 2) : x));
  l.plain(op, operands);
}
// By a pattern the instruction writes as many rows as the source has: what the source has not is 0, as elsewhere.
inline void all_rows(Legalizer& l, OpId op, std::vector<ValueId>& operands) {
  const Attr zero = int_attr(AttrKey::pad, static_cast<std::int64_t>(Pad::zero));
  if (!l.out.fully_valid(operands[1])) operands[1] = l.emit(op, ops::fillpad, {operands[1]}, {zero});
  operands[0] = l.b.as_whole(operands[0]);
}
// Positions count no padding. Columns are rows of as many elements; to every second element of a row they come as rows of one.
inline void legalize_scatter(Legalizer& l, OpId op) {
  std::vector<ValueId> operands = l.r.operands(op);
  const bool by_index = l.in.is(op, ops::scatter_flat);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool strip = !by_index && i == 1 && is_column(l.out.type(operands[1])) && l.operand_type(op, 0).last() != 1;
    operands[i] = strip ? l.strip_of(op, operands[i]) : l.as_row_in_vec(op, operands[i]);
  }
  if (!by_index) all_rows(l, op, operands);
  const Type to = l.out.type(operands[0]), from = l.out.type(operands[1]);
  if (by_index && to.dims[0] > 1 && stored(to).last() != to.last())
    l.refuse(op, "the positions do not count the padding of rows (" + Legalizer::shape_text(to) + ")",
           "use rows of a multiple of 32 bytes, or scatter to one row at a time");
  // The instruction wants a target with as many rows and columns as the source: it is one row, perhaps.
  const bool flat = from.dims[0] > to.dims[0] || from.last() > to.last();
  if (flat && (from.dims[0] > 1 || from.last() > to.elements()))
    l.refuse(op, "the source has more rows or columns than the target (" + Legalizer::shape_text(from) + " to " + Legalizer::shape_text(to) + ")",
           "use a target of another shape, and reshape the result");
  if (flat) operands[0] = l.reshaped(l.b.as_whole(operands[0]), 1, to.elements());
  ValueId made = l.emit(op, l.in.info(op), operands, l.r.attrs(op));
  if (flat) made = l.reshaped(made, to.dims[0], to.last());
  l.finish(op, l.with_extents_of(op, is_column(l.result_type(op)) ? l.column_of(made) : made));
}

}  // namespace tessera::detail
