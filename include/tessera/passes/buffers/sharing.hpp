// Which tiles of a function share a buffer, and where a copy keeps two contents apart. Views and in-place results are where
// their operand is; carried values and branch results are merged where nothing that is still read would be overwritten.
#pragma once

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../../ir/control_layout.hpp"
#include "../../ops/all.hpp"
#include "liveness.hpp"

namespace tessera::detail {

/// Tiles in one buffer. `type` is that of what is allocated; `first` the position where it comes into being, `placed` the operation
/// that puts it into a buffer of the kernel's author.
struct Buffer {
  std::vector<ValueId> tiles;
  std::vector<std::uint32_t> dead;  ///< behind this position, that tile and all before it in the list are dead
  Type type;
  std::uint32_t first = 0;
  OpId placed = {};
};

/// The slot of a declared buffer that an operation places its tile in: the first, where it names none.
[[nodiscard]] inline std::uint16_t slot_of(const Function& f, OpId place) { return static_cast<std::uint16_t>(f.attr(place, AttrKey::slot)); }
[[nodiscard]] inline std::uint16_t storage_of(const Function& f, OpId place) { return static_cast<std::uint16_t>(f.attr(place, AttrKey::buffer)); }

/// A value that a terminator hands on from a buffer of its own and that must be copied into another.
struct HandOn {
  int operand = 0;
  int from = 0, to = 0;
};

class Sharing {
 public:
  explicit Sharing(const Function& f)
      : f_(f),
        live_(f),
        buffer_of_(f.value_count(), -1),
        content_(f.value_count()),
        views_(f.value_count()),
        window_(f.value_count()),
        starts_as_(f.value_count()) {
    block(f.body());
  }

  /// The buffer of a tile, as a number; buffers that were merged have one number.
  [[nodiscard]] int buffer(ValueId v) { return find(buffer_of_[v.index]); }
  [[nodiscard]] int same(int b) { return find(b); }
  [[nodiscard]] std::size_t buffer_count() const { return buffers_.size(); }
  int new_buffer(const Type& type) { return make({}, type, 0); }
  /// The operation that places a tile's buffer; none where the author does not.
  [[nodiscard]] OpId placed(ValueId v) { return at(buffer_of_[v.index]).placed; }

  /// Operations that get a copy of the operand in whose place they write.
  [[nodiscard]] bool copies_operand(OpId op) const { return copied_.contains(op.index); }
  /// Carried values that start as a copy: (operand of the loop, buffer).
  [[nodiscard]] const std::vector<std::pair<int, int>>* initial_copies(OpId loop) const { return look(initial_, loop); }
  /// Results of a branch that get storage in front of it: (result, buffer).
  [[nodiscard]] const std::vector<std::pair<int, int>>* storage(OpId branch) const { return look(storage_, branch); }
  [[nodiscard]] const std::vector<HandOn>* handed_on(OpId terminator) const { return look(handed_on_, terminator); }

 private:
  template <class T>
  static const std::vector<T>* look(const std::unordered_map<std::uint32_t, std::vector<T>>& map, OpId op) {
    const auto found = map.find(op.index);
    return found != map.end() ? &found->second : nullptr;
  }

  // --- sets of tiles ---
  int make(List<ValueId> tiles, const Type& type, std::uint32_t first) {
    buffers_.push_back({{}, {}, type, first, {}});
    for (const ValueId v : tiles) append(buffers_.back(), v);
    merged_.push_back(static_cast<int>(merged_.size()));
    return static_cast<int>(buffers_.size() - 1);
  }
  void append(Buffer& b, ValueId v) {
    const std::uint32_t last = live_.last(v);
    b.dead.push_back(b.dead.empty() ? last : std::max(last, b.dead.back()));
    b.tiles.push_back(v);
  }
  int find(int b) {
    while (merged_[static_cast<std::size_t>(b)] != b) {
      int& up = merged_[static_cast<std::size_t>(b)];
      up = merged_[static_cast<std::size_t>(up)];
      b = up;
    }
    return b;
  }
  Buffer& at(int b) { return buffers_[static_cast<std::size_t>(find(b))]; }
  void join(ValueId v, int b) {
    b = find(b);
    buffer_of_[v.index] = b;
    append(at(b), v);
  }
  // The storage of `b` is that of `a` from now on.
  void merge(int a, int b) {
    a = find(a);
    b = find(b);
    if (a == b) return;
    const std::uint32_t first = std::min(at(a).first, at(b).first);
    if (at(a).tiles.size() < at(b).tiles.size()) std::swap(a, b);
    for (const ValueId v : at(b).tiles) append(at(a), v);
    at(a).first = first;
    if (!at(a).placed) at(a).placed = at(b).placed;
    at(b).tiles.clear();
    at(b).dead.clear();
    merged_[static_cast<std::size_t>(b)] = a;
  }

  // --- contents ---
  [[nodiscard]] ValueId content(ValueId v) const { return content_[v.index]; }
  void new_content(ValueId v) { content_[v.index] = v; }
  // Who still reads what `v` shows (itself or another look at it) after the point.
  [[nodiscard]] OpId reader_after(ValueId v, Point p) const {
    const ValueId root = content(v);
    if (const OpId user = live_.use_after(root, p)) return user;
    for (const ValueId view : views_[root.index])
      if (const OpId user = live_.use_after(view, p)) return user;
    return {};
  }
  [[nodiscard]] bool undefined(ValueId v) const {
    const OpId def = f_.definition(content(v));
    return def && f_.is(def, ops::create);
  }
  [[nodiscard]] bool reads_while_writing(ValueId w, ValueId u) const {
    if (starts_as_[u.index] == w) return true;
    const OpId def = f_.definition(u);
    if (!def || (f_.info(def).may_alias && !window_[w.index])) return false;
    for (int i = 0; i < f_.operand_count(def); ++i)
      if (f_.operand(def, i) == w) return true;
    return false;
  }
  [[nodiscard]] bool interfere(ValueId u, ValueId w) const {
    if (content(u) == content(w)) return false;
    return live_.live_at_definition(w, u) || live_.live_at_definition(u, w) || reads_while_writing(w, u) ||
           reads_while_writing(u, w);
  }
  bool mergeable(int a, int b) {
    if (at(a).type != at(b).type || placed_apart(at(a).placed, at(b).placed)) return false;
    if (at(a).tiles.size() < at(b).tiles.size()) std::swap(a, b);
    std::uint32_t first = ~std::uint32_t{0};
    for (const ValueId w : at(b).tiles) first = std::min(first, live_.defined(w).position);
    first = std::min(first, at(b).first);
    return still_used(a, first, [&](ValueId u) {
      for (const ValueId w : at(b).tiles)
        if (interfere(u, w)) return false;
      return true;
    });
  }
  bool dead_after(int b, Point p) {
    return still_used(b, p.position, [&](ValueId v) { return !live_.live_after(v, p); });
  }
  // Whether `holds` is true of the buffer's tiles; those that are dead before the position need not be asked.
  template <class Holds>
  bool still_used(int b, std::uint32_t position, Holds&& holds) {
    const Buffer& buffer = at(b);
    for (std::size_t i = buffer.tiles.size(); i-- > 0 && buffer.dead[i] >= position;)
      if (!holds(buffer.tiles[i])) return false;
    return true;
  }

  // --- copies ---
  // Only Vec has an instruction that copies a tile; storage without content needs none.
  void require_copy(OpId op, ValueId v, OpId other) const {
    const Type& t = f_.type(v);
    if (t.space == Vec || undefined(v)) return;
    fail(f_[op].location,
         std::string(f_.info(op).name) + ": a tile in " + std::string(name(t.space)) +
             " would have to be copied, and no instruction does that (" + place_text(f_[op].location) + ", " +
             place_text(f_[other].location) + ")",
         t.space == Acc ? "use the accumulator only once: store it before it is changed, or compute it in both places"
                        : "load or move it again where it is needed");
  }
  // --- the walk ---
  void block(BlockId b) {
    for (const OpId op : operations(f_, b)) {
      if (f_.block_count(op) > 0) {
        if (f_.is(op, ops::if_else)) branch(op);
        else loop(op);
      } else if (f_.result_count(op) == 1 && f_.type(f_.result(op)).is_tile()) {
        plain(op);
      }
    }
  }
  void plain(OpId op) {
    const ValueId v = f_.result(op);
    const OpInfo& info = f_.info(op);
    if (info.is_view) {
      const ValueId x = f_.operand(op, 0);
      join(v, buffer(x));
      window_[v.index] = window_[x.index] || shows_part(f_, op);
      content_[v.index] = content(x);
      views_[content(x).index].push_back(v);
      if (f_.is(op, ops::place)) place(op);
      return;
    }
    new_content(v);
    const std::uint32_t position = live_.after(op).position;
    if (info.in_place < 0) {
      buffer_of_[v.index] = make({v}, f_.type(v), position);
      return;
    }
    const ValueId x = f_.operand(op, info.in_place);
    OpId reader = reader_after(x, live_.after(op));
    for (int i = 0; i < f_.operand_count(op) && !info.may_alias; ++i)  // another look at what is overwritten
      if (i != info.in_place && f_.type(f_.operand(op, i)).is_tile() && buffer(f_.operand(op, i)) == buffer(x))
        reader = op;
    if (reader) {
      require_copy(op, x, reader);
      copied_[op.index] = true;
      buffer_of_[v.index] = make({v}, f_.type(v), position);
      return;
    }
    join(v, buffer(x));
  }

  // The tile's buffer stands where the author says.
  void place(OpId op) {
    const ValueId x = f_.operand(op, 0);
    const Storage& s = f_.storage[storage_of(f_, op)];
    OpId& placed = at(buffer(x)).placed;
    const std::string in = " (" + slot_text(s, slot_of(f_, op));
    if (window_[x.index]) fail(f_[op].location, "place: the tile is a part of another one" + in + ")", "place the whole tile, where it is made");
    if (f_.type(x).space != s.space)
      fail(f_[op].location, "place: the tile stands in another memory space than the buffer" + in + ": " + std::string(name(f_.type(x).space)) + ", " + std::string(name(s.space)) + ")",
           "declare the buffer in the space of its tiles");
    if (placed_apart(placed, op))
      fail(f_[op].location, "place: the tile shares its storage with one that is placed elsewhere" + in + ", " +
                                slot_text(f_.storage[storage_of(f_, placed)], slot_of(f_, placed)) + " in line " + std::to_string(f_[placed].location.line) + ")",
           "place both in the same slot, or give the second a copy: move<Vec>(x)");
    placed = op;
  }
  [[nodiscard]] bool placed_apart(OpId a, OpId b) const {
    return a && b && (storage_of(f_, a) != storage_of(f_, b) || slot_of(f_, a) != slot_of(f_, b));
  }

  void loop(OpId op) {
    const int fixed = fixed_operands(f_, op), count = f_.result_count(op);
    std::vector<int> taken;
    for (int i = 0; i < count; ++i) {
      const ValueId start = f_.operand(op, fixed + i);
      if (!f_.type(start).is_tile()) continue;
      int b = buffer(start);
      OpId reader = reader_after(start, live_.at(op));
      if (window_[start.index]) reader = op;  // what the loop hands on has other rows
      for (const int other : taken)
        if (other == b) reader = op;
      if (reader) {
        require_copy(op, start, reader);
        b = make({}, f_.type(start), live_.at(op).position);
        initial_[op.index].push_back({fixed + i, b});
      }
      taken.push_back(b);
      for (int k = 0; k < f_.block_count(op); ++k) {
        const ValueId argument = carried_argument(f_, op, k, i);
        new_content(argument);
        if (reader) starts_as_[argument.index] = start;
        join(argument, b);
      }
    }
    for (int k = 0; k < f_.block_count(op); ++k) block(f_.block(op, k));
    if (f_.is(op, ops::tileop_body)) reuse(f_.block(op));
    for (int i = 0, n = 0; i < count; ++i) {
      const ValueId result = f_.result(op, i);
      if (!f_.type(result).is_tile()) continue;
      const int b = taken[static_cast<std::size_t>(n++)];
      for (int k = 0; k < f_.block_count(op); ++k) hand_on(op, f_.terminator(f_.block(op, k)), i, b);
      new_content(result);
      join(result, b);
    }
  }
  // What the terminator hands on as number i comes to be in buffer b: by being made there, or by a copy.
  void hand_on(OpId op, OpId end, int i, int b) {
    const int operand = fixed_operands(f_, end) + i;
    const ValueId v = f_.operand(end, operand);
    const int from = buffer(v);
    const bool window = window_[v.index];  // its elements are not where the result's are
    if (from == find(b) && !window) return;
    if (!window && at(from).first > live_.at(op).position && mergeable(b, from)) return merge(b, from);
    const OpId def = f_.definition(v);
    require_copy(end, v, def ? def : op);
    handed_on_[end.index].push_back({operand, from, b});
  }

  // The storage of a body is handed over by each call, all of it at once: what is dead in the body is used again there.
  void reuse(BlockId body) {
    std::vector<int> own;
    for (const OpId op : operations(f_, body)) {
      if (f_.block_count(op) > 0 || f_.result_count(op) != 1 || !f_.type(f_.result(op)).is_tile()) continue;
      const int b = buffer(f_.result(op));
      const auto same_buffer = [&](int other) { return find(other) == b; };
      if (!is_of(body, b) || std::any_of(own.begin(), own.end(), same_buffer)) continue;
      const auto found = std::find_if(own.begin(), own.end(), [&](int other) { return equally_valid(other, b) && mergeable(other, b); });
      if (found == own.end()) own.push_back(b);
      else merge(*found, b);
    }
  }
  [[nodiscard]] bool is_of(BlockId body, int b) {
    return std::all_of(at(b).tiles.begin(), at(b).tiles.end(), [&](ValueId v) {
      const OpId def = f_.definition(v);
      return def && f_[def].parent == body && f_.block_count(def) == 0;
    });
  }
  [[nodiscard]] bool equally_valid(int a, int b) {
    const ValueId x = at(a).tiles[0], y = at(b).tiles[0];
    if (f_.type(x) != f_.type(y)) return false;
    for (int axis = 0; axis < f_.type(x).rank; ++axis)
      if (f_.valid(x, axis) != f_.valid(y, axis)) return false;
    return true;
  }

  void branch(OpId op) {
    for (int k = 0; k < 2; ++k) block(f_.block(op, k));
    for (int i = 0; i < f_.result_count(op); ++i) {
      const ValueId result = f_.result(op, i);
      if (!f_.type(result).is_tile()) continue;
      const int b = common_buffer(op, i);
      for (int k = 0; k < 2; ++k) hand_on(op, f_.terminator(f_.block(op, k)), i, b);
      new_content(result);
      join(result, b);
    }
  }
  // The buffer in which both blocks leave result i: one that is there before and not read afterwards, otherwise a new one.
  int common_buffer(OpId op, int i) {
    const ValueId result = f_.result(op, i);
    const Point before = live_.at(op), behind = live_.after(op);
    int from[2];
    for (int k = 0; k < 2; ++k) from[k] = buffer(f_.operand(f_.terminator(f_.block(op, k)), i));
    const auto usable = [&](int b) {
      return at(b).first < before.position && at(b).type == f_.type(result) && dead_after(b, behind) &&
             !results_in(op, i, b);
    };
    for (int k = 0; k < 2; ++k)
      if (usable(from[k]) && (from[0] == from[1] || reaches(op, i, from[k], from[1 - k]))) return from[k];
    const int b = make({}, f_.type(result), before.position);
    storage_[op.index].push_back({i, b});
    return b;
  }
  bool results_in(OpId op, int i, int b) {
    for (int k = 0; k < i; ++k)
      if (f_.type(f_.result(op, k)).is_tile() && buffer(f_.result(op, k)) == find(b)) return true;
    return false;
  }
  // Whether the other block's value can be made in `b`, or copied there.
  bool reaches(OpId op, int i, int b, int other) {
    if (at(other).first > live_.at(op).position && mergeable(b, other)) return true;
    return f_.type(f_.result(op, i)).space == Vec;
  }

  const Function& f_;
  Liveness live_;
  std::vector<int> buffer_of_;  // by value
  std::vector<ValueId> content_;  // by value: the value whose elements it shows
  std::vector<std::vector<ValueId>> views_;  // by content
  std::vector<bool> window_;  // by value: a part of its buffer, whose elements another tile has in other places
  std::vector<ValueId> starts_as_;  // by carried value: what is copied into its buffer in front of the loop
  std::vector<Buffer> buffers_;
  std::vector<int> merged_;
  std::unordered_map<std::uint32_t, bool> copied_;
  std::unordered_map<std::uint32_t, std::vector<std::pair<int, int>>> initial_, storage_;
  std::unordered_map<std::uint32_t, std::vector<HandOn>> handed_on_;
};

}  // namespace tessera::detail
