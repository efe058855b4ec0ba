// plan_memory: every buffer gets an address in its space (Value::address of its owner). Buffers that are not needed at the same
// time share bytes; no space holds more than is safe to use. What does not fit is an error that names the largest tiles.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "memory/demand.hpp"
#include "memory/packing.hpp"
#include "pass.hpp"

namespace tessera {
namespace detail {

class PlanMemory {
 public:
  PlanMemory(const Function& in, Arch arch) : arch_(arch), out_(in), lives_(in), local_(lives_.count()) {}

  Function run() {
    for (int s = Vec; s < space_count; ++s) space(static_cast<MemorySpace>(s));
    out_.planned_for = static_cast<int>(arch_);
    return std::move(out_);
  }

 private:
  void space(MemorySpace s) {
    const Demand demand(out_, lives_, s, arch_);
    if (demand.buffers().empty()) return;
    if (demand.least() > capacity(s, arch_)) refuse(s, demand, demand.least());
    const PackingProblem problem = problem_of(demand);
    const Packing packing(problem);
    if (packing.peak() > capacity(s, arch_)) refuse(s, demand, packing.peak());
    for (std::uint32_t i = 0; i < problem.size(); ++i)
      out_[lives_.owner(demand.buffers()[i])].address = static_cast<std::uint32_t>(packing[i]);
  }
  PackingProblem problem_of(const Demand& demand) {
    const std::vector<std::uint32_t>& buffers = demand.buffers();
    PackingProblem p;
    p.least = demand.least();
    for (std::uint32_t i = 0; i < buffers.size(); ++i) {
      const Spans& spans = lives_.spans(buffers[i]);
      local_[buffers[i]] = i;
      p.bytes.push_back(demand.bytes(buffers[i]));
      p.begin.push_back(spans.empty() ? 0 : spans.front().begin);
      p.length.push_back(spans.empty() ? 0 : spans.back().end - spans.front().begin + 1);
    }
    demand.for_each_pair([&](std::uint32_t a, std::uint32_t b) { p.pairs.push_back({local_[a], local_[b], false}); });
    const MemorySpace space = out_.type(lives_.owner(buffers[0])).space;
    for (const auto& [before, behind] : lives_.successions())
      if (out_.type(lives_.owner(before)).space == space) p.pairs.push_back({local_[before], local_[behind], true});
    return p;
  }
  [[noreturn]] void refuse(MemorySpace s, const Demand& demand, std::int64_t bytes) const {
    constexpr std::size_t most_listed = 6;
    const std::vector<std::uint32_t> tiles = demand.needed_at(demand.tightest());
    const OpId op = lives_.operation_at(demand.tightest());
    std::string list;
    for (std::size_t i = 0; i < tiles.size() && i < most_listed; ++i)
      list.append(i == 0 ? "" : ", ").append(tile_text(out_, lives_.owner(tiles[i]))).append(" ").append(std::to_string(demand.bytes(tiles[i])));
    if (tiles.size() > most_listed) list.append(", ").append(std::to_string(tiles.size() - most_listed)).append(" more");
    const std::string count = std::to_string(tiles.size()) + (tiles.size() == 1 ? " tile" : " tiles");
    fail(op ? out_[op].location : out_.location,
         "plan_memory: " + std::string(name(s)) + " needs " + std::to_string(bytes) + " bytes, " + std::string(name(arch_)) + " has " +
             std::to_string(capacity(s, arch_)) + " (" + count + " at " + std::string(op ? out_.info(op).name : "the start") +
             (bytes > demand.least() ? ": " + std::to_string(demand.least()) + ", with gaps " + std::to_string(bytes) : "") + ")",
         "make tiles smaller, or compute them in a loop; needed at the same time, in bytes: " + list);
  }

  const Arch arch_;
  Function out_;
  Lifetimes lives_;
  std::vector<std::uint32_t> local_;  // by buffer: its number in its space
};

inline Function run_plan_memory(const Function& f, const PassContext& c) { return PlanMemory(f, c.arch).run(); }

}  // namespace detail

/// An address for every buffer, within what is safe on the target.
inline constexpr Pass plan_memory = {.name = "plan_memory",
                                     .required = {Property::tiles_2d, Property::spaces_inferred, Property::buffers_assigned},
                                     .produced = {Property::addresses_planned},
                                     .run = detail::run_plan_memory};

}  // namespace tessera
