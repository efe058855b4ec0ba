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

/// Spaces with so much room that bytes are reused only where no pipe waits for it.
struct Room {
  std::uint16_t for_all = 0;    ///< bit s: no two buffers in space s share bytes
  std::uint16_t for_pipes = 0;  ///< bit s: they do where the pipe that reuses the bytes touched them last
  [[nodiscard]] static constexpr std::uint16_t bit(MemorySpace s) { return static_cast<std::uint16_t>(1u << s); }
  [[nodiscard]] bool any(MemorySpace s) const { return ((for_all | for_pipes) & bit(s)) != 0; }
  [[nodiscard]] bool all(MemorySpace s) const { return (for_all & bit(s)) != 0; }
};

/// Which pipes touch each buffer.
class BufferPipes {
 public:
  BufferPipes(const Function& f, const Lifetimes& lives) : uses_(lives.count()) {
    for (const OpId op : all_operations(f)) {
      if (f.info(op).is_view) continue;
      for_each_access(f, op, [&](ValueId v, bool) {
        if (!f.type(v).is_tile()) return;
        Use& u = uses_[lives.buffer(v)];
        u.last = pipe_of(f, op);
        if (u.first == Pipe::none) u.first = u.last;
        u.pipes |= pipe_bit(u.last);
        u.in_loop = u.in_loop || outermost_loop(f, f[op].parent);
      });
    }
  }
  /// Whether a pipe would wait when the second buffer reused bytes of the first.
  [[nodiscard]] bool waits(std::uint32_t first, std::uint32_t second) const {
    const Use &a = uses_[first], &b = uses_[second];
    const unsigned both = a.pipes | b.pipes;
    return a.in_loop || b.in_loop ? (both & (both - 1)) != 0 : a.last != b.first;
  }

 private:
  struct Use {
    Pipe first = Pipe::none, last = Pipe::none;
    unsigned pipes = 0;  // a bit for each
    bool in_loop = false;
  };
  std::vector<Use> uses_;  // by buffer
};

class MemoryPlan {
 public:
  MemoryPlan(const Function& f, Arch arch, Apart apart, Room room = {})
      : f_(f), arch_(arch), lives_(f, apart), room_(room), local_(lives_.count()), address_(lives_.count(), no_index) {
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
    if (room_.any(space)) keep_apart(p, buffers, space);
    for (const auto& [before, behind] : lives_.successions())
      if (f_.type(lives_.owner(before)).space == space) p.pairs.push_back({local_[before], local_[behind], true});
    return p;
  }

  // Bytes are not reused where that costs time.
  void keep_apart(PackingProblem& p, const std::vector<std::uint32_t>& buffers, MemorySpace space) {
    if (!pipes_) pipes_.emplace(f_, lives_);
    const auto begin = [&](std::uint32_t b) { return lives_.spans(b).empty() ? 0 : lives_.spans(b).front().begin; };
    for (std::uint32_t i = 0; i < buffers.size(); ++i)
      for (std::uint32_t k = i + 1; k < buffers.size(); ++k) {
        const bool in_order = begin(buffers[i]) <= begin(buffers[k]);
        if (room_.all(space) || pipes_->waits(buffers[in_order ? i : k], buffers[in_order ? k : i])) p.pairs.push_back({i, k, false});
      }
  }

  const Function& f_;
  const Arch arch_;
  Lifetimes lives_;
  const Room room_;
  std::optional<BufferPipes> pipes_;    // where there is room
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
