// Control flow: what loops and branches carry is 2-D as well. A paged value is carried as as many values as it has pages.
#pragma once

#include "flattener.hpp"

namespace tessera::detail {

[[nodiscard]] inline bool carries_pages(const Flattener& l, OpId op) {
  for (int i = 0; i < l.in.operand_count(op); ++i)
    if (l.plan.paged(l.in.operand(op, i))) return true;
  for (int i = 0; i < l.in.result_count(op); ++i)
    if (l.plan.paged(l.in.result(op, i))) return true;
  return false;
}

/// What is carried stands where the variable stands: a product that became one tile of all its pages has left Acc.
inline void check_place(const Flattener& l, OpId op, ValueId old, ValueId made) {
  const Type &from = l.in.type(old), &to = l.out.type(made);
  if (!from.is_tile() || from.space == to.space) return;
  l.refuse(op,
           "a batch of products that is reshaped leaves its place and cannot be carried (" + std::string(name(from.space)) +
               ", now in " + std::string(name(to.space)) + ")",
           "carry the batch, and reshape it behind the loop or branch; or move<Vec>(...) it first");
}

/// Rewrites one control operation that carries pages.
class PagedControl {
 public:
  PagedControl(Flattener& l, OpId op) : l_(l), op_(op), fixed_(static_cast<std::size_t>(fixed_operands(l.in, op))) {}

  void run() {
    for (int i = 0; i < l_.in.operand_count(op_); ++i) append(l_.in.operand(op_, i));
    const Location at = l_.in[op_].location;
    made_ = l_.b.control(l_.in.info(op_), operands_, {}, l_.in.block_count(op_), l_.r.attrs(op_));
    for (int k = 0; k < l_.in.block_count(op_); ++k) {
      const BlockId outer = l_.b.block();
      block(l_.in.block(op_, k), l_.out.block(made_, k));
      l_.b.to_end_of(outer);
      l_.b.at(at);
    }
    if (l_.in.result_count(op_) > 0) results();
  }

 private:
  void append(ValueId old) {
    if (!l_.plan.paged(old)) {
      operands_.push_back(l_.r.map(old));
      return check_place(l_, op_, old, operands_.back());
    }
    const Pages pages = l_.pages[old.index].empty() ? split(old) : l_.pages[old.index];
    check_place(l_, op_, old, pages.front());
    operands_.insert(operands_.end(), pages.begin(), pages.end());
  }
  Pages split(ValueId old) {
    if (!l_.r.has(old)) throw InternalError("flatten_tile_nd_to_2d: a batched product has no pages where it is carried on");
    Pages pages;
    const Type& t = l_.in.type(old);
    for (std::int64_t i = 0; i < page_count(t); ++i) pages.push_back(l_.slice_page(l_.r.map(old), page_type(t), i));
    return pages;
  }
  void block(BlockId from, BlockId to) {
    l_.b.to_end_of(to);
    std::size_t next = fixed_;
    const auto& arguments = l_.in[from].arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const bool counter = l_.in.is(op_, ops::for_loop) && i == 0;
      if (counter) l_.r.set(arguments[i], l_.out.add_argument(to, l_.in.type(arguments[i])));
      else take(arguments[i], [&] {
          const ValueId model = operands_[next++];
          return like(l_.out.add_argument(to, l_.out.type(model)), model);
        });
    }
    l_.r.block(from, to, FlattenVisitor{&l_});
  }
  // Results are like the initial values of a loop, and like what the first block of a branch yields.
  void results() {
    std::vector<ValueId> models(operands_.begin() + static_cast<std::ptrdiff_t>(fixed_), operands_.end());
    if (l_.in.is(op_, ops::if_else)) models = l_.out.operands(l_.out.terminator(l_.out.block(made_)));
    std::vector<Type> types;
    for (const ValueId m : models) types.push_back(l_.out.type(m));
    l_.out.set_results(made_, types);
    std::size_t next = 0;
    for (int i = 0; i < l_.in.result_count(op_); ++i)
      take(l_.in.result(op_, i), [&] {
        const ValueId v = like(l_.out.result(made_, static_cast<int>(next)), models[next]);
        ++next;
        return v;
      });
  }
  ValueId like(ValueId v, ValueId model) {
    if (l_.out.type(model).is_shaped()) l_.out.share_valid(v, model);
    return v;
  }
  // The new values that stand for an old one: next() for it, or for each of its pages.
  template <class Next>
  void take(ValueId old, Next&& next) {
    if (!l_.plan.paged(old)) return l_.r.set(old, next());
    Pages pages;
    for (std::int64_t i = 0; i < page_count(l_.in.type(old)); ++i) pages.push_back(next());
    l_.pages[old.index] = std::move(pages);
    if (l_.plan.needs_whole(old)) l_.r.set(old, l_.whole(op_, old, Vec));
  }

  Flattener& l_;
  OpId op_, made_;
  std::size_t fixed_;
  std::vector<ValueId> operands_;
};

inline void flatten_control(Flattener& l, OpId op) {
  if (carries_pages(l, op)) return PagedControl(l, op).run();
  for (int i = 0; i < l.in.operand_count(op); ++i) check_place(l, op, l.in.operand(op, i), l.r.map(l.in.operand(op, i)));
  l.r.copy(op, FlattenVisitor{&l});
}

}  // namespace tessera::detail
