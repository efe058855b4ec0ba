// The walk that decides what must wait for what: each operation is visited with what its pipe knows of the others. A loop's body
// is walked twice, for its first turn and for a later one; both blocks of a branch are.
#pragma once

#include "path.hpp"
#include "plan.hpp"

namespace tessera::detail {

/// A flag that may still be raised when it is raised again: in front of `before`, the pipe `to` that raises it must wait for the
/// one that lowers it, behind `source`.
struct FlagFault {
  Pipe from = Pipe::none, to = Pipe::none;
  OpId source, before;
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
  [[nodiscard]] const std::optional<FlagFault>& flag_fault() const { return flag_fault_; }

 private:
  using Matrix = std::array<Moments, pipe_count>;

  // --- the walk ---
  void block(BlockId b) {
    begin_[b.index] = now_;
    for (OpId op = f_[b].first; op && !failed_; op = f_.next(op)) {
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
    const Moment m = tick(op);
    for (const Touch& t : touches_.of(op)) record(t, op, m);
    path_.last[at(pipe)] = m;
    Moments& known = path_.known[at(pipe)];
    if (!overlaps_itself(pipe, arch_)) known[at(pipe)] = m;
    rows_[op.index] = known;
    rows_[op.index][at(pipe)] = m;
    raise_behind(op);
  }
  void control(OpId op) {
    waits(op);
    barriers(op);
    if (f_.is(op, ops::if_else)) branch(op);
    else loop(op);
    leave(op);
  }
  void leave(OpId op) {
    const Moment m = tick(op);
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
    Path none = path_;
    for (int turn = 0; turn < 2 && !failed_; ++turn) {
      if (!counted) block(f_.block(op, 0));
      if (!counted && turn == 0) none = path_;
      block(f_.block(op, counted ? 0 : 1));
    }
    if (!counted) block(f_.block(op, 0));
    lower_behind(op);
    if (counted && runs(op)) return;
    std::swap(none, path_);
    lower_behind(op);
    std::swap(none, path_);
    join(std::move(none));
  }
  [[nodiscard]] bool runs(OpId op) const {
    const ValueId start = f_.operand(op, 0), stop = f_.operand(op, 1);
    return f_.is_constant(start) && f_.is_constant(stop) && f_[start].integer < f_[stop].integer;
  }
  Moment tick(OpId op) {
    op_at_.resize(++now_ + 1);
    op_at_[now_] = op;
    return now_;
  }
  // Both paths end here.
  void join(Path other) {
    if (failed_) return;
    const Moment m = ++now_;
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
  void record(const Touch& t, OpId op, Moment m) {
    if (t.space != Gm) path_.chip[t.space].record(t.bytes, t.pipe, t.writes, m);
    else path_.tensors[t.tensor].record({op, t.pipe, t.writes, m});
  }
  // What an instruction touches waits for whatever it meets: the latest first, since who knows that often knows the others, too.
  void require(OpId op, Pipe pipe) {
    for (;;) {
      Moments need{};
      for (const Touch& t : touches_.of(op)) {
        if (t.space != Gm) require_bytes(t, op, need);
        else path_.tensors[t.tensor].collect(t.writes, [&](const TensorAccess& a) { return may_meet(a, op, pipe); }, need);
      }
      std::size_t latest = 0;
      for (std::size_t p = 1; p < need.size(); ++p)
        if (need[p] > need[latest] && !is_done(p, pipe, need[p])) latest = p;
      if (latest == 0) return;
      if (mode_ != Mode::complete) failed_ = true;
      if (failed_) return;
      if (latest == at(pipe)) add_barrier(pipe, op);
      else add_pair(static_cast<Pipe>(latest), pipe, need[latest], op);
    }
  }
  void require_bytes(const Touch& t, OpId op, Moments& need) const {
    path_.chip[t.space].for_each_earlier(t.bytes, t.writes, [&](std::size_t pipe, Moment m, bool is_last) {
      if (m <= need[pipe] || is_done(pipe, t.pipe, m)) return;
      if (is_last && pipe == at(t.pipe) && follows_in_step(f_, op_at_[m], op, t.space, t.bytes)) return;
      need[pipe] = m;
    });
  }
  // Whether `to` knows an earlier moment of a pipe to be over: so far it knows the whole pipe to be, or it has waited for a flag
  // that is raised behind what happened then, or behind what itself waits for that.
  [[nodiscard]] bool is_done(std::size_t from, Pipe to, Moment m) const {
    if (m <= path_.known[at(to)][from]) return true;
    for (OpId op = op_at_[m]; op; op = f_[f_[op].parent].owner)
      for (const std::uint32_t n : plan_.sets(op)) {
        const FlagPair& p = plan_.pairs[n];
        if (!p.used || at(p.from) != from) continue;
        if (p.to == to ? waited_since(n, m) : !p.home && passed_on(p, to, m)) return true;
      }
    return false;
  }
  [[nodiscard]] bool waited_since(std::uint32_t n, Moment m) const {
    const auto waited = path_.waited.find(n);
    return waited != path_.waited.end() && waited->second >= m;
  }
  // Each run of the block has both sets; since an earlier run `to` has waited for the second one.
  [[nodiscard]] bool passed_on(const FlagPair& first, Pipe to, Moment m) const {
    const BlockId block = f_[first.before].parent;
    if (m > begin_[block.index]) return false;
    for (const auto& [n, moment] : path_.waited) {
      const FlagPair& second = plan_.pairs[n];
      if (second.used && second.home && second.from == first.to && second.to == to && f_[second.after].parent == block &&
          f_[second.before].parent == block && order_.begin(first.before) <= order_.begin(second.after) && moment >= begin_[block.index] && moment >= m)
        return true;
    }
    return false;
  }
  [[nodiscard]] bool may_meet(const TensorAccess& a, OpId op, Pipe pipe) const {
    if (is_done(at(a.pipe), pipe, a.moment)) return false;
    const BlockId home = f_[op].parent;
    const bool same_run = a.moment > begin_[home.index];
    return !are_apart(f_, a.op, op, {home, same_run ? OpId{} : f_[home].owner});
  }
  void add_barrier(Pipe pipe, OpId before) {
    plan_.barriers[before.index] |= bit(pipe);
    path_.known[at(pipe)][at(pipe)] = now_;
  }
  void add_pair(Pipe from, Pipe to, Moment moment, OpId before) {
    const FlagPair p = pair_between(f_, order_, from, to, op_at_[moment], before);
    const std::uint32_t n = plan_.add(p);
    path_.waited[n] = now_;
    // What the flag tells in other turns than the last one is not known yet.
    if (p.home) path_.raised[n] = entry_row(p.home, from);
    else take_later(path_.known[at(to)], snapshot(p.after, from));
  }

  // --- flags and barriers of the plan ---
  [[nodiscard]] Moments snapshot(OpId after, Pipe pipe) const {
    const auto exit = exits_.find(after.index);
    return exit != exits_.end() ? exit->second[at(pipe)] : rows_[after.index];
  }
  [[nodiscard]] Moments entry_row(OpId home, Pipe pipe) const {
    const auto& [known, moment] = entries_.at(home.index);
    Moments row = known[at(pipe)];
    row[at(pipe)] = moment;
    return row;
  }
  void waits(OpId op) {
    for (const std::uint32_t n : plan_.waits(op)) {
      const FlagPair& p = plan_.pairs[n];
      if (p.used) lower(n, p.home ? path_.raised[n] : snapshot(p.after, p.from), op);
    }
  }
  void lower(std::uint32_t n, const Moments& row, OpId op) {
    const FlagPair& p = plan_.pairs[n];
    take_later(path_.known[at(p.to)], row);
    path_.waited[n] = now_;
    if (mode_ != Mode::flags) return;
    op_at_.resize(++now_ + 1);
    op_at_[now_] = op;
    path_.last[at(p.to)] = now_;
    if (!overlaps_itself(p.to, arch_)) path_.known[at(p.to)][at(p.to)] = now_;
    path_.lowered[flag(p)] = {now_, op};
  }
  void lower_behind(OpId loop) {
    for (const std::uint32_t n : plan_.homes(loop))
      if (plan_.pairs[n].used && plan_.pairs[n].ends_waiting) lower(n, path_.raised[n], loop);
  }
  void raise_behind(OpId op) {
    for (const std::uint32_t n : plan_.sets(op)) raise(n, snapshot(op, plan_.pairs[n].from), op);
  }
  void raise(std::uint32_t n, const Moments& row, OpId op) {
    const FlagPair& p = plan_.pairs[n];
    if (!p.used || failed_) return;
    if (p.home) path_.raised[n] = row;
    if (mode_ != Mode::flags) return;
    const auto before = path_.lowered.find(flag(p));
    if (before == path_.lowered.end() || row[at(p.to)] >= before->second.moment || is_done(at(p.to), p.from, before->second.moment)) return;
    failed_ = true;
    flag_fault_ = FlagFault{p.to, p.from, before->second.op, op};
  }
  [[nodiscard]] static std::uint32_t flag(const FlagPair& p) {
    return (static_cast<std::uint32_t>(p.from) * pipe_count + static_cast<std::uint32_t>(p.to)) * event_count + static_cast<std::uint32_t>(p.event);
  }
  void barriers(OpId op) {
    const PipeSet set = plan_.barriers[op.index];
    if ((set & bit(Pipe::none)) != 0)
      for (Moments& row : path_.known) row.fill(now_);
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
  Moment now_ = 0;
  std::vector<OpId> op_at_;                         // by moment
  std::vector<Moments> rows_;                       // by instruction: what its pipe knows behind it
  std::map<std::uint32_t, Matrix> exits_;           // by control operation: the same, of all pipes
  std::map<std::uint32_t, std::pair<Matrix, Moment>> entries_;  // by loop
  std::vector<Moment> begin_;                       // by block: of its latest run
  std::optional<FlagFault> flag_fault_;
  bool failed_ = false;
};

}  // namespace tessera::detail
