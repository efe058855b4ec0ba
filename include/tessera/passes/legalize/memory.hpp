// Loads and stores: columns come and go as strips, tiles that are read transposed are loads of their own.
#pragma once

#include "legalizer.hpp"

namespace tessera::detail {

// Written as columns in memory: [.., M, 1].
[[nodiscard]] inline bool is_column_tensor(const Type& t) { return t.rank > 1 && t.last() == 1 && t.last(1) != 1; }
[[nodiscard]] inline bool is_empty(const Function& f, ValueId v) {
  for (int i = 0; i < f.type(v).rank; ++i)
    if (f.type(v).is_tile() && f.valid(v, i) == Extent{0, {}}) return true;
  return false;
}
[[nodiscard]] inline ValueId load_as(Legalizer& l, OpId op, const Type& requested) {
  const ValueId old = l.in.result(op);
  const Type& t = l.in.type(old);
  std::vector<Attr> attrs = l.r.attrs(op);
  if (t.rank == 1) attrs.push_back(l.out.list_attr(AttrKey::window, {t.dims, 1}));
  const ValueId made = is_empty(l.in, old) ? l.emit(op, ops::create, {}, {}, requested)
                                          : l.emit(op, ops::load, l.r.operands(op), attrs, requested);
  if (l.in.fully_valid(old)) return made;
  if (t.rank == 1) l.out.set_valid(made, {{1, {}}, l.r.map(l.in.valid(old, 0))});
  else l.out.set_valid(made, {l.r.map(l.in.valid(old, 0)), l.r.map(l.in.valid(old, 1))});
  return made;
}
// A column of a row-major tensor is loaded as a strip of 32-byte rows, and turned.
inline void load_strip(Legalizer& l, OpId op) {
  Type strip = l.result_type(op);
  strip.layout = Layout::nd;
  const ValueId x = load_as(l, op, strip);
  const ValueId row = l.transposed(op, x);
  l.finish(op, l.column_of(row));
}
// One load for what reads the tile as it is, one for what reads it transposed.
inline void load_mat(Legalizer& l, OpId op) {
  const ValueId old = l.in.result(op);
  bool plain = !l.in.has_uses(old), turned = false;
  l.in.for_each_use(old, [&](OpId user, int) { (l.in.is(user, ops::transpose_view) ? turned : plain) = true; });
  if (plain) l.finish(op, load_as(l, op, as_row(l.in.type(old))));
  if (!turned) return;
  l.turned[old.index] = load_as(l, op, l.in.type(old));
  if (!plain) l.finish(op, l.turned[old.index]);
}
inline void legalize_load(Legalizer& l, OpId op) {
  const ValueId old = l.in.result(op);
  const Type& t = l.in.type(old);
  if (t.space == Mat) return load_mat(l, op);
  const bool column_tensor = is_column_tensor(l.operand_type(op, 0));
  if (is_column(t) && !column_tensor) return load_strip(l, op);
  Type requested = as_row(t);
  const bool element = column_tensor && t.layout == Layout::nd && requested.last() == 1;
  if (element) requested.layout = Layout::dn;
  const ValueId made = load_as(l, op, requested);
  l.finish(op, element ? l.reshaped(made, 1, 1) : made);
}
inline void legalize_transpose_view(Legalizer& l, OpId op) {
  const auto own = l.turned.find(l.in.operand(op, 0).index);
  l.finish(op, l.emit(op, ops::transpose_view, {own != l.turned.end() ? own->second : l.r.map(l.in.operand(op, 0))}));
}
inline void legalize_store(Legalizer& l, OpId op) {
  ValueId x = l.r.map(l.in.operand(op, 0));
  if (is_empty(l.out, x)) return;  // instructions move one element at least
  const Type& t = l.operand_type(op, 0);
  const Type& tensor = l.operand_type(op, 1);
  if (t.is_tile() && t.space == Vec) {
    const bool column_tensor = is_column_tensor(tensor);
    if (is_column(t) && !column_tensor) x = l.strip_of(op, x);
    else if (!is_column(t) && column_tensor && l.out.type(x).elements() == 1) x = l.reshaped(x, 1, 1, Layout::dn);
  }
  std::vector<ValueId> operands = l.r.operands(op);
  operands[0] = x;
  std::vector<Attr> attrs = l.r.attrs(op);
  if (t.is_tile() && t.rank == 1 && tensor.rank == 1) attrs.push_back(l.out.list_attr(AttrKey::window, {t.dims, 1}));
  l.emit(op, ops::store, operands, attrs);
}

}  // namespace tessera::detail
