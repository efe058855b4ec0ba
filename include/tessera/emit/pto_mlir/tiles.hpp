// Storage of tiles in the text: where an operation's result is written, and the checks of what can be allocated.
#pragma once

#include "../pto_mlir/module.hpp"

namespace tessera::pto {

[[noreturn]] inline void refuse(const Module& m, OpId o, const std::string& what, const std::string& hint) {
  fail(m.f[o].location, std::string(m.f.info(o).name) + ": " + what, hint);
}
[[noreturn]] inline void contradict(const Module& m, OpId o, const std::string& what) {
  const Location& at = m.f[o].location;
  throw InternalError("emit_pto_mlir: " + std::string(m.f.info(o).name) + " at " + at.file + ":" + std::to_string(at.line) + ": " + what);
}

/// Storage is made of 32-byte rows (of columns in dn) or of boxes; other shapes cannot be allocated.
inline void check_shape(const Module& m, OpId o, const TileKey& k) {
  const std::int64_t per_block = 256 / info(k.dtype).bits;  // elements in 32 bytes
  const bool boxed = k.layout == Layout::nz || k.layout == Layout::zn;
  if (!boxed) {
    const std::int64_t run = k.layout == Layout::dn ? k.rows : k.cols;
    if (run % per_block == 0) return;
    refuse(m, o, std::string(k.layout == Layout::dn ? "a column" : "a row") + " of the tile is not a multiple of 32 bytes (" + std::to_string(run) + " x " +
                     std::string(info(k.dtype).name) + ", " + std::to_string(per_block) + " elements are 32 bytes)",
           "use a wider tile and valid(...) extents");
  }
  const std::int64_t rows = k.layout == Layout::zn && k.space != Acc ? per_block : 16;
  const std::int64_t cols = k.layout == Layout::nz && k.space != Acc ? per_block : 16;
  if (k.cols % cols == 0 && (k.rows % rows == 0 || k.rows == 1 || k.space == Vec)) return;
  refuse(m, o, "a tile in " + std::string(info(k.space).name) + " is not made of whole boxes (" + std::to_string(k.rows) + " x " + std::to_string(k.cols) +
                   ", boxes are " + std::to_string(rows) + " x " + std::to_string(cols) + ")",
         "use a shape that is a multiple of the box, with valid(...) extents for the rest");
}

/// Allocates storage for a result and makes it the tile of `v`.
inline Tile allocate(Module& m, OpId o, ValueId v, Pad pad = Pad::null) {
  const TileKey k = m.key(v, pad);
  check_shape(m, o, k);
  const Extent r = m.valid_rows(v), c = m.valid_cols(v);
  Name rows, cols;
  if (k.valid_rows < 0) rows = m.name(m.index(r));
  if (k.valid_cols < 0) cols = m.name(m.index(c));
  const Tile t{m.fresh(v), m.types.find(k), v, k.cols};
  m.begin();
  m.put(t, " = pto.alloc_tile");
  if (k.valid_rows < 0) m.put(" valid_row = ", rows);
  if (k.valid_cols < 0) m.put(" valid_col = ", cols);
  m.put(" : ", m.type(t));
  m.end();
  m.bind(v, t);
  return t;
}

/// A window of a tile as a tile of its own, named `v`: rows and columns of the window, valid extents of the key.
inline Tile window(Module& m, OpId o, const Tile& of, ValueId v, const TileKey& k, const Index& row, const Index& col, const Extent& valid_rows,
                   const Extent& valid_cols) {
  const bool partial = k.valid_rows != k.rows || k.valid_cols != k.cols;
  if (partial && !m.dialect.subview_states_valid)
    refuse(m, o, "assembler " + std::string(m.dialect.version) + " has no window of a tile with valid extents", "emit for assembler 0.60");
  const Name r = m.name(row), c = m.name(col);
  Name vr, vc;
  if (partial) vr = m.name(m.index(valid_rows)), vc = m.name(m.index(valid_cols));
  const Tile t{m.fresh(v), m.types.find(k), v, of.row_stride};
  m.begin();
  m.put(t, " = ", m.dialect.subview, ' ', of, '[', r, ", ", c, "] sizes [", k.rows, ", ", k.cols, ']');
  if (partial) m.put(" valid [", vr, ", ", vc, ']');
  m.put(" : ", m.type(of));
  if (m.dialect.subview_states_valid) m.put(" -> ", m.type(t));
  m.end(o);
  return t;
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
  if (owned.dtype != k.dtype || owned.rows != k.rows || owned.cols != k.cols || owned.layout != k.layout || owned.pad != pad)
    contradict(m, o, "the result has another type than the buffer that it shares");
  const Tile t = window(m, o, of, v, k, {}, {}, m.valid_rows(v), m.valid_cols(v));
  m.bind(v, t);
  return t;
}

/// The tile into which an operation writes its result `v`: new storage, or that of the value that owns the buffer.
inline Tile destination(Module& m, OpId o, ValueId v, Pad pad = Pad::null) {
  const int in_place = m.f.info(o).in_place;
  if (in_place < 0) return m.f[v].buffer == v.index ? allocate(m, o, v, pad) : share(m, o, v, pad);
  const ValueId target = m.f.operand(o, in_place);
  if (m.f[target].buffer == no_index || m.f[target].buffer != m.f[v].buffer)
    contradict(m, o, "the result is not in the buffer of the operand that it updates");
  m.same_tile(v, target);
  return m.tile(target);
}

}  // namespace tessera::pto
