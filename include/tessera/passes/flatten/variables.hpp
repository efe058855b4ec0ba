// Control flow: what loops and branches carry is 2-D as well. A paged value is carried as as many values as it has pages.
#pragma once

#include "../../ops/simt.hpp"
#include "products.hpp"

namespace tessera::detail {

/// What is carried stands where the variable stands: a product that became one tile of all its pages has left Acc.
inline void check_place(const Flattener& l, OpId op, ValueId old, ValueId made) {
  const Type &from = l.in.type(old), &to = l.out.type(made);
  if (!from.is_tile() || from.space == to.space) return;
  l.refuse(op,
           "a batch of products that is reshaped leaves its place and cannot be carried (" + std::string(name(from.space)) +
               ", now in " + std::string(name(to.space)) + ")",
           "carry the batch, and reshape it behind the loop or branch; or move<Vec>(...) it first");
}

/// Rewrites one loop, branch or terminator.
class FlatControl {
 public:
  FlatControl(Flattener& l, OpId op) : l_(l), op_(op), fixed_(static_cast<std::size_t>(fixed_operands(l.in, op))) {}

  void run() {
    const auto fixed = static_cast<int>(fixed_);
    for (int i = 0; i < l_.in.operand_count(op_); ++i) {
      if (i == fixed) fixed_ = operands_.size();
      append(l_.in.operand(op_, i));
    }
    if (l_.in.operand_count(op_) == fixed) fixed_ = operands_.size();
    for (int k = 0; k < l_.in.block_count(op_); ++k)
      for (const ValueId v : l_.in[l_.in.block(op_, k)].arguments) find_extents(v);
    for (int i = 0; i < l_.in.result_count(op_); ++i) find_extents(l_.in.result(op_, i));
    const Location at = l_.in[op_].location;
    std::vector<Attr> attrs = l_.r.attrs(op_);
    for (Attr& a : attrs)
      if (a.key == AttrKey::arguments) a.integer = static_cast<std::int64_t>(fixed_);  // a page is an argument of its own
    made_ = l_.b.control(l_.in.info(op_), operands_, {}, l_.in.block_count(op_), attrs);
    for (int k = 0; k < l_.in.block_count(op_); ++k) {
      const BlockId outer = l_.b.block();
      block(l_.in.block(op_, k), l_.out.block(made_, k));
      l_.b.to_end_of(outer);
      l_.b.at(at);
    }
    if (l_.in.result_count(op_) > 0) results();
  }

 private:
  struct PageExtents {
    Extent valid[2];
  };

  void append(ValueId old) {
    const std::int64_t count = l_.plan.paged(old) ? page_count(l_.in.type(old)) : 0;
    if (count == 0) operands_.push_back(l_.r.map(old));
    for (std::int64_t i = 0; i < count; ++i) operands_.push_back(l_.page(old, i));
    check_place(l_, op_, old, operands_.back());
  }
  // What is carried has the extents of the old value, whatever its first page or branch has: their arithmetic stands in front
  // of the operation. Where a value has gaps, it is refused where it is made.
  void find_extents(ValueId old) {
    const Type& t = l_.in.type(old);
    if (!t.is_shaped() || l_.in.fully_valid(old)) return;
    std::vector<PageExtents>& list = extents_[old.index];
    if (!l_.plan.paged(old)) {
      if (gap_axis(l_.in, old) < 0) static_cast<void>(l_.merged_extents(old, op_, list.emplace_back().valid));
      return;
    }
    for (std::int64_t i = 0; i < page_count(t); ++i) {
      std::int64_t at[max_rank] = {};
      page_coordinates(t, i, at);
      static_cast<void>(page_extents(l_, old, at, list.emplace_back().valid));
    }
  }
  void block(BlockId from, BlockId to) {
    l_.b.to_end_of(to);
    std::size_t next = fixed_;
    const auto& arguments = l_.in[from].arguments;
    const auto counters = static_cast<std::size_t>(fixed_arguments(l_.in, op_));
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (i < counters) l_.r.set(arguments[i], l_.out.add_argument(to, l_.in.type(arguments[i])));
      else take(arguments[i], [&] { return l_.out.add_argument(to, l_.out.type(operands_[next++])); });
    }
    l_.r.block(from, to, FlattenVisitor{&l_});
  }
  // Results are of the types of the initial values of a loop, and of what the first block of a branch yields.
  void results() {
    std::vector<ValueId> models(operands_.begin() + static_cast<std::ptrdiff_t>(fixed_), operands_.end());
    if (l_.in.is(op_, ops::if_else)) models = l_.out.operands(l_.out.terminator(l_.out.block(made_)));
    std::vector<Type> types;
    for (const ValueId m : models) types.push_back(l_.out.type(m));
    l_.out.set_results(made_, types);
    int next = 0;
    for (int i = 0; i < l_.in.result_count(op_); ++i) take(l_.in.result(op_, i), [&] { return l_.out.result(made_, next++); });
  }
  // The new values that stand for an old one: next() for it, or for each of its pages.
  template <class Next>
  void take(ValueId old, Next&& next) {
    const auto known = extents_.find(old.index);
    const auto made = [&](std::size_t page) {
      const ValueId v = next();
      if (known == extents_.end()) return v;
      if (known->second.empty()) throw InternalError("flatten_tile_nd_to_2d: a value with gaps is carried");
      l_.out.set_valid(v, {known->second[page].valid, l_.out.type(v).rank});
      return v;
    };
    if (!l_.plan.paged(old)) return l_.r.set(old, made(0));
    Pages pages;
    for (std::int64_t i = 0; i < page_count(l_.in.type(old)); ++i) pages.push_back(made(static_cast<std::size_t>(i)));
    l_.pages[old.index] = std::move(pages);
    if (l_.plan.needs_whole(old)) l_.r.set(old, l_.whole(op_, old, Vec));
  }

  Flattener& l_;
  OpId op_, made_;
  std::size_t fixed_;
  std::vector<ValueId> operands_;
  std::map<std::uint32_t, std::vector<PageExtents>> extents_;  // by old value, where something is not valid
};

inline void flatten_control(Flattener& l, OpId op) {
  if (l.in.is(op, ops::call) || l.in.is(op, ops::launch)) return l.r.copy(op, FlattenVisitor{&l});
  FlatControl(l, op).run();
}

}  // namespace tessera::detail
