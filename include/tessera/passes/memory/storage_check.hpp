// What the author of a kernel says about memory must hold together, whatever the planner does: addresses within a space, regions
// and buffers with addresses apart, and no tile placed where another one is still read.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lifetimes.hpp"

namespace tessera::detail {

class StorageCheck {
 public:
  StorageCheck(const Function& f, Arch arch) : f_(f), arch_(arch), lives_(f), tiles_(f.storage.size()), bytes_(f.storage.size()) {
    for (std::size_t i = 0; i < f.storage.size(); ++i)
      if (f.storage[i].is_reserved()) bytes_[i] = f.storage[i].bytes;
    for (std::uint32_t b = 0; b < lives_.count(); ++b) {
      const Value& v = f[lives_.owner(b)];
      if (v.storage == no_storage) continue;
      const std::int64_t unit = info(v.type.space).alignment;
      tiles_[v.storage].push_back(b);
      bytes_[v.storage] = std::max(bytes_[v.storage], (stored_bytes(v.type, arch) + unit - 1) / unit * unit);
    }
  }

  void run() const {
    for (std::size_t i = 0; i < f_.storage.size(); ++i) {
      if (f_.storage[i].fixed) within_space(i);
      else not_too_large(i);
      same_slot(i);
    }
    for (std::size_t i = 0; i < f_.storage.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (f_.storage[i].fixed && f_.storage[k].fixed && f_.storage[i].space == f_.storage[k].space && bytes_[i] > 0 && bytes_[k] > 0) apart(k, i);
  }

 private:
  [[nodiscard]] static std::string kind(const Storage& s) { return s.is_reserved() ? "reserve" : "buffer"; }
  [[nodiscard]] ByteRange range(std::size_t i) const {
    const Storage& s = f_.storage[i];
    return {s.address, s.address + bytes_[i] * std::max<std::int64_t>(1, s.slots)};
  }
  [[nodiscard]] ByteRange slot_range(std::uint32_t buffer) const {
    const Value& v = f_[lives_.owner(buffer)];
    const std::int64_t begin = f_.storage[v.storage].address + v.slot * bytes_[v.storage];
    return {begin, begin + stored_bytes(v.type, arch_)};
  }
  [[nodiscard]] static std::string text(const ByteRange& r) { return "bytes " + std::to_string(r.begin) + " to " + std::to_string(r.end); }
  [[nodiscard]] const Location& made(std::uint32_t buffer) const { return f_[f_.definition(lives_.owner(buffer))].location; }
  [[nodiscard]] std::string tile(std::uint32_t buffer) const {
    const ValueId v = lives_.owner(buffer);
    const std::string_view known = f_.name_of(v);
    return std::string(known.empty() ? f_.info(f_.definition(v)).name : known) + ", line " + std::to_string(made(buffer).line);
  }

  void within_space(std::size_t i) const {
    const Storage& s = f_.storage[i];
    const std::int64_t limit = capacity(s.space, arch_), all = std::max<std::int64_t>(1, s.slots);
    if (s.address <= limit && bytes_[i] <= (limit - s.address) / all) return;
    fail(s.location,
         kind(s) + ": it ends beyond what is safe to use (" + s.name.str() + ": " + std::to_string(all * bytes_[i]) + " bytes from " + std::to_string(s.address) + " of " +
             std::string(name(s.space)) + ", " + std::string(name(arch_)) + " has " + std::to_string(limit) + ")",
         "choose a lower address, or leave it to the planner");
  }
  void not_too_large(std::size_t i) const {
    const Storage& s = f_.storage[i];
    const std::int64_t limit = capacity(s.space, arch_);
    if (bytes_[i] > limit / std::max<std::int64_t>(1, s.slots))
      fail(s.location,
           kind(s) + ": it is larger than its memory space (" + s.name.str() + ": " + (s.slots > 1 ? std::to_string(s.slots) + " slots of " : "") + std::to_string(bytes_[i]) + " bytes, " +
               std::string(name(arch_)) + " has " + std::to_string(limit) + " of " + std::string(name(s.space)) + ")",
           s.is_reserved() ? "reserve less" : "use fewer slots or smaller tiles");
  }
  [[nodiscard]] bool meet(std::uint32_t a, std::uint32_t b) const {
    const Spans &x = lives_.spans(a), &y = lives_.spans(b);
    for (std::size_t i = 0, k = 0; i < x.size() && k < y.size();) {
      if (x[i].end < y[k].begin) ++i;
      else if (y[k].end < x[i].begin) ++k;
      else return true;
    }
    return false;
  }
  // In the order in which they are made.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> in_order(std::uint32_t a, std::uint32_t b) const {
    return lives_.spans(a).front().begin <= lives_.spans(b).front().begin ? std::pair(a, b) : std::pair(b, a);
  }
  void same_slot(std::size_t i) const {
    for (std::size_t x = 0; x < tiles_[i].size(); ++x)
      for (std::size_t y = 0; y < x; ++y) {
        const std::uint32_t a = tiles_[i][y], b = tiles_[i][x];
        const std::uint16_t slot = f_[lives_.owner(a)].slot;
        if (slot != f_[lives_.owner(b)].slot || !meet(a, b)) continue;
        const auto [first, second] = in_order(a, b);
        fail(made(second),
             "place: a tile takes the place of one that is still needed (" + slot_text(f_.storage[i], slot) + ": " + tile(first) + "; " + tile(second) + ")",
             "place one of them in another slot or buffer, or read the first for the last time before the second is made");
      }
  }
  void apart(std::size_t i, std::size_t k) const {
    const Storage &a = f_.storage[i], &b = f_.storage[k];
    if (!range(i).overlaps(range(k))) return;
    if (a.is_reserved() || b.is_reserved())
      fail(b.location,
           kind(b) + ": it overlaps " + (a.is_reserved() ? "a reserved region" : "a buffer") + " (" + storage_text(b) + ": " + text(range(k)) + "; " + storage_text(a) + ": " +
               text(range(i)) + " of " + std::string(name(a.space)) + ")",
           "give them addresses apart, or leave one to the planner");
    for (const std::uint32_t x : tiles_[i])
      for (const std::uint32_t y : tiles_[k])
        if (slot_range(x).overlaps(slot_range(y)) && meet(x, y)) {
          const auto [first, second] = in_order(x, y);
          fail(made(second),
               "place: a tile takes bytes of one that is still needed (" + storage_text(a) + " and " + storage_text(b) + ": " + tile(first) + ", " + text(slot_range(first)) + "; " +
                   tile(second) + ", " + text(slot_range(second)) + " of " + std::string(name(a.space)) + ")",
               "give the buffers addresses apart, or leave one to the planner");
        }
  }

  const Function& f_;
  const Arch arch_;
  const Lifetimes lives_;
  std::vector<std::vector<std::uint32_t>> tiles_;  // by storage: what stands in it
  std::vector<std::int64_t> bytes_;                // by storage: reserved, or of a slot
};

/// Throws UserError where declared storage cannot be what its author says.
inline void check_storage(const Function& f, Arch arch) {
  if (!f.storage.empty()) StorageCheck(f, arch).run();
}

}  // namespace tessera::detail
