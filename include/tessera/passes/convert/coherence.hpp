// Bulk transfers and the scalar unit reach a tensor by different ways: the assembler puts their instructions in order, but
// nothing brings the scalar unit's cache up to date. What would read or keep a stale element is refused by name.
#pragma once

#include <string>
#include <unordered_set>

#include "../../ir/program.hpp"
#include "../../ir/walk.hpp"
#include "../../ops/all.hpp"

namespace tessera::convert {

/// Which operations may run after which others.
class RunOrder {
 public:
  explicit RunOrder(const Function& f) : f_(f) {
    std::uint32_t n = 0;
    for (const OpId op : all_operations(f)) {
      if (op.index >= position_.size()) position_.resize(op.index + 1);
      position_[op.index] = n++;
    }
  }

  [[nodiscard]] std::uint32_t position(OpId op) const { return position_[op.index]; }
  /// Whether `later` may run when `earlier` has run: it stands behind it, or a loop holds both.
  [[nodiscard]] bool may_follow(OpId later, OpId earlier) const {
    if (const OpId loop = outermost_loop(later); loop && loop == outermost_loop(earlier)) return true;
    return position(earlier) < position(later) && !exclusive(earlier, later);
  }
  [[nodiscard]] OpId outermost_loop(OpId op) const { return tessera::outermost_loop(f_, f_[op].parent); }

 private:
  // In different blocks of one branch.
  [[nodiscard]] bool exclusive(OpId a, OpId b) const {
    for (BlockId x = f_[a].parent; f_[x].owner; x = f_[f_[x].owner].parent)
      for (BlockId y = f_[b].parent; f_[y].owner; y = f_[f_[y].owner].parent)
        if (f_[x].owner == f_[y].owner) return x != y && f_.is(f_[x].owner, ops::if_else);
    return false;
  }

  const Function& f_;
  std::vector<std::uint32_t> position_;
};

/// Refuses what one tensor cannot be used for within a kernel, at the operation that would go wrong.
class Coherence {
 public:
  explicit Coherence(const Function& f) : f_(f), order_(f), accesses_(f.value_count()) {
    for (const OpId op : all_operations(f))
      for (int i = 0; i < f.operand_count(op); ++i) note(op, i);
  }

  void check() const {
    for (const Parameter& p : f_.parameters) {
      const Accesses& a = accesses_[p.value.index];
      check_launches(p, a);
      if (!a.stores.empty() && !a.writes.empty())
        refuse(a.writes.front(), p, "the tensor is written by store, too; bulk and scalar stores cannot be mixed",
               "write the elements into a tile and store that, or write to another tensor");
      if (const OpId load = follower(a.loads, a.writes))
        refuse(load, p, "the tensor is written element by element before, and a load does not see what the scalar unit's cache holds",
               "read the elements with read(...), or write them into a tile and store that");
      // Only elements that were read before can be stale.
      if (a.stores.empty() || a.reads.empty() || !follower(a.stores, a.reads)) continue;
      if (const OpId read = follower(a.reads, a.stores))
        refuse(read, p, "the tensor is read before a store, too, and the scalar unit's cache may still hold what it held then",
               "read the element from the tile that is stored");
    }
  }

 private:
  struct Accesses {
    std::vector<OpId> launches, launch_writes;  ///< whose threads use the tensor, or write it
    std::vector<OpId> loads, stores;  ///< in bulk
    std::vector<OpId> reads, writes;  ///< by the scalar unit
  };

  // Threads reach a tensor through a cache of their own: what one side writes is left to that side.
  void check_launches(const Parameter& p, const Accesses& a) const {
    const auto own_write = [&]() -> OpId { return !a.stores.empty() ? a.stores.front() : !a.writes.empty() ? a.writes.front() : OpId{}; };
    if (const OpId own = own_write(); own && !a.launches.empty())
      refuse(own, p, "the kernel launches threads that use the tensor, and they may not see what is written here",
             "write it in a launch, or in a kernel of its own that runs before");
    if (a.launch_writes.empty()) return;
    for (const std::vector<OpId>* reads : {&a.loads, &a.reads})
      if (!reads->empty())
        refuse(reads->front(), p, "the kernel launches threads that write the tensor, and what they write may not be seen here",
               "read it in a launch, or in a kernel of its own that runs behind");
  }
  void note(OpId op, int i) {
    const ValueId v = f_.operand(op, i);
    const OpInfo& info = f_.info(op);
    const ValueId parameter = f_.type(v).is_tensor() ? parameter_of(f_, v) : ValueId{};
    if (!parameter || &info == &ops::view) return;
    Accesses& a = accesses_[parameter.index];
    if (&info == &ops::launch) {
      a.launches.push_back(op);
      if (launched(f_, op).parameters[static_cast<std::size_t>(i)].direction != Direction::in) a.launch_writes.push_back(op);
      return;
    }
    switch (access_of(info, i)) {
      case Access::store: return a.stores.push_back(op);
      case Access::write: return a.writes.push_back(op);
      case Access::read: return a.reads.push_back(op);
      default: return a.loads.push_back(op);  // as a value, too
    }
  }
  // The first of `later` that may run after one of `earlier`; both are in program order.
  [[nodiscard]] OpId follower(const std::vector<OpId>& later, const std::vector<OpId>& earlier) const {
    if (earlier.empty()) return {};
    std::unordered_set<std::uint32_t> loops;
    for (const OpId e : earlier)
      if (const OpId loop = order_.outermost_loop(e)) loops.insert(loop.index);
    for (const OpId l : later) {
      const OpId loop = order_.outermost_loop(l);
      if (order_.position(l) < order_.position(earlier.front()) && !(loop && loops.contains(loop.index))) continue;
      for (const OpId e : earlier)
        if (order_.may_follow(l, e)) return l;
    }
    return {};
  }
  [[noreturn]] void refuse(OpId op, const Parameter& p, const std::string& what, const std::string& hint) const {
    fail(f_[op].location, std::string(f_.info(op).name) + ": " + what + " (" + std::string(p.name) + ")", hint);
  }

  const Function& f_;
  RunOrder order_;
  std::vector<Accesses> accesses_;
};

}  // namespace tessera::convert
