// What is known at a point of a walk through a function: how far each pipe knows the others to be, who touched which bytes last,
// and which flags are raised.
#pragma once

#include <map>

#include "touches.hpp"

namespace tessera::detail {

/// The accesses to one tensor.
class TensorHistory {
 public:
  /// Calls visit(access) for what may have to be done before the tensor is read or, with `writes`, written.
  template <class Visit>
  void for_each_earlier(bool writes, Visit&& visit) const {
    for (const PipeAccess& d : accesses_)
      if (writes || d.writes) visit(d);
    for (const PipeAccess& d : forgotten_.list())
      if (writes || d.writes) visit(d);
  }
  /// Of an operation the last access is kept of each run of the blocks around it, for in which of them two accesses are decides
  /// how their windows stand to each other. run_of(moment) tells the runs that have begun since apart.
  template <class RunOf>
  void record(const PipeAccess& made, RunOf&& run_of) {
    std::vector<BlockId> newer{run_of(made.moment)};  // the runs of which a later access is kept
    accesses_.push_back(made);
    for (std::size_t i = accesses_.size() - 1; i-- > 0;) {
      if (!accesses_[i].is_again(made)) continue;
      const BlockId run = run_of(accesses_[i].moment);
      if (std::find(newer.begin(), newer.end(), run) == newer.end()) newer.push_back(run);
      else accesses_.erase(accesses_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (accesses_.size() > most) forget();
  }
  void merge(const TensorHistory& o) {
    for (const PipeAccess& theirs : o.accesses_)
      if (std::none_of(accesses_.begin(), accesses_.end(), [&](const PipeAccess& d) { return d.is_again(theirs) && d.moment == theirs.moment; }))
        accesses_.push_back(theirs);
    forgotten_.merge(o.forgotten_);
  }

 private:
  static constexpr std::size_t most = 64;
  // Of many, the windows of the earlier ones are forgotten.
  void forget() {
    PipeAccesses all;
    for (const PipeAccess& d : accesses_) all.merge(PipeAccesses(d));
    forgotten_.merge(all);
    forgotten_.shorten();
    accesses_.clear();
  }
  std::vector<PipeAccess> accesses_;
  PipeAccesses forgotten_;
};

/// When a flag was lowered last, and in front of which operation (behind its home: that).
struct Lowered {
  Timestamp moment = 0;
  OpId op;
};

struct Path {
  explicit Path(std::size_t parameters) : tensors(parameters) {}

  std::array<VectorClock, pipe_count> known{};  ///< by pipe: up to when each of the others is done, as far as it knows
  VectorClock last{};                           ///< by pipe: its last instruction
  std::array<SpaceHistory, space_count> chip;
  std::vector<TensorHistory> tensors;       ///< by parameter
  std::map<std::uint32_t, VectorClock> raised;  ///< by pair with a home: what its flag tells
  std::vector<Timestamp> waited;               ///< by pair: when its flag was waited for last; shorter where later ones never were
  std::map<std::uint32_t, std::vector<Lowered>> lowered;  ///< by flag: on each path that leads here

  void wait(std::uint32_t pair, Timestamp now) {
    if (waited.size() <= pair) waited.resize(pair + 1);
    waited[pair] = now;
  }
  /// Who knows all that a pipe did on this path knows it to be done up to now.
  void forward(Timestamp now) {
    for (VectorClock& row : known) forward(row, now);
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
    waited.resize(std::min(waited.size(), o.waited.size()));
    for (std::size_t n = 0; n < waited.size(); ++n) waited[n] = std::min(waited[n], o.waited[n]);
    for (const auto& [flag, theirs] : o.lowered) {
      std::vector<Lowered>& own = lowered[flag];
      for (const Lowered& l : theirs)
        if (std::none_of(own.begin(), own.end(), [&](const Lowered& k) { return k.moment == l.moment; })) own.push_back(l);
    }
  }

 private:
  void forward(VectorClock& row, Timestamp now) const {
    for (std::size_t p = 0; p < row.size(); ++p)
      if (row[p] >= last[p]) row[p] = now;
  }
  static void keep_earlier(VectorClock& to, const VectorClock& from) {
    for (std::size_t p = 0; p < to.size(); ++p) to[p] = std::min(to[p], from[p]);
  }
};

}  // namespace tessera::detail
