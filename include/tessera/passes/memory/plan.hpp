// An address for each buffer of a function, space by space, or the space that has too few bytes.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "demand.hpp"
#include "packing.hpp"

namespace tessera::detail {

/// A space without room for what a function needs of it.
struct Shortage {
  MemorySpace space = Vec;
  std::int64_t bytes = 0;  ///< that the best plan takes
};

class MemoryPlan {
 public:
  MemoryPlan(const Function& f, Arch arch, Apart apart, Room room = {})
      : f_(f), arch_(arch), lives_(f, apart, room), local_(lives_.count()), address_(lives_.count(), no_index) {
    for (int s = Vec; s < space_count && !shortage_; ++s) space(static_cast<MemorySpace>(s));
  }

  [[nodiscard]] const std::optional<Shortage>& shortage() const { return shortage_; }
  [[nodiscard]] const Lifetimes& lives() const { return lives_; }
  [[nodiscard]] std::uint32_t address(std::size_t buffer) const { return address_[buffer]; }

 private:
  void space(MemorySpace s) {
    const Demand demand(f_, lives_, s, arch_);
    if (demand.buffers().empty()) return;
    const std::int64_t limit = capacity(s, arch_);
    if (demand.least() > limit) return void(shortage_ = {s, demand.least()});
    const PackingProblem problem = problem_of(demand);
    const Packing packing(problem);
    if (packing.peak() > limit) return void(shortage_ = {s, packing.peak()});
    for (std::uint32_t i = 0; i < problem.size(); ++i) address_[demand.buffers()[i]] = static_cast<std::uint32_t>(packing[i]);
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
    const MemorySpace space = f_.type(lives_.owner(buffers[0])).space;
    for (const auto& [before, behind] : lives_.successions())
      if (f_.type(lives_.owner(before)).space == space) p.pairs.push_back({local_[before], local_[behind], true});
    return p;
  }

  const Function& f_;
  const Arch arch_;
  Lifetimes lives_;
  std::vector<std::uint32_t> local_;    // by buffer: its number in its space
  std::vector<std::uint32_t> address_;  // by buffer
  std::optional<Shortage> shortage_;
};

/// "Vec would need 200704 bytes, a3 has 188416".
[[nodiscard]] inline std::string shortage_text(MemorySpace space, std::int64_t bytes, Arch arch) {
  return std::string(name(space)) + " would need " + std::to_string(bytes) + " bytes, " + std::string(name(arch)) + " has " +
         std::to_string(capacity(space, arch));
}

}  // namespace tessera::detail
