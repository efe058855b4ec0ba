// Loops and branches of a simulated function, and what they hand on.
#pragma once

#include "engine.hpp"

namespace tessera::simulator {

inline void Engine::run_control(OpId op, const OpInfo& info) {
  if (&info == &ops::for_loop) return run_for(op);
  if (&info == &ops::while_loop) return run_while(op);
  if (&info == &ops::if_else) return run_if(op);
  if (&info == &ops::tileop_body) return run_tileop_body(op);
  if (&info == &ops::call) return run_call(op);
  if (&info == &ops::launch) return run_launch(op);
  if (is_sync(info)) {
    if (recorder_ != nullptr) recorder_->sync(op);
    return;
  }
  if (&info == &ops::yield || &info == &ops::condition || &info == &ops::return_op || &info == &ops::sync_threads) return;  // the holder reads them
  throw InternalError("simulate: no function for operation " + std::string(info.name));
}
inline void Engine::run_for(OpId op) {
  const std::int64_t start = number(f_.operand(op, 0)).integer, stop = number(f_.operand(op, 1)).integer;
  const std::int64_t step = number(f_.operand(op, 2)).integer;
  if (step <= 0)
    fail(f_[op].location, "for: the step is not positive (" + std::to_string(step) + ")",
         "count upwards: range(start, stop, step) with step above 0");
  const BlockId body = f_.block(op);
  const List<ValueId> arguments = f_[body].arguments;
  const List<ValueId> carried = carried_arguments(f_, op, 0);
  hand_on(op, op, fixed_operands(f_, op), carried);
  const DType counter = f_.type(arguments[0]).dtype;
  for (std::int64_t i = start; i < stop;) {
    set_number(arguments[0], make_number(counter, i));
    hand_on(run_block(body), op, 0, carried);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  hand_to_results(op, carried);
}
inline void Engine::run_while(OpId op) {
  const BlockId test = f_.block(op, 0), body = f_.block(op, 1);
  hand_on(op, op, 0, f_[test].arguments);
  for (std::int64_t trips = 0;; ++trips) {
    const OpId end = run_block(test);
    if (number(f_.operand(end, 0)).integer == 0) {
      return hand_on(end, op, fixed_operands(f_, end), results_of(f_, op));
    }
    if (trips == options.while_limit)
      fail(f_[op].location, "while: the loop does not end (" + std::to_string(trips) + " trips)",
           "change what the condition reads in the body, or raise SimulateOptions::while_limit");
    hand_on(end, op, fixed_operands(f_, end), f_[body].arguments);
    hand_on(run_block(body), op, 0, f_[test].arguments);
  }
}
inline void Engine::run_if(OpId op) {
  const OpId end = run_block(f_.block(op, number(f_.operand(op, 0)).integer != 0 ? 0 : 1));
  hand_on(end, op, 0, results_of(f_, op));
}
inline void Engine::run_tileop_body(OpId op) {
  hand_on(op, op, fixed_operands(f_, op), carried_arguments(f_, op, 0));
  hand_on(run_block(f_.block(op)), op, 0, results_of(f_, op));
}
/// Operands `first`.. of `from` become the values `to`, all at once. `at` is the control operation.
inline void Engine::hand_on(OpId from, OpId at, int first, List<ValueId> to) {
  std::vector<Slot> fresh;
  for (std::size_t i = 0; i < to.size(); ++i)
    fresh.push_back(handed(from, at, f_.operand(from, first + static_cast<int>(i)), to[i]));
  for (std::size_t i = 0; i < to.size(); ++i) slots_[to[i].index] = std::move(fresh[i]);
}
inline void Engine::hand_to_results(OpId op, List<ValueId> from) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    const ValueId to = f_.result(op, static_cast<int>(i));
    slots_[to.index] = handed(op, op, from[i], to);
  }
}
inline Engine::Slot Engine::handed(OpId reader, OpId at, ValueId from, ValueId to) const {
  if (f_.type(from).is_scalar()) {
    Slot s;
    s.number = number(from);
    return s;
  }
  check_intact(reader, from);
  check_defined(from);
  if (f_[from].buffer != f_[to].buffer && f_[from].buffer != no_index && f_[to].buffer != no_index)
    throw InternalError("simulate: " + describe(at) + ": " + value_text(from) + " is handed on as " + value_text(to) +
                        ", which has another buffer");
  Slot s = slots_[from.index];
  // In a kernel, what is handed on is a value: later stores to the memory it was read from do not change it.
  if (runs_on_chip(f_.kind)) {
    if (s.is_memory && (s.is_view || !s.is_input)) {
      note_whole_read(at, *s.data);
      s.data = std::make_shared<Data>(*s.data);
      s.data->dims = s.dims;
    }
    s.is_input = s.is_view = false;
  }
  s.is_memory = false;
  if (!f_.fully_valid(to)) {
    const Box extents = valid(to);
    if (extents != s.data->dims) {
      s.data = std::make_shared<Data>(*s.data);
      s.data->clear_outside(extents);
    }
  }
  return s;
}

}  // namespace tessera::simulator
