// Which windows of a tensor cannot meet.
#pragma once

#include "../../ir/tensor_window.hpp"
#include "storage.hpp"

namespace tessera::detail {

/// scale * base + constant.
struct Scaled {
  ValueId base;  ///< none: the constant alone
  std::int64_t scale = 1, constant = 0;
};
[[nodiscard]] inline Scaled scaled(const Function& f, ValueId v) {
  if (f.is_constant(v)) return {{}, 0, f[v].integer};
  const OpId by = f.definition(v);
  const bool add = by && f.is(by, ops::scalar_add), mul = by && f.is(by, ops::scalar_mul);
  for (int i = 0; (add || mul) && i < 2; ++i) {
    if (!f.is_constant(f.operand(by, 1 - i))) continue;
    Scaled a = scaled(f, f.operand(by, i));
    const std::int64_t n = f[f.operand(by, 1 - i)].integer;
    if (add) a.constant += n;
    else a.scale *= n, a.constant *= n;
    return a;
  }
  return {v, 1, 0};
}

/// How two accesses stand to each other.
struct Relation {
  BlockId block;  ///< the innermost one of which one run holds both
  OpId between;   ///< the loop or branch in it that holds the second access, in another run of its blocks; none: the same run
};

/// Whether a value is the same for both accesses.
[[nodiscard]] inline bool is_same(const Function& f, ValueId v, const Relation& r) {
  const BlockId home = f.defining_block(v);
  if (!home) return true;
  for (BlockId b = r.block;; b = f[f[b].owner].parent) {
    if (b == home) return true;
    if (!f[b].owner) return false;
  }
}

/// Whether two windows of one tensor have no element in common.
[[nodiscard]] inline bool are_apart(const Function& f, OpId first, OpId second, const Relation& r) {
  const TensorWindow a = tensor_window(f, first), b = tensor_window(f, second);
  // As long as both see it with the same dims.
  const auto seen = [&](OpId op) -> const Type& { return f.type(f.operand(op, memory_operand(f.info(op)))); };
  if (!a || !b || seen(first) != seen(second)) return false;
  for (int i = 0; i < a.rank; ++i) {
    const Scaled x = scaled(f, f.operand(first, a.first_offset + i)), y = scaled(f, f.operand(second, b.first_offset + i));
    if (x.base != y.base || x.scale != y.scale) continue;
    if (!x.base || is_same(f, x.base, r)) {
      if (x.constant + a.box[i] <= y.constant || y.constant + b.box[i] <= x.constant) return true;
      continue;
    }
    if (!r.between || !f.is(r.between, ops::for_loop) || x.base != f[f.block(r.between)].arguments[0]) continue;
    const ValueId step = f.operand(r.between, 2);
    // Some turns later the counter is larger by one step at least.
    if (f.is_constant(step) && x.scale > 0 && f[step].integer * x.scale + y.constant - x.constant >= a.box[i]) return true;
  }
  return false;
}

}  // namespace tessera::detail
