// The recorder that writes the operations of a running kernel lambda into a function. It is plain code, and only what traces
// includes it: kernel sources know the interface (dsl/recorder.hpp).
#pragma once

#include "../ir/builder.hpp"
#include "../ir/program.hpp"
#include "../ops/memory.hpp"
#include "../ops/simt.hpp"
#include "declared_storage.hpp"
#include "recorder.hpp"
#include "registry.hpp"
#include "tileop_call.hpp"
#include "verdict.hpp"

namespace tessera {

/// Finds the functions that a recorded one calls, and records them when they are called first.
class Callees {
 public:
  /// The number of a function in the program.
  virtual std::size_t index_of(const KernelEntry& callee, const Location& at) = 0;
  [[nodiscard]] virtual const Program& program() const = 0;
  /// A user's tile operation, or a simt kernel that is launched.
  [[nodiscard]] virtual std::shared_ptr<const Function> on_chip(const KernelEntry& callee, const Location& at) = 0;

 protected:
  ~Callees() = default;
};

class FunctionRecorder final : public Recorder {
 public:
  /// `callees`: null where the function cannot call others.
  explicit FunctionRecorder(Function& f, Callees* callees = nullptr) : f_(&f), build_(f), callees_(callees) { open(f.body()); }
  ~FunctionRecorder() {
    for (VarState* v = first_var_; v != nullptr; v = v->next) v->recorder = nullptr;
  }

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

  ValueId emit(const OpInfo& op, List<ValueId> operands, List<Attr> attrs, const Type& requested) override {
    for (const ValueId v : operands) check_visible(v);
    check_side(op, requested);
    if (op.level == Level::scalar && operands.size() == 2 && attrs.empty()) return build_.scalar(op, operands[0], operands[1]);
    const OpId o = build_.emit(op, operands, attrs, requested);
    return f_->result_count(o) > 0 ? f_->result(o) : ValueId{};
  }
  void emit_node(const OpInfo& op, int variant, List<ValueId> operands, const Attr* attr, const Type& requested,
                 const detail::node_state& node) override {
    Attr attrs[3];
    std::size_t count = 0;
    if ((variant & detail::transposes_lhs) != 0) attrs[count++] = int_attr(AttrKey::transpose_lhs, 1);
    if ((variant & detail::transposes_rhs) != 0) attrs[count++] = int_attr(AttrKey::transpose_rhs, 1);
    if (attr != nullptr) attrs[count++] = *attr;
    set_location(node.location);
    node.value = emit(op, operands, {attrs, count}, requested);
  }
  ValueId snapshot(ValueId parameter, const Location& at) override {
    // On the host a tensor is the same one under every name, and tiles are values.
    if (!runs_on_chip(f_->kind) || f_->type(parameter).is_tile()) return parameter;
    go_here(at);
    Pool<ValueId> operands;
    operands.push_back(parameter);
    for (int i = 0; i < f_->type(parameter).rank; ++i) operands.push_back(build_.index(0));
    return emit(ops::slice, operands, {}, f_->type(parameter));
  }
  void store_whole(ValueId value, ValueId parameter, const Location& at) override {
    go_here(at);
    Pool<ValueId> operands;
    operands.push_back(value);
    operands.push_back(parameter);
    for (int i = 0; i < f_->type(parameter).rank; ++i) operands.push_back(build_.index(0));
    emit(ops::store, operands, {}, {});
  }
  ValueId literal(DType d, const detail::any_literal& l, const Location& at) override {
    if (!fits(d, l)) refuse_literal(d, l, at);
    if (!is_float(d)) return f_->constant(d, l.integer);
    return f_->constant(d, l.floating ? l.number : static_cast<double>(l.integer));
  }
  ValueId index(std::int64_t n) override { return f_->index(n); }
  ValueId dim_value(const Type& t, int axis, const Location& at) override {
    if (axis < -t.rank || axis >= t.rank)
      refuse(breaks(rule::axis_out_of_range, arg_op, arg(std::int64_t{axis}), arg(std::int64_t{t.rank})), "dim", at);
    return f_->dim_value(t.dims[axis < 0 ? axis + t.rank : axis]);
  }
  void clamp(const ValueId* operands, const Type& window, ValueId* extents) override {
    const Type source = f_->type(operands[0]);
    for (int i = 0; i < window.rank; ++i) {
      const ValueId reach = f_->fully_valid(operands[0]) ? f_->dim_value(source.dims[i]) : build_.value_of(f_->valid(operands[0], i));
      const ValueId left = build_.sub(build_.max(reach, operands[1 + i]), operands[1 + i]);
      extents[i] = build_.min(left, build_.index(window.dims[i]));
    }
  }
  void call(const KernelEntry& callee, List<ValueId> arguments, ValueId* results, std::size_t count, const Location& at) override {
    if (f_->kind == FunctionKind::simt)
      fail(at, Text("call: a simt kernel calls a function (").append(callee.name()).append(")"), "a thread computes on its own: write the other's body out, or launch both");
    if (callee.kind() == FunctionKind::tileop) return call_tileop(callee, arguments, results, count, at);
    if (callee.kind() == FunctionKind::simt && runs_on_chip(f_->kind)) return launch(callee, arguments, at);
    if (runs_on_chip(f_->kind) || callees_ == nullptr)
      fail(at, Text("call: a ").append(f_->kind == FunctionKind::tileop ? "tile operation" : "kernel").append(" calls a function (").append(callee.name()).append(")"),
           "what runs on chip calls tile operations only: call both from an orchestration");
    if (is_wrapper(f_->kind) && callee.kind() == FunctionKind::orchestration)
      fail(at, Text("call: a wrapper calls an orchestration (").append(callee.name()).append(")"),
           "wrappers hand their parameters on to a kernel, or to another wrapper");
    set_location(at);
    for (const ValueId v : arguments) check_visible(v);
    const std::size_t index = callees_->index_of(callee, at);
    const Function& to = callees_->program().functions[index];
    DimBinding binding;
    const Verdict v = check_call(to, *f_, arguments, binding);
    if (!v.lawful()) refuse(v, "call", at);
    Pool<Type> types;
    for (const Type& t : returned_types(to)) types.push_back(binding(t));
    if (types.size() != count) throw InternalError("call: " + std::string(to.name.c_str()) + " returns another count of values than it did");
    go_here(at);
    const OpId op = build_.control(ops::call, arguments, types, 0, {int_attr(AttrKey::callee, static_cast<std::int64_t>(index))});
    for (std::size_t i = 0; i < count; ++i) results[i] = f_->result(op, static_cast<int>(i));
  }
  void set_name(ValueId v, const char* name) override { f_->set_name(v, name); }

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

  std::uint32_t declare_storage(const detail::StorageRequest& s, const Location& at) override { return detail::declare_storage(*f_, s, at); }
  ValueId place(ValueId tile, std::uint32_t buffer, std::int64_t slot, const Location& at) override {
    detail::check_placed(*f_, tile, at);
    detail::check_slot(*f_, buffer, slot, at);
    const Attr attrs[] = {int_attr(AttrKey::buffer, buffer), int_attr(AttrKey::slot, slot)};
    go_here(at);
    return emit(ops::place, {tile}, {attrs, slot == detail::StorageRequest::any_slot ? std::size_t{1} : std::size_t{2}}, {});
  }
  ValueId add_parameter(const Type& type, Direction direction, const char* name, std::size_t position) override {
    const ValueId v = f_->add_argument(f_->body(), type);
    for (int i = 0; i < type.rank; ++i)
      if (is_dynamic(type.dims[i])) f_->symbol(type.dims[i]);
    const Text text = name != nullptr ? Text(name) : Text("arg").append(static_cast<std::int64_t>(position));
    f_->set_name(v, text);
    f_->parameters.push_back({v, text, direction, f_->location});
    if (type.is_tile() && direction != Direction::in) {
      outputs_.push_back(std::make_unique<OutputTile>(OutputTile{v, {v}}));
      add(outputs_.back()->variable);
    }
    return v;
  }
  VarState& output_tile(ValueId parameter) override {
    for (const auto& o : outputs_)
      if (o->parameter == parameter) return o->variable;
    throw InternalError("record: the parameter is no output tile");
  }
  void end_function(List<ValueId> results) override {
    throw_error();
    go_here(f_->location);
    std::vector<ValueId> all;
    for (const auto& o : outputs_) all.push_back(o->variable.current);
    for (const ValueId v : results) all.push_back(v);
    for (const ValueId v : all) check_visible(v);
    build_.control(ops::return_op, all, {}, 0);
    (*f_)[f_->body()].open = false;
  }

 private:
  struct OutputTile {
    ValueId parameter;
    VarState variable;
  };

  void call_tileop(const KernelEntry& callee, List<ValueId> arguments, ValueId* results, std::size_t count, const Location& at) {
    if (!runs_on_chip(f_->kind) || callees_ == nullptr)
      fail(at, Text("call: only kernels call tile operations (").append(name(f_->kind)).append(" ").append(f_->name).append(" calls ").append(callee.name()).append(")"),
           "call it in a kernel, and call that");
    set_location(at);
    for (const ValueId v : arguments) check_visible(v);
    const std::shared_ptr<const Function> tileop = callees_->on_chip(callee, at);
    go_here(at);
    const Pool<ValueId> made = detail::TileopCall(*f_, build_, tileop, at).record(arguments);
    if (made.size() != count) throw InternalError("call: " + std::string(tileop->name.c_str()) + " returns another count of tiles than it did");
    for (std::size_t i = 0; i < count; ++i) results[i] = made[i];
  }
  void launch(const KernelEntry& callee, List<ValueId> arguments, const Location& at) {
    if (f_->kind != FunctionKind::kernel || callees_ == nullptr)
      fail(at, Text("launch: only kernels launch simt kernels (").append(name(f_->kind)).append(" ").append(f_->name).append(" calls ").append(callee.name()).append(")"),
           "launch it in the kernel that calls the tile operation");
    set_location(at);
    for (const ValueId v : arguments) check_visible(v);
    const std::shared_ptr<const Function> to = callees_->on_chip(callee, at);
    go_here(at);
    DimBinding dims;
    if (const Verdict v = check_launch(*to, *f_, arguments, dims); !v.lawful()) refuse(v, "launch", at);
    refuse_overlaps(*to, *f_, arguments, at);
    std::size_t number = 0;
    while (number < f_->launched.size() && f_->launched[number] != to) ++number;
    if (number == f_->launched.size()) f_->launched.push_back(to);
    build_.control(ops::launch, arguments, {}, 0, {int_attr(AttrKey::callee, static_cast<std::int64_t>(number))});
  }
  [[noreturn]] static void refuse_outside(const Location& use, const Location& made) {
    fail(use, Text("kernel: a value is used outside of the block that holds it (made in line ").append(made.line).append(")"),
         "declare a Var before the loop or branch and assign it inside");
  }
  // Kernels compute on tensors; functions on the host make buffers, read single elements and call.
  void check_side(const OpInfo& op, const Type& requested) const {
    if (f_->kind == FunctionKind::simt) return check_in_thread(op);
    if (needs_threads(op))
      fail(build_.location(), Text(op.name).append(": only simt kernels run in threads (").append(name(f_->kind)).append(" ").append(f_->name).append(")"),
           "register it as simt(\"name\", threads(256), ...), or use block_index() and a tile");
    if (runs_on_chip(f_->kind)) {
      if (&op != &ops::create) return;
      if (const std::int64_t dim = first_dynamic(requested); dim != 0)
        refuse(breaks(rule::tile_dim_is_dynamic, arg_op, arg_dim(dim)), op.name, build_.location());
      return;
    }
    if (op.form == PtoForm::block_index)
      fail(build_.location(), Text(op.name).append(": only kernels run in blocks"), "call it in the kernel, and wrap the kernel in spmd(...)");
    if (&op == &ops::create && requested.is_tensor()) return check_bound(requested);
    if (op.level == Level::scalar || &op == &ops::read) return;
    if (&op == &ops::store || &op == &ops::write)
      fail(build_.location(), Text(op.name).append(": only kernels write to tensors (").append(name(f_->kind)).append(" ").append(f_->name).append(")"),
           "pass the tensor to a kernel that has an Out parameter, or return what a call gives");
    fail(build_.location(), Text(op.name).append(": only kernels compute on tensors (").append(name(f_->kind)).append(" ").append(f_->name).append(")"),
         "put the computation into a kernel and call that");
  }
  void check_in_thread(const OpInfo& op) const {
    if (&op == &ops::sync_threads && blocks_.size() > 1)
      fail(build_.location(), "sync_threads: it stands in a loop or a branch",
           "all threads have to come to it as often: write it outside; a for loop of C++ writes it several times");
    if (runs_in_threads(op)) return;
    Text text(op.name);
    text.append(op.level == Level::scalar ? ": threads do not know it (simt " : ": a thread computes on numbers, not on tensors or tiles (simt ").append(f_->name).append(")");
    fail(build_.location(), text,
         op.level == Level::scalar ? "call it in a kernel" : "read(x, at(i)) elements, compute, and write(out, at(i), y) them; or make it a kernel(...)");
  }
  static std::int64_t first_dynamic(const Type& t) {
    for (int i = 0; t.is_shaped() && i < t.rank; ++i)
      if (is_dynamic(t.dims[i])) return t.dims[i];
    return 0;
  }
  // A buffer's named dims are those of a parameter.
  void check_bound(const Type& buffer) const {
    for (int i = 0; i < buffer.rank; ++i) {
      bool known = !is_dynamic(buffer.dims[i]);
      for (const ValueId s : f_->symbols()) known = known || (*f_)[s].integer == buffer.dims[i];
      if (!known)
        fail(build_.location(), Text("create: no parameter has the named dim (").append(symbol_of(buffer.dims[i]).view()).append(")"),
             "use a named dim of a tensor parameter");
    }
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

  /// The largest finite number; a literal above it would become infinity.
  static constexpr double largest_number(DType d) {
    switch (d) {
      case f16: return 65504;
      case f32: return 3.4028234663852886e38;
      case bf16: return 3.3895313892515355e38;
      case f8e4m3: return 448;
      case f8e5m2: return 57344;
      case hif8: return 32768;
      case f4e2m1: return 6;
      default: return 1.7014118346046923e38;  // f8e8m0: 2^127
    }
  }
  static bool fits(DType d, const detail::any_literal& l) {
    if (is_float(d)) {
      const double n = l.floating ? l.number : static_cast<double>(l.integer);
      return n - n != 0 || (n < 0 ? -n : n) <= largest_number(d);  // infinity is written as such
    }
    if (l.floating) return false;
    if (d == boolean) return l.integer == 0 || l.integer == 1;
    const int bits = info(d).bits;
    const bool is_signed = info(d).kind == DTypeKind::signed_integer || d == index_type;
    if (!is_signed && l.integer < 0) return false;
    if (bits >= 64) return true;
    const std::int64_t end = std::int64_t{1} << (is_signed ? bits - 1 : bits);
    return l.integer < end && l.integer >= -end;
  }
  [[noreturn]] static void refuse_literal(DType d, const detail::any_literal& l, const Location& at) {
    Text text("kernel: a literal is out of range for ");
    text.append(name(d));
    // Without the fraction: printing doubles costs more to include than it is worth here.
    const std::int64_t whole = !l.floating ? l.integer : l.number > -9e18 && l.number < 9e18 ? static_cast<std::int64_t>(l.number) : 0;
    if (!l.floating || whole != 0) text.append(" (").append(whole).append(")");
    fail(at, text, "use a number that the element type holds, or cast the operand to a wider type");
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

  Function* f_;
  Builder build_;
  Callees* callees_;
  std::vector<std::unique_ptr<OutputTile>> outputs_;  // of the parameters, in their order
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
