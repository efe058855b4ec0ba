// legalize: what a target's instructions need and a user need not know. Rank-1 tiles become one row; columns [M,1] are read
// as rows where an instruction wants rows; casts become chains; scratch is added; what the target cannot do is refused.
//
// Padding stays out of the IR: a tile has its own dims, and `stored` (core/type.hpp) is the one rule for the dims that are
// allocated (32-byte rows, 16-row boxes). A Mat tile that is read transposed is a load of its own, read by transpose_view only.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "../ir/rewrite.hpp"
#include "../ops/all.hpp"
#include "../ops/trigonometry.hpp"
#include "legalize/forms.hpp"
#include "pass.hpp"

namespace tessera {
namespace detail {

/// A tile of rank 1 as one row.
[[nodiscard]] constexpr Type as_row(const Type& t) {
  if (!t.is_tile() || t.rank != 1) return t;
  const std::int64_t dims[2] = {1, t.dims[0]};
  return with_shape(t, dims, 2);
}
[[nodiscard]] constexpr bool is_column(const Type& t) {
  return t.is_tile() && t.space == Vec && t.layout == Layout::dn;
}

class Legalize {
 public:
  Legalize(const Function& in, Arch arch) : in_(in), arch_(arch), r_(in, out_), b_(r_.build()) {}

  Function run() {
    r_.copy_parameters();
    r_.run(Visitor{this});
    for (auto back = backs_.rbegin(); back != backs_.rend(); ++back)
      if (!out_.has_uses(out_.result(*back))) out_.erase(*back);
    return std::move(out_);
  }

 private:
  struct Visitor {
    Legalize* self;
    void operator()(OpId op) const { self->visit(op); }
  };

  void visit(OpId op) {
    const OpInfo& info = in_.info(op);
    if (info.level == Level::control) return r_.copy(op, Visitor{this});
    if (!has_tile(op))
      return static_cast<void>(r_.copy_plain(op, in_.result_count(op) == 1 ? in_.type(in_.result(op)) : Type{}));
    if (in_.is(op, ops::load)) return load(op);
    if (in_.is(op, ops::store)) return store(op);
    if (in_.is(op, ops::cast)) return cast(op);
    if (in_.is(op, ops::full) && is_column(result_type(op))) return full_column(op);
    if (in_.is(op, ops::reshape)) return reshape(op);
    if (in_.is(op, ops::reinterpret)) return reinterpret(op);
    if (in_.is(op, ops::fillpad_expand)) return fillpad_expand(op);
    if (in_.is(op, ops::gather_flat)) return gather(op);
    if (in_.is(op, ops::gather_mask)) return gather_mask(op);
    if (in_.is(op, ops::scatter_flat) || in_.is(op, ops::scatter_strided)) return scatter(op);
    if (in_.is(op, ops::compare) || in_.is(op, ops::compares)) return compare(op);
    if (in_.is(op, ops::select)) return select(op);
    if (in_.is(op, ops::concat)) return concat(op);
    if (in_.is(op, ops::merge_sort)) return merge_sort(op);
    if (in_.is(op, ops::sin) || in_.is(op, ops::cos)) return trigonometry(op);
    if (in_.is(op, ops::transpose)) return transpose(op);
    if (in_.is(op, ops::transpose_view)) return transpose_view(op);
    if (in_.is(op, ops::slice)) return slice(op);
    if (in_.is(op, ops::assemble)) return assemble(op);
    if (in_.is(op, ops::set_valid_shape) || in_.is(op, ops::read) || in_.is(op, ops::write)) return element(op);
    if (info.first_factor >= 0) check_product(op);
    const bool reduces = info.valid == ValidRule::row_reduce || info.valid == ValidRule::col_reduce;
    if (reduces && stands_as_column(operand_type(op, 0))) return reduce_column(op);
    if (const auto forms = broadcast_of(info)) return broadcast(op, *forms);
    if (needs_filled(info, op)) return filled(op, *plain_form_of(info));
    plain(op, r_.operands(op));
  }
  void plain(OpId op, std::vector<ValueId> operands) {
    const OpInfo& info = in_.info(op);
    add_scratch(op, operands);
    if (&info == &ops::rsqrt && in_.attr(op, AttrKey::high_precision) != 0) operands.push_back(block_of_bytes(op));
    if (info.row_major && (is_column(result_type(op)) || is_column(operand_type(op, 0)))) return by_row(op, operands);
    finish(op, emit_same(op, info, operands, r_.attrs(op), as_row(result_type(op))));
  }

  // --- reading ---
  [[nodiscard]] Type result_type(OpId op) const {
    return in_.result_count(op) == 1 ? in_.type(in_.result(op)) : Type{};
  }
  [[nodiscard]] Type operand_type(OpId op, int i) const {
    return in_.operand_count(op) > i ? in_.type(in_.operand(op, i)) : Type{};
  }
  [[nodiscard]] bool has_tile(OpId op) const {
    for (int i = 0; i < in_.operand_count(op); ++i)
      if (operand_type(op, i).is_tile()) return true;
    return result_type(op).is_tile();
  }
  [[noreturn]] void refuse(OpId op, const std::string& what, const std::string& hint) const {
    fail(in_[op].location, std::string(in_.info(op).name) + ": " + what, hint);
  }
  static std::string shape_text(const Type& t) {
    std::string s("[");
    for (int i = 0; i < t.rank; ++i) s.append(i == 0 ? "" : ",").append(std::to_string(t.dims[i]));
    return s.append("] of ").append(name(t.dtype));
  }

  // --- emitting: the target must have it ---
  ValueId emit(OpId op, const OpInfo& info, List<ValueId> operands, List<Attr> attrs = {}, const Type& requested = {}) {
    const OpId made = b_.emit(info, operands, attrs, requested);
    const ValueId result = out_.result_count(made) == 1 ? out_.result(made) : ValueId{};
    check(op, info, operands, attrs, result);
    equal_extents(made);
    return result;
  }
  // The operands of an instruction have the extents of its result, and so has its scratch; a mask is read as far as the
  // result goes.
  void equal_extents(OpId made) {
    const OpInfo& info = out_.info(made);
    const int scratch = info.scratch == ScratchRule::like_result ? scratch_operand(info) : -1;
    const int first = info.valid == ValidRule::intersection ? 0 : info.valid == ValidRule::select ? 1 : -2;
    for (int i = 0; i < out_.operand_count(made); ++i) {
      if (i != first && i != first + 1 && i != scratch) continue;
      const ValueId result = out_.result(made);
      const ValueId x = out_.operand(made, i);
      bool equal = true;
      std::vector<ValueId> operands{x};
      for (int axis = 0; axis < out_.type(x).rank; ++axis) {
        const Extent e = out_.valid(result, axis);
        equal = equal && out_.valid(x, axis) == e;
        operands.push_back(b_.value_of(e));
      }
      if (equal) continue;
      const BlockId block = b_.block();
      b_.to_before(made);
      out_.set_operand(made, i, b_.value(ops::set_valid_shape, operands));
      b_.to_end_of(block);
    }
  }
  // The operation that stands for `op`: it keeps the extents of the old result.
  ValueId emit_same(OpId op, const OpInfo& info, List<ValueId> operands, List<Attr> attrs, const Type& requested) {
    if (result_type(op).rank == 1) return emit(op, info, operands, attrs, requested);
    const ValueId result = r_.emit_same(op, info, operands, attrs, requested);
    check(op, info, operands, attrs, result);
    if (result) equal_extents(out_.definition(result));
    return result;
  }
  void check(OpId op, const OpInfo& info, List<ValueId> operands, List<Attr> attrs, ValueId result) {
    known_.clear();
    for (const ValueId v : operands) known_.push_back(operand_info(out_, v, nullptr));
    const Type type = result ? out_.type(result) : Type{};
    const InferInput input{known_.data(), static_cast<int>(known_.size()), type,
                           attrs.begin(), static_cast<int>(attrs.size()), true};
    const Verdict v = check_target(info, input, type, arch_);
    // A move that the user did not write is told as what it is for.
    const std::string_view asked = &info == &ops::move ? in_.info(op).name : info.name;
    if (!v.lawful()) throw UserError(diagnose(v, asked, in_[op].location));
  }
  void finish(OpId op, ValueId made) {
    if (in_.result_count(op) == 1) r_.set(in_.result(op), made);
  }
  /// The scratch tile of `info` on these operands, for `op`.
  ValueId scratch_of(OpId op, const OpInfo& info, List<ValueId> operands) {
    return emit(op, ops::create, {}, {}, scratch_type_of(info, [&](int i) { return out_.type(operands[static_cast<std::size_t>(i)]); }));
  }
  ValueId transposed(OpId op, ValueId x, const Type& requested = {}) {
    return emit(op, ops::transpose, {x, scratch_of(op, ops::transpose, {x})}, {}, requested);
  }
  ValueId reshaped(ValueId x, std::int64_t rows, std::int64_t cols, Layout layout = Layout::nd) {
    const std::int64_t dims[2] = {rows, cols};
    Type t = with_shape(out_.type(x), dims, 2);
    if (layout == Layout::dn) t.layout = layout;
    return b_.value(ops::reshape, {x}, {}, t);
  }

  // --- columns as rows ---
  // A column in Acc is one in Vec, where every instruction but the cube's reads it.
  static bool stands_as_column(const Type& t) {
    return is_column(t) || (t.is_tile() && t.space == Acc && t.rank == 2 && t.last() == 1 && t.dims[0] != 1);
  }
  ValueId first_operand(OpId op) {
    const ValueId x = r_.map(in_.operand(op, 0));
    return stands_as_column(out_.type(x)) && out_.type(x).space == Acc ? in_vec(op, x) : x;
  }
  ValueId row_of(ValueId column) {
    const auto known = rows_.find(column.index);
    return known != rows_.end() ? known->second : reshaped(column, 1, out_.type(column).dims[0]);
  }
  ValueId column_of(ValueId row) {
    const ValueId column = reshaped(row, out_.type(row).dims[1], 1, Layout::dn);
    rows_[column.index] = row;
    backs_.push_back(out_.definition(column));
    return column;
  }
  void by_row(OpId op, std::vector<ValueId> operands) {
    for (ValueId& v : operands) v = as_row_in_vec(op, v);
    const ValueId row = emit(op, in_.info(op), operands, r_.attrs(op), row_type(result_type(op)));
    // A mask is read by rows only: it stays one.
    finish(op, is_column(result_type(op)) && !is_mask(out_.type(row)) ? column_of(row) : row);
  }
  static Type row_type(const Type& column) {
    const std::int64_t dims[2] = {1, column.dims[0]};
    return with_shape(column, dims, 2);
  }
  ValueId as_row_in_vec(OpId op, ValueId v) {
    if (out_.type(v).is_tile() && out_.type(v).space == Acc) v = in_vec(op, v);
    return is_column(out_.type(v)) ? row_of(v) : v;
  }
  // Instructions that repeat a column or a row write rows of several elements, and read a column, one element too, in column
  // order. Beside a column the operation is done on rows: a column is not repeated there, and one element is.
  void broadcast(OpId op, const Broadcast& forms) {
    std::vector<ValueId> operands = r_.operands(op);
    const Type wide = as_row(result_type(op));
    const auto then = [&](ValueId v) { return forms.then != nullptr ? emit(op, *forms.then, {v}) : v; };
    const bool repeats_column = forms.by_row == &in_.info(op), column = wide.dims[0] > 1 && wide.last() == 1;
    if (repeats_column && wide.last() == 1) {
      if (forms.plain == nullptr) return finish(op, operands[0]);
      for (ValueId& v : operands) v = as_row_in_vec(op, v);
      const ValueId row = then(emit(op, *forms.plain, operands));
      return finish(op, column ? column_of(row) : row);
    }
    if (column) operands[0] = as_row_in_vec(op, operands[0]);
    ValueId& narrow = operands.back();
    if ((repeats_column || column) && out_.type(narrow).elements() == 1 && !is_column(out_.type(narrow)))
      narrow = reshaped(as_row_in_vec(op, narrow), 1, 1, Layout::dn);
    if (column) return finish(op, column_of(emit(op, *forms.by_row, operands, {}, row_type(wide))));
    finish(op, emit_same(op, in_.info(op), operands, r_.attrs(op), wide));
  }
  // The scalar fills a tile where the target has the instruction for tiles only.
  [[nodiscard]] bool needs_filled(const OpInfo& info, OpId op) const {
    return info.filled[static_cast<int>(arch_)].contains(operand_type(op, 0).dtype);
  }
  void filled(OpId op, const OpInfo& plain) {
    const ValueId x = as_row_in_vec(op, r_.map(in_.operand(op, 0)));
    Type wide = out_.type(x);
    std::vector<ValueId> operands{x, emit(op, ops::full, {r_.map(in_.operand(op, 1))}, {}, wide)};
    if (plain.scratch != ScratchRule::none) operands.push_back(scratch_of(op, plain, operands));
    const ValueId made = emit(op, plain, operands);
    finish(op, is_column(result_type(op)) ? column_of(made) : made);
  }
  void full_column(OpId op) {
    finish(op, column_of(emit(op, ops::full, r_.operands(op), r_.attrs(op), row_type(result_type(op)))));
  }
  // Each row of a column is its own sum; the sum over a column is that of its row.
  void reduce_column(OpId op) {
    const ValueId x = first_operand(op);
    if (in_.info(op).form == PtoForm::arg_reduce && in_.info(op).valid == ValidRule::row_reduce) return zero_column(op);
    if (in_.info(op).valid == ValidRule::row_reduce) return finish(op, x);
    const OpInfo* const over_row = over_row_of(in_.info(op));
    if (over_row == nullptr)
      refuse(op, "not available on a column (" + shape_text(out_.type(x)) + ")", "reshape it to one row first");
    const ValueId row = row_of(x);
    finish(op, emit(op, *over_row, {row, scratch_of(op, *over_row, {row})}));
  }
  // The one element of a row stands at 0.
  void zero_column(OpId op) {
    const ValueId old = in_.result(op);
    ValueId row = emit(op, ops::full, {out_.constant(i32, std::int64_t{0})}, {}, row_type(in_.type(old)));
    if (!in_.fully_valid(old)) row = b_.value(ops::set_valid_shape, {row, b_.index(1), b_.value_of(r_.map(in_.valid(old, 0)))});
    finish(op, column_of(row));
  }
  void cast(OpId op) {
    ValueId x = first_operand(op);
    const bool column = is_column(out_.type(x));
    if (column) x = row_of(x);
    const DType from = out_.type(x).dtype, to = result_type(op).dtype;
    const CastChain chain = cast_chain(from, to, arch_);
    if (chain.empty())
      throw UserError(diagnose(breaks(rule::cast_has_no_path, arg(from), arg(to)), "cast", in_[op].location));
    const std::size_t rounds = rounding_step(from, chain);
    const DType before = rounds == 0 ? from : chain[rounds - 1];
    const bool odd = in_.attr(op, AttrKey::rounding) == static_cast<std::int64_t>(Rounding::odd);
    if (odd && (before != f32 || chain[rounds] != f16))
      refuse(op,
             "no instruction rounds this to odd (" + std::string(name(before)) + ", " +
                 std::string(name(chain[rounds])) + ")",
             "only f32 to f16 rounds to odd; use Rounding::rint or another mode");
    for (std::size_t i = 0; i < chain.size(); ++i)
      x = emit(op, ops::cast, {x}, i == rounds ? r_.attrs(op) : std::vector<Attr>{},
               with_dtype(out_.type(x), chain[i]));
    finish(op, column ? column_of(x) : x);
  }

  // --- masks ---
  // Of i32 the instruction of a3 knows equality only, and compares for equality whatever it is told. So x <= y is
  // max(x, y) == y, and what is left is the opposite of one of these: then the mask's readers exchange their sides.
  void compare(OpId op) {
    const auto how = static_cast<Compare>(in_.attr(op, AttrKey::compare));
    if (arch_ != Arch::a3 || operand_type(op, 0).dtype != i32 || how == Compare::eq) return plain(op, r_.operands(op));
    if (how == Compare::ne || how == Compare::lt || how == Compare::gt) opposite_.insert(in_.result(op).index);
    ValueId x = as_row_in_vec(op, r_.map(in_.operand(op, 0))), y = r_.map(in_.operand(op, 1));
    const Type t = out_.type(x);
    y = in_.is(op, ops::compares) ? emit(op, ops::full, {y}, {}, t) : as_row_in_vec(op, y);
    if (how != Compare::ne) {
      const ValueId larger = emit(op, ops::maximum, {x, y});
      (how == Compare::ge || how == Compare::lt ? y : x) = larger;
    }
    finish(op, emit(op, ops::compare, {x, y}, {int_attr(AttrKey::compare, static_cast<std::int64_t>(Compare::eq))}));
  }
  void select(OpId op) {
    std::vector<ValueId> operands = r_.operands(op);
    if (opposite_.contains(in_.operand(op, 0).index)) std::swap(operands[1], operands[2]);
    plain(op, operands);
  }

  struct SineSteps {
    Legalize* self;
    OpId op;
    Type type;
    ValueId times(ValueId a, double s) { return with(ops::muls, a, s); }
    ValueId plus(ValueId a, double s) { return with(ops::adds, a, s); }
    ValueId sum(ValueId a, ValueId b) { return self->emit(op, ops::add, {a, b}); }
    ValueId difference(ValueId a, ValueId b) { return self->emit(op, ops::sub, {a, b}); }
    ValueId product(ValueId a, ValueId b) { return self->emit(op, ops::mul, {a, b}); }
    ValueId nearest(ValueId a) { return whole(a, Rounding::rint); }
    ValueId below(ValueId a) { return whole(a, Rounding::floor); }
    ValueId with(const OpInfo& info, ValueId a, double s) { return self->emit(op, info, {a, self->out_.constant(f32, s)}); }
    ValueId whole(ValueId a, Rounding r) {
      const ValueId n = self->emit(op, ops::cast, {a}, {int_attr(AttrKey::rounding, static_cast<int>(r))}, with_dtype(type, i32));
      return self->emit(op, ops::cast, {n}, {}, type);
    }
  };
  void trigonometry(OpId op) {
    const ValueId x = as_row_in_vec(op, r_.map(in_.operand(op, 0)));
    const ValueId made = sine(x, in_.is(op, ops::cos), SineSteps{this, op, out_.type(x)});
    finish(op, is_column(result_type(op)) ? column_of(made) : made);
  }

  // The operands have as many valid rows as the result. A column is turned into rows of one element.
  void concat(OpId op) {
    std::vector<ValueId> operands = r_.operands(op);
    for (ValueId& x : operands) {
      if (out_.type(x).space == Acc) x = in_vec(op, x);
      if (is_column(out_.type(x))) x = strip_of(op, x);
    }
    const ValueId made = emit_same(op, ops::concat, operands, {}, as_row(result_type(op)));
    const OpId o = out_.definition(made);
    for (int i = 0; i < 2; ++i) {
      const ValueId x = out_.operand(o, i);
      const Extent rows = out_.valid(made, 0);
      if (out_.valid(x, 0) == rows) continue;
      const BlockId block = b_.block();
      b_.to_before(o);
      out_.set_operand(o, i, b_.value(ops::set_valid_shape, {x, b_.value_of(rows), b_.value_of(out_.valid(x, 1))}));
      b_.to_end_of(block);
    }
    finish(op, made);
  }

  // The instruction merges four blocks at a time: fewer are lists of their own.
  void merge_sort(OpId op) {
    const ValueId x = as_row_in_vec(op, r_.map(in_.operand(op, 0)));
    const Type row = out_.type(x);
    const std::int64_t block = in_[in_.operand(op, 1)].integer, count = row.last() / block;
    if (count >= 4) return plain(op, {x, r_.map(in_.operand(op, 1))});
    std::vector<ValueId> lists;
    for (std::int64_t i = 0; i < count; ++i)
      lists.push_back(emit(op, ops::slice, {x, b_.index(0), b_.index(i * block)}, {}, with_dim(row, 1, block)));
    const OpInfo& merge = count == 2 ? ops::merge_sort2 : ops::merge_sort3;
    lists.push_back(scratch_of(op, merge, lists));
    finish(op, emit(op, merge, lists));
  }

  // The instruction takes rows without padding: further positions 0 fill them, and what they give is cut off.
  void gather(OpId op) {
    const ValueId x = r_.map(in_.operand(op, 0)), index = as_row_in_vec(op, r_.map(in_.operand(op, 1)));
    const bool column = is_column(result_type(op));
    const Type t = out_.type(index), from = out_.type(x);
    if (from.dims[0] > 1 && stored(from).last() != from.last())
      refuse(op, "the positions do not count the padding of rows (" + shape_text(from) + ")",
             "use rows of a multiple of 32 bytes, or gather from one row at a time");
    const std::int64_t block = 256 / std::min(info(from.dtype).bits, info(t.dtype).bits);
    const std::int64_t cols = (t.last() + block - 1) / block * block;
    ValueId positions = index;
    if (cols != t.last()) {
      const ValueId zeros =
          emit(op, ops::full, {out_.constant(t.dtype, std::int64_t{0})}, {}, with_dim(t, t.rank - 1, cols));
      positions = emit(op, ops::assemble, {zeros, index, b_.index(0), b_.index(0)});
    }
    const bool has_scratch = in_.operand_count(op) > 2 && cols == t.last() && !column;
    const ValueId scratch = has_scratch ? r_.map(in_.operand(op, 2)) : scratch_of(op, ops::gather_flat, {x, positions});
    const ValueId made = emit(op, ops::gather_flat, {x, positions, scratch});
    const Type wanted = column ? row_type(result_type(op)) : as_row(result_type(op));
    const ValueId cut = cols == t.last() ? made : emit(op, ops::slice, {made, b_.index(0), b_.index(0)}, {}, wanted);
    finish(op, column ? column_of(cut) : cut);
  }

  // The instruction wants whole columns, and whole blocks of 32 bytes of them: further elements fill the rows, and what they
  // give is cut off.
  void gather_mask(OpId op) {
    ValueId x = as_row_in_vec(op, r_.map(in_.operand(op, 0)));
    const Type from = out_.type(x), old = as_row(result_type(op)), to = is_column(old) && from.dims[0] == 1 ? row_type(old) : old;
    const std::int64_t block = 256 / info(to.dtype).bits, cols = (to.last() + block - 1) / block * block;
    const Extent whole{from.last(), {}};
    if (out_.valid(x, 1) != whole) x = b_.value(ops::set_valid_shape, {x, b_.value_of(out_.valid(x, 0)), b_.index(from.last())});
    if (cols != to.last()) {
      const ValueId wide = emit(op, ops::create, {}, {}, with_dim(from, 1, from.last() / to.last() * cols));
      x = emit(op, ops::assemble, {wide, x, b_.index(0), b_.index(0)});
    }
    const ValueId made = emit(op, ops::gather_mask, {x}, r_.attrs(op), with_dim(to, 1, cols));
    if (cols == to.last()) return finish(op, with_extents_of(op, to == old ? made : column_of(made)));
    const bool column = is_column(to);
    const ValueId cut = emit(op, ops::slice, {column ? transposed(op, made) : made, b_.index(0), b_.index(0)}, {}, column ? row_type(to) : to);
    finish(op, with_extents_of(op, is_column(old) ? column_of(cut) : cut));
  }
  // The value with the extents of the old result.
  ValueId with_extents_of(OpId op, ValueId v) {
    const ValueId old = in_.result(op);
    if (in_.fully_valid(old) && out_.fully_valid(v)) return v;
    std::vector<ValueId> operands{v};
    if (in_.type(old).rank == 1) operands.push_back(b_.index(1));
    for (int i = 0; i < in_.type(old).rank; ++i) operands.push_back(b_.value_of(r_.map(in_.valid(old, i))));
    return b_.value(ops::set_valid_shape, operands);
  }
  // Positions count no padding. Columns are rows of as many elements; to every second element of a row they come as rows of one.
  void scatter(OpId op) {
    std::vector<ValueId> operands = r_.operands(op);
    const bool by_index = in_.is(op, ops::scatter_flat);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const bool strip = !by_index && i == 1 && is_column(out_.type(operands[1])) && operand_type(op, 0).last() != 1;
      operands[i] = strip ? strip_of(op, operands[i]) : as_row_in_vec(op, operands[i]);
    }
    const Type to = out_.type(operands[0]), from = out_.type(operands[1]);
    if (by_index && to.dims[0] > 1 && stored(to).last() != to.last())
      refuse(op, "the positions do not count the padding of rows (" + shape_text(to) + ")",
             "use rows of a multiple of 32 bytes, or scatter to one row at a time");
    // The instruction wants a target with as many rows and columns as the source: it is one row, perhaps.
    const bool flat = from.dims[0] > to.dims[0] || from.last() > to.last();
    if (flat && (from.dims[0] > 1 || from.last() > to.elements()))
      refuse(op, "the source has more rows or columns than the target (" + shape_text(from) + " to " + shape_text(to) + ")",
             "use a target of another shape, and reshape the result");
    if (flat) operands[0] = reshaped(operands[0], 1, to.elements());
    ValueId made = emit(op, in_.info(op), operands, r_.attrs(op));
    if (flat) made = reshaped(made, to.dims[0], to.last());
    finish(op, is_column(result_type(op)) ? column_of(made) : made);
  }

  // --- scratch ---
  // What the exact reciprocal square root works on.
  ValueId block_of_bytes(OpId op) {
    const std::int64_t dims[2] = {1, 32};
    return emit(op, ops::create, {}, {}, with_shape(Type{TypeKind::tile, u8, Vec, Layout::nd, 0, {}}, dims, 2));
  }
  void add_scratch(OpId op, std::vector<ValueId>& operands) {
    const OpInfo& info = in_.info(op);
    if (info.scratch == ScratchRule::none) return;
    if (operands.size() == static_cast<std::size_t>(scratch_operand(info)))
      return operands.push_back(scratch_of(op, info, operands));
    const Type &like = out_.type(operands[static_cast<std::size_t>(scratch_model(info))]), &s = out_.type(operands.back());
    const bool stated = info.scratch == ScratchRule::one_block || info.scratch == ScratchRule::two_blocks || info.scratch == ScratchRule::sum;
    const Type x = stated ? scratch_type_of(info, [&](int i) { return out_.type(operands[static_cast<std::size_t>(i)]); }) : like;
    if (!is_scratch(s, x))
      refuse(op, "the scratch tile is smaller than the operand (" + shape_text(s) + ", " + shape_text(x) + ")",
             "leave it out, or give a tile like the operand");
  }

  // --- windows of tensors ---
  void load(OpId op) {
    const ValueId old = in_.result(op);
    const Type& t = in_.type(old);
    if (t.space == Mat) return load_mat(op);
    const bool column_tensor = is_column_tensor(operand_type(op, 0));
    if (is_column(t) && !column_tensor) return load_strip(op);
    Type requested = as_row(t);
    const bool element = column_tensor && t.layout == Layout::nd && requested.last() == 1;
    if (element) requested.layout = Layout::dn;
    const ValueId made = load_as(op, requested);
    finish(op, element ? reshaped(made, 1, 1) : made);
  }
  // Written as columns in memory: [.., M, 1].
  [[nodiscard]] static bool is_column_tensor(const Type& t) { return t.rank > 1 && t.last() == 1 && t.last(1) != 1; }
  static bool is_empty(const Function& f, ValueId v) {
    for (int i = 0; i < f.type(v).rank; ++i)
      if (f.type(v).is_tile() && f.valid(v, i) == Extent{0, {}}) return true;
    return false;
  }
  ValueId load_as(OpId op, const Type& requested) {
    const ValueId old = in_.result(op);
    const Type& t = in_.type(old);
    std::vector<Attr> attrs = r_.attrs(op);
    if (t.rank == 1) attrs.push_back(out_.list_attr(AttrKey::window, {t.dims, 1}));
    const ValueId made = is_empty(in_, old) ? emit(op, ops::create, {}, {}, requested)
                                            : emit(op, ops::load, r_.operands(op), attrs, requested);
    if (in_.fully_valid(old)) return made;
    if (t.rank == 1) out_.set_valid(made, {{1, {}}, r_.map(in_.valid(old, 0))});
    else out_.set_valid(made, {r_.map(in_.valid(old, 0)), r_.map(in_.valid(old, 1))});
    return made;
  }
  // A column of a row-major tensor is loaded as a strip of 32-byte rows, and turned.
  void load_strip(OpId op) {
    Type strip = result_type(op);
    strip.layout = Layout::nd;
    const ValueId x = load_as(op, strip);
    const ValueId row = transposed(op, x);
    finish(op, column_of(row));
  }
  // One load for what reads the tile as it is, one for what reads it transposed.
  void load_mat(OpId op) {
    const ValueId old = in_.result(op);
    bool plain = !in_.has_uses(old), turned = false;
    in_.for_each_use(old, [&](OpId user, int) { (in_.is(user, ops::transpose_view) ? turned : plain) = true; });
    if (plain) finish(op, load_as(op, as_row(in_.type(old))));
    if (!turned) return;
    turned_[old.index] = load_as(op, in_.type(old));
    if (!plain) finish(op, turned_[old.index]);
  }
  void transpose_view(OpId op) {
    const auto own = turned_.find(in_.operand(op, 0).index);
    finish(op, emit(op, ops::transpose_view, {own != turned_.end() ? own->second : r_.map(in_.operand(op, 0))}));
  }
  void store(OpId op) {
    ValueId x = r_.map(in_.operand(op, 0));
    if (is_empty(out_, x)) return;  // instructions move one element at least
    const Type& t = operand_type(op, 0);
    const Type& tensor = operand_type(op, 1);
    if (t.is_tile() && t.space == Vec) {
      const bool column_tensor = is_column_tensor(tensor);
      if (is_column(t) && !column_tensor) x = strip_of(op, x);
      else if (!is_column(t) && column_tensor && out_.type(x).elements() == 1) x = reshaped(x, 1, 1, Layout::dn);
    }
    std::vector<ValueId> operands = r_.operands(op);
    operands[0] = x;
    std::vector<Attr> attrs = r_.attrs(op);
    if (t.is_tile() && t.rank == 1 && tensor.rank == 1) attrs.push_back(out_.list_attr(AttrKey::window, {t.dims, 1}));
    emit(op, ops::store, operands, attrs);
  }
  ValueId strip_of(OpId op, ValueId column) {
    const ValueId row = row_of(column);
    Type strip = out_.type(column);
    strip.layout = Layout::nd;
    return transposed(op, row, strip);
  }

  // --- other looks at a tile ---
  // A single row or column is contiguous whatever its padding; several rows are when they have none.
  static bool contiguous(const Type& t) { return t.dims[0] == 1 || is_column(t) || stored(t).last() == t.last(); }
  void reshape(OpId op) {
    const ValueId x = r_.map(in_.operand(op, 0));
    const Type from = out_.type(x), to = as_row(result_type(op));
    if (from == to) return finish(op, x);
    const auto row = rows_.find(x.index);
    if (row != rows_.end() && out_.type(row->second) == to) return finish(op, row->second);
    if (from.space == Acc) return finish(op, emit(op, ops::reshape, {in_vec(op, x)}, {}, with_space(to, Vec)));
    if (from.space != Vec)
      refuse(op, "a tile in " + std::string(name(from.space)) + " is stored in boxes and has no other shape",
             "reshape the tensor, or move<Vec>(...) first");
    if (!contiguous(from) || !contiguous(to))
      refuse(op,
             "the rows are padded to 32 bytes, so the tile has no other shape (" + shape_text(from) + " to " +
                 shape_text(to) + ")",
             "use rows of a multiple of 32 bytes, or reshape the tensor before it is loaded");
    finish(op, emit(op, ops::reshape, {x}, {}, to));
  }
  void reinterpret(OpId op) {
    const ValueId x = r_.map(in_.operand(op, 0));
    const Type from = out_.type(x), to = as_row(result_type(op));
    if (!contiguous(from) || !contiguous(to))
      refuse(op,
             "the rows are padded to 32 bytes, so the tile is not seen in another element type (" + shape_text(from) +
                 " to " + shape_text(to) + ")",
             "use rows of a multiple of 32 bytes, or one row");
    finish(op, emit_same(op, ops::reinterpret, {x}, {}, to));
  }
  // A column grows as the row that it is read as.
  void fillpad_expand(OpId op) {
    const ValueId x = r_.map(in_.operand(op, 0));
    const Type to = as_row(result_type(op));
    const bool column = is_column(out_.type(x));
    if (column != is_column(to))
      refuse(op, "a column and rows are stored in different orders (" + shape_text(out_.type(x)) + " to " + shape_text(to) + ")",
             "grow the rows alone, or transpose the column first");
    if (!column) return finish(op, emit(op, ops::fillpad_expand, {x}, r_.attrs(op), to));
    finish(op, column_of(emit(op, ops::fillpad_expand, {row_of(x)}, r_.attrs(op), row_type(to))));
  }
  void transpose(OpId op) {
    const ValueId x = first_operand(op);
    const Type t = out_.type(x);
    if (is_column(t)) return finish(op, row_of(x));
    if (t.dims[0] == 1 && t.last() != 1) return finish(op, column_of(x));
    std::vector<ValueId> operands = r_.operands(op);
    add_scratch(op, operands);
    finish(op, emit(op, ops::transpose, operands, r_.attrs(op), as_row(result_type(op))));
  }
  std::vector<ValueId> windows(OpId op, int offsets_from) {
    std::vector<ValueId> operands = r_.operands(op);
    if (operand_type(op, 0).rank != 1) return operands;
    // Offsets, and valid extents where there are some, get the row in front.
    const auto first = static_cast<std::ptrdiff_t>(offsets_from);
    if (operands.size() > static_cast<std::size_t>(offsets_from) + 1)
      operands.insert(operands.begin() + first + 1, b_.index(1));
    operands.insert(operands.begin() + first, b_.index(0));
    return operands;
  }
  // The run of a window in a row (in a column of dn) starts at a multiple of 32 bytes.
  void check_start(OpId op, const Type& t, ValueId row, ValueId col) const {
    const bool column = is_column(t);
    const ValueId start = column ? row : col;
    if (t.space != Vec || !out_.is_constant(start)) return;
    const std::int64_t n = out_[start].integer;
    if (bytes_of(t.dtype, n) % 32 == 0) return;
    refuse(op,
           std::string("a window starts inside a block of 32 bytes (") + (column ? "row " : "column ") +
               std::to_string(n) + " of " + shape_text(t) + ")",
           "use an offset that is a multiple of " + std::to_string(256 / info(t.dtype).bits) +
               " elements, or load the part from the tensor");
  }
  void slice(OpId op) {
    std::vector<ValueId> operands = windows(op, 1);
    Type from = out_.type(operands[0]);
    const Type to = as_row(result_type(op));
    if (is_column(to) && !is_column(from)) return slice_column(op, operands);
    if (is_column(from) && !is_column(to)) {  // one element, of the column as a row
      operands[0] = row_of(operands[0]);
      from = out_.type(operands[0]);
      std::swap(operands[1], operands[2]);
      if (operands.size() == 5) std::swap(operands[3], operands[4]);
    }
    check_start(op, from, operands[1], operands[2]);
    finish(op, emit_same(op, ops::slice, operands, r_.attrs(op), to));
  }
  // A column of a row-major tile is a row of the transposed one.
  void slice_column(OpId op, std::vector<ValueId> operands) {
    const ValueId turned = transposed(op, operands[0]);
    operands[0] = turned;
    std::swap(operands[1], operands[2]);
    if (operands.size() == 5) std::swap(operands[3], operands[4]);
    check_start(op, out_.type(turned), operands[1], operands[2]);
    const std::int64_t dims[2] = {1, result_type(op).dims[0]};
    finish(op, column_of(emit(op, ops::slice, operands, r_.attrs(op), with_shape(out_.type(turned), dims, 2))));
  }
  void assemble(OpId op) {
    const std::vector<ValueId> operands = windows(op, 2);
    const Type &target = out_.type(operands[0]), &source = out_.type(operands[1]);
    if (target.space == Vec && source.space == Vec && target.layout != source.layout)
      refuse(op,
             "a column and rows are stored in different orders (" + shape_text(source) + " into " + shape_text(target) +
                 ")",
             "put rows into rows; single elements are set with write(...)");
    check_start(op, target, operands[2], operands[3]);
    finish(op, emit_same(op, ops::assemble, operands, r_.attrs(op), as_row(result_type(op))));
  }
  // set_valid_shape, read, write: the row in front of the extents or indices.
  void element(OpId op) {
    const bool extents = in_.is(op, ops::set_valid_shape);
    std::vector<ValueId> operands = r_.operands(op);
    if (operand_type(op, 0).rank == 1 && operand_type(op, 0).is_tile())
      operands.insert(operands.begin() + (in_.is(op, ops::write) ? 2 : 1), b_.index(extents ? 1 : 0));
    finish(op, emit_same(op, in_.info(op), operands, r_.attrs(op), as_row(result_type(op))));
  }

  // --- the cube unit ---
  // Rows and columns of the product are padded to boxes; padding along K would be summed up.
  void check_product(OpId op) {
    const Type t = out_.type(r_.map(in_.operand(op, in_.info(op).first_factor)));
    const std::int64_t block = 256 / info(t.dtype).bits;
    if (t.last() % block != 0)
      refuse(op,
             "the inner dimension is not a whole number of 32-byte blocks (K = " + std::to_string(t.last()) + ", " +
                 std::string(name(t.dtype)) + ": " + std::to_string(block) + ")",
             "use a K that is a multiple of " + std::to_string(block) + "; pad both operands with zeros in the tensor");
  }
  ValueId in_vec(OpId op, ValueId x) { return emit(op, ops::move, {x}, {}, with_space(out_.type(x), Vec)); }

  const Function& in_;
  Arch arch_;
  Function out_;
  Rewriter r_;
  Builder& b_;
  std::unordered_map<std::uint32_t, ValueId> rows_;  // by column (new value): the same elements as a row
  std::unordered_map<std::uint32_t, ValueId> turned_;  // by old Mat load: the load that is read transposed
  std::unordered_set<std::uint32_t> opposite_;         // old masks that are true where the comparison does not hold
  std::vector<OpId> backs_;  // rows that became columns again, perhaps for nothing
  std::vector<OperandInfo> known_;  // operands of the operation that is checked
};

inline Function run_legalize(const Function& f, const PassContext& context) { return Legalize(f, context.arch).run(); }

}  // namespace detail

/// Makes every operation one that the target has, in a form that its instruction takes.
inline constexpr Pass legalize = {.name = "legalize",
                                  .required = {Property::tile_ops, Property::tiles_2d},
                                  .produced = {Property::legal},
                                  .invalidated = {Property::spaces_inferred, Property::buffers_assigned},
                                  .run = detail::run_legalize};

}  // namespace tessera
