// What a call of a user's tile operation records: the tiles of tensors that it is called with, the call, and how far its results
// are valid, which the body says for the arguments of this call.
#pragma once

#include "../ir/inline.hpp"
#include "../ops/tileop.hpp"

namespace tessera {
namespace detail {

/// The valid extents of a call's results. The body is written into a function of its own, with run-time numbers of the caller
/// as parameters; what index arithmetic makes of them there is then recorded in front of the call.
class ResultExtents {
 public:
  ResultExtents(const Function& tileop, Function& caller, Builder& build, List<ValueId> arguments, const DimBinding& dims)
      : tileop_(tileop), caller_(&caller), build_(&build) {
    std::vector<ValueId> own;
    for (const ValueId v : arguments) own.push_back(caller.type(v).is_tile() ? tile(v) : twin(v));
    results_ = Inliner(tileop, Builder(body_), own, dims).run();
  }
  [[nodiscard]] std::vector<Extent> of(std::size_t result) {
    const ValueId v = results_[result];
    std::vector<Extent> list;
    for (int axis = 0; axis < body_.type(v).rank; ++axis) {
      const Extent e = body_.valid(v, axis);
      const ValueId known = e.is_constant() ? ValueId{} : in_caller(e.value);
      if (!e.is_constant() && !known) refuse(v, axis);
      list.push_back(e.is_constant() ? e : build_->extent_of(known));
    }
    return list;
  }

 private:
  struct Pair {
    ValueId caller, body;
  };

  // What stands in the body's function for a value of the caller.
  ValueId twin(ValueId v) {
    const Value& x = (*caller_)[v];
    if (x.kind == ValueKind::constant)
      return is_float(x.type.dtype) ? body_.constant(x.type.dtype, x.number) : body_.constant(x.type.dtype, x.integer);
    if (x.kind == ValueKind::symbol) return body_.symbol(x.integer);
    for (const Pair& p : pairs_)
      if (p.caller == v) return p.body;
    pairs_.push_back({v, body_.add_argument(body_.body(), x.type)});
    return pairs_.back().body;
  }
  ValueId tile(ValueId v) {
    const Type& type = caller_->type(v);
    const ValueId own = body_.add_argument(body_.body(), type);
    Extent extents[max_rank];
    for (int axis = 0; axis < type.rank; ++axis) {
      const Extent e = caller_->valid(v, axis);
      extents[axis] = e.is_constant() ? e : Extent{0, twin(e.value)};
    }
    body_.set_valid(own, {extents, type.rank});
    return own;
  }
  // The caller's value for a number of the body; none where it is no arithmetic on the arguments.
  ValueId in_caller(ValueId v) {
    const Value& x = body_[v];
    if (x.kind == ValueKind::constant)
      return is_float(x.type.dtype) ? caller_->constant(x.type.dtype, x.number) : caller_->constant(x.type.dtype, x.integer);
    if (x.kind == ValueKind::symbol) return caller_->symbol(x.integer);
    for (const Pair& p : pairs_)
      if (p.body == v) return p.caller;
    const OpId op = body_.definition(v);
    if (!op || body_.info(op).level != Level::scalar) return {};
    std::vector<ValueId> operands;
    for (int i = 0; i < body_.operand_count(op); ++i) {
      operands.push_back(in_caller(body_.operand(op, i)));
      if (!operands.back()) return {};
    }
    const List<Attr> attrs = body_.attrs(op);
    const ValueId made = operands.size() == 2 && attrs.empty() ? build_->scalar(body_.info(op), operands[0], operands[1])
                                                               : build_->value(body_.info(op), operands, attrs, body_.type(v));
    pairs_.push_back({made, v});
    return made;
  }
  [[noreturn]] void refuse(ValueId result, int axis) const {
    const OpId by = body_.definition(result);
    fail(by ? body_[by].location : tileop_.location,
         "tileop " + std::string(tileop_.name.c_str()) + ": the valid extents of the result depend on what the body reads or counts (axis " + std::to_string(axis) + ")",
         "give the extent as an Index parameter, or fillpad(...) the result");
  }

  const Function& tileop_;
  Function* caller_;
  Builder* build_;
  Function body_;
  std::vector<Pair> pairs_;
  std::vector<ValueId> results_;
};

/// Records one call, where `build` stands.
class TileopCall {
 public:
  TileopCall(Function& caller, Builder& build, std::shared_ptr<const Function> tileop, const Location& at)
      : f_(&caller), build_(&build), tileop_(static_cast<std::shared_ptr<const Function>&&>(tileop)), at_(at) {}

  /// What the call gives: tiles, or tensors where it is called with tensors.
  [[nodiscard]] Pool<ValueId> record(List<ValueId> arguments) {
    std::vector<ValueId> operands;
    bool tensors = false;
    for (std::size_t i = 0; i < arguments.size() && i < tileop_->parameters.size(); ++i) {
      const Type& wanted = tileop_->type(tileop_->parameters[i].value);
      const bool converted = wanted.is_tile() && f_->type(arguments[i]).is_tensor();
      tensors = tensors || converted;
      operands.push_back(converted ? build_->value(ops::to_tile, {arguments[i]}, {}, wanted) : arguments[i]);
    }
    DimBinding dims;
    if (const Verdict v = check_tileop_call(*tileop_, *f_, operands, dims); !v.lawful()) refuse(v, "call", at_);
    const std::vector<std::vector<Extent>> extents = result_extents(operands, dims);
    const OpId op = build_->control(ops::call, operands, returned(), 0, {int_attr(AttrKey::callee, number())});
    Pool<ValueId> results;
    for (int i = 0; i < f_->result_count(op); ++i) {
      f_->set_valid(f_->result(op, i), extents[static_cast<std::size_t>(i)]);
      results.push_back(tensors ? build_->value(ops::to_tensor, {f_->result(op, i)}) : f_->result(op, i));
    }
    return results;
  }

 private:
  [[nodiscard]] std::vector<std::vector<Extent>> result_extents(List<ValueId> operands, const DimBinding& dims) {
    std::vector<std::vector<Extent>> extents;
    try {
      ResultExtents results(*tileop_, *f_, *build_, operands, dims);
      for (std::size_t i = 0; i < returned().size(); ++i) extents.push_back(results.of(i));
    } catch (const UserError& e) {
      Diagnostic d = e.diagnostic();
      d.message.append(" (").append(tileop_->name).append(" is called at ").append(place_text(at_)).append(")");
      throw UserError(d);
    }
    return extents;
  }
  [[nodiscard]] std::vector<Type> returned() const {
    std::vector<Type> types;
    const OpId end = tileop_->terminator(tileop_->body());
    for (int i = 0; i < tileop_->operand_count(end); ++i) types.push_back(tileop_->type(tileop_->operand(end, i)));
    return types;
  }
  // Of the tile operation in the caller's list, which it is added to.
  [[nodiscard]] std::int64_t number() {
    std::size_t i = 0;
    while (i < f_->tileops.size() && f_->tileops[i] != tileop_) ++i;
    if (i == f_->tileops.size()) f_->tileops.push_back(tileop_);
    return static_cast<std::int64_t>(i);
  }

  Function* f_;
  Builder* build_;
  std::shared_ptr<const Function> tileop_;
  Location at_;
};

}  // namespace detail
}  // namespace tessera
