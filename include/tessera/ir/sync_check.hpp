// Whether flags and barriers order the pipes of a function, whatever its arguments are: walks over it that take loops and
// branches in different ways are proven one by one. It asks the function only, and nothing of what set the flags.
#pragma once

#include "pipe_check.hpp"
#include "sync_walk.hpp"

namespace tessera {
namespace detail {

class SyncCheck {
 public:
  explicit SyncCheck(const Function& f) : f_(f) {}

  [[nodiscard]] std::optional<PipeFault> run() {
    if (!has_addresses(f_)) return PipeFault{{}, "the function has no addresses"};
    balance(f_.body());
    const std::int64_t most = most_trips();
    const Seen first = ways({.trips = most});
    for (std::int64_t trips = most - 1; first.trips && trips >= 0; --trips) ways({.trips = trips});
    // One loop behind another, or inside, that turn differently.
    if (first.loops > 1)
      for (const std::int64_t trips : {most, std::int64_t{1}})
        for (const WalkChoices& c : {WalkChoices{.trips = trips, .others = 0}, WalkChoices{.trips = 0, .others = trips}}) ways(c);
    for (std::int64_t loop = 0; first.loops > 2 && loop < std::min(first.loops, most_alone); ++loop) walk({.trips = most, .others = 0, .only = loop});
    if (first.cut) ways({.trips = most, .last_trips = true});
    for (std::uint64_t seed = 1; (first.branch || first.loops > 1) && seed <= 4; ++seed)
      walk({.trips = most, .branch = Branch::random, .last_trips = seed % 2 == 0, .seed = seed});
    return fault_;
  }

 private:
  using Branch = WalkChoices::Branch;
  struct Seen {
    bool branch = false, trips = false, cut = false;
    std::int64_t loops = 0;  // that can turn in several ways
  };
  static constexpr std::int64_t most_alone = 16;
  // Each way of the branches.
  Seen ways(WalkChoices choices) {
    Seen seen = walk(choices);
    for (const Branch way : {Branch::other, Branch::alternate}) {
      choices.branch = way;
      if (!seen.branch) return seen;
      const Seen more = walk(choices);
      seen = {true, seen.trips || more.trips, seen.cut || more.cut, std::max(seen.loops, more.loops)};
    }
    return seen;
  }
  Seen walk(const WalkChoices& choices) {
    if (fault_) return {};
    const SyncWalk w(f_, choices);
    fault_ = pipe_fault(f_, w.trace(), planned_arch(f_));
    if (fault_ && (w.chose_branch || w.chose_trips)) fault_->what.append(" (").append(text(choices)).append(")");
    return {w.chose_branch, w.chose_trips, w.cut_trips, static_cast<std::int64_t>(w.choosing_loops())};
  }
  [[nodiscard]] static std::string text(const WalkChoices& c) {
    constexpr const char* ways[] = {"where conditions hold", "where conditions do not hold", "where every second condition holds", "where some conditions hold"};
    std::string loops = c.branch == Branch::random ? "loops turn up to 3 times" : "loops turn " + std::to_string(c.trips) + (c.trips == 1 ? " time" : " times");
    if (c.others >= 0) loops.append(c.only >= 0 ? ", one of them " : ", every second one ").append(std::to_string(c.others));
    return loops.append(", ").append(ways[static_cast<int>(c.branch)]);
  }

  // Each block lowers what it raises: then no choice of branches and trips leaves a flag behind, or waits for one in vain.
  void balance(BlockId b) {
    const Alone alone = alone_in(b);
    if (!alone.empty()) report_alone(alone.front().first);
  }
  using Alone = std::vector<std::pair<OpId, std::size_t>>;  // an operation that raises or lowers a flag alone, and the flag
  [[nodiscard]] Alone alone_in(BlockId b) {
    Alone alone;
    for (OpId op = f_[b].first; op && !fault_; op = f_.next(op)) {
      if (f_.is(op, ops::while_loop)) balance_while(op, alone);
      else
        for (int k = 0; k < f_.block_count(op) && !fault_; ++k) balance(f_.block(op, k));
      if (is_sync(f_.info(op)) && !fault_) meet(op, alone);
    }
    return fault_ ? Alone{} : alone;
  }
  // The condition runs once more than the body: what it lowers and the body raises again is raised in front of the loop.
  void balance_while(OpId loop, Alone& outside) {
    const Alone condition = alone_in(f_.block(loop, 0));
    Alone body = alone_in(f_.block(loop, 1));
    for (const auto& [op, flag] : condition) {
      const auto opposite = std::find_if(body.begin(), body.end(), [&](const auto& o) { return o.second == flag && !f_.is(o.first, f_.info(op)); });
      if (opposite == body.end()) return report_alone(op);
      body.erase(opposite);
      meet(op, outside);
    }
    if (!body.empty()) report_alone(body.front().first);
  }
  void meet(OpId op, Alone& alone) {
    const auto is_below = [&](AttrKey key, int limit) { return f_.attr(op, key) >= 0 && f_.attr(op, key) < limit; };
    if (!is_below(AttrKey::pipe, pipe_count) || !is_below(AttrKey::to_pipe, pipe_count)) return report(op, "there is no such pipe");
    if (!is_below(AttrKey::event, event_count)) return report(op, "there is no such event (" + std::to_string(f_.attr(op, AttrKey::event)) + ")");
    if (f_.is(op, ops::barrier)) return;
    const PipeEvent flag = flag_of(op);
    if (!is_flag(flag)) return report(op, "there is no such flag (" + PipeWords::flag(flag) + ")");
    const auto same = std::find_if(alone.begin(), alone.end(), [&](const auto& o) { return o.second == flag_number(flag); });
    if (same == alone.end()) alone.emplace_back(op, flag_number(flag));
    else if (f_.is(same->first, f_.info(op))) report(op, PipeWords::flag(flag) + (f_.is(op, ops::set_flag) ? " is raised" : " is lowered") + " twice in one block");
    else alone.erase(same);
  }
  [[nodiscard]] PipeEvent flag_of(OpId op) const {
    PipeEvent e;
    e.pipe = static_cast<Pipe>(f_.attr(op, AttrKey::pipe));
    e.to_pipe = static_cast<Pipe>(f_.attr(op, AttrKey::to_pipe));
    e.event = static_cast<std::uint8_t>(f_.attr(op, AttrKey::event));
    return e;
  }
  void report_alone(OpId op) {
    report(op, f_.is(op, ops::set_flag) ? "nothing in its block lowers the flag" : "nothing in its block raises the flag");
  }
  void report(OpId op, const std::string& what) {
    if (!fault_) fault_ = PipeFault{op, std::string(f_.info(op).name) + " (" + place_text(f_[op].location).str() + "): " + what};
  }

  // Three trips show what one turn does to the next two; fewer where loops are deep and long.
  [[nodiscard]] std::int64_t most_trips() const {
    constexpr double many = 300000;
    for (std::int64_t trips = 3; trips > 1; --trips)
      if (cost(f_.body(), static_cast<double>(trips)) < many) return trips;
    return 1;
  }
  [[nodiscard]] double cost(BlockId b, double trips) const {
    double sum = 0;
    for (OpId op = f_[b].first; op; op = f_.next(op)) {
      sum += 1;
      const bool loops = f_.is(op, ops::for_loop) || f_.is(op, ops::while_loop);
      for (int k = 0; k < f_.block_count(op); ++k) sum += cost(f_.block(op, k), trips) * (loops ? trips : 1);
    }
    return sum;
  }

  const Function& f_;
  std::optional<PipeFault> fault_;
};

}  // namespace detail

/// What breaks the property synchronised; nothing when it holds.
[[nodiscard]] inline std::optional<PipeFault> sync_fault(const Function& f) { return detail::SyncCheck(f).run(); }

}  // namespace tessera
