// The instruction forms: for each PtoForm a function that writes one operation. The table at the end is the only place that
// tells them apart; an instruction is called as the descriptor says, in capitals.
#pragma once

#include "../../ir/printer.hpp"
#include "../../ops/indexed.hpp"
#include "control.hpp"
#include "memory.hpp"

namespace tessera::cpp {

/// `tmatmul.acc`: TMATMUL_ACC
[[nodiscard]] inline std::string instruction_name(const Writer& w, OpId o) {
  std::string name(w.f.info(o).pto);
  for (char& c : name) c = c == '.' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}
/// The operands as they stand in the text, behind a comma each.
inline std::string operands_text(Writer& w, OpId o, int first = 0) {
  std::string text;
  for (int i = first; i < w.f.operand_count(o); ++i) {
    const ValueId v = w.f.operand(o, i);
    text.append(", ").append(w.f.type(v).is_tile() ? operand(w, o, i).name : w.scalar(v));
  }
  return text;
}
/// `TX<inside>(result, operands behind);`
inline void write_instruction(Writer& w, OpId o, std::string_view inside = {}, std::string_view behind = {}, Pad pad = Pad::null) {
  const std::string operands = operands_text(w, o);
  const TileVar d = destination(w, o, w.f.result(o), pad);
  w.instruction(o, instruction_name(w, o), inside, "(", d.name, operands, behind, ");");
}

/// `exp_precision`: ExpAlgorithm
inline std::string algorithm(std::string_view precision) {
  std::string name(precision.substr(0, precision.find('_')));
  name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name + "Algorithm";
}
inline void emit_ins_outs(Writer& w, OpId o) {
  if (w.f.attr(o, AttrKey::high_precision) == 0) return write_instruction(w, o);
  write_instruction(w, o, "<" + algorithm(w.f.info(o).precision) + "::HIGH_PRECISION>");
}

/// The library takes both values and the result in one type: what differs in its extents only is seen in that of the result.
inline void emit_select(Writer& w, OpId o) {
  const Function& f = w.f;
  if (f.operand_count(o) != 4) contradict(w, o, "a select has no scratch");
  const TileVar mask = operand(w, o, 0), scratch = operand(w, o, 3);
  const TileVar d = destination(w, o, f.result(o));
  std::string names[2];
  for (int i = 1; i < 3; ++i) {
    const TileVar x = operand(w, o, i);
    if (x.key.cols != d.key.cols)
      refuse(f, o, "the instruction wants both values and the result with equal rows (" + std::to_string(x.key.cols) + ", " + std::to_string(d.key.cols) + " columns)",
             "copy the window first, move<Vec>(...), or emit the kernel as .pto");
    names[i - 1] = x.key == d.key ? x.name : declare(w, x.name, d.key, extents_of(w, f.result(o)), x.address, f.result(o), d.columns).name;
  }
  w.instruction(o, "TSEL(", d.name, ", ", mask.name, ", ", names[0], ", ", names[1], ", ", scratch.name, ");");
}
inline void emit_plain(Writer& w, OpId o) { w.f.is(o, ops::select) ? emit_select(w, o) : emit_ins_outs(w, o); }

/// Without saturation the library keeps the low bits, which is meant from integer to integer; CAST_NONE drops the fraction, while
/// Rounding::none means to nearest.
inline void emit_cast(Writer& w, OpId o) {
  constexpr std::string_view words[] = {"NONE", "RINT", "ROUND", "FLOOR", "CEIL", "TRUNC", "ODD"};
  const bool from_float = is_float(w.f.type(w.f.operand(o, 0)).dtype), clamps = from_float && !is_float(w.f.type(w.f.result(o)).dtype);
  std::size_t mode = static_cast<std::size_t>(w.f.attr(o, AttrKey::rounding, 0));
  if (mode == 0 && (from_float || is_float(w.f.type(w.f.result(o)).dtype))) mode = 1;
  write_instruction(w, o, {}, ", RoundMode::CAST_" + std::string(words[mode]) + (clamps ? ", SaturationMode::ON" : ", SaturationMode::OFF"));
}

inline void emit_mask(Writer& w, OpId o) {
  constexpr std::string_view words[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  write_instruction(w, o, {}, ", CmpMode::" + std::string(words[static_cast<std::size_t>(w.f.attr(o, AttrKey::compare))]));
}

/// Lists with scratch in front; the instruction also tells how many pairs of each it took, which is all of them.
inline void emit_merge(Writer& w, OpId o) {
  const Function& f = w.f;
  const int lists = f.info(o).lists;
  if (lists == 1) return write_instruction(w, o);
  if (f.operand_count(o) != lists + 1) contradict(w, o, "a merge has no scratch");
  std::string types, names;
  for (int i = lists, n = 0; n <= lists; i = n++) {
    const std::string name = operand(w, o, i).name;
    types.append(", decltype(").append(name).append(")");
    names.append(", ").append(name);
  }
  const TileVar d = destination(w, o, f.result(o));
  const std::string taken = w.names.unique("taken");
  w.line("MrgSortExecutedNumList ", taken, " = {};");
  w.instruction(o, instruction_name(w, o), "<decltype(", d.name, ")", types, ", false>(", d.name, ", ", taken, names, ");");
}

/// With scratch the vector unit does it, without it the scalar unit; the simulator has the latter form only. The scratch stands
/// where the library has its own on a3; a5 does not touch it.
inline void emit_sequence(Writer& w, OpId o) {
  const std::string start = w.scalar(w.f.operand(o, 0));
  const DType d = w.f.type(w.f.operand(o, 0)).dtype;
  const TileVar t = destination(w, o, w.f.result(o));
  const std::string scratch = w.names.unique(t.name + "_scratch"), name = instruction_name(w, o), type(type_name(d));
  const std::string_view order = w.f.attr(o, AttrKey::descending) != 0 ? ", 1>(" : ", 0>(";
  w.directive("#if defined(__CPU_SIM)");
  w.line(name, "<decltype(", t.name, "), ", type, order, t.name, ", ", start, ");");
  w.directive("#else");
  w.line("Tile<TileType::Vec, float, 1, ", info(d).bits == 16 ? "448" : "192", "> ", scratch, ";");
  w.line("TASSIGN(", scratch, ", TMP_UB_OFFSET);");
  w.instruction(o, name, "<decltype(", t.name, "), decltype(", scratch, "), ", type, order, t.name, ", ", start, ", ", scratch, ");");
  w.directive("#endif");
}

inline void emit_random(Writer& w, OpId o) {
  const Function& f = w.f;
  const std::string key = w.names.unique("key"), counter = w.names.unique("counter");
  std::string words[2];
  for (int i = 0; i < f.operand_count(o); ++i) {
    std::string& list = words[i < 2 ? 0 : 1];
    list.append(list.empty() ? "" : ", ").append(converted("uint32_t", w.scalar(f.operand(o, i))));
  }
  const TileVar d = destination(w, o, f.result(o));
  w.line("TRandomKey ", key, " = {", words[0], "};");
  w.line("TRandomCounter ", counter, " = {", words[1], "};");
  w.instruction(o, instruction_name(w, o), "<", std::to_string(f.attr(o, AttrKey::rounds, 10)), ">(", d.name, ", ", key, ", ", counter, ");");
}

/// Positions and patterns are about storage, whatever the columns of a window are.
inline TileVar gapless(Writer& w, OpId o, int i) {
  const TileVar t = operand(w, o, i);
  if (!is_contiguous(t))
    refuse(w.f, o, "positions are counted in rows that follow each other (operand " + std::to_string(i) + ": " + std::to_string(t.columns) + " of " +
                       std::to_string(t.key.cols) + " columns)",
           "copy the window first, move<Vec>(...), or emit the kernel as .pto");
  return t;
}
inline std::string pattern_text(const Writer& w, OpId o) {
  return "MaskPattern::" + std::string(name(static_cast<MaskPattern>(w.f.attr(o, AttrKey::pattern, static_cast<std::int64_t>(MaskPattern::P1111)))));
}
inline void emit_pattern(Writer& w, OpId o) {
  const TileVar x = gapless(w, o, 0), d = destination(w, o, w.f.result(o));
  w.instruction(o, instruction_name(w, o), "<decltype(", d.name, "), decltype(", x.name, "), ", pattern_text(w, o), ">(", d.name, ", ", x.name, ");");
}
inline void emit_matches(Writer& w, OpId o) {
  refuse(w.f, o, "the tile library takes the number in a tile, and not as a scalar", "emit the kernel as .pto: the assembler makes that tile");
}
inline void emit_scatter(Writer& w, OpId o) {
  const TileVar source = gapless(w, o, 1);
  const bool by_pattern = w.f.operand_count(o) == 2;
  const std::string index = by_pattern ? std::string() : gapless(w, o, 2).name;
  const TileVar d = destination(w, o, w.f.result(o));
  if (!is_contiguous(d)) refuse(w.f, o, "the target is a window of wider rows", "scatter to a tile of its own, and assemble that");
  if (by_pattern) w.instruction(o, instruction_name(w, o), "<", pattern_text(w, o), ", ScatterAxis::SCATTER_ROW>(", d.name, ", ", source.name, ");");
  else w.instruction(o, instruction_name(w, o), "(", d.name, ", ", source.name, ", ", index, ");");
}

inline void emit_fill_pad(Writer& w, OpId o) {
  const Pad pad = static_cast<Pad>(w.f.attr(o, AttrKey::pad, static_cast<std::int64_t>(Pad::zero)));
  write_instruction(w, o, w.f.is(o, ops::fillpad_expand) ? "<TFillPadMode::Expand>" : "", {}, pad);
}

inline void emit_matmul(Writer& w, OpId o) {
  const Function& f = w.f;
  if (f.attr(o, AttrKey::transpose_lhs) != 0 || f.attr(o, AttrKey::transpose_rhs) != 0) contradict(w, o, "an operand is still to be transposed");
  write_instruction(w, o);
}

// --- other looks at a tile ---

inline void check_view(const Writer& w, OpId o) {
  if (w.f[w.f.result(o)].buffer != w.f[w.f.operand(o, 0)].buffer) contradict(w, o, "a view is not in the buffer of its source");
}
/// A window of a tile, as a tile of its own for `v`.
inline TileVar window(Writer& w, OpId o, const TileVar& of, ValueId v, const Expr& row, const Expr& col) {
  TileKey k = key_of(w, v);
  const std::int64_t columns = k.cols;
  if (k.layout == Layout::nd && k.rows > 1) k.cols = of.key.cols;
  const Expr at = k.layout == Layout::dn ? row : add(mul(row, number(of.key.cols)), col);
  const Expr bytes = mul(at, number(bytes_of(k.dtype, 1)));
  if (bytes.is_constant && bytes.constant % block_bytes != 0)
    refuse(w.f, o, "the window does not start at a whole block of 32 bytes (byte " + std::to_string(bytes.constant) + ")",
           "instructions begin at whole blocks: start the window at one");
  return declare(w, hint_of(w, v, of.name + "_window"), k, extents_of(w, v), add(of.address, bytes), v, columns);
}

inline void emit_subview(Writer& w, OpId o) {
  const ValueId x = w.f.operand(o, 0), v = w.f.result(o);
  check_view(w, o);
  const int rank = w.f.type(v).rank;
  const Expr row = rank == 2 ? w.index(w.f.operand(o, 1)) : number(0), col = w.index(w.f.operand(o, rank));
  TileVar of = w.tile(x);
  if (w.f.type(x).space == Vec) return w.bind(v, window(w, o, of, v, row, col));
  of.row = of.is_part ? add(of.row, row) : row;
  of.col = of.is_part ? add(of.col, col) : col;
  of.is_part = true;
  w.bind(v, of);
}

inline void emit_set_valid(Writer& w, OpId o) {
  const ValueId x = w.f.operand(o, 0), v = w.f.result(o);
  check_view(w, o);
  if (w.tile(x).is_part || w.alike(v, w.tile(x).like)) w.same_tile(v, x);
  else w.bind(v, look(w, v, w.tile(x)));
}

inline void emit_reshape(Writer& w, OpId o) {
  const ValueId x = w.f.operand(o, 0), v = w.f.result(o);
  check_view(w, o);
  const TileVar of = w.tile(x);
  const TileKey own = key_of(w, v);
  if (w.alike(v, of.like)) return w.same_tile(v, x);
  if (own.space != Vec)
    refuse(w.f, o, "a tile in " + std::string(info(own.space).name) + " cannot be reshaped in place",
           "reshape the tensor before it is loaded, or reshape in Vec");
  TileKey k = own;
  if (!is_contiguous(of)) {
    if (own.rows != of.key.rows || own.layout != Layout::nd)
      refuse(w.f, o, "a window of wider rows has no other shape (" + std::to_string(of.columns) + " of " + std::to_string(of.key.cols) + " columns)",
             "load the part from the tensor, or copy the window first: move<Vec>(...)");
    k.cols = of.key.cols * info(of.key.dtype).bits / info(k.dtype).bits;
  }
  w.bind(v, declare(w, hint_of(w, v, of.name), k, extents_of(w, v), of.address, v, own.cols));
}

/// In Mat a transposed tile has the same bytes: blocks of columns are its blocks of rows.
inline void emit_transposed_view(Writer& w, OpId o) {
  const ValueId x = w.f.operand(o, 0), v = w.f.result(o);
  check_view(w, o);
  TileVar of = w.tile(x);
  if (!of.is_part) return w.bind(v, look(w, v, of));
  refuse(w.f, o, "a part of a Mat tile cannot be read transposed", "load the part from the tensor");
}

/// Whether tinsert moves elements of this type within Vec. Wider integers are copied as the larger of x and x.
[[nodiscard]] constexpr bool inserts_in_vec(DType d) { return !is_integer(d) || info(d).bits <= 8; }
inline void copy(Writer& w, OpId o, const TileVar& from, const TileVar& to) {
  const DType d = to.key.dtype;
  if (is_integer(d) && info(d).bits > 32)
    refuse(w.f, o, "no instruction copies a window of 64-bit integers (" + std::string(info(d).name) + ")", "load the part from the tensor");
  if (inserts_in_vec(d)) w.instruction(o, "TINSERT(", to.name, ", ", from.name, ", 0, 0);");
  else w.instruction(o, "TMAX(", to.name, ", ", from.name, ", ", from.name, ");");
}
/// A part of a Mat tile is read by the instruction that moves it.
inline void emit_move(Writer& w, OpId o) {
  const TileVar of = w.tile(w.f.operand(o, 0));
  const ValueId v = w.f.result(o);
  const MemorySpace to = w.f.type(v).space;
  if (!of.is_part) {
    if (is_contiguous(of) || of.key.space != Vec || to != Vec) return write_instruction(w, o);
    return copy(w, o, of, destination(w, o, v));
  }
  if (to != Left && to != Right)
    refuse(w.f, o, "a part of a Mat tile goes to Left or Right only (" + std::string(info(to).name) + ")", "load the part from the tensor");
  const TileVar d = destination(w, o, v);
  w.instruction(o, "TEXTRACT(", d.name, ", ", of.name, ", ", of.row.text, ", ", of.col.text, ");");
}

/// A column as the row that it is in storage.
inline TileVar as_row(Writer& w, const TileVar& column, const Extents& valid) {
  TileKey k = column.key;
  std::swap(k.rows, k.cols);
  std::swap(k.valid_rows, k.valid_cols);
  k.layout = Layout::nd;
  return declare(w, column.name + "_row", k, {valid.cols, valid.rows}, column.address, column.like, k.cols);
}
/// Writes a tile into a window of another one's storage.
inline void emit_insert(Writer& w, OpId o) {
  const Function& f = w.f;
  const ValueId source = f.operand(o, 1), v = f.result(o);
  const MemorySpace from_space = f.type(source).space, to_space = f.type(v).space;
  const OperandInfo known[2] = {{f.type(f.operand(o, 0))}, {f.type(source)}};
  const InferInput asked{known, 2};
  if (!check_spaces(f.info(o), asked).lawful() || !check_target(f.info(o), asked, f.type(v), w.options.arch).lawful())
    refuse(f, o, "no instruction of " + std::string(name(w.options.arch)) + " writes " + std::string(info(from_space).name) + " into a window of " +
                     std::string(info(to_space).name),
           "move<Vec>(...) both tiles first");
  TileVar from = operand(w, o, 1), target = destination(w, o, v);
  const int rank = f.type(v).rank;
  Expr row = rank == 2 ? w.index(f.operand(o, 2)) : number(0), col = w.index(f.operand(o, 1 + rank));
  if (f.type(v).layout == Layout::dn) {  // columns are written as rows
    target = as_row(w, target, {number(target.key.rows), number(1)});
    from = as_row(w, from, extents_of(w, source));
    col = row;
    row = number(0);
  }
  if (inserts_in_vec(f.type(v).dtype)) {
    w.instruction(o, instruction_name(w, o), "(", target.name, ", ", from.name, ", ", row.text, ", ", col.text, ");");
    return;
  }
  TileKey k = from.key;
  if (k.rows > 1) k.cols = target.key.cols;
  const Expr at = mul(add(mul(row, number(target.key.cols)), col), number(bytes_of(k.dtype, 1)));
  const Extents valid = extents_of(w, source);
  const bool turned = f.type(v).layout == Layout::dn;
  copy(w, o, from, declare(w, target.name + "_window", k, turned ? Extents{valid.cols, valid.rows} : valid, add(target.address, at), source, from.columns));
}

using Form = void (*)(Writer&, OpId);
inline void emit_nothing(Writer&, OpId) {}
inline void emit_impossible(Writer& w, OpId o) { contradict(w, o, "the operation has no instruction"); }
/// By PtoForm.
inline constexpr Form form_table[] = {emit_create,
                                      emit_plain,
                                      emit_cast,
                                      emit_mask,
                                      emit_ins_outs /* arg_reduce */,
                                      emit_merge,
                                      emit_ins_outs /* fill */,
                                      emit_sequence,
                                      emit_load,
                                      emit_store,
                                      emit_move,
                                      emit_matmul,
                                      emit_matmul /* acc */,
                                      emit_subview,
                                      emit_insert,
                                      emit_reshape,
                                      emit_transposed_view,
                                      emit_fill_pad,
                                      emit_set_valid,
                                      emit_read,
                                      emit_write,
                                      emit_pattern,
                                      emit_random,
                                      emit_matches,
                                      emit_scatter,
                                      emit_arith,
                                      emit_control,
                                      emit_block_index,
                                      emit_gather_row,
                                      emit_sync,
                                      emit_nothing /* memory_view */,
                                      emit_impossible /* thread_index */,
                                      emit_impossible /* atomic */,
                                      emit_impossible /* sync_threads */,
                                      emit_impossible /* launch */,
                                      emit_impossible /* expanded */};
static_assert(std::size(form_table) == static_cast<std::size_t>(PtoForm::expanded) + 1);

inline void emit_block(Writer& w, BlockId b) {
  w.deeper();
  for (OpId o = w.f[b].first; o; o = w.f.next(o)) form_table[static_cast<std::size_t>(w.f.info(o).form)](w, o);
  w.shallower();
}

}  // namespace tessera::cpp
