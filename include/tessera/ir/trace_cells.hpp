// The bytes that a trace touches, cut into cells wherever an access begins or ends: each access covers whole cells.
#pragma once

#include <algorithm>
#include <compare>

#include "pipe_trace.hpp"

namespace tessera {

class TraceCells {
 public:
  struct Range {
    std::uint32_t begin = 0, end = 0;
  };

  explicit TraceCells(const PipeTrace& t) {
    cuts_.reserve(2 * t.accesses.size());
    for (const TraceAccess& a : t.accesses) {
      cuts_.push_back({region(a), a.begin});
      cuts_.push_back({region(a), a.end});
    }
    std::sort(cuts_.begin(), cuts_.end());
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
    ranges_.reserve(t.accesses.size());
    for (const TraceAccess& a : t.accesses) ranges_.push_back({position({region(a), a.begin}), position({region(a), a.end})});
  }
  /// How many there are; some of them are touched by nothing.
  [[nodiscard]] std::size_t size() const { return cuts_.size(); }
  /// The cells of access number `a` of the trace.
  [[nodiscard]] Range operator[](std::uint32_t a) const { return ranges_[a]; }

 private:
  struct Cut {
    std::uint64_t region = 0;
    std::int64_t at = 0;
    friend constexpr auto operator<=>(const Cut&, const Cut&) = default;
  };
  [[nodiscard]] static std::uint64_t region(const TraceAccess& a) {
    return (std::uint64_t{a.space} << 56) | (std::uint64_t{a.tensor & 0xFFFFFFu} << 32) | a.base;
  }
  [[nodiscard]] std::uint32_t position(const Cut& c) const {
    return static_cast<std::uint32_t>(std::lower_bound(cuts_.begin(), cuts_.end(), c) - cuts_.begin());
  }

  std::vector<Cut> cuts_;      // sorted; a cell reaches from one to the next of the same region
  std::vector<Range> ranges_;  // by access
};

}  // namespace tessera
