// The machinery of legalize: what a pass that works on tiles stored as rows or as columns asks and emits. A column [M,1] is read
// as a row where an instruction wants rows, and every operation that is made is one that the target has.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "../../ir/rewrite.hpp"
#include "../../ops/all.hpp"
#include "../pass.hpp"
#include "forms.hpp"

namespace tessera::detail {

/// A tile of rank 1 as one row.
[[nodiscard]] constexpr Type as_row(const Type& t) {
  if (!t.is_tile() || t.rank != 1) return t;
  const std::int64_t dims[2] = {1, t.dims[0]};
  return with_shape(t, dims, 2);
}
[[nodiscard]] constexpr bool is_column(const Type& t) {
  return t.is_tile() && t.space == Vec && t.layout == Layout::dn;
}

class Legalizer {
 public:
  Legalizer(const Function& from, Arch target) : in(from), arch(target), r(from, out), b(r.build()) {}

  const Function& in;
  const Arch arch;
  Function out;
  Rewriter r;
  Builder& b;
  std::unordered_map<std::uint32_t, ValueId> known_rows;  ///< by column (new value): the same elements as a row
  std::unordered_map<std::uint32_t, ValueId> turned;  ///< by old Mat load: the load that is read transposed
  std::unordered_set<std::uint32_t> opposite;         ///< old masks that are true where the comparison does not hold

  /// Rewrites the function: `lower` gets every operation on tiles.
  template <class Lower>
  Function run(Lower&& lower) {
    const auto visit = [&](OpId op, const auto& self) -> void {
      if (in.info(op).level == Level::control) return r.copy(op, [&](OpId o) { self(o, self); });
      if (has_tile(op)) return lower(*this, op);
      static_cast<void>(r.copy_plain(op, in.result_count(op) == 1 ? in.type(in.result(op)) : Type{}));
    };
    r.copy_parameters();
    r.run([&](OpId op) { visit(op, visit); });
    for (auto back = backs_.rbegin(); back != backs_.rend(); ++back)
      if (!out.has_uses(out.result(*back))) out.erase(*back);
    return std::move(out);
  }

  // --- reading ---
  [[nodiscard]] Type result_type(OpId op) const {
    return in.result_count(op) == 1 ? in.type(in.result(op)) : Type{};
  }
  [[nodiscard]] Type operand_type(OpId op, int i) const {
    return in.operand_count(op) > i ? in.type(in.operand(op, i)) : Type{};
  }
  [[nodiscard]] bool has_tile(OpId op) const {
    for (int i = 0; i < in.operand_count(op); ++i)
      if (operand_type(op, i).is_tile()) return true;
    return result_type(op).is_tile();
  }
  [[noreturn]] void refuse(OpId op, const std::string& what, const std::string& hint) const {
    fail(in[op].location, std::string(in.info(op).name) + ": " + what, hint);
  }
  static std::string shape_text(const Type& t) {
    std::string s("[");
    for (int i = 0; i < t.rank; ++i) s.append(i == 0 ? "" : ",").append(std::to_string(t.dims[i]));
    return s.append("] of ").append(name(t.dtype));
  }

  // --- emitting: the target must have it ---
  ValueId emit(OpId op, const OpInfo& info, List<ValueId> operands, List<Attr> attrs = {}, const Type& requested = {}) {
    const OpId made = b.emit(info, operands, attrs, requested);
    const ValueId result = out.result_count(made) == 1 ? out.result(made) : ValueId{};
    check(op, info, operands, attrs, result);
    equal_extents(made);
    return result;
  }
  // The operation that stands for `op`: it keeps the extents of the old result.
  ValueId emit_same(OpId op, const OpInfo& info, List<ValueId> operands, List<Attr> attrs, const Type& requested) {
    if (result_type(op).rank == 1) return emit(op, info, operands, attrs, requested);
    const ValueId result = r.emit_same(op, info, operands, attrs, requested);
    check(op, info, operands, attrs, result);
    if (result) equal_extents(out.definition(result));
    return result;
  }
  void finish(OpId op, ValueId made) {
    if (in.result_count(op) == 1) r.set(in.result(op), made);
  }
  /// The scratch tile of `info` on these operands, for `op`.
  ValueId scratch_of(OpId op, const OpInfo& info, List<ValueId> operands) {
    return emit(op, ops::create, {}, {}, scratch_type_of(info, [&](int i) { return out.type(operands[static_cast<std::size_t>(i)]); }));
  }
  ValueId transposed(OpId op, ValueId x, const Type& requested = {}) {
    return emit(op, ops::transpose, {x, scratch_of(op, ops::transpose, {x})}, {}, requested);
  }
  ValueId reshaped(ValueId x, std::int64_t rows, std::int64_t cols, Layout layout = Layout::nd) {
    const std::int64_t dims[2] = {rows, cols};
    Type t = with_shape(out.type(x), dims, 2);
    if (layout == Layout::dn) t.layout = layout;
    return b.value(ops::reshape, {x}, {}, t);
  }
  ValueId in_vec(OpId op, ValueId x) { return emit(op, ops::move, {x}, {}, with_space(out.type(x), Vec)); }
  // The value with the extents of the old result.
  ValueId with_extents_of(OpId op, ValueId v) {
    const ValueId old = in.result(op);
    if (in.fully_valid(old) && out.fully_valid(v)) return v;
    std::vector<Extent> extents;
    if (in.type(old).rank == 1) extents.push_back({1, {}});
    for (int i = 0; i < in.type(old).rank; ++i) extents.push_back(r.map(in.valid(old, i)));
    return b.with_valid(v, extents);
  }

  // --- columns as rows ---
  // A column in Acc is one in Vec, where every instruction but the cube's reads it.
  static bool stands_as_column(const Type& t) {
    return is_column(t) || (t.is_tile() && t.space == Acc && t.rank == 2 && t.last() == 1 && t.dims[0] != 1);
  }
  ValueId first_operand(OpId op) {
    const ValueId x = r.map(in.operand(op, 0));
    return stands_as_column(out.type(x)) && out.type(x).space == Acc ? in_vec(op, x) : x;
  }
  ValueId row_of(ValueId column) {
    const auto known = known_rows.find(column.index);
    return known != known_rows.end() ? known->second : reshaped(column, 1, out.type(column).dims[0]);
  }
  ValueId column_of(ValueId row) {
    const ValueId column = reshaped(row, out.type(row).dims[1], 1, Layout::dn);
    known_rows[column.index] = row;
    backs_.push_back(out.definition(column));
    return column;
  }
  static Type row_type(const Type& column) {
    const std::int64_t dims[2] = {1, column.dims[0]};
    return with_shape(column, dims, 2);
  }
  ValueId as_row_in_vec(OpId op, ValueId v) {
    if (out.type(v).is_tile() && out.type(v).space == Acc) v = in_vec(op, v);
    return is_column(out.type(v)) ? row_of(v) : v;
  }
  ValueId strip_of(OpId op, ValueId column) {
    const ValueId row = row_of(column);
    Type strip = out.type(column);
    strip.layout = Layout::nd;
    return transposed(op, row, strip);
  }
  void by_row(OpId op, std::vector<ValueId> operands) {
    for (ValueId& v : operands) v = as_row_in_vec(op, v);
    const ValueId row = emit(op, in.info(op), operands, r.attrs(op), row_type(result_type(op)));
    // A mask is read by rows only: it stays one.
    finish(op, is_column(result_type(op)) && !is_mask(out.type(row)) ? column_of(row) : row);
  }

  // --- operations that keep their name ---
  void plain(OpId op, std::vector<ValueId> operands) {
    const OpInfo& info = in.info(op);
    add_scratch(op, operands);
    if (info.precision_scratch && in.attr(op, AttrKey::high_precision) != 0) operands.push_back(block_of_bytes(op));
    if (info.row_major && (is_column(result_type(op)) || is_column(operand_type(op, 0)))) return by_row(op, operands);
    finish(op, emit_same(op, info, operands, r.attrs(op), as_row(result_type(op))));
  }
  void add_scratch(OpId op, std::vector<ValueId>& operands) {
    const OpInfo& info = in.info(op);
    if (info.scratch == ScratchRule::none) return;
    if (operands.size() == static_cast<std::size_t>(scratch_operand(info)))
      return operands.push_back(scratch_of(op, info, operands));
    const Type &like = out.type(operands[static_cast<std::size_t>(scratch_model(info))]), &s = out.type(operands.back());
    const bool stated = info.scratch == ScratchRule::one_block || info.scratch == ScratchRule::two_blocks || info.scratch == ScratchRule::sum;
    const Type x = stated ? scratch_type_of(info, [&](int i) { return out.type(operands[static_cast<std::size_t>(i)]); }) : like;
    if (!is_scratch(s, x))
      refuse(op, "the scratch tile is smaller than the operand (" + shape_text(s) + ", " + shape_text(x) + ")",
             "leave it out, or give a tile like the operand");
  }

 private:
  // The operands of an instruction have the extents of its result, and so has its scratch; a mask is read as far as the
  // result goes, and an operand that is repeated as far as the other one.
  void equal_extents(OpId made) {
    const OpInfo& info = out.info(made);
    const bool alike = info.scratch == ScratchRule::like_result || info.valid == ValidRule::second, wide = info.valid == ValidRule::wide;
    const int scratch = alike ? scratch_operand(info) : -1;
    const int first = info.valid == ValidRule::intersection ? 0 : info.valid == ValidRule::select ? 1 : -2;
    for (int i = 0; i < out.operand_count(made); ++i)
      if (i == first || i == first + 1 || i == scratch || (wide && i == 1)) equal_extents(made, i);
  }
  void equal_extents(OpId made, int i) {
    const ValueId result = out.result(made), x = out.operand(made, i);
    const Type &t = out.type(x), &wide = out.type(result);
    std::vector<Extent> extents;
    for (int axis = 0; axis < t.rank; ++axis)
      extents.push_back(t.dims[axis] == wide.dims[axis] || out.info(made).valid != ValidRule::wide ? out.valid(result, axis) : out.valid(x, axis));
    const BlockId block = b.block();
    b.to_before(made);
    if (const ValueId cut = b.with_valid(x, extents); cut != x) out.set_operand(made, i, cut);
    b.to_end_of(block);
  }
  void check(OpId op, const OpInfo& info, List<ValueId> operands, List<Attr> attrs, ValueId result) {
    known_.clear();
    for (const ValueId v : operands) known_.push_back(operand_info(out, v, nullptr));
    const Type type = result ? out.type(result) : Type{};
    const InferInput input{known_.data(), static_cast<int>(known_.size()), type,
                           attrs.begin(), static_cast<int>(attrs.size()), true};
    const Verdict v = check_target(info, input, type, arch);
    // A move that the user did not write is told as what it is for.
    const std::string_view asked = &info == &ops::move ? in.info(op).name : info.name;
    if (!v.lawful()) throw UserError(diagnose(v, asked, in[op].location));
  }
  // What an exact instruction works on.
  ValueId block_of_bytes(OpId op) {
    const std::int64_t dims[2] = {1, 32};
    return emit(op, ops::create, {}, {}, with_shape(Type{TypeKind::tile, u8, Vec, Layout::nd, 0, {}}, dims, 2));
  }

  std::vector<OpId> backs_;  // rows that became columns again, perhaps for nothing
  std::vector<OperandInfo> known_;  // operands of the operation that is checked
};

}  // namespace tessera::detail
