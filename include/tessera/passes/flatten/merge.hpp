// Merging the leading dims of a tile into rows: extents and offsets.
#pragma once

#include <string>

#include "../../ir/rewrite.hpp"

namespace tessera::detail {

/// The axis along which the valid part of a value has gaps once its leading dims are rows; -1: it has none. Behind the first
/// dim of which more than one is valid, everything is valid.
[[nodiscard]] inline int gap_axis(const Function& f, ValueId v) {
  const Type& t = f.type(v);
  for (int i = 0; i + 1 < t.rank; ++i)
    if (f.valid(v, i) == Extent{0, {}}) return -1;  // nothing is valid
  bool inner = false;
  for (int i = 0; i + 1 < t.rank; ++i) {
    const Extent e = f.valid(v, i);
    if (inner && e != Extent{t.dims[i], {}}) return i;
    inner = inner || (t.dims[i] != 1 && e != Extent{1, {}});
  }
  return -1;
}

/// The valid extents of a value of rank > 2, once its leading dims are rows. False: fully valid. Throws UserError where the
/// valid part is not one band of rows.
inline bool merge_valid(Rewriter& r, ValueId v, OpId by, Extent (&merged)[2]) {
  const Function& in = r.in();
  if (in.fully_valid(v)) return false;
  const Type& t = in.type(v);
  if (const int axis = gap_axis(in, v); axis >= 0) {
    const Extent e = in.valid(v, axis);
    fail(in[by].location,
         std::string(in.info(by).name) + ": the valid part is not one band of rows when the tile becomes 2-D (axis " +
             std::to_string(axis) + ": " + (e.is_constant() ? std::to_string(e.constant) : std::string("a run-time extent")) +
             " of " + std::to_string(t.dims[axis]) + ")",
         "only the first dim above 1 and the last one may be valid in part: loop over the outer dims and use "
         "[1,..,M,N] tiles, or fillpad(...) the operand first");
  }
  Builder& b = r.build();
  ValueId rows = b.index(1);
  for (int i = 0; i + 1 < t.rank; ++i) rows = b.mul(rows, b.value_of(r.map(in.valid(v, i))));
  merged[0] = b.extent_of(rows);
  merged[1] = r.map(in.valid(v, t.rank - 1));
  return true;
}

/// The row at which the element at `offsets` (new values, one per dim of a tile or tensor) stands once its leading dims are rows.
inline ValueId merged_row(Builder& b, const Type& whole, const ValueId* offsets) {
  ValueId row = offsets[0];
  for (int i = 1; i + 1 < whole.rank; ++i) row = b.add(b.mul(row, b.index(whole.dims[i])), offsets[i]);
  return row;
}

}  // namespace tessera::detail
