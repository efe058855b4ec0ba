// Runs the pipes of a trace once more, each at a random speed: every read must find what the program's order says, whoever is
// late. It needs no theory of what orders what, so it stands beside the proof of pipe_check.hpp as a second opinion.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "pipe_fault.hpp"
#include "trace_cells.hpp"

namespace tessera {
namespace detail {

class PipeReplay {
 public:
  PipeReplay(const Function& f, const PipeTrace& t, Arch arch) : f_(f), words_(f, t), t_(t), arch_(arch), cells_(t), state_(cells_.size()) {
    for (std::uint32_t i = 0; i < t.events.size(); ++i) {
      const Pipe p = runner(t.events[i]);
      if (t.events[i].kind == PipeEvent::Kind::instruction) expect(i);
      else if (t.events[i].kind != PipeEvent::Kind::barrier && !is_flag(t.events[i])) throw InternalError("pipe replay: there is no such flag (" + PipeWords::flag(t.events[i]) + ")");
      if (p != Pipe::none) queues_[static_cast<std::size_t>(p)].push_back(i);
      else
        for (std::size_t q = 1; q < pipe_count; ++q) queues_[q].push_back(i);
    }
  }

  /// One run, in the order that the seed gives.
  [[nodiscard]] std::optional<PipeFault> run(std::uint64_t seed) {
    random_ = seed * 0x9E3779B97F4A7C15u + 1;
    state_.assign(cells_.size(), {});
    raised_ = {};
    lanes_ = {};
    arrived_ = 0;
    fault_.reset();
    for (std::size_t i = 0; i < pipe_count - 1; ++i) order_[i] = i + 1;
    while (!fault_) {
      if (below(8) == 0) std::swap(order_[below(order_.size())], order_[below(order_.size())]);
      bool moved = false, all_done = true;
      for (const std::size_t p : order_) {
        if (is_done(p)) continue;
        all_done = false;
        moved = advance(p);
        if (moved) break;
      }
      if (all_done) break;
      if (!moved) return deadlock();
    }
    for (std::size_t i = 0; i < t_.events.size() && !fault_; ++i)
      if (const PipeEvent& e = t_.events[i]; e.kind == PipeEvent::Kind::set_flag && raised_[flag_number(e)])
        fault_ = PipeFault{e.op, words_.operation(e) + ": " + PipeWords::flag(e) + " is never lowered"};
    return fault_;
  }

 private:
  // What a cell holds: the number of the event that wrote it, and how many have added to it since.
  struct Content {
    std::uint32_t writer = no_index, adds = 0;
    friend constexpr bool operator==(const Content&, const Content&) = default;
  };
  // A pipe on its way. What it has started and not finished is the work of a pipe that overlaps itself.
  struct Lane {
    std::size_t next = 0;
    std::vector<std::uint32_t> at_work;
    bool at_barrier = false;
  };

  // --- what each access must find ---
  void expect(std::uint32_t i) {
    t_.for_each_access(t_.events[i], [&](std::uint32_t a) {
      if (first_.size() <= a) first_.resize(a + 1);
      first_[a] = expected_.size();
      for (std::uint32_t c = cells_[a].begin; c < cells_[a].end; ++c) expected_.push_back(state_[c]);
    });
    write(i);
  }
  void write(std::uint32_t i) {
    t_.for_each_access(t_.events[i], [&](std::uint32_t a) {
      const AccessKind kind = kind_of(t_.accesses[a]);
      for (std::uint32_t c = cells_[a].begin; c < cells_[a].end; ++c) {
        if (kind == AccessKind::writes) state_[c] = {i, 0};
        if (kind == AccessKind::adds) ++state_[c].adds;
      }
    });
  }
  void look(std::uint32_t i) {
    t_.for_each_access(t_.events[i], [&](std::uint32_t a) {
      const bool adds = t_.accesses[a].adds;
      for (std::uint32_t c = cells_[a].begin; c < cells_[a].end && !fault_; ++c) {
        const Content &must = expected_[first_[a] + c - cells_[a].begin], &is = state_[c];
        if (adds ? must.writer != is.writer : must != is) disagree(i, a, must, is);
      }
    });
  }
  [[nodiscard]] std::string writer_text(const Content& c) const {
    std::string text = c.writer == no_index ? "nothing" : words_.instruction(t_.events[c.writer]);
    if (c.adds > 0) text.append(" and ").append(std::to_string(c.adds)).append(" additions");
    return text;
  }
  void disagree(std::uint32_t i, std::uint32_t a, const Content& must, const Content& is) {
    const TraceAccess& x = t_.accesses[a];
    constexpr const char* does[] = {" reads ", " writes over ", " adds to "};
    fault_ = PipeFault{t_.events[i].op, "in another order " + words_.instruction(t_.events[i]) + does[static_cast<int>(kind_of(x))] +
                                            words_.bytes(x, x.begin, x.end) + " as left by " + writer_text(is) + ", and not by " + writer_text(must)};
  }

  // --- the pipes ---
  [[nodiscard]] bool is_done(std::size_t p) const { return lanes_[p].next == queues_[p].size() && lanes_[p].at_work.empty(); }
  /// One step of a pipe; false: it can do nothing.
  bool advance(std::size_t p) {
    Lane& lane = lanes_[p];
    const bool more = lane.next < queues_[p].size();
    const std::uint32_t i = more ? queues_[p][lane.next] : 0;
    if (!lane.at_work.empty() && (!more || t_.events[i].kind != PipeEvent::Kind::instruction || lane.at_work.size() == 6 || below(3) == 0)) {
      finish_one(lane);
      return true;
    }
    if (lane.at_barrier) return false;
    const PipeEvent& e = t_.events[i];
    switch (e.kind) {
      case PipeEvent::Kind::instruction: start(p, i); break;
      case PipeEvent::Kind::set_flag:
        if (raised_[flag_number(e)]) fault_ = PipeFault{e.op, "in another order " + words_.operation(e) + " raises " + PipeWords::flag(e) + " before it is lowered"};
        raised_[flag_number(e)] = true;
        break;
      case PipeEvent::Kind::wait_flag:
        if (!raised_[flag_number(e)]) return false;
        raised_[flag_number(e)] = false;
        break;
      case PipeEvent::Kind::barrier:
        if (runner(e) == Pipe::none) return arrive(p);
    }
    ++lane.next;
    return true;
  }
  void start(std::size_t p, std::uint32_t i) {
    finish_in_step(lanes_[p], i);
    look(i);
    if (overlaps_itself(static_cast<Pipe>(p), arch_)) lanes_[p].at_work.push_back(i);
    else write(i);
  }
  // What stays behind an earlier one all the way is as good as started when that is done.
  void finish_in_step(Lane& lane, std::uint32_t i) {
    t_.for_each_access(t_.events[i], [&](std::uint32_t a) {
      for (std::size_t k = 0; k < lane.at_work.size();) {
        if (in_step(f_, arch_, t_, lane.at_work[k], i, t_.accesses[a])) finish(lane, k);
        else ++k;
      }
    });
  }
  // It reads until it is done.
  void finish_one(Lane& lane) { finish(lane, below(lane.at_work.size())); }
  void finish(Lane& lane, std::size_t k) {
    const std::uint32_t i = lane.at_work[k];
    look(i);
    write(i);
    lane.at_work.erase(lane.at_work.begin() + static_cast<std::ptrdiff_t>(k));
  }
  bool arrive(std::size_t p) {
    lanes_[p].at_barrier = true;
    if (++arrived_ < pipe_count - 1) return true;
    arrived_ = 0;
    for (Lane& lane : lanes_) {
      if (lane.at_barrier) ++lane.next;
      lane.at_barrier = false;
    }
    return true;
  }
  [[nodiscard]] PipeFault deadlock() const {
    PipeFault fault{{}, "the pipes wait for each other"};
    for (std::size_t p = 1; p < pipe_count; ++p) {
      fault.what.append(fault.op || p > 1 ? "; " : ": ").append(name(static_cast<Pipe>(p)));
      if (is_done(p)) {
        fault.what.append(" is done");
        continue;
      }
      const PipeEvent& e = t_.events[queues_[p][lanes_[p].next]];
      fault.op = e.op;
      fault.what.append(" is at ").append(words_.operation(e));
      if (e.kind == PipeEvent::Kind::wait_flag) fault.what.append(", ").append(PipeWords::flag(e));
    }
    return fault;
  }

  [[nodiscard]] std::size_t below(std::size_t n) {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(random_ >> 33) % n;
  }

  const Function& f_;
  const PipeWords words_;
  const PipeTrace& t_;
  const Arch arch_;
  const TraceCells cells_;
  std::vector<Content> state_, expected_;  // by cell; by cell of each access
  std::vector<std::size_t> first_;         // of an access in `expected_`
  std::vector<std::uint32_t> queues_[pipe_count];
  std::array<Lane, pipe_count> lanes_ = {};
  std::array<std::size_t, pipe_count - 1> order_ = {};  // the first of them that can move does
  std::array<bool, flag_total> raised_ = {};
  std::size_t arrived_ = 0;
  std::uint64_t random_ = 0;
  std::optional<PipeFault> fault_;
};

}  // namespace detail

/// What goes wrong in one of `runs` random orders of the pipes; nothing when each of them gives what the program's order gives.
[[nodiscard]] inline std::optional<PipeFault> replay_fault(const Function& f, const PipeTrace& trace, Arch arch, int runs, std::uint64_t seed = 1) {
  detail::PipeReplay replay(f, trace, arch);
  for (int i = 0; i < runs; ++i)
    if (auto fault = replay.run(seed + static_cast<std::uint64_t>(i))) return fault;
  return {};
}

}  // namespace tessera
