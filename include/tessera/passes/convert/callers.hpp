// What convert_tensor_to_tile_ops does to functions that call: kernels got an Out parameter for each result. A wrapper mirrors
// them; any other caller creates a tensor in front of the call for each, which is the call's value from there on.
#pragma once

#include "../../ir/program.hpp"
#include "../../ir/rewrite.hpp"
#include "../../ir/signature.hpp"

namespace tessera::convert {

class CallerRewriter {
 public:
  /// Rewrites function `index` of `in`; those in front of it stand rewritten in `out`.
  CallerRewriter(const Program& in, const Program& out, std::size_t index)
      : in_program_(in), out_program_(out), in_(in.functions[index]), rewriter_(in_, made_) {}

  [[nodiscard]] Function run() {
    rewriter_.copy_parameters();
    for (std::size_t i = 0; i < in_.parameters.size(); ++i)
      if (!in_.fully_valid(in_.parameters[i].value)) rewriter_.copy_valid(in_.parameters[i].value, made_.parameters[i].value);
    rewriter_.run([&](OpId op) { rewrite(op); });
    upgrade_directions(out_program_, made_);
    return static_cast<Function&&>(made_);
  }

 private:
  void rewrite(OpId op) {
    if (in_.is(op, ops::call)) return rewrite_call(op);
    if (in_.is(op, ops::return_op) && is_wrapper(in_.kind)) return rewrite_return(op);
    rewriter_.copy(op, [&](OpId o) { rewrite(o); });
  }
  void rewrite_call(OpId op) {
    const std::size_t index = callee_index(in_, op);
    const Function& to = out_program_.functions[index];
    const std::size_t given = in_program_.functions[index].parameters.size();
    std::vector<ValueId> operands = rewriter_.operands(op);
    DimBinding binding;
    if (const Verdict v = check_call(in_program_.functions[index], in_, in_.operands(op), binding); !v.lawful())
      refuse(v, "call", in_[op].location);
    for (std::size_t i = given; i < to.parameters.size(); ++i) operands.push_back(output(to.parameters[i], binding(to.type(to.parameters[i].value))));
    std::vector<Type> kept;
    const bool moved = to.kind != FunctionKind::orchestration;
    for (int i = 0; i < in_.result_count(op); ++i)
      if (const Type& t = in_.type(in_.result(op, i)); !moved || !t.is_shaped()) kept.push_back(t);
    const OpId call = rewriter_.build().control(ops::call, operands, kept, 0, rewriter_.attrs(op));
    std::size_t next_output = given;
    int next_kept = 0;
    for (int i = 0; i < in_.result_count(op); ++i) {
      const ValueId old = in_.result(op, i);
      rewriter_.set(old, moved && in_.type(old).is_shaped() ? operands[next_output++] : made_.result(call, next_kept++));
    }
  }
  /// The tensor that a call writes for one of its callee's results.
  [[nodiscard]] ValueId output(const Parameter& callee_parameter, const Type& type) {
    if (!is_wrapper(in_.kind)) return rewriter_.build().value(ops::create, {}, {}, type);
    const ValueId v = made_.add_argument(made_.body(), type);
    made_.parameters.push_back({v, unused_parameter_name(made_, callee_parameter.name), Direction::out, callee_parameter.location});
    return v;
  }
  void rewrite_return(OpId op) {
    std::vector<ValueId> scalars;
    for (const ValueId v : in_.operands(op))
      if (!in_.type(v).is_shaped()) scalars.push_back(rewriter_.map(v));
    rewriter_.build().control(ops::return_op, scalars, {}, 0);
  }

  const Program &in_program_, &out_program_;
  const Function& in_;
  Function made_;
  Rewriter rewriter_;
};

inline Function convert_caller(const Program& in, const Program& out, std::size_t index) { return CallerRewriter(in, out, index).run(); }

}  // namespace tessera::convert
