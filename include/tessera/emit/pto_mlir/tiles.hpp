// Storage of tiles in the text: where an operation's result is written.
#pragma once

#include "module.hpp"

namespace tessera::pto {

[[noreturn]] inline void refuse(const Module& m, OpId o, const std::string& what, const std::string& hint) {
  refuse(m.f, o, what, hint);
}
[[noreturn]] inline void contradict(const Module& m, OpId o, const std::string& what) {
  const Location& at = m.f[o].location;
  throw InternalError("emit_pto_mlir: " + std::string(m.f.info(o).name) + " at " + at.file + ":" +
                      std::to_string(at.line) + ": " + what);
}

/// The valid extents of a tile in the text.
struct Extents {
  Extent rows, cols;
};
[[nodiscard]] inline Extents extents_of(const Module& m, ValueId v) { return {m.valid_rows(v), m.valid_cols(v)}; }

/// Allocates storage where the lines go; `like`: the IR value that it is for.
inline Tile allocate_here(Module& m, const TileKey& k, const Extents& valid, ValueId like, std::optional<std::int64_t> address) {
  const Name at = m.address(address);
  Name rows, cols;
  if (k.valid_rows < 0) rows = m.name(m.index(valid.rows));
  if (k.valid_cols < 0) cols = m.name(m.index(valid.cols));
  const Tile t{m.fresh(like), m.types.find(k), like, k.cols};
  m.begin();
  m.put(t, " = pto.alloc_tile");
  if (address) m.put(" addr = ", at);
  if (k.valid_rows < 0) m.put(" valid_row = ", rows);
  if (k.valid_cols < 0) m.put(" valid_col = ", cols);
  m.put(" : ", m.type(t));
  m.end();
  return t;
}
/// Allocates storage of a type, at level 3 at an address. A function gets it from who calls it.
inline Tile allocate(Module& m, const TileKey& k, const Extents& valid, ValueId like, std::optional<std::int64_t> address) {
  FunctionScope* const s = m.scope();
  if (s == nullptr) return allocate_here(m, k, valid, like, address);
  for (const Extent& e : {valid.rows, valid.cols})
    if (!e.is_constant() && m.is_inside(e.value) && (k.valid_rows < 0 || k.valid_cols < 0))
      refuse(m.f, s->body, "the valid extents of a tile are computed in the body", "compute them in the kernel, or let its body take the place of calls: --tileop inline");
  Tile t;
  m.outside([&] { t = allocate_here(m, k, valid, like, address); });
  const Name outside = std::exchange(t.name, m.function_word(*s, "tmp" + std::to_string(++s->storage)));
  t.kind = Tile::Kind::reshaped;  // the assembler takes no window of a parameter
  s->parameters.push_back({t.name, outside, true, t.type, {}, no_index, ArgEffect::write});
  return t;
}
/// Storage of the buffer that `owner` owns.
inline Tile allocate_buffer(Module& m, OpId o, const TileKey& k, const Extents& valid, ValueId owner) {
  if (m.options.level < 3) return allocate(m, k, valid, owner, {});
  if (bytes_of(k.dtype, k.rows * k.cols) > m.addresses.room_of_buffer(owner)) contradict(m, o, "the tile is larger than its planned bytes");
  return allocate(m, k, valid, owner, m.addresses.of_buffer(owner));
}
/// Storage that the passes do not know: a copy, or scratch.
inline Tile allocate_temporary(Module& m, OpId o, const TileKey& k, const Extents& valid, ValueId like, Lasts lasts = Lasts::one_operation) {
  if (m.options.level < 3) return allocate(m, k, valid, like, {});
  const std::int64_t bytes = bytes_of(k.dtype, k.rows * k.cols);
  const OpId while_runs = m.scope() != nullptr ? m.scope()->body : o;
  const std::optional<std::int64_t> at = m.addresses.for_temporary(while_runs, m.scope() != nullptr ? Lasts::one_operation : lasts, k.space, bytes);
  const bool pipelined = std::any_of(m.f.loops.begin(), m.f.loops.end(), [](const LoopNote& n) { return n.turns > 1; });
  if (!at)
    refuse(m, o,
           "the instruction needs storage beside its operands, and " + std::string(info(k.space).name) + " has no room for it (" +
               std::to_string(bytes) + " bytes)",
           pipelined ? "make tiles smaller, or leave the loops as they are written: range(...).pipelined(1), --no-pipelining"
                     : "make tiles smaller; a window that is an operand may be copied first, a whole tile is not");
  return allocate(m, k, valid, like, at);
}

/// Whether textract and tinsert move elements of this type within Vec. Wider integers are copied as the larger of x and x.
[[nodiscard]] constexpr bool extracts_in_vec(DType d) { return !is_integer(d) || info(d).bits <= 8; }
inline void check_copy(const Module& m, OpId o, DType d) {
  if (is_integer(d) && info(d).bits > 32)
    refuse(m, o, "no instruction copies a window of 64-bit integers (" + std::string(info(d).name) + ")",
           "load the part from the tensor");
}
inline void put_copy(Module& m, OpId o, const Tile& from, const Tile& to) {
  m.line(o, "pto.tmax ins(", from, ", ", from, " : ", m.type(from), ", ", m.type(from), ") outs(", to, " : ",
         m.type(to), ')');
}

Tile window(Module& m, OpId o, const Tile& of, ValueId v, const TileKey& k, const Index& row, const Index& col,
            const Extents& valid);
Tile restate(Module& m, OpId o, const Tile& of, ValueId v, TileKey k, const Extents& valid);
Tile copy_of_column(Module& m, OpId o, const Tile& of, ValueId v, const TileKey& k, const Index& row,
                    const Extents& valid, Lasts lasts);

/// A copy of a window in storage of its own: what a window cannot be used for, the copy can.
inline Tile copy_window(Module& m, OpId o, const Tile& of, ValueId v, const TileKey& k, const Index& row,
                        const Index& col, const Extents& valid, Lasts lasts = Lasts::one_operation) {
  if (!m.dialect.inserts_in_vec && m.options.arch == Arch::a3)
    refuse(m, o, "assembler " + std::string(m.dialect.version) + " does not copy a window in Vec on a3",
           "emit for assembler 0.60");
  check_copy(m, o, k.dtype);
  const auto extract = [&](const Tile& from, const TileKey& as) {
    const Name r = m.name(row), c = m.name(col);
    Tile t = allocate_temporary(m, o, as, valid, v, lasts);
    t.copied = true;
    m.line(o, "pto.textract ins(", from, ", ", r, ", ", c, " : ", m.type(from), ", index, index) outs(", t, " : ",
           m.type(t), ')');
    return t;
  };
  if (extracts_in_vec(k.dtype)) return extract(of, k);
  if (of.kind != Tile::Kind::reshaped) {
    const Tile from = window(m, o, of, v, k, row, col, valid);
    Tile t = allocate_temporary(m, o, k, valid, v, lasts);
    t.copied = true;
    put_copy(m, o, from, t);
    return t;
  }
  // As floats of equal width.
  TileKey whole = m.types.key(of.type), part = k;
  whole.dtype = part.dtype = info(k.dtype).bits == 16 ? f16 : f32;
  whole.valid_rows = whole.rows;
  whole.valid_cols = whole.cols;
  return restate(m, o, extract(restate(m, o, of, v, whole, valid), part), v, k, valid);
}

/// A window of a tile as a tile of its own, for `v`.
inline Tile window(Module& m, OpId o, const Tile& of, ValueId v, const TileKey& k, const Index& row, const Index& col,
                   const Extents& valid) {
  if (of.kind == Tile::Kind::reshaped && k.layout == Layout::nd) return copy_window(m, o, of, v, k, row, col, valid, Lasts::with_result);
  if (of.kind == Tile::Kind::reshaped) return copy_of_column(m, o, of, v, k, row, valid, Lasts::with_result);
  const bool partial = k.valid_rows != k.rows || k.valid_cols != k.cols;
  if (partial && !m.dialect.subview_states_valid)
    refuse(m, o, "assembler " + std::string(m.dialect.version) + " has no window of a tile with valid extents",
           "emit for assembler 0.60");
  if (!m.dialect.subview_states_valid && !col.is_constant && k.cols != m.types.key(of.type).cols)
    refuse(m, o, "assembler " + std::string(m.dialect.version) + " has no window of a tile at a column that is known at run time only",
           "emit for assembler 0.60");
  const Name r = m.name(row), c = m.name(col);
  Name vr, vc;
  if (partial) vr = m.name(m.index(valid.rows)), vc = m.name(m.index(valid.cols));
  TileKey own = k;
  if (own.pad == Pad::null) own.pad = m.types.key(of.type).pad;  // the assembler wants that of the whole
  Tile t{m.fresh(v), m.types.find(own), v, of.row_stride, Tile::Kind::window, of.copied};
  if (k.layout == Layout::dn)
    t.part = m.add_part(of.part != 0 ? Part{m.part(of).of, m.add(m.part(of).row, row), {}} : Part{of, row, {}});
  m.begin();
  m.put(t, " = ", m.dialect.subview, ' ', of, '[', r, ", ", c, "] sizes [", k.rows, ", ", k.cols, ']');
  if (partial) m.put(" valid [", vr, ", ", vc, ']');
  m.put(" : ", m.type(of));
  if (m.dialect.subview_states_valid) m.put(" -> ", m.type(t));
  m.end(o);
  return t;
}

/// The storage of a tile seen with another type of equal size. treshape drops extents that are known only at run time:
/// they are set behind it.
inline Tile restate(Module& m, OpId o, const Tile& of, ValueId v, TileKey k, const Extents& valid) {
  const bool at_run_time = k.valid_rows < 0 || k.valid_cols < 0;
  if (at_run_time && m.scope() != nullptr)
    refuse(m, o, "the assembler sets no run-time extents of a parameter of a function (" + std::to_string(k.rows) + "x" + std::to_string(k.cols) + ")",
           "let the body of the tile operation take the place of calls, --tileop inline");
  if (at_run_time) k.valid_rows = k.valid_cols = -1;
  const Tile t{m.fresh(v), m.types.find(k), v, k.cols, Tile::Kind::reshaped, of.copied, 0, of.kind == Tile::Kind::window || of.of_window};
  Name rows, cols;
  if (at_run_time) rows = m.name(m.index(valid.rows)), cols = m.name(m.index(valid.cols));
  m.note_value_of_section();
  m.line(o, t, " = pto.treshape ", of, " : ", m.type(of), " -> ", m.type(t));
  if (at_run_time) m.line("pto.set_validshape ", t, ", ", rows, ", ", cols, " : ", m.type(t));
  return t;
}

/// The same rows with less padding: some instructions want equal dims of tiles whose rows are padded differently.
inline Tile narrowed(Module& m, OpId o, const Tile& of, ValueId v, std::int64_t cols) {
  TileKey k = m.types.key(of.type);
  if (k.cols == cols) return of;
  if (of.kind == Tile::Kind::reshaped || !m.dialect.subview_states_valid)
    refuse(m, o,
           "assembler " + std::string(m.dialect.version) + " cannot leave out the padding of a row (" +
               std::to_string(cols) + " of " + std::to_string(k.cols) + " columns)",
           "use rows of a multiple of 32 bytes in both element types");
  k.cols = cols;
  return window(m, o, of, v, k, {}, {}, extents_of(m, v));
}

[[nodiscard]] inline TileKey as_row(TileKey column) {
  std::swap(column.rows, column.cols);
  std::swap(column.valid_rows, column.valid_cols);
  column.layout = Layout::nd;
  return column;
}
/// All of the column that a tile is (a window of), as a row; `start`: where the tile starts in it.
inline Tile whole_row(Module& m, OpId o, const Tile& column, ValueId v, Index& start) {
  const Tile of = column.part != 0 ? m.part(column).of : column;
  if (column.part != 0) start = m.part(column).row;
  TileKey row = as_row(m.types.key(of.type));
  row.valid_rows = row.rows;
  row.valid_cols = row.cols;
  return restate(m, o, of, v, row, {});
}
/// A column as a row; a window of a column is copied.
inline Tile row_of(Module& m, OpId o, const Tile& column, ValueId v, const TileKey& k, const Extents& valid,
                   Lasts lasts = Lasts::one_operation) {
  if (column.part == 0) return restate(m, o, column, v, as_row(k), {valid.cols, valid.rows});
  Index start;
  const Tile row = whole_row(m, o, column, v, start);
  return copy_window(m, o, row, v, as_row(k), {}, start, {valid.cols, valid.rows}, lasts);
}

/// A copy of a window of a reshaped column, made as a row.
inline Tile copy_of_column(Module& m, OpId o, const Tile& of, ValueId v, const TileKey& k, const Index& row,
                           const Extents& valid, Lasts lasts) {
  Index start;
  const Tile all = whole_row(m, o, of, v, start);
  return restate(m, o, copy_window(m, o, all, v, as_row(k), {}, row, {valid.cols, valid.rows}, lasts), v, k, valid);
}

/// A whole tile with other valid extents or another padding.
inline Tile look(Module& m, OpId o, const Tile& of, ValueId v, const TileKey& k) {
  const bool same_pad = k.pad == m.types.key(of.type).pad;
  const bool copies = of.of_window && (k.valid_rows < 0 || k.valid_cols < 0);
  const bool by_window =
      copies || of.kind == Tile::Kind::window || (of.kind == Tile::Kind::storage && same_pad && m.dialect.subview_states_valid);
  return by_window ? window(m, o, of, v, k, {}, {}, extents_of(m, v)) : restate(m, o, of, v, k, extents_of(m, v));
}

/// Storage of `v` in a buffer that another value owns: the owner's tile, or another look at it.
inline Tile share(Module& m, OpId o, ValueId v, Pad pad = Pad::null) {
  if (m.f[v].buffer == no_index) contradict(m, o, "the result has no buffer");
  const ValueId owner{m.f[v].buffer};
  const Tile of = m.tile(owner);
  const TileKey k = m.key(v, pad), owned = m.types.key(of.type);
  if (m.alike(v, of.like) && (pad == Pad::null || owned.pad == pad)) {
    m.same_tile(v, owner);
    return of;
  }
  if (bytes_of(owned.dtype, owned.rows * owned.cols) != bytes_of(k.dtype, k.rows * k.cols))
    contradict(m, o, "the result has another type than the buffer that it shares");
  const bool same_shape = owned.rows == k.rows && owned.cols == k.cols && owned.layout == k.layout && owned.dtype == k.dtype;
  const Tile t = same_shape ? look(m, o, of, v, k) : restate(m, o, of, v, k, extents_of(m, v));
  m.bind(v, t);
  return t;
}

/// The tile into which an operation writes its result `v`: new storage, or that of the value that owns the buffer.
inline Tile destination(Module& m, OpId o, ValueId v, Pad pad = Pad::null) {
  const int in_place = m.f.info(o).in_place;
  if (in_place >= 0) {
    const ValueId target = m.f.operand(o, in_place);
    if (m.f[target].buffer == no_index || m.f[target].buffer != m.f[v].buffer)
      contradict(m, o, "the result is not in the buffer of the operand that it updates");
    if (m.tile(target).copied)
      refuse(m, o, "a part of a reshaped tile cannot be written", "write into the tile before it is reshaped");
    m.same_tile(v, target);
    return m.tile(target);
  }
  if (m.f[v].buffer != v.index) return share(m, o, v, pad);
  const Tile t = allocate_buffer(m, o, m.key(v, pad), extents_of(m, v), v);
  m.bind(v, t);
  return t;
}

}  // namespace tessera::pto
