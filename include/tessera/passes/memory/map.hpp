// The memory map of a planned function as text: for each space its peak and limit, and for each buffer its address, its bytes,
// the tile that it is named after, and the operations between which it is needed; among them what the author reserves.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "demand.hpp"

namespace tessera {

/// "line 12: 2 turns have buffers of their own"; "... (asked for: 4; it has 2 turns)" and the like, where there is more to say.
[[nodiscard]] inline std::string loop_text(const LoopNote& n) {
  std::string text = "line " + std::to_string(n.location.line) + ": " +
                     (n.turns > 1 ? std::to_string(n.turns) + " turns have buffers of their own" : std::string("its turns share buffers"));
  const std::string more = n.reason.empty() ? (n.requested ? "asked for" : "automatic") : n.reason.str();
  return text + " (" + more + ")";
}

namespace detail {

/// What is known of the buffers of a function with addresses, for whatever shows them.
class BufferMap {
 public:
  explicit BufferMap(const Function& f) : f_(f), lives_(f, Apart::all), number_(f.operation_count()) {
    int n = 0;
    for (const OpId op : all_operations(f)) number_[op.index] = ++n;
  }

  [[nodiscard]] Demand demand(MemorySpace s) const { return Demand(f_, lives_, s, planned_arch(f_)); }
  [[nodiscard]] const Lifetimes& lives() const { return lives_; }
  [[nodiscard]] ByteRange range(std::uint32_t b) const { return byte_range(f_, lives_.owner(b)); }
  /// The place of an operation in the printed function, from 1.
  [[nodiscard]] int number(OpId op) const { return number_[op.index]; }
  /// The end of the highest of them, and of what is reserved.
  [[nodiscard]] std::int64_t peak(MemorySpace space, const std::vector<std::uint32_t>& buffers) const {
    std::int64_t peak = 0;
    for (const std::uint32_t b : buffers) peak = std::max(peak, range(b).end);
    for (const Storage& s : reserved(space)) peak = std::max(peak, byte_range(s).end);
    return peak;
  }
  /// The regions that the author reserves, by address.
  [[nodiscard]] std::vector<Storage> reserved(MemorySpace space) const {
    std::vector<Storage> list;
    for (const Storage& s : f_.storage)
      if (s.space == space && s.is_reserved()) list.push_back(s);
    std::sort(list.begin(), list.end(), [](const Storage& a, const Storage& b) { return a.address < b.address; });
    return list;
  }
  /// By address, then by time.
  void sort(std::vector<std::uint32_t>& buffers) const {
    std::sort(buffers.begin(), buffers.end(), [&](std::uint32_t a, std::uint32_t b) {
      const std::int64_t x = range(a).begin, y = range(b).begin;
      return x != y ? x < y : first(a) != first(b) ? first(a) < first(b) : a < b;
    });
  }
  /// The tile's name, or the operation that makes it, and the declared buffer in which it stands: "t in slots[1]".
  [[nodiscard]] std::string name_of(std::uint32_t b) const {
    const ValueId v = lives_.owner(b);
    const std::string_view name = f_.name_of(v);
    const Value& x = f_[v];
    return std::string(name.empty() ? f_.info(f_.definition(v)).name : name) + (x.storage != no_storage ? " in " + slot_text(f_.storage[x.storage], x.slot) : std::string());
  }
  [[nodiscard]] std::uint32_t line(std::uint32_t b) const { return f_[f_.definition(lives_.owner(b))].location.line; }
  [[nodiscard]] std::string moment(OpId op) const {
    return op ? std::to_string(number_[op.index]) + " " + std::string(f_.info(op).name) : std::string("the start");
  }
  /// When it is needed, in operations: "3 row_max, 5 exp .. 7 store"; without the moments between two that follow each other.
  [[nodiscard]] std::string needed(std::uint32_t b) const {
    std::string text;
    for (const auto& [from, to] : needs(b)) {
      text.append(text.empty() ? "" : ", ").append(moment(from));
      if (from != to) text.append(" .. ").append(moment(to));
    }
    return text.empty() ? std::string("never") : text;
  }

 private:
  [[nodiscard]] std::uint32_t first(std::uint32_t b) const { return lives_.spans(b).empty() ? 0 : lives_.spans(b).front().begin; }
  [[nodiscard]] std::vector<std::pair<OpId, OpId>> needs(std::uint32_t b) const {
    std::vector<std::pair<OpId, OpId>> list;
    for (const Span& s : lives_.spans(b)) {
      const OpId from = lives_.operation_at(s.begin), to = lives_.operation_at(s.end);
      if (!list.empty() && number_[from.index] <= number_[list.back().second.index] + 1) list.back().second = to;
      else list.push_back({from, to});
    }
    return list;
  }

  const Function& f_;
  Lifetimes lives_;
  std::vector<int> number_;  // by operation
};

class MemoryMap {
 public:
  explicit MemoryMap(const Function& f) : f_(f), arch_(planned_arch(f)), map_(f) {}

  [[nodiscard]] std::string text() {
    out_ = "memory of " + std::string(f_.name.c_str()) + " on " + std::string(name(arch_)) + "\n";
    for (int s = Vec; s < space_count; ++s) space(static_cast<MemorySpace>(s));
    if (empty_) out_.append("no tiles\n");
    loops();
    return std::move(out_);
  }

 private:
  void loops() {
    if (!f_.loops.empty()) out_.append("\nloops\n");
    for (const LoopNote& n : f_.loops) out_.append("  ").append(loop_text(n)).append("\n");
  }
  void space(MemorySpace s) {
    const Demand demand = map_.demand(s);
    std::vector<std::uint32_t> buffers = demand.buffers();
    std::vector<Storage> reserved = map_.reserved(s);
    if (buffers.empty() && reserved.empty()) return;
    empty_ = false;
    map_.sort(buffers);
    const OpId tightest = map_.lives().operation_at(demand.tightest());
    out_.append("\n").append(name(s)).append(": peak ").append(std::to_string(map_.peak(s, buffers))).append(" of ").append(std::to_string(capacity(s, arch_)));
    out_.append(" bytes; at least ").append(std::to_string(demand.least())).append(" are needed, at ").append(map_.moment(tightest)).append("\n");
    std::vector<std::vector<std::string>> rows{{"address", "bytes", "tile", "line", "needed"}};
    auto region = reserved.begin();
    const auto reserved_up_to = [&](std::int64_t address) {
      for (; region != reserved.end() && region->address < address; ++region)
        rows.push_back({std::to_string(region->address), std::to_string(region->bytes), region->name.str() + ", reserved", std::to_string(region->location.line), "always"});
    };
    for (const std::uint32_t b : buffers) {
      reserved_up_to(map_.range(b).begin);
      rows.push_back(row(b));
    }
    reserved_up_to(capacity(s, arch_));
    table(rows);
  }
  [[nodiscard]] std::vector<std::string> row(std::uint32_t b) const {
    return {std::to_string(map_.range(b).begin), std::to_string(map_.range(b).bytes()), map_.name_of(b), std::to_string(map_.line(b)), map_.needed(b)};
  }
  // Numbers to the right, words to the left.
  void table(const std::vector<std::vector<std::string>>& rows) {
    std::size_t width[5] = {};
    for (const auto& row : rows)
      for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
    for (const auto& row : rows) {
      std::string line;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const bool number = i != 2 && i != 4;
        const std::string padding(width[i] - row[i].size(), ' ');
        line.append("  ").append(number ? padding + row[i] : row[i] + (i == 4 ? "" : padding));
      }
      out_.append(line).append("\n");
    }
  }

  const Function& f_;
  const Arch arch_;
  const BufferMap map_;
  std::string out_;
  bool empty_ = true;
};

}  // namespace detail

/// The memory map of a function with planned addresses (pass plan_memory).
[[nodiscard]] inline std::string memory_map(const Function& f) {
  if (!has_addresses(f)) throw InternalError("memory_map: " + std::string(f.name.c_str()) + " has no addresses");
  return detail::MemoryMap(f).text();
}

}  // namespace tessera
