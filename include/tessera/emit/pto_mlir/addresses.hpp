// Addresses of a module at level 3: those that plan_memory gave to buffers, and free bytes for the
// copies and the scratch of the emitter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../../passes/memory/lifetimes.hpp"

namespace tessera::pto {

/// What the emitter adds is needed while one instruction runs, or as long as the operation's result is.
enum class Lasts : std::uint8_t { one_operation, with_result };

class Addresses {
 public:
  explicit Addresses(const Function& f) : f_(f) {}

  [[nodiscard]] std::int64_t of_buffer(ValueId tile) const { return byte_range(f_, tile).begin; }
  [[nodiscard]] std::int64_t room_of_buffer(ValueId tile) const { return byte_range(f_, tile).bytes(); }
  /// The lowest bytes of a space that no buffer and no other temporary needs while this one is needed; none: there are no such.
  [[nodiscard]] std::optional<std::int64_t> for_temporary(OpId op, Lasts lasts, MemorySpace space, std::int64_t bytes) {
    if (!lives_) find_buffers();
    tessera::detail::Spans spans = lives_->copy(op, lasts == Lasts::with_result ? f_.result(op) : ValueId{});
    const std::int64_t unit = info(space).alignment, size = align_up(bytes, unit);
    taken_.clear();
    for (const Block& b : blocks_)
      if (b.space == space && meet(b.spans, spans)) taken_.push_back(b.range);
    std::sort(taken_.begin(), taken_.end(), [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
    std::int64_t at = 0;
    for (const ByteRange& t : taken_) {
      if (t.begin - at >= size) break;
      at = std::max(at, align_up(t.end, unit));
    }
    if (at + size > capacity(space, planned_arch(f_))) return {};
    blocks_.push_back({space, {at, at + size}, std::move(spans)});
    return at;
  }

 private:
  struct Block {
    MemorySpace space = Vec;
    ByteRange range;
    tessera::detail::Spans spans;
  };
  static bool meet(const tessera::detail::Spans& a, const tessera::detail::Spans& b) {
    for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
      if (a[i].end < b[k].begin) ++i;
      else if (b[k].end < a[i].begin) ++k;
      else return true;
    }
    return false;
  }
  void find_buffers() {
    lives_.emplace(f_);
    for (const Storage& s : f_.storage)
      if (s.is_reserved()) blocks_.push_back({s.space, byte_range(s), {{0, ~std::uint32_t{0}}}});
    for (std::size_t b = 0; b < lives_->count(); ++b)
      blocks_.push_back({f_.type(lives_->owner(b)).space, byte_range(f_, lives_->owner(b)), lives_->spans(b)});
  }

  const Function& f_;
  std::optional<tessera::detail::Lifetimes> lives_;  // when there is a first temporary
  std::vector<Block> blocks_;
  std::vector<ByteRange> taken_;
};

}  // namespace tessera::pto
