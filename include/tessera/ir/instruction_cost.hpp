// Modelled cycles of an instruction, from the types of its operands: what vector instructions cost is one table, moves cost their
// bytes, products their steps. An operation without a row costs what its kind does. The figures are those of the public tile
// library's pipe model of a3 (docs/cost-model.md); a5 is taken to have the same.
#pragma once

#include <algorithm>
#include <cstdint>

#include "accesses.hpp"

namespace tessera {

/// Of the core whose cycles are counted.
inline constexpr double clock_ghz = 1.85;

/// What an instruction takes of its pipe. Where a pipe overlaps its own instructions, one that follows another at once starts
/// `start_up` cycles before that is done; elsewhere both parts count in full.
struct InstructionCost {
  std::int64_t start_up = 0, work = 0;
  [[nodiscard]] constexpr std::int64_t cycles() const { return start_up + work; }
  friend constexpr bool operator==(const InstructionCost&, const InstructionCost&) = default;
};

namespace detail {

/// A vector instruction works in repeats of 256 bytes. `row` is for each row, in which case a repeat never spans two of them.
struct VectorCost {
  std::int64_t start_up = 24, row = 0, repeat = 2;
};
struct VectorRow {
  const OpInfo* op = nullptr;
  VectorCost cost;
};
inline constexpr std::int64_t repeat_bytes = 256;
/// More repeats than an instruction can state need a counted mask.
inline constexpr std::int64_t most_repeats = 255, counted_mask = 20;

/// Two operands of the element type: add, sub and whatever has no row of its own.
inline constexpr VectorCost any_vector{};
inline constexpr VectorCost row_reduction{46, 5, 2}, column_reduction{17, 16, 2};

inline constexpr VectorRow vector_rows[] = {
    // one operand, or one and a scalar
    {&ops::abs, {29, 0, 1}}, {&ops::neg, {26, 0, 1}}, {&ops::relu, {23, 0, 1}}, {&ops::lrelu, {26, 0, 1}}, {&ops::exp, {31, 0, 2}},
    {&ops::log, {33, 0, 2}}, {&ops::sqrt, {39, 0, 2}}, {&ops::rsqrt, {24, 0, 1}}, {&ops::recip, {55, 0, 5}}, {&ops::cast, {32, 0, 2}},
    {&ops::adds, {31, 0, 1}}, {&ops::subs, {31, 0, 1}}, {&ops::muls, {26, 0, 1}}, {&ops::divs, {55, 0, 5}}, {&ops::maximums, {23, 0, 1}},
    {&ops::minimums, {30, 0, 1}}, {&ops::full, {24, 0, 1}}, {&ops::bit_not, {20, 0, 2}},
    // two operands
    {&ops::mul, {25, 0, 2}}, {&ops::div, {30, 0, 4}}, {&ops::bit_and, {20, 0, 2}}, {&ops::bit_or, {20, 0, 2}}, {&ops::compare, {36, 0, 2}},
    {&ops::compares, {36, 0, 2}}, {&ops::fmod, {111, 0, 10}}, {&ops::fmods, {111, 0, 10}}, {&ops::select, {15, 32, 2}}, {&ops::transpose, {20, 0, 2}},
    // a column or a row beside a tile
    {&ops::row_expand, {24, 13, 1}}, {&ops::row_expand_add, {43, 0, 2}}, {&ops::row_expand_sub, {43, 0, 2}}, {&ops::row_expand_mul, {44, 0, 2}},
    {&ops::row_expand_div, {49, 0, 4}}, {&ops::row_expand_max, {43, 0, 2}}, {&ops::row_expand_min, {43, 0, 2}}, {&ops::row_expand_expdif, {75, 0, 4}},
    {&ops::col_expand_mul, {25, 0, 2}}, {&ops::col_expand_div, {30, 0, 4}}, {&ops::col_expand_expdif, {56, 0, 4}},
    // reductions beside those of their kind
    {&ops::row_max, {34, 5, 2}}, {&ops::row_min, {34, 5, 2}}, {&ops::col_sum, {15, 18, 2}},
    // by positions, and sorting
    {&ops::gather_flat, {30, 41, 3}}, {&ops::gather_mask, {34, 0, 14}}, {&ops::sort32, {6, 5, 4}}, {&ops::merge_sort, {20, 0, 20}},
    {&ops::merge_sort2, {20, 0, 20}}, {&ops::merge_sort3, {20, 0, 20}}, {&ops::merge_sort4, {20, 0, 20}}};

[[nodiscard]] inline VectorCost vector_cost(const OpInfo& info) {
  for (const VectorRow& r : vector_rows)
    if (r.op == &info) return r.cost;
  if (info.valid == ValidRule::row_reduce) return row_reduction;
  if (info.valid == ValidRule::col_reduce) return column_reduction;
  return any_vector;
}

/// GiB that a path moves in a second, and the bytes that it counts for an element; 0: those of the element type.
struct PathCost {
  MemorySpace from, to;
  double gib = 0;
  std::int64_t element_bytes = 0;
};
inline constexpr PathCost paths[] = {
    {Gm, Vec, 100.9}, {Gm, Mat, 135}, {Vec, Gm, 188.46}, {Mat, Gm, 32}, {Acc, Gm, 70, 2}, {Acc, Mat, 128, 2}, {Mat, Left, 441},
    {Mat, Right, 220.5}, {Mat, Bias, 32}, {Vec, Vec, 1024}};
/// No figure is known: from Vec and Acc to what is near by as to Mat, scales like a bias.
inline constexpr PathCost other_paths[] = {{Vec, Mat, 128}, {Acc, Vec, 128, 2}, {Mat, LeftScale, 32}, {Mat, RightScale, 32}, {Mat, Vec, 128}};
inline constexpr double any_path = 128;

/// Rows and columns of what is valid of a tile; extents that only a run knows count as whole dims.
struct Extents2 {
  std::int64_t rows = 1, columns = 1;
};
[[nodiscard]] inline Extents2 valid_extents(const Function& f, ValueId v) {
  const Type& t = f.type(v);
  const auto along = [&](int axis) {
    const Extent e = f.valid(v, axis);
    const std::int64_t n = e.is_constant() ? e.constant : t.dims[axis];
    return is_dynamic(n) ? std::int64_t{1} : n;
  };
  Extents2 x;
  for (int i = 0; i + 1 < t.rank; ++i) x.rows *= along(i);
  if (t.rank > 0) x.columns = along(t.rank - 1);
  if (t.layout == Layout::dn && t.is_tile()) std::swap(x.rows, x.columns);
  return x;
}
[[nodiscard]] constexpr std::int64_t over(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit; }

/// The tile that a vector instruction goes through: the larger one of operand 0 and the result, or the result where operand 0 is
/// read by positions.
[[nodiscard]] inline ValueId worked_on(const Function& f, OpId op) {
  const bool has_result = f.result_count(op) > 0 && f.type(f.result(op)).is_tile();
  const ValueId result = has_result ? f.result(op) : ValueId{};
  if (f.operand_count(op) == 0 || f.info(op).valid == ValidRule::second) return result;
  const ValueId first = f.operand(op, 0);
  if (!f.type(first).is_tile()) return result;
  const auto bytes = [&](ValueId v) { return bytes_of(f.type(v).dtype, f.type(v).elements()); };
  return !result || bytes(first) > bytes(result) ? first : result;
}
/// Rows that follow each other are one row to an instruction with one tile; with more, a repeat never spans two rows.
[[nodiscard]] inline bool joins_rows(const Function& f, OpId op) {
  int tiles = 0;
  for (int i = 0; i < f.operand_count(op); ++i)
    tiles += f.type(f.operand(op, i)).is_tile() && i != scratch_operand(f.info(op)) ? 1 : 0;
  return tiles < 2;
}
[[nodiscard]] inline InstructionCost vector_instruction(const Function& f, OpId op) {
  const VectorCost cost = vector_cost(f.info(op));
  const ValueId v = worked_on(f, op);
  if (!v) return {cost.start_up, cost.row + cost.repeat};
  const Type& t = f.type(v);
  const Extents2 x = valid_extents(f, v);
  const bool whole_rows = cost.row == 0 && (joins_rows(f, op) || bytes_of(t.dtype, x.columns) % repeat_bytes == 0) && x.columns == (t.layout == Layout::dn ? t.dims[0] : t.last()) &&
                          !(f.definition(v) && shows_part(f, f.definition(v)));
  const std::int64_t repeats = whole_rows ? over(bytes_of(t.dtype, x.rows * x.columns), repeat_bytes)
                                          : x.rows * over(bytes_of(t.dtype, x.columns), repeat_bytes);
  const bool counted = cost.row == 0 && repeats > most_repeats;
  return {cost.start_up, cost.row * x.rows + cost.repeat * repeats + (counted ? counted_mask : 0)};
}

[[nodiscard]] inline const PathCost* find_path(MemorySpace from, MemorySpace to) {
  for (const PathCost& p : paths)
    if (p.from == from && p.to == to) return &p;
  for (const PathCost& p : other_paths)
    if (p.from == from && p.to == to) return &p;
  return nullptr;
}
[[nodiscard]] inline std::int64_t path_cycles(MemorySpace from, MemorySpace to, DType dtype, std::int64_t elements) {
  const PathCost* path = find_path(from, to);
  const std::int64_t bytes = path != nullptr && path->element_bytes > 0 ? path->element_bytes * elements : bytes_of(dtype, elements);
  const double per_cycle = (path != nullptr ? path->gib : any_path) * double{1 << 30} / (clock_ghz * 1e9);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(bytes) / per_cycle + 0.5));
}
// What is moved is the result, or the source where there is none; of what is written into a part of a tile it is that part. The
// cube unit takes whole boxes.
[[nodiscard]] inline InstructionCost move_instruction(const Function& f, OpId op) {
  const OpInfo& info = f.info(op);
  const auto space = [&](ValueId v) { return f.type(v).is_tile() ? f.type(v).space : Gm; };
  const bool has_result = f.result_count(op) > 0 && f.type(f.result(op)).is_tile();
  const bool into_part = info.in_place == 0 && f.operand_count(op) > 1;
  const ValueId source = f.operand(op, into_part ? 1 : 0);
  const MemorySpace from = space(source), to = has_result ? space(f.result(op)) : Gm;
  const ValueId moved = has_result && !into_part ? f.result(op) : source;
  const Extents2 x = valid_extents(f, moved);
  std::int64_t elements = x.rows * x.columns;
  if (to == Left || to == Right) elements = stored(flattened(f.type(moved))).elements();
  if (into_part && from == Gm) elements = f.attr(op, AttrKey::rows, 1) * f.attr(op, AttrKey::columns, 1);
  return {0, path_cycles(from, to, f.type(moved).dtype, elements)};
}

/// The cube unit multiplies 16 x 32 bytes by 32 bytes x 16 in a cycle, in two where elements have 4 bytes.
[[nodiscard]] inline InstructionCost cube_instruction(const Function& f, OpId op) {
  const int left = std::max<int>(0, f.info(op).first_factor);
  if (f.operand_count(op) < left + 2) return {6, 1};
  const ValueId a = f.operand(op, left), b = f.operand(op, left + 1);
  const Extents2 x = valid_extents(f, a), y = valid_extents(f, b);
  const std::int64_t depth = over(bytes_of(f.type(a).dtype, x.columns), 32);
  const std::int64_t steps = over(x.rows, 16) * depth * over(y.columns, 16);
  return {6, steps * (info(f.type(a).dtype).bits == 32 ? 2 : 1)};
}

/// Copies within Vec, which move bytes and compute nothing.
[[nodiscard]] constexpr bool is_copy(const OpInfo& info) {
  return &info == &ops::move || &info == &ops::assemble || &info == &ops::concat;
}

}  // namespace detail

/// What an operation costs that a pipe runs (pipe_of is not none). One cycle where the scalar unit does: no figure is known.
[[nodiscard]] inline InstructionCost instruction_cost(const Function& f, OpId op) {
  const Pipe pipe = pipe_of(f, op);
  if (pipe == Pipe::scalar || pipe == Pipe::none) return {0, 1};
  if (pipe == Pipe::cube) return detail::cube_instruction(f, op);
  if (pipe == Pipe::vector && !detail::is_copy(f.info(op))) return detail::vector_instruction(f, op);
  return detail::move_instruction(f, op);
}

}  // namespace tessera
