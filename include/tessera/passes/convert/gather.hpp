// gather along the last axis: on a5 one instruction with row-major positions, on a3 and for padded rows one for each row.
#pragma once

#include "converter.hpp"

namespace tessera::convert {

[[nodiscard]] inline std::int64_t row_count(const Type& t) { return t.elements() / t.last(); }

/// x in the shape [rows, cols].
[[nodiscard]] inline ValueId as_rows(Converter& c, ValueId x) {
  const Type& t = c.out().type(x);
  if (t.rank == 2) return x;
  const std::int64_t dims[] = {row_count(t), t.last()};
  return c.build().value(ops::reshape, {x}, {}, with_shape(t, dims, 2));
}
/// Whether the rows of a tile follow each other with gaps: it is a window of a wider one.
[[nodiscard]] inline bool has_gaps(const Function& f, ValueId x) {
  for (OpId op = f.definition(x); op && f.info(op).is_view; op = f.definition(f.operand(op, 0)))
    if (f.is(op, ops::slice)) return true;
  return false;
}

/// index + the position at which its row starts in a tile of `cols` columns; both [rows, n].
[[nodiscard]] inline ValueId flat_positions(Converter& c, ValueId index, std::int64_t cols) {
  Builder& b = c.build();
  Function& f = c.out();
  const Type t = f.type(index);
  const std::int64_t rows = t.dims[0], n = t.dims[1];
  if (rows == 1) return index;
  const auto sequence = [&](std::int64_t count) {
    const std::int64_t dims[] = {1, count};
    return b.value(ops::arange, {f.constant(t.dtype, std::int64_t{0})}, {}, with_shape(with_space(t, Vec), dims, 2));
  };
  // Rows of whole 32-byte blocks: the row of every element at once. Others: one base for each row.
  if (bytes_of(t.dtype, n) % 32 == 0) {
    const ValueId all = b.value(ops::reshape, {sequence(rows * n)}, {}, t);
    const ValueId row = b.value(ops::divs, {all, f.constant(t.dtype, n)});
    return b.value(ops::add, {index, b.value(ops::muls, {row, f.constant(t.dtype, cols)})});
  }
  const ValueId column = b.value(ops::reshape, {sequence(rows)}, {}, with_dim(t, 1, 1));
  return b.value(ops::row_expand_add, {index, b.value(ops::muls, {column, f.constant(t.dtype, cols)})});
}
[[nodiscard]] inline ValueId gather_rows(Converter& c, ValueId x, ValueId index) {
  const Type& t = c.out().type(index);
  if (!detail::takes_indices(t.dtype, c.arch())) index = c.build().value(ops::cast, {index}, {}, with_dtype(t, i32));
  std::vector<ValueId> operands = {x, index};
  c.add_scratch(ops::gather_flat, operands);
  return c.build().value(ops::gather_flat, operands);
}

/// One gather of the whole tile.
[[nodiscard]] inline ValueId gather_whole(Converter& c, OpId op) {
  ValueId x = as_rows(c, c.placed(c.operand(op, 0), Vec));
  const ValueId index = as_rows(c, c.placed(c.operand(op, 1), Vec));
  const Type t = c.out().type(x);
  const std::int64_t cols = t.last(), positions = t.elements();
  if (c.out().type(index).dtype == i16 && positions > 32768)
    fail(c.location(op), "gather: the positions do not fit i16 indices (" + std::to_string(positions) + " elements)",
         "use i32 indices");
  if (has_gaps(c.out(), x)) x = c.build().value(ops::move, {x}, {}, t);
  return gather_rows(c, x, flat_positions(c, index, cols));
}

/// A loop over the rows.
[[nodiscard]] inline ValueId gather_each_row(Converter& c, OpId op) {
  Builder& b = c.build();
  Function& f = c.out();
  const Function& in = c.in();
  const Type result = lowered(in.type(in.result(op)));
  // Parameters of two dims that are in no tile yet are loaded row by row.
  const auto loads_rows = [&](int i) {
    const ValueId v = in.operand(op, i);
    return c.placement().is_parameter(v) && !c.placement().loaded_at_entry(v) && in.type(v).rank == 2 &&
           in.fully_valid(v);
  };
  ValueId whole[2];
  for (int i = 0; i < 2; ++i)
    if (!loads_rows(i)) whole[i] = as_rows(c, c.placed(c.operand(op, i), Vec));
  const std::int64_t rows = row_count(result), flat[] = {rows, result.last()};
  const ValueId initial = b.value(ops::create, {}, {}, with_shape(result, flat, 2));
  const OpId loop = b.control(ops::for_loop, {b.index(0), b.index(rows), b.index(1), initial}, {f.type(initial)}, 1);
  const BlockId outer = b.block(), body = f.block(loop);
  const ValueId row = f.add_argument(body, index_scalar), gathered = f.add_argument(body, f.type(initial));
  b.to_end_of(body);
  ValueId of_row[2];
  for (int i = 0; i < 2; ++i) {
    const std::int64_t window[] = {1, in.type(in.operand(op, i)).last()};
    of_row[i] = whole[i] ? b.value(ops::slice, {whole[i], row, b.index(0)}, {}, with_shape(f.type(whole[i]), window, 2))
                         : c.load(in.operand(op, i), {row, b.index(0)}, {window, 2}, Vec);
  }
  const ValueId one = gather_rows(c, of_row[0], of_row[1]);
  b.control(ops::yield, {b.value(ops::assemble, {gathered, one, row, b.index(0)})}, {}, 0);
  b.to_end_of(outer);
  return f.result(loop);
}

inline void lower_gather(Converter& c, OpId op) {
  const Function& in = c.in();
  const Type result = lowered(in.type(in.result(op)));
  const Type& x = in.type(in.operand(op, 0));
  const bool padded = bytes_of(x.dtype, x.last()) % 32 != 0;  // positions count no padding
  const bool by_row = (c.arch() == Arch::a3 || padded) && row_count(result) > 1;
  const ValueId made = by_row ? gather_each_row(c, op) : gather_whole(c, op);
  c.set(in.result(op), result.rank == 2 ? made : c.build().value(ops::reshape, {made}, {}, result));
}

}  // namespace tessera::convert
