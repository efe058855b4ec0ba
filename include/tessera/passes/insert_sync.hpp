// insert_sync: flags and barriers order whatever two pipes do to the same bytes, on chip and in tensors, on every path and from
// turn to turn of loops. No flag and no barrier is left that the others make needless, as far as the work for that is bounded.
#pragma once

#include "pass.hpp"
#include "sync/events.hpp"

namespace tessera {
namespace detail {

class InsertSync {
 public:
  explicit InsertSync(const Function& in) : in_(in), order_(in), touches_(in), plan_(in) {}

  Function run() {
    if (!OrderWalk(in_, order_, touches_, plan_, OrderWalk::Mode::complete).run()) throw InternalError("insert_sync: the walk did not end");
    leave_out_needless();
    numbered_ = true;
    if (EventNumbers(in_, order_, touches_, plan_).run()) leave_out_needless();
    Function out = in_;
    std::vector<OpId> operations;
    for (const OpId op : all_operations(in_)) operations.push_back(op);
    SyncWriter(out, plan_).run(operations);
    out.synchronised = true;
    return out;
  }

 private:
  // A walk for each flag and barrier, from the last one. In a large function that many are too many, and the first ones stay.
  static constexpr std::size_t most_visits = 500'000;

  void leave_out_needless() {
    std::vector<OpId> barriers;
    for (const OpId op : all_operations(in_))
      if (plan_.barriers[op.index] != 0) barriers.push_back(op);
    for (std::size_t n = plan_.pairs.size(); n-- > 0;) {
      if (!plan_.pairs[n].used) continue;
      if (visits_ > most_visits) return;
      plan_.pairs[n].used = false;
      plan_.pairs[n].used = !in_order();
    }
    for (const OpId op : barriers) {
      if (visits_ > most_visits) return;
      const PipeSet set = std::exchange(plan_.barriers[op.index], PipeSet{0});
      if (!in_order()) plan_.barriers[op.index] = set;
    }
  }
  [[nodiscard]] bool in_order() {
    return walk(OrderWalk::Mode::check) && (!numbered_ || walk(OrderWalk::Mode::flags));
  }
  [[nodiscard]] bool walk(OrderWalk::Mode mode) {
    OrderWalk w(in_, order_, touches_, plan_, mode);
    const bool good = w.run();
    visits_ += w.visits();
    return good;
  }

  const Function& in_;
  const TextOrder order_;
  const Touches touches_;
  SyncPlan plan_;
  bool numbered_ = false;  // a flag must not be raised twice
  std::size_t visits_ = 0;  // of operations, to leave others out
};

inline Function run_insert_sync(const Function& in, const PassContext&) {
  return InsertSync(in).run();
}

}  // namespace detail

inline constexpr Pass insert_sync = {.name = "insert_sync",
                                     .required = {Property::legal, Property::buffers_assigned, Property::addresses_planned},
                                     .produced = {Property::synchronised},
                                     .run = detail::run_insert_sync};

}  // namespace tessera
