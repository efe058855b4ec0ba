// assign_buffers: every tile gets the buffer that holds it (Value::buffer: the value that owns the storage, its own for an
// owner). Copies are added where one buffer would have to hold two contents; storage that a branch fills is made before it. What
// the author places in buffers of the kernel is noted at the owners (Value::storage), and the operation `place` is gone.
#pragma once

#include "../ir/rewrite.hpp"
#include "buffers/sharing.hpp"
#include "pass.hpp"

namespace tessera {
namespace detail {

class AssignBuffers {
 public:
  explicit AssignBuffers(const Function& in) : in_(in), r_(in, out_), b_(r_.build()), sharing_(in) {}

  Function run() {
    r_.copy_parameters();
    r_.run(Visitor{this});
    for (std::uint32_t i = 0; i < in_.value_count(); ++i)
      if (const ValueId old{i}; in_.type(old).is_tile() && r_.has(old)) {
        place(r_.map(old), sharing_.buffer(old));
        if (const OpId by = sharing_.placed(old)) note_storage(out_[ValueId{out_[r_.map(old)].buffer}], by);
      }
    for (const auto& [v, buffer] : added_) place(v, buffer);
    return std::move(out_);
  }

 private:
  struct Visitor {
    AssignBuffers* self;
    void operator()(OpId op) const { self->visit(op); }
  };

  void place(ValueId v, int buffer) {
    const std::uint32_t owner = owner_of(buffer);
    if (owner == no_index) throw InternalError("assign_buffers: a buffer has no owner in " + out_.name);
    out_[v].buffer = owner;
  }
  void note_storage(Value& owner, OpId place) const {
    owner.storage = storage_of(in_, place);
    owner.slot = slot_of(in_, place);
  }
  // The first operation that writes a buffer owns it.
  void own(ValueId v, int buffer) {
    std::uint32_t& owner = owner_of(buffer);
    if (owner == no_index) owner = v.index;
  }
  std::uint32_t& owner_of(int buffer) {
    if (owners_.size() < sharing_.buffer_count()) owners_.resize(sharing_.buffer_count(), no_index);
    return owners_[static_cast<std::size_t>(sharing_.same(buffer))];
  }
  ValueId add(ValueId v, int buffer) {
    own(v, buffer);
    added_.push_back({v, buffer});
    return v;
  }
  [[nodiscard]] bool undefined(ValueId v) const {
    const OpId def = out_.definition(v);
    return def && out_.is(def, ops::create);
  }
  // The tile's content in another buffer; what has no content needs no instruction.
  ValueId copied(ValueId v, int buffer) {
    return add(undefined(v) ? b_.value(ops::create, {}, {}, out_.type(v)) : b_.value(ops::move, {v}, {}, out_.type(v)),
               buffer);
  }

  void visit(OpId op) {
    if (in_.info(op).level == Level::control) return control(op);
    if (in_.is(op, ops::place)) return r_.set(in_.result(op), r_.map(in_.operand(op, 0)));
    std::vector<ValueId> operands = r_.operands(op);
    const bool makes_tile = in_.result_count(op) == 1 && in_.type(in_.result(op)).is_tile();
    const ValueId old = makes_tile ? in_.result(op) : ValueId{};
    if (sharing_.copies_operand(op)) {
      ValueId& x = operands[static_cast<std::size_t>(in_.info(op).in_place)];
      x = copied(x, sharing_.buffer(old));
    }
    const ValueId v = r_.emit_same(op, in_.info(op), operands, r_.attrs(op),
                                   in_.result_count(op) == 1 ? in_.type(in_.result(op)) : Type{});
    if (v) r_.set(in_.result(op), v);
    if (makes_tile) own(v, sharing_.buffer(old));
  }
  void control(OpId op) {
    std::vector<ValueId> operands = r_.operands(op);
    if (const auto* copies = sharing_.initial_copies(op))
      for (const auto& [operand, buffer] : *copies) {
        ValueId& v = operands[static_cast<std::size_t>(operand)];
        v = copied(v, buffer);
      }
    if (const auto* storage = sharing_.storage(op))
      for (const auto& [result, buffer] : *storage)
        if (owner_of(buffer) == no_index)  // not that of a variable around the branch
          add(b_.value(ops::create, {}, {}, in_.type(in_.result(op, result))), buffer);
    if (const auto* list = sharing_.handed_on(op)) hand_on(*list, operands);
    r_.copy_control(op, operands, Visitor{this});
  }
  // Copies that happen at once, one after the other: a buffer is overwritten when no other copy reads it any more; a
  // circle is opened with a temporary tile.
  void hand_on(std::vector<HandOn> list, std::vector<ValueId>& operands) {
    const auto reads = [&](int buffer, std::size_t but) {
      for (std::size_t i = 0; i < list.size(); ++i)
        if (i != but && sharing_.same(list[i].from) == sharing_.same(buffer)) return i;
      return list.size();
    };
    while (!list.empty()) {
      std::size_t next = 0;
      while (next < list.size() && reads(list[next].to, next) < list.size()) ++next;
      if (next == list.size()) {
        HandOn& waiting = list[reads(list[0].to, 0)];
        ValueId& v = operands[static_cast<std::size_t>(waiting.operand)];
        waiting.from = sharing_.new_buffer(out_.type(v));
        v = copied(v, waiting.from);
        continue;
      }
      ValueId& v = operands[static_cast<std::size_t>(list[next].operand)];
      if (sharing_.same(list[next].from) == sharing_.same(list[next].to))
        v = copied(v, sharing_.new_buffer(out_.type(v)));
      v = copied(v, list[next].to);
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(next));
    }
  }

  const Function& in_;
  Function out_;
  Rewriter r_;
  Builder& b_;
  Sharing sharing_;
  std::vector<std::uint32_t> owners_;  // by buffer: the value that owns it
  std::vector<std::pair<ValueId, int>> added_;
};

inline Function run_assign_buffers(const Function& f, const PassContext&) { return AssignBuffers(f).run(); }

}  // namespace detail

/// Every tile in a buffer, so that in-place writes, loops and branches keep what is still read.
inline constexpr Pass assign_buffers = {.name = "assign_buffers",
                                        .required = {Property::tiles_2d, Property::spaces_inferred},
                                        .produced = {Property::buffers_assigned},
                                        .invalidated = {Property::addresses_planned},
                                        .run = detail::run_assign_buffers};

}  // namespace tessera
