// The walk that decides what must wait for what: each operation is visited with what its pipe knows of the others. A loop's body
// is walked twice, for its first turn and for a later one; both blocks of a branch are.
#pragma once

#include "../trips.hpp"
#include "path.hpp"
#include "plan.hpp"

namespace tessera::detail {

/// A flag that may still be raised when it is raised again: in front of `before`, the pipe `to` that raises it must wait for the
/// one that lowers it, behind `source`.
struct FlagFault {
  Pipe from = Pipe::none, to = Pipe::none;
  OpId source, before;
  std::uint32_t pair = 0;  ///< whose flag it is
};

class OrderWalk {
 public:
  enum class Mode : std::uint8_t {
    complete,  ///< add to the plan what is missing
    check,     ///< is anything missing?
    flags      ///< is a flag raised that may not be lowered yet?
  };
  OrderWalk(const Function& f, const TextOrder& order, const Touches& touches, SyncPlan& plan, Mode mode)
      : f_(f), arch_(planned_arch(f)), order_(order), touches_(touches), plan_(plan), mode_(mode), path_(f.parameters.size()), rows_(f.operation_count()),
        begin_(f.block_total()) {}

  /// Whether everything is in order.
  bool run() {
    block(f_.body());
    return !failed_;
  }
  /// Of operations; each of a loop's body counts for every turn.
  [[nodiscard]] std::size_t visits() const { return visits_; }
  [[nodiscard]] const std::optional<FlagFault>& flag_fault() const { return flag_fault_; }

 private:
  using Matrix = std::array<VectorClock, pipe_count>;

  // --- the walk ---
  void block(BlockId b) {
    begin_[b.index] = now_;
    for (OpId op = f_[b].first; op && !failed_; op = f_.next(op)) {
      ++visits_;
      if (f_.block_count(op) > 0) control(op);
      else if (const Pipe pipe = pipe_of(f_, op); pipe != Pipe::none && f_.info(op).level != Level::scalar) instruction(op, pipe);
      else pass(op);
    }
  }
  // No instruction, but perhaps the end of a block where something is waited for.
  void pass(OpId op) { waits(op), barriers(op); }
  void instruction(OpId op, Pipe pipe) {
    waits(op);
    barriers(op);
    if (mode_ != Mode::flags) require(op, pipe);
    const Timestamp m = tick(op);
    for (const Touch& t : touches_.of(op)) record(t, op, m);
    path_.last[at(pipe)] = m;
    VectorClock& known = path_.known[at(pipe)];
    if (!overlaps_itself(pipe, arch_)) known[at(pipe)] = m;
    rows_[op.index] = known;
    rows_[op.index][at(pipe)] = m;
    raise_behind(op);
  }
  void control(OpId op) {
    waits(op);
    barriers(op);
    if (f_.is(op, ops::if_else)) branch(op);
    else if (f_.is(op, ops::tileop_body)) block(f_.block(op));
    else loop(op);
    leave(op);
  }
  void leave(OpId op) {
    const Timestamp m = tick(op);
    path_.forward(m);
    Matrix& exit = exits_[op.index] = path_.known;
    for (std::size_t p = 0; p < exit.size(); ++p) exit[p][p] = m;
    raise_behind(op);
  }
  void branch(OpId op) {
    Path other = path_;
    block(f_.block(op, 0));
    std::swap(other, path_);
    block(f_.block(op, 1));
    join(std::move(other));
  }
  void loop(OpId op) {
    entries_[op.index] = {path_.known, now_};
    for (const std::uint32_t n : plan_.homes(op)) raise(n, entry_row(op, plan_.pairs[n].from), op);
    const bool counted = f_.is(op, ops::for_loop);
    const std::int64_t trips = counted && trip_fault(f_, op).empty() ? known_trips(f_, op) : unknown_trips;
    Path none = path_;
    for (int turn = 0; turn < 2 && (trips == unknown_trips || turn < trips) && !failed_; ++turn) {
      if (!counted) block(f_.block(op, 0));
      if (!counted && turn == 0) none = path_;
      block(f_.block(op, counted ? 0 : 1));
    }
    if (!counted) block(f_.block(op, 0));
    lower_behind(op);
    if (trips <= 0) {
      std::swap(none, path_);
      lower_behind(op);
      std::swap(none, path_);
      join(std::move(none));
    }
    for (const std::uint32_t n : plan_.homes(op)) path_.raised.erase(n);
  }
  Timestamp tick(OpId op) {
    op_at_.resize(++now_ + 1);
    op_at_[now_] = op;
    return now_;
  }
  // Both paths end here.
  void join(Path other) {
    if (failed_) return;
    const Timestamp m = ++now_;
    path_.forward(m);
    other.forward(m);
    know_same_flags(path_, other);
    know_same_flags(other, path_);
    path_.merge(other);
  }
  // A pair that was added on one path only: on the other its flag tells what it told in front of its home.
  void know_same_flags(const Path& from, Path& to) const {
    for (const auto& [n, row] : from.raised)
      if (!to.raised.contains(n)) to.raised.emplace(n, entry_row(plan_.pairs[n].home, plan_.pairs[n].from));
  }

  // --- what is in order already ---
  void record(const Touch& t, OpId op, Timestamp m) {
    const PipeAccess made{op, m, t.pipe, t.writes};
    if (t.space != Gm) path_.chip[t.space].record(t.bytes, made);
    else path_.tensors[t.tensor].record(made, [&](Timestamp moment) { return run_with(op, moment).block; });
  }
  // What an instruction touches waits for whatever it meets: the latest first, since who knows that often knows the others, too.
  void require(OpId op, Pipe pipe) {
    for (;;) {
      const PipeAccess latest = missing(op, pipe);
      if (latest.moment == 0) return;
      if (mode_ != Mode::complete) failed_ = true;
      if (failed_) return;
      if (latest.pipe == pipe) add_barrier(pipe, op, latest.moment);
      else add_pair(latest, pipe, op);
    }
  }
  // The latest access that an instruction must wait for and does not; none: its moment is 0.
  [[nodiscard]] PipeAccess missing(OpId op, Pipe pipe) const {
    PipeAccess latest;
    for (const Touch& t : touches_.of(op)) {
      const auto look = [&](const PipeAccess& d, bool in_order) {
        if (d.moment > latest.moment && !in_order && !is_done(d, pipe, op)) latest = d;
      };
      if (t.space == Gm)
        path_.tensors[t.tensor].for_each_earlier(t.writes, [&](const PipeAccess& d) { look(d, d.op && are_apart(f_, d.op, op, run_with(op, d.moment))); });
      else
        path_.chip[t.space].for_each_earlier(t.bytes, t.writes, [&](const PipeAccess& d) {
          look(d, d.op && d.is_last && d.pipe == pipe && follows_in_step(f_, d.op, op, t.space, t.bytes));
        });
    }
    return latest;
  }
  // How an earlier moment stands to an operation now.
  [[nodiscard]] Relation run_with(OpId op, Timestamp m) const {
    Relation r{f_[op].parent, {}};
    for (; m <= begin_[r.block.index] && f_[r.block].owner; r.block = f_[r.between].parent) r.between = f_[r.block].owner;
    return r;
  }
  [[nodiscard]] bool is_done(const PipeAccess& d, Pipe to, OpId op) const {
    return d.op ? is_done(at(d.pipe), to, d.moment, op) : d.moment <= path_.known[at(to)][at(d.pipe)];
  }
  // Whether in front of `op`, `to` knows an earlier moment of a pipe to be over: so far it knows the whole pipe to be, or it has
  // waited for a flag that is raised behind what happened then, or behind what itself waits for that.
  [[nodiscard]] bool is_done(std::size_t from, Pipe to, Timestamp m, OpId op) const {
    if (m <= path_.known[at(to)][from]) return true;
    for (OpId source = op_at_[m]; source; source = f_[f_[source].parent].owner) {
      if (run_is_over(f_[source].parent, m, op) && has_barrier_behind(source, at(to) == from ? to : Pipe::none)) return true;
      for (const std::uint32_t n : plan_.sets(source)) {
        const FlagPair& p = plan_.pairs[n];
        if (!p.used || at(p.from) != from) continue;
        const bool over = !p.home && run_is_over(f_[p.before].parent, m, op);  // of the block, which holds the wait, too
        if (p.to == to ? over || waited_since(n, m) : over && passed_on(p, to, m)) return true;
      }
    }
    return false;
  }
  // A barrier of a pipe (or of all) further down in the block.
  [[nodiscard]] bool has_barrier_behind(OpId op, Pipe pipe) const {
    for (OpId o = f_.next(op); o; o = f_.next(o))
      if ((plan_.barriers[o.index] & (bit(pipe) | bit(Pipe::none))) != 0) return true;
    return false;
  }
  // Whether the run of a block in which a moment was has ended.
  [[nodiscard]] bool run_is_over(BlockId block, Timestamp m, OpId op) const {
    if (m <= begin_[block.index]) return true;
    while (op && f_[op].parent != block) op = f_[f_[op].parent].owner;
    return !op;
  }
  [[nodiscard]] bool waited_since(std::uint32_t n, Timestamp m) const {
    return n < path_.waited.size() && path_.waited[n] >= m;
  }
  // Each run of the block has both sets; in this run, a later one, `to` has waited for the second one.
  [[nodiscard]] bool passed_on(const FlagPair& first, Pipe to, Timestamp m) const {
    const BlockId block = f_[first.before].parent;
    if (m > begin_[block.index]) return false;
    for (std::size_t n = 0; n < path_.waited.size(); ++n) {
      const FlagPair& second = plan_.pairs[n];
      const Timestamp moment = path_.waited[n];
      if (moment > 0 && second.used && second.home && second.from == first.to && second.to == to && f_[second.after].parent == block &&
          f_[second.before].parent == block && order_.begin(first.before) <= order_.begin(second.after) && moment >= begin_[block.index])
        return true;
    }
    return false;
  }
  /// Where something waits for what was at a moment: in front of the body of a tile operation that began later, since bodies do
  /// not depend on who runs them. `now`: when that place was passed.
  struct Place {
    OpId op;
    Timestamp now = 0;
  };
  [[nodiscard]] Place place_of(OpId op, Timestamp m) const {
    const OpId body = body_around(f_, op);
    if (!body || m > begin_[f_.block(body).index]) return {op, now_};
    return {body, begin_[f_.block(body).index]};
  }
  void add_barrier(Pipe pipe, OpId op, Timestamp m) {
    const Place before = place_of(op, m);
    plan_.barriers[before.op.index] |= bit(pipe);
    Timestamp& done = path_.known[at(pipe)][at(pipe)];
    done = std::max(done, before.now);
  }
  void add_pair(const PipeAccess& d, Pipe to, OpId op) {
    const Place place = place_of(op, d.moment);
    const OpId before = place.op, source = place.op != op && order_.holds(place.op, op_at_[d.moment]) ? place.op : op_at_[d.moment];
    const FlagPair p = pair_between(f_, order_, d.pipe, to, source, before);
    if (p.home && !d.op) {  // a flag from turn to turn tells about one operation
      plan_.barriers[before.index] |= bit(Pipe::none);
      for (VectorClock& row : path_.known) take_later(row, filled(place.now));
      return;
    }
    const std::uint32_t n = plan_.add(p);
    path_.wait(n, place.now);
    // What the flag tells in other turns than the last one is not known yet.
    if (p.home) path_.raised[n] = entry_row(p.home, d.pipe);
    else take_later(path_.known[at(to)], snapshot(p.after, d.pipe));
  }

  [[nodiscard]] static VectorClock filled(Timestamp m) {
    VectorClock row{};
    row.fill(m);
    return row;
  }

  // --- flags and barriers of the plan ---
  [[nodiscard]] VectorClock snapshot(OpId after, Pipe pipe) const {
    const auto exit = exits_.find(after.index);
    return exit != exits_.end() ? exit->second[at(pipe)] : rows_[after.index];
  }
  [[nodiscard]] VectorClock entry_row(OpId home, Pipe pipe) const {
    const auto& [known, moment] = entries_.at(home.index);
    VectorClock row = known[at(pipe)];
    row[at(pipe)] = moment;
    return row;
  }
  void waits(OpId op) {
    const Timestamp behind = now_;
    for (const std::uint32_t n : plan_.waits(op)) {
      const FlagPair& p = plan_.pairs[n];
      if (p.used) lower(n, p.home ? path_.raised[n] : snapshot(p.after, p.from), op, behind);
    }
  }
  // `behind`: the last moment in front of all flags that are lowered at this place; of each other they tell nothing.
  void lower(std::uint32_t n, const VectorClock& row, OpId op, Timestamp behind) {
    const FlagPair& p = plan_.pairs[n];
    take_later(path_.known[at(p.to)], row);
    path_.wait(n, behind);
    if (mode_ != Mode::flags) return;
    op_at_.resize(++now_ + 1);
    op_at_[now_] = op;
    path_.last[at(p.to)] = now_;
    if (!overlaps_itself(p.to, arch_)) path_.known[at(p.to)][at(p.to)] = now_;
    path_.lowered[flag(p)].assign(1, {now_, op});
  }
  void lower_behind(OpId loop) {
    const Timestamp behind = now_;
    for (const std::uint32_t n : plan_.homes(loop))
      if (plan_.pairs[n].used && plan_.pairs[n].ends_waiting) lower(n, path_.raised[n], loop, behind);
  }
  void raise_behind(OpId op) {
    for (const std::uint32_t n : plan_.sets(op)) raise(n, snapshot(op, plan_.pairs[n].from), op);
  }
  void raise(std::uint32_t n, const VectorClock& row, OpId op) {
    const FlagPair& p = plan_.pairs[n];
    if (!p.used || failed_) return;
    if (p.home) path_.raised[n] = row;
    if (mode_ != Mode::flags) return;
    const auto before = path_.lowered.find(flag(p));
    if (before == path_.lowered.end()) return;
    for (const Lowered& l : before->second) {
      if (row[at(p.to)] >= l.moment || is_done(at(p.to), p.from, l.moment, op)) continue;
      failed_ = true;
      flag_fault_ = FlagFault{p.to, p.from, l.op, op, n};
      return;
    }
  }
  [[nodiscard]] static std::uint32_t flag(const FlagPair& p) {
    return (static_cast<std::uint32_t>(p.from) * pipe_count + static_cast<std::uint32_t>(p.to)) * event_count + static_cast<std::uint32_t>(p.event);
  }
  void barriers(OpId op) {
    const PipeSet set = plan_.barriers[op.index];
    if ((set & bit(Pipe::none)) != 0)
      for (VectorClock& row : path_.known) row.fill(now_);
    for (std::size_t p = 1; p < pipe_count; ++p)
      if ((set & bit(static_cast<Pipe>(p))) != 0) path_.known[p][p] = now_;
  }

  const Function& f_;
  const Arch arch_;
  const TextOrder& order_;
  const Touches& touches_;
  SyncPlan& plan_;
  const Mode mode_;
  Path path_;
  Timestamp now_ = 0;
  std::vector<OpId> op_at_;                         // by moment
  std::vector<VectorClock> rows_;                       // by instruction: what its pipe knows behind it
  std::map<std::uint32_t, Matrix> exits_;           // by control operation: the same, of all pipes
  std::map<std::uint32_t, std::pair<Matrix, Timestamp>> entries_;  // by loop
  std::vector<Timestamp> begin_;                       // by block: of its latest run
  std::optional<FlagFault> flag_fault_;
  std::size_t visits_ = 0;
  bool failed_ = false;
};

}  // namespace tessera::detail
