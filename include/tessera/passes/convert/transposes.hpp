// A transposed tensor that only products read is no value of its own: the products read the tensor transposed.
#pragma once

#include "../../ir/rewrite.hpp"
#include "../../ir/walk.hpp"
#include "../../ops/matmul.hpp"
#include "../../ops/memory.hpp"

namespace tessera::convert {

/// Whether operand i of a product is one of its two factors.
[[nodiscard]] inline bool is_factor(const Function& f, OpId op, int i) {
  const int first = f.info(op).first_factor;
  return first >= 0 && (i == first || i == first + 1);
}

/// Whether `op` exchanges the last two axes of a tensor, for products alone.
[[nodiscard]] inline bool is_absorbed(const Function& f, OpId op) {
  if (!f.is(op, ops::transpose) || !f.type(f.result(op)).is_tensor()) return false;
  const std::int64_t rank = f.type(f.result(op)).rank;
  const auto from_end = [&](std::int64_t axis) { return axis < 0 ? axis : axis - rank; };
  const std::int64_t a = from_end(f.attr(op, AttrKey::axis, -2)), b = from_end(f.attr(op, AttrKey::other_axis, -1));
  if (a + b != -3 || (a != -1 && b != -1) || !f.has_uses(f.result(op))) return false;
  bool products = true;
  f.for_each_use(f.result(op), [&](OpId user, int i) { products = products && is_factor(f, user, i); });
  return products;
}

/// Copies a product with its absorbed factors read transposed.
inline void copy_product(Rewriter& r, OpId op) {
  const Function& f = r.in();
  const int first = f.info(op).first_factor;
  std::vector<ValueId> operands = r.operands(op);
  bool transposed[2] = {f.attr(op, AttrKey::transpose_lhs) != 0, f.attr(op, AttrKey::transpose_rhs) != 0};
  for (int i = 0; i < 2; ++i) {
    const OpId definition = f.definition(f.operand(op, first + i));
    if (!definition || !is_absorbed(f, definition)) continue;
    operands[static_cast<std::size_t>(first + i)] = r.map(f.operand(definition, 0));
    transposed[i] = !transposed[i];
  }
  std::vector<Attr> attrs;
  if (transposed[0]) attrs.push_back(int_attr(AttrKey::transpose_lhs, 1));
  if (transposed[1]) attrs.push_back(int_attr(AttrKey::transpose_rhs, 1));
  r.set(f.result(op), r.build().value(f.info(op), operands, attrs));
}

/// Builds the function without absorbed transposes in `out`; false, and nothing built, where there are none.
[[nodiscard]] inline bool absorb_transposes(const Function& in, Function& out) {
  bool any = false;
  for (const OpId op : all_operations(in)) any = any || is_absorbed(in, op);
  if (!any) return false;
  Rewriter r(in, out);
  r.copy_parameters();
  const auto visit = [&](auto&& self, OpId op) -> void {
    if (is_absorbed(in, op)) return;
    if (in.info(op).first_factor >= 0) copy_product(r, op);
    else r.copy(op, [&](OpId o) { self(self, o); });
  };
  r.run([&](OpId op) { visit(visit, op); });
  return true;
}

}  // namespace tessera::convert
