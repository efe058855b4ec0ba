// Loops that collect a result window by window: each round writes its part of storage without content, and the whole is
// returned. No tile has to hold it: every part is stored to the result at once.
#pragma once

#include <unordered_map>

#include "../../ir/walk.hpp"
#include "../../ops/all.hpp"

namespace tessera::convert {

class CollectingLoops {
 public:
  explicit CollectingLoops(const Function& f) : f_(f) {
    const OpId end = f.terminator(f.body());
    for (int i = 0; i < f.operand_count(end); ++i) find(end, i);
  }

  /// The result of the function that a loop, or the assemble in it, collects; -1 for any other operation.
  [[nodiscard]] int result_of(OpId op) const {
    const auto known = results_.find(op.index);
    return known != results_.end() ? known->second : -1;
  }
  /// Whether an operation makes the storage that such a loop starts with.
  [[nodiscard]] bool is_storage(OpId op) const { return f_.is(op, ops::create) && results_.contains(op.index); }

 private:
  // Storage without content, so that neither a part that no round writes nor a loop without rounds has a value to keep;
  // and used once everywhere, so that nothing but the function's result ever sees it.
  void find(OpId end, int i) {
    const ValueId whole = f_.operand(end, i);
    const OpId loop = f_.definition(whole);
    if (!loop || !f_.is(loop, ops::for_loop) || f_[loop].parent != f_.body() || f_.result_count(loop) != 1) return;
    if (!f_.type(whole).is_tensor() || !f_.fully_valid(whole)) return;
    const OpId storage = f_.definition(f_.operand(loop, 3));
    if (!storage || !f_.is(storage, ops::create) || !used_once(f_.operand(loop, 3)) || !used_once(whole)) return;
    const BlockId body = f_.block(loop);
    const ValueId carried = f_[body].arguments[1], next = f_.operand(f_.terminator(body), 0);
    const OpId part = f_.definition(next);
    if (!part || !f_.is(part, ops::assemble) || f_[part].parent != body) return;
    if (f_.operand(part, 0) != carried || !used_once(carried) || !used_once(next)) return;
    for (const OpId op : {loop, storage, part}) results_.emplace(op.index, i);
  }
  [[nodiscard]] bool used_once(ValueId v) const { return f_.use_count(v) == 1; }

  const Function& f_;
  std::unordered_map<std::uint32_t, int> results_;  // by loop, assemble and create
};

}  // namespace tessera::convert
