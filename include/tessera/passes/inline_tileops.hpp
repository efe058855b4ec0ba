// inline_tileops: the body of each user's tile operation in place of its calls, with the valid extents of the call's arguments.
// What follows sees plain kernels. Where tile operations stay functions, each body stands in a block of its own (ops::tileop_body),
// which the emitters write as a function.
#pragma once

#include "../ir/inline.hpp"
#include "../ir/walk.hpp"
#include "pass.hpp"

namespace tessera {
namespace detail {

/// Erases arithmetic that nothing uses, neither an operation nor a valid extent: extents that are derived anew leave such behind.
inline void erase_unused_numbers(Function& f) {
  std::vector<OpId> order;
  std::vector<bool> named(f.value_count());
  const auto note = [&](ValueId v) {
    for (int axis = 0; f.type(v).is_shaped() && axis < f.type(v).rank; ++axis)
      if (const Extent e = f.valid(v, axis); !e.is_constant()) named[e.value.index] = true;
  };
  for (const ValueId v : f[f.body()].arguments) note(v);
  for (const OpId op : all_operations(f)) {
    order.push_back(op);
    for (int i = 0; i < f.result_count(op); ++i) note(f.result(op, i));
    for (int b = 0; b < f.block_count(op); ++b)
      for (const ValueId v : f[f.block(op, b)].arguments) note(v);
  }
  for (auto op = order.rbegin(); op != order.rend(); ++op)
    if (f.info(*op).level == Level::scalar && f.info(*op).pure && !f.has_uses(f.result(*op)) && !named[f.result(*op).index]) f.erase(*op);
}

class InlineTileops {
 public:
  InlineTileops(const Function& in, TileopForm form) : in_(in), form_(form), r_(in, out_) {}

  Function run() {
    if (form_ == TileopForm::inlined) out_.tileops.clear();
    r_.copy_parameters();
    for (std::size_t i = 0; i < in_.parameters.size(); ++i)
      if (!in_.fully_valid(in_.parameters[i].value)) r_.copy_valid(in_.parameters[i].value, out_.parameters[i].value);
    r_.run([&](OpId op) { visit(op); });
    erase_unused_numbers(out_);
    return std::move(out_);
  }

 private:
  void visit(OpId op) {
    if (!in_.is(op, ops::call)) return r_.copy(op, [&](OpId o) { visit(o); });
    const Function& to = called_tileop(in_, op);
    const std::vector<ValueId> arguments = r_.operands(op);
    DimBinding dims;
    if (const Verdict v = check_tileop_call(to, out_, arguments, dims); !v.lawful()) refuse(v, "call", in_[op].location);
    if (form_ == TileopForm::called) return body_of(op, to, arguments, dims);
    const std::vector<ValueId> results = Inliner(to, r_.build(), arguments, dims).run();
    for (int i = 0; i < in_.result_count(op); ++i) r_.set(in_.result(op, i), results[static_cast<std::size_t>(i)]);
  }

  // --- tile operations that stay functions ---
  // The body in a block of its own. What it writes is storage that is there in front of it: an InOut argument, or a new tile. A
  // number is carried like these, so that bodies do not depend on whether it is a constant.
  void body_of(OpId op, const Function& to, std::vector<ValueId> arguments, const DimBinding& dims) {
    Builder& b = r_.build();
    std::vector<ValueId> operands, written;
    std::vector<std::size_t> updated;  // by carried value: the parameter that it is, or the count of parameters
    std::vector<std::size_t> numbers_at;  // parameters
    for (std::size_t i = 0; i < to.parameters.size(); ++i) {
      const bool output = to.parameters[i].direction != Direction::in && to.type(to.parameters[i].value).is_tile();
      if (!output) {
        const Type& type = to.type(to.parameters[i].value);
        if (type.is_scalar() && !type.is_index()) numbers_at.push_back(i);
        else if (!type.is_tensor()) operands.push_back(arguments[i]);
        continue;
      }
      const bool new_one = to.parameters[i].direction == Direction::out;
      updated.push_back(new_one ? arguments.size() : i);
      written.push_back(new_one ? storage(op, static_cast<int>(written.size())) : arguments[i]);
    }
    const auto fixed = static_cast<std::int64_t>(operands.size());
    while (written.size() < static_cast<std::size_t>(in_.result_count(op))) {
      updated.push_back(arguments.size());
      written.push_back(storage(op, static_cast<int>(written.size())));
    }
    for (const std::size_t i : numbers_at) {
      updated.push_back(i);
      written.push_back(arguments[i]);
    }
    operands.insert(operands.end(), written.begin(), written.end());
    std::vector<Type> types;
    for (const ValueId v : written) types.push_back(out_.type(v));
    const OpId made = b.control(ops::tileop_body, operands, types, 1, {int_attr(AttrKey::callee, in_.attr(op, AttrKey::callee)), int_attr(AttrKey::arguments, fixed)});
    const BlockId outer = b.block(), body = out_.block(made);
    for (std::size_t i = 0; i < written.size(); ++i) {
      const ValueId v = out_.add_argument(body, types[i]);
      if (types[i].is_shaped()) out_.share_valid(v, written[i]);
      if (updated[i] == arguments.size()) continue;
      out_.set_name(v, std::string_view(to.parameters[updated[i]].name));
      arguments[updated[i]] = v;
    }
    b.to_end_of(body);
    std::vector<ValueId> results = Inliner(to, b, arguments, dims).run();
    for (const std::size_t i : numbers_at) results.push_back(arguments[i]);
    b.at(in_[op].location);
    b.control(ops::yield, results, {}, 0);
    b.to_end_of(outer);
    for (int i = 0; i < in_.result_count(op); ++i) {
      const ValueId old = in_.result(op, i), result = out_.result(made, i);
      if (!in_.fully_valid(old)) r_.copy_valid(old, result);
      r_.set(old, result);
    }
  }
  // A tile for result number `i` of a call.
  [[nodiscard]] ValueId storage(OpId op, int i) {
    const ValueId result = in_.result(op, i), made = r_.build().value(ops::create, {}, {}, in_.type(result));
    if (!in_.fully_valid(result)) r_.copy_valid(result, made);
    return made;
  }

  const Function& in_;
  const TileopForm form_;
  Function out_;
  Rewriter r_;
};

inline Function run_inline_tileops(const Function& f, const PassContext& c) { return InlineTileops(f, c.tileops).run(); }
[[nodiscard]] inline bool calls_tileops(const Function& f) { return !f.tileops.empty(); }

}  // namespace detail

inline constexpr Pass inline_tileops = {.name = "inline_tileops", .run = detail::run_inline_tileops, .applies = detail::calls_tileops};

}  // namespace tessera
