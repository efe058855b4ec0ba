// The instruction forms: for each PtoForm a function that writes one operation. The table at the end is the only place
// that tells them apart.
#pragma once

#include "../../ir/printer.hpp"
#include "../../ops/indexed.hpp"
#include "control.hpp"
#include "gather_rows.hpp"
#include "memory.hpp"
#include "scalars.hpp"
#include "simt.hpp"

namespace tessera::pto {

/// The operands of an instruction and their types, ready to be written. `inside` stands behind the last operand.
inline void write_ins(Module& m, const Name* names, const std::string_view* types, int count,
                      std::string_view inside = {}) {
  m.put(" ins(");
  for (int i = 0; i < count; ++i) m.put(i == 0 ? "" : ", ", names[i]);
  m.put(inside, " : ");
  for (int i = 0; i < count; ++i) m.put(i == 0 ? "" : ", ", types[i]);
  m.put(')');
}

/// Whether the rows of a tile follow each other in storage, so that the assembler sees it with other shapes.
inline bool is_contiguous(const Module& m, const Tile& t) {
  if (t.kind != Tile::Kind::window) return true;
  const TileKey& k = m.types.key(t.type);
  return k.layout == Layout::nd && k.cols == t.row_stride;
}

// The tile of an operand.
inline Tile usable(Module& m, OpId o, ValueId v, int operand) {
  const Tile t = m.tile(v);
  if (t.kind == Tile::Kind::part)
    refuse(m, o, "a part of a Mat tile can only be moved to Left or Right", "load the part from the tensor");
  if (!wants_packed(m.f.info(o), operand) || is_contiguous(m, t)) return t;
  return copy_window(m, o, t, v, m.key(v), {}, {}, extents_of(m, v));
}

/// `pto.X ins(operands) outs(result)`, with attributes inside `ins` and behind `outs`.
inline void write_instruction(Module& m, OpId o, std::string_view inside, std::string_view behind,
                              Pad pad = Pad::null) {
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
      names[i] = m.scalar(v);
    } else {
      const Tile t = usable(m, o, v, i);
      names[i] = t.name;
      tile_types[i] = t.type;
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
  const Type& first = m.f.type(m.f.operand(o, op.typed_by));
  const DType d = first.is_tile() ? first.dtype : m.f.type(m.f.result(o)).dtype;
  if (!m.dialect.has_newer_dtypes && op.since_0_60[static_cast<int>(m.options.arch)].contains(d))
    refuse(m, o,
           "assembler " + std::string(m.dialect.version) + " does not have it for " + std::string(info(d).name) + " on " +
               std::string(tessera::name(m.options.arch)),
           "emit for assembler 0.60");
  if (!m.dialect.scratch_is_optional && m.f.operand_count(o) <= scratch_operand(op))
    refuse(m, o, "assembler " + std::string(m.dialect.version) + " wants a scratch tile", "emit for assembler 0.60");
  if (m.f.attr(o, AttrKey::high_precision) == 0) return write_instruction(m, o, {}, {});
  if (!m.dialect.states_precision)
    refuse(m, o, "assembler " + std::string(m.dialect.version) + " has no instructions of high precision", "emit for assembler 0.60");
  write_instruction(m, o, {}, " {precisionType = #pto<" + std::string(op.precision) + " high_precision>}");
}

inline void copy(Module& m, OpId o, const Tile& from, const Tile& to, DType d) {
  check_copy(m, o, d);
  if (!extracts_in_vec(d)) return put_copy(m, o, from, to);
  if (!m.dialect.inserts_in_vec && m.options.arch == Arch::a3)
    refuse(m, o, "assembler " + std::string(m.dialect.version) + " copies no window of a wider tile", "emit for assembler 0.60, or load the part from the tensor");
  const Name zero = m.index_constant(0);
  m.line(o, "pto.tinsert ins(", from, ", ", zero, ", ", zero, " : ", m.type(from), ", index, index) outs(", to, " : ",
         m.type(to), ')');
}

inline void emit_cast(Module& m, OpId o) {
  constexpr std::string_view words[] = {"NONE", "RINT", "ROUND", "FLOOR", "CEIL", "TRUNC", "ODD"};
  const ValueId x = m.f.operand(o, 0), v = m.f.result(o);
  // Rounding::none means to nearest; the library's NONE drops the fraction. A float is clamped to the range of an integer;
  // without saturation the library keeps the low bits, which is meant from integer to integer.
  const bool from_float = is_float(m.f.type(x).dtype), clamps = from_float && !is_float(m.f.type(v).dtype);
  const Attr* rounding = m.f.find_attr(o, AttrKey::rounding);
  std::string inside;
  if (rounding != nullptr || clamps) {
    std::size_t mode = rounding != nullptr ? static_cast<std::size_t>(rounding->integer) : 0;
    if (mode == 0 && from_float) mode = 1;
    inside.append(" {rmode = #pto<round_mode ").append(words[mode]).append(">");
    inside.append(clamps ? ", satmode = #pto<saturation_mode ON>}" : "}");
  }
  // The assembler wants equal columns, and rows of different element types are padded to different ones. A reshaped tile
  // has no window that leaves padding out: then a tile of the other's columns comes between.
  const Tile from = usable(m, o, x, 0), to = destination(m, o, v);
  const std::int64_t from_cols = m.types.key(from.type).cols, to_cols = m.types.key(to.type).cols;
  const bool direct = from_cols == to_cols || (from_cols > to_cols ? from : to).kind != Tile::Kind::reshaped;
  TileKey k = m.key(v);
  k.cols = std::max(from_cols, to_cols);
  const Tile made = direct ? to : allocate_temporary(m, o, k, extents_of(m, v), v);
  const Tile a = direct ? narrowed(m, o, from, x, std::min(from_cols, to_cols)) : from;
  const Tile b = narrowed(m, o, made, v, m.types.key(a.type).cols);
  m.line(o, "pto.", m.f.info(o).pto, " ins(", a, inside, " : ", m.type(a), ") outs(", b, " : ", m.type(b), ')');
  if (!direct) copy(m, o, narrowed(m, o, made, v, to_cols), to, k.dtype);
}

/// A copy of an operand with rows of `cols` elements.
inline Tile with_rows_of(Module& m, OpId o, const Tile& of, ValueId v, std::int64_t cols) {
  if (!m.dialect.inserts_in_vec)
    refuse(m, o, "assembler " + std::string(m.dialect.version) + " cannot pad rows for the mask (" + std::to_string(cols) + " columns)",
           "use rows of a multiple of 32 elements");
  TileKey k = m.types.key(of.type);
  const std::int64_t own = k.cols;
  check_copy(m, o, k.dtype);
  k.cols = cols;
  const Tile wide = allocate_temporary(m, o, k, extents_of(m, v), v);
  if (extracts_in_vec(k.dtype)) copy(m, o, of, wide, k.dtype);
  else put_copy(m, o, of, narrowed(m, o, wide, v, own));
  return wide;
}

/// On a5 the assembler wants both tiles and the mask in one shape, as they are stored.
inline void emit_mask(Module& m, OpId o) {
  const std::string_view word = tessera::name(static_cast<Compare>(m.f.attr(o, AttrKey::compare)));
  const std::string inside = " {cmpMode = #pto<cmp " + std::string(word) + ">}";
  if (m.options.arch == Arch::a3 || !m.f.type(m.f.operand(o, 1)).is_tile()) return write_instruction(m, o, inside, {});
  const std::int64_t cols = m.key(m.f.result(o)).cols;
  const auto operand = [&](int i) {
    const ValueId x = m.f.operand(o, i);
    const Tile t = usable(m, o, x, i);
    return m.types.key(t.type).cols == cols && t.row_stride == cols ? t : with_rows_of(m, o, t, x, cols);
  };
  const Tile a = operand(0), b = operand(1), to = destination(m, o, m.f.result(o));
  m.line(o, "pto.", m.f.info(o).pto, " ins(", a, ", ", b, inside, " : ", m.type(a), ", ", m.type(b), ") outs(", to, " : ", m.type(to), ')');
}

/// Where positions are counted.
inline void emit_arg_reduce(Module& m, OpId o) {
  const Function& f = m.f;
  if (!m.dialect.scratch_is_larger && f.operand_count(o) > 1) {
    const ValueId x = f.operand(o, 0), scratch = f.operand(o, 1);
    if (m.valid_rows(x) != m.valid_rows(scratch) || m.valid_cols(x) != m.valid_cols(scratch))
      refuse(m, o, "assembler " + std::string(m.dialect.version) + " wants a fully valid operand with rows of 64 bytes",
             "emit for assembler 0.60");
  }
  emit_ins_outs(m, o);
}

/// A sorted list in a tile of its own: of a window the assembler counts the columns of the whole.
inline Tile list_of(Module& m, OpId o, ValueId v) {
  const Tile t = m.tile(v);
  return t.kind == Tile::Kind::window ? copy_window(m, o, t, v, m.key(v), {}, {}, extents_of(m, v)) : t;
}
/// Blocks of one row, with their length, or lists with scratch; then the instruction also tells how many pairs of each list it
/// took, which is all of them.
inline void emit_merge(Module& m, OpId o) {
  const Function& f = m.f;
  const int lists = f.info(o).lists;
  if (lists == 1) {
    const Tile x = list_of(m, o, f.operand(o, 0));
    const Name block = m.scalar(f.operand(o, 1));
    const Tile d = destination(m, o, f.result(o));
    m.line(o, "pto.", f.info(o).pto, " ins(", x, ", ", block, " : ", m.type(x), ", i32) outs(", d, " : ", m.type(d), ')');
    return;
  }
  if (f.operand_count(o) != lists + 1) contradict(m, o, "a merge has no scratch");
  Tile tiles[5];
  for (int i = 0; i < lists; ++i) tiles[i] = list_of(m, o, f.operand(o, i));
  tiles[lists] = m.tile(f.operand(o, lists));
  const Tile d = destination(m, o, f.result(o));
  const Name taken = m.no_counts();
  m.begin();
  m.put("pto.", f.info(o).pto, " ins(");
  for (int i = 0; i <= lists; ++i) m.put(i == 0 ? "" : ", ", tiles[i]);
  m.put(" {exhausted = false} : ");
  for (int i = 0; i <= lists; ++i) m.put(i == 0 ? "" : ", ", m.type(tiles[i]));
  m.put(") outs(", d, ", ", taken, " : ", m.type(d), ", vector<4xi16>)");
  m.end(o);
}

inline void emit_sequence(Module& m, OpId o) {
  const bool descending = m.f.attr(o, AttrKey::descending) != 0;
  if (descending && !m.dialect.sequence_descends)
    refuse(m, o, "assembler " + std::string(m.dialect.version) + " has no descending sequence",
           "emit for assembler 0.60");
  const Name start = with_sign(m, m.f.operand(o, 0));
  const DType dtype = m.f.type(m.f.operand(o, 0)).dtype;
  const std::string_view d = info(dtype).pto_name;
  const Tile t = destination(m, o, m.f.result(o));
  // At level 3 the assembler adds no scratch; a3 wants some, in elements of 32 bits.
  if (m.options.level == 3 && m.options.arch == Arch::a3 && m.dialect.sequence_has_scratch) {
    const std::int64_t cols = info(dtype).bits == 16 ? 448 : 192;
    const Tile scratch = allocate_temporary(m, o, {i32, Vec, Layout::nd, Pad::null, 1, cols, 1, cols}, {}, m.f.result(o));
    m.line(o, "pto.", m.f.info(o).pto, " ins(", start, ", ", scratch, " : ", d, ", ", m.type(scratch), ") outs(", t, " : ", m.type(t), ')',
           descending ? " {descending = true}" : "");
    return;
  }
  m.line(o, "pto.", m.f.info(o).pto, " ins(", start, " : ", d, ") outs(", t, " : ", m.type(t), ')',
         descending ? " {descending = true}" : "");
}

/// Ten rounds are not stated.
inline void emit_random(Module& m, OpId o) {
  const std::int64_t rounds = m.f.attr(o, AttrKey::rounds, 10);
  write_instruction(m, o, rounds == 10 ? std::string() : " {rounds = " + std::to_string(rounds) + " : i32}", {});
}

/// Positions and patterns are about storage, so that a window of wider rows is copied.
inline Tile gapless(Module& m, OpId o, int operand) {
  const ValueId v = m.f.operand(o, operand);
  const Tile t = usable(m, o, v, operand);
  return is_contiguous(m, t) ? t : copy_window(m, o, t, v, m.key(v), {}, {}, extents_of(m, v));
}
inline std::string pattern_text(const Module& m, OpId o) {
  const auto word = tessera::name(static_cast<MaskPattern>(m.f.attr(o, AttrKey::pattern, static_cast<std::int64_t>(MaskPattern::P1111))));
  return ", {maskPattern = #pto.mask_pattern<" + std::string(word) + ">} : ";
}
inline void emit_pattern(Module& m, OpId o) {
  const Tile x = gapless(m, o, 0), to = destination(m, o, m.f.result(o));
  m.line(o, "pto.", m.f.info(o).pto, " ins(", x, pattern_text(m, o), m.type(x), m.dialect.patterns_have_axis ? ", \"row\")" : ")", " outs(",
         to, " : ", m.type(to), ')');
}
/// Operands: x, a number, the offset, scratch, and the tile of the other result.
inline void emit_matches(Module& m, OpId o) {
  const Function& f = m.f;
  if (f.operand_count(o) != 5) contradict(m, o, "the instruction has no scratch");
  const ValueId number = f.operand(o, 1);
  const Name k = m.scalar(number);
  const Tile x = gapless(m, o, 0), scratch = m.tile(f.operand(o, 3)), other = m.tile(f.operand(o, 4)), made = destination(m, o, f.result(o));
  const bool finds = f.is(o, ops::find_positions);
  const Tile &positions = finds ? made : other, &counts = finds ? other : made;
  const bool by_gt = static_cast<Compare>(f.attr(o, AttrKey::compare)) == Compare::gt;
  m.line(o, "pto.", f.info(o).pto, " ins(", x, ", ", k, ", ", scratch, " : ", m.type(x), ", ", signless(f.type(number).dtype), ", ", m.type(scratch),
         ") outs(", positions, ", ", counts, " : ", m.type(positions), ", ", m.type(counts), ") {cmpMode = #pto<cmp ", by_gt ? "gt" : "eq",
         ">, offset = ", f[f.operand(o, 2)].integer, " : i32}");
}
inline void emit_scatter(Module& m, OpId o) {
  const bool by_pattern = m.f.operand_count(o) == 2;
  if (by_pattern && !m.dialect.patterns_have_axis)
    refuse(m, o, "assembler " + std::string(m.dialect.version) + " scatters by an index only", "emit for assembler 0.60");
  const Tile source = gapless(m, o, 1), index = by_pattern ? source : gapless(m, o, 2), to = destination(m, o, m.f.result(o));
  if (!is_contiguous(m, to)) refuse(m, o, "the target is a window of wider rows", "scatter to a tile of its own, and assemble that");
  if (by_pattern) m.line(o, "pto.", m.f.info(o).pto, " ins(", source, pattern_text(m, o), m.type(source), ", \"row\") outs(", to, " : ", m.type(to), ')');
  else m.line(o, "pto.", m.f.info(o).pto, " ins(", source, ", ", index, " : ", m.type(source), ", ", m.type(index), ") outs(", to, " : ", m.type(to), ')');
}

inline void emit_fill_pad(Module& m, OpId o) {
  const Pad pad = static_cast<Pad>(m.f.attr(o, AttrKey::pad, static_cast<std::int64_t>(Pad::zero)));
  if (m.f.is(o, ops::fillpad_expand) && !m.dialect.fillpad_grows)
    refuse(m, o, "assembler " + std::string(m.dialect.version) + " does not fill a larger tile", "emit for assembler 0.60");
  write_instruction(m, o, {}, {}, pad);
}

inline void emit_matmul(Module& m, OpId o) {
  if (m.f.attr(o, AttrKey::transpose_lhs) != 0 || m.f.attr(o, AttrKey::transpose_rhs) != 0)
    contradict(m, o, "an operand is still to be transposed");
  write_instruction(m, o, {}, {});
}

/// Storage of undefined content.
inline void emit_create(Module& m, OpId o) {
  if (m.f.result_count(o) != 1 || !m.f.type(m.f.result(o)).is_tile())
    contradict(m, o, "the operation has no instruction");
  const ValueId v = m.f.result(o);
  if (m.f[v].buffer == v.index) m.bind(v, allocate_buffer(m, o, m.key(v), extents_of(m, v), v));
  else share(m, o, v);
}

// --- other looks at a tile ---

inline Index offset(Module& m, OpId o, int first, int axis) { return m.index(m.f.operand(o, first + axis)); }

inline void check_view(const Module& m, OpId o) {
  if (m.f[m.f.result(o)].buffer != m.f[m.f.operand(o, 0)].buffer)
    contradict(m, o, "a view is not in the buffer of its source");
}

inline void emit_subview(Module& m, OpId o) {
  const ValueId x = m.f.operand(o, 0), v = m.f.result(o);
  check_view(m, o);
  const int rank = m.f.type(v).rank;
  Index row = rank == 2 ? offset(m, o, 1, 0) : Index{}, col = offset(m, o, 1, rank - 1);
  Tile of = m.tile(x);
  if (m.f.type(x).space != Mat) return m.bind(v, window(m, o, of, v, m.key(v), row, col, extents_of(m, v)));
  if (of.kind == Tile::Kind::part) row = m.add(m.part(of).row, row), col = m.add(m.part(of).col, col);
  of.kind = Tile::Kind::part;
  of.part = m.add_part({{}, row, col});
  m.bind(v, of);
}

/// Another valid extent is another look: the tile keeps its own extents for its other readers.
inline void emit_set_valid(Module& m, OpId o) {
  const ValueId x = m.f.operand(o, 0), v = m.f.result(o);
  check_view(m, o);
  const Tile of = m.tile(x);
  if (of.kind == Tile::Kind::part || m.alike(v, of.like)) m.same_tile(v, x);
  else m.bind(v, look(m, o, of, v, m.key(v)));
}

inline void emit_reshape(Module& m, OpId o) {
  const ValueId x = m.f.operand(o, 0), v = m.f.result(o);
  check_view(m, o);
  const TileKey k = m.key(v);
  Tile of = m.tile(x);
  if (m.alike(v, of.like)) return m.same_tile(v, x);
  if (k.space != Vec)
    refuse(m, o, "a tile in " + std::string(info(k.space).name) + " cannot be reshaped in place",
           "reshape the tensor before it is loaded, or reshape in Vec");
  const bool at_run_time = k.valid_rows < 0 || k.valid_cols < 0;
  if (!is_contiguous(m, of) || (of.kind == Tile::Kind::window && at_run_time)) {
    if (m.f.type(x).layout == Layout::dn) of = row_of(m, o, of, x, m.key(x), extents_of(m, x), Lasts::with_result);
    else of = copy_window(m, o, of, x, m.key(x), {}, {}, extents_of(m, x), Lasts::with_result);
    if (m.types.key(of.type) == k) return m.bind(v, of);
  }
  m.bind(v, restate(m, o, of, v, k, extents_of(m, v)));
}

/// A part of a Mat tile is read by the instruction that moves it.
inline void emit_move(Module& m, OpId o) {
  const ValueId x = m.f.operand(o, 0);
  const Tile of = m.tile(x);
  const TileKey k = m.types.key(of.type);
  if (of.kind == Tile::Kind::window && k.layout == Layout::nd && of.row_stride != k.cols) {
    // For a move within Vec the assembler sees the shape of the whole.
    const Tile to = destination(m, o, m.f.result(o));
    return copy(m, o, of, to, k.dtype);
  }
  if (of.kind != Tile::Kind::part) return write_instruction(m, o, {}, {});
  const Name r = m.name(m.part(of).row), c = m.name(m.part(of).col);
  const ValueId v = m.f.result(o);
  if (m.f.type(v).space != Left && m.f.type(v).space != Right)
    refuse(m, o, "a part of a Mat tile goes to Left or Right only (" + std::string(info(m.f.type(v).space).name) + ")",
           "load the part from the tensor");
  const Tile to = destination(m, o, v);
  m.line(o, "pto.textract ins(", of, ", ", r, ", ", c, " : ", m.type(of), ", index, index) outs(", to, " : ",
         m.type(to), ')');
}

/// The load made the tile in the transposed type already (see emit_load).
inline void emit_transposed_view(Module& m, OpId o) {
  const ValueId x = m.f.operand(o, 0), v = m.f.result(o);
  check_view(m, o);
  if (m.tile(x).kind == Tile::Kind::part || !m.alike(v, m.tile(x).like))
    refuse(m, o, "only a tile that is loaded for it, and read in no other way, can be read transposed",
           "load it twice, or transpose it in Vec; gather rows with Form::transposed");
  m.same_tile(v, x);
}

/// Writes a tile into a window of another one's storage.
inline void emit_insert(Module& m, OpId o) {
  const ValueId source = m.f.operand(o, 1), v = m.f.result(o);
  const MemorySpace from_space = m.f.type(source).space, to_space = m.f.type(v).space;
  const OperandInfo known[2] = {{m.f.type(m.f.operand(o, 0))}, {m.f.type(source)}};
  const InferInput asked{known, 2};
  if (!check_spaces(m.f.info(o), asked).lawful() ||
      !check_target(m.f.info(o), asked, m.f.type(v), m.options.arch).lawful())
    refuse(m, o,
           "no instruction of " + std::string(tessera::name(m.options.arch)) + " writes " +
               std::string(info(from_space).name) + " into a window of " + std::string(info(to_space).name),
           "move<Vec>(...) both tiles first");
  Tile target = destination(m, o, v), from = m.tile(source);
  const int rank = m.f.type(v).rank;
  Index row = rank == 2 ? offset(m, o, 2, 0) : Index{}, col = offset(m, o, 2, rank - 1);
  if (m.f.type(v).layout == Layout::dn) {  // columns are written as rows
    target = whole_row(m, o, target, v, col);
    col = m.add(col, row);
    row = {};
    from = row_of(m, o, from, source, m.key(source), extents_of(m, source));
  }
  if (m.dialect.inserts_in_vec && extracts_in_vec(m.f.type(v).dtype)) {
    const Name r = m.name(row), c = m.name(col);
    m.line(o, "pto.", m.f.info(o).pto, " ins(", from, ", ", r, ", ", c, " : ", m.type(from), ", index, index) outs(",
           target, " : ", m.type(target), ')');
    return;
  }
  if (target.kind == Tile::Kind::reshaped)
    refuse(m, o,
           "no instruction of assembler " + std::string(m.dialect.version) +
               " writes into a window of a column or a reshaped tile (" + std::string(info(m.f.type(v).dtype).name) +
               ")",
           "assemble before the reshape");
  if (m.dialect.inserts_in_vec) check_copy(m, o, m.f.type(v).dtype);
  const Tile to = window(m, o, target, source, m.key(source), row, col, extents_of(m, source));
  if (m.dialect.inserts_in_vec) put_copy(m, o, from, to);
  else m.line(o, "pto.tmov ins(", from, " : ", m.type(from), ") outs(", to, " : ", m.type(to), ')');
}

using Form = void (*)(Module&, OpId);
/// By PtoForm.
inline constexpr Form form_table[] = {emit_create,     emit_ins_outs,
                                      emit_cast,       emit_mask,
                                      emit_arg_reduce, emit_merge,
                                      emit_ins_outs /* fill */,
                                      emit_sequence,   emit_load,
                                      emit_store,      emit_move,
                                      emit_matmul,     emit_matmul /* acc */,
                                      emit_subview,    emit_insert,
                                      emit_reshape,    emit_transposed_view,
                                      emit_fill_pad,   emit_set_valid,
                                      emit_read,       emit_write,
                                      emit_pattern,    emit_random,
                                      emit_matches,    emit_scatter,
                                      emit_arith,      emit_control,
                                      emit_block_index, emit_gather_row,
                                      emit_sync,
                                      [](Module&, OpId) {} /* memory_view */,
                                      emit_thread_index, emit_atomic,
                                      [](Module& m, OpId o) { m.line(o, "pto.", m.f.info(o).pto); } /* sync_threads */,
                                      emit_launch,
                                      [](Module& m, OpId o) { contradict(m, o, "the operation has no instruction"); } /* expanded */};
static_assert(std::size(form_table) == static_cast<std::size_t>(PtoForm::expanded) + 1);

inline void emit_block(Module& m, BlockId b) {
  m.deeper();
  for (OpId o = m.f[b].first; o; o = m.f.next(o)) form_table[static_cast<std::size_t>(m.f.info(o).form)](m, o);
  m.shallower();
}

}  // namespace tessera::pto
