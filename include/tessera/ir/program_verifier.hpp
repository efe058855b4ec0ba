// The verifier of a program: every function on its own, and what holds between them: arguments and results of calls, whom a
// call may write, and what functions on the host may do.
#pragma once

#include "verifier.hpp"

namespace tessera {
namespace detail {

/// What a function that runs on the host may hold besides scalars and control flow: buffers, single elements, calls.
[[nodiscard]] inline bool runs_on_host(const Function& f, OpId op) {
  const OpInfo& info = f.info(op);
  if (info.level == Level::control) return true;
  if (info.level == Level::scalar) return info.form != PtoForm::block_index;
  if (&info == &ops::create) return f.type(f.result(op)).is_tensor();
  return &info == &ops::read;
}

class ProgramVerifier {
 public:
  ProgramVerifier(const Program& p, Properties required) : p_(p), required_(required) {}

  void run() {
    if (p_.functions.empty()) throw InternalError("verify: the program has no function");
    for (index_ = 0; index_ < p_.functions.size(); ++index_) function(p_.functions[index_]);
  }

 private:
  [[noreturn]] void refuse(const Function& f, OpId op, const std::string& what) const {
    throw InternalError("verify: " + what + "\n  " + print(p_, f, op) + "  in @" + std::string(f.name.c_str()));
  }
  void require(bool holds, const Function& f, OpId op, const char* what) const {
    if (!holds) refuse(f, op, what);
  }
  void function(const Function& f) const {
    verify(f, f.kind == FunctionKind::kernel ? required_ : Properties());
    if (runs_on_chip(f.kind)) return;
    std::vector<bool> inputs(f.value_count());
    for (const Parameter& p : f.parameters)
      if (p.direction == Direction::in && f.type(p.value).is_tensor()) {
        const std::vector<bool> names = may_be(f, p.value);
        for (std::size_t v = 0; v < names.size(); ++v) inputs[v] = inputs[v] || names[v];
      }
    for (std::uint32_t i = 0; i < f.operation_count(); ++i) {
      const OpId op{i};
      if (!f[op].parent) continue;
      require(runs_on_host(f, op), f, op, "the operation does not run on the host");
      if (f.is(op, ops::call)) call(f, op, inputs);
    }
    if (is_wrapper(f.kind)) wrapper(f);
  }
  void call(const Function& f, OpId op, const std::vector<bool>& inputs) const {
    require(f.find_attr(op, AttrKey::callee) != nullptr && callee_index(f, op) < index_, f, op, "the callee does not stand before its caller");
    const Function& to = callee(p_, f, op);
    require(to.kind != FunctionKind::tileop, f, op, "the host calls a tile operation");
    DimBinding binding;
    const std::vector<ValueId> arguments = f.operands(op);
    const Verdict v = check_call(to, f, arguments, binding);
    if (!v.lawful()) refuse(f, op, diagnose(v, "call", f[op].location).message);
    const std::vector<Type> returned = returned_types(to);
    require(returned.size() == static_cast<std::size_t>(f.result_count(op)), f, op, "the count of results is not what the callee returns");
    for (std::size_t i = 0; i < returned.size(); ++i) {
      const Type& own = f.type(f.result(op, static_cast<int>(i)));
      require(own == binding(returned[i]), f, op, "a result has another type than the callee returns");
      require(!own.is_tensor() || to.kind == FunctionKind::orchestration || !required_.contains(Property::tile_ops), f, op,
              "tile_ops: a kernel's result is no created tensor");
    }
    for (std::size_t i = 0; i < arguments.size(); ++i)
      require(to.parameters[i].direction == Direction::in || !inputs[arguments[i].index], f, op, "the call writes an input parameter");
  }
  void wrapper(const Function& f) const {
    const OpId inner = f[f.body()].first;
    require(f.is(inner, ops::call) && f.next(inner) == f.terminator(f.body()), f, inner, "a wrapper does not hold one call alone");
    require(callee(p_, f, inner).kind != FunctionKind::orchestration, f, inner, "a wrapper calls an orchestration");
    require(f.blocks > 0, f, inner, "the count of blocks is not positive");
    const OpId end = f.terminator(f.body());
    require(f.operand_count(end) == f.result_count(inner), f, end, "a wrapper does not return what its call gives");
    for (int i = 0; i < f.operand_count(end); ++i)
      require(f.operand(end, i) == f.result(inner, i), f, end, "a wrapper does not return what its call gives");
  }

  const Program& p_;
  Properties required_;
  std::size_t index_ = 0;
};

}  // namespace detail

/// Checks each function and the calls between them; the properties are those of the kernels.
inline void verify(const Program& p, Properties required = {}) { detail::ProgramVerifier(p, required).run(); }

}  // namespace tessera
