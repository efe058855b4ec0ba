// When the bytes of each buffer are needed, over structured control flow. A buffer is needed while it holds a content that is
// read later, and during the operations that write it; between two contents its bytes are free.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "../../ir/accesses.hpp"
#include "../../ops/all.hpp"
#include "../buffers/liveness.hpp"

namespace tessera::detail {

/// Moments, both ends included. An operation at position p reads its operands at moment 2p and writes its result at 2p + 1.
struct Span {
  std::uint32_t begin = 0, end = 0;
  friend constexpr bool operator==(const Span&, const Span&) = default;
};
using Spans = std::vector<Span>;

/// Sorts, and joins what follows each other.
inline void join_spans(Spans& spans) {
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  std::size_t count = 0;
  for (const Span& s : spans) {
    if (count > 0 && s.begin <= spans[count - 1].end + 1) spans[count - 1].end = std::max(spans[count - 1].end, s.end);
    else spans[count++] = s;
  }
  spans.resize(count);
}

/// What is known about values that do not change while buffers are planned.
class Contents {
 public:
  explicit Contents(const Function& f) : f_(f), undefined_(f.value_count()), window_(f.value_count()) {
    for (const OpId op : all_operations(f)) {
      if (f.result_count(op) != 1 || !f.type(f.result(op)).is_tile()) continue;
      const std::uint32_t v = f.result(op).index;
      if (f.is(op, ops::create)) undefined_[v] = true;
      if (!f.info(op).is_view) continue;
      const std::uint32_t of = f.operand(op, 0).index;
      undefined_[v] = undefined_[of];
      window_[v] = window_[of] || shows_part(f, op);
    }
  }

  /// Storage that nobody wrote: no byte of it need be kept.
  [[nodiscard]] bool undefined(ValueId v) const { return undefined_[v.index]; }
  /// Whether the result of `op` may be written over its operand `i`, element for element.
  [[nodiscard]] bool may_overwrite(OpId op, int i) const {
    const OpInfo& info = f_.info(op);
    const ValueId x = f_.operand(op, i);
    return info.may_alias && !info.is_view && i != scratch_operand(info) && !undefined_[x.index] && !window_[x.index] &&
           same_places(f_.type(x), f_.type(f_.result(op)));
  }

 private:
  const Function& f_;
  std::vector<bool> undefined_, window_;  // by value
};

/// The unrolled loops whose buffers are kept apart: those that two pipes touch share no byte with others in all of the loop, so
/// that no pipe waits for their bytes. It is a hint: who has too few bytes plans without.
enum class Apart : std::uint8_t { none, requested, all };

/// Whether a loop holds several turns of the one that was written, and whether its author asks for that.
[[nodiscard]] inline bool is_unrolled(const Function& f, OpId op) { return f.find_attr(op, AttrKey::unrolled) != nullptr; }
[[nodiscard]] inline bool is_requested(const Function& f, OpId op) { return f.attr(op, AttrKey::pipelined) > 1; }
/// The cube unit's own spaces: what is loaded and stored stands in others.
[[nodiscard]] constexpr bool is_of_cube_unit(MemorySpace s) { return s != Gm && s != Vec && s != Mat; }

class Lifetimes {
 public:
  explicit Lifetimes(const Function& f, Apart apart = Apart::none) : f_(f), live_(f), contents_(f), number_(f.value_count(), no_index) {
    for (std::uint32_t v = 0; v < f.value_count(); ++v)
      if (f.type({v}).is_tile() && f[ValueId{v}].buffer == v) {
        number_[v] = static_cast<std::uint32_t>(owners_.size());
        owners_.push_back({v});
      }
    spans_.resize(owners_.size());
    for (std::uint32_t v = 0; v < f.value_count(); ++v)
      if (is_placed({v})) value({v}, spans_[buffer({v})]);
    order_.reserve(f.operation_count());
    for (const OpId op : all_operations(f)) {
      order_.push_back(op);
      note(op);
      if (f.is(op, ops::tileop_body)) keep_whole(op);
      if (apart != Apart::none && is_unrolled(f, op) && (apart == Apart::all || is_requested(f, op))) keep_apart(op);
    }
    for (Spans& s : spans_) join_spans(s);
  }

  [[nodiscard]] std::size_t count() const { return owners_.size(); }
  [[nodiscard]] ValueId owner(std::size_t buffer) const { return owners_[buffer]; }
  /// The number of the buffer that a tile stands in.
  [[nodiscard]] std::size_t buffer(ValueId v) const { return number_[f_[v].buffer]; }
  [[nodiscard]] const Spans& spans(std::size_t buffer) const { return spans_[buffer]; }
  /// Pairs of buffers: the second receives a result that may be written over an operand in the first.
  [[nodiscard]] const std::vector<std::pair<std::uint32_t, std::uint32_t>>& successions() const { return successions_; }
  /// When a copy is needed that `op` makes of a tile: while `op` runs or, where `v` is the tile that it stands for, as long as
  /// that or a look at it is read.
  [[nodiscard]] Spans copy(OpId op, ValueId v = {}) {
    Spans spans{during(op)};
    if (v) looks(v, spans);
    join_spans(spans);
    return spans;
  }
  /// The operation that runs at a moment, or the one in front of it.
  [[nodiscard]] OpId operation_at(std::uint32_t moment) const {
    const auto behind = std::upper_bound(order_.begin(), order_.end(), moment / 2,
                                         [&](std::uint32_t position, OpId op) { return position < live_.at(op).position; });
    return behind != order_.begin() ? *(behind - 1) : OpId{};
  }
  [[nodiscard]] Span during(OpId op) const {
    return {2 * live_.at(op).position, f_.block_count(op) > 0 ? 2 * live_.after(op).position : 2 * live_.at(op).position + 1};
  }

 private:
  // A tile whose owner is an operation's result, in a function whose blocks all stand in the body.
  [[nodiscard]] bool is_placed(ValueId v) const {
    const std::uint32_t b = f_[v].buffer;
    return f_.type(v).is_tile() && b < number_.size() && number_[b] != no_index && f_.defining_block(v);
  }

  // --- a value: from its definition to its last reads ---
  void value(ValueId v, Spans& spans) {
    if (contents_.undefined(v)) return;
    const Value& known = f_[v];
    const std::uint32_t begin = 2 * live_.defined(v).position + (known.kind == ValueKind::result ? 1 : 0);
    if (!f_.has_uses(v)) {
      if (known.kind == ValueKind::result && f_.block_count(OpId{known.owner}) == 0) spans.push_back({begin, begin});
      return;
    }
    const BlockId home = f_.defining_block(v);
    std::uint32_t end = begin;
    bool nested = false;
    f_.for_each_use(v, [&](OpId op, int i) {
      nested = nested || f_[op].parent != home;
      end = std::max(end, last_moment(op, i));
    });
    if (!nested) return spans.push_back({begin, end});
    std::vector<Use> uses;
    f_.for_each_use(v, [&](OpId op, int i) { uses.push_back({op, last_moment(op, i)}); });
    cover(home, begin, uses, spans);
  }
  struct Use {
    OpId op;
    std::uint32_t moment = 0;
  };
  // The last moment at which an operation needs its operand.
  [[nodiscard]] std::uint32_t last_moment(OpId op, int i) const {
    const bool writes = f_.block_count(op) == 0 && f_.result_count(op) == 1 && f_.type(f_.result(op)).is_tile();
    const bool until_written = writes && !contents_.may_overwrite(op, i);
    return 2 * live_.at(op).position + (until_written || i == scratch_operand(f_.info(op)) ? 1 : 0);
  }
  // From `begin`, in block `home`, to the last of the uses. What is read in the blocks of a branch is needed in each of them on
  // its own; what is read in a loop is needed until that ends.
  void cover(BlockId home, std::uint32_t begin, const std::vector<Use>& uses, Spans& spans) {
    OpId last{};
    for (const Use& u : uses)
      if (const OpId at = ancestor(u.op, home); !last || live_.at(at).position > live_.at(last).position) last = at;
    if (f_.is(last, ops::if_else)) {
      spans.push_back({begin, 2 * live_.at(last).position});
      for (int k = 0; k < f_.block_count(last); ++k) {
        const BlockId inner = f_.block(last, k);
        std::vector<Use> inside;
        for (const Use& u : uses)
          if (within(u.op, inner)) inside.push_back(u);
        if (!inside.empty()) cover(inner, start(inner), inside, spans);
      }
      return;
    }
    std::uint32_t end = begin;
    for (const Use& u : uses) {
      if (u.op == last) end = std::max(end, u.moment);
      else if (ancestor(u.op, home) == last) end = std::max(end, 2 * live_.after(last).position);
    }
    spans.push_back({begin, end});
  }
  [[nodiscard]] OpId ancestor(OpId op, BlockId home) const {
    while (f_[op].parent != home) op = f_[f_[op].parent].owner;
    return op;
  }
  [[nodiscard]] bool within(OpId op, BlockId block) const {
    for (;;) {
      const BlockId parent = f_[op].parent;
      if (parent == block) return true;
      if (!f_[parent].owner) return false;
      op = f_[parent].owner;
    }
  }
  [[nodiscard]] std::uint32_t start(BlockId block) const { return 2 * (live_.at(f_[block].first).position - 1); }

  // --- operations ---
  // Storage without content is needed while an operation writes to it, and results may follow their operands.
  void note(OpId op) {
    if (f_.info(op).level == Level::control || f_.info(op).is_view) return;
    for (int i = 0; i < f_.operand_count(op); ++i) {
      const ValueId x = f_.operand(op, i);
      if (!is_placed(x)) continue;
      if (contents_.undefined(x)) spans_[buffer(x)].push_back(during(op));
      else if (f_.result_count(op) == 1 && is_placed(f_.result(op)) && contents_.may_overwrite(op, i) && buffer(x) != buffer(f_.result(op)))
        successions_.push_back({static_cast<std::uint32_t>(buffer(x)), static_cast<std::uint32_t>(buffer(f_.result(op)))});
    }
  }
  // Buffers that two pipes touch in a loop are needed as long as it runs.
  void keep_apart(OpId loop) {
    std::vector<std::uint32_t> touched;
    pipes_.resize(owners_.size());
    touch(f_.block(loop), touched);
    const bool factors = f_.attr(loop, AttrKey::factors_shared) == 0;
    for (const std::uint32_t b : touched) {
      const bool apart = factors || !is_of_cube_unit(f_.type(owners_[b]).space);
      if (apart && (pipes_[b] & (pipes_[b] - 1u)) != 0) spans_[b].push_back({2 * live_.at(loop).position + 1, 2 * live_.after(loop).position});
      pipes_[b] = 0;
    }
  }
  // A function does not know which of the tiles that it is given share bytes: none do, as long as it runs.
  void keep_whole(OpId body) {
    std::vector<std::uint32_t> touched;
    pipes_.resize(owners_.size());
    touch(f_.block(body), touched);
    for (const std::uint32_t b : touched) {
      spans_[b].push_back(during(body));
      pipes_[b] = 0;
    }
  }
  void touch(BlockId block, std::vector<std::uint32_t>& touched) {
    for (const OpId op : operations(f_, block)) {
      for (int k = 0; k < f_.block_count(op); ++k) touch(f_.block(op, k), touched);
      if (f_.info(op).is_view) continue;
      for_each_access(f_, op, [&](ValueId v, bool) {
        if (!is_placed(v)) return;
        const auto b = static_cast<std::uint32_t>(buffer(v));
        if (pipes_[b] == 0) touched.push_back(b);
        pipes_[b] |= pipe_bit(pipe_of(f_, op));
      });
    }
  }
  void looks(ValueId v, Spans& spans) {
    value(v, spans);
    f_.for_each_use(v, [&](OpId op, int i) {
      if (i == 0 && f_.info(op).is_view) looks(f_.result(op), spans);
    });
  }

  const Function& f_;
  Liveness live_;
  Contents contents_;
  std::vector<std::uint32_t> number_;  // by value: of the buffer that it owns
  std::vector<OpId> order_;            // of the program
  std::vector<ValueId> owners_;        // by buffer
  std::vector<Spans> spans_;           // by buffer
  std::vector<std::pair<std::uint32_t, std::uint32_t>> successions_;
  std::vector<std::uint32_t> pipes_;   // by buffer: a bit for each pipe that touches it in one loop
};

}  // namespace tessera::detail
