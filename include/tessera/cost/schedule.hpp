// When the pipes of a core run what a trace tells, and how long it takes: each pipe in the order of the program, flags and
// barriers honoured. The time for a trace grows with its length.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../ir/instruction_cost.hpp"
#include "static_trace.hpp"

namespace tessera {

/// From `start` to before `end`, in cycles.
struct TimeSpan {
  std::int64_t start = 0, end = 0;
  [[nodiscard]] constexpr std::int64_t cycles() const { return end - start; }
  friend constexpr bool operator==(const TimeSpan&, const TimeSpan&) = default;
};

struct PipeSchedule {
  std::vector<TimeSpan> spans;  ///< of each event of the trace; of flags: when they are raised, and how long they are waited for
  std::vector<std::pair<std::uint32_t, std::uint32_t>> flags;  ///< events: one that raises a flag, and the one that waits for it
  std::array<std::int64_t, pipe_count> busy{};  ///< cycles in which a pipe has an instruction at work
  std::int64_t total = 0;
  bool ideal = false;  ///< nothing orders the pipes, as in functions that are not synchronised: an instruction starts as soon as its data permit
};

namespace detail {

/// When bytes were last written and read, in pieces of equal history.
class ByteTimes {
 public:
  /// The earliest moment at which an access may begin.
  [[nodiscard]] std::int64_t ready(const TraceAccess& a) {
    std::int64_t t = 0;
    each_piece(a, [&](Times& x) { t = std::max(t, a.writes ? std::max(x.written, x.read) : x.written); });
    return t;
  }
  /// What is written has one history again: it was written behind all that was done to it before.
  void note(const TraceAccess& a, std::int64_t end) {
    each_piece(a, [&](Times& x) { (a.writes ? x.written : x.read) = std::max(a.writes ? x.written : x.read, end); });
    if (!a.writes || a.begin >= a.end) return;
    Pieces& pieces = memories_[{a.space, a.tensor}];
    pieces.erase(std::next(pieces.find(a.begin)), pieces.find(a.end));
  }

 private:
  struct Times {
    std::int64_t written = 0, read = 0;
  };
  using Pieces = std::map<std::int64_t, Times>;  // by first byte; a piece reaches to the next one

  static Pieces::iterator cut(Pieces& pieces, std::int64_t at) {
    const auto behind = pieces.upper_bound(at), piece = std::prev(behind);
    return piece->first == at ? piece : pieces.emplace_hint(behind, at, piece->second);
  }
  template <class F>
  void each_piece(const TraceAccess& a, F&& f) {
    Pieces& pieces = memories_[{a.space, a.tensor}];
    if (pieces.empty()) pieces[INT64_MIN] = {};
    if (a.begin >= a.end) return;
    const auto first = cut(pieces, a.begin), last = cut(pieces, a.end);
    for (auto p = first; p != last; ++p) f(p->second);
  }

  std::map<std::pair<MemorySpace, std::uint32_t>, Pieces> memories_;
};

class Scheduler {
 public:
  Scheduler(const Function& f, const PipeTrace& trace, Arch arch) : f_(f), trace_(trace), arch_(arch), costs_(f.operation_count()) {
    out_.ideal = !f.synchronised && std::none_of(trace.events.begin(), trace.events.end(), [](const PipeEvent& e) { return e.kind != PipeEvent::Kind::instruction; });
  }

  [[nodiscard]] PipeSchedule run() {
    out_.spans.reserve(trace_.events.size());
    for (const PipeEvent& e : trace_.events) out_.spans.push_back(span_of(e));
    for (const Line& l : lines_) out_.total = std::max(out_.total, l.done);
    return std::move(out_);
  }

 private:
  /// A pipe: when it takes another instruction, and when those that it took are done.
  struct Line {
    std::int64_t free = 0, done = 0;
  };
  struct Flag {
    std::vector<std::uint32_t> raised;  // by these events
    std::size_t lowered = 0;
  };

  // Of the event that is being placed.
  [[nodiscard]] std::uint32_t number() const { return static_cast<std::uint32_t>(out_.spans.size()); }
  [[nodiscard]] Line& line(Pipe p) { return lines_[static_cast<std::size_t>(p)]; }
  [[nodiscard]] TimeSpan span_of(const PipeEvent& e) {
    switch (e.kind) {
      case PipeEvent::Kind::instruction: return instruction(e);
      case PipeEvent::Kind::set_flag: return set(e);
      case PipeEvent::Kind::wait_flag: return wait(e);
      case PipeEvent::Kind::barrier: break;
    }
    return barrier(e);
  }
  [[nodiscard]] TimeSpan instruction(const PipeEvent& e) {
    std::optional<InstructionCost>& known = costs_[e.op.index];
    if (!known) known = instruction_cost(f_, e.op);
    const InstructionCost cost = *known;
    Line& l = line(e.pipe);
    std::int64_t start = std::max(l.free, issued_);
    if (out_.ideal) start = std::max(start, ready(e));
    const TimeSpan span{start, start + cost.cycles()};
    if (out_.ideal) note(e, span.end);
    out_.busy[static_cast<std::size_t>(e.pipe)] += std::max<std::int64_t>(0, span.end - std::max(span.start, l.done));
    l.free = overlaps_itself(e.pipe, arch_) ? start + cost.work : span.end;
    l.done = std::max(l.done, span.end);
    hold_up(e.pipe);
    return span;
  }
  [[nodiscard]] TimeSpan set(const PipeEvent& e) {
    const std::int64_t when = std::max({line(e.pipe).done, line(e.pipe).free, issued_});
    flag(e).raised.push_back(number());
    return {when, when};
  }
  [[nodiscard]] TimeSpan wait(const PipeEvent& e) {
    Flag& raised = flag(e);
    if (raised.lowered == raised.raised.size())
      throw InternalError("schedule: " + std::string(f_.name.c_str()) + " waits for a flag that nothing in front raises (" +
                          std::string(name(e.pipe)) + " to " + std::string(name(e.to_pipe)) + ", " + std::to_string(e.event) + ")");
    Line& l = line(e.to_pipe);
    const std::uint32_t by = raised.raised[raised.lowered++];
    out_.flags.push_back({by, number()});
    const TimeSpan span{std::max(l.free, issued_), std::max({l.free, issued_, out_.spans[by].end})};
    l.free = span.end;
    hold_up(e.to_pipe);
    return span;
  }
  // A barrier of every pipe holds up the scalar unit, too, which hands out what follows.
  [[nodiscard]] TimeSpan barrier(const PipeEvent& e) {
    if (e.pipe != Pipe::none) {
      Line& l = line(e.pipe);
      const TimeSpan span{std::max(l.free, issued_), std::max({l.free, l.done, issued_})};
      l.free = span.end;
      hold_up(e.pipe);
      return span;
    }
    TimeSpan span{issued_, issued_};
    for (const Line& l : lines_) span.end = std::max({span.end, l.done, l.free});
    issued_ = span.end;
    return span;
  }
  // What the scalar unit does or waits for, what is behind it waits for.
  void hold_up(Pipe p) {
    if (p == Pipe::scalar) issued_ = std::max(issued_, line(p).free);
  }
  [[nodiscard]] Flag& flag(const PipeEvent& e) { return flags_[{e.pipe, e.to_pipe, e.event}]; }
  [[nodiscard]] std::int64_t ready(const PipeEvent& e) {
    std::int64_t t = 0;
    for (std::uint32_t i = 0; i < e.access_count; ++i) t = std::max(t, bytes_.ready(trace_.accesses[e.first_access + i]));
    return t;
  }
  void note(const PipeEvent& e, std::int64_t end) {
    for (std::uint32_t i = 0; i < e.access_count; ++i) bytes_.note(trace_.accesses[e.first_access + i], end);
  }

  const Function& f_;
  const PipeTrace& trace_;
  const Arch arch_;
  std::vector<std::optional<InstructionCost>> costs_;  // by operation
  std::array<Line, pipe_count> lines_{};
  std::map<std::tuple<Pipe, Pipe, std::uint8_t>, Flag> flags_;
  std::int64_t issued_ = 0;
  ByteTimes bytes_;
  PipeSchedule out_;
};

}  // namespace detail

/// The schedule of a trace of a function with addresses. Where that is not synchronised, and the trace has no flags and barriers,
/// nothing orders the pipes, and each instruction starts when its data permit. Throws UserError where the function has no addresses, InternalError
/// where a flag is waited for that nothing in front raises.
[[nodiscard]] inline PipeSchedule schedule(const Function& f, const PipeTrace& trace) {
  require_addresses(f);
  return detail::Scheduler(f, trace, planned_arch(f)).run();
}

/// Cycles that one block of a function with addresses takes.
[[nodiscard]] inline std::int64_t modelled_cycles(const Function& f, const TraceOptions& options = {}) {
  return schedule(f, trace_of(f, options).trace).total;
}

}  // namespace tessera
