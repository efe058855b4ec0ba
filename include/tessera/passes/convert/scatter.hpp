// Scatters. The instruction writes zeros wherever no index points, so the elements are scattered, ones as well, and where a one
// has arrived the scattered element is taken, elsewhere what was there before.
#pragma once

#include "gather.hpp"

namespace tessera::convert {

/// Makes the tiles that a scatter needs, in its function.
class Scatter {
 public:
  Scatter(Converter& c, OpId op) : c_(c), op_(op), type_(c.in().type(c.in().operand(op, 0))) {}

  /// The tile of an operand.
  [[nodiscard]] ValueId operand(int i) { return c_.placed(c_.operand(op_, i), Vec); }
  /// Columns of the tile that is written to, with padding, which positions count; of one row or column there is none.
  [[nodiscard]] std::int64_t columns() const {
    return type_.dims[0] == 1 || is_column() ? type_.dims[1] : padded_to_blocks(type_.dtype, type_.dims[1]);
  }
  /// [M,1] is treated as one row of M elements.
  [[nodiscard]] bool is_column() const { return type_.dims[1] == 1; }
  /// A column as one row.
  [[nodiscard]] ValueId as_row(ValueId x) {
    const Type& t = c_.out().type(x);
    return t.dims[1] == 1 ? in_shape(c_, x, 1, t.dims[0]) : x;
  }

  /// x with the elements of `source` at `positions`; both have one shape.
  void by_positions(ValueId x, ValueId source, ValueId positions) {
    source = as_row(source);
    positions = as_row(positions);
    x = as_row_of_column(x);
    const Type t = c_.out().type(x);
    const Type base = t.dims[0] > 1 ? with_dim(t, 1, columns()) : t;
    // The instruction wants a target with as many columns as the source: a column that became a row goes to one row.
    const std::int64_t row[] = {1, base.elements()};
    const bool flat = c_.out().type(source).dims[1] > base.dims[1];
    const auto scatter = [&](ValueId target, ValueId what) {
      const ValueId made = b().value(ops::scatter_flat, {target, what, positions});
      return flat ? b().value(ops::reshape, {made}, {}, with_dtype(base, c_.out().type(made).dtype)) : made;
    };
    blend(x, flat ? with_shape(base, row, 2) : base, source, positions, scatter);
  }
  /// x with the elements of `source` where the pattern says.
  void by_pattern(ValueId x, ValueId source) {
    const Attr pattern = int_attr(AttrKey::pattern, c_.in().attr(op_, AttrKey::pattern));
    if (is_column()) source = as_row(source);
    x = as_row_of_column(x);
    const auto scatter = [&](ValueId target, ValueId what) { return b().value(ops::scatter_strided, {target, what}, {pattern}); };
    blend(x, c_.out().type(x), source, source, scatter);
  }

 private:
  [[nodiscard]] Builder& b() { return c_.build(); }
  [[nodiscard]] ValueId number(DType d, int n) {
    return is_float(d) ? c_.out().constant(d, static_cast<double>(n)) : c_.out().constant(d, std::int64_t{n});
  }
  [[nodiscard]] ValueId filled(const Type& like, DType d, int n) {
    return b().value(ops::full, {number(d, n)}, {}, with_dtype(like, d));
  }
  /// Without the padding.
  [[nodiscard]] ValueId narrowed(ValueId x, const Type& to) {
    if (c_.out().type(x).dims[1] == to.dims[1]) return x;
    return b().value(ops::slice, {x, b().index(0), b().index(0)}, {}, with_dtype(to, c_.out().type(x).dtype));
  }
  /// `base` is the tile that is scattered to. The ones have the extents of `like`.
  template <class ScatterOnto>
  void blend(ValueId x, const Type& base, ValueId source, ValueId like, ScatterOnto&& scatter) {
    const Type t = c_.out().type(x);
    // Elements that a3 and a5 both compare, as wide as the data: masks have one bit for each.
    const DType one = info(t.dtype).bits == 32 ? f32 : info(t.dtype).bits == 16 ? f16 : i8;
    const ValueId values = narrowed(scatter(filled(base, t.dtype, 0), source), t);
    const ValueId empty = filled(base, one, 0);
    const ValueId marks = narrowed(scatter(empty, ones_like(source, like, one)), t);
    const Attr differs = int_attr(AttrKey::compare, static_cast<std::int64_t>(Compare::ne));
    const ValueId written = b().value(ops::compares, {marks, number(one, 0)}, {differs});
    std::vector<ValueId> operands = {written, values, x};
    c_.add_scratch(ops::select, operands);
    const ValueId made = b().value(ops::select, operands);
    const Type result = lowered(type_);
    c_.set(c_.in().result(op_), is_column() && type_.dims[0] > 1 ? b().value(ops::reshape, {made}, {}, result) : made);
  }
  [[nodiscard]] ValueId as_row_of_column(ValueId x) { return is_column() ? as_row(x) : x; }
  [[nodiscard]] ValueId ones_like(ValueId source, ValueId like, DType one) {
    const ValueId ones = filled(c_.out().type(source), one, 1);
    const Extent extents[] = {c_.out().valid(like, 0), c_.out().valid(like, 1)};
    return b().with_valid(ones, {extents, 2});
  }

  Converter& c_;
  OpId op_;
  Type type_;
};

inline void lower_scatter(Converter& c, OpId op) {
  Scatter s(c, op);
  const ValueId x = s.operand(0), index = s.operand(1), source = s.operand(2);
  s.by_positions(x, source, flat_positions(c, index, s.columns()));
}

inline void lower_scatter_mask(Converter& c, OpId op) {
  Scatter s(c, op);
  const ValueId x = s.operand(0), source = s.operand(1);
  if (!c.out().fully_valid(source))
    fail(c.location(op), "scatter: the source is valid in part only (" + text(c.out().type(source)) + ")", "fillpad(source) it first");
  s.by_pattern(x, source);
}

/// All indices in one row (or one column), in their order. Rows that are padded are put together by a gather.
[[nodiscard]] inline ValueId all_indices(Converter& c, ValueId index, bool as_column) {
  Builder& b = c.build();
  Function& f = c.out();
  const Type t = f.type(index);
  const std::int64_t count = t.elements(), cols = padded_to_blocks(t.dtype, t.dims[1]), padding = cols - t.dims[1];
  if (t.dims[0] > 1 && t.dims[1] > 1 && padding > 0) {
    const std::int64_t row[] = {1, count};
    const auto number = [&](std::int64_t n) { return f.constant(i32, n); };
    const ValueId order = b.value(ops::arange, {number(0)}, {}, with_shape(t, row, 2));
    const ValueId skipped = b.value(ops::muls, {b.value(ops::divs, {order, number(t.dims[1])}), number(padding)});
    index = gather_rows(c, widened(c, index, cols), b.value(ops::add, {order, skipped}));
  }
  return as_column ? in_shape(c, index, count, 1) : in_shape(c, index, 1, count);
}

/// The position of element k of row index[i] is index[i] * N + k, in i32; the index is narrowed when it is complete, since rows
/// of fewer short elements would start inside a block.
inline void lower_scatter_update(Converter& c, OpId op) {
  Scatter s(c, op);
  Builder& b = c.build();
  Function& f = c.out();
  const ValueId x = s.operand(0), given = s.operand(1), source = s.operand(2);
  if (const ValueId partial = f.fully_valid(given) ? source : given; !f.fully_valid(partial))
    fail(c.location(op), std::string("scatter_update: the ") + (partial == given ? "index" : "source") + " is valid in part only (" + text(f.type(partial)) + ")", "fillpad(...) both first, or use scatter");
  const Type t = f.type(source);
  const std::int64_t rows = t.dims[0], cols = t.dims[1];
  const auto integer = [&](std::int64_t n) { return f.constant(i32, n); };
  ValueId positions;
  if (cols == 1) {
    positions = all_indices(c, given, false);
  } else {
    const std::int64_t row[] = {1, cols};
    const Type all = with_dtype(t, i32);
    const ValueId column = b.value(ops::arange, {integer(0)}, {}, with_shape(all, row, 2));
    const ValueId columns = rows > 1 ? b.value(ops::col_expand, {column}, {}, all) : column;
    const ValueId start = b.value(ops::muls, {all_indices(c, given, true), integer(s.columns())});
    positions = b.value(ops::row_expand_add, {columns, start});
  }
  if (const DType narrow = detail::position_dtype(t.dtype); narrow != i32)
    positions = b.value(ops::cast, {positions}, {int_attr(AttrKey::rounding, static_cast<std::int64_t>(Rounding::none))},
                        with_dtype(f.type(positions), narrow));
  s.by_positions(x, source, positions);
}

}  // namespace tessera::convert
