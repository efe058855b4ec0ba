// gather along the last axis: on a5 one instruction with row-major positions, on a3 and for padded rows one for each row. Along
// another axis: one instruction on both.
#pragma once

#include "converter.hpp"

namespace tessera::convert {

[[nodiscard]] inline std::int64_t row_count(const Type& t) { return t.elements() / t.last(); }

/// Whether two shapes differ in dims of extent 1 only: what is valid stays a box.
[[nodiscard]] inline bool same_but_ones(const Type& a, const Type& b) {
  int i = 0, k = 0;
  while (true) {
    while (i < a.rank && a.dims[i] == 1) ++i;
    while (k < b.rank && b.dims[k] == 1) ++k;
    if (i == a.rank || k == b.rank) return i == a.rank && k == b.rank;
    if (a.dims[i++] != b.dims[k++]) return false;
  }
}
/// x in another shape. Where what is valid does not stay a box, all of it counts as valid.
[[nodiscard]] inline ValueId in_shape(Converter& c, ValueId x, const Type& to) {
  const Type t = c.out().type(x);
  if (t.same_shape(to)) return x;
  if (!same_but_ones(t, to)) x = c.build().as_whole(x);
  return c.build().value(ops::reshape, {x}, {}, to);
}
/// x in the shape [rows, cols].
[[nodiscard]] inline ValueId in_shape(Converter& c, ValueId x, std::int64_t rows, std::int64_t cols) {
  const std::int64_t dims[] = {rows, cols};
  return in_shape(c, x, with_shape(c.out().type(x), dims, 2));
}
/// An index in the shape [rows, cols]. What must count as valid is position 0: undefined elements are none.
[[nodiscard]] inline ValueId index_in_shape(Converter& c, ValueId index, std::int64_t rows, std::int64_t cols) {
  const std::int64_t dims[] = {rows, cols};
  const Type t = c.out().type(index);
  if (!c.out().fully_valid(index) && !same_but_ones(t, with_shape(t, dims, 2)))
    index = c.build().value(ops::fillpad, {index}, {int_attr(AttrKey::pad, static_cast<std::int64_t>(Pad::zero))});
  return in_shape(c, index, rows, cols);
}
[[nodiscard]] inline ValueId as_rows(Converter& c, ValueId x) {
  const Type t = c.out().type(x);
  return t.rank == 2 ? x : in_shape(c, x, row_count(t), t.last());
}
[[nodiscard]] inline ValueId index_as_rows(Converter& c, ValueId index) {
  const Type t = c.out().type(index);
  return t.rank == 2 ? index : index_in_shape(c, index, row_count(t), t.last());
}
/// A copy with rows of `cols` elements.
[[nodiscard]] inline ValueId widened(Converter& c, ValueId x, std::int64_t cols) {
  Builder& b = c.build();
  const ValueId wide = b.value(ops::create, {}, {}, with_dim(c.out().type(x), 1, cols));
  return b.value(ops::assemble, {wide, x, b.index(0), b.index(0)});
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
  if (is_whole_blocks(t.dtype, n) && detail::check_positions(t.dtype, rows * n).lawful()) {
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

inline void require_positions(Converter& c, OpId op, DType index, std::int64_t positions) {
  const Verdict v = detail::check_positions(index, positions);
  if (!v.lawful()) throw UserError(diagnose(v, c.in().info(op).name, c.location(op)));
}
/// One gather of the whole tile.
[[nodiscard]] inline ValueId gather_whole(Converter& c, OpId op) {
  ValueId x = as_rows(c, c.placed(c.operand(op, 0), Vec));
  const ValueId index = index_as_rows(c, c.placed(c.operand(op, 1), Vec));
  const Type t = c.out().type(x);
  const bool no_padding = t.dims[0] == 1 || t.last() == 1;
  const std::int64_t cols = no_padding ? t.last() : padded_to_blocks(t.dtype, t.last());
  require_positions(c, op, c.out().type(index).dtype, t.dims[0] * cols);
  if (cols != t.last()) x = widened(c, x, cols);
  else if (t.last() == 1) x = in_shape(c, x, 1, t.dims[0]);
  else if (has_gaps(c.out(), x)) x = c.build().value(ops::move, {x}, {}, t);
  return gather_rows(c, x, flat_positions(c, index, cols));
}

/// A loop over the rows that are valid.
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
  const auto extent = [&](int axis) { return c.rewriter().map(in.valid(in.result(op), axis)); };
  ValueId whole[2];
  if (!loads_rows(0)) whole[0] = b.as_whole(as_rows(c, c.placed(c.operand(op, 0), Vec)));
  Extent rows = extent(0);  // of rank 2
  if (!loads_rows(1)) {
    const ValueId index = index_as_rows(c, c.placed(c.operand(op, 1), Vec));
    if (result.rank > 2) rows = f.valid(index, 0);  // what is not valid there is no position
    whole[1] = b.as_whole(index);
  }
  const std::int64_t flat[] = {row_count(result), result.last()};
  const Extent columns = extent(result.rank - 1);
  const ValueId initial = b.value(ops::create, {}, {}, with_shape(result, flat, 2));
  return b.repeat(b.value_of(rows), initial, [&](ValueId row, ValueId gathered) {
    ValueId of_row[2];
    for (int i = 0; i < 2; ++i) {
      const std::int64_t window[] = {1, in.type(in.operand(op, i)).last()};
      of_row[i] = whole[i] ? b.value(ops::slice, {whole[i], row, b.index(0)}, {}, with_shape(f.type(whole[i]), window, 2))
                           : c.load(in.operand(op, i), {row, b.index(0)}, {window, 2}, Vec);
    }
    if (columns != Extent{flat[1], {}}) of_row[1] = b.value(ops::set_valid_shape, {of_row[1], b.index(1), b.value_of(columns)});
    return b.value(ops::assemble, {gathered, gather_rows(c, of_row[0], of_row[1]), row, b.index(0)});
  });
}

// Along an axis in front of the last one the element [p, a, k] of [P, A, C] stands at (p * A + a) * C + k, and P is 1 or the axis
// in front.
struct AxisShape {
  std::int64_t pages, from, to, inner;  ///< P, A in x, A in the index, C
};
[[nodiscard]] inline AxisShape axis_shape(const Type& x, const Type& index, std::int64_t axis) {
  AxisShape s{1, x.dims[axis], index.dims[axis], 1};
  for (int i = 0; i < x.rank; ++i)
    if (i != axis) (i < axis ? s.pages : s.inner) *= x.dims[i];
  return s;
}
/// index * cols + column (+ the start of its page).
[[nodiscard]] inline ValueId axis_positions(Converter& c, ValueId index, const AxisShape& s, std::int64_t cols) {
  Builder& b = c.build();
  Function& f = c.out();
  const Type t = f.type(index);
  const auto number = [&](std::int64_t n) { return f.constant(t.dtype, n); };
  const auto sequence = [&](std::int64_t count) {
    const std::int64_t dims[] = {1, count};
    return b.value(ops::arange, {number(0)}, {}, with_shape(t, dims, 2));
  };
  ValueId positions = b.value(ops::muls, {index, number(cols)});
  if (s.pages > 1) {
    const std::int64_t rows = s.pages * s.to;
    ValueId page = b.value(ops::reshape, {sequence(rows)}, {}, with_dim(t, 1, 1));
    if (s.to > 1) page = b.value(ops::divs, {page, number(s.to)});
    positions = b.value(ops::row_expand_add, {positions, b.value(ops::muls, {page, number(s.from * cols)})});
  }
  return b.value(ops::col_expand_add, {positions, sequence(s.inner)});
}
[[nodiscard]] inline ValueId gather_along(Converter& c, OpId op, std::int64_t axis) {
  const Function& in = c.in();
  const Type &x_type = in.type(in.operand(op, 0)), &index_type = in.type(in.operand(op, 1));
  const AxisShape s = axis_shape(x_type, index_type, axis);
  const auto padded = [](DType d, std::int64_t cols) { return !is_whole_blocks(d, cols); };
  if (s.inner == 1 && s.pages > 1)
    fail(c.location(op), "gather: along axis 1 of rows of one element (" + std::to_string(s.pages) + " pages)",
         "reshape to [P,M] and gather along the last axis");
  // Several axes become one row: the instructions see no padding between them.
  const bool merges = s.inner != x_type.last();
  if (merges && (padded(x_type.dtype, x_type.last()) || padded(index_type.dtype, x_type.last())))
    fail(c.location(op), "gather: along an axis in front of rows that are padded to 32 bytes (" + std::to_string(x_type.last()) + " elements)",
         "use rows of a multiple of 32 bytes of both x and the index, or reshape the tensors before they are loaded");
  ValueId x = c.placed(c.operand(op, 0), Vec), index = c.placed(c.operand(op, 1), Vec);
  if (s.inner == 1) return gather_rows(c, in_shape(c, x, 1, s.from), index_in_shape(c, index, 1, s.to));
  x = in_shape(c, x, s.pages * s.from, s.inner);
  index = index_in_shape(c, index, s.pages * s.to, s.inner);
  const std::int64_t cols = padded_to_blocks(x_type.dtype, s.inner);
  require_positions(c, op, index_type.dtype, s.pages * s.from * cols);
  if (cols != s.inner) x = widened(c, x, cols);
  else if (has_gaps(c.out(), x)) x = c.build().value(ops::move, {x}, {}, c.out().type(x));
  return gather_rows(c, x, axis_positions(c, index, s, cols));
}

inline void lower_gather(Converter& c, OpId op) {
  const Function& in = c.in();
  const Type result = lowered(in.type(in.result(op)));
  const Type& x = in.type(in.operand(op, 0));
  const std::int64_t given = in.attr(op, AttrKey::axis, -1), axis = given < 0 ? given + x.rank : given;
  const auto finish = [&](ValueId made) { c.set(in.result(op), c.with_extents_of(in.result(op), in_shape(c, made, result))); };
  if (axis != x.rank - 1) return finish(gather_along(c, op, axis));
  const bool padded = !is_whole_blocks(x.dtype, x.last());  // positions count no padding
  // One element of each row is a column, into which no row can be written.
  const bool by_row = (c.arch() == Arch::a3 || padded) && row_count(result) > 1 && result.last() > 1;
  finish(by_row ? gather_each_row(c, op) : gather_whole(c, op));
}

}  // namespace tessera::convert
