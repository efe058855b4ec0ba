// How many bytes of each space a function needs at the same time, and where it needs most. What its author reserves is needed at
// all times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "lifetimes.hpp"

namespace tessera::detail {

/// A buffer's span, in the order of time.
struct Need {
  Span span;
  std::uint32_t buffer = 0;
};

/// The buffers of one space over time.
class Demand {
 public:
  Demand(const Function& f, const Lifetimes& lives, MemorySpace space, Arch arch) : bytes_(lives.count()) {
    const std::int64_t unit = info(space).alignment;
    for (const Storage& s : f.storage)
      if (s.space == space && s.is_reserved()) reserved_ += (s.bytes + unit - 1) / unit * unit;
    for (std::uint32_t b = 0; b < lives.count(); ++b) {
      const Type& t = f.type(lives.owner(b));
      if (t.space != space) continue;
      buffers_.push_back(b);
      bytes_[b] = align_up(stored_bytes(t, arch), unit);
      for (const Span& s : lives.spans(b)) needs_.push_back({s, b});
    }
    const auto before = [](const Need& x, const Need& y) {
      return x.span.begin != y.span.begin ? x.span.begin < y.span.begin : x.buffer < y.buffer;
    };
    if (!std::is_sorted(needs_.begin(), needs_.end(), before)) std::sort(needs_.begin(), needs_.end(), before);
    measure();
  }

  [[nodiscard]] const std::vector<std::uint32_t>& buffers() const { return buffers_; }
  /// With what aligns the next one.
  [[nodiscard]] std::int64_t bytes(std::uint32_t buffer) const { return bytes_[buffer]; }
  /// Those that the author reserves.
  [[nodiscard]] std::int64_t reserved() const { return reserved_; }
  /// The most bytes that are needed at one moment, and the first such moment.
  [[nodiscard]] std::int64_t least() const { return least_; }
  [[nodiscard]] std::uint32_t tightest() const { return tightest_; }
  /// The buffers that are needed at a moment, the largest first.
  [[nodiscard]] std::vector<std::uint32_t> needed_at(std::uint32_t moment) const {
    std::vector<std::uint32_t> list;
    for (const Need& n : needs_)
      if (n.span.begin <= moment && moment <= n.span.end) list.push_back(n.buffer);
    std::sort(list.begin(), list.end(), [&](std::uint32_t a, std::uint32_t b) { return bytes_[a] != bytes_[b] ? bytes_[a] > bytes_[b] : a < b; });
    return list;
  }
  /// Calls f(moment, bytes) for each moment at which a span begins and more is needed than `limit`.
  template <class F>
  void for_each_excess(std::int64_t limit, F&& f) const {
    sweep([&](const Need& next, const std::vector<Need>& running) {
      std::int64_t sum = reserved_ + bytes_[next.buffer];
      for (const Need& n : running) sum += bytes_[n.buffer];
      if (sum > limit) f(next.span.begin, sum);
    });
  }
  /// Calls f(a, b) for each two spans that have a moment in common, by their buffers.
  template <class F>
  void for_each_pair(F&& f) const {
    sweep([&](const Need& next, const std::vector<Need>& running) {
      for (const Need& n : running) f(n.buffer, next.buffer);
    });
  }

 private:
  // In the order of their beginnings: visit(span, those that run when it begins).
  template <class Visit>
  void sweep(Visit&& visit) const {
    std::vector<Need> running;
    for (const Need& next : needs_) {
      std::erase_if(running, [&](const Need& n) { return n.span.end < next.span.begin; });
      visit(next, running);
      running.push_back(next);
    }
  }
  void measure() {
    least_ = reserved_;
    sweep([&](const Need& next, const std::vector<Need>& running) {
      std::int64_t sum = reserved_ + bytes_[next.buffer];
      for (const Need& n : running) sum += bytes_[n.buffer];
      if (sum <= least_) return;
      least_ = sum;
      tightest_ = next.span.begin;
    });
    for (const std::uint32_t b : buffers_) least_ = std::max(least_, reserved_ + bytes_[b]);
  }

  std::vector<std::int64_t> bytes_;     // by buffer
  std::vector<std::uint32_t> buffers_;  // of the space
  std::vector<Need> needs_;
  std::int64_t least_ = 0, reserved_ = 0;
  std::uint32_t tightest_ = 0;
};

/// "x (line 3)", or the operation that makes it where it has no name.
[[nodiscard]] inline std::string tile_text(const Function& f, ValueId v) {
  const OpId by = f.definition(v);
  const std::string_view name = f.name_of(v);
  return std::string(name.empty() ? f.info(by).name : name) + " (line " + std::to_string(f[by].location.line) + ")";
}

}  // namespace tessera::detail
