// plan_memory: every buffer gets an address in its space (Value::address of its owner), after what the author reserves and places.
// Buffers that are not needed at the same time share bytes; no space holds more than is safe to use. What does not fit is an error
// that names the largest tiles.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "memory/plan.hpp"
#include "memory/storage_check.hpp"
#include "pass.hpp"

namespace tessera {
namespace detail {

class PlanMemory {
 public:
  PlanMemory(const Function& in, Arch arch, bool pipelining) : arch_(arch), out_(in) {
    if (pipelining) find_room();
  }

  Function run() {
    check_storage(out_, arch_);
    plan_.emplace(out_, arch_, Apart::all, room_);
    while (plan_->shortage() && give_up_room(plan_->shortage()->space)) plan_.emplace(out_, arch_, Apart::all, room_);
    if (plan_->shortage() && give_up_turns()) plan_.emplace(out_, arch_, Apart::requested);
    if (plan_->shortage()) refuse(*plan_->shortage());
    for (std::size_t b = 0; b < plan_->lives().count(); ++b) out_[plan_->lives().owner(b)].address = plan_->address(b);
    for (std::size_t i = 0; i < out_.storage.size(); ++i) {
      Storage& s = out_.storage[i];
      s.address = plan_->storage_address(i);
      if (!s.is_reserved()) s.bytes = plan_->slot_bytes(i);
    }
    out_.planned_for = static_cast<int>(arch_);
    out_.synchronised = false;
    return std::move(out_);
  }

 private:
  void find_room() {
    constexpr int most_buffers = 512;  // in larger functions pairs of buffers are many, and there is seldom room
    std::int64_t bytes[space_count] = {};
    int count = 0;
    for (const Storage& s : out_.storage)
      if (s.is_reserved()) bytes[s.space] += s.bytes;
    for (std::uint32_t v = 0; v < out_.value_count(); ++v) {
      const Type& t = out_.type({v});
      if (!t.is_tile() || out_[ValueId{v}].buffer != v) continue;
      const std::int64_t unit = info(t.space).alignment;
      bytes[t.space] += align_up(stored_bytes(t, arch_), unit);
      if (++count > most_buffers) return;
    }
    // Where all of it is far too much, a second plan would hardly find room for a part. In a pipe that does not overlap itself
    // nothing waits for bytes that its own instructions reuse.
    for (int s = Vec; s < space_count; ++s) {
      const auto space = static_cast<MemorySpace>(s);
      if (space == Vec && overlaps_itself(Pipe::vector, arch_) && bytes[s] <= capacity(space, arch_)) room_.for_all |= Room::bit(space);
      else if (bytes[s] <= 4 * capacity(space, arch_)) room_.for_pipes |= Room::bit(space);
    }
  }
  [[nodiscard]] bool give_up_room(MemorySpace s) {
    const auto others = static_cast<std::uint16_t>(~Room::bit(s));
    const Room before = std::exchange(room_, Room{static_cast<std::uint16_t>(room_.for_all & others), static_cast<std::uint16_t>(room_.for_pipes & others)});
    return before.for_all != room_.for_all || before.for_pipes != room_.for_pipes;
  }
  // Loops that the compiler gave buffers for several turns do without; false where there is none.
  bool give_up_turns() {
    bool any = false;
    for (std::uint32_t i = 0; i < out_.operation_count(); ++i)
      if (const OpId op{i}; is_unrolled(out_, op) && !is_requested(out_, op)) {
        out_.remove_attr(op, AttrKey::unrolled);
        out_.remove_attr(op, AttrKey::factors_shared);
        any = true;
      }
    const Shortage& s = *plan_->shortage();
    for (LoopNote& note : out_.loops)
      if (!note.requested && note.turns > 1) {
        note.turns = 1;
        note.reason = shortage_text(s.space, s.bytes, arch_);
      }
    return any;
  }
  // The loop around an operation for which buffers for several turns are asked.
  [[nodiscard]] OpId requested_around(OpId op) const {
    while (op && !(is_unrolled(out_, op) && is_requested(out_, op))) op = out_[out_[op].parent].owner;
    return op;
  }
  [[noreturn]] void refuse(const Shortage& shortage) const {
    constexpr std::size_t most_listed = 6;
    const MemorySpace s = shortage.space;
    const Lifetimes& lives = plan_->lives();
    const Demand demand(out_, lives, s, arch_);
    const std::vector<std::uint32_t> tiles = demand.needed_at(demand.tightest());
    const OpId op = lives.operation_at(demand.tightest());
    std::string list;
    for (std::size_t i = 0; i < tiles.size() && i < most_listed; ++i)
      list.append(i == 0 ? "" : ", ").append(tile_text(out_, lives.owner(tiles[i]))).append(" ").append(std::to_string(demand.bytes(tiles[i])));
    if (tiles.size() > most_listed) list.append(", ").append(std::to_string(tiles.size() - most_listed)).append(" more");
    const std::string count = std::to_string(tiles.size()) + (tiles.size() == 1 ? " tile" : " tiles");
    if (tiles.empty()) refuse_reserved(s, shortage.bytes);
    const std::string reserved = demand.reserved() > 0 ? ", " + std::to_string(demand.reserved()) + " bytes are reserved" : std::string();
    const OpId loop = requested_around(op);
    const std::string remedy = !loop ? std::string("make tiles smaller, or compute them in a loop")
                                     : "make tiles smaller, or lower pipelined(" + std::to_string(out_.attr(loop, AttrKey::pipelined)) + ") of the loop in line " +
                                           std::to_string(out_[loop].location.line);
    fail(op ? out_[op].location : out_.location,
         "plan_memory: " + std::string(name(s)) + " needs " + std::to_string(shortage.bytes) + " bytes, " + std::string(name(arch_)) + " has " +
             std::to_string(capacity(s, arch_)) + " (" + count + " at " + std::string(op ? out_.info(op).name : "the start") +
             (shortage.bytes > demand.least() ? ": " + std::to_string(demand.least()) + ", with gaps " + std::to_string(shortage.bytes) : "") + reserved + ")",
         remedy + "; needed at the same time, in bytes: " + list + declared_list(s));
  }
  [[noreturn]] void refuse_reserved(MemorySpace s, std::int64_t needed) const {
    Location at = out_.location;
    for (const Storage& r : out_.storage)
      if (r.space == s && r.is_reserved()) at = r.location;
    fail(at, "plan_memory: " + std::string(name(s)) + " needs " + std::to_string(needed) + " bytes, " + std::string(name(arch_)) + " has " +
                 std::to_string(capacity(s, arch_)) + ", and all of them are reserved",
         "reserve less" + declared_list(s));
  }
  // "; reserved: ring (line 3) 65536; with slots: pair (line 4) 2 of 8192".
  [[nodiscard]] std::string declared_list(MemorySpace s) const {
    std::string reserved, slots;
    for (std::size_t i = 0; i < out_.storage.size(); ++i) {
      const Storage& d = out_.storage[i];
      if (d.space != s) continue;
      if (d.is_reserved()) reserved.append(reserved.empty() ? "; reserved: " : ", ").append(storage_text(d)).append(" ").append(std::to_string(d.bytes));
      else if (d.slots > 1)
        slots.append(slots.empty() ? "; with slots: " : ", ").append(storage_text(d)).append(" ").append(std::to_string(d.slots)).append(" of ").append(std::to_string(plan_->slot_bytes(i)));
    }
    return reserved + slots;
  }

  const Arch arch_;
  Function out_;
  Room room_;
  std::optional<MemoryPlan> plan_;
};

inline Function run_plan_memory(const Function& f, const PassContext& c) { return PlanMemory(f, c.arch, c.pipelining).run(); }

}  // namespace detail

/// An address for every buffer, within what is safe on the target.
inline constexpr Pass plan_memory = {.name = "plan_memory",
                                     .required = {Property::tiles_2d, Property::spaces_inferred, Property::buffers_assigned},
                                     .produced = {Property::addresses_planned},
                                     .run = detail::run_plan_memory};

}  // namespace tessera
