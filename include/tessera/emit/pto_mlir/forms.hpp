// The instruction forms: for each PtoForm a function that writes one operation. The table at the end is the only place
// that tells them apart.
#pragma once

#include "../pto_mlir/control.hpp"
#include "../pto_mlir/memory.hpp"
#include "../pto_mlir/scalars.hpp"

namespace tessera::pto {

/// The operands of an instruction and their types, ready to be written. `inside` stands behind the last operand.
inline void write_ins(Module& m, const Name* names, const std::string_view* types, int count, std::string_view inside = {}) {
  m.put(" ins(");
  for (int i = 0; i < count; ++i) m.put(i == 0 ? "" : ", ", names[i]);
  m.put(inside, " : ");
  for (int i = 0; i < count; ++i) m.put(i == 0 ? "" : ", ", types[i]);
  m.put(')');
}

// An unsigned scalar has no form that the assembler takes in an instruction on tiles.
inline Name instruction_scalar(Module& m, OpId o, ValueId v) {
  const DType d = m.f.type(v).dtype;
  if (is_unsigned(d))
    refuse(m, o, "an unsigned scalar is no operand of an instruction on tiles (" + std::string(info(d).name) + ")",
           "cast the tile and the scalar to a signed type, or fill a tile with the scalar");
  return m.scalar(v);
}

/// `pto.X ins(operands) outs(result)`, with attributes inside `ins` and behind `outs`.
inline void write_instruction(Module& m, OpId o, std::string_view inside, std::string_view behind, Pad pad = Pad::null) {
  constexpr int most = 8;
  const Function& f = m.f;
  const int count = f.operand_count(o);
  if (count > most) contradict(m, o, "too many operands");
  Name names[most];
  std::string_view types[most];
  std::uint32_t tile_types[most];
  for (int i = 0; i < count; ++i) {
    const ValueId v = f.operand(o, i);
    if (!f.type(v).is_tile()) {
      if (!f.type(v).is_scalar()) contradict(m, o, "an operand is not a tile");
      names[i] = instruction_scalar(m, o, v);
    } else {
      names[i] = m.tile(v).name;
      tile_types[i] = m.tile(v).type;
    }
  }
  const Tile d = destination(m, o, f.result(o), pad);
  // Texts are looked up last: a new type may move them.
  for (int i = 0; i < count; ++i) {
    const ValueId v = f.operand(o, i);
    types[i] = f.type(v).is_tile() ? m.types.text(tile_types[i]) : signless(f.type(v).dtype);
  }
  m.begin();
  m.put("pto.", f.info(o).pto);
  write_ins(m, names, types, count, inside);
  m.put(" outs(", d, " : ", m.type(d), ')', behind);
  m.end(o);
}

inline void emit_ins_outs(Module& m, OpId o) {
  const OpInfo& op = m.f.info(o);
  if (!m.dialect.scratch_is_optional && op.scratch != ScratchRule::none) {
    const ValueId last = m.f.operand(o, m.f.operand_count(o) - 1);
    if (m.f.operand_count(o) < 2 || !m.f.type(last).is_tile())
      refuse(m, o, "assembler " + std::string(m.dialect.version) + " wants a scratch tile", "emit for assembler 0.60");
  }
  write_instruction(m, o, {}, {});
}

inline void emit_cast(Module& m, OpId o) {
  constexpr std::string_view words[] = {"NONE", "RINT", "ROUND", "FLOOR", "CEIL", "TRUNC", "ODD"};
  const Attr* rounding = m.f.find_attr(o, AttrKey::rounding);
  std::string inside;
  if (rounding != nullptr)
    inside.append(" {rmode = #pto<round_mode ").append(words[static_cast<std::size_t>(rounding->integer)]).append(">}");
  write_instruction(m, o, inside, {});
}

inline void emit_sequence(Module& m, OpId o) {
  const bool descending = m.f.attr(o, AttrKey::descending) != 0;
  if (descending && !m.dialect.sequence_descends)
    refuse(m, o, "assembler " + std::string(m.dialect.version) + " has no descending sequence", "emit for assembler 0.60");
  const Name start = with_sign(m, m.f.operand(o, 0));
  const std::string_view d = info(m.f.type(m.f.operand(o, 0)).dtype).pto_name;
  const Tile t = destination(m, o, m.f.result(o));
  m.line(o, "pto.", m.f.info(o).pto, " ins(", start, " : ", d, ") outs(", t, " : ", m.type(t), ')', descending ? " {descending = true}" : "");
}

inline void emit_fill_pad(Module& m, OpId o) {
  const Pad pad = static_cast<Pad>(m.f.attr(o, AttrKey::pad, static_cast<std::int64_t>(Pad::zero)));
  write_instruction(m, o, {}, {}, pad);
}

inline void emit_matmul(Module& m, OpId o) {
  if (m.f.attr(o, AttrKey::transpose_lhs) != 0 || m.f.attr(o, AttrKey::transpose_rhs) != 0)
    contradict(m, o, "an operand is still to be transposed");
  write_instruction(m, o, {}, {});
}

/// Storage of undefined content.
inline void emit_create(Module& m, OpId o) {
  if (m.f.result_count(o) != 1 || !m.f.type(m.f.result(o)).is_tile()) contradict(m, o, "the operation has no instruction");
  const ValueId v = m.f.result(o);
  if (m.f[v].buffer == v.index) allocate(m, o, v);
  else share(m, o, v);
}

// --- other looks at a tile ---

inline Index offset(Module& m, OpId o, int first, int axis) { return m.index(m.f.operand(o, first + axis)); }

inline void check_view(const Module& m, OpId o) {
  if (m.f[m.f.result(o)].buffer != m.f[m.f.operand(o, 0)].buffer) contradict(m, o, "a view is not in the buffer of its source");
}

inline void emit_subview(Module& m, OpId o) {
  const ValueId x = m.f.operand(o, 0), v = m.f.result(o);
  check_view(m, o);
  const int rank = m.f.type(v).rank;
  const Index row = rank == 2 ? offset(m, o, 1, 0) : Index{}, col = offset(m, o, 1, rank - 1);
  m.bind(v, window(m, o, m.tile(x), v, m.key(v), row, col, m.valid_rows(v), m.valid_cols(v)));
}

/// Another valid extent is a window of the whole tile: the tile keeps its own extents for its other readers.
inline void emit_set_valid(Module& m, OpId o) {
  const ValueId x = m.f.operand(o, 0), v = m.f.result(o);
  check_view(m, o);
  if (m.alike(v, m.tile(x).like)) m.same_tile(v, x);
  else m.bind(v, window(m, o, m.tile(x), v, m.key(v), {}, {}, m.valid_rows(v), m.valid_cols(v)));
}

inline void emit_reshape(Module& m, OpId o) {
  const ValueId x = m.f.operand(o, 0), v = m.f.result(o);
  check_view(m, o);
  const TileKey k = m.key(v);
  const Tile of = m.tile(x);
  if (m.alike(v, of.like)) return m.same_tile(v, x);
  if (k.space != Vec)
    refuse(m, o, "a tile in " + std::string(info(k.space).name) + " cannot be reshaped in place", "reshape the tensor before it is loaded, or reshape in Vec");
  if (of.row_stride != m.types.key(of.type).cols && m.types.key(of.type).rows != 1)
    refuse(m, o, "a window of a tile is not contiguous and cannot be reshaped", "copy it first: move<Vec>(...)");
  check_shape(m, o, k);
  const Tile t{m.fresh(v), m.types.find(k), v, k.cols};
  m.begin();
  m.put(t, " = pto.treshape ", of, " : ", m.type(of), " -> ", m.type(t));
  m.end(o);
  m.bind(v, t);
}

/// The load made the tile in the transposed type already (see emit_load).
inline void emit_transposed_view(Module& m, OpId o) {
  const ValueId x = m.f.operand(o, 0), v = m.f.result(o);
  check_view(m, o);
  if (!m.alike(v, m.tile(x).like))
    refuse(m, o, "only a tile that is loaded for it, and read in no other way, can be read transposed", "load it twice, or transpose it in Vec");
  m.same_tile(v, x);
}

/// Writes a tile into a window of another one's storage: one instruction out of Acc, a copy into the window in Vec.
inline void emit_insert(Module& m, OpId o) {
  const ValueId source = m.f.operand(o, 1), v = m.f.result(o);
  const Tile target = destination(m, o, v), from = m.tile(source);
  const int rank = m.f.type(v).rank;
  const Index row = rank == 2 ? offset(m, o, 2, 0) : Index{}, col = offset(m, o, 2, rank - 1);
  if (m.f.type(v).space != m.f.type(source).space) {
    const Name r = m.name(row), c = m.name(col);
    m.line(o, "pto.", m.f.info(o).pto, " ins(", from, ", ", r, ", ", c, " : ", m.type(from), ", index, index) outs(", target, " : ", m.type(target), ')');
    return;
  }
  TileKey k = m.key(source);
  k.layout = m.f.type(v).layout;
  const Tile to = window(m, o, target, source, k, row, col, m.valid_rows(source), m.valid_cols(source));
  m.line(o, "pto.tmov ins(", from, " : ", m.type(from), ") outs(", to, " : ", m.type(to), ')');
}

inline void emit_nothing(Module& m, OpId o) { contradict(m, o, "no form"); }

using Form = void (*)(Module&, OpId);
/// By PtoForm.
inline constexpr Form form_table[] = {
    emit_create, emit_ins_outs, emit_cast, emit_ins_outs /* fill */, emit_sequence, emit_load, emit_store,
    emit_ins_outs /* move */, emit_matmul, emit_matmul /* acc */, emit_subview, emit_insert, emit_reshape,
    emit_transposed_view, emit_fill_pad, emit_set_valid, emit_read, emit_write, emit_arith, emit_control, emit_block_index};
static_assert(std::size(form_table) == static_cast<std::size_t>(PtoForm::block_index) + 1);

inline void emit_block(Module& m, BlockId b) {
  m.deeper();
  for (OpId o = m.f[b].first; o; o = m.f.next(o)) form_table[static_cast<std::size_t>(m.f.info(o).form)](m, o);
  m.shallower();
}

}  // namespace tessera::pto
