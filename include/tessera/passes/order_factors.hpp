// order_factors: what brings the factors of a product to the cube unit is put in the order in which it is done soonest. A factor
// is loaded by one pipe and moved by the next, and Johnson's rule for two machines in a row says which one goes first.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "../ir/instruction_cost.hpp"
#include "../ir/rewrite.hpp"
#include "../ir/walk.hpp"
#include "pass.hpp"

namespace tessera {
namespace detail {

class OrderFactors {
 public:
  explicit OrderFactors(const Function& in) : in_(in), instead_(in.operation_count()), position_(in.operation_count()), r_(in, out_) {}

  Function run() {
    for (const OpId op : AllOperations(in_)) {
      instead_[op.index] = op;
      position_[op.index] = count_++;
    }
    for (const OpId op : AllOperations(in_))
      if (in_.info(op).first_factor >= 0) order(op);
    r_.copy_parameters();
    r_.run(Visitor{this});
    return std::move(out_);
  }

 private:
  struct Visitor {
    OrderFactors* self;
    void operator()(OpId op) const {
      const OpId other = self->instead_[op.index];
      self->r_.build().at(self->in_[other].location);
      self->copy(other, *this);
    }
  };
  /// What only one operand of a product needs, in order, and how long it keeps the pipe of loads and that of moves.
  struct Chain {
    std::vector<OpId> ops;  // a load can only be the first one
    std::int64_t loads = 0, moves = 0;
    [[nodiscard]] auto behind_load() const { return ops.begin() + (loads > 0 ? 1 : 0); }
  };

  void copy(OpId op, const Visitor& visit) {
    const OpInfo& info = in_.info(op);
    if (info.level == Level::control) return r_.copy(op, visit);
    const Type requested = in_.result_count(op) == 1 ? in_.type(in_.result(op)) : Type{};
    if (const ValueId v = r_.emit_same(op, info, r_.operands(op), r_.attrs(op), requested)) r_.set(in_.result(op), v);
  }

  void order(OpId product) {
    std::vector<Chain> chains;
    for (int i = 0; i < in_.operand_count(product); ++i)
      if (Chain c = chain_of(product, i); !c.ops.empty()) chains.push_back(std::move(c));
    if (chains.size() < 2) return;
    std::vector<OpId> now, then;
    if (!in_a_row(product, chains, now)) return;
    std::stable_sort(chains.begin(), chains.end(),
                     [](const Chain& a, const Chain& b) { return std::min(a.loads, b.moves) < std::min(b.loads, a.moves); });
    const bool together = loaded_together(now, chains);
    for (const Chain& c : chains) then.insert(then.end(), c.ops.begin(), together ? c.behind_load() : c.ops.end());
    for (const Chain& c : chains)
      if (together) then.insert(then.end(), c.behind_load(), c.ops.end());
    // What stands between them and is in no chain needs none of them: it goes first.
    std::stable_partition(now.begin(), now.end(), [&](OpId op) { return std::find(then.begin(), then.end(), op) == then.end(); });
    std::copy(then.begin(), then.end(), now.end() - static_cast<std::ptrdiff_t>(then.size()));
    OpId at = first_of(chains);
    for (const OpId op : now) {
      instead_[at.index] = op;
      at = in_.next(at);
    }
  }

  Chain chain_of(OpId product, int operand) const {
    Chain c;
    ValueId v = in_.operand(product, operand);
    for (OpId user = product; in_.type(v).is_tile() && in_.use_count(v) == 1; v = in_.operand(user, 0)) {
      const OpId op = in_.definition(v);
      const bool load = op && in_.is(op, ops::load);
      if (!op || in_[op].parent != in_[product].parent || !(load || in_.is(op, ops::move) || in_.info(op).is_view)) break;
      if (!in_.info(op).is_view) (load ? c.loads : c.moves) += instruction_cost(in_, op).cycles();
      c.ops.insert(c.ops.begin(), op);
      if (load) break;
      user = op;
    }
    return c;
  }
  OpId first_of(const std::vector<Chain>& chains) const {
    OpId first = chains[0].ops[0];
    for (const Chain& c : chains)
      if (position_[c.ops[0].index] < position_[first.index]) first = c.ops[0];
    return first;
  }
  // The operations from the first one of the chains to the last one. No other instruction may stand between them: it may write
  // what is loaded, or has been put there by an author who knows why.
  bool in_a_row(OpId product, const std::vector<Chain>& chains, std::vector<OpId>& ops) const {
    std::size_t left = 0;
    for (const Chain& c : chains) left += c.ops.size();
    for (OpId op = first_of(chains); op != product && left > 0; op = in_.next(op)) {
      const bool chained = std::any_of(chains.begin(), chains.end(), [&](const Chain& c) { return std::find(c.ops.begin(), c.ops.end(), op) != c.ops.end(); });
      const OpInfo& info = in_.info(op);
      if (!chained && info.level != Level::scalar && (info.level == Level::control || info.pipe != Pipe::none)) return false;
      left -= chained ? 1 : 0;
      ops.push_back(op);
    }
    return left == 0;
  }

  // Whether all loads stand in front of all moves. Where they do not, what is loaded for one factor may need the room of another.
  static bool loaded_together(const std::vector<OpId>& now, const std::vector<Chain>& chains) {
    std::ptrdiff_t last_load = -1, first_move = static_cast<std::ptrdiff_t>(now.size());
    const auto position = [&](OpId op) { return std::find(now.begin(), now.end(), op) - now.begin(); };
    for (const Chain& c : chains) {
      if (c.loads > 0) last_load = std::max(last_load, position(c.ops.front()));
      if (c.behind_load() != c.ops.end()) first_move = std::min(first_move, position(*c.behind_load()));
    }
    return last_load < first_move;
  }

  const Function& in_;
  Function out_;
  std::vector<OpId> instead_;            // by operation: what stands in its place
  std::vector<std::uint32_t> position_;  // by operation, in the order of the program
  std::uint32_t count_ = 0;
  Rewriter r_;
};

inline bool has_products(const Function& f) {
  for (std::uint32_t i = 0; i < f.operation_count(); ++i)
    if (f.info({i}).first_factor >= 0) return true;
  return false;
}
inline Function run_order_factors(const Function& f, const PassContext&) { return OrderFactors(f).run(); }

}  // namespace detail

/// The factors of each product in the order in which it can start soonest.
inline constexpr Pass order_factors = {.name = "order_factors",
                                       .required = {Property::tiles_2d, Property::spaces_inferred},
                                       .invalidated = {Property::buffers_assigned, Property::addresses_planned},
                                       .run = detail::run_order_factors,
                                       .applies = detail::has_products};

}  // namespace tessera
