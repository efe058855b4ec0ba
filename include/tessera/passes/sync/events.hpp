// The numbers of flags: pairs whose flags may be raised at the same time have different ones, and no flag is raised again before
// it is lowered. Where eight do not serve, one pair stands for two, or a barrier of all pipes for one.
#pragma once

#include "order_walk.hpp"

namespace tessera::detail {

class EventNumbers {
 public:
  EventNumbers(const Function& f, const TextOrder& order, const Touches& touches, SyncPlan& plan)
      : f_(f), order_(order), touches_(touches), plan_(plan) {}

  /// Whether pairs were added or changed, so that others may be needless now.
  bool run() {
    bool changed = false;
    // Each round mends one fault, by a pair at first.
    for (int pairs_left = 64;; --pairs_left) {
      while (!assign()) changed = true;
      OrderWalk walk(f_, order_, touches_, plan_, OrderWalk::Mode::flags);
      if (walk.run()) return changed;
      changed = true;
      const FlagFault& fault = *walk.flag_fault();
      if (order_.holds(fault.before, fault.source) || order_.holds(fault.source, fault.before)) {
        avoid_number(fault.pair);
        continue;
      }
      const FlagPair p = pair_between(f_, order_, fault.from, fault.to, fault.source, fault.before);
      if (pairs_left > 0 && has_place(fault.source) && !exists(p)) plan_.add(p);
      else stop_all(fault.before);
    }
  }

 private:
  struct LiveRange {
    std::uint32_t pair = 0, begin = 0, end = 0;
  };

  // A set or a wait behind what ends a block has no place.
  [[nodiscard]] bool has_place(OpId op) const { return f_.block_count(op) > 0 || f_.info(op).level != Level::control; }
  [[nodiscard]] bool exists(const FlagPair& wanted) const {
    for (const std::uint32_t n : plan_.waits(wanted.before))
      if (const FlagPair& p = plan_.pairs[n]; p.used && p.from == wanted.from && p.to == wanted.to && p.after == wanted.after) return true;
    return false;
  }
  // Where one of lowering and raising stands inside of the other's operation, no pair can stand between.
  void avoid_number(std::uint32_t n) {
    FlagPair& p = plan_.pairs[n];
    p.avoided = static_cast<std::uint8_t>(p.avoided | (1u << p.event));
    if (p.avoided == 0xFF) save_number(n);
  }
  void stop_all(OpId before) {
    if ((plan_.barriers[before.index] & bit(Pipe::none)) != 0)
      throw InternalError("insert_sync: a flag is raised twice in " + std::string(f_.name.c_str()));
    plan_.barriers[before.index] |= bit(Pipe::none);
  }
  // When the flag of a pair may be raised; a set stands behind its operation, a wait in front of its own.
  [[nodiscard]] LiveRange life(std::uint32_t n) const {
    const FlagPair& p = plan_.pairs[n];
    if (p.home) return {n, 2 * order_.begin(p.home), 2 * order_.end(p.home) + 1};
    return {n, 2 * order_.end(p.after) + 1, 2 * order_.begin(p.before)};
  }
  // False: some pairs were changed, as there are not enough numbers.
  bool assign() {
    std::vector<LiveRange> lives;
    for (std::uint32_t n = 0; n < plan_.pairs.size(); ++n)
      if (plan_.pairs[n].used) lives.push_back(life(n));
    std::sort(lives.begin(), lives.end(), [](const LiveRange& a, const LiveRange& b) { return a.begin != b.begin ? a.begin < b.begin : a.pair < b.pair; });
    std::uint32_t ends[pipe_count][pipe_count][event_count] = {};
    for (const LiveRange& l : lives) {
      FlagPair& p = plan_.pairs[l.pair];
      std::uint32_t* const of_pipes = ends[at(p.from)][at(p.to)];
      const int free = longest_free(of_pipes, p.avoided);
      if (free >= 0 && of_pipes[free] < l.begin) {
        p.event = free;
        of_pipes[free] = l.end;
      } else {
        save_number(l.pair);
        return false;
      }
    }
    return true;
  }
  [[nodiscard]] static int longest_free(const std::uint32_t* ends, unsigned avoided) {
    int free = -1;
    for (int e = 0; e < event_count; ++e)
      if (((avoided >> e) & 1u) == 0 && (free < 0 || ends[e] < ends[free])) free = e;
    return free;
  }
  // One pair for two of those that may be raised together with this one: raised behind the later of their operations, waited for
  // in front of the earlier one. The two are those that it moves least.
  void save_number(std::uint32_t n) {
    std::vector<std::uint32_t> near;
    const LiveRange mine = life(n);
    for (std::uint32_t k = 0; k < plan_.pairs.size(); ++k) {
      const FlagPair& q = plan_.pairs[k];
      if (!q.used || q.from != plan_.pairs[n].from || q.to != plan_.pairs[n].to) continue;
      if (const LiveRange other = life(k); other.begin <= mine.end && mine.begin <= other.end) near.push_back(k);
    }
    std::optional<FlagPair> best;
    std::uint32_t least = UINT32_MAX, of[2] = {};
    for (std::size_t i = 0; i < near.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (const auto both = merged(plan_.pairs[near[i]], plan_.pairs[near[k]]); both && both->moved < least)
          best = both->pair, least = both->moved, of[0] = near[i], of[1] = near[k];
    if (!best) {
      plan_.pairs[n].used = false;
      plan_.barriers[plan_.pairs[n].before.index] |= bit(Pipe::none);
      return;
    }
    for (const std::uint32_t k : of) plan_.pairs[k].used = false;
    plan_.add(*best);
  }
  struct Merged {
    FlagPair pair;
    std::uint32_t moved = 0;  // how far its set and its wait stand from where they were, in the text
  };
  [[nodiscard]] std::optional<Merged> merged(const FlagPair& p, const FlagPair& q) const {
    if (q.home != p.home || f_[q.after].parent != f_[p.after].parent || f_[q.before].parent != f_[p.before].parent || q.ends_waiting != p.ends_waiting)
      return {};
    const bool q_is_later = order_.begin(p.after) < order_.begin(q.after), p_is_earlier = order_.begin(p.before) < order_.begin(q.before);
    Merged m{p, 0};
    m.pair.after = q_is_later ? q.after : p.after;
    m.pair.before = p_is_earlier ? p.before : q.before;
    m.pair.avoided |= q.avoided;
    if (!p.home && order_.begin(m.pair.before) <= order_.end(m.pair.after)) return {};
    m.moved = order_.begin(m.pair.after) - order_.begin(q_is_later ? p.after : q.after) + order_.begin(p_is_earlier ? q.before : p.before) - order_.begin(m.pair.before);
    return m;
  }

  const Function& f_;
  const TextOrder& order_;
  const Touches& touches_;
  SyncPlan& plan_;
};

}  // namespace tessera::detail
