// What crosses the border of a split region: the half of a matrix that belongs to a lane.
#pragma once

#include "window.hpp"

namespace tessera::simulator {

/// The first element of the half that belongs to lane operand `lane`.
[[nodiscard]] inline Box half_start(const Call& c, int lane, const Box& half) {
  const int axis = axis_of(static_cast<Split>(c.attr(AttrKey::split)));
  Box start{half.rank, {}};
  start[axis] = c.integer(lane) * half[axis];
  return start;
}
inline void shard(Call& c) {
  const Data& matrix = c.in(0);
  Data half = c.fresh();
  const Box from = strides_of(matrix.dims), to = strides_of(half.dims);
  const std::int64_t start = dot(from, half_start(c, 1, half.dims));
  for_each_row(half.dims, [&](const Box& i) { half.copy(dot(to, i), matrix, start + dot(from, i), half.dims.last()); });
  c.result(std::move(half));
}
inline void gather_half(Call& c) {
  Data matrix = c.in(0);
  const Data& half = c.in(1);
  const Box extents = c.valid(1), from = strides_of(half.dims), to = strides_of(matrix.dims);
  const std::int64_t start = dot(to, half_start(c, 2, half.dims));
  for_each_row(extents, [&](const Box& i) { matrix.copy(start + dot(to, i), half, dot(from, i), extents.last()); });
  c.result(std::move(matrix));
}

inline constexpr TableEntry split_table[] = {{&ops::aiv_shard, shard}, {&ops::aic_gather, gather_half}};

}  // namespace tessera::simulator
