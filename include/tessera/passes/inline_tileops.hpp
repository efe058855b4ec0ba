// inline_tileops: the body of each user's tile operation in place of its calls, with the valid extents of the call's arguments.
// What follows sees plain kernels.
#pragma once

#include "../ir/inline.hpp"
#include "pass.hpp"

namespace tessera {
namespace detail {

class InlineTileops {
 public:
  explicit InlineTileops(const Function& in) : in_(in), r_(in, out_) {}

  Function run() {
    out_.tileops.clear();
    r_.copy_parameters();
    for (std::size_t i = 0; i < in_.parameters.size(); ++i)
      if (!in_.fully_valid(in_.parameters[i].value)) r_.copy_valid(in_.parameters[i].value, out_.parameters[i].value);
    r_.run([&](OpId op) { visit(op); });
    return std::move(out_);
  }

 private:
  void visit(OpId op) {
    if (!in_.is(op, ops::call)) return r_.copy(op, [&](OpId o) { visit(o); });
    const Function& to = called_tileop(in_, op);
    const std::vector<ValueId> arguments = r_.operands(op);
    DimBinding dims;
    if (const Verdict v = check_tileop_call(to, out_, arguments, dims); !v.lawful()) refuse(v, "call", in_[op].location);
    const std::vector<ValueId> results = Inliner(to, r_.build(), arguments, dims).run();
    for (int i = 0; i < in_.result_count(op); ++i) r_.set(in_.result(op, i), results[static_cast<std::size_t>(i)]);
  }

  const Function& in_;
  Function out_;
  Rewriter r_;
};

inline Function run_inline_tileops(const Function& f, const PassContext&) { return InlineTileops(f).run(); }
[[nodiscard]] inline bool calls_tileops(const Function& f) { return !f.tileops.empty(); }

}  // namespace detail

inline constexpr Pass inline_tileops = {.name = "inline_tileops", .run = detail::run_inline_tileops, .applies = detail::calls_tileops};

}  // namespace tessera
