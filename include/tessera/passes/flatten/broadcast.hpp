// broadcast_to on 2-D tiles. An operand of one row is repeated by one instruction; pages are repeated by inserting them once
// for each repetition, in a loop where there are many.
#pragma once

#include <vector>

#include "../../ir/builder.hpp"
#include "../../ops/all.hpp"

namespace tessera::detail {

class RowRepeater {
 public:
  explicit RowRepeater(Builder& b) : b_(b), f_(b.function()) {}

  /// The 2-D (or rank-1) tile x of the shape `from` once it had all of its dims, repeated to the shape `to`; fully valid.
  ValueId run(ValueId x, const Type& from, const Type& to) {
    x = whole_rows(x);
    const std::int64_t width = to.last(), block = block_elements(to.dtype);
    if (from.elements() == to.elements()) return in_shape(x, to);
    const std::int64_t rows = to.elements() / width;
    // A single element, repeated to a column: a row of them is one.
    if (width == 1 && from.elements() == 1) return in_shape(row_expand(x, rows), to);
    // Rows of one element are repeated as rows of a block, of which the first column is taken.
    const std::int64_t cols = width == 1 ? block : width;
    if (f_.type(x).last() != cols) x = row_expand(x, cols);
    std::int64_t inner = 1, outer = f_.type(x).dims[0];
    const std::vector<Run> runs = runs_of(from, to);
    for (auto r = runs.rbegin(); r != runs.rend(); ++r) {
      if (r->repeats) x = repeated(x, outer, inner, r->count);
      else outer /= r->count;
      inner *= r->count;
    }
    if (width == 1) x = b_.value(ops::slice, {x, b_.index(0), b_.index(0)}, {}, shape(rows, 1));
    return in_shape(x, to);
  }

 private:
  struct Run {
    bool repeats;
    std::int64_t count;
  };
  static constexpr std::int64_t most_unrolled = 4, most_columns_unrolled = 16;  // assembler 0.27 wants constant columns

  // Adjacent dims, the last one aside, of which all or none are repeated; outermost first.
  static std::vector<Run> runs_of(const Type& from, const Type& to) {
    std::vector<Run> runs;
    for (int i = 0; i + 1 < to.rank; ++i) {
      if (to.dims[i] == 1) continue;
      const bool repeats = dim_of_operand(from, i, to.rank) != to.dims[i];
      if (!runs.empty() && runs.back().repeats == repeats) runs.back().count *= to.dims[i];
      else runs.push_back({repeats, to.dims[i]});
    }
    return runs;
  }
  Type shape(std::int64_t rows, std::int64_t cols) {
    const std::int64_t dims[] = {rows, cols};
    return with_shape(model_, dims, 2);
  }
  // In Vec, of rank 2, and fully valid: what is not valid in x is repeated with the rest, and is not valid in the result.
  ValueId whole_rows(ValueId x) {
    if (f_.type(x).space != Vec) x = b_.value(ops::move, {x}, {}, with_space(f_.type(x), Vec));
    model_ = f_.type(x);
    x = b_.as_whole(x);
    return model_.rank == 2 ? x : b_.value(ops::reshape, {x}, {}, shape(1, model_.last()));
  }
  ValueId in_shape(ValueId x, const Type& to) {
    const Type flat = flattened(to);
    return f_.type(x).same_shape(flat) ? x : b_.value(ops::reshape, {x}, {}, flat);
  }
  ValueId in_rows(ValueId x, std::int64_t rows, std::int64_t cols) { return in_shape(x, shape(rows, cols)); }
  ValueId row_expand(ValueId x, std::int64_t cols) { return b_.value(ops::row_expand, {x}, {}, shape(f_.type(x).dims[0], cols)); }

  /// `outer` bands of `inner` rows, each of them `count` times.
  ValueId repeated(ValueId x, std::int64_t outer, std::int64_t inner, std::int64_t count) {
    const std::int64_t cols = f_.type(x).last();
    if (outer == 1 && inner == 1) return b_.value(ops::col_expand, {x}, {}, shape(count, cols));
    if (outer == 1) return side_by_side(x, inner, 0, count);
    // Rows without padding: bands become long rows, and all of them are repeated at once.
    const bool padded = !is_whole_blocks(model_.dtype, cols);
    if (!padded && (inner > 1 || count < 2 * outer)) {
      const ValueId bands = in_rows(x, outer, inner * cols);
      return in_rows(side_by_side(bands, 0, inner * cols, count), outer * inner * count, cols);
    }
    const ValueId whole = b_.value(ops::create, {}, {}, shape(outer * inner * count, cols));
    return each(outer, whole, most_unrolled, [&](ValueId band, ValueId into) {
      const ValueId rows = b_.value(ops::slice, {x, b_.mul(band, b_.index(inner)), b_.index(0)}, {}, shape(inner, cols));
      if (inner == 1) {
        const ValueId all = b_.value(ops::col_expand, {rows}, {}, shape(count, cols));
        return b_.value(ops::assemble, {into, all, b_.mul(band, b_.index(count)), b_.index(0)});
      }
      return each(count, into, most_unrolled, [&](ValueId i, ValueId last) {
        const ValueId row = b_.mul(b_.add(b_.mul(band, b_.index(count)), i), b_.index(inner));
        return b_.value(ops::assemble, {last, rows, row, b_.index(0)});
      });
    });
  }
  /// A tile of `count` copies of x, each `down` rows and `right` columns from the one before.
  ValueId side_by_side(ValueId x, std::int64_t down, std::int64_t right, std::int64_t count) {
    const Type t = f_.type(x);
    const ValueId whole = b_.value(ops::create, {}, {}, down != 0 ? shape(t.dims[0] * count, t.last()) : shape(t.dims[0], t.last() * count));
    return each(count, whole, down != 0 ? most_unrolled : most_columns_unrolled, [&](ValueId i, ValueId into) {
      const ValueId zero = b_.index(0), at = b_.mul(i, b_.index(down != 0 ? down : right));
      return b_.value(ops::assemble, {into, x, down != 0 ? at : zero, down != 0 ? zero : at});
    });
  }
  /// value = body(i, value) for i in [0, n), in a loop where there are more than `unrolled`.
  template <class Body>
  ValueId each(std::int64_t n, ValueId value, std::int64_t unrolled, Body&& body) {
    if (n <= unrolled) {
      for (std::int64_t i = 0; i < n; ++i) value = body(b_.index(i), value);
      return value;
    }
    return b_.repeat(b_.index(n), value, body);
  }

  Builder& b_;
  Function& f_;
  Type model_;  // dtype, kind and place of the tiles
};

}  // namespace tessera::detail
