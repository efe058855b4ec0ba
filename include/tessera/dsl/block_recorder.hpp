// The part of the recorder that knows where operations go: blocks, loops and branches, and the variables that they carry.
#pragma once

#include "../ir/builder.hpp"
#include "recorder.hpp"

namespace tessera {

class BlockRecorder : public Recorder {
 public:
  Placement here() override { return {blocks_.back(), ++sequence_}; }
  void go_to(const Placement& p, const Location& at, const std::source_location& use) override {
    if (!p.block) fail(use_or_last(use), "kernel: a value is used after it was moved from", "use the value that it was moved to");
    if (!(*f_)[p.block].open) refuse_outside(use_or_last(use), at);
    set_location(at);
    OpId before{};
    for (OpId o = (*f_)[p.block].last; o && (*f_)[o].sequence > p.sequence; o = (*f_)[o].previous) before = o;
    if (before) build_.to_before(before);
    else build_.to_end_of(p.block);
    build_.sequence(p.sequence);
  }
  void go_here(const Location& at) override {
    set_location(at);
    build_.to_end_of(blocks_.back());
    build_.sequence(++sequence_);
  }
  void set_location(const Location& at) override {
    if (at.line != 0) build_.at(at);
  }
  [[noreturn]] void refuse_foreign(const std::source_location& use, const Location& made) const override {
    Text text("kernel: a value of another kernel is used");
    if (made.line != 0) text.append(" (made in line ").append(made.line).append(")");
    fail(use_or_last(use), text, "pass it as a parameter of this kernel");
  }
  [[noreturn]] void refuse_foreign_variable(const std::source_location& use) const override {
    fail(use_or_last(use), "kernel: a variable of another kernel is used", "declare the Var inside this kernel's lambda");
  }

  void add(VarState& v) override {
    v.recorder = this;
    v.previous = last_var_;
    v.next = nullptr;
    (last_var_ != nullptr ? last_var_->next : first_var_) = &v;
    last_var_ = &v;
  }
  void remove(VarState& v) override {
    (v.previous != nullptr ? v.previous->next : first_var_) = v.next;
    (v.next != nullptr ? v.next->previous : last_var_) = v.previous;
    for (Frame& frame : frames_)
      for (Carried& c : frame.carried)
        if (c.var == &v) c.var = nullptr;
  }

  [[nodiscard]] std::size_t depth() const override { return frames_.size(); }

  void check_step(ValueId step, const Location& at) override {
    const Value& v = (*f_)[step];
    if (v.kind == ValueKind::constant && v.integer <= 0)
      fail(at, Text("range: the step is not positive (").append(v.integer).append(")"), "count upwards");
  }
  ValueId open_for(ValueId start, ValueId stop, ValueId step, List<Attr> attrs, const Location& at) override {
    for (const ValueId v : {start, stop, step}) check_visible(v);
    if (f_->kind != FunctionKind::kernel && !attrs.empty() && attrs[0].key == AttrKey::pipelined)
      fail(at, Text("range: only loops of kernels are pipelined (").append(name(f_->kind)).append(" ").append(f_->name).append(")"),
           f_->kind == FunctionKind::simt     ? "leave out pipelined(...): threads have no buffers"
           : f_->kind == FunctionKind::tileop ? "leave out pipelined(...), or write it at a loop of the kernel, around the call"
                                              : "leave out pipelined(...): the host has no buffers on chip");
    go_here(at);
    const OpId op = build_.control(ops::for_loop, {start, stop, step}, {}, 1, attrs);
    const BlockId body = f_->block(op);
    const ValueId counter = f_->add_argument(body, index_scalar);
    push(op, body);
    return counter;
  }
  void open_while(const Location& at) override {
    go_here(at);
    const OpId op = build_.control(ops::while_loop, {}, {}, 2);
    push(op, f_->block(op, 0));
  }
  void close_condition(ValueId holds, const Location& at) override {
    Frame& frame = frames_.back();
    go_here(at);
    Pool<ValueId> operands;
    operands.push_back(holds);
    for (const Carried& c : frame.carried) operands.push_back(c.argument);
    check_visible(holds);
    build_.control(ops::condition, operands, {}, 0);
    close(blocks_.back());
    const BlockId body = f_->block(frame.op, 1);
    for (Carried& c : frame.carried) {
      if (c.var != nullptr && !(c.var->current == c.argument))
        fail(at, "while_: the condition assigns a variable", "assign variables in the body");
      c.body_argument = f_->add_argument(body, f_->type(c.argument));
      f_->share_valid(c.body_argument, c.argument);
      if (c.var != nullptr) c.var->current = c.body_argument;
    }
    open(body);
  }
  void close_loop(const Location& at) override {
    Frame& frame = frames_.back();
    const bool counting = f_->is(frame.op, ops::for_loop);
    set_location((*f_)[frame.op].location);
    const BlockId first = f_->block(frame.op, 0), last = f_->block(frame.op, counting ? 0 : 1);
    for (std::size_t i = 0, position = counting ? 1 : 0; i < frame.carried.size(); ++i) {
      Carried& c = frame.carried[i];
      const ValueId argument = counting ? c.argument : c.body_argument;
      c.assigned = c.var != nullptr && !(c.var->current == argument);
      if (c.assigned) {
        check_visible(c.var->current);
        ++position;
        continue;
      }
      fold(frame, argument, c.initial);
      if (!counting) {
        fold(frame, c.argument, c.initial);
        drop_condition_operand(first, position);
      }
      f_->remove_argument(last, position);
      if (!counting) f_->remove_argument(first, position);
    }
    Pool<ValueId> yields, initials;
    Pool<Type> types;
    Pool<VarState*> carried;
    for (const Carried& c : frame.carried) {
      if (!c.assigned) continue;
      check_same_valid(c.var->current, c.initial, counting ? "range" : "while_");
      yields.push_back(c.var->current);
      initials.push_back(c.initial);
      types.push_back(f_->type(c.initial));
      carried.push_back(c.var);
    }
    go_here(at);
    build_.control(ops::yield, yields, {}, 0);
    close(last);
    Pool<ValueId> operands = operands_of(frame.op);
    for (const ValueId v : initials) operands.push_back(v);
    f_->set_operands(frame.op, operands);
    finish(frame.op, types, carried, initials);
  }
  void open_if(ValueId condition, const Location& at) override {
    check_visible(condition);
    go_here(at);
    const OpId op = build_.control(ops::if_else, {condition}, {}, 2);
    push(op, f_->block(op, 0));
  }
  void open_else(const Location& at) override {
    Frame& frame = frames_.back();
    for (Carried& c : frame.carried) {
      c.after_then = c.var != nullptr ? c.var->current : c.initial;
      check_visible(c.after_then);
      if (c.var != nullptr) c.var->current = c.initial;
    }
    close(blocks_.back());
    set_location(at);
    open(f_->block(frame.op, 1));
  }
  void close_if(const Location& at) override {
    Frame& frame = frames_.back();
    Pool<ValueId> yields[2];
    Pool<Type> types;
    Pool<VarState*> merged;
    Pool<ValueId> like;
    for (const Carried& c : frame.carried) {
      if (c.var == nullptr || (c.after_then == c.initial && c.var->current == c.initial)) continue;
      check_visible(c.var->current);
      yields[0].push_back(c.after_then);
      yields[1].push_back(c.var->current);
      types.push_back(f_->type(c.initial));
      merged.push_back(c.var);
      like.push_back(c.initial);
    }
    close(blocks_.back());
    for (int side = 0; side < 2; ++side) {
      set_location(at);
      build_.to_end_of(f_->block(frame.op, side));
      build_.sequence(++sequence_);
      build_.control(ops::yield, yields[side], {}, 0);
    }
    merge_valid(yields, like);
    finish(frame.op, types, merged, like);
  }
  void abandon(std::size_t depth, const Location& at, const char* message, const char* hint, bool by_exception) noexcept override {
    if (error_message_ == nullptr) {
      error_at_ = at;
      error_message_ = message;
      error_hint_ = hint;
      by_exception_ = by_exception;
    }
    while (frames_.size() > depth) {
      for (const Carried& c : frames_.back().carried)
        if (c.var != nullptr) c.var->current = c.initial;
      while (blocks_.back() != frames_.back().outer) close(blocks_.back());
      frames_.pop_back();
    }
  }
  /// The first error that could not be thrown where it was found.
  [[nodiscard]] const char* error() const { return error_message_; }
  void throw_error() const override {
    if (error_message_ != nullptr) fail(error_at_, error_message_, error_hint_);
  }
  [[nodiscard]] const Location& error_location() const { return error_at_; }
  /// Whether that error says no more than that an exception passed by.
  [[nodiscard]] bool error_is_an_exception() const { return by_exception_; }

 protected:
  explicit BlockRecorder(Function& f) : f_(&f), build_(f) { open(f.body()); }
  ~BlockRecorder() {
    for (VarState* v = first_var_; v != nullptr; v = v->next) v->recorder = nullptr;
  }

  [[nodiscard]] Location use_or_last(const std::source_location& use) const {
    return use.line() != 0 ? detail::location_of(use) : build_.location();
  }
  /// An operand must be of this kernel, and its block still open.
  void check_visible(ValueId v) const {
    if (visible(v)) return;
    const BlockId b = f_->defining_block(v);
    const OpId def = f_->definition(v);
    const Location made = def ? (*f_)[def].location : (*f_)[(*f_)[b].owner].location;
    refuse_outside(build_.location(), made);
  }
  /// Whether the next operation stands in a loop or branch.
  [[nodiscard]] bool in_block() const { return blocks_.size() > 1; }

  Function* f_;
  Builder build_;

 private:
  [[noreturn]] static void refuse_outside(const Location& use, const Location& made) {
    fail(use, Text("kernel: a value is used outside of the block that holds it (made in line ").append(made.line).append(")"),
         "declare a Var before the loop or branch and assign it inside");
  }
  struct Carried {
    VarState* var;
    ValueId initial, argument, body_argument, after_then;
    bool assigned = false;
  };
  struct Frame {
    OpId op;
    BlockId outer;
    std::size_t extents;  ///< how many were stated outside
    Pool<Carried> carried;
    static constexpr bool moves_bitwise = true;
  };

  void open(BlockId b) {
    (*f_)[b].open = true;
    blocks_.push_back(b);
    build_.to_end_of(b);
  }
  void close(BlockId b) noexcept {
    (*f_)[b].open = false;
    blocks_.pop_back();
  }
  void push(OpId op, BlockId body) {
    Frame frame{op, blocks_.back(), f_->extent_total(), {}};
    const bool branch = f_->is(op, ops::if_else);
    for (VarState* v = first_var_; v != nullptr; v = v->next) {
      if (!visible(v->current)) continue;  // kept alive beyond its block; an error when it is used
      Carried c{v, v->current, {}, {}, {}, false};
      if (!branch) {
        c.argument = f_->add_argument(body, f_->type(v->current));
        f_->share_valid(c.argument, v->current);
        v->current = c.argument;
      }
      frame.carried.push_back(c);
    }
    frames_.push_back(frame);
    open(body);
  }
  [[nodiscard]] bool visible(ValueId v) const {
    const BlockId b = f_->defining_block(v);
    return !b || (*f_)[b].open;
  }
  // An argument of a body that is not carried: everything that holds it reads the initial value, and index arithmetic that
  // is a constant now, or one of its operands, goes away.
  void fold(const Frame& frame, ValueId from, ValueId to) {
    std::vector<std::uint32_t> users;
    f_->for_each_use(from, [&](OpId op, int) { users.push_back(op.index); });
    f_->replace_all_uses(from, to);
    f_->replace_in_extents(frame.extents, from, to);
    for (VarState* v = first_var_; v != nullptr; v = v->next)
      if (v->current == from) v->current = to;
    for (const std::uint32_t index : users) {
      const OpId op{index};
      if (f_->info(op).level != Level::scalar || f_->operand_count(op) != 2 || f_->attrs(op).size() != 0) continue;
      const ValueId folded = build_.fold(f_->info(op), f_->operand(op, 0), f_->operand(op, 1));
      if (!folded) continue;
      const BlockId home = (*f_)[op].parent;
      fold(frame, f_->result(op), folded);
      f_->erase(op);
      (*f_)[op].parent = home;  // who still holds the value finds its block closed
    }
  }
  // A loop's variable is valid as far in each iteration as it was before the first.
  void check_same_valid(ValueId v, ValueId initial, const char* loop) const {
    const Type& type = f_->type(initial);
    for (int axis = 0; type.is_shaped() && axis < type.rank; ++axis) {
      if (f_->valid(v, axis) == f_->valid(initial, axis)) continue;
      const OpId def = f_->definition(v);
      fail(def ? (*f_)[def].location : build_.location(),
           std::string(loop) + ": the body leaves a variable with other valid extents than it had before the loop (axis " + std::to_string(axis) + ")",
           "fillpad(...) the value, or give both the same extents, computed before the loop");
    }
  }
  [[nodiscard]] Pool<ValueId> operands_of(OpId op) const {
    Pool<ValueId> list;
    for (int i = 0; i < f_->operand_count(op); ++i) list.push_back(f_->operand(op, i));
    return list;
  }
  void drop_condition_operand(BlockId condition_block, std::size_t position) {
    const OpId end = f_->terminator(condition_block);
    Pool<ValueId> operands = operands_of(end);
    operands.erase(position + 1);
    f_->set_operands(end, operands);
  }
  // Branches may leave a variable with different valid extents; then only constants are known outside.
  void merge_valid(const Pool<ValueId> (&yields)[2], Pool<ValueId>& like) {
    for (std::size_t i = 0; i < like.size(); ++i) {
      const Type& type = f_->type(like[i]);
      if (!type.is_shaped()) continue;
      for (int axis = 0; axis < type.rank; ++axis) {
        const Extent a = f_->valid(yields[0][i], axis), b = f_->valid(yields[1][i], axis);
        const bool outer = a.is_constant() || !f_->defining_block(a.value) || (*f_)[f_->defining_block(a.value)].open;
        if (!(a == b) || !outer) refuse_branches(type, axis, a, b);
      }
      like[i] = yields[0][i];
    }
  }
  [[noreturn]] void refuse_branches(const Type& type, int axis, const Extent& a, const Extent& b) const {
    const auto text = [](const Extent& e) { return e.is_constant() ? std::to_string(e.constant) : std::string("a run-time extent"); };
    const std::string variable = (type.is_tile() ? (type.space == Acc ? "an " : "a ") + std::string(name(type.space)) : std::string("a tensor")) + " variable";
    fail(build_.location(),
         "if_: the branches leave " + variable + " with different valid extents (axis " + std::to_string(axis) + ": " + text(a) + ", " + text(b) + ")",
         "give both values the same extents, computed before the branch: for a variable that starts as tile<...>(), set_valid_shape(tile<...>(), valid(...))");
  }
  void finish(OpId op, const Pool<Type>& types, const Pool<VarState*>& vars, const Pool<ValueId>& like) {
    f_->set_results(op, types);
    for (std::size_t i = 0; i < vars.size(); ++i) {
      const ValueId result = f_->result(op, static_cast<int>(i));
      if (types[i].is_shaped()) f_->share_valid(result, like[i]);
      vars[i]->current = result;
    }
    // Variables that were folded away keep their value; those of a branch that stayed equal likewise.
    frames_.pop_back();
    build_.to_end_of(blocks_.back());
  }

  Pool<BlockId> blocks_;
  Pool<Frame> frames_;
  VarState* first_var_ = nullptr;
  VarState* last_var_ = nullptr;
  std::uint32_t sequence_ = 0;
  Location error_at_;
  const char* error_message_ = nullptr;
  const char* error_hint_ = nullptr;
  bool by_exception_ = false;
};

}  // namespace tessera
