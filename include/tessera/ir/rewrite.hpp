// Rewriting: a pass reads one function and builds another. Operations that it does not treat are copied, with their types
// inferred anew from the new operands, so a wrong rewrite breaks a rule where it happens.
#pragma once

#include "../ops/call.hpp"
#include "builder.hpp"
#include "control_layout.hpp"

namespace tessera {

class Rewriter {
 public:
  /// `out` must be empty; it receives the name, location, target and notes of `in`. Parameters are added by the pass (copy_parameters).
  Rewriter(const Function& in, Function& out) : in_(&in), out_(&out), build_(out), map_(in.value_count()) {
    out.name = in.name;
    out.location = in.location;
    out.target = in.target;
    out.kind = in.kind;
    out.blocks = in.blocks;
    out.threads = in.threads;
    out.loops = in.loops;
    out.storage = in.storage;
    out.tileops = in.tileops;
    out.launched = in.launched;
    out.summary = in.summary;
    out.reserve(in.operation_count());
  }
  /// Rewrites the body of `in` into another function, at the end of the block where `at` stands. Named dims are those that
  /// `dims` says; it lives as long as the rewriter.
  Rewriter(const Function& in, const Builder& at, const DimBinding& dims)
      : in_(&in), build_(at), map_(in.value_count()), dims_(&dims) {
    out_ = &build_.function();
  }

  [[nodiscard]] const Function& in() const { return *in_; }
  [[nodiscard]] Function& out() { return *out_; }
  [[nodiscard]] Builder& build() { return build_; }

  void copy_parameters() {
    for (const Parameter& p : in_->parameters) {
      const ValueId v = out_->add_argument(out_->body(), in_->type(p.value));
      out_->parameters.push_back({v, p.name, p.direction, p.location});
      set(p.value, v);
    }
    for (const ValueId v : in_->symbols()) out_->symbol((*in_)[v].integer);
  }

  /// The new value that stands for an old one.
  [[nodiscard]] ValueId map(ValueId v) {
    const Value& value = (*in_)[v];
    if (value.kind == ValueKind::constant)
      return is_float(value.type.dtype) ? out_->constant(value.type.dtype, value.number) : out_->constant(value.type.dtype, value.integer);
    if (value.kind == ValueKind::symbol) return out_->dim_value(renamed(value.integer));
    return map_[v.index];
  }
  [[nodiscard]] bool has(ValueId v) const { return (*in_)[v].kind > ValueKind::argument || static_cast<bool>(map_[v.index]); }
  void set(ValueId from, ValueId to) {
    map_[from.index] = to;
    if ((*in_)[from].name != 0 && (*out_)[to].name == 0 && !out_->is_constant(to)) out_->set_name(to, in_->name_of(from));
  }
  /// As set; the value keeps its own name.
  void alias(ValueId from, ValueId to) { map_[from.index] = to; }
  [[nodiscard]] std::vector<ValueId> operands(OpId op) {
    std::vector<ValueId> list;
    list.reserve((*in_)[op].operand_count);
    for (int i = 0; i < in_->operand_count(op); ++i) list.push_back(map(in_->operand(op, i)));
    return list;
  }
  [[nodiscard]] Extent map(const Extent& e) { return e.is_constant() ? e : build_.extent_of(map(e.value)); }
  /// Gives a new value the valid extents that an old one has; dims that were added in front hold one.
  void copy_valid(ValueId from, ValueId to) {
    std::vector<Extent> extents;
    for (int i = in_->type(from).rank; i < out_->type(to).rank; ++i) extents.push_back({1, {}});
    for (int i = 0; i < in_->type(from).rank; ++i) extents.push_back(map(in_->valid(from, i)));
    out_->set_valid(to, extents);
  }
  /// The attributes of an operation, with lists moved to the new function.
  [[nodiscard]] std::vector<Attr> attrs(OpId op) {
    std::vector<Attr> list;
    for (const Attr& a : in_->attrs(op)) list.push_back(a.is_list ? out_->list_attr(a.key, in_->list(a)) : a);
    return list;
  }

  /// Walks the function's body: visit(op) for each operation of a block, in order. The visitor handles an operation or
  /// calls copy(op, visit).
  template <class Visit>
  void run(Visit&& visit) {
    block(in_->body(), out_->body(), visit);
  }
  template <class Visit>
  void block(BlockId from, BlockId to, Visit&& visit) {
    const BlockId outer = build_.block();
    build_.to_end_of(to);
    for (OpId op = (*in_)[from].first; op; op = in_->next(op)) {
      build_.at((*in_)[op].location);
      visit(op);
    }
    build_.to_end_of(outer);
  }

  /// Copies an operation with mapped operands; the bodies of control operations are walked with `visit`. Carried values and
  /// branch results take the types that their new initial and yielded values have.
  template <class Visit>
  void copy(OpId op, Visit&& visit) {
    if (in_->is(op, ops::call)) copy_call(op);
    else if (in_->info(op).level == Level::control) copy_control(op, operands(op), visit);
    else copy_plain(op, in_->result_count(op) > 0 ? in_->type(in_->result(op)) : Type{});
  }
  /// Copies an operation without blocks; `requested` is the result type to ask for.
  OpId copy_plain(OpId op, const Type& requested) {
    const std::vector<ValueId> mapped = operands(op);
    const std::vector<Attr> copied = attrs(op);
    const OpId made = build_.emit(in_->info(op), mapped, copied, dims_ != nullptr ? (*dims_)(requested) : requested);
    if (in_->result_count(op) > 0) set(in_->result(op), out_->result(made));
    keep_stated_extents(op, made);
    return made;
  }
  /// Storage is valid as far as it is stated for it.
  void keep_stated_extents(OpId op, OpId made) {
    if (in_->is(op, ops::create) && in_->type(in_->result(op)).is_shaped() && !in_->fully_valid(in_->result(op))) copy_valid(in_->result(op), out_->result(made));
  }

  void copy_call(OpId op) {
    std::vector<Type> types;
    for (int i = 0; i < in_->result_count(op); ++i) types.push_back(in_->type(in_->result(op, i)));
    const OpId made = build_.control(ops::call, operands(op), types, 0, attrs(op));
    for (int i = 0; i < in_->result_count(op); ++i) {
      const ValueId old = in_->result(op, i), result = out_->result(made, i);
      if (in_->type(old).is_shaped() && !in_->fully_valid(old)) copy_valid(old, result);
      set(old, result);
    }
  }

  /// Emits what stands for `op`, with a result of the same rank: it keeps the extents that the old result has.
  ValueId emit_same(OpId op, const OpInfo& info, List<ValueId> mapped, List<Attr> copied, const Type& requested) {
    build_.derive_valid(false);
    const OpId made = build_.emit(info, mapped, copied, requested);
    build_.derive_valid(true);
    if (out_->result_count(made) == 0) return {};
    const ValueId v = out_->result(made), old = in_->result(op);
    if (!in_->type(old).is_shaped() || in_->fully_valid(old)) return v;
    copy_valid(old, v);
    return v;
  }

  /// Copies a control operation with the given new operands.
  template <class Visit>
  void copy_control(OpId op, const std::vector<ValueId>& mapped, Visit&& visit) {
    const Location at = (*in_)[op].location;
    const OpId made = build_.control(in_->info(op), mapped, {}, in_->block_count(op), attrs(op));
    const auto fixed = static_cast<std::size_t>(fixed_operands(*in_, op)), counters = static_cast<std::size_t>(fixed_arguments(*in_, op));
    for (int b = 0; b < in_->block_count(op); ++b) {
      const BlockId from = in_->block(op, b), to = out_->block(made, b);
      const List<ValueId> arguments = (*in_)[from].arguments;
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        const bool counter = i < counters;
        const ValueId initial = counter ? ValueId{} : mapped[fixed + i - counters];
        const ValueId argument = out_->add_argument(to, counter ? in_->type(arguments[i]) : out_->type(initial));
        if (!counter && out_->type(initial).is_shaped()) out_->share_valid(argument, initial);
        set(arguments[i], argument);
      }
      block(from, to, visit);
    }
    build_.at(at);
    if (in_->result_count(op) == 0) return;
    // Results: of a loop like its initial values, of a branch like what the first block yields. Their extents are those of the
    // old ones: what a block computes cannot be named outside.
    std::vector<Type> types;
    std::vector<ValueId> like;
    const bool branch = in_->is(op, ops::if_else);
    for (int i = 0; i < in_->result_count(op); ++i) {
      like.push_back(branch ? out_->operand(out_->terminator(out_->block(made)), i) : mapped[fixed + static_cast<std::size_t>(i)]);
      types.push_back(out_->type(like.back()));
    }
    out_->set_results(made, types);
    for (int i = 0; i < in_->result_count(op); ++i) {
      const ValueId result = out_->result(made, i);
      if (types[static_cast<std::size_t>(i)].is_shaped()) copy_valid(in_->result(op, i), result);
      set(in_->result(op, i), result);
    }
  }

 private:
  [[nodiscard]] std::int64_t renamed(std::int64_t dim) const { return dims_ != nullptr ? (*dims_)(dim) : dim; }

  const Function* in_;
  Function* out_ = nullptr;
  Builder build_;
  std::vector<ValueId> map_;
  const DimBinding* dims_ = nullptr;  ///< none: they keep their names
};

}  // namespace tessera
