// The recorder that writes the operations of a running kernel lambda into a function. It is plain code, and only what traces
// includes it: kernel sources know the interface (dsl/recorder.hpp).
#pragma once

#include "../ir/program.hpp"
#include "../ops/memory.hpp"
#include "../ops/simt.hpp"
#include "block_recorder.hpp"
#include "declared_storage.hpp"
#include "literal_range.hpp"
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

class FunctionRecorder final : public BlockRecorder {
 public:
  /// `callees`: null where the function cannot call others.
  explicit FunctionRecorder(Function& f, Callees* callees = nullptr) : BlockRecorder(f), callees_(callees) {}
  ~FunctionRecorder() {
    for (const auto& o : outputs_) remove(o->variable);
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
    if (!detail::fits(d, l)) detail::refuse_literal(d, l, at);
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
    if (&op == &ops::sync_threads && in_block())
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
  Callees* callees_;
  std::vector<std::unique_ptr<OutputTile>> outputs_;  // of the parameters, in their order
};

}  // namespace tessera
