// The pipe trace of a function with addresses, made without running it: a walk in the order of the program that knows integers
// as far as they follow from constants, loop counters and what the caller states, and says what it had to assume.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../ir/control_layout.hpp"
#include "../ir/diagnostic.hpp"
#include "../ir/signature.hpp"
#include "../ir/tensor_window.hpp"
#include "../ir/trace_writer.hpp"
#include "../ir/walk.hpp"
#include "known_scalars.hpp"
#include "loop_groups.hpp"

namespace tessera {

struct TraceOptions {
  std::vector<std::pair<std::string, std::int64_t>> values = {};  ///< of run-time dims and integer parameters, by name
  std::int64_t trips = 4;                ///< turns of a loop whose bounds are not known, as it is written
  std::int64_t most_events = 100000;     ///< the walk ends there
};

struct StaticTrace {
  PipeTrace trace;
  std::int64_t trips = 0;
  std::vector<OpId> assumed_loops;     ///< ran `trips` turns
  std::vector<OpId> assumed_branches;  ///< ran their first block
  bool complete = true;                ///< false: the walk ended early
};

/// The names for which TraceOptions may state values.
[[nodiscard]] inline std::vector<std::string> stated_names(const Function& f) {
  std::vector<std::string> names;
  for (const Parameter& p : f.parameters)
    if (f.type(p.value).is_scalar() && !is_float(f.type(p.value).dtype)) names.emplace_back(std::string_view(p.name));
  for (const std::int64_t d : argument_dims(f)) names.emplace_back(symbol_of(d).view());
  return names;
}

namespace detail {

class TraceWalk {
 public:
  TraceWalk(const Function& f, const TraceOptions& options)
      : f_(f), options_(options), scalars_(f), groups_(f), assumed_(f.operation_count()), steps_left_(64 * options.most_events), writer_(f) {
    out_.trips = options.trips;
    for (const auto& [name, n] : options.values) state(name, n);
  }

  [[nodiscard]] StaticTrace run() {
    out_.complete = block(f_.body());
    out_.trace = std::move(writer_.trace);
    return std::move(out_);
  }

 private:
  using Integers = std::vector<KnownInteger>;

  void state(const std::string& name, std::int64_t n) {
    const std::vector<std::string> known = stated_names(f_);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string list;
      for (const std::string& k : known) list.append(list.empty() ? "names: " : ", ").append(k);
      fail(f_.location, "timeline: there is no run-time dim or integer parameter of this name (" + name + ")",
           known.empty() ? std::string("the kernel has none") : list);
    }
    const std::string stated = " (" + name + "=" + std::to_string(n) + ")";
    for (const Parameter& p : f_.parameters) {
      if (!f_.type(p.value).is_scalar() || std::string_view(p.name) != name) continue;
      const DType d = f_.type(p.value).dtype;
      if (!fits(d, n)) fail(f_.location, "timeline: a parameter of type " + std::string(tessera::name(d)) + " does not hold the number" + stated, "state one that it holds");
      scalars_.set(p.value, n);
    }
    for (const std::int64_t d : argument_dims(f_))
      if (n < 0 && symbol_of(d).view() == name) fail(f_.location, "timeline: a run-time dim takes no negative numbers" + stated, "state its size");
    for (const ValueId v : f_.symbols())
      if (symbol_of(f_[v].integer).view() == name) scalars_.set(v, n);
  }

  // --- control flow: each returns false when the walk has to end ---
  bool block(BlockId b) {
    for (OpId op = f_[b].first; op; op = f_.next(op)) {
      if (--steps_left_ < 0) return false;
      if (!operation(op)) return false;
    }
    return true;
  }
  bool operation(OpId op) {
    const OpInfo& info = f_.info(op);
    if (&info == &ops::for_loop) return for_loop(op);
    if (&info == &ops::while_loop) return while_loop(op);
    if (&info == &ops::if_else) return branch(op);
    if (&info == &ops::tileop_body) return body_once(op);
    if (info.level == Level::scalar) return scalars_.run(op), true;
    if (is_sync(info)) return sync(op);
    if (info.level == Level::control || pipe_of(f_, op) == Pipe::none) return true;
    return instruction(op);
  }
  bool for_loop(OpId op) {
    const KnownInteger start = scalars_.get(f_.operand(op, 0)), stop = scalars_.get(f_.operand(op, 1)), step = scalars_.get(f_.operand(op, 2));
    const bool exact = start && stop && step && *step > 0;
    const KnownInteger constant = exact ? KnownInteger() : groups_.constant_turns(op);
    if (!exact && !constant) assume(op, out_.assumed_loops);
    const std::int64_t turns = constant ? *constant : groups_.turns(op, options_.trips);
    const List<ValueId> carried = carried_arguments(f_, op, 0);
    hand(operands(op, 3), carried);
    KnownInteger counter = start;
    for (std::int64_t turn = 0; exact ? *counter < *stop : turn < turns; ++turn) {
      scalars_.set(f_[f_.block(op)].arguments[0], counter);
      if (!block(f_.block(op))) return false;
      hand(operands(f_.terminator(f_.block(op)), 0), carried);
      std::int64_t next = 0;
      const bool known = counter && step && !__builtin_add_overflow(*counter, *step, &next);
      if (exact && !known) break;
      counter = known ? KnownInteger(next) : KnownInteger();
    }
    hand(values(carried), results_of(f_, op));
    return true;
  }
  bool while_loop(OpId op) {
    const BlockId test = f_.block(op, 0), body = f_.block(op, 1);
    hand(operands(op, 0), carried_arguments(f_, op, 0));
    for (std::int64_t turn = 0;; ++turn) {
      if (!block(test)) return false;
      const OpId end = f_.terminator(test);
      const KnownInteger goes_on = scalars_.get(f_.operand(end, 0));
      if (!goes_on) assume(op, out_.assumed_loops);
      if (goes_on ? *goes_on == 0 : turn >= options_.trips) return hand(operands(end, 1), results_of(f_, op)), true;
      hand(operands(end, 1), carried_arguments(f_, op, 1));
      if (!block(body)) return false;
      hand(operands(f_.terminator(body), 0), carried_arguments(f_, op, 0));
    }
  }
  bool body_once(OpId op) {
    hand(operands(op, fixed_operands(f_, op)), carried_arguments(f_, op, 0));
    if (!block(f_.block(op))) return false;
    hand(operands(f_.terminator(f_.block(op)), 0), results_of(f_, op));
    return true;
  }
  bool branch(OpId op) {
    KnownInteger condition = scalars_.get(f_.operand(op, 0));
    if (const std::optional<bool> left = groups_.takes_turn(op, options_.trips); !condition && left) condition = *left ? 1 : 0;
    if (!condition) assume(op, out_.assumed_branches);
    const BlockId taken = f_.block(op, condition && *condition == 0 ? 1 : 0);
    if (!block(taken)) return false;
    hand(operands(f_.terminator(taken), 0), results_of(f_, op));
    return true;
  }
  void assume(OpId op, std::vector<OpId>& list) {
    if (!assumed_[op.index]) list.push_back(op);
    assumed_[op.index] = true;
  }
  [[nodiscard]] Integers operands(OpId op, int first) const {
    Integers list;
    for (int i = first; i < f_.operand_count(op); ++i) list.push_back(scalars_.get(f_.operand(op, i)));
    return list;
  }
  [[nodiscard]] Integers values(List<ValueId> from) const {
    Integers list;
    for (const ValueId v : from) list.push_back(scalars_.get(v));
    return list;
  }
  void hand(const Integers& from, List<ValueId> to) {
    for (std::size_t i = 0; i < to.size(); ++i) scalars_.set(to[i], i < from.size() ? from[i] : KnownInteger());
  }

  // --- events ---
  [[nodiscard]] bool is_full() const { return static_cast<std::int64_t>(writer_.trace.events.size()) >= options_.most_events; }
  bool sync(OpId op) {
    if (is_full()) return false;
    writer_.sync(op);
    return true;
  }
  bool instruction(OpId op) {
    if (is_full()) return false;
    writer_.instruction(op, pipe_of(f_, op));
    for_each_access(f_, op, [&](ValueId v, bool writes) {
      const ByteRange bytes = f_.type(v).is_tile() ? byte_range(f_, v) : window_bytes(op, v);
      writer_.access({f_.type(v).is_tile() ? f_.type(v).space : Gm, f_.type(v).is_tile() ? 0 : f_[parameter_of(f_, v)].position, bytes.begin, bytes.end, writes});
    });
    return true;
  }
  // From the first to the last byte of a window where its place is known, else all of the tensor.
  [[nodiscard]] ByteRange window_bytes(OpId op, ValueId v) const {
    const ByteRange all{0, INT64_MAX};
    const Type& t = f_.type(v);
    const TensorWindow w = tensor_window(f_, op);
    if (!w) return all;
    std::int64_t first = 0, last = 0, stride = 1;
    for (int i = t.rank - 1; i >= 0; --i) {
      const KnownInteger offset = scalars_.get(f_.operand(op, w.first_offset + i));
      if (!offset || is_dynamic(stride) || is_dynamic(w.box[i])) return all;
      first += *offset * stride;
      last += (*offset + w.box[i] - 1) * stride;
      stride = is_dynamic(t.dims[i]) ? t.dims[i] : capped_product(stride, t.dims[i]);
    }
    return {bytes_of(t.dtype, first), bytes_of(t.dtype, last + 1)};
  }

  const Function& f_;
  const TraceOptions& options_;
  KnownScalars scalars_;
  const LoopGroups groups_;
  std::vector<bool> assumed_;  // by operation
  std::int64_t steps_left_;
  TraceWriter writer_;
  StaticTrace out_;
};

}  // namespace detail

/// Throws UserError where the function has no addresses.
inline void require_addresses(const Function& f) {
  if (!has_addresses(f))
    fail(f.location, "timeline: the tiles of the kernel have no addresses (" + std::string(f.name.c_str()) + ")",
         "lower it first, as in lower(kernel.trace())");
}

/// The trace of block 0 of a launch. Throws UserError where the function has no addresses, and where a stated value has a name
/// that it does not know.
[[nodiscard]] inline StaticTrace trace_of(const Function& f, const TraceOptions& options = {}) {
  require_addresses(f);
  if (options.trips < 1)
    fail(f.location, "timeline: loops take no turns (" + std::to_string(options.trips) + ")", "state one turn at least");
  return detail::TraceWalk(f, options).run();
}

}  // namespace tessera
