// A broadcast that is only stored is no tile of its own: what is repeated is stored again and again. Also: a repeated operand
// must be valid wherever the wide one beside it is.
#pragma once

#include "converter.hpp"

namespace tessera::convert {

/// The one axis along which a broadcast_to repeats its operand; -1 where it repeats it along none or several.
[[nodiscard]] inline int repeated_axis(const Type& from, const Type& to) {
  int axis = -1;
  for (int i = 0; i < to.rank; ++i) {
    if (detail::dim_of_operand(from, i, to.rank) == to.dims[i]) continue;
    if (axis >= 0) return -1;
    axis = i;
  }
  return axis;
}

/// Whether a broadcast_to of tensors makes no tile: it has more than two dims, repeats along one of them but the last, and the
/// stores and returns of its own block are all that reads it.
[[nodiscard]] inline bool is_streamed(const Converter& c, OpId op) {
  const Function& in = c.in();
  if (!in.is(op, ops::broadcast_to) || !in.type(in.result(op)).is_tensor()) return false;
  const ValueId x = in.operand(op, 0);
  const Type &from = in.type(x), &to = in.type(in.result(op));
  const int axis = repeated_axis(from, to), own = axis - (to.rank - from.rank);
  if (to.rank < 3 || axis < 0 || axis + 1 == to.rank || !in.has_uses(in.result(op))) return false;
  if (to.last() == 1 && axis > 0) return false;  // columns are stored as bands
  if (c.placement().is_parameter(x) && c.placement().written(x)) return false;
  if (own >= 0 && in.valid(x, own) != Extent{1, {}}) return false;
  bool stored = true;
  in.for_each_use(in.result(op), [&](OpId user, int i) {
    stored = stored && in[user].parent == in[op].parent && (in.is(user, ops::return_op) || (in.is(user, ops::store) && i == 0));
  });
  return stored;
}
/// The streamed broadcast behind a value; none where the value is a tile.
[[nodiscard]] inline OpId streamed(const Converter& c, ValueId v) {
  const OpId definition = c.in().definition(v);
  return definition && is_streamed(c, definition) ? definition : OpId{};
}

/// Stores a streamed broadcast to a tensor. Rows of a parameter of rank 3 are loaded one by one, and repeated to pages; anything
/// else is stored once for each repetition.
inline void store_streamed(Converter& c, OpId broadcast, ValueId tensor, const std::vector<ValueId>& offsets,
                           const std::vector<Attr>& attrs) {
  const Function& in = c.in();
  Builder& b = c.build();
  const ValueId x = in.operand(broadcast, 0);
  const Type &from = in.type(x), &to = in.type(in.result(broadcast));
  const int axis = repeated_axis(from, to);
  const auto store_at = [&](ValueId tile, int moving, ValueId i) {
    std::vector<ValueId> operands{tile, tensor};
    operands.insert(operands.end(), offsets.begin(), offsets.end());
    ValueId& offset = operands[operands.size() - static_cast<std::size_t>(to.rank - moving)];
    offset = b.add(offset, i);
    b.emit(ops::store, operands, attrs);
  };
  const bool by_row = axis == 1 && to.rank == 3 && from.rank == 3 && c.placement().is_parameter(x) &&
                      !c.placement().loaded_at_entry(x) && in.fully_valid(x) && from.has_static_shape();
  if (by_row) {
    const std::int64_t row[] = {1, 1, to.dims[2]}, page[] = {1, to.dims[1], to.dims[2]};
    return b.repeat(b.index(to.dims[0]), [&](ValueId i) {
      const ValueId tile = c.load(x, {i, b.index(0), b.index(0)}, {row, 3}, Vec);
      store_at(b.value(ops::col_expand, {tile}, {}, with_shape(lowered(to), page, 3)), 0, i);
    });
  }
  const ValueId tile = c.placed(c.operand(broadcast, 0), Vec);
  b.repeat(b.index(to.dims[axis]), [&](ValueId i) { store_at(tile, axis, i); });
}

inline void lower_broadcast(Converter& c, OpId op) {
  if (!is_streamed(c, op)) c.plain(op);
}
inline void lower_store(Converter& c, OpId op) {
  const OpId broadcast = streamed(c, c.in().operand(op, 0));
  if (!broadcast) return c.plain(op);
  const std::vector<ValueId> operands = [&] {
    std::vector<ValueId> list;
    for (int i = 1; i < c.in().operand_count(op); ++i) list.push_back(c.rewriter().map(c.in().operand(op, i)));
    return list;
  }();
  store_streamed(c, broadcast, operands[0], {operands.begin() + 1, operands.end()}, c.rewriter().attrs(op));
}

// --- valid extents of a repeated operand ---

/// Whether two scalars are the same number: one value, or one computation on the same numbers.
[[nodiscard]] inline bool same_number(const Function& f, ValueId a, ValueId b, int depth = 8) {
  if (a == b) return true;
  const OpId x = f.definition(a), y = f.definition(b);
  if (depth == 0 || !x || !y || &f.info(x) != &f.info(y) || !f.info(x).pure || f.operand_count(x) == 0) return false;
  if (f.operand_count(x) != f.operand_count(y) || f.attrs(x).size() != 0 || f.attrs(y).size() != 0) return false;
  for (int i = 0; i < f.operand_count(x); ++i)
    if (!same_number(f, f.operand(x, i), f.operand(y, i), depth - 1)) return false;
  return true;
}
/// Whether `inner` is known to be at most `outer`.
[[nodiscard]] inline bool at_most(const Function& f, const Extent& inner, const Extent& outer) {
  if (inner.is_constant() && outer.is_constant()) return inner.constant <= outer.constant;
  if (inner == Extent{0, {}}) return true;
  if (inner.is_constant()) return false;
  if (!outer.is_constant() && same_number(f, inner.value, outer.value)) return true;
  const OpId min = f.definition(inner.value);
  if (!min || !f.is(min, ops::scalar_min)) return false;
  for (int i = 0; i < 2; ++i) {
    const ValueId v = f.operand(min, i);
    if (at_most(f, f.is_constant(v) ? Extent{f[v].integer, {}} : Extent{0, v}, outer)) return true;
  }
  return false;
}

/// An instruction that repeats its second operand reads it wherever the first one is valid.
inline void refuse_uncovered(const Function& f, OpId op) {
  const ValueId wide = f.operand(op, 0), narrow = f.operand(op, 1);
  if (f.fully_valid(narrow)) return;
  const Type &w = f.type(wide), &n = f.type(narrow);
  const auto number = [](const Extent& e) { return e.is_constant() ? std::to_string(e.constant) : std::string("a run-time extent"); };
  for (int i = 0; i < n.rank; ++i) {
    const int axis = i + w.rank - n.rank;
    const Extent has = f.valid(narrow, i), whole = {n.dims[i], {}};
    const Extent needs = n.dims[i] == w.dims[axis] ? f.valid(wide, axis) : whole;
    if (has == whole || at_most(f, needs, has)) continue;
    fail(f[op].location,
         std::string(f.info(op).name) + ": the operand that is repeated is not known to be valid wherever the other one is (axis " +
             std::to_string(axis) + ": " + number(has) + " of " + number(needs) + ")",
         "give both operands the same valid extents, or fill the repeated one: fillpad(x)");
  }
}
inline void refuse_uncovered(const Function& f) {
  for (const OpId op : all_operations(f))
    if (f.info(op).valid == ValidRule::wide) refuse_uncovered(f, op);
}

}  // namespace tessera::convert
