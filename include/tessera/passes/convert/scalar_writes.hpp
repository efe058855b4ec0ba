// Elements written one by one, where a tile does it in bulk: a loop that fills a run with a constant becomes one store, and
// single elements of a tensor that was filled just before are set in the tile, which is stored behind the last of them.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "../../ir/rewrite.hpp"
#include "../../ir/walk.hpp"
#include "../../ops/all.hpp"

namespace tessera::convert {

[[nodiscard]] inline bool is_tensor_parameter(const Function& f, ValueId v) {
  return f[v].kind == ValueKind::argument && f[v].owner == f.body().index && f.type(v).is_tensor();
}

class ScalarWrites {
 public:
  ScalarWrites(const Function& in, Arch arch) : in_(in), arch_(arch) {
    for (const OpId op : all_operations(in)) {
      if (const std::optional<Run> run = constant_run(op)) runs_.emplace(op.index, *run);
      if (is_fill(op)) fills_.emplace(in.operand(op, 1).index, op);
    }
  }
  [[nodiscard]] bool any() const { return !runs_.empty() || !fills_.empty(); }

  void rewrite(Function& out) {
    Rewriter r(in_, out);
    r.copy_parameters();
    const auto visit = [&](auto&& self, OpId op) -> void {
      if (const auto run = runs_.find(op.index); run != runs_.end()) return store_run(r, op, run->second);
      if (in_.is(op, ops::store) && fill_of(in_.operand(op, 1)) == op) return;
      if (in_.is(op, ops::write) && fill_of(in_.operand(op, 0))) return write_into_fill(r, op);
      if (in_.is(op, ops::return_op)) store_fills(r);
      r.copy(op, [&](OpId o) { self(self, o); });
    };
    r.run([&](OpId op) { visit(visit, op); });
  }

 private:
  /// A loop that writes constants to elements start .. start + count of an axis.
  struct Run {
    int axis = 0;
    std::int64_t count = 0;
    ValueId start;  ///< added to the counter; none: 0
    std::vector<OpId> writes;
    std::unordered_set<std::uint32_t> moving;  ///< values that differ from round to round
  };

  // --- a fill and its corrections ---
  [[nodiscard]] OpId fill_of(ValueId parameter) const {
    const auto known = fills_.find(parameter.index);
    return known != fills_.end() ? known->second : OpId{};
  }
  // full, at once stored over a whole parameter that is then written by single elements at the same level, and not read.
  [[nodiscard]] bool is_fill(OpId op) const {
    if (!in_.is(op, ops::store) || in_[op].parent != in_.body() || in_.attr(op, AttrKey::atomic_add) != 0) return false;
    const ValueId value = in_.operand(op, 0), target = in_.operand(op, 1);
    const OpId made = in_.definition(value);
    if (!made || !in_.is(made, ops::full) || in_[op].previous != made || in_.use_count(value) != 1) return false;
    if (!is_tensor_parameter(in_, target) || in_.type(value) != in_.type(target)) return false;
    for (int i = 2; i < in_.operand_count(op); ++i)
      if (!in_.is_integer_constant(in_.operand(op, i), 0)) return false;
    int uses = 0, returned = 0, writes = 0;
    in_.for_each_use(target, [&](OpId user, int) {
      ++uses;
      returned += in_.is(user, ops::return_op) ? 1 : 0;
    });
    for (OpId o = in_.next(op); o; o = in_.next(o))
      if (in_.is(o, ops::write) && in_.operand(o, 0) == target) ++writes;
    return writes > 0 && uses == 1 + writes + returned;
  }
  void write_into_fill(Rewriter& r, OpId op) {
    std::vector<ValueId> operands = r.operands(op);
    operands[0] = r.map(in_.operand(fill_of(in_.operand(op, 0)), 0));
    r.build().emit(ops::write, operands);
  }
  void store_fills(Rewriter& r) {
    for (const OpId op : operations(in_, in_.body())) {
      if (!in_.is(op, ops::store) || fill_of(in_.operand(op, 1)) != op) continue;
      r.build().at(in_[op].location);
      r.build().emit(ops::store, r.operands(op));
    }
    r.build().at(in_[in_.terminator(in_.body())].location);
  }

  // --- a run of constants ---
  [[nodiscard]] std::optional<Run> constant_run(OpId op) const {
    if (!in_.is(op, ops::for_loop) || in_.result_count(op) > 0) return {};
    if (!in_.is_integer_constant(in_.operand(op, 0), 0) || !in_.is_integer_constant(in_.operand(op, 2), 1)) return {};
    const ValueId stop = in_.operand(op, 1);
    if (!in_.is_constant(stop) || in_[stop].integer <= 0) return {};
    Run run;
    run.count = in_[stop].integer;
    const BlockId body = in_.block(op);
    run.moving.insert(in_[body].arguments[0].index);
    for (const OpId o : operations(in_, body)) {
      if (in_.is(o, ops::write)) run.writes.push_back(o);
      else if (!in_.is(o, ops::yield) && !only_indexes(o, run)) return {};
    }
    if (run.writes.empty() || !find_axis(run, in_[body].arguments[0])) return {};
    for (const OpId o : run.writes)
      if (!fits(run, o)) return {};
    return run;
  }
  // Arithmetic for the index of a write.
  [[nodiscard]] bool only_indexes(OpId op, Run& run) const {
    if (in_.info(op).level != Level::scalar || in_.result_count(op) != 1) return false;
    for (const ValueId v : in_.operands(op))
      if (run.moving.contains(v.index)) run.moving.insert(in_.result(op).index);
    return true;
  }
  // The one index that counts: the counter, or a sum of it and what is the same in every round.
  [[nodiscard]] bool find_axis(Run& run, ValueId counter) const {
    const OpId write = run.writes.front();
    int axes = 0;
    for (int i = 2; i < in_.operand_count(write); ++i) {
      const ValueId index = in_.operand(write, i);
      if (!run.moving.contains(index.index)) continue;
      ++axes;
      run.axis = i - 2;
      if (index == counter) continue;
      const OpId sum = in_.definition(index);
      if (!in_.is(sum, ops::scalar_add)) return false;
      const int added = in_.operand(sum, 0) == counter ? 1 : 0;
      run.start = in_.operand(sum, added);
      if (in_.operand(sum, 1 - added) != counter || run.moving.contains(run.start.index)) return false;
    }
    return axes == 1;
  }
  // All writes have the indices of the first one, and the run is contiguous and whole blocks of 32 bytes.
  [[nodiscard]] bool fits(const Run& run, OpId write) const {
    const OpId first = run.writes.front();
    const ValueId target = in_.operand(write, 0), number = in_.operand(write, 1);
    const Type& t = in_.type(target);
    if (!is_tensor_parameter(in_, target) || t != in_.type(in_.operand(first, 0))) return false;
    if (!in_.is_constant(number) || !accepts_on(ops::full, t.dtype, arch_)) return false;
    if (run.count * info(t.dtype).bits % 256 != 0) return false;
    for (int i = 0; i < t.rank; ++i) {
      if (in_.operand(write, 2 + i) != in_.operand(first, 2 + i)) return false;
      if (i > run.axis && (t.dims[i] != 1 || !in_.is_integer_constant(in_.operand(write, 2 + i), 0))) return false;
    }
    return true;
  }
  void store_run(Rewriter& r, OpId loop, const Run& run) {
    for (const OpId op : operations(in_, in_.block(loop))) {
      r.build().at(in_[op].location);
      if (in_.info(op).level == Level::scalar && !run.moving.contains(in_.result(op).index))
        r.copy_plain(op, in_.type(in_.result(op)));
    }
    for (const OpId write : run.writes) {
      r.build().at(in_[write].location);
      const Type& t = in_.type(in_.operand(write, 0));
      const std::int64_t row[] = {1, run.count};
      std::int64_t box[max_rank];
      for (int i = 0; i < t.rank; ++i) box[i] = i == run.axis ? run.count : 1;
      ValueId run_of = r.build().value(ops::full, {r.map(in_.operand(write, 1))}, {}, with_shape(t, row, 2));
      const Type wanted = with_shape(t, box, t.rank);
      if (!wanted.same_shape(with_shape(t, row, 2))) run_of = r.build().value(ops::reshape, {run_of}, {}, wanted);
      std::vector<ValueId> operands = {run_of, r.map(in_.operand(write, 0))};
      for (int i = 0; i < t.rank; ++i) {
        const bool moves = i == run.axis;
        operands.push_back(!moves ? r.map(in_.operand(write, 2 + i)) : run.start ? r.map(run.start) : r.build().index(0));
      }
      r.build().emit(ops::store, operands);
    }
  }

  const Function& in_;
  Arch arch_;
  std::unordered_map<std::uint32_t, Run> runs_;   // by loop
  std::unordered_map<std::uint32_t, OpId> fills_;  // by parameter: the store
};

}  // namespace tessera::convert
