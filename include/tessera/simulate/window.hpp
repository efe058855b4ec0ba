// Windows: boxes at run-time offsets, between tensors and tiles (load, store) and inside values (slice, assemble). Only valid
// elements move; whatever would touch an element outside the tensor is an error.
#pragma once

#include "elementwise.hpp"

namespace tessera::simulator {

/// Bounds of a box; an empty one touches nothing.
inline void check_bounds(const Call& c, const Box& offsets, const Box& extents, const Box& dims) {
  for (int i = 0; i < offsets.rank; ++i)
    if (offsets[i] < 0)
      c.fail(rule::window_offset_is_negative, "axis " + std::to_string(i) + ": offset " + std::to_string(offsets[i]));
  if (extents.empty()) return;
  for (int i = 0; i < offsets.rank; ++i)
    if (extents[i] > dims[i] || offsets[i] > dims[i] - extents[i])
      c.fail(rule::window_out_of_bounds, "axis " + std::to_string(i) + ": offset " + std::to_string(offsets[i]) +
                                             " + extent " + std::to_string(extents[i]) + " > dim " +
                                             std::to_string(dims[i]));
}
inline void count_read(Call& c, DType d, std::int64_t elements) {
  c.engine.statistics.gm_bytes_read += static_cast<std::uint64_t>(bytes_of(d, elements));
}
inline void count_write(Call& c, DType d, std::int64_t elements) {
  c.engine.statistics.gm_bytes_written += static_cast<std::uint64_t>(bytes_of(d, elements));
}
/// Elements of a tensor that follow each other are read.
inline void note_reads(Call& c, const Data& source, std::int64_t first, std::int64_t count) {
  for (std::int64_t k = 0; k < count && !(source.accesses.empty() && source.thread_accesses.empty()); ++k) c.engine.note_read(c.id, source, first + k);
}

/// The box of a tensor that a tile covers: of the attribute `window`, or the tile's own shape with leading ones.
[[nodiscard]] inline Box covered_box(const Call& c, const Box& tile, int rank) {
  const List<std::int64_t> window = c.attr_list(AttrKey::window);
  Box box{rank, {}};
  if (!window.empty()) {
    if (window.size() != static_cast<std::size_t>(rank))
      throw InternalError("simulate: attribute window has another rank than the tensor");
    for (int i = 0; i < rank; ++i) box[i] = c.engine.dim(window[static_cast<std::size_t>(i)]);
    return box;
  }
  for (int i = 0; i < rank; ++i) box[i] = i < rank - tile.rank ? 1 : tile[i - (rank - tile.rank)];
  return box;
}
/// Strides in a tile of a box whose rows follow each other in it, each as wide as the tile's rows.
[[nodiscard]] inline Box strides_in_tile(const Box& box, const Box& tile) {
  Box wide = box;
  wide[box.rank - 1] = tile.last();
  return strides_of(wide);
}

/// The extents that a window read states: its operands, else the result's own; checked against the window.
[[nodiscard]] inline Box stated_extents(const Call& c, const Box& box, bool same_rank) {
  Box extents = box;
  if (c.attr(AttrKey::has_valid) != 0) extents = c.integers(1 + box.rank, box.rank);
  else if (same_rank) extents = c.result_valid();
  for (int i = 0; i < box.rank; ++i) Engine::check_extent(c.name(), c.location(), i, extents[i], box[i]);
  return extents;
}

/// load, and slice (of a tensor or a tile).
inline void read_window(Call& c) {
  const Data& source = c.addressed(0);
  Data r = c.fresh();
  const int rank = source.dims.rank;
  const bool flat = !c.attr_list(AttrKey::window).empty();
  const Box box = covered_box(c, r.dims, rank), offsets = c.integers(1, rank);
  const Box extents = stated_extents(c, box, !flat && r.dims.rank == rank);
  check_bounds(c, offsets, extents, source.dims);
  const Box from = strides_of(source.dims), to = strides_in_tile(box, r.dims);
  const std::int64_t start = dot(from, offsets);
  for_each_row(extents,
               [&](const Box& index) { r.copy(dot(to, index), source, start + dot(from, index), extents.last()); });
  if (c.engine.is_memory(c.operand(0))) count_read(c, source.dtype, extents.elements());
  c.moves(0, start, 0);
  for_each_row(extents, [&](const Box& index) {
    note_reads(c, source, start + dot(from, index), extents.last());
    c.moves(0, start + dot(from, index), extents.last());
  });
  c.result(std::move(r));
}

// One element of a store: Acc narrows f32 on its way out; atomic stores add.
inline void store_element(Call& c, const Data& source, std::int64_t from, Data& target, std::int64_t to, bool add) {
  if (!source.is_known(from)) c.fail_poison(0, source, from);
  if (add && !target.is_known(to))
    c.fail("Atomic::add adds to an element that holds nothing (element " + index_of(target.dims, to).text() + " of " + target.dims.text() + ")",
           "declare the tensor InOut, or store to it first");
  const auto i = static_cast<std::size_t>(to), j = static_cast<std::size_t>(from);
  const bool was_known = target.is_known(to);
  const Number before = target.number(to);
  if (is_float(target.dtype) && !add && source.dtype == target.dtype) {
    target.floats[i] = source.floats[j];  // every bit: it may be an index
  } else if (is_float(target.dtype)) {
    const float x = rounded(target.dtype, static_cast<double>(source.floats[j]));
    target.floats[i] = add ? rounded(target.dtype, static_cast<double>(target.floats[i]) + static_cast<double>(x)) : x;
  } else {
    target.integers[i] = add ? wrapped(target.dtype, sum(target.integers[i], source.integers[j])) : source.integers[j];
  }
  target.known[i] = 1;
  if (add) c.engine.note_add(c.id, target, to);
  else c.engine.note_write(c.id, target, to, was_known, before);
}
inline void store(Call& c) {
  const Data* const own = &c.in(0);
  const Data copy = own == &c.engine.memory(c.id, c.operand(1)) ? c.in(0) : Data();  // a tensor stored into itself
  Data& target = c.engine.memory(c.id, c.operand(1));
  const Data& source = own == &target ? copy : *own;
  const int rank = target.dims.rank;
  const bool flat = !c.attr_list(AttrKey::window).empty(), add = c.attr(AttrKey::atomic_add) != 0;
  const Box box = covered_box(c, source.dims, rank), offsets = c.integers(2, rank), valid = c.valid(0);
  const std::int64_t rows = flat && source.dims.rank > 1 ? valid[source.dims.rank - 2] : std::int64_t{1};
  // The box to walk; of a flattened tile the first `rows` rows count.
  Box walk = box;
  if (flat) walk[rank - 1] = std::min(box.last(), valid.last());
  else
    for (int i = 0; i < valid.rank; ++i) walk[rank - valid.rank + i] = valid[i];
  const Box in_tile = strides_in_tile(box, source.dims), in_target = strides_of(target.dims);
  std::vector<Box> starts;
  Box reach{rank, {}};
  for_each_row(walk, [&](const Box& index) {
    if (flat && static_cast<std::int64_t>(starts.size()) == rows) return;
    starts.push_back(index);
    for (int i = 0; i < rank; ++i) reach[i] = std::max(reach[i], index[i] + 1);
  });
  if (!starts.empty()) reach[rank - 1] = walk.last();
  check_bounds(c, offsets, reach, target.dims);
  const std::int64_t start = dot(in_target, offsets);
  c.moves(1, start, 0);
  for (const Box& index : starts) {
    const std::int64_t from = dot(in_tile, index), to = start + dot(in_target, index);
    for (std::int64_t k = 0; k < walk.last(); ++k) store_element(c, source, from + k, target, to + k, add);
    c.moves(1, to, walk.last(), true, add);
  }
  count_write(c, target.dtype, static_cast<std::int64_t>(starts.size()) * walk.last());
}

/// The valid part of the source replaces part of the target.
inline void assemble(Call& c) {
  Data r = c.in(0);
  const Data& source = c.in(1);
  const int rank = r.dims.rank;
  const Box offsets = c.integers(2, rank);
  const Box extents = c.valid(1);
  check_bounds(c, offsets, extents, r.dims);
  const Box from = strides_of(source.dims), to = strides_of(r.dims);
  const std::int64_t start = dot(to, offsets);
  for_each_row(extents,
               [&](const Box& index) { r.copy(start + dot(to, index), source, dot(from, index), extents.last()); });
  c.result(std::move(r));
}

/// The position of the element that operands `first`.. name.
[[nodiscard]] inline std::int64_t element_position(const Call& c, int first, const Box& dims) {
  const Box index = c.integers(first, dims.rank);
  for (int i = 0; i < dims.rank; ++i)
    if (index[i] < 0 || index[i] >= dims[i])
      c.fail(rule::index_out_of_bounds,
             "axis " + std::to_string(i) + ": index " + std::to_string(index[i]) + ", dim " + std::to_string(dims[i]) + c.engine.thread_text());
  return dot(strides_of(dims), index);
}
inline void read(Call& c) {
  const Data& x = c.addressed(0);
  const std::int64_t at = element_position(c, 1, x.dims);
  if (!x.is_known(at)) c.fail_poison(0, x, at);
  note_reads(c, x, at, 1);
  c.moves(0, at, 1);
  if (c.engine.is_memory(c.operand(0))) count_read(c, x.dtype, 1);
  c.result(x.number(at));
}
inline void write(Call& c) {
  if (c.type(0).is_tile()) {
    Data r = c.in(0);
    r.set(element_position(c, 2, r.dims), c.number(1));
    return c.result(std::move(r));
  }
  Data& target = c.engine.memory(c.id, c.operand(0));
  const std::int64_t at = element_position(c, 2, target.dims);
  const bool was_known = target.is_known(at);
  const Number before = target.number(at);
  target.set(at, c.number(1));
  c.engine.note_write(c.id, target, at, was_known, before);
  c.moves(0, at, 1, true);
  count_write(c, target.dtype, 1);
}

}  // namespace tessera::simulator
