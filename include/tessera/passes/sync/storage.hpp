// Which pipes read and wrote each byte last, on chip and in tensors, along the paths through a function that meet at a point.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "../../ir/accesses.hpp"

namespace tessera::detail {

/// VectorClock of a walk, counted upwards; 0: never.
using Timestamp = std::uint32_t;
/// One moment for each pipe.
using VectorClock = std::array<Timestamp, pipe_count>;

[[nodiscard]] constexpr std::size_t at(Pipe p) { return static_cast<std::size_t>(p); }
/// The later ones of two, pipe by pipe.
inline void take_later(VectorClock& to, const VectorClock& from) {
  for (std::size_t p = 0; p < to.size(); ++p) to[p] = std::max(to[p], from[p]);
}

/// What an operation did to some bytes, or in a tensor.
struct PipeAccess {
  OpId op;  ///< none: all of the pipe up to the moment stands for many accesses
  Timestamp moment = 0;
  Pipe pipe = Pipe::none;
  bool writes = false;
  bool is_last = true;  ///< of its pipe on its path
  /// The same at another time: who comes behind the later one comes behind both.
  [[nodiscard]] bool is_again(const PipeAccess& o) const { return op && op == o.op && writes == o.writes; }
};

/// The accesses that later ones have to come behind: of each path that leads here the last writes, and the reads since.
class PipeAccesses {
 public:
  PipeAccesses() = default;
  explicit PipeAccesses(const PipeAccess& one) : list_(1, one) {}
  void write(const PipeAccess& d) { list_.assign(1, d); }
  void read(const PipeAccess& made) {
    for (PipeAccess& d : list_)
      if (d.pipe == made.pipe && !d.writes && d.moment != made.moment) d.is_last = false;
    add(made);
    if (list_.size() > most) shorten();
  }
  void merge(const PipeAccesses& o) {
    for (const PipeAccess& d : o.list_) add(d);
    if (list_.size() > most) shorten();
  }
  [[nodiscard]] const std::vector<PipeAccess>& list() const { return list_; }
  /// For each pipe one that stands for all of its accesses.
  void shorten() {
    std::vector<PipeAccess> merged;
    for (const PipeAccess& d : list_) {
      const auto same = std::find_if(merged.begin(), merged.end(), [&](const PipeAccess& m) { return m.pipe == d.pipe && m.writes == d.writes; });
      if (same == merged.end()) merged.push_back({{}, d.moment, d.pipe, d.writes, false});
      else same->moment = std::max(same->moment, d.moment);
    }
    list_ = std::move(merged);
  }

 private:
  void add(const PipeAccess& made) {
    for (PipeAccess& d : list_) {
      const bool same_pipe = !d.op && !made.op && d.pipe == made.pipe && d.writes == made.writes;
      if (!d.is_again(made) && !same_pipe) continue;
      if (d.moment < made.moment) d = made;
      return;
    }
    list_.push_back(made);
  }
  static constexpr std::size_t most = 32;
  std::vector<PipeAccess> list_;
};

/// The bytes of a space, in pieces that were treated alike.
class SpaceHistory {
 public:
  /// Calls visit(access) for what must be done before bytes are read or, with `writes`, written.
  template <class Visit>
  void for_each_earlier(ByteRange r, bool writes, Visit&& visit) const {
    auto p = pieces_.upper_bound(r.begin);
    if (p != pieces_.begin()) --p;
    for (; p != pieces_.end() && p->first < r.end; ++p) {
      if (p->second.end <= r.begin) continue;
      for (const PipeAccess& d : p->second.accesses.list())
        if (writes || d.writes) visit(d);
    }
  }
  void record(ByteRange r, const PipeAccess& made) {
    if (r.begin >= r.end) return;
    split(r.begin);
    split(r.end);
    if (!made.writes) return cover(r.begin, r.end, [&](PipeAccesses& d) { d.read(made); });
    // Whoever touches the bytes from now on comes behind this one, and so behind all before it.
    pieces_.erase(pieces_.lower_bound(r.begin), pieces_.lower_bound(r.end));
    Piece piece{r.end, {}};
    piece.accesses.write(made);
    pieces_.emplace(r.begin, std::move(piece));
  }
  /// What either of two paths did.
  void merge(const SpaceHistory& other) {
    for (const auto& [begin, theirs] : other.pieces_) {
      split(begin);
      split(theirs.end);
      cover(begin, theirs.end, [&](PipeAccesses& d) { d.merge(theirs.accesses); });
    }
  }

 private:
  struct Piece {
    std::int64_t end = 0;
    PipeAccesses accesses;
  };
  // Calls change(accesses) for all bytes of a range, at whose ends pieces begin and end.
  template <class Change>
  void cover(std::int64_t begin, std::int64_t end, Change&& change) {
    for (auto p = pieces_.lower_bound(begin); begin < end; ++p) {
      const std::int64_t to = p == pieces_.end() ? end : std::min(p->first, end);
      if (begin < to) p = pieces_.emplace_hint(p, begin, Piece{to, {}});
      change(p->second.accesses);
      begin = p->second.end;
    }
  }
  void split(std::int64_t at) {
    auto p = pieces_.upper_bound(at);
    if (p == pieces_.begin()) return;
    --p;
    if (p->first == at || p->second.end <= at) return;
    Piece upper = p->second;
    p->second.end = at;
    pieces_.emplace(at, std::move(upper));
  }
  std::map<std::int64_t, Piece> pieces_;  // by first byte; they do not overlap
};

}  // namespace tessera::detail
