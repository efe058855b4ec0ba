// What flatten_tile_nd_to_2d asks of every tile before it rewrites: dims that are known, and a count of rows that is a number.
#pragma once

#include "flattener.hpp"

namespace tessera::detail {

inline void check_tile(const Flattener& l, OpId op, const Type& t) {
  if (!t.is_tile()) return;
  for (int i = 0; i < t.rank; ++i) {
    const auto at = [&] { return " (axis " + std::to_string(i) + ": " + dim_text(t.dims[i]) + ")"; };
    if (is_dynamic(t.dims[i]))
      l.refuse(op, "a tile with a run-time dim cannot be flattened to 2D" + at(),
               "loop over chunks of a static size and give valid(...) for the tail, or reshape the tensor before the kernel");
    if (t.dims[i] <= 0)
      l.refuse(op, "a tile with a dim that is not positive cannot be flattened to 2D" + at(), "give each dim at least one element");
  }
  if (t.rank > 2 && t.elements() == max_elements)
    l.refuse(op,
             "a tile with more elements than an address space holds cannot be flattened to 2D (rank " + std::to_string(t.rank) + ")",
             "loop over the outer dims");
}
inline void check_tiles(const Flattener& l, OpId op) {
  for (int i = 0; i < l.in.operand_count(op); ++i) check_tile(l, op, l.in.type(l.in.operand(op, i)));
  if (l.in.result_count(op) == 1) check_tile(l, op, l.in.type(l.in.result(op)));
}
/// Single elements of a tile of pages have no instruction.
inline void refuse_access(Flattener& l, OpId op) {
  l.refuse(op, "not supported on tiles of rank above 2 (rank " + std::to_string(l.in.type(l.in.operand(op, 0)).rank) + ")",
           "reshape the tile to 2-D first, or load the part that is needed from the tensor");
}

}  // namespace tessera::detail
