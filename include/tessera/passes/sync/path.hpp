// What is known at a point of a walk through a function: how far each pipe knows the others to be, who touched which bytes last,
// and which flags are raised.
#pragma once

#include <map>

#include "touches.hpp"

namespace tessera::detail {

/// An access to a tensor; of each operation the last one.
struct TensorAccess {
  OpId op;
  Pipe pipe = Pipe::none;
  bool writes = false;
  Moment moment = 0;
};

/// The accesses to one tensor.
class TensorHistory {
 public:
  /// As SpaceHistory::collect; meets(op) tells whether the window of an earlier operation can meet this one.
  template <class Meets>
  void collect(bool writes, Meets&& meets, Moments& need) const {
    for (const TensorAccess& a : accesses_)
      if ((writes || a.writes) && need[at(a.pipe)] < a.moment && meets(a)) need[at(a.pipe)] = a.moment;
    take_later(need, written_);
    if (writes) take_later(need, read_);
  }
  void record(const TensorAccess& made) {
    for (TensorAccess& a : accesses_)
      if (a.op == made.op && a.writes == made.writes) {
        a.moment = made.moment;
        return;
      }
    // Of many, the windows of the earlier ones are forgotten.
    if (accesses_.size() == most) {
      for (const TensorAccess& a : accesses_) forget(a);
      accesses_.clear();
    }
    accesses_.push_back(made);
  }
  void merge(const TensorHistory& o) {
    for (const TensorAccess& theirs : o.accesses_) {
      bool known = false;
      for (TensorAccess& a : accesses_)
        if (a.op == theirs.op && a.writes == theirs.writes) known = true, a.moment = std::max(a.moment, theirs.moment);
      if (!known) accesses_.push_back(theirs);
    }
    take_later(written_, o.written_);
    take_later(read_, o.read_);
  }

 private:
  static constexpr std::size_t most = 32;
  void forget(const TensorAccess& a) {
    Moment& m = (a.writes ? written_ : read_)[at(a.pipe)];
    m = std::max(m, a.moment);
  }
  std::vector<TensorAccess> accesses_;
  Moments written_{}, read_{};
};

/// When a flag was lowered last, and in front of which operation (behind its home: that).
struct Lowered {
  Moment moment = 0;
  OpId op;
};

struct Path {
  explicit Path(std::size_t parameters) : tensors(parameters) {}

  std::array<Moments, pipe_count> known{};  ///< by pipe: up to when each of the others is done, as far as it knows
  Moments last{};                           ///< by pipe: its last instruction
  std::array<SpaceHistory, space_count> chip;
  std::vector<TensorHistory> tensors;       ///< by parameter
  std::map<std::uint32_t, Moments> raised;  ///< by pair with a home: what its flag tells
  std::map<std::uint32_t, Moment> waited;   ///< by pair: when its flag was waited for last
  std::map<std::uint32_t, Lowered> lowered;  ///< by flag

  /// Who knows all that a pipe did on this path knows it to be done up to now.
  void forward(Moment now) {
    for (Moments& row : known) forward(row, now);
    for (auto& [pair, row] : raised) forward(row, now);
  }
  /// What holds on both paths.
  void merge(const Path& o) {
    for (std::size_t q = 0; q < known.size(); ++q) keep_earlier(known[q], o.known[q]);
    take_later(last, o.last);
    for (std::size_t s = 0; s < chip.size(); ++s) chip[s].merge(o.chip[s]);
    for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].merge(o.tensors[i]);
    for (auto& [pair, row] : raised)
      if (const auto theirs = o.raised.find(pair); theirs != o.raised.end()) keep_earlier(row, theirs->second);
    for (auto& [pair, moment] : waited) {
      const auto theirs = o.waited.find(pair);
      moment = theirs != o.waited.end() ? std::min(moment, theirs->second) : 0;
    }
    for (const auto& [flag, theirs] : o.lowered)
      if (Lowered& l = lowered[flag]; l.moment < theirs.moment) l = theirs;
  }

 private:
  void forward(Moments& row, Moment now) const {
    for (std::size_t p = 0; p < row.size(); ++p)
      if (row[p] >= last[p]) row[p] = now;
  }
  static void keep_earlier(Moments& to, const Moments& from) {
    for (std::size_t p = 0; p < to.size(); ++p) to[p] = std::min(to[p], from[p]);
  }
};

}  // namespace tessera::detail
