// Liveness over structured control flow: whether a value may still be read after a point. Positions number operations and
// block starts in program order; a value from outside a loop that is read inside it lives until the loop ends.
#pragma once

#include <vector>

#include "../../ir/function.hpp"
#include "../../ir/walk.hpp"

namespace tessera::detail {

/// A place between operations: behind operation or block start number `position`.
struct Point {
  BlockId block;
  std::uint32_t position = 0;
};

class Liveness {
 public:
  explicit Liveness(const Function& f)
      : f_(f),
        begin_(f.operation_count()),
        end_(f.operation_count()),
        start_(f.block_total()),
        last_(f.value_count(), unknown) {
    number(f.body());
  }

  [[nodiscard]] Point after(OpId op) const { return {f_[op].parent, end_[op.index]}; }
  /// In front of a control operation's blocks.
  [[nodiscard]] Point at(OpId op) const { return {f_[op].parent, begin_[op.index]}; }
  [[nodiscard]] Point defined(ValueId v) const {
    const Value& value = f_[v];
    return value.kind == ValueKind::result ? after(OpId{value.owner})
                                           : Point{BlockId{value.owner}, start_[value.owner]};
  }

  /// The position behind which the value is dead for good.
  [[nodiscard]] std::uint32_t last(ValueId v) {
    std::uint32_t& known = last_[v.index];
    if (known != unknown) return known;
    const BlockId home = f_.defining_block(v);
    known = defined(v).position;
    f_.for_each_use(v, [&](OpId user, int) {
      std::uint32_t end = begin_[user.index];
      for (BlockId b = f_[user].parent; b != home; b = f_[f_[b].owner].parent)
        if (!f_.is(f_[b].owner, ops::if_else)) end = end_[f_[b].owner.index];
      known = known > end ? known : end;
    });
    return known;
  }
  /// A use that may run after the point; none when the value is dead there.
  [[nodiscard]] OpId use_after(ValueId v, Point p) const {
    const BlockId home = f_.defining_block(v);
    OpId found;
    f_.for_each_use(v, [&](OpId user, int) {
      if (!found && may_follow(user, home, p)) found = user;
    });
    return found;
  }
  [[nodiscard]] bool live_after(ValueId v, Point p) const { return static_cast<bool>(use_after(v, p)); }
  /// Whether `w` holds something that is read later when `u` comes into being.
  [[nodiscard]] bool live_at_definition(ValueId w, ValueId u) const {
    const Point p = defined(u);
    return defined(w).position <= p.position && encloses(f_.defining_block(w), p.block) && live_after(w, p);
  }

 private:
  void number(BlockId b) {
    start_[b.index] = next_++;
    for (const OpId op : operations(f_, b)) {
      begin_[op.index] = next_++;
      for (int i = 0; i < f_.block_count(op); ++i) number(f_.block(op, i));
      end_[op.index] = f_.block_count(op) > 0 ? next_++ : begin_[op.index];
    }
  }
  [[nodiscard]] bool inside(OpId holder, Point p) const {
    return begin_[holder.index] < p.position && p.position < end_[holder.index];
  }
  [[nodiscard]] bool encloses(BlockId outer, BlockId b) const {
    for (;;) {
      if (b == outer) return true;
      const OpId owner = f_[b].owner;
      if (!owner) return false;
      b = f_[owner].parent;
    }
  }
  [[nodiscard]] BlockId branch_of(OpId holder, BlockId b) const {
    while (f_[b].owner != holder) b = f_[f_[b].owner].parent;
    return b;
  }
  [[nodiscard]] bool may_follow(OpId user, BlockId home, Point p) const {
    bool exclusive = false, decided = false;
    for (BlockId b = f_[user].parent; b != home; b = f_[f_[b].owner].parent) {
      const OpId holder = f_[b].owner;
      if (!inside(holder, p)) continue;
      if (!f_.is(holder, ops::if_else)) return true;  // the next turn of the loop
      if (!decided) exclusive = branch_of(holder, p.block) != b;
      decided = true;
    }
    return begin_[user.index] > p.position && !exclusive;
  }

  const Function& f_;
  static constexpr std::uint32_t unknown = ~std::uint32_t{0};
  std::vector<std::uint32_t> begin_, end_, start_;
  std::vector<std::uint32_t> last_;
  std::uint32_t next_ = 0;
};

}  // namespace tessera::detail
