// Whether the addresses of a function keep what is still read: a walk from its end to its start with the set of tiles that are
// read later. It asks the function only, and nothing of what planned the addresses.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../ops/all.hpp"
#include "function.hpp"

namespace tessera {

/// What is wrong with an address, and the operation where it shows.
struct AddressFault {
  OpId op;
  std::string what;
};

namespace detail {

class AddressCheck {
 public:
  explicit AddressCheck(const Function& f)
      : f_(f), live_(f.value_count()), undefined_(f.value_count()), window_(f.value_count()), read_in_(f.operation_count()) {}

  [[nodiscard]] std::optional<AddressFault> run() {
    if (!has_addresses(f_)) return AddressFault{{}, "the function has no addresses"};
    reserved();
    look(f_.body());
    for (std::uint32_t v = 0; v < f_.value_count() && !fault_; ++v)
      if (is_placed({v})) value({v});
    if (!fault_) block(f_.body());
    return fault_;
  }

 private:
  [[nodiscard]] bool is_placed(ValueId v) const { return f_.type(v).is_tile() && f_.defining_block(v); }
  [[nodiscard]] ValueId owner(ValueId v) const { return {f_[v].buffer}; }
  [[nodiscard]] std::string text(ValueId v) const {
    const std::string name = f_.name_of(v).c_str();
    const ByteRange r = byte_range(f_, v);
    return "%" + (name.empty() ? std::to_string(v.index) : name) + " (bytes " + std::to_string(r.begin) + " to " +
           std::to_string(r.end) + " of " + std::string(tessera::name(f_.type(v).space)) + ")";
  }
  void report(OpId op, std::string what) {
    if (!fault_) fault_ = AddressFault{op, std::move(what)};
  }

  // --- what holds at all times ---
  void reserved() {
    for (const Storage& s : f_.storage) {
      if (!s.is_reserved()) continue;
      if (s.address < 0 || s.address % info(s.space).alignment != 0) report({}, "the reserved region " + s.name.str() + " has no aligned address");
      if (byte_range(s).end > capacity(s.space, planned_arch(f_))) report({}, "the reserved region " + s.name.str() + " is beyond what is safe to use");
      for (const Storage& other : f_.storage)
        if (&other != &s && other.space == s.space && other.is_reserved() && byte_range(other).overlaps(byte_range(s)))
          report({}, "the reserved regions " + other.name.str() + " and " + s.name.str() + " overlap");
    }
  }
  // The tile stands in its slot, and in nothing that is reserved.
  void declared(OpId op, ValueId v, const ByteRange& r) {
    const Value& o = f_[owner(v)];
    if (o.storage != no_storage) {
      const Storage& s = f_.storage[o.storage];
      const std::int64_t begin = s.address + o.slot * s.bytes;
      if (s.space != f_.type(v).space || o.slot >= s.slots || r.begin != begin || r.end > begin + s.bytes)
        report(op, text(v) + " does not stand in " + slot_text(s, o.slot));
    }
    for (const Storage& s : f_.storage)
      if (s.is_reserved() && s.space == f_.type(v).space && byte_range(s).overlaps(r)) report(op, text(v) + " stands in the reserved region " + s.name.str());
  }
  void look(BlockId b) {
    for (OpId op = f_[b].first; op; op = f_.next(op)) {
      for (int k = 0; k < f_.block_count(op); ++k) look(f_.block(op, k));
      for (int i = 0; i < f_.result_count(op); ++i)
        if (const ValueId v = f_.result(op, i); f_.type(v).is_tile()) limits(op, v);
      if (f_.result_count(op) != 1 || !f_.type(f_.result(op)).is_tile()) continue;
      const std::uint32_t v = f_.result(op).index;
      undefined_[v] = f_.is(op, ops::create);
      if (!f_.info(op).is_view) continue;
      undefined_[v] = undefined_[f_.operand(op, 0).index];
      window_[v] = window_[f_.operand(op, 0).index] || shows_part(f_, op);
    }
  }
  void value(ValueId v) {
    if (has_address(v)) note_loops(v);
    else report(f_[f_.defining_block(v)].owner, "a tile's buffer has no address");
  }
  [[nodiscard]] bool has_address(ValueId v) const {
    const std::uint32_t b = f_[v].buffer;
    return b < f_.value_count() && f_[ValueId{b}].address != no_index;
  }
  void limits(OpId op, ValueId v) {
    if (!has_address(v)) return report(op, "a tile's buffer has no address");
    const MemorySpace space = f_.type(v).space;
    const ByteRange r = byte_range(f_, v);
    if (r.begin % info(space).alignment != 0) report(op, "the address of " + text(v) + " is not aligned");
    if (r.end > capacity(space, planned_arch(f_))) report(op, text(v) + " is beyond what is safe to use");
    if (!f_.storage.empty()) declared(op, v, r);
  }
  // The loops that read a value from outside: it is read again in their next turn.
  void note_loops(ValueId v) {
    const BlockId home = f_.defining_block(v);
    f_.for_each_use(v, [&](OpId user, int) {
      for (BlockId b = f_[user].parent; b != home; b = f_[f_[b].owner].parent)
        if (const OpId holder = f_[b].owner; !f_.is(holder, ops::if_else)) {
          std::vector<ValueId>& list = read_in_[holder.index];
          if (list.empty() || list.back() != v) list.push_back(v);
        }
    });
  }

  // --- the set of tiles that are read later ---
  void add(OpId op, ValueId v) {
    if (!is_placed(v) || undefined_[v.index] || live_[v.index]) return;
    live_[v.index] = true;
    added_.push_back(v);
    auto& space = kept_[f_.type(v).space];
    if (const auto found = space.find(byte_range(f_, v).begin); found != space.end() && found->second.owner == owner(v)) {
      ++found->second.count;
      return;
    }
    apart(op, v);
    if (!fault_) space.emplace(byte_range(f_, v).begin, Kept{owner(v), 1});
  }
  void remove(ValueId v) {
    if (!live_[v.index]) return;
    live_[v.index] = false;
    auto& space = kept_[f_.type(v).space];
    if (const auto found = space.find(byte_range(f_, v).begin); --found->second.count == 0) space.erase(found);
  }
  // Nothing that is read later stands in the bytes of `v`, other buffers than its own.
  void apart(OpId op, ValueId v) {
    const auto& space = kept_[f_.type(v).space];
    const ByteRange r = byte_range(f_, v);
    for (auto at = space.lower_bound(r.end); at != space.begin();) {
      --at;
      if (at->second.owner == owner(v)) continue;
      if (!byte_range(f_, at->second.owner).overlaps(r)) return;
      return report(op, text(v) + " overlaps " + text(at->second.owner) + ", which is needed at the same time");
    }
  }

  // --- the walk ---
  void block(BlockId b) {
    for (OpId op = f_[b].last; op && !fault_; op = f_[op].previous) {
      if (f_.block_count(op) > 0) control(op);
      else plain(op);
    }
    for (const ValueId v : f_[b].arguments)
      if (is_placed(v) && !fault_) remove(v);
  }
  void results(OpId op) {
    for (int i = 0; i < f_.result_count(op) && !fault_; ++i) {
      const ValueId r = f_.result(op, i);
      if (!f_.type(r).is_tile()) continue;
      remove(r);
      if (!undefined_[r.index] && f_.block_count(op) == 0) apart(op, r);
    }
  }
  void plain(OpId op) {
    results(op);
    const bool writes = f_.result_count(op) == 1 && f_.type(f_.result(op)).is_tile();
    for (int i = 0; i < f_.operand_count(op) && !fault_; ++i) {
      const ValueId x = f_.operand(op, i);
      if (!is_placed(x) || f_.info(op).is_view) continue;
      if (undefined_[x.index] || i == scratch_operand(f_.info(op))) apart(op, x);  // what is written to
      if (writes && !may_be_written_over(op, i))
        report(op, "the result is written over operand " + std::to_string(i) + ", " + text(x) + ", while that is read");
    }
    for (int i = 0; i < f_.operand_count(op) && !fault_; ++i) add(op, f_.operand(op, i));
    for (int i = 0; i < f_.operand_count(op) && !fault_; ++i)
      if (const ValueId x = f_.operand(op, i); is_placed(x) && undefined_[x.index] && !f_.info(op).is_view) storage(op, x);
  }
  // Storage that an operation writes to: apart from its operands, and from other storage.
  void storage(OpId op, ValueId x) {
    apart(op, x);
    for (int i = 0; i < f_.operand_count(op); ++i) {
      const ValueId y = f_.operand(op, i);
      if (is_placed(y) && undefined_[y.index] && owner(x) != owner(y) && f_.type(x).space == f_.type(y).space &&
          byte_range(f_, x).overlaps(byte_range(f_, y)))
        report(op, text(x) + " overlaps " + text(y) + ", and the operation writes to both");
    }
  }
  [[nodiscard]] bool may_be_written_over(OpId op, int i) const {
    const ValueId x = f_.operand(op, i), r = f_.result(op);
    if (owner(x) == owner(r)) return true;
    const ByteRange from = byte_range(f_, x), to = byte_range(f_, r);
    if (f_.type(x).space != f_.type(r).space || !from.overlaps(to)) return true;
    return f_.info(op).may_alias && i != scratch_operand(f_.info(op)) && from.begin == to.begin && !undefined_[x.index] &&
           !window_[x.index] && same_places(f_.type(x), f_.type(r));
  }
  void control(OpId op) {
    results(op);
    if (f_.is(op, ops::if_else)) return branch(op);
    // The blocks end where the next turn begins, or what is behind the loop.
    for (const ValueId v : read_in_[op.index]) add(op, v);
    for (int k = f_.block_count(op) - 1; k >= 0 && !fault_; --k) block(f_.block(op, k));
    for (int i = 0; i < f_.operand_count(op) && !fault_; ++i) add(op, f_.operand(op, i));
  }
  // Each block starts from what is read behind the branch; in front of it, what either of them reads is needed.
  void branch(OpId op) {
    std::vector<ValueId> read;
    for (int k = 0; k < f_.block_count(op) && !fault_; ++k) {
      const std::vector<ValueId> outer = std::move(added_);
      added_.clear();
      block(f_.block(op, k));
      for (const ValueId v : added_)
        if (live_[v.index] && !fault_) {
          read.push_back(v);
          remove(v);
        }
      added_ = outer;
    }
    for (const ValueId v : read)
      if (!fault_) add(op, v);
  }

  struct Kept {
    ValueId owner;
    int count = 0;  // of its tiles
  };
  const Function& f_;
  std::vector<bool> live_, undefined_, window_;  // by value
  std::vector<std::vector<ValueId>> read_in_;    // by loop
  std::map<std::int64_t, Kept> kept_[space_count];  // by first byte; they do not overlap
  std::vector<ValueId> added_;
  std::optional<AddressFault> fault_;
};

}  // namespace detail

/// What breaks the property addresses_planned; nothing when it holds.
[[nodiscard]] inline std::optional<AddressFault> address_fault(const Function& f) { return detail::AddressCheck(f).run(); }

}  // namespace tessera
