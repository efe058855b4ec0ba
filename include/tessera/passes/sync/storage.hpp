// Which pipes read and wrote each byte last, on chip and in tensors, along one path through a function.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "../../ir/accesses.hpp"

namespace tessera::detail {

/// Moments of a walk, counted upwards; 0: never.
using Moment = std::uint32_t;
/// One moment for each pipe.
using Moments = std::array<Moment, pipe_count>;

[[nodiscard]] constexpr std::size_t at(Pipe p) { return static_cast<std::size_t>(p); }
/// The later ones of two, pipe by pipe.
inline void take_later(Moments& to, const Moments& from) {
  for (std::size_t p = 0; p < to.size(); ++p) to[p] = std::max(to[p], from[p]);
}

/// The bytes of a space, in pieces that were treated alike.
class SpaceHistory {
 public:
  /// Calls visit(pipe, moment, is_last) for what must be done before bytes are read or, with `writes`, written: the last writes,
  /// the last reads, and the reads in front of those, which are not the last thing that the pipe did to the bytes.
  template <class Visit>
  void for_each_earlier(ByteRange r, bool writes, Visit&& visit) const {
    auto p = pieces_.upper_bound(r.begin);
    if (p != pieces_.begin()) --p;
    for (; p != pieces_.end() && p->first < r.end; ++p) {
      if (p->second.end <= r.begin) continue;
      for (std::size_t pipe = 0; pipe < pipe_count; ++pipe) {
        if (p->second.written[pipe] != 0) visit(pipe, p->second.written[pipe], true);
        if (writes && p->second.read[pipe] != 0) visit(pipe, p->second.read[pipe], true);
        if (writes && p->second.read_before[pipe] != 0) visit(pipe, p->second.read_before[pipe], false);
      }
    }
  }
  void record(ByteRange r, Pipe pipe, bool writes, Moment now) {
    if (r.begin >= r.end) return;
    if (writes) {
      // Whoever touches the bytes from now on comes behind this one, and so behind all before it.
      split(r.begin);
      split(r.end);
      pieces_.erase(pieces_.lower_bound(r.begin), pieces_.lower_bound(r.end));
      Piece made;
      made.end = r.end;
      made.written[at(pipe)] = now;
      pieces_.emplace(r.begin, made);
      return;
    }
    split(r.begin);
    split(r.end);
    std::int64_t from = r.begin;
    for (auto p = pieces_.lower_bound(r.begin); from < r.end; ++p) {
      const std::int64_t to = p == pieces_.end() ? r.end : std::min(p->first, r.end);
      if (from < to) p = add(p, from, to);
      if (Moment& last = p->second.read[at(pipe)]; last != now) {
        p->second.read_before[at(pipe)] = last;
        last = now;
      }
      from = p->second.end;
    }
  }
  /// What either of two paths did.
  void merge(const SpaceHistory& other) {
    for (const auto& [begin, theirs] : other.pieces_) {
      split(begin);
      split(theirs.end);
      std::int64_t from = begin;
      for (auto p = pieces_.lower_bound(begin); from < theirs.end; ++p) {
        const std::int64_t to = p == pieces_.end() ? theirs.end : std::min(p->first, theirs.end);
        if (from < to) p = add(p, from, to);
        take_later(p->second.written, theirs.written);
        take_later(p->second.read, theirs.read);
        take_later(p->second.read_before, theirs.read_before);
        from = p->second.end;
      }
    }
  }

 private:
  struct Piece {
    std::int64_t end = 0;
    Moments written{}, read{}, read_before{};
  };
  using Pieces = std::map<std::int64_t, Piece>;  // by first byte; they do not overlap
  Pieces::iterator add(Pieces::iterator hint, std::int64_t begin, std::int64_t end) {
    Piece made;
    made.end = end;
    return pieces_.emplace_hint(hint, begin, made);
  }
  void split(std::int64_t at) {
    auto p = pieces_.upper_bound(at);
    if (p == pieces_.begin()) return;
    --p;
    if (p->first == at || p->second.end <= at) return;
    Piece upper = p->second;
    p->second.end = at;
    pieces_.emplace(at, upper);
  }
  Pieces pieces_;
};

}  // namespace tessera::detail
