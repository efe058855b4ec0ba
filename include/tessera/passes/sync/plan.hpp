// Flags and barriers for a function, before they are operations of it. The set and the wait of a pair stand in one block, so that
// flags are balanced on every path: for what is ordered from one turn of a loop to a later one, the flag is raised in front of
// the outermost loop and lowered behind it, and each turn waits for it and raises it again.
#pragma once

#include <vector>

#include "../../ir/walk.hpp"
#include "../../ops/sync.hpp"

namespace tessera::detail {

struct FlagPair {
  Pipe from = Pipe::none, to = Pipe::none;
  OpId after;   ///< raised behind it
  OpId before;  ///< waited for in front of it
  OpId home;    ///< of what is ordered from turn to turn: the outermost loop; none: in one run of a block
  bool ends_waiting = true;  ///< with a home: a raised flag is left behind the loop
  int event = 0;
  bool used = true;
  std::uint8_t avoided = 0;  ///< bit e: another pair lowers flag e too shortly before
};

/// Which of two operations stands first in the text of a function; a loop or branch in front of what it holds.
class TextOrder {
 public:
  explicit TextOrder(const Function& f) : begin_(f.operation_count()), end_(f.operation_count()) { number(f, f.body()); }
  [[nodiscard]] std::uint32_t begin(OpId op) const { return begin_[op.index]; }
  [[nodiscard]] std::uint32_t end(OpId op) const { return end_[op.index]; }
  [[nodiscard]] bool holds(OpId holder, OpId op) const { return begin(holder) < begin(op) && end(op) < end(holder); }

 private:
  void number(const Function& f, BlockId b) {
    for (OpId op = f[b].first; op; op = f.next(op)) {
      begin_[op.index] = ++last_;
      for (int k = 0; k < f.block_count(op); ++k) number(f, f.block(op, k));
      end_[op.index] = ++last_;
    }
  }
  std::uint32_t last_ = 0;
  std::vector<std::uint32_t> begin_, end_;  // by operation
};

/// A pair that makes `before` wait for `source`, in the innermost block that holds both.
[[nodiscard]] inline FlagPair pair_between(const Function& f, const TextOrder& order, Pipe from, Pipe to, OpId source, OpId before) {
  const auto holder = [&](OpId op) { return f[f[op].parent].owner; };
  while (holder(source) && !order.holds(holder(source), before)) source = holder(source);
  while (holder(before) && holder(before) != holder(source)) before = holder(before);
  FlagPair p{from, to, source, before, {}, true, 0, true, 0};
  if (f[source].parent != f[before].parent) {
    const OpId both = holder(source);
    if (f.is(both, ops::if_else)) {  // of two turns
      p.after = p.before = both;
    } else if (f[source].parent == f.block(both, 0)) {  // of a while loop, from its condition to its body
      p.before = f.terminator(f.block(both, 0));
    } else {  // from its body to the condition, which runs once more
      p.home = both;
      p.ends_waiting = false;
      return p;
    }
  }
  if (p.after != p.before && order.begin(p.after) < order.begin(p.before)) return p;
  p.home = outermost_loop(f, f[p.before].parent);
  // From one run of a tile operation's body to the next: around it, since flags of a body are its own.
  while (const OpId body = p.home ? OpId{} : body_around(f, p.before)) {
    p.after = p.before = body;
    p.home = outermost_loop(f, f[body].parent);
  }
  return p;
}

/// A set of pipes whose earlier instructions a barrier waits for; bit 0 (Pipe::none): all pipes.
using PipeSet = std::uint8_t;
[[nodiscard]] constexpr PipeSet bit(Pipe p) { return static_cast<PipeSet>(pipe_bit(p)); }

class SyncPlan {
 public:
  explicit SyncPlan(const Function& f)
      : barriers(f.operation_count()), waits_(f.operation_count()), sets_(f.operation_count()), homes_(f.operation_count()) {}

  std::vector<FlagPair> pairs;
  std::vector<PipeSet> barriers;  ///< by operation: in front of it

  std::uint32_t add(const FlagPair& p) {
    const auto n = static_cast<std::uint32_t>(pairs.size());
    pairs.push_back(p);
    waits_[p.before.index].push_back(n);
    sets_[p.after.index].push_back(n);
    if (p.home) homes_[p.home.index].push_back(n);
    return n;
  }
  /// The pairs that wait in front of an operation, that are raised behind it, and whose home it is; those not used, too.
  [[nodiscard]] const std::vector<std::uint32_t>& waits(OpId op) const { return waits_[op.index]; }
  [[nodiscard]] const std::vector<std::uint32_t>& sets(OpId op) const { return sets_[op.index]; }
  [[nodiscard]] const std::vector<std::uint32_t>& homes(OpId op) const { return homes_[op.index]; }

 private:
  std::vector<std::vector<std::uint32_t>> waits_, sets_, homes_;
};

/// Puts the operations of a plan into the function.
class SyncWriter {
 public:
  SyncWriter(Function& f, const SyncPlan& plan) : f_(f), plan_(plan) {}

  void run(const std::vector<OpId>& operations) {
    for (const OpId op : operations) {
      for (const std::uint32_t n : plan_.waits(op)) before(op, ops::wait_flag, n);
      barriers(op);
      for (const std::uint32_t n : plan_.homes(op)) before(op, ops::set_flag, n);
      OpId last = op;
      for (const std::uint32_t n : plan_.homes(op))
        if (plan_.pairs[n].ends_waiting) behind(op, last, ops::wait_flag, n);
      for (const std::uint32_t n : plan_.sets(op)) behind(op, last, ops::set_flag, n);
    }
  }

 private:
  [[nodiscard]] OpId flag(const OpInfo& info, const FlagPair& p, OpId at) {
    const Attr attrs[] = {int_attr(AttrKey::pipe, static_cast<std::int64_t>(p.from)),
                          int_attr(AttrKey::to_pipe, static_cast<std::int64_t>(p.to)), int_attr(AttrKey::event, p.event)};
    return f_.new_operation(info, {}, {attrs, 3}, f_[at].location);
  }
  void before(OpId op, const OpInfo& info, std::uint32_t n) {
    if (plan_.pairs[n].used) f_.insert_before(op, flag(info, plan_.pairs[n], op));
  }
  void behind(OpId op, OpId& last, const OpInfo& info, std::uint32_t n) {
    if (!plan_.pairs[n].used) return;
    const OpId made = flag(info, plan_.pairs[n], op);
    f_.insert_after(f_[op].parent, last, made);
    last = made;
  }
  void barriers(OpId op) {
    for (int p = 0; p < pipe_count; ++p) {
      if ((plan_.barriers[op.index] & bit(static_cast<Pipe>(p))) == 0) continue;
      const Attr attr = int_attr(AttrKey::pipe, p);
      f_.insert_before(op, f_.new_operation(ops::barrier, {}, {&attr, 1}, f_[op].location));
      if (p == 0) return;  // that of all pipes
    }
  }

  Function& f_;
  const SyncPlan& plan_;
};

}  // namespace tessera::detail
