// inline_tileops: the body of each user's tile operation in place of its calls, with the valid extents of the call's arguments.
// What follows sees plain kernels.
#pragma once

#include "../ir/inline.hpp"
#include "../ir/walk.hpp"
#include "pass.hpp"

namespace tessera {
namespace detail {

/// Erases arithmetic that nothing uses, neither an operation nor a valid extent: extents that are derived anew leave such behind.
inline void erase_unused_numbers(Function& f) {
  std::vector<OpId> order;
  std::vector<bool> named(f.value_count());
  const auto note = [&](ValueId v) {
    for (int axis = 0; f.type(v).is_shaped() && axis < f.type(v).rank; ++axis)
      if (const Extent e = f.valid(v, axis); !e.is_constant()) named[e.value.index] = true;
  };
  for (const ValueId v : f[f.body()].arguments) note(v);
  for (const OpId op : all_operations(f)) {
    order.push_back(op);
    for (int i = 0; i < f.result_count(op); ++i) note(f.result(op, i));
    for (int b = 0; b < f.block_count(op); ++b)
      for (const ValueId v : f[f.block(op, b)].arguments) note(v);
  }
  for (auto op = order.rbegin(); op != order.rend(); ++op)
    if (f.info(*op).level == Level::scalar && f.info(*op).pure && !f.has_uses(f.result(*op)) && !named[f.result(*op).index]) f.erase(*op);
}

class InlineTileops {
 public:
  explicit InlineTileops(const Function& in) : in_(in), r_(in, out_) {}

  Function run() {
    out_.tileops.clear();
    r_.copy_parameters();
    for (std::size_t i = 0; i < in_.parameters.size(); ++i)
      if (!in_.fully_valid(in_.parameters[i].value)) r_.copy_valid(in_.parameters[i].value, out_.parameters[i].value);
    r_.run([&](OpId op) { visit(op); });
    erase_unused_numbers(out_);
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
