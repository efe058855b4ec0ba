// pipeline_loops: several turns of a loop become one, so that the tiles of each have buffers of their own and a turn loads while
// the one before it computes. Loops whose author asks for it, and with PassContext::pipelining those that stream and have room.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "assign_buffers.hpp"
#include "memory/plan.hpp"
#include "pass.hpp"
#include "pipelining/unroll.hpp"
#include "plan_memory.hpp"

namespace tessera {
namespace detail {

class PipelineLoops {
 public:
  PipelineLoops(const Function& in, Arch arch, bool pipelining)
      : in_(in), arch_(arch), found_(in, pipelining), loops_(found_.loops()), notes_(found_.notes()) {}

  Function run() {
    Function out = unrolled();
    // What is given up leaves other loops as they are, so that a second look seldom finds more; a few are enough.
    for (int looks = 0; any_automatic() && !fits(out); ++looks) {
      if (looks == 3) give_up_all("no plan was found");
      out = unrolled();
    }
    for (const LoopNote& n : notes_) out.loops.push_back(n);
    return out;
  }

 private:
  [[nodiscard]] Function unrolled() const {
    return loops_.empty() ? in_ : Unroller(in_, loops_).run();
  }
  [[nodiscard]] bool any_automatic() const {
    return std::any_of(loops_.begin(), loops_.end(), [](const PipelinedLoop& l) { return !l.requested; });
  }
  template <class Drop>
  void give_up(Drop&& reason_of) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      const std::string reason = loops_[i].requested ? std::string() : reason_of(i);
      if (reason.empty()) {
        loops_[kept++] = loops_[i];
        continue;
      }
      notes_[loops_[i].note].turns = 1;
      notes_[loops_[i].note].reason = reason;
    }
    loops_.resize(kept);
  }
  void give_up_all(const std::string& reason) {
    give_up([&](std::size_t) { return reason; });
  }

  // Plans the function as it would be planned. Loops for which there is no room are given up; where it is missing in the cube
  // unit's own spaces only, the factors and products of their turns share bytes.
  bool fits(const Function& f) {
    Function buffered;
    try {
      buffered = AssignBuffers(f).run();
    } catch (const UserError& e) {
      give_up_all(e.diagnostic().message);
      return false;
    }
    const MemoryPlan plan(buffered, arch_, Apart::all);
    if (!plan.shortage()) return true;
    const std::vector<Excess> found = excesses(buffered, plan.lives());
    std::vector<std::string> reasons(loops_.size());
    bool changed = false;
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      PipelinedLoop& l = loops_[i];
      if (l.requested || found[i].reason().empty()) continue;
      changed = true;
      const bool shares = found[i].elsewhere.empty() && !l.factors_shared;
      l.factors_shared = l.factors_shared || shares;
      if (shares) notes_[l.note].reason = "not for factors and products: " + found[i].of_cube_unit;
      else reasons[i] = found[i].reason();
    }
    if (changed) give_up([&](std::size_t i) { return reasons[i]; });
    else give_up_all(shortage_text(plan.shortage()->space, plan.shortage()->bytes, arch_));
    return false;
  }
  // What a loop needs more than there is; empty where it fits.
  struct Excess {
    std::string elsewhere, of_cube_unit;
    [[nodiscard]] const std::string& reason() const { return elsewhere.empty() ? of_cube_unit : elsewhere; }
  };
  [[nodiscard]] std::vector<Excess> excesses(const Function& f, const Lifetimes& lives) const {
    std::vector<std::size_t> number(f.operation_count(), loops_.size());
    std::size_t count = 0;
    for (const OpId op : all_operations(f))
      if (is_unrolled(f, op)) number[op.index] = count++;
    std::vector<Excess> found(loops_.size());
    for (int s = Vec; s < space_count; ++s) {
      const auto space = static_cast<MemorySpace>(s);
      std::vector<std::int64_t> most(loops_.size());
      Demand(f, lives, space, arch_).for_each_excess(capacity(space, arch_), [&](std::uint32_t moment, std::int64_t bytes) {
        OpId op = lives.operation_at(moment);
        while (op && !is_unrolled(f, op)) op = f[f[op].parent].owner;
        if (op) most[number[op.index]] = std::max(most[number[op.index]], bytes);
      });
      for (std::size_t i = 0; i < loops_.size(); ++i) {
        std::string& text = is_of_cube_unit(space) ? found[i].of_cube_unit : found[i].elsewhere;
        if (most[i] > 0 && text.empty()) text = shortage_text(space, most[i], arch_);
      }
    }
    return found;
  }

  const Function& in_;
  const Arch arch_;
  PipelineCandidates found_;
  std::vector<PipelinedLoop> loops_;
  Pool<LoopNote> notes_;
};

inline bool has_loops(const Function& f) {
  for (std::uint32_t i = 0; i < f.operation_count(); ++i)
    if (f.is({i}, ops::for_loop)) return true;
  return false;
}
inline Function run_pipeline_loops(const Function& f, const PassContext& c) {
  if (c.pipelining) return PipelineLoops(f, c.arch, true).run();
  // What nobody can do is an error in any case, also that there is no room.
  if (const PipelineCandidates asked(f, false); !asked.loops().empty())
    static_cast<void>(PlanMemory(AssignBuffers(Unroller(f, asked.loops()).run()).run(), c.arch, false).run());
  return f;
}

}  // namespace detail

/// Buffers for several turns of a loop; without PassContext::pipelining functions stay as they are.
inline constexpr Pass pipeline_loops = {.name = "pipeline_loops",
                                        .required = {Property::tiles_2d, Property::spaces_inferred},
                                        .invalidated = {Property::buffers_assigned, Property::addresses_planned},
                                        .run = detail::run_pipeline_loops,
                                        .applies = detail::has_loops};

}  // namespace tessera
