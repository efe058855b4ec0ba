// Which operands, block arguments and results of a control operation are one variable (the layout is told in ops/control.hpp).
#pragma once

#include <vector>

#include "function.hpp"

namespace tessera {

/// Operands in front of those that the operation carries or hands on: the bounds of a loop, a condition, arguments.
[[nodiscard]] inline int fixed_operands(const Function& f, OpId op) {
  if (f.is(op, ops::tileop_body)) return static_cast<int>(f.attr(op, AttrKey::arguments));
  return f.is(op, ops::for_loop) ? 3 : f.is(op, ops::if_else) || f.is(op, ops::condition) ? 1 : 0;
}
/// Arguments of its blocks in front of the carried values: the counter of a loop.
[[nodiscard]] inline int fixed_arguments(const Function& f, OpId op) { return f.is(op, ops::for_loop) ? 1 : 0; }

/// The argument of a block of a loop that carries its result number `i`.
[[nodiscard]] inline ValueId carried_argument(const Function& f, OpId loop, int block, int i) {
  return f[f.block(loop, block)].arguments[static_cast<std::size_t>(fixed_arguments(f, loop) + i)];
}
/// All of them.
[[nodiscard]] inline List<ValueId> carried_arguments(const Function& f, OpId loop, int block) {
  const List<ValueId> all = f[f.block(loop, block)].arguments;
  const auto fixed = static_cast<std::size_t>(fixed_arguments(f, loop));
  return {all.begin() + fixed, all.size() - fixed};
}
[[nodiscard]] inline std::vector<ValueId> results_of(const Function& f, OpId op) {
  std::vector<ValueId> list;
  for (int i = 0; i < f.result_count(op); ++i) list.push_back(f.result(op, i));
  return list;
}
/// What the block hands on as number `i`.
[[nodiscard]] inline ValueId handed_on(const Function& f, BlockId block, int i) {
  const OpId end = f.terminator(block);
  return f.operand(end, fixed_operands(f, end) + i);
}
/// The result of the loop or branch that receives operand `i` of an operation of control flow; none for others.
[[nodiscard]] inline ValueId receiver(const Function& f, OpId op, int i) {
  const int carried = i - fixed_operands(f, op);
  if (carried < 0) return {};
  if (f.is(op, ops::for_loop) || f.is(op, ops::while_loop) || f.is(op, ops::tileop_body)) return f.result(op, carried);
  if (f.is(op, ops::yield) || f.is(op, ops::condition)) return f.result(f[f[op].parent].owner, carried);
  return {};
}
/// The values that are one variable: initial value, block arguments, what the blocks hand on, and result number `i`.
[[nodiscard]] inline std::vector<ValueId> same_variable(const Function& f, OpId op, int i) {
  std::vector<ValueId> list;
  const bool branch = f.is(op, ops::if_else);
  if (!branch) list.push_back(f.operand(op, fixed_operands(f, op) + i));
  for (int b = 0; b < f.block_count(op); ++b) {
    if (!branch) list.push_back(carried_argument(f, op, b, i));
    list.push_back(handed_on(f, f.block(op, b), i));
  }
  list.push_back(f.result(op, i));
  return list;
}

}  // namespace tessera
