// Elementwise operations, broadcasts and reductions: forms that the target has, and columns done on rows.
#pragma once

#include "../../ops/trigonometry.hpp"
#include "legalizer.hpp"

namespace tessera::detail {

// Instructions that repeat a column or a row write rows of several elements, and read a column, one element too, in column
// order. Beside a column the operation is done on rows: a column is not repeated there, and one element is.
inline void legalize_broadcast(Legalizer& l, OpId op, const Broadcast& forms) {
  std::vector<ValueId> operands = l.r.operands(op);
  const Type wide = as_row(l.result_type(op));
  const auto then = [&](ValueId v) { return forms.then != nullptr ? l.emit(op, *forms.then, {v}) : v; };
  const bool repeats_column = forms.by_row == &l.in.info(op), column = wide.dims[0] > 1 && wide.last() == 1;
  if (repeats_column && wide.last() == 1) {
    if (forms.plain == nullptr) return l.finish(op, operands[0]);
    for (ValueId& v : operands) v = l.as_row_in_vec(op, v);
    const ValueId row = then(l.emit(op, *forms.plain, operands));
    return l.finish(op, column ? l.column_of(row) : row);
  }
  if (column) operands[0] = l.as_row_in_vec(op, operands[0]);
  ValueId& narrow = operands.back();
  if ((repeats_column || column) && l.out.type(narrow).elements() == 1 && !is_column(l.out.type(narrow)))
    narrow = l.reshaped(l.as_row_in_vec(op, narrow), 1, 1, Layout::dn);
  if (column) return l.finish(op, l.column_of(l.emit(op, *forms.by_row, operands, {}, Legalizer::row_type(wide))));
  l.finish(op, l.emit_same(op, l.in.info(op), operands, l.r.attrs(op), wide));
}
// The scalar fills a tile where the target has the instruction for tiles only.
[[nodiscard]] inline bool needs_filled(Legalizer& l, const OpInfo& info, OpId op) {
  return info.filled[static_cast<int>(l.arch)].contains(l.operand_type(op, 0).dtype);
}
inline void legalize_filled(Legalizer& l, OpId op, const OpInfo& plain) {
  const ValueId x = l.as_row_in_vec(op, l.r.map(l.in.operand(op, 0)));
  Type wide = l.out.type(x);
  std::vector<ValueId> operands{x, l.emit(op, ops::full, {l.r.map(l.in.operand(op, 1))}, {}, wide)};
  if (plain.scratch != ScratchRule::none) operands.push_back(l.scratch_of(op, plain, operands));
  const ValueId made = l.emit(op, plain, operands);
  l.finish(op, is_column(l.result_type(op)) ? l.column_of(made) : made);
}
inline void legalize_full_column(Legalizer& l, OpId op) {
  l.finish(op, l.column_of(l.emit(op, ops::full, l.r.operands(op), l.r.attrs(op), Legalizer::row_type(l.result_type(op)))));
}
// The one element of a row stands at 0.
inline void zero_column(Legalizer& l, OpId op) {
  const ValueId old = l.in.result(op);
  ValueId row = l.emit(op, ops::full, {l.out.constant(i32, std::int64_t{0})}, {}, Legalizer::row_type(l.in.type(old)));
  if (!l.in.fully_valid(old)) row = l.b.value(ops::set_valid_shape, {row, l.b.index(1), l.b.value_of(l.r.map(l.in.valid(old, 0)))});
  l.finish(op, l.column_of(row));
}
// Each row of a column is its own sum; the sum over a column is that of its row.
inline void legalize_reduce_column(Legalizer& l, OpId op) {
  const ValueId x = l.first_operand(op);
  if (l.in.info(op).form == PtoForm::arg_reduce && l.in.info(op).valid == ValidRule::row_reduce) return zero_column(l, op);
  if (l.in.info(op).valid == ValidRule::row_reduce) return l.finish(op, x);
  const OpInfo* const over_row = over_row_of(l.in.info(op));
  if (over_row == nullptr)
    l.refuse(op, "not available on a column (" + Legalizer::shape_text(l.out.type(x)) + ")", "reshape it to one row first");
  const ValueId row = l.row_of(x);
  l.finish(op, l.emit(op, *over_row, {row, l.scratch_of(op, *over_row, {row})}));
}
inline void legalize_cast(Legalizer& l, OpId op) {
  ValueId x = l.first_operand(op);
  const bool column = is_column(l.out.type(x));
  if (column) x = l.row_of(x);
  const DType from = l.out.type(x).dtype, to = l.result_type(op).dtype;
  const CastChain chain = cast_chain(from, to, l.arch);
  if (chain.empty())
    throw UserError(diagnose(breaks(rule::cast_has_no_path, arg(from), arg(to)), "cast", l.in[op].location));
  const std::size_t rounds = rounding_step(from, chain);
  const DType before = rounds == 0 ? from : chain[rounds - 1];
  const bool odd = l.in.attr(op, AttrKey::rounding) == static_cast<std::int64_t>(Rounding::odd);
  if (odd && (before != f32 || chain[rounds] != f16))
    l.refuse(op,
           "no instruction rounds this to odd (" + std::string(name(before)) + ", " +
               std::string(name(chain[rounds])) + ")",
           "only f32 to f16 rounds to odd; use Rounding::rint or another mode");
  for (std::size_t i = 0; i < chain.size(); ++i)
    x = l.emit(op, ops::cast, {x}, i == rounds ? l.r.attrs(op) : std::vector<Attr>{},
             with_dtype(l.out.type(x), chain[i]));
  l.finish(op, column ? l.column_of(x) : x);
}
// Of i32 the instruction of a3 knows equality only, and compares for equality whatever it is told. So x <= y is
// max(x, y) == y, and what is left is the opposite of one of these: then the mask's readers exchange their sides.
inline void legalize_compare(Legalizer& l, OpId op) {
  const auto how = static_cast<Compare>(l.in.attr(op, AttrKey::compare));
  if (l.arch != Arch::a3 || l.operand_type(op, 0).dtype != i32 || how == Compare::eq) return l.plain(op, l.r.operands(op));
  if (how == Compare::ne || how == Compare::lt || how == Compare::gt) l.opposite.insert(l.in.result(op).index);
  ValueId x = l.as_row_in_vec(op, l.r.map(l.in.operand(op, 0))), y = l.r.map(l.in.operand(op, 1));
  const Type t = l.out.type(x);
  y = l.in.is(op, ops::compares) ? l.emit(op, ops::full, {y}, {}, t) : l.as_row_in_vec(op, y);
  if (how != Compare::ne) {
    const ValueId larger = l.emit(op, ops::maximum, {x, y});
    (how == Compare::ge || how == Compare::lt ? y : x) = larger;
  }
  l.finish(op, l.emit(op, ops::compare, {x, y}, {int_attr(AttrKey::compare, static_cast<std::int64_t>(Compare::eq))}));
}
inline void legalize_select(Legalizer& l, OpId op) {
  std::vector<ValueId> operands = l.r.operands(op);
  if (l.opposite.contains(l.in.operand(op, 0).index)) std::swap(operands[1], operands[2]);
  l.plain(op, operands);
}
struct SineSteps {
  Legalizer* self;
  OpId op;
  Type type;
  ValueId times(ValueId a, double s) { return with(ops::muls, a, s); }
  ValueId plus(ValueId a, double s) { return with(ops::adds, a, s); }
  ValueId sum(ValueId a, ValueId b) { return self->emit(op, ops::add, {a, b}); }
  ValueId difference(ValueId a, ValueId b) { return self->emit(op, ops::sub, {a, b}); }
  ValueId product(ValueId a, ValueId b) { return self->emit(op, ops::mul, {a, b}); }
  ValueId nearest(ValueId a) { return whole(a, Rounding::rint); }
  ValueId below(ValueId a) { return whole(a, Rounding::floor); }
  ValueId with(const OpInfo& info, ValueId a, double s) { return self->emit(op, info, {a, self->out.constant(f32, s)}); }
  ValueId whole(ValueId a, Rounding r) {
    const ValueId n = self->emit(op, ops::cast, {a}, {int_attr(AttrKey::rounding, static_cast<int>(r))}, with_dtype(type, i32));
    return self->emit(op, ops::cast, {n}, {}, type);
  }
};
inline void legalize_trigonometry(Legalizer& l, OpId op) {
  const ValueId x = l.as_row_in_vec(op, l.r.map(l.in.operand(op, 0)));
  const ValueId made = sine(x, l.in.is(op, ops::cos), SineSteps{&l, op, l.out.type(x)});
  l.finish(op, is_column(l.result_type(op)) ? l.column_of(made) : made);
}

}  // namespace tessera::detail
