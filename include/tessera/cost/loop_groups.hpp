// Turns of loops whose bounds are not known: of a loop that holds several turns of the one that was written, and of what does
// the turns behind it that fill no group. They are told by their numbers, since a planner may take back a loop's buffers.
#pragma once

#include <vector>

#include "../ir/walk.hpp"
#include "../ops/all.hpp"
#include "known_scalars.hpp"

namespace tessera::detail {

class LoopGroups {
 public:
  explicit LoopGroups(const Function& f) : f_(f), held_(f.operation_count(), 1), behind_(f.operation_count(), 0) {
    for (const OpId op : all_operations(f)) {
      if (f.is(op, ops::for_loop)) rest_in_loop(op);
      else if (f.is(op, ops::if_else)) rest_in_branch(op);
    }
  }

  /// Turns of a loop where the one that was written takes so many.
  [[nodiscard]] std::int64_t turns(OpId loop, std::int64_t written) const {
    return behind_[loop.index] > 0 ? written % behind_[loop.index] : written / held_[loop.index];
  }
  /// Whether a branch does a turn that fills no group; none where it is another branch.
  [[nodiscard]] std::optional<bool> takes_turn(OpId branch, std::int64_t written) const {
    return behind_[branch.index] > 0 ? std::optional<bool>(written % behind_[branch.index] != 0) : std::nullopt;
  }
  /// The turns of a loop from a number to that number and a constant.
  [[nodiscard]] KnownInteger constant_turns(OpId loop) const {
    const Sum start = sum_of(f_.operand(loop, 0)), stop = sum_of(f_.operand(loop, 1));
    const ValueId by = f_.operand(loop, 2);
    const std::int64_t step = f_.is_constant(by) ? f_[by].integer : 0;
    std::int64_t length = 0;
    if (step <= 0 || start.base != stop.base || __builtin_sub_overflow(stop.constant, start.constant, &length)) return {};
    return length <= 0 ? 0 : (length - 1) / step + 1;
  }

 private:
  // base + constant; a constant has no base.
  struct Sum {
    ValueId base;
    std::int64_t constant = 0;
  };
  [[nodiscard]] Sum sum_of(ValueId v) const {
    if (f_.is_constant(v)) return {{}, f_[v].integer};
    const OpId sum = f_.definition(v);
    if (sum && f_.is(sum, ops::scalar_add) && f_.is_constant(f_.operand(sum, 1))) return {f_.operand(sum, 0), f_[f_.operand(sum, 1)].integer};
    return {v, 0};
  }
  // base * factor; a constant has no base.
  struct Multiple {
    ValueId base;
    std::int64_t factor = 1;
    /// How often the other one is in it; 0: that is not known, or not a whole number.
    [[nodiscard]] std::int64_t over(const Multiple& other) const {
      return base == other.base && factor > 0 && other.factor > 0 && factor % other.factor == 0 ? factor / other.factor : 0;
    }
  };
  [[nodiscard]] Multiple multiple_of(ValueId v) const {
    Multiple m;
    for (;;) {
      std::int64_t factor = 0;
      const auto scale_by = [&](ValueId constant) { return !__builtin_mul_overflow(m.factor, f_[constant].integer, &factor); };
      if (f_.is_constant(v) && scale_by(v)) return {{}, factor};
      m.base = v;
      const OpId product = f_.is_constant(v) ? OpId{} : f_.definition(v);
      if (!product || !f_.is(product, ops::scalar_mul) || !f_.is_constant(f_.operand(product, 1)) || !scale_by(f_.operand(product, 1))) return m;
      m.factor = factor;
      v = f_.operand(product, 0);
    }
  }
  [[nodiscard]] Multiple step_of(OpId loop) const { return multiple_of(f_.operand(loop, 2)); }
  // The loop in front whose counter a value is, as it stands behind its last turn.
  [[nodiscard]] OpId counted_by(ValueId v) const {
    const OpId loop = f_.definition(v);
    if (!loop || !f_.is(loop, ops::for_loop) || f_.result(loop, f_.result_count(loop) - 1) != v) return {};
    const OpId end = f_.terminator(f_.block(loop));
    const OpId next = f_.definition(f_.operand(end, f_.operand_count(end) - 1));
    const bool counts = next && f_.is(next, ops::scalar_add) && f_.operand(next, 0) == f_[f_.block(loop)].arguments[0] &&
                        multiple_of(f_.operand(next, 1)).over(step_of(loop)) == 1;
    return counts && f_.operand(loop, f_.operand_count(loop) - 1) == f_.operand(loop, 0) ? loop : OpId{};
  }
  void rest_in_loop(OpId loop) {
    const OpId group = counted_by(f_.operand(loop, 0));
    const std::int64_t turns = group ? step_of(group).over(step_of(loop)) : 0;
    if (turns > 0) held_[group.index] = behind_[loop.index] = turns;
  }
  // if (counter < stop), behind a loop that ends a step in front of `stop` and has steps of two.
  void rest_in_branch(OpId branch) {
    const OpId test = f_.definition(f_.operand(branch, 0));
    if (!test || !f_.is(test, ops::scalar_compare) || static_cast<Compare>(f_.attr(test, AttrKey::compare)) != Compare::lt) return;
    const OpId group = counted_by(f_.operand(test, 0));
    const OpId end = group ? f_.definition(f_.operand(group, 1)) : OpId{};
    if (!end || !f_.is(end, ops::scalar_sub) || f_.operand(end, 0) != f_.operand(test, 1)) return;
    if (step_of(group).over(multiple_of(f_.operand(end, 1))) == 2) held_[group.index] = behind_[branch.index] = 2;
  }

  const Function& f_;
  std::vector<std::int64_t> held_;    // by loop: turns that one of its turns holds
  std::vector<std::int64_t> behind_;  // by loop or branch: turns of a group that it stands behind; 0: behind none
};

}  // namespace tessera::detail
