// infer_memory_space: every tile stands where the instructions that use it read it. Missing moves are put in front of the
// first use in a block; storage without content goes where what is written into it stands; stated places are never changed.
#pragma once

#include <map>
#include <unordered_map>
#include <utility>

#include "../ir/control_layout.hpp"
#include "../ir/rewrite.hpp"
#include "../ir/walk.hpp"
#include "../ops/all.hpp"
#include "pass.hpp"

namespace tessera {
namespace detail {

/// The spaces after each move on the shortest way into one of `to`; empty where there is none.
[[nodiscard]] inline std::vector<MemorySpace> move_chain(MemorySpace from, SpaceSet to, Arch arch) {
  int before[space_count];
  for (int& b : before) b = -1;
  before[from] = from;
  std::vector<MemorySpace> queue{from}, chain;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const MemorySpace here = queue[i];
    if (here != from && to.contains(here)) {
      for (MemorySpace s = here; s != from; s = static_cast<MemorySpace>(before[s])) chain.insert(chain.begin(), s);
      return chain;
    }
    for (int s = 0; s < space_count; ++s) {
      const auto next = static_cast<MemorySpace>(s);
      if (before[s] >= 0 || !can_move(here, next, arch)) continue;
      before[s] = here;
      queue.push_back(next);
    }
  }
  return chain;
}

class InferSpaces {
 public:
  InferSpaces(const Function& in, Arch arch)
      : in_(in), arch_(arch), r_(in, out_), b_(r_.build()), accumulator_(in.value_count()) {}

  Function run() {
    find_accumulators();
    r_.copy_parameters();
    r_.run(Visitor{this});
    return std::move(out_);
  }

 private:
  struct Visitor {
    InferSpaces* self;
    void operator()(OpId op) const { self->visit(op); }
  };
  struct Moved {
    BlockId block;
    MemorySpace space;
    ValueId value;
  };

  struct Residents {
    std::vector<std::pair<std::uint32_t, std::int64_t>> tiles;  // source, bytes
    std::size_t oldest = 0;
    std::int64_t bytes = 0;
  };

  // Storage that is handed from product to product, also through loops and branches: all of it stands in Acc.
  void find_accumulators() {
    std::vector<std::vector<ValueId>> variables;
    for (const OpId op : all_operations(in_)) {
      const OpInfo& info = in_.info(op);
      if (in_.result_count(op) == 1 && in_.type(in_.result(op)).is_tile()) {
        const bool product = info.result_spaces.bits != 0 && info.result_spaces.first() == Acc;
        if (product) accumulator_[in_.result(op).index] = true;
        if (product && info.in_place >= 0) accumulator_[in_.operand(op, info.in_place).index] = true;
        if (info.is_view) variables.push_back({in_.operand(op, 0), in_.result(op)});
      }
      for (int i = 0; i < in_.result_count(op) && info.level == Level::control; ++i)
        if (in_.type(in_.result(op, i)).is_tile()) variables.push_back(same_variable(in_, op, i));
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::vector<ValueId>& variable : variables) {
        std::size_t count = 0;
        for (const ValueId v : variable) count += accumulator_[v.index] ? 1u : 0u;
        if (count == 0 || count == variable.size()) continue;
        for (const ValueId v : variable) accumulator_[v.index] = true;
        changed = true;
      }
    }
  }

  void visit(OpId op) {
    const OpInfo& info = in_.info(op);
    if (info.level == Level::control) return control(op);
    Type requested = in_.result_count(op) == 1 ? in_.type(in_.result(op)) : Type{};
    if (in_.is(op, ops::create) && requested.is_tile() && requested.space == Vec && accumulator_[in_.result(op).index] && !is_placed(in_.result(op)))
      requested = with_space(requested, Acc);
    std::vector<ValueId> operands = r_.operands(op);
    for (int i = 0; i < in_.operand_count(op); ++i) {
      ValueId& v = operands[static_cast<std::size_t>(i)];
      if (out_.type(v).is_tile()) v = placed(op, i, v, operand_space(info, i));
    }
    if (const ValueId v = r_.emit_same(op, info, operands, r_.attrs(op), requested)) r_.set(in_.result(op), v);
  }

  // Whether the author places it, in a buffer that has its space.
  [[nodiscard]] bool is_placed(ValueId v) const {
    bool placed = false;
    in_.for_each_use(v, [&](OpId user, int) { placed = placed || in_.is(user, ops::place); });
    return placed;
  }
  // The value in one of the spaces; moved once per block.
  ValueId placed(OpId op, int operand, ValueId v, SpaceSet allowed) {
    const MemorySpace from = out_.type(v).space;
    if (allowed.contains(from)) return v;
    std::vector<Moved>& known = moved_[v.index];
    for (const Moved& m : known)
      if (m.block == b_.block() && allowed.contains(m.space)) return m.value;
    const std::vector<MemorySpace> chain = move_chain(from, allowed, arch_);
    if (chain.empty()) no_way(op, operand, v, allowed);
    const ValueId source = v;
    for (const MemorySpace s : chain) v = moved(op, v, s);
    remember(source, v);
    return v;
  }
  // Moved tiles are used again as long as all of them since then fit their space; older ones are moved anew.
  void remember(ValueId source, ValueId v) {
    const MemorySpace space = out_.type(v).space;
    Residents& r = residents_[{b_.block().index, space}];
    const std::int64_t bytes = stored(out_.type(v)).bytes();
    r.bytes += bytes;
    r.tiles.push_back({source.index, bytes});
    moved_[source.index].push_back({b_.block(), space, v});
    for (; r.bytes > capacity(space, arch_) && r.oldest + 1 < r.tiles.size(); ++r.oldest) {
      r.bytes -= r.tiles[r.oldest].second;
      std::erase_if(moved_[r.tiles[r.oldest].first],
                    [&](const Moved& m) { return m.block == b_.block() && m.space == space; });
    }
  }
  ValueId moved(OpId op, ValueId v, MemorySpace s) {
    const Type to = with_space(out_.type(v), s);
    const OperandInfo known[1] = {operand_info(out_, v, nullptr)};
    const Verdict verdict = check_target(ops::move, {known, 1, to}, to, arch_);
    if (!verdict.lawful()) throw UserError(diagnose(verdict, in_.info(op).name, in_[op].location));
    return b_.value(ops::move, {v}, {}, to);
  }
  [[noreturn]] void no_way(OpId op, int operand, ValueId v, SpaceSet allowed) const {
    const MemorySpace from = out_.type(v).space;
    const std::string details = " (operand " + std::to_string(operand) + ", " + std::string(name(from)) + " to " +
                                std::string(name(allowed.first())) + " on " + std::string(name(arch_)) + ")";
    const std::string hint = allowed.first() == Acc ? "begin with matmul, or with tile<Shape<M, N>, f32, Acc>()"
                             : from == Vec          ? "store the tile to a tensor and load it to Mat"
                                                    : "store the tile to a tensor and load it where it is needed";
    fail(in_[op].location,
         std::string(in_.info(op).name) + ": no instruction moves the operand to where it is read" + details, hint);
  }

  // --- loops and branches: a variable stands in one place ---
  void control(OpId op) {
    r_.copy(op, Visitor{this});
    if (in_.block_count(op) == 0) return;
    const OpId made = out_[b_.block()].last;
    const bool branch = in_.is(op, ops::if_else);
    for (int i = 0; i < in_.result_count(op); ++i) {
      const ValueId result = out_.result(made, i);
      if (!out_.type(result).is_tile()) continue;
      if (branch) place_result(op, made, i);
      for (int k = 0; k < out_.block_count(made); ++k)
        hand_on(op, out_.terminator(out_.block(made, k)), i, out_.type(result).space);
    }
  }
  // The result of a branch stands where both blocks leave it, or in the first of their places that the other can reach.
  void place_result(OpId op, OpId made, int i) {
    const auto space = [&](int k) { return out_.type(handed_on(out_, out_.block(made, k), i)).space; };
    const MemorySpace then = space(0), otherwise = space(1);
    const ValueId result = out_.result(made, i);
    if (then == otherwise) return;
    if (!move_chain(otherwise, spaces(then), arch_).empty()) return;
    if (move_chain(then, spaces(otherwise), arch_).empty())
      fail(in_[op].location,
           "if: the branches leave the tile in different places (" + std::string(name(then)) + " and " +
               std::string(name(otherwise)) + ")",
           "make both results in the same way, or move<Vec>(...) them");
    out_[result].type = with_space(out_.type(result), otherwise);
  }
  void hand_on(OpId op, OpId end, int i, MemorySpace space) {
    const int operand = fixed_operands(out_, end) + i;
    const ValueId v = out_.operand(end, operand);
    if (out_.type(v).space == space) return;
    const BlockId outer = b_.block();
    b_.to_before(end);
    b_.at(out_[end].location);
    const std::vector<MemorySpace> chain = move_chain(out_.type(v).space, spaces(space), arch_);
    if (chain.empty()) no_way(op, operand, v, spaces(space));
    ValueId placed = v;
    for (const MemorySpace s : chain) placed = moved(op, placed, s);
    out_.set_operand(end, operand, placed);
    b_.to_end_of(outer);
  }

  const Function& in_;
  Arch arch_;
  Function out_;
  Rewriter r_;
  Builder& b_;
  std::vector<bool> accumulator_;  // by old value
  std::unordered_map<std::uint32_t, std::vector<Moved>> moved_;  // by new value
  std::map<std::pair<std::uint32_t, MemorySpace>, Residents> residents_;  // by block and space
};

inline Function run_infer_memory_space(const Function& f, const PassContext& context) {
  return InferSpaces(f, context.arch).run();
}

}  // namespace detail

/// Every tile in a space that its readers accept.
inline constexpr Pass infer_memory_space = {.name = "infer_memory_space",
                                            .required = {Property::tile_ops, Property::tiles_2d},
                                            .produced = {Property::spaces_inferred},
                                            .invalidated = {Property::buffers_assigned, Property::addresses_planned},
                                            .run = detail::run_infer_memory_space};

}  // namespace tessera
