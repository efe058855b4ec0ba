// Results in place, for whoever plans the buffers anew and gives each one bytes of its own while an instruction runs: where
// that is too much, a result and the operand that it is written over get one buffer.
#pragma once

#include <optional>

#include "demand.hpp"

namespace tessera::detail {

class ResultsInPlace {
 public:
  /// `f` has addresses.
  explicit ResultsInPlace(const Function& f) : f_(f), lives_(f), root_(lives_.count()) {
    for (std::uint32_t b = 0; b < root_.size(); ++b) root_[b] = b;
  }

  std::optional<Function> run() {
    bool any = false;
    for (int s = 0; s < space_count; ++s)
      if (const auto space = static_cast<MemorySpace>(s); space != Gm && most(space) > capacity(space, planned_arch(f_))) any = share(space) || any;
    if (!any) return {};
    Function out = f_;
    for (std::uint32_t v = 0; v < f_.value_count(); ++v)
      if (const std::uint32_t owner = f_[ValueId{v}].buffer; f_.type(ValueId{v}).is_tile() && owner < f_.value_count() && f_[ValueId{owner}].buffer == owner)
        out[ValueId{v}].buffer = lives_.owner(root_[lives_.buffer({v})]).index;
    return out;
  }

 private:
  // The most bytes that are needed while one instruction runs.
  [[nodiscard]] std::int64_t most(MemorySpace space) const {
    std::vector<std::pair<std::uint32_t, std::int64_t>> steps;  // when bytes are needed (>0) or no longer (<0)
    const std::int64_t unit = info(space).alignment;
    for (std::uint32_t b = 0; b < lives_.count(); ++b) {
      const Type& t = f_.type(lives_.owner(b));
      if (t.space != space) continue;
      const std::int64_t bytes = align_up(stored_bytes(t, planned_arch(f_)), unit);
      for (const Span& s : lives_.spans(b)) steps.push_back({s.begin / 2, bytes}), steps.push_back({s.end / 2 + 1, -bytes});
    }
    std::sort(steps.begin(), steps.end());
    std::int64_t now = 0, most = 0;
    for (const auto& [moment, bytes] : steps) most = std::max(most, now += bytes);
    return most;
  }
  bool share(MemorySpace space) {
    bool any = false;
    for (const auto& [operand, result] : lives_.successions()) {
      const ValueId a = lives_.owner(operand), b = lives_.owner(result);
      if (f_.type(a) != f_.type(b) || f_.type(a).space != space || byte_range(f_, a) != byte_range(f_, b) || !f_.fully_valid(a) || !f_.fully_valid(b)) continue;
      if (!encloses(f_.defining_block(a), f_.defining_block(b)) || root_[result] != result) continue;
      root_[result] = root_[operand];
      any = true;
    }
    return any;
  }
  [[nodiscard]] bool encloses(BlockId outer, BlockId b) const {
    for (; b; b = f_[b].owner ? f_[f_[b].owner].parent : BlockId{})
      if (b == outer) return true;
    return false;
  }

  const Function& f_;
  const Lifetimes lives_;
  std::vector<std::uint32_t> root_;  // by buffer: the one that it shares
};

}  // namespace tessera::detail

namespace tessera {

/// Of a function with addresses: itself, with results in the buffers of operands that die, in spaces where separate buffers do not
/// fit; nothing where they do.
[[nodiscard]] inline std::optional<Function> results_in_place(const Function& f) { return detail::ResultsInPlace(f).run(); }

}  // namespace tessera
