// A program: a function that is run, and those that it calls. What calls mean for the functions around them stands here, too:
// which tensors a function's values may be, and whom a call writes.
#pragma once

#include "../ops/call.hpp"
#include "../ops/memory.hpp"
#include "../ops/simt.hpp"
#include "control_layout.hpp"

namespace tessera {

/// Callees stand before their callers; the last function is the one that is run.
struct Program {
  std::vector<Function> functions;

  [[nodiscard]] const Function& entry() const { return functions.back(); }
  [[nodiscard]] std::size_t entry_index() const { return functions.size() - 1; }
};

[[nodiscard]] inline std::size_t callee_index(const Function& f, OpId call) {
  return static_cast<std::size_t>(f.attr(call, AttrKey::callee, -1));
}
/// The tile operation that a call in a kernel, or in a tile operation, runs.
[[nodiscard]] inline const Function& called_tileop(const Function& f, OpId call) { return *f.tileops[callee_index(f, call)]; }
[[nodiscard]] inline const Function& callee(const Program& p, const Function& f, OpId call) {
  return runs_on_chip(f.kind) ? called_tileop(f, call) : p.functions[callee_index(f, call)];
}

/// What a function returns; tiles count as the tensors that they are stored to.
[[nodiscard]] inline std::vector<Type> returned_types(const Function& f) {
  std::vector<Type> types;
  const OpId end = f.terminator(f.body());
  for (int i = 0; end && i < f.operand_count(end); ++i) {
    const Type& t = f.type(f.operand(end, i));
    types.push_back(t.is_tile() ? with_space(t, Gm) : t);
  }
  return types;
}

/// The verdict on the arguments of a call; binds the callee's named dims.
[[nodiscard]] inline Verdict check_call(const Function& callee, const Function& f, List<ValueId> arguments, DimBinding& binding) {
  if (arguments.size() != callee.parameters.size())
    return breaks(rule::call_argument_count_differs, arg(static_cast<std::int64_t>(arguments.size())),
                  arg(static_cast<std::int64_t>(callee.parameters.size())));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Verdict v = check_argument(binding, callee.type(callee.parameters[i].value), f.type(arguments[i]), static_cast<std::int64_t>(i));
    if (!v.lawful()) return v;
  }
  return lawful();
}
/// As above, of a tile operation: arguments have the very types of its tile parameters, and its tensors are memory.
[[nodiscard]] inline Verdict check_tileop_call(const Function& tileop, const Function& f, List<ValueId> arguments, DimBinding& binding) {
  if (arguments.size() != tileop.parameters.size())
    return breaks(rule::call_argument_count_differs, arg(static_cast<std::int64_t>(arguments.size())),
                  arg(static_cast<std::int64_t>(tileop.parameters.size())));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Type &wanted = tileop.type(tileop.parameters[i].value), &given = f.type(arguments[i]);
    const auto position = static_cast<std::int64_t>(i);
    const Verdict v = wanted.is_tile() ? check_tile_argument(wanted, given, position) : check_argument(binding, wanted, given, position);
    if (!v.lawful()) return v;
    if (wanted.is_tile() && !given.is_tile()) return breaks(rule::tileop_argument_is_not_a_tile, arg(position));
    if (wanted.is_tensor() && !parameter_of(f, arguments[i])) return breaks(rule::tileop_tensor_is_a_value, arg(position));
  }
  return lawful();
}
/// The simt kernel that a launch in a kernel runs.
[[nodiscard]] inline const Function& launched(const Function& f, OpId launch) { return *f.launched[callee_index(f, launch)]; }
/// As above, of a launch: tensors are memory, and what is written is an output of the kernel.
[[nodiscard]] inline Verdict check_launch(const Function& simt, const Function& f, List<ValueId> arguments, DimBinding& binding) {
  if (const Verdict v = check_call(simt, f, arguments, binding); !v.lawful()) return v;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!f.type(arguments[i]).is_tensor()) continue;
    const ValueId memory = parameter_of(f, arguments[i]);
    if (!memory) return breaks(rule::tileop_tensor_is_a_value, arg(static_cast<std::int64_t>(i)));
    const bool input = f.parameters[f[memory].position].direction == Direction::in;
    if (input && simt.parameters[i].direction != Direction::in) return breaks(rule::not_an_output, arg_op);
  }
  return lawful();
}
/// Throws UserError for a call that gives two parameters one tensor, when the callee writes one of them.
inline void refuse_overlap(const Function& callee, const Parameter& a, const Parameter& b, const Location& call) {
  if (a.direction == Direction::in && b.direction == Direction::in) return;
  fail(call,
       "call: one tensor is given for two parameters, and " + std::string(callee.name.c_str()) + " writes it (" + std::string(a.name.c_str()) + ", " +
           std::string(b.name.c_str()) + ")",
       "parameters do not overlap: pass another buffer, or make it one InOut parameter");
}

/// The same of a launch, whose tensors may be views of one parameter.
inline void refuse_overlaps(const Function& simt, const Function& f, List<ValueId> arguments, const Location& launch) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (f.type(arguments[i]).is_tensor() && f.type(arguments[k]).is_tensor() && parameter_of(f, arguments[i]) == parameter_of(f, arguments[k]))
        refuse_overlap(simt, simt.parameters[k], simt.parameters[i], launch);
}

namespace detail {

/// Calls use(value) with what a control operation hands its operand `i` to.
template <class Use>
void for_each_receiver(const Function& f, OpId op, int i, Use&& use) {
  const ValueId result = receiver(f, op, i);
  if (!result) return;
  use(result);
  const OpId owner = f.definition(result);
  if (!f.is(owner, ops::if_else))
    for (int b = 0; b < f.block_count(owner); ++b) use(carried_argument(f, owner, b, i - fixed_operands(f, op)));
}

}  // namespace detail

/// Whether each value of a function that runs on the host may be the given tensor: itself, and what loops and branches make of it.
[[nodiscard]] inline std::vector<bool> may_be(const Function& f, ValueId tensor) {
  std::vector<bool> reached(f.value_count());
  std::vector<ValueId> pending = {tensor};
  reached[tensor.index] = true;
  while (!pending.empty()) {
    const ValueId v = pending.back();
    pending.pop_back();
    f.for_each_use(v, [&](OpId op, int i) {
      detail::for_each_receiver(f, op, i, [&](ValueId to) {
        if (!reached[to.index]) pending.push_back(to);
        reached[to.index] = true;
      });
    });
  }
  return reached;
}

/// How a tensor is used, under any of the names that it has in a function that runs on the host.
struct TensorUse {
  bool read = false, written = false, returned = false;
};
[[nodiscard]] inline TensorUse use_of(const Program& p, const Function& f, ValueId tensor) {
  TensorUse use;
  const std::vector<bool> names = may_be(f, tensor);
  for (std::uint32_t v = 0; v < names.size(); ++v) {
    if (!names[v]) continue;
    f.for_each_use(ValueId{v}, [&](OpId op, int i) {
      use.returned = use.returned || f.is(op, ops::return_op);
      use.read = use.read || f.is(op, ops::read);
      if (!f.is(op, ops::call)) return;
      const Direction d = callee(p, f, op).parameters[static_cast<std::size_t>(i)].direction;
      use.read = use.read || d != Direction::out;
      use.written = use.written || d != Direction::in;
    });
  }
  return use;
}

/// A plain tensor parameter that a call writes is Out, or InOut where it is read, too. Callees must have theirs already.
inline void upgrade_directions(const Program& p, Function& f) {
  for (Parameter& own : f.parameters) {
    if (own.direction != Direction::in || !f.type(own.value).is_tensor()) continue;
    if (const TensorUse use = use_of(p, f, own.value); use.written) own.direction = use.read ? Direction::inout : Direction::out;
  }
}

/// Whether a function, or one that it calls, is an spmd wrapper.
[[nodiscard]] inline bool launches_blocks(const Program& p, const Function& f) {
  if (f.kind == FunctionKind::spmd) return true;
  bool found = false;
  for (std::uint32_t i = 0; i < f.operation_count(); ++i)
    found = found || (f[OpId{i}].parent && f.is(OpId{i}, ops::call) && launches_blocks(p, callee(p, f, OpId{i})));
  return found;
}

}  // namespace tessera
