// A walk over a function as if it ran, without numbers: loops turn a few times, branches go where they are sent, and what the
// pipes do becomes a trace. Windows of tensors are told apart where their offsets differ by a constant.
#pragma once

#include <algorithm>

#include "affine.hpp"
#include "control_layout.hpp"
#include "tensor_window.hpp"
#include "trace_writer.hpp"

namespace tessera {

/// What a walk does where it does not know better.
struct WalkChoices {
  enum class Branch : std::uint8_t { taken, other, alternate, random };
  std::int64_t trips = 3;  ///< of a loop, at most; of one that is known to turn again, at least two
  std::int64_t others = -1;  ///< of every second loop, in the order in which they are met; -1: the same
  std::int64_t only = -1;    ///< the number of the one loop that takes `others`; -1: every second one does
  Branch branch = Branch::taken;
  bool last_trips = false;  ///< of a loop with more trips: its last ones, not its first
  std::uint64_t seed = 0;   ///< of random branches; trips are random then, too
};

namespace detail {

class SyncWalk {
 public:
  SyncWalk(const Function& f, const WalkChoices& choices) : f_(f), choices_(choices), values_(f), views_(f), shared_(shared_tensors(f)), writer_(f) {
    block(f.body());
  }

  [[nodiscard]] const PipeTrace& trace() const { return writer_.trace; }
  bool chose_branch = false;  ///< a branch could have gone the other way
  bool chose_trips = false;   ///< a loop could have turned more, or fewer times
  [[nodiscard]] std::size_t choosing_loops() const { return met_.size(); }  ///< how many could have
  bool cut_trips = false;     ///< a loop of known trips turns more often

 private:
  [[nodiscard]] std::uint64_t random() {
    state_ = (state_ + choices_.seed) * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 33;
  }

  // --- control flow ---
  void block(BlockId b) {
    for (OpId op = f_[b].first; op; op = f_.next(op)) {
      if (f_.info(op).level != Level::control) operation(op);
      else if (f_.is(op, ops::for_loop)) loop(op);
      else if (f_.is(op, ops::while_loop)) loop_while(op);
      else if (f_.is(op, ops::if_else)) branch(op);
      else if (f_.is(op, ops::tileop_body)) body_once(op);
      else if (is_sync(f_.info(op))) writer_.sync(op);
      else if (f_.is(op, ops::call)) throw InternalError("verify: synchronised: a kernel calls a function");
    }
  }
  // Operands `first`.. of `from` become the values `to`, all at once.
  void hand_on(OpId from, int first, List<ValueId> to) {
    std::vector<Affine> handed;
    for (std::size_t i = 0; i < to.size(); ++i) {
      const ValueId v = f_.operand(from, first + static_cast<int>(i));
      handed.push_back(f_.type(v).is_scalar() ? values_.of(v) : Affine());
    }
    for (std::size_t i = 0; i < to.size(); ++i) values_.set(to[i], handed[i]);
  }
  /// Of random ones those of one length have the same.
  [[nodiscard]] std::int64_t chosen_trips(OpId loop, const std::optional<Affine>& length) {
    chose_trips = true;
    const auto order = static_cast<std::int64_t>(met_.emplace(loop.index, met_.size()).first->second);
    const bool other = choices_.only >= 0 ? order == choices_.only : order % 2 != 0;
    if (choices_.branch != WalkChoices::Branch::random) return choices_.others >= 0 && other ? choices_.others : choices_.trips;
    const auto any = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(choices_.trips + 1));
    if (!length) return any;
    std::vector<std::int64_t> key{5, length->constant};
    values_.append(key, *length);
    return trips_.emplace(values_.number(std::move(key)), any).first->second;
  }
  void loop(OpId op) {
    const Affine start = values_.of(f_.operand(op, 0)), step = values_.of(f_.operand(op, 2));
    const std::optional<Affine> length = sum(values_.of(f_.operand(op, 1)), start, -1);
    std::int64_t first = 0, trips = 0;
    if (length && length->is_constant() && step.is_constant() && step.constant > 0) {
      const std::int64_t all = length->constant <= 0 ? 0 : (length->constant - 1) / step.constant + 1;
      trips = all <= 1 ? all : std::min(all, std::max<std::int64_t>(chosen_trips(op, {}), 2));
      cut_trips = cut_trips || trips < all;
      if (choices_.last_trips) first = all - trips;
    } else {
      trips = chosen_trips(op, length);
    }
    const List<ValueId> arguments = carried_arguments(f_, op, 0);
    hand_on(op, fixed_operands(f_, op), arguments);
    for (std::int64_t i = first; i < first + trips; ++i) {
      const std::optional<Affine> counter = sum(start, step, i);
      values_.set(f_[f_.block(op)].arguments[0], counter ? *counter : values_.fresh());
      block(f_.block(op));
      hand_on(f_.terminator(f_.block(op)), 0, arguments);
    }
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (f_.type(arguments[i]).is_scalar()) values_.set(f_.result(op, static_cast<int>(i)), values_.of(arguments[i]));
  }
  void loop_while(OpId op) {
    const BlockId test = f_.block(op, 0), body = f_.block(op, 1);
    hand_on(op, 0, carried_arguments(f_, op, 0));
    for (std::int64_t left = chosen_trips(op, {});; --left) {
      block(test);
      const OpId end = f_.terminator(test);
      const Affine goes_on = values_.of(f_.operand(end, 0));
      if (left <= 0 || (goes_on.is_constant() && goes_on.constant == 0)) return hand_on(end, 1, results_of(f_, op));
      hand_on(end, 1, carried_arguments(f_, op, 1));
      block(body);
      hand_on(f_.terminator(body), 0, carried_arguments(f_, op, 0));
    }
  }
  void body_once(OpId op) {
    hand_on(op, fixed_operands(f_, op), carried_arguments(f_, op, 0));
    block(f_.block(op));
    hand_on(f_.terminator(f_.block(op)), 0, results_of(f_, op));
  }
  void branch(OpId op) {
    const BlockId way = f_.block(op, holds(values_.of(f_.operand(op, 0))) ? 0 : 1);
    block(way);
    hand_on(f_.terminator(way), 0, results_of(f_, op));
  }
  /// Whether a condition holds: equal ones do alike, and the opposite does not.
  [[nodiscard]] bool holds(const Affine& condition) {
    if (condition.is_constant()) return condition.constant != 0;
    chose_branch = true;
    const bool opposite = condition.terms[0].factor < 0;
    const auto [at, is_new] = decided_.emplace(condition.terms[0].atom, false);
    if (is_new) at->second = choose();
    return at->second != opposite;
  }
  [[nodiscard]] bool choose() {
    switch (choices_.branch) {
      case WalkChoices::Branch::taken: return true;
      case WalkChoices::Branch::other: return false;
      case WalkChoices::Branch::alternate: return (alternating_ = !alternating_);
      case WalkChoices::Branch::random: return random() % 2 != 0;
    }
    return true;
  }

  // --- events ---
  void operation(OpId op) {
    const OpInfo& info = f_.info(op);
    if (f_.result_count(op) > 0 && f_.type(f_.result(op)).is_scalar()) values_.evaluate(op);
    if (info.is_view && f_.result_count(op) > 0 && f_.type(f_.result(op)).is_tile())
      views_.make(op, [&](ValueId v) {
        const Affine a = values_.of(v);
        return a.is_constant() ? std::optional<std::int64_t>(a.constant) : std::nullopt;
      });
    const Pipe pipe = pipe_of(f_, op);
    if (pipe == Pipe::none || info.level == Level::scalar) return;
    writer_.instruction(op, pipe);
    for_each_access(f_, op, [&](ValueId v, bool writes) {
      if (f_.type(v).is_tile()) writer_.tile(f_.type(v).space, views_.of(v), writes);
      else if (shared_[f_[parameter_of(f_, v)].position]) tensor(op, v, writes);
    });
  }

  // --- windows of tensors ---
  [[nodiscard]] Affine valid(ValueId v, int axis) {
    const Extent e = f_.valid(v, axis);
    return e.is_constant() ? Affine{e.constant, {}} : values_.of(e.value);
  }
  static void bound(TensorWindow& w, int axis, const Affine& extent) {
    if (extent.is_constant()) w.box[axis] = std::min(w.box[axis], std::max<std::int64_t>(extent.constant, 0));
  }
  /// The box of a tensor that an operation gets at, at most: what is valid of it.
  [[nodiscard]] TensorWindow window(OpId op) {
    TensorWindow w = tensor_window(f_, op);
    const PtoForm form = f_.info(op).form;
    if (form != PtoForm::load && form != PtoForm::store) return w;
    const ValueId tile = form == PtoForm::load ? f_.result(op) : f_.operand(op, 0);
    const int added = w.rank - f_.type(tile).rank;
    for (int i = 0; f_.attr_list(op, AttrKey::window).empty() && i < f_.type(tile).rank; ++i) bound(w, added + i, valid(tile, i));
    for (int i = 0; f_.attr(op, AttrKey::has_valid) != 0 && i < w.rank; ++i) bound(w, i, values_.of(f_.operand(op, w.first_offset + w.rank + i)));
    return w;
  }
  void tensor(OpId op, ValueId v, bool writes) {
    const std::uint32_t number = f_[parameter_of(f_, v)].position;
    const bool adds = writes && f_.attr(op, AttrKey::atomic_add) != 0;
    const TensorWindow w = window(op);
    if (w && std::find(w.box, w.box + w.rank, 0) != w.box + w.rank) return;
    std::int64_t strides[max_rank] = {};
    Affine start;
    if (!w || !strides_of(f_.type(v), strides) || !place(op, w, f_.type(v).rank, strides, start))
      return writer_.access({Gm, number, 0, 1, writes, adds, values_.number({3, number})});  // wherever it is
    rows(f_.type(v), w, strides, start.constant, {Gm, number, 0, 0, writes, adds, base(number, f_.type(v), start)});
  }
  // Of a dim that is not known a length that no offset reaches: rows that differ stay apart.
  static constexpr std::int64_t long_row = std::int64_t{1} << 24;
  [[nodiscard]] static bool strides_of(const Type& t, std::int64_t* strides) {
    std::int64_t step = 1;
    for (int i = t.rank - 1; i >= 0; --i) {
      strides[i] = step;
      if (i > 0 && __builtin_mul_overflow(step, is_dynamic(t.dims[i]) ? long_row : t.dims[i], &step)) return false;
    }
    return true;
  }
  [[nodiscard]] bool place(OpId op, const TensorWindow& w, int rank, const std::int64_t* strides, Affine& start) {
    for (int i = 0; i < rank; ++i) {
      std::optional<Affine> next = sum(start, values_.of(f_.operand(op, w.first_offset + i)), strides[i]);
      if (!next || is_dynamic(w.box[i])) return false;
      start = std::move(*next);
    }
    return true;
  }
  /// Windows of one base are told apart by their bytes: rows are equally long, and their offsets differ by a constant.
  [[nodiscard]] std::uint32_t base(std::uint32_t number, const Type& t, const Affine& start) {
    std::vector<std::int64_t> key{4, number};
    for (int i = 1; i < t.rank; ++i)
      if (is_dynamic(t.dims[i])) key.insert(key.end(), t.dims + 1, t.dims + t.rank);
    if (key.size() == 2 && start.is_constant()) return 0;
    values_.append(key, start);
    return values_.number(std::move(key));
  }
  void rows(const Type& t, const TensorWindow& w, const std::int64_t* strides, std::int64_t start, TraceAccess a) {
    std::int64_t index[max_rank] = {};
    const int last = t.rank - 1;
    const std::size_t first_access = writer_.trace.accesses.size();
    for (;;) {
      std::int64_t at = start;
      for (int i = 0; i < last; ++i) at += index[i] * strides[i];
      a.begin = bytes_of(t.dtype, at);
      a.end = bytes_of(t.dtype, at + w.box[last]);
      if (writer_.trace.accesses.size() > first_access && writer_.trace.accesses.back().end == a.begin) writer_.trace.accesses.back().end = a.end;
      else writer_.access(a);
      int axis = last - 1;
      while (axis >= 0 && ++index[axis] == w.box[axis]) index[axis--] = 0;
      if (axis < 0) return;
    }
  }

  const Function& f_;
  const WalkChoices choices_;
  AffineValues values_;
  TileViews views_;
  const std::vector<bool> shared_;          // by parameter
  TraceWriter writer_;
  std::map<std::uint32_t, bool> decided_;   // by condition
  std::map<std::uint32_t, std::int64_t> trips_;  // by length
  std::map<std::uint32_t, std::size_t> met_;     // loops, with their order
  bool alternating_ = false;
  std::uint64_t state_ = 0;
};

}  // namespace detail
}  // namespace tessera
