// Merging the leading dims of a tile into rows: extents, offsets, and when a window stays one band of rows.
#pragma once

#include <string>

#include "../../ir/rewrite.hpp"

namespace tessera::detail {

/// The valid extents of a value of rank > 2, once its leading dims are rows. False: fully valid. What is valid must be one
/// band of rows: behind the first dim above 1 everything is whole, otherwise there would be gaps. Throws UserError.
inline bool merge_valid(Rewriter& r, ValueId v, OpId by, Extent (&merged)[2]) {
  const Function& in = r.in();
  if (in.fully_valid(v)) return false;
  const Type& t = in.type(v);
  Builder& b = r.build();
  ValueId rows = b.index(1);
  bool inner = false;
  for (int i = 0; i + 1 < t.rank; ++i) {
    const Extent e = in.valid(v, i);
    if (inner && e != Extent{t.dims[i], {}})
      fail(in[by].location,
           std::string(in.info(by).name) + ": the valid part is not one band of rows when the tile becomes 2-D (axis " +
               std::to_string(i) + ": " +
               (e.is_constant() ? std::to_string(e.constant) : std::string("a run-time extent")) + " of " +
               std::to_string(t.dims[i]) + ")",
           "only the first dim above 1 and the last one may be valid in part: loop over the outer dims and use "
           "[1,..,M,N] tiles");
    inner = inner || t.dims[i] != 1;
    rows = b.mul(rows, b.value_of(r.map(e)));
  }
  merged[0] = b.extent_of(rows);
  merged[1] = r.map(in.valid(v, t.rank - 1));
  return true;
}

/// The row of a 2-D tile at which the element at `offsets` (new values, one per dim of the old type) stands.
inline ValueId merged_row(Builder& b, const Type& old, const ValueId* offsets) {
  ValueId row = offsets[0];
  for (int i = 1; i + 1 < old.rank; ++i) row = b.add(b.mul(row, b.index(old.dims[i])), offsets[i]);
  return row;
}

/// Whether a box is one band of rows of `whole`: behind its first dim above 1 each dim but the last is covered whole.
[[nodiscard]] constexpr bool is_band(const Type& box, const Type& whole) {
  bool inner = false;
  for (int i = 0; i + 1 < box.rank; ++i) {
    if (inner && box.dims[i] != whole.dims[i]) return false;
    inner = inner || box.dims[i] != 1;
  }
  return true;
}

}  // namespace tessera::detail
