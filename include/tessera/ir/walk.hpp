// Operations as range-v3 ranges: those of one block, or all of a function, in program order.
#pragma once

#include <range/v3/view/facade.hpp>

#include "function.hpp"

namespace tessera {

/// The operations of a block. Read the next one before the current one is erased.
class BlockOperations : public ranges::view_facade<BlockOperations> {
 public:
  BlockOperations() = default;
  BlockOperations(const Function& f, BlockId b) : f_(&f), first_(f[b].first) {}

 private:
  friend ranges::range_access;
  struct cursor {
    const Function* f = nullptr;
    OpId op;
    [[nodiscard]] OpId read() const { return op; }
    void next() { op = f->next(op); }
    [[nodiscard]] bool equal(const cursor& o) const { return op == o.op; }
    [[nodiscard]] bool equal(ranges::default_sentinel_t) const { return !op; }
  };
  [[nodiscard]] cursor begin_cursor() const { return {f_, first_}; }
  [[nodiscard]] ranges::default_sentinel_t end_cursor() const { return {}; }

  const Function* f_ = nullptr;
  OpId first_;
};

/// The operations of a function: an operation stands before those of its blocks.
class AllOperations : public ranges::view_facade<AllOperations> {
 public:
  AllOperations() = default;
  explicit AllOperations(const Function& f) : f_(&f) {}

 private:
  friend ranges::range_access;
  struct cursor {
    const Function* f = nullptr;
    OpId op;
    [[nodiscard]] OpId read() const { return op; }
    void next() { op = following(*f, op); }
    [[nodiscard]] bool equal(const cursor& o) const { return op == o.op; }
    [[nodiscard]] bool equal(ranges::default_sentinel_t) const { return !op; }
  };
  [[nodiscard]] cursor begin_cursor() const { return {f_, f_ != nullptr ? (*f_)[f_->body()].first : OpId{}}; }
  [[nodiscard]] ranges::default_sentinel_t end_cursor() const { return {}; }

  // The first operation in one of the later blocks of the operation that holds `b`.
  static OpId in_later_block(const Function& f, BlockId b) {
    const OpId owner = f[b].owner;
    for (int i = 0; i < f.block_count(owner); ++i)
      if (f.block(owner, i).index > b.index && f[f.block(owner, i)].first) return f[f.block(owner, i)].first;
    return {};
  }
  static OpId following(const Function& f, OpId op) {
    for (int i = 0; i < f.block_count(op); ++i)
      if (f[f.block(op, i)].first) return f[f.block(op, i)].first;
    for (;;) {
      if (f.next(op)) return f.next(op);
      const BlockId block = f[op].parent;
      if (!f[block].owner) return {};
      if (const OpId later = in_later_block(f, block)) return later;
      op = f[block].owner;
    }
  }

  const Function* f_ = nullptr;
};

/// The outermost loop around what stands in a block; none where no loop holds it. In the body of a tile operation those of the body.
[[nodiscard]] inline OpId outermost_loop(const Function& f, BlockId b) {
  OpId loop{};
  for (OpId o = f[b].owner; o && !f.is(o, ops::tileop_body); o = f[f[o].parent].owner)
    if (f.is(o, ops::for_loop) || f.is(o, ops::while_loop)) loop = o;
  return loop;
}
/// The body of a tile operation in which an operation stands; none where that is no part of one.
[[nodiscard]] inline OpId body_around(const Function& f, OpId op) {
  OpId o = f[f[op].parent].owner;
  while (o && !f.is(o, ops::tileop_body)) o = f[f[o].parent].owner;
  return o;
}

[[nodiscard]] inline BlockOperations operations(const Function& f, BlockId b) { return {f, b}; }
[[nodiscard]] inline AllOperations all_operations(const Function& f) { return AllOperations(f); }

}  // namespace tessera
