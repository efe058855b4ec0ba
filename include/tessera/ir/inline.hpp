// The body of a user's tile operation in place of a call: written anew from the caller's arguments, so that every type, valid
// extent and rule is that of the call. Tile operations that it calls are written out, too.
#pragma once

#include "program.hpp"
#include "rewrite.hpp"

namespace tessera {

class Inliner {
 public:
  /// Writes the body at the end of the block where `at` stands. `arguments`: values of that function, one for each parameter;
  /// `dims`: the function's names for the named dims of the tile operation.
  Inliner(const Function& tileop, const Builder& at, List<ValueId> arguments, const DimBinding& dims) : in_(tileop), r_(tileop, at, dims) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Parameter& p = in_.parameters[i];
      if (p.direction != Direction::out || !in_.type(p.value).is_tile()) r_.alias(p.value, arguments[i]);
      else if (in_.has_uses(p.value)) r_.set(p.value, storage(p.value, arguments[i]));
    }
  }
  /// What the tile operation returns: the tiles that its Out and InOut parameters are left with, then its results.
  [[nodiscard]] std::vector<ValueId> run() {
    r_.block(in_.body(), r_.build().block(), [&](OpId op) { visit(op); });
    return std::move(results_);
  }

 private:
  void visit(OpId op) {
    if (in_.is(op, ops::return_op)) results_ = r_.operands(op);
    else if (in_.is(op, ops::call)) call(op);
    else r_.copy(op, [&](OpId o) { visit(o); });
    if (in_.info(op).level == Level::control && in_.block_count(op) > 0) state_extents(op);
  }
  void call(OpId op) {
    const Function& to = called_tileop(in_, op);
    const std::vector<ValueId> arguments = r_.operands(op);
    DimBinding dims;
    if (const Verdict v = check_tileop_call(to, r_.out(), arguments, dims); !v.lawful()) refuse(v, "call", in_[op].location);
    const std::vector<ValueId> results = Inliner(to, r_.build(), arguments, dims).run();
    for (int i = 0; i < in_.result_count(op); ++i) r_.set(in_.result(op, i), results[static_cast<std::size_t>(i)]);
  }
  // What an Out parameter holds before it is assigned: nothing, as far as the caller's variable is valid.
  [[nodiscard]] ValueId storage(ValueId parameter, ValueId argument) {
    const Function& out = r_.out();
    const ValueId made = r_.build().value(ops::create, {}, {}, in_.type(parameter));
    Extent extents[max_rank];
    const int rank = out.type(argument).rank;
    for (int axis = 0; axis < rank; ++axis) extents[axis] = out.valid(argument, axis);
    return r_.build().with_valid(made, {extents, static_cast<std::size_t>(rank)});
  }
  // What a loop carries is valid in each round as far as before the first; what branches give, as far in both.
  void state_extents(OpId op) {
    Function& out = r_.out();
    const OpId made = out[r_.build().block()].last;
    const bool branch = out.is(made, ops::if_else);
    for (int i = 0; i < out.result_count(made); ++i) {
      const ValueId result = out.result(made, i);
      if (!out.type(result).is_shaped()) continue;
      const ValueId like = branch ? handed_on(out, out.block(made), i) : out.operand(made, fixed_operands(out, made) + i);
      for (int b = 0; b < out.block_count(made); ++b) require_equal(op, like, handed_on(out, out.block(made, b), i), branch ? made : OpId{});
      out.share_valid(result, like);
    }
  }
  // `branch`: extents must be known in front of it; none: they are.
  void require_equal(OpId op, ValueId a, ValueId b, OpId branch) {
    const Function& out = r_.out();
    for (int axis = 0; axis < out.type(a).rank; ++axis) {
      const Extent e = out.valid(a, axis);
      if (e == out.valid(b, axis) && !(branch && !e.is_constant() && stands_in(e.value, branch))) continue;
      fail(in_[op].location,
           std::string(in_.info(op).name) + (branch ? ": the branches leave a variable with different valid extents (axis " : ": the body leaves a variable with other valid extents than it had before the loop (axis ") +
               std::to_string(axis) + ")",
           branch ? "give both values the same extents, computed before the branch" : "fillpad(...) the value, or give both the same extents, computed before the loop");
    }
  }
  [[nodiscard]] bool stands_in(ValueId v, OpId branch) {
    const Function& out = r_.out();
    for (BlockId b = out.defining_block(v); b; b = out[b].owner ? out[out[b].owner].parent : BlockId{})
      if (out[b].owner == branch) return true;
    return false;
  }

  const Function& in_;
  Rewriter r_;
  std::vector<ValueId> results_;
};

/// A tile operation whose tile arguments are valid as far as stated: one list for each parameter, empty where all of it is.
[[nodiscard]] inline Function instantiate(const Function& tileop, const std::vector<std::vector<std::int64_t>>& valid) {
  Function f;
  f.name = tileop.name;
  f.location = tileop.location;
  f.target = tileop.target;
  f.kind = tileop.kind;
  std::vector<ValueId> arguments;
  for (std::size_t i = 0; i < tileop.parameters.size(); ++i) {
    const Parameter& p = tileop.parameters[i];
    const ValueId v = f.add_argument(f.body(), tileop.type(p.value));
    f.parameters.push_back({v, p.name, p.direction, p.location});
    arguments.push_back(v);
    std::vector<Extent> extents;
    for (const std::int64_t n : valid[i]) extents.push_back({n, {}});
    if (!extents.empty()) f.set_valid(v, extents);
  }
  for (const ValueId v : tileop.symbols()) f.symbol(tileop[v].integer);
  Builder build(f);
  const std::vector<ValueId> results = Inliner(tileop, build, arguments, DimBinding()).run();
  build.to_end_of(f.body());
  build.at(tileop.location);
  build.control(ops::return_op, results, {}, 0);
  return f;
}

}  // namespace tessera
