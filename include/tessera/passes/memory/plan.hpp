// An address for each buffer of a function, space by space, or the space that has too few bytes. Regions that the author reserves
// get their places first; the slots of a declared buffer stand one behind the other.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
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
    for (const Storage& s : f.storage) storage_.push_back({s.fixed ? s.address : -1, s.is_reserved() ? aligned(s.bytes, s.space) : 0, 0, Gm});
    if (!storage_.empty()) measure_slots();
    for (int s = Vec; s < space_count && !shortage_; ++s) space(static_cast<MemorySpace>(s));
  }

  [[nodiscard]] const std::optional<Shortage>& shortage() const { return shortage_; }
  [[nodiscard]] const Lifetimes& lives() const { return lives_; }
  [[nodiscard]] std::uint32_t address(std::size_t buffer) const { return address_[buffer]; }
  /// The first byte of declared storage, negative where no tile stands in a buffer, and the bytes of a slot.
  [[nodiscard]] std::int64_t storage_address(std::size_t storage) const { return storage_[storage].address; }
  [[nodiscard]] std::int64_t slot_bytes(std::size_t storage) const { return storage_[storage].bytes; }

 private:
  void space(MemorySpace s) {
    const Demand demand(f_, lives_, s, arch_);
    if (demand.buffers().empty() && demand.reserved() == 0) return;
    const std::int64_t limit = capacity(s, arch_);
    place_reserved(s);
    if (demand.least() > limit) return void(shortage_ = {s, demand.least()});
    const PackingProblem problem = problem_of(demand, s);
    const Packing packing(problem);
    if (packing.peak() > limit) return void(shortage_ = {s, packing.peak()});
    for (StorageBlock& b : storage_)
      if (b.space_of_plan == s) b.address = packing[b.block];
    for (const std::uint32_t b : demand.buffers()) address_[b] = static_cast<std::uint32_t>(packing[local_[b]] + offset_in_storage(b));
  }

  // --- storage that the author declares ---
  [[nodiscard]] static std::int64_t aligned(std::int64_t bytes, MemorySpace s) {
    const std::int64_t unit = info(s).alignment;
    return (bytes + unit - 1) / unit * unit;
  }
  [[nodiscard]] const Value& owner(std::uint32_t buffer) const { return f_[lives_.owner(buffer)]; }
  [[nodiscard]] std::int64_t offset_in_storage(std::uint32_t buffer) const {
    const Value& v = owner(buffer);
    return v.storage == no_storage ? 0 : v.slot * storage_[v.storage].bytes;
  }
  // A slot takes the largest tile that is placed in one.
  void measure_slots() {
    for (std::uint32_t b = 0; b < lives_.count(); ++b)
      if (const Value& v = owner(b); v.storage != no_storage)
        storage_[v.storage].bytes = std::max(storage_[v.storage].bytes, aligned(stored_bytes(v.type, arch_), v.type.space));
  }
  [[nodiscard]] std::int64_t storage_bytes(std::size_t i) const { return std::max<std::int64_t>(1, f_.storage[i].slots) * storage_[i].bytes; }
  // Regions without an address take the lowest bytes that no author's address is among.
  void place_reserved(MemorySpace s) {
    std::vector<ByteRange> taken;
    for (std::size_t i = 0; i < storage_.size(); ++i)
      if (f_.storage[i].space == s && f_.storage[i].fixed && storage_[i].bytes > 0) taken.push_back({f_.storage[i].address, f_.storage[i].address + storage_bytes(i)});
    for (std::size_t i = 0; i < storage_.size(); ++i) {
      if (f_.storage[i].space != s || !f_.storage[i].is_reserved() || f_.storage[i].fixed) continue;
      std::sort(taken.begin(), taken.end(), [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
      std::int64_t at = 0;
      for (const ByteRange& t : taken) {
        if (t.begin - at >= storage_bytes(i)) break;
        at = std::max(at, aligned(t.end, s));
      }
      storage_[i].address = at;
      taken.push_back({at, at + storage_bytes(i)});
    }
  }

  static std::uint32_t add_block(PackingProblem& p, std::int64_t bytes, std::int64_t fixed) {
    p.bytes.push_back(bytes);
    p.begin.push_back(0);
    p.length.push_back(0);
    p.fixed.push_back(fixed);
    if (fixed >= 0) p.least = std::max(p.least, fixed + bytes);
    return static_cast<std::uint32_t>(p.size() - 1);
  }
  static void cover(PackingProblem& p, std::uint32_t block, const Spans& spans) {
    if (spans.empty()) return;
    const std::uint32_t end = std::max(p.begin[block] + p.length[block], spans.back().end + 1);
    p.begin[block] = p.length[block] == 0 ? spans.front().begin : std::min(p.begin[block], spans.front().begin);
    p.length[block] = end - p.begin[block];
  }
  // One block for each buffer, but one for all that stand in one declared buffer, and one for each reserved region.
  PackingProblem problem_of(const Demand& demand, MemorySpace space) {
    const std::vector<std::uint32_t>& buffers = demand.buffers();
    PackingProblem p;
    p.least = demand.least();
    for (std::size_t i = 0; i < storage_.size(); ++i) {
      const Storage& s = f_.storage[i];
      if (s.space != space || storage_[i].bytes == 0) continue;
      storage_[i].space_of_plan = space;
      storage_[i].block = add_block(p, storage_bytes(i), storage_[i].address);
    }
    for (const std::uint32_t b : buffers) {
      const Value& v = owner(b);
      local_[b] = v.storage != no_storage ? storage_[v.storage].block : add_block(p, demand.bytes(b), -1);
      cover(p, local_[b], lives_.spans(b));
    }
    const auto exclude = [&](std::uint32_t a, std::uint32_t b, bool may_coincide) {
      if (a != b) p.pairs.push_back({a, b, may_coincide});
    };
    for (std::size_t i = 0; i < storage_.size(); ++i)
      for (std::uint32_t b = 0; b < p.size() && f_.storage[i].is_reserved() && storage_[i].space_of_plan == space; ++b) exclude(storage_[i].block, b, false);
    demand.for_each_pair([&](std::uint32_t a, std::uint32_t b) { exclude(local_[a], local_[b], false); });
    if (room_.any(space)) keep_apart(p, buffers, space);
    for (const auto& [before, behind] : lives_.successions())
      if (f_.type(lives_.owner(before)).space == space)
        exclude(local_[before], local_[behind], owner(before).storage == no_storage && owner(behind).storage == no_storage);
    return p;
  }

  // Bytes are not reused where that costs time.
  void keep_apart(PackingProblem& p, const std::vector<std::uint32_t>& buffers, MemorySpace space) {
    if (!pipes_) pipes_.emplace(f_, lives_);
    const auto begin = [&](std::uint32_t b) { return lives_.spans(b).empty() ? 0 : lives_.spans(b).front().begin; };
    for (std::uint32_t i = 0; i < buffers.size(); ++i)
      for (std::uint32_t k = i + 1; k < buffers.size(); ++k) {
        if (local_[buffers[i]] == local_[buffers[k]]) continue;
        const bool in_order = begin(buffers[i]) <= begin(buffers[k]);
        if (room_.all(space) || pipes_->waits(buffers[in_order ? i : k], buffers[in_order ? k : i]))
          p.pairs.push_back({local_[buffers[i]], local_[buffers[k]], false});
      }
  }

  const Function& f_;
  const Arch arch_;
  Lifetimes lives_;
  const Room room_;
  std::optional<BufferPipes> pipes_;    // where there is room
  struct StorageBlock {
    std::int64_t address = -1, bytes = 0;  // bytes: of a slot
    std::uint32_t block = 0;               // in the plan of its space
    MemorySpace space_of_plan = Gm;        // Gm: in none
  };
  std::vector<StorageBlock> storage_;   // that the author declares
  std::vector<std::uint32_t> local_;    // by buffer: its block in its space
  std::vector<std::uint32_t> address_;  // by buffer
  std::optional<Shortage> shortage_;
};

/// "Vec would need 200704 bytes, a3 has 188416".
[[nodiscard]] inline std::string shortage_text(MemorySpace space, std::int64_t bytes, Arch arch) {
  return std::string(name(space)) + " would need " + std::to_string(bytes) + " bytes, " + std::string(name(arch)) + " has " +
         std::to_string(capacity(space, arch));
}

}  // namespace tessera::detail
