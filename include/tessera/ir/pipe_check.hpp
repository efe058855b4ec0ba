// The proof that flags and barriers order the pipes of a core as the program does: what two instructions do to the same bytes
// happens in program order, whatever the pipes' speeds, and flags are raised and lowered in turn. It reads a trace only, and
// nothing of what set the flags. Near-linear in the events.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "pipe_fault.hpp"
#include "trace_cells.hpp"

namespace tessera {
namespace detail {

class PipeCheck {
 public:
  PipeCheck(const Function& f, const PipeTrace& t, Arch arch)
      : f_(f), words_(f, t), t_(t), arch_(arch), cells_(t), states_(cells_.size()), position_(t.events.size()) {
    for (const TraceAccess& a : t.accesses)
      if (a.space == Gm && a.base != 0) has_bases_ = true;
    if (!has_bases_) return;
    for (const TraceAccess& a : t.accesses)
      if (a.space == Gm && tensors_.size() <= a.tensor) tensors_.resize(a.tensor + 1);
  }

  [[nodiscard]] std::optional<PipeFault> run() {
    for (std::uint32_t i = 0; i < t_.events.size() && !fault_; ++i) event(i);
    for (const Flag& flag : flags_)
      if (flag.raised && !fault_) report(flag.set, PipeWords::flag(t_.events[flag.set]) + " is never lowered");
    return fault_;
  }

 private:
  // For each pipe how many of its events are done.
  using Clock = std::array<std::uint32_t, pipe_count>;
  static constexpr std::uint32_t none = no_index;
  using Latest = std::array<std::uint32_t, pipe_count>;  // events
  static constexpr Latest nobody() {
    Latest l{};
    l.fill(none);
    return l;
  }

  // Who did what to a cell. Readers and adders are those behind the writer.
  struct Cell {
    std::uint32_t writer = none;
    Latest readers = nobody(), adders = nobody();
    std::uint32_t reader_before = none;  ///< of a pipe that overlaps itself: the reader in front of its last one
    bool was_read = false, was_added_to = false;
  };
  struct Flag {
    bool raised = false, used = false;
    std::uint32_t set = 0, wait = 0;  // the last ones
    Clock clock{};                    // what is done when it is raised
  };
  // Of a tensor whose bytes are counted from several places: the last event of each kind and pipe, and the last of another base.
  struct Recent {
    std::uint32_t event = none, base = 0;
  };
  struct Tensor {
    Recent last[3][pipe_count], other[3][pipe_count];
  };

  void report(std::uint32_t event, const std::string& what) {
    const PipeEvent& e = t_.events[event];
    fault_ = PipeFault{e.op, words_.operation(e) + ": " + what};
  }

  void event(std::uint32_t i) {
    const PipeEvent& e = t_.events[i];
    const Pipe pipe = runner(e);
    if (e.kind == PipeEvent::Kind::barrier && pipe == Pipe::none) return barrier_of_all();
    if (pipe == Pipe::none) return report(i, "no pipe runs it");
    const auto p = static_cast<std::size_t>(pipe);
    Clock& now = now_[p];
    if (!overlaps_itself(pipe, arch_)) now[p] = done_[p];
    position_[i] = ++done_[p];
    switch (e.kind) {
      case PipeEvent::Kind::instruction: return instruction(i, now);
      case PipeEvent::Kind::set_flag: return set_flag(i, now);
      case PipeEvent::Kind::wait_flag: return wait_flag(i, now);
      case PipeEvent::Kind::barrier: now[p] = done_[p];
    }
  }
  void barrier_of_all() {
    for (Clock& now : now_) now = done_;
  }
  void set_flag(std::uint32_t i, const Clock& now) {
    const PipeEvent& e = t_.events[i];
    if (!is_flag(e)) return report(i, "there is no such flag (" + PipeWords::flag(e) + ")");
    Flag& flag = flags_[flag_number(e)];
    if (flag.raised) return report(i, PipeWords::flag(e) + " is raised twice, before anything lowers it: first by " + words_.operation(t_.events[flag.set]));
    if (flag.used && !is_done(flag.wait, now))
      return report(i, PipeWords::flag(e) + " is raised again, and " + words_.operation(t_.events[flag.wait]) + " may not have lowered it yet");
    flag.raised = true;
    flag.set = i;
    flag.clock = now;
    flag.clock[static_cast<std::size_t>(e.pipe)] = position_[i];
  }
  void wait_flag(std::uint32_t i, Clock& now) {
    const PipeEvent& e = t_.events[i];
    if (!is_flag(e)) return report(i, "there is no such flag (" + PipeWords::flag(e) + ")");
    Flag& flag = flags_[flag_number(e)];
    if (!flag.raised) return report(i, std::string(name(e.to_pipe)) + " waits for ever: nothing in front raises " + PipeWords::flag(e));
    for (std::size_t p = 0; p < now.size(); ++p) now[p] = std::max(now[p], flag.clock[p]);
    flag.raised = false;
    flag.used = true;
    flag.wait = i;
  }

  // --- instructions ---
  [[nodiscard]] bool is_done(std::uint32_t event, const Clock& now) const {
    return now[static_cast<std::size_t>(runner(t_.events[event]))] >= position_[event];
  }
  void instruction(std::uint32_t i, const Clock& now) {
    const PipeEvent& e = t_.events[i];
    t_.for_each_access(e, [&](std::uint32_t a) {
      for (std::uint32_t c = cells_[a].begin; c < cells_[a].end && !fault_; ++c) look(i, a, states_[c], now);
      if (has_bases_ && t_.accesses[a].space == Gm && !fault_) look_elsewhere(i, a, now);
    });
    t_.for_each_access(e, [&](std::uint32_t a) {
      for (std::uint32_t c = cells_[a].begin; c < cells_[a].end; ++c) note(i, t_.accesses[a], states_[c]);
      if (has_bases_ && t_.accesses[a].space == Gm) note_elsewhere(i, t_.accesses[a]);
    });
  }
  void require_done(std::uint32_t i, std::uint32_t a, std::uint32_t earlier, AccessKind kind, const Clock& now) {
    if (earlier == none || is_done(earlier, now) || fault_) return;
    if (kind != AccessKind::adds && in_step(f_, arch_, t_, earlier, i, t_.accesses[a])) return;
    report(i, a, earlier, kind);
  }
  void report(std::uint32_t i, std::uint32_t a, std::uint32_t earlier, AccessKind kind) {
    const PipeEvent& e = t_.events[earlier];
    const TraceAccess& mine = t_.accesses[a];
    const TraceAccess* theirs = nullptr;
    t_.for_each_access(e, [&](std::uint32_t b) {
      const TraceAccess& x = t_.accesses[b];
      if (kind_of(x) == kind && x.space == mine.space && x.tensor == mine.tensor &&
          (x.base != mine.base || (x.begin < mine.end && mine.begin < x.end)))
        theirs = &x;
    });
    if (theirs == nullptr) throw InternalError("pipe check: an access is not found again");
    fault_ = words_.conflict(t_.events[i], mine, e, *theirs);
  }
  void look(std::uint32_t i, std::uint32_t a, const Cell& cell, const Clock& now) {
    const AccessKind kind = kind_of(t_.accesses[a]);
    if (kind != AccessKind::reads && cell.reader_before != none && !is_done(cell.reader_before, now) && !fault_)
      report(i, a, cell.reader_before, AccessKind::reads);
    require_done(i, a, cell.writer, AccessKind::writes, now);
    if (cell.was_read && kind != AccessKind::reads)
      for (const std::uint32_t r : cell.readers) require_done(i, a, r, AccessKind::reads, now);
    if (cell.was_added_to && kind != AccessKind::adds)
      for (const std::uint32_t r : cell.adders) require_done(i, a, r, AccessKind::adds, now);
  }
  void note(std::uint32_t i, const TraceAccess& a, Cell& cell) {
    const auto p = static_cast<std::size_t>(runner(t_.events[i]));
    switch (kind_of(a)) {
      case AccessKind::reads:
        if (overlaps_itself(static_cast<Pipe>(p), arch_) && cell.readers[p] != i) cell.reader_before = cell.readers[p];
        cell.readers[p] = i;
        cell.was_read = true;
        return;
      case AccessKind::adds:
        cell.adders[p] = i;
        cell.was_added_to = true;
        return;
      case AccessKind::writes: cell = {};
    }
    cell.writer = i;
  }
  void look_elsewhere(std::uint32_t i, std::uint32_t a, const Clock& now) {
    const TraceAccess& mine = t_.accesses[a];
    const Tensor& t = tensors_[mine.tensor];
    for (int k = 0; k < 3; ++k) {
      if (commute(kind_of(mine), static_cast<AccessKind>(k))) continue;
      for (int p = 0; p < pipe_count; ++p) {
        const Recent& r = t.last[k][p].base != mine.base ? t.last[k][p] : t.other[k][p];
        require_done(i, a, r.event, static_cast<AccessKind>(k), now);
      }
    }
  }
  void note_elsewhere(std::uint32_t i, const TraceAccess& a) {
    const auto k = static_cast<int>(kind_of(a)), p = static_cast<int>(runner(t_.events[i]));
    Recent &last = tensors_[a.tensor].last[k][p], &other = tensors_[a.tensor].other[k][p];
    if (last.event != none && last.base != a.base) other = last;
    last = {i, a.base};
  }

  const Function& f_;
  const PipeWords words_;
  const PipeTrace& t_;
  const Arch arch_;
  const TraceCells cells_;
  std::vector<Cell> states_;
  std::vector<std::uint32_t> position_;  // of an event in its pipe, from 1
  Clock now_[pipe_count] = {};           // what is done when the next event of a pipe starts
  Clock done_ = {};                      // how many events of each pipe there were
  std::array<Flag, flag_total> flags_ = {};
  std::vector<Tensor> tensors_;
  bool has_bases_ = false;
  std::optional<PipeFault> fault_;
};

}  // namespace detail

/// What breaks the order of the pipes in a trace of `f` on a target; nothing when it holds.
[[nodiscard]] inline std::optional<PipeFault> pipe_fault(const Function& f, const PipeTrace& trace, Arch arch) {
  return detail::PipeCheck(f, trace, arch).run();
}

}  // namespace tessera
