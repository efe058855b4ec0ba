// Loops unrolled by copies of their bodies, each with values, and so with buffers, of its own. Turns that do not fill a group
// follow behind the loop: one of them in place, or in a branch where it is not known; several in a loop as it was written.
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "../../ir/rewrite.hpp"
#include "candidates.hpp"

namespace tessera::detail {

class Unroller {
 public:
  /// `loops`: in the order of the program; none stands in another one.
  Unroller(const Function& in, const std::vector<PipelinedLoop>& loops) : in_(in), r_(in, out_), b_(r_.build()), loops_(loops) {}

  Function run() {
    r_.copy_parameters();
    r_.run(Visitor{this});
    return std::move(out_);
  }

 private:
  struct Visitor {
    Unroller* self;
    void operator()(OpId op) const { self->visit(op); }
  };
  using Values = std::vector<ValueId>;

  void visit(OpId op) {
    if (next_ < loops_.size() && loops_[next_].loop == op) return unroll(loops_[next_++]);
    const OpInfo& info = in_.info(op);
    if (info.level == Level::control) return r_.copy_control(op, r_.operands(op), Visitor{this});
    const Values operands = r_.operands(op);
    if (info.level == Level::scalar && operands.size() == 2 && in_.attrs(op).empty())
      return r_.set(in_.result(op), b_.scalar(info, operands[0], operands[1]));
    std::vector<Attr> attrs = r_.attrs(op);
    if (in_.is(op, ops::place) && turn_ >= 0 && in_.find_attr(op, AttrKey::slot) == nullptr)
      attrs.push_back(int_attr(AttrKey::slot, turn_ % in_.storage[static_cast<std::size_t>(in_.attr(op, AttrKey::buffer))].slots));
    const ValueId v = r_.emit_same(op, info, operands, attrs, in_.result_count(op) == 1 ? in_.type(in_.result(op)) : Type{});
    if (v) r_.set(in_.result(op), v);
  }

  void unroll(const PipelinedLoop& l) {
    const OpId op = l.loop;
    const std::int64_t trips = known_trips(in_, op);
    const Values operands = r_.operands(op);
    const Values initial(operands.begin() + 3, operands.end());
    const Values last = trips == unknown_trips ? counted_at_run_time(l, operands[0], operands[1], initial)
                                               : counted(l, trips, operands[0], operands[1], initial);
    for (int i = 0; i < in_.result_count(op); ++i) r_.set(in_.result(op, i), last[static_cast<std::size_t>(i)]);
  }
  Values counted(const PipelinedLoop& l, std::int64_t trips, ValueId start, ValueId stop, const Values& initial) {
    const std::int64_t left = trips % l.turns;
    if (left == 0) return loop(l.loop, start, stop, l.turns, initial, group_attrs(l), false);
    const ValueId rest = b_.add(start, steps(l.loop, trips - left));
    const Values values = loop(l.loop, start, rest, l.turns, initial, group_attrs(l), false);
    return left == 1 ? turn(l.loop, rest, values) : loop(l.loop, rest, stop, 1, values, single_attrs(), false);
  }
  // The loop turns while a whole group is left, and carries the counter behind it.
  Values counted_at_run_time(const PipelinedLoop& l, ValueId start, ValueId stop, const Values& initial) {
    const bool small = has_small_bounds(in_, l.loop);
    const ValueId end = b_.sub(small ? stop : within_reach(stop, l), steps(l.loop, l.turns - 1));
    Values values = loop(l.loop, start, end, l.turns, initial, group_attrs(l), true);
    const ValueId rest = values.back();
    values.pop_back();
    return small && l.turns == 2 ? branch(l.loop, rest, stop, values) : loop(l.loop, rest, stop, 1, values, single_attrs(), false);
  }
  // A bound that is perhaps so near to the end of all numbers that a step behind it overflows, or some steps before it do.
  ValueId within_reach(ValueId stop, const PipelinedLoop& l) {
    using limits = std::numeric_limits<std::int64_t>;
    const ValueId last = b_.sub(b_.index(limits::max()), b_.sub(steps(l.loop, 1), b_.index(1)));
    return b_.max(b_.min(stop, last), b_.add(b_.index(limits::min()), steps(l.loop, l.turns - 1)));
  }

  // That many steps of a loop.
  ValueId steps(OpId loop, std::int64_t count) {
    const ValueId step = in_.operand(loop, 2);
    if (in_.is_constant(step)) return b_.index(count * in_[step].integer);
    return count == 1 ? r_.map(step) : b_.mul(r_.map(step), b_.index(count));
  }
  [[nodiscard]] std::vector<Attr> group_attrs(const PipelinedLoop& l) {
    std::vector<Attr> attrs = r_.attrs(l.loop);
    attrs.push_back(int_attr(AttrKey::unrolled, l.turns));
    if (l.factors_shared) attrs.push_back(int_attr(AttrKey::factors_shared, 1));
    return attrs;
  }
  // What is left is done one by one.
  [[nodiscard]] static std::vector<Attr> single_attrs() { return {int_attr(AttrKey::pipelined, 1)}; }

  // `turns` copies of the body in one; gives the carried values and, with `counts`, the counter behind the last turn.
  Values loop(OpId op, ValueId start, ValueId stop, std::int64_t turns, Values initial, const std::vector<Attr>& attrs, bool counts) {
    if (counts) initial.push_back(start);
    Values ahead;  // of the counter: by 1, 2, ... turns
    for (std::int64_t k = 1; k <= turns; ++k) ahead.push_back(steps(op, k));
    Values operands{start, stop, ahead.back()};
    operands.insert(operands.end(), initial.begin(), initial.end());
    const OpId made = b_.control(ops::for_loop, operands, {}, 1, attrs);
    const BlockId body = out_.block(made), outer = b_.block();
    const ValueId counter = out_.add_argument(body, index_scalar);
    Values values;
    for (const ValueId v : initial) {
      values.push_back(out_.add_argument(body, out_.type(v)));
      if (out_.type(v).is_shaped()) out_.share_valid(values.back(), v);
    }
    if (counts) values.pop_back();
    b_.to_end_of(body);
    for (std::int64_t k = 0; k < turns; ++k) values = turn(op, k == 0 ? counter : b_.add(counter, ahead[static_cast<std::size_t>(k - 1)]), values, k);
    if (counts) values.push_back(b_.add(counter, ahead.back()));
    b_.control(ops::yield, values, {}, 0);
    b_.to_end_of(outer);
    b_.at(in_[op].location);
    return results(op, made, initial);
  }
  // The body once more, where a turn is left.
  Values branch(OpId op, ValueId counter, ValueId stop, const Values& before) {
    const ValueId holds = b_.value(ops::scalar_compare, {counter, stop}, {int_attr(AttrKey::compare, static_cast<int>(Compare::lt))});
    const OpId made = b_.control(ops::if_else, {holds}, {}, 2);
    const BlockId outer = b_.block();
    b_.to_end_of(out_.block(made, 0));
    const Values behind = turn(op, counter, before);
    b_.control(ops::yield, behind, {}, 0);
    b_.to_end_of(out_.block(made, 1));
    b_.control(ops::yield, before, {}, 0);
    b_.to_end_of(outer);
    b_.at(in_[op].location);
    return results(op, made, before);
  }
  // The results of a loop or branch that stands for `op`; one more than that has is the counter.
  Values results(OpId op, OpId made, const Values& like) {
    std::vector<Type> types;
    for (const ValueId v : like) types.push_back(out_.type(v));
    out_.set_results(made, types);
    Values values;
    for (std::size_t i = 0; i < like.size(); ++i) {
      values.push_back(out_.result(made, static_cast<int>(i)));
      if (types[i].is_shaped()) r_.copy_valid(in_.result(op, static_cast<int>(i)), values.back());
    }
    return values;
  }
  // One copy of the body, turn `k` of its group; gives what it hands on.
  Values turn(OpId op, ValueId counter, const Values& carried, std::int64_t k = 0) {
    turn_ = k;
    const BlockId body = in_.block(op);
    const auto& arguments = in_[body].arguments;
    r_.set(arguments[0], counter);
    for (std::size_t i = 0; i < carried.size(); ++i) r_.set(arguments[i + 1], carried[i]);
    const OpId end = in_.terminator(body);
    for (OpId o = in_[body].first; o != end; o = in_.next(o)) {
      b_.at(in_[o].location);
      visit(o);
    }
    b_.at(in_[end].location);
    turn_ = -1;
    return r_.operands(end);
  }

  const Function& in_;
  Function out_;
  Rewriter r_;
  Builder& b_;
  const std::vector<PipelinedLoop>& loops_;
  std::size_t next_ = 0;  // of the loops
  std::int64_t turn_ = -1;  // that is copied, in its group
};

}  // namespace tessera::detail
