// What a recorded function that calls kernels has to hold as a whole: something is called, wrappers hand on what they get, and
// no call is given one tensor twice.
#pragma once

#include "../ir/program.hpp"
#include "recorded_checks.hpp"

namespace tessera {
namespace detail {

/// The calls of a function, in the order of the source.
inline void add_calls(const Function& f, BlockId b, std::vector<OpId>& calls) {
  for (OpId o = f[b].first; o; o = f.next(o)) {
    if (f.is(o, ops::call)) calls.push_back(o);
    for (int i = 0; i < f.block_count(o); ++i) add_calls(f, f.block(o, i), calls);
  }
}

inline void check_tensors(const Program& p, const Function& f) {
  for (const Parameter& own : f.parameters) {
    if (!f.type(own.value).is_tensor()) continue;
    const TensorUse use = use_of(p, f, own.value);
    if (own.direction == Direction::out && !use.written)
      fail(own.location, std::string(name(f.kind)) + ": an output is never written (" + std::string(own.name.c_str()) + ")",
           "pass it to a kernel that has an Out parameter, or leave it out");
    if (use.returned)
      fail(f.location, described(f) + ": a parameter is returned (" + std::string(own.name.c_str()) + ")",
           "the caller has it: return what a call gives");
  }
}
inline void check_overlap(const Program& p, const Function& f, OpId call) {
  const Function& to = callee(p, f, call);
  for (int i = 0; i < f.operand_count(call); ++i)
    for (int k = 0; k < i; ++k) {
      const Parameter &a = to.parameters[static_cast<std::size_t>(k)], &b = to.parameters[static_cast<std::size_t>(i)];
      if (!(f.operand(call, i) == f.operand(call, k)) || !f.type(f.operand(call, i)).is_tensor()) continue;
      refuse_overlap(to, a, b, f[call].location);
    }
}
[[nodiscard]] inline int count_operations(const Function& f) {
  int n = -1;  // without the end
  for (OpId o = f[f.body()].first; o; o = f.next(o)) ++n;
  return n;
}
inline void check_wrapper(const Program& p, const Function& f, const std::vector<OpId>& calls) {
  const std::string kind = name(f.kind);
  if (calls.size() != 1)
    fail(calls.empty() ? f.location : f[calls[1]].location, described(f) + ": the body is not one call (" + std::to_string(calls.size()) + " calls)",
         "a wrapper hands its parameters on to one kernel or wrapper; several calls make an orchestration");
  const OpId call = calls[0];
  if (f.kind == FunctionKind::spmd && launches_blocks(p, callee(p, f, call)))
    fail(f[call].location, described(f) + ": what it calls is run in blocks already (" + std::string(callee(p, f, call).name.c_str()) + ")",
         "one spmd wrapper says how many blocks run a kernel");
  for (int i = 0; i < f.operand_count(call); ++i) {
    const ValueId v = f.operand(call, i);
    const bool own = f[v].kind == ValueKind::argument && f[v].owner == f.body().index;
    if (!own && !f.is_constant(v) && f[v].kind != ValueKind::symbol)
      fail(f[call].location, described(f) + ": an argument is not a parameter of the wrapper (position " + std::to_string(i) + ")",
           "compute it in the caller and pass it on");
  }
  if (f[f.body()].first != call || f.next(call) != f.terminator(f.body()))
    fail(f[f[f.body()].first].location, described(f) + ": the body does more than one call (" + std::to_string(count_operations(f)) + " operations)", "a wrapper hands its parameters on; everything else belongs into its caller");
  const OpId end = f.terminator(f.body());
  const std::string hint = "return the call's results, all of them and in their order";
  if (f.operand_count(end) != f.result_count(call))
    fail(f[call].location, described(f) + ": it does not return what its call gives (" + std::to_string(f.operand_count(end)) + ", " + std::to_string(f.result_count(call)) + ")", hint);
  for (int i = 0; i < f.operand_count(end); ++i) {
    const ValueId v = f.operand(end, i);
    if (v == f.result(call, i)) continue;
    int from = 0;
    while (from < f.result_count(call) && f.result(call, from) != v) ++from;
    const std::string what = from < f.result_count(call) ? "result " + std::to_string(from) + " of " + callee(p, f, call).name.c_str() : std::string("another value");
    fail(f[call].location, described(f) + ": it returns what its call gives in another order (result " + std::to_string(i) + " is " + what + ")", hint);
  }
}

}  // namespace detail

/// Throws UserError where a recorded function that calls breaks one of these.
inline void check_recorded_caller(const Program& p, const Function& f) {
  check_kernel_name(f.name, f.location);
  detail::check_parameters(f);
  detail::refuse_split_regions(f, f.body());
  std::vector<OpId> calls;
  detail::add_calls(f, f.body(), calls);
  if (is_wrapper(f.kind)) detail::check_wrapper(p, f, calls);
  if (calls.empty()) fail(f.location, detail::described(f) + ": it calls nothing", "call a kernel, or make it a kernel");
  for (const OpId call : calls) detail::check_overlap(p, f, call);
  detail::check_tensors(p, f);
  detail::check_operations(f, f.body());
}

}  // namespace tessera
