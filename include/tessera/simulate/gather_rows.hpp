// Windows of a tensor that are loaded into windows of a tile, and rows that are found by indices and a block table.
#pragma once

#include "indexed.hpp"

namespace tessera::simulator {

/// Copies the window of the source, operand `tensor`, at `from` to `to`, turned where rows become columns.
inline void copy_rows(Call& c, Data& r, const Box& to, int tensor, const Data& source, const Box& from, const Box& extents, bool transposed) {
  c.moves(tensor, 0, 0);
  for (std::int64_t i = 0; i < extents[0]; ++i) {
    const std::int64_t start = (from[0] + i) * source.dims[1] + from[1];
    note_reads(c, source, start, extents[1]);
    c.moves(tensor, start, extents[1]);
    if (!transposed) r.copy((to[0] + i) * r.dims[1] + to[1], source, start, extents[1]);
    else
      for (std::int64_t j = 0; j < extents[1]; ++j) r.copy((to[0] + j) * r.dims[1] + to[1] + i, source, start + j, 1);
  }
}
inline void gather_row(Call& c) {
  Data r = c.in(0);
  const Data& source = c.addressed(1);
  const bool transposed = c.attr(AttrKey::transposed) != 0;
  const Box to = c.integers(ops::gather_row_offsets, 2), from = c.integers(ops::gather_row_source_offsets, 2);
  const Box window{2, {c.attr(AttrKey::rows), c.attr(AttrKey::columns)}};
  Box extents = window;
  if (c.attr(AttrKey::has_valid) != 0) extents = c.integers(ops::gather_row_valid, 2);
  for (int i = 0; i < 2; ++i) Engine::check_extent(c.name(), c.location(), i, extents[i], window[i]);
  check_bounds(c, from, extents, source.dims);
  check_bounds(c, to, transposed ? Box{2, {extents[1], extents[0]}} : extents, r.dims);
  copy_rows(c, r, to, 1, source, from, extents, transposed);
  count_read(c, source.dtype, extents.elements());
  c.result(std::move(r));
}
inline void paged_gather(Call& c) {
  const Data &source = c.addressed(0), &indices = c.in(1), &table = c.in(2);
  Data r = c.fresh();
  const std::int64_t block = c.attr(AttrKey::block_size), size = c.attr(AttrKey::columns), most = c.attr(AttrKey::rows);
  const bool transposed = c.attr(AttrKey::transposed) != 0;
  if (indices.size() > most)
    c.fail(rule::paged_gather_has_too_many_indices, std::to_string(indices.size()) + ", " + std::to_string(most));
  for (std::int64_t i = 0; i < indices.size(); ++i) {
    const std::int64_t index = checked_index(c, indices, 1, i, table.size() * block);
    const std::int64_t page = index / block;
    if (!table.is_known(page)) c.fail_poison(2, table, page);
    const Box from{2, {table.integers[static_cast<std::size_t>(page)] * block + index % block, c.attr(AttrKey::column)}}, row{2, {1, size}};
    check_bounds(c, from, row, source.dims);
    copy_rows(c, r, transposed ? Box{2, {0, i}} : Box{2, {i, 0}}, 0, source, from, row, transposed);
  }
  c.result(std::move(r));
}

inline constexpr TableEntry gather_rows_table[] = {{&ops::gather_row, gather_row}, {&ops::paged_gather, paged_gather}};

}  // namespace tessera::simulator
