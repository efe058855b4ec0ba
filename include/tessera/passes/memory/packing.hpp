// Places blocks that have sizes and exclude each other in as few bytes as it finds: good orders first, then repairs, and for few
// blocks a search of all orders. Equal input gives equal places.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace tessera::detail {

/// What is to be packed.
struct PackingProblem {
  /// Two blocks that may not overlap; `may_coincide`: unless both begin at the same byte. What excludes wholly counts where a
  /// pair is there twice.
  struct Pair {
    std::uint32_t a = 0, b = 0;
    bool may_coincide = false;
  };
  std::vector<std::int64_t> bytes;           ///< by block
  std::vector<std::uint32_t> begin, length;  ///< by block: when it is needed first, and for how long
  std::vector<Pair> pairs;
  std::int64_t least = 0;                    ///< no packing is smaller
  std::vector<std::int64_t> fixed = {};      ///< by block: its place where it has one already, else negative; empty: none has one

  [[nodiscard]] std::size_t size() const { return bytes.size(); }
};

class Packing {
 public:
  explicit Packing(const PackingProblem& p) : p_(p), first_(p.size() + 1), neighbours_(2 * p.pairs.size()), at_(p.size(), none) {
    if (p.size() == 0) return;
    note_neighbours();
    std::vector<std::uint32_t> order;
    for (std::uint32_t b = 0; b < p.size(); ++b)
      if (!is_fixed(b)) order.push_back(b);
    movable_ = order.size();
    // A chain is packed best in its own order, others by size, or by how much room they take for how long.
    const auto by = [&](auto&& key) {
      if (done()) return;
      std::vector<std::uint32_t> sorted = order;
      const auto before = [&](std::uint32_t a, std::uint32_t b) {
        const auto ka = key(a), kb = key(b);
        return ka != kb ? ka < kb : a < b;
      };
      if (!std::is_sorted(sorted.begin(), sorted.end(), before)) std::sort(sorted.begin(), sorted.end(), before);
      attempt(sorted);
    };
    by([&](std::uint32_t b) { return std::pair(std::int64_t{p.begin[b]}, -p.bytes[b]); });
    by([&](std::uint32_t b) { return std::pair(-p.bytes[b], std::int64_t{p.begin[b]}); });
    by([&](std::uint32_t b) { return std::pair(-p.bytes[b] * p.length[b], std::int64_t{p.begin[b]}); });
    by([&](std::uint32_t b) { return std::pair(-std::int64_t{p.length[b]}, -p.bytes[b]); });
    if (done()) return;
    if (movable_ <= most_for_search) search();
    else repair();
  }

  [[nodiscard]] std::int64_t peak() const { return peak_; }
  [[nodiscard]] std::int64_t operator[](std::size_t block) const { return best_[block]; }

 private:
  static constexpr std::int64_t none = -1;
  static constexpr std::size_t most_for_search = 8;
  static constexpr std::int64_t most_visits = 1'000'000;  // of neighbours: with eight attempts more it bounds the time of repairs

  [[nodiscard]] bool done() const { return peak_ == p_.least; }
  [[nodiscard]] bool is_fixed(std::uint32_t block) const { return !p_.fixed.empty() && p_.fixed[block] >= 0; }
  // Only what has its place stands there; gives the end of the highest.
  std::int64_t clear() {
    std::int64_t top = 0;
    for (std::uint32_t b = 0; b < p_.size(); ++b) {
      at_[b] = is_fixed(b) ? p_.fixed[b] : none;
      if (is_fixed(b)) top = std::max(top, at_[b] + p_.bytes[b]);
    }
    return top;
  }

  struct Neighbour {
    std::uint32_t block = 0;
    bool may_coincide = false;
  };
  void note_neighbours() {
    for (const auto& pair : p_.pairs) ++first_[pair.a], ++first_[pair.b];
    std::uint32_t sum = 0;
    for (std::uint32_t& n : first_) n = sum += n;  // the end of each list, from which it is filled
    for (const auto& pair : p_.pairs) {
      neighbours_[--first_[pair.a]] = {pair.b, pair.may_coincide};
      neighbours_[--first_[pair.b]] = {pair.a, pair.may_coincide};
    }
  }
  // The lowest place for a block among the neighbours that have theirs.
  std::int64_t lowest(std::uint32_t block) {
    taken_.clear();
    for (std::uint32_t i = first_[block]; i < first_[block + 1]; ++i)
      if (const Neighbour& n = neighbours_[i]; at_[n.block] != none)
        taken_.push_back({at_[n.block], at_[n.block] + p_.bytes[n.block], n.may_coincide});
    visits_ += first_[block + 1] - first_[block];
    std::sort(taken_.begin(), taken_.end(), [](const Taken& a, const Taken& b) { return a.begin < b.begin; });
    std::int64_t lowest = 0;
    for (const Taken& t : taken_) {
      if (t.begin - lowest >= p_.bytes[block]) break;
      lowest = std::max(lowest, t.end);
    }
    for (const Taken& t : taken_)
      if (t.may_coincide && t.begin < lowest && fits(block, t.begin)) return t.begin;
    return lowest;
  }
  [[nodiscard]] bool fits(std::uint32_t block, std::int64_t begin) const {
    const std::int64_t end = begin + p_.bytes[block];
    for (const Taken& t : taken_)
      if (t.begin < end && begin < t.end && !(t.may_coincide && t.begin == begin)) return false;
    return true;
  }
  void attempt(const std::vector<std::uint32_t>& order) {
    std::int64_t top = clear();
    for (const std::uint32_t b : order) {
      at_[b] = lowest(b);
      top = std::max(top, at_[b] + p_.bytes[b]);
    }
    order_ = order;
    keep(top);
  }
  void keep(std::int64_t top) {
    if (peak_ != none && top >= peak_) return;
    peak_ = top;
    best_ = at_;
    best_order_ = order_;
  }

  // What stands above the least size was placed too late: it moves forward, some steps or all the way.
  void repair() {
    std::uint32_t state = 1;
    const auto below = [&](std::size_t n) {
      state = state * 1664525u + 1013904223u;
      return static_cast<std::size_t>(state >> 8) % n;
    };
    std::vector<std::uint32_t> order = best_order_;
    const std::int64_t limit = most_visits + 8 * static_cast<std::int64_t>(neighbours_.size());
    for (int turn = 0; turn < 2000 && visits_ < limit && !done(); ++turn) {
      const auto above = [&](std::uint32_t b) { return at_[b] + p_.bytes[b] > p_.least; };
      if (turn % 20 == 19) {
        order = best_order_;
        for (int swaps = 0; swaps < 3; ++swaps) std::swap(order[below(order.size())], order[below(order.size())]);
      } else if (turn % 2 == 0) {
        std::stable_partition(order.begin(), order.end(), above);
      } else {
        for (std::size_t i = 1; i < order.size(); ++i)
          if (above(order[i])) {
            const std::size_t to = below(i + 1);
            std::rotate(order.begin() + static_cast<std::ptrdiff_t>(to), order.begin() + static_cast<std::ptrdiff_t>(i),
                        order.begin() + static_cast<std::ptrdiff_t>(i + 1));
          }
      }
      attempt(order);
    }
  }

  // Every packing can be made by placing blocks in the order of their places, each as low as it goes.
  void search() {
    order_.clear();
    extend(clear());
  }
  void extend(std::int64_t top) {
    if (order_.size() == movable_) return void(keep(top));
    for (std::uint32_t b = 0; b < p_.size() && !done(); ++b) {
      if (at_[b] != none) continue;
      const std::int64_t place = lowest(b), end = std::max(top, place + p_.bytes[b]);
      if (end >= peak_) continue;
      at_[b] = place;
      order_.push_back(b);
      extend(end);
      order_.pop_back();
      at_[b] = none;
    }
  }

  struct Taken {
    std::int64_t begin = 0, end = 0;
    bool may_coincide = false;
  };
  const PackingProblem& p_;
  std::vector<std::uint32_t> first_;  // by block: the first of its neighbours, up to those of the next block
  std::vector<Neighbour> neighbours_;
  std::vector<std::int64_t> at_, best_;  // by block
  std::vector<std::uint32_t> order_, best_order_;
  std::vector<Taken> taken_;
  std::size_t movable_ = 0;  // blocks
  std::int64_t peak_ = none, visits_ = 0;
};

}  // namespace tessera::detail
