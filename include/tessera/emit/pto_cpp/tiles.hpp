// Tiles in the text: every tile value is a variable of its own type at its own address; a view is one more variable.
#pragma once

#include "writer.hpp"

namespace tessera::cpp {

/// Valid extents in the text.
struct Extents {
  Expr rows, cols;
};
[[nodiscard]] inline Extents extents_of(const Writer& w, ValueId v) {
  if (w.f.type(v).dtype != boolean) return {w.index(w.valid_rows(v)), w.index(w.valid_cols(v))};
  return {w.index(w.valid_rows(v)), div(add(w.index(w.valid_cols(v)), number(7)), 8)};  // a mask: bytes of bits
}
/// The type of a value's own tile.
[[nodiscard]] inline TileKey key_of(const Writer& w, ValueId v, Pad pad = Pad::null) {
  TileKey k = pto::tile_key(w.f, v, w.options.arch, pad);
  if (w.f.type(v).dtype == boolean) {
    const Extents e = extents_of(w, v);
    k.valid_cols = e.cols.is_constant ? e.cols.constant : -1;
  }
  return k;
}

/// Declares a variable of type `key` at an address. The library has no static extent of 0: that one is stated at run time.
inline TileVar declare(Writer& w, std::string_view hint, TileKey key, const Extents& valid, Expr address, ValueId like, std::int64_t columns) {
  if (key.valid_rows == 0) key.valid_rows = -1;
  if (key.valid_cols == 0) key.valid_cols = -1;
  TileVar t{w.names.unique(hint), key, columns, std::move(address), like, false, {}, {}};
  std::string arguments;
  if (key.valid_rows < 0) arguments = valid.rows.text;
  if (key.valid_cols < 0) arguments.append(arguments.empty() ? "" : ", ").append(valid.cols.text);
  w.line(tile_type(key), " ", t.name, arguments.empty() ? "" : "(", arguments, arguments.empty() ? ";" : ");");
  w.line("TASSIGN(", t.name, ", ", t.address.text, ");");
  return t;
}
/// The name that the user gave a value, or one of the kind of thing that it is.
[[nodiscard]] inline std::string hint_of(const Writer& w, ValueId v, std::string_view otherwise) {
  return w.f[v].name != 0 ? std::string(std::string_view(w.f.name_of(v))) : std::string(otherwise);
}
inline TileVar declare_at(Writer& w, ValueId v, Expr address, Pad pad = Pad::null, std::string_view otherwise = "tile") {
  const TileKey k = key_of(w, v, pad);
  return declare(w, hint_of(w, v, otherwise), k, extents_of(w, v), std::move(address), v, k.cols);
}
[[nodiscard]] inline Expr address_of(const Writer& w, ValueId v) { return w.address(v); }

/// Whether the rows of a tile follow each other in storage.
[[nodiscard]] inline bool is_contiguous(const TileVar& t) { return t.key.layout != Layout::nd || t.key.rows == 1 || t.key.cols == t.columns; }

/// A variable that serves for a result: that of a buffer which several values share, or of a carried tile that is written anew.
[[nodiscard]] inline ValueId reused(const Writer& w, OpId o, ValueId v) {
  const Function& f = w.f;
  const ValueId owner{f[v].buffer};
  const auto serves = [&](ValueId x) { return w.has_tile(x) && f[x].buffer == f[v].buffer && w.alike(v, w.tile(x).like); };
  if (owner != v && serves(owner) && f.definition(owner) && f.is(f.definition(owner), ops::create)) return owner;
  for (int i = 0; i < f.operand_count(o); ++i)
    if (const ValueId x = f.operand(o, i); f.type(x).is_tile() && f[x].kind == ValueKind::argument && serves(x)) return x;
  return {};
}
/// The variable into which an operation writes its result `v`; `otherwise`: what it is called when nobody gave it a name.
inline TileVar destination(Writer& w, OpId o, ValueId v, Pad pad = Pad::null, std::string_view otherwise = {}) {
  const Function& f = w.f;
  if (otherwise.empty()) otherwise = f.info(o).name;
  if (const int in_place = f.info(o).in_place; in_place >= 0) {
    const ValueId target = f.operand(o, in_place);
    if (f[target].buffer == no_index || f[target].buffer != f[v].buffer)
      contradict(w, o, "the result is not in the buffer of the operand that it updates");
    const TileVar of = w.tile(target);
    if (of.is_part) contradict(w, o, "a part of a Mat tile is written");
    if (w.alike(v, of.like) || f.info(o).effect == Effect::reads_second) w.same_tile(v, target);
    else w.bind(v, declare(w, hint_of(w, v, otherwise), key_of(w, v), extents_of(w, v), of.address, v, of.columns));
    return w.tile(v);
  }
  if (f[v].buffer == no_index) contradict(w, o, "the result has no buffer");
  if (const ValueId x = pad == Pad::null ? reused(w, o, v) : ValueId{}) {
    w.same_tile(v, x);
    return w.tile(v);
  }
  w.bind(v, declare_at(w, v, address_of(w, v), pad, otherwise));
  return w.tile(v);
}

/// Storage of undefined content: a variable where an operation uses it, or others share it.
inline void emit_create(Writer& w, OpId o) {
  if (w.f.result_count(o) != 1 || !w.f.type(w.f.result(o)).is_tile()) contradict(w, o, "the operation has no instruction");
  const ValueId v = w.f.result(o);
  if (w.f.has_uses(v) || w.is_shared(v)) w.bind(v, declare_at(w, v, address_of(w, v), Pad::null, w.is_shared(v) ? "tile" : "scratch"));
}

/// The same storage as another value's, seen with the type and extents of `v`.
inline TileVar look(Writer& w, ValueId v, const TileVar& of, Pad pad = Pad::null) {
  TileKey k = key_of(w, v, pad);
  const std::int64_t columns = k.cols;
  if (!is_contiguous(of)) k.cols = of.key.cols;
  return declare(w, hint_of(w, v, of.name), k, extents_of(w, v), of.address, v, columns);
}

/// A tile that is carried stands where its initial value does.
inline void carry(Writer& w, OpId o, ValueId v, ValueId initial) {
  if (w.f[v].buffer != w.f[initial].buffer) contradict(w, o, "a carried tile leaves the buffer of its initial value");
  if (w.tile(initial).is_part || w.alike(v, w.tile(initial).like)) w.same_tile(v, initial);
  else w.bind(v, look(w, v, w.tile(initial)));
}

/// Whether an operand may be a window of wider rows: the library knows the distance of rows, but for scratch that is like it, and
/// where positions are counted.
[[nodiscard]] constexpr bool takes_windows(const OpInfo& op, int operand) {
  return !wants_packed(op, operand) || (op.form == PtoForm::ins_outs && op.scratch == ScratchRule::none);
}
/// The tile of an operand that is no part of a Mat tile.
inline TileVar operand(Writer& w, OpId o, int i) {
  const TileVar& t = w.tile(w.f.operand(o, i));
  if (t.is_part) refuse(w.f, o, "a part of a Mat tile can only be moved to Left or Right", "load the part from the tensor");
  if (!takes_windows(w.f.info(o), i) && !is_contiguous(t))
    refuse(w.f, o, "the instruction takes no window of wider rows (operand " + std::to_string(i) + ": " + std::to_string(t.columns) + " of " +
                       std::to_string(t.key.cols) + " columns)",
           "copy the window first, move<Vec>(...), or emit the kernel as .pto");
  return t;
}

}  // namespace tessera::cpp
