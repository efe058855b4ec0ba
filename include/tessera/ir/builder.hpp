// The builder puts operations into a function: it asks the descriptor's rule for the result type, refuses what breaks it,
// and derives the valid extents of the result. Passes and the recorder build everything through it.
#pragma once

#include "function.hpp"
#include "../ops/memory.hpp"
#include "../ops/scalar.hpp"

namespace tessera {

/// What a rule may know of a value. `valid` (max_rank numbers) receives its extents when it is not fully valid.
[[nodiscard]] inline OperandInfo operand_info(const Function& f, ValueId v, std::int64_t* valid) {
  const Value& value = f[v];
  OperandInfo o{value.type, f.is_constant(v) && !is_float(value.type.dtype), value.integer, nullptr};
  if (valid != nullptr && value.type.is_shaped() && !f.fully_valid(v)) {
    for (int i = 0; i < value.type.rank; ++i) {
      const Extent e = f.valid(v, i);
      valid[i] = e.is_constant() ? e.constant : -1;
    }
    o.valid = valid;
  }
  return o;
}

/// Calls use(InferInput) with what a rule may know of an operation as it stands.
template <class Use>
void with_input(const Function& f, OpId op, Use&& use) {
  const std::size_t count = f[op].operand_count;
  std::vector<OperandInfo> infos(count);
  std::int64_t valid[3][max_rank];
  for (std::size_t i = 0; i < count; ++i)
    infos[i] = operand_info(f, f.operand(op, static_cast<int>(i)), i < 3 ? valid[i] : nullptr);
  const Type requested = f.result_count(op) > 0 ? f.type(f.result(op)) : Type{};
  const List<Attr> attrs = f.attrs(op);
  use(InferInput{infos.data(), static_cast<int>(count), requested, attrs.begin(), static_cast<int>(attrs.size()), true});
}

class Builder {
 public:
  explicit Builder(Function& f) : f_(&f), block_(f.body()) {}

  [[nodiscard]] Function& function() { return *f_; }
  [[nodiscard]] BlockId block() const { return block_; }

  /// Further operations go to the end of a block, or before `op`.
  void to_end_of(BlockId b) { block_ = b; before_ = {}; }
  void to_before(OpId op) { block_ = (*f_)[op].parent; before_ = op; }
  void at(const Location& l) { location_ = l; }
  [[nodiscard]] const Location& location() const { return location_; }
  /// Whether valid extents of results are derived (the default). A pass that states them itself switches it off.
  void derive_valid(bool on) { derive_valid_ = on; }
  /// The sequence number that further operations get.
  void sequence(std::uint32_t s) { sequence_ = s; }

  /// Emits an operation with at most one result, whose type its rule infers. `requested` is the type that the user states
  /// for operations that have a choice. Throws UserError when a rule is broken.
  OpId emit(const OpInfo& op, List<ValueId> operands, List<Attr> attrs = {}, const Type& requested = {}) {
    Room<OperandInfo, 16> known;
    Pool<OperandInfo> many;
    OperandInfo* infos = known.items;
    if (operands.size() > 16) {
      many.assign(operands.size(), {});
      infos = many.data();
    }
    std::int64_t valid[3][max_rank];
    for (std::size_t i = 0; i < operands.size(); ++i) new (infos + i) OperandInfo(operand_info(*f_, operands[i], i < 3 ? valid[i] : nullptr));
    const InferInput in{infos, static_cast<int>(operands.size()), requested, attrs.begin(), static_cast<int>(attrs.size()), true};
    const Verdict v = infer(op, in);
    if (!v.lawful()) refuse(v, op.name, location_);
    if (op.form == PtoForm::memory_view && !parameter_of(*f_, operands[0]))
      refuse(breaks(rule::view_of_a_value), op.name, location_);
    return place(op, operands, attrs, v.result);
  }
  /// As emit, for operations that have a result.
  ValueId value(const OpInfo& op, List<ValueId> operands, List<Attr> attrs = {}, const Type& requested = {}) {
    return f_->result(emit(op, operands, attrs, requested));
  }

  /// An integer or floating scalar operation; constants are folded.
  ValueId scalar(const OpInfo& op, ValueId a, ValueId b) {
    const ValueId folded = fold(op, a, b);
    return folded ? folded : value(op, {a, b});
  }
  /// What an integer operation is known to give; none where it has to be emitted.
  ValueId fold(const OpInfo& op, ValueId a, ValueId b) {
    const Type& t = f_->type(a);
    if (is_float(t.dtype) || t.dtype == boolean) return {};
    const bool ka = f_->is_constant(a), kb = f_->is_constant(b);
    const std::int64_t x = (*f_)[a].integer, y = (*f_)[b].integer;
    if (&op == &ops::scalar_add && ka && x == 0) return b;
    if ((&op == &ops::scalar_add || &op == &ops::scalar_sub) && kb && y == 0) return a;
    if (&op == &ops::scalar_mul && ka && x == 1) return b;
    if ((&op == &ops::scalar_mul || &op == &ops::scalar_div) && kb && y == 1) return a;
    if ((&op == &ops::scalar_min || &op == &ops::scalar_max) && a == b) return a;
    if (!ka || !kb || t.dtype != index_type) return {};
    std::int64_t r = 0;
    bool overflow = false;
    if (&op == &ops::scalar_add) overflow = __builtin_add_overflow(x, y, &r);
    else if (&op == &ops::scalar_sub) overflow = __builtin_sub_overflow(x, y, &r);
    else if (&op == &ops::scalar_mul) overflow = __builtin_mul_overflow(x, y, &r);
    else if (&op == &ops::scalar_min) r = x < y ? x : y;
    else if (&op == &ops::scalar_max) r = x > y ? x : y;
    else if (&op == &ops::scalar_div && y != 0 && y != -1) r = x / y;
    else if (&op == &ops::scalar_rem && y != 0 && y != -1) r = x % y;
    else return {};
    return overflow ? ValueId{} : f_->constant(t.dtype, r);
  }
  ValueId add(ValueId a, ValueId b) { return scalar(ops::scalar_add, a, b); }
  ValueId sub(ValueId a, ValueId b) { return scalar(ops::scalar_sub, a, b); }
  ValueId mul(ValueId a, ValueId b) { return scalar(ops::scalar_mul, a, b); }
  ValueId min(ValueId a, ValueId b) { return scalar(ops::scalar_min, a, b); }
  ValueId max(ValueId a, ValueId b) { return scalar(ops::scalar_max, a, b); }
  ValueId index(std::int64_t n) { return f_->index(n); }
  [[nodiscard]] Extent extent_of(ValueId v) const {
    return f_->is_constant(v) ? Extent{(*f_)[v].integer, {}} : Extent{0, v};
  }
  ValueId value_of(const Extent& e) { return f_->extent_value(e); }
  /// x with these valid extents, one for each dim: x itself where it has them.
  ValueId with_valid(ValueId x, List<Extent> extents) {
    bool equal = true;
    std::vector<ValueId> operands{x};
    for (std::size_t i = 0; i < extents.size(); ++i) {
      equal = equal && extents[i] == f_->valid(x, static_cast<int>(i));
      operands.push_back(value_of(extents[i]));
    }
    return equal ? x : value(ops::set_valid_shape, operands);
  }
  /// x, all of which counts as valid.
  ValueId as_whole(ValueId x) {
    if (f_->fully_valid(x)) return x;
    const Type& t = f_->type(x);
    Extent whole[max_rank];
    for (int i = 0; i < t.rank; ++i) whole[i] = {t.dims[i], {}};
    return with_valid(x, {whole, t.rank});
  }

  /// body(i) for i in [0, stop), in a loop that carries nothing.
  template <class Body>
  void repeat(ValueId stop, Body&& body) {
    static_cast<void>(counted(stop, {}, [&](ValueId i, ValueId) { return body(i), ValueId{}; }));
  }
  /// value = body(i, value) for i in [0, stop), in a loop; gives the last value.
  template <class Body>
  ValueId repeat(ValueId stop, ValueId value, Body&& body) {
    return counted(stop, value, body);
  }

  /// A control operation (or terminator) with the given result types and count of blocks; no rule is asked.
  OpId control(const OpInfo& op, List<ValueId> operands, List<Type> results, int blocks, List<Attr> attrs = {}) {
    const OpId o = f_->new_operation(op, operands, attrs, location_);
    f_->set_results(o, results);
    if (blocks > 0) f_->add_blocks(o, blocks);
    insert(o);
    return o;
  }

 private:
  template <class Body>
  ValueId counted(ValueId stop, ValueId value, Body&& body) {
    const bool carries = static_cast<bool>(value);
    ValueId operands[] = {index(0), stop, index(1), value};
    const Type type = carries ? f_->type(value) : Type{};
    const OpId loop = control(ops::for_loop, {operands, carries ? std::size_t{4} : std::size_t{3}}, {&type, carries ? std::size_t{1} : std::size_t{0}}, 1);
    const BlockId outer = block(), inside = f_->block(loop);
    const ValueId i = f_->add_argument(inside, index_scalar), carried = carries ? f_->add_argument(inside, type) : ValueId{};
    to_end_of(inside);
    const ValueId next = body(i, carried);
    control(ops::yield, {&next, carries ? std::size_t{1} : std::size_t{0}}, {}, 0);
    to_end_of(outer);
    return carries ? f_->result(loop) : ValueId{};
  }
  // Plain data that is not initialised before it is needed.
  template <class T, int N>
  union Room {
    Room() {}  // NOLINT: that is its purpose
    T items[N];
  };

  OpId place(const OpInfo& op, List<ValueId> operands, List<Attr> attrs, const Type& result) {
    Room<Extent, max_rank> extents;
    ValueId same_as{};
    bool stated = false;
    if (result.is_shaped() && derive_valid_) stated = valid_extents(op, operands, attrs, result, extents.items, same_as);
    const OpId o = f_->new_operation(op, operands, attrs, location_);
    if (result.kind != TypeKind::none) {
      f_->set_results(o, {result});
      if (same_as) f_->share_valid(f_->result(o), same_as);
      else if (stated) f_->set_valid(f_->result(o), {extents.items, result.rank});
    }
    insert(o);
    return o;
  }
  void insert(OpId o) {
    (*f_)[o].sequence = sequence_;
    if (before_) f_->insert_before(before_, o);
    else f_->append(block_, o);
  }

  // Fills `extents` and returns true, or sets `same_as`, or returns false for a fully valid result. May emit index
  // arithmetic in front of the operation.
  bool valid_extents(const OpInfo& op, List<ValueId> operands, List<Attr> attrs, const Type& result, Extent* extents,
                     ValueId& same_as) {
    const auto partial = [&](std::size_t i) { return operands.size() > i && f_->type(operands[i]).is_shaped() && !f_->fully_valid(operands[i]); };
    const auto attr = [&](AttrKey key, std::int64_t otherwise) {
      for (const Attr& a : attrs)
        if (a.key == key) return a.integer;
      return otherwise;
    };
    const int rank = result.rank;
    switch (op.valid) {
      case ValidRule::full: return false;
      case ValidRule::first:
      case ValidRule::wide:
        if (partial(0)) same_as = operands[0];
        return false;
      case ValidRule::second:
        if (partial(1)) same_as = operands[1];
        return false;
      case ValidRule::indexed: return indexed_extents(operands[0], operands[1], attr(AttrKey::axis, -1), result, extents, same_as);
      case ValidRule::intersection: return common_extents(operands, 2, result, extents, same_as);
      case ValidRule::concat: return concat_extents(operands, result, extents);
      case ValidRule::lane_half: return half_extents(operands, static_cast<Split>(attr(AttrKey::split, 1)), result, extents);
      case ValidRule::whole_rows: return whole_row_extents(op, operands, result, extents);
      case ValidRule::row_counts:
        if (!whole_row_extents(op, operands, result, extents)) return false;
        extents[1] = extents[0];
        extents[0] = {1, {}};
        return true;
      case ValidRule::select: return common_extents(operands, 3, result, extents, same_as);
      case ValidRule::repeated: return partial(0) && repeated_extents(operands[0], result, extents);
      case ValidRule::larger: return larger_extents(op, operands[0], operands[1], result, extents, same_as);
      case ValidRule::row_reduce:
      case ValidRule::col_reduce: {
        if (!partial(0)) return false;
        const int reduced = op.valid == ValidRule::row_reduce ? rank - 1 : rank - 2;
        for (int i = 0; i < rank; ++i) extents[i] = i == reduced ? Extent{1, {}} : f_->valid(operands[0], i);
        return true;
      }
      case ValidRule::window: return window_extents(operands, attr(AttrKey::has_valid, 0) != 0, result, extents);
      case ValidRule::stated:
        for (int i = 0; i < rank; ++i) extents[i] = extent_of(operands[static_cast<std::size_t>(1 + i)]);
        return true;
      case ValidRule::gathered: {
        const int axis = attr(AttrKey::transposed, 0) != 0 ? 1 : 0;
        const Extent count = extent_of(min(f_->dim_value(f_->type(operands[1]).last()), index(attr(AttrKey::rows, 0))));
        if (count == Extent{result.dims[axis], {}}) return false;
        for (int i = 0; i < rank; ++i) extents[i] = i == axis ? count : Extent{result.dims[i], {}};
        return true;
      }
      case ValidRule::matmul: {
        if (!partial(0) && !partial(1)) return false;
        const int a_rank = f_->type(operands[0]).rank, b_rank = f_->type(operands[1]).rank;
        for (int i = 0; i < rank - 2; ++i) {
          const Extent whole{result.dims[i], {}}, left = batch_extent(operands[0], i - rank, whole), right = batch_extent(operands[1], i - rank, whole);
          if (right != whole && !(left.is_constant() && right.is_constant())) refuse_batches(i - rank);
          extents[i] = smaller_extent(left, right, whole);
        }
        extents[rank - 2] = f_->valid(operands[0], a_rank - (attr(AttrKey::transpose_lhs, 0) != 0 ? 1 : 2));
        extents[rank - 1] = f_->valid(operands[1], b_rank - (attr(AttrKey::transpose_rhs, 0) != 0 ? 2 : 1));
        return true;
      }
      case ValidRule::swap_axes: {
        if (!partial(0)) return false;
        const int a = counted_from_front(attr(AttrKey::axis, -2), rank), b = counted_from_front(attr(AttrKey::other_axis, -1), rank);
        for (int i = 0; i < rank; ++i) extents[i] = f_->valid(operands[0], i == a ? b : i == b ? a : i);
        return true;
      }
      case ValidRule::pattern: {
        if (!partial(0)) return false;
        const auto p = static_cast<MaskPattern>(attr(AttrKey::pattern, static_cast<std::int64_t>(MaskPattern::P1111)));
        const std::int64_t length = pattern_length(p), before = length - 1 - pattern_start(p);
        for (int i = 0; i < rank; ++i) extents[i] = f_->valid(operands[0], i);
        if (length > 1) extents[rank - 1] = extent_of(scalar(ops::scalar_div, add(value_of(extents[rank - 1]), index(before)), index(length)));
        return true;
      }
      case ValidRule::reshape: return reshape_extents(operands[0], result, extents);
      case ValidRule::reinterpret: return scaled_extents(operands[0], result, extents);
    }
    return false;
  }
  // One operand holds what is valid in the other, too. Where one dim alone is not known to be larger in either, it does not
  // matter which it is.
  bool larger_extents(const OpInfo& op, ValueId a, ValueId b, const Type& result, Extent* extents, ValueId& same_as) {
    if (f_->fully_valid(a) || f_->fully_valid(b)) return false;
    bool a_holds = true, b_holds = true;
    int unknown = 0;
    for (int i = 0; i < result.rank; ++i) {
      const Extent x = f_->valid(a, i), y = f_->valid(b, i), whole{result.dims[i], {}};
      const bool constant = x.is_constant() && y.is_constant();
      const bool x_larger = x == y || x == whole || (constant && x.constant > y.constant);
      const bool y_larger = x == y || y == whole || (constant && y.constant > x.constant);
      if (!x_larger && !y_larger) {
        ++unknown;
        extents[i] = extent_of(max(value_of(x), value_of(y)));
        continue;
      }
      extents[i] = x_larger ? x : y;
      a_holds = a_holds && x_larger;
      b_holds = b_holds && y_larger;
    }
    if (unknown == 0 && (a_holds || b_holds)) {
      same_as = a_holds ? a : b;
      return false;
    }
    if (unknown == 1 && a_holds && b_holds) return true;
    fail(location_, Text(op.name).append(": neither operand is known to be valid wherever the other one is"),
         "let them differ in one extent only, or let one be fully valid: fillpad(x)");
  }
  [[nodiscard]] static Text extent_text(const Extent& e) { return e.is_constant() ? Text().append(e.constant) : Text("a run-time extent"); }
  [[nodiscard]] static Text shape_text(const Type& t) {
    Text text("[");
    for (int i = 0; i < t.rank; ++i) {
      if (i > 0) text.append(",");
      detail::append_number(text, arg_dim(t.dims[i]));
    }
    return text.append("]");
  }
  // What the first lane has not, the second one has.
  bool half_extents(List<ValueId> operands, Split split, const Type& result, Extent* extents) {
    if (f_->fully_valid(operands[0])) return false;
    const int axis = axis_of(split);
    const ValueId half = index(result.dims[axis]);
    for (int i = 0; i < result.rank; ++i) extents[i] = f_->valid(operands[0], i);
    const ValueId behind = sub(value_of(extents[axis]), mul(operands[1], half));
    extents[axis] = extent_of(min(max(behind, index(0)), half));
    return true;
  }
  // A dim of extent 1 that holds nothing gives nothing wherever it is repeated.
  bool repeated_extents(ValueId x, const Type& result, Extent* extents) {
    const Type& from = f_->type(x);
    const int added = result.rank - from.rank;
    for (int i = 0; i < result.rank; ++i) {
      const Extent own = i < added ? Extent{1, {}} : f_->valid(x, i - added);
      const bool kept = i >= added && from.dims[i - added] == result.dims[i];
      extents[i] = kept ? own : extent_of(mul(value_of(own), index(result.dims[i])));
    }
    return true;
  }
  bool concat_extents(List<ValueId> operands, const Type& result, Extent* extents) {
    const ValueId a = operands[0], b = operands[1];
    if (f_->fully_valid(a) && f_->fully_valid(b)) return false;
    const int last = result.rank - 1;
    const std::int64_t front = f_->type(a).last();
    if (f_->valid(a, last) != Extent{front, {}})
      fail(location_, Text("concat: the first operand is valid in part along the last axis (").append(extent_text(f_->valid(a, last))).append(" of ").append(front).append(")"), "fillpad(x) it first");
    for (int i = 0; i < last; ++i) {
      const Extent whole{result.dims[i], {}}, m = f_->valid(a, i), n = f_->valid(b, i);
      extents[i] = smaller_extent(m, n, whole);
    }
    extents[last] = extent_of(add(index(front), value_of(f_->valid(b, last))));
    return true;
  }
  bool whole_row_extents(const OpInfo& op, List<ValueId> operands, const Type& result, Extent* extents) {
    const int last = result.rank - 1;
    for (std::size_t i = 0; i < operands.size() && i < (op.lists > 0 ? static_cast<std::size_t>(op.lists) : 1u); ++i) {
      const ValueId x = operands[i];
      if (f_->fully_valid(x)) continue;
      if (op.lists > 0 || f_->valid(x, last) != Extent{f_->type(x).last(), {}})
        fail(location_, Text(op.name).append(": an operand is valid in part along the last axis (operand ").append(static_cast<int>(i)).append(")"),
             "fill the rest with the smallest number: fillpad(x, Pad::min)");
    }
    if (f_->fully_valid(operands[0])) return false;
    for (int i = 0; i < last; ++i) extents[i] = f_->valid(operands[0], i);
    extents[last] = {result.dims[last], {}};
    return true;
  }
  // What is valid in each of the first `count` operands.
  bool common_extents(List<ValueId> operands, std::size_t count, const Type& result, Extent* extents, ValueId& same_as) {
    bool differ = false;
    for (std::size_t k = 0; k < count; ++k) {
      if (f_->fully_valid(operands[k])) continue;
      if (!same_as) same_as = operands[k];
      else differ = differ || (*f_)[same_as].valid != (*f_)[operands[k]].valid;
    }
    if (!differ) return false;
    same_as = {};
    for (int i = 0; i < result.rank; ++i) {
      const Extent whole{result.dims[i], {}};
      extents[i] = f_->valid(operands[0], i);
      for (std::size_t k = 1; k < count; ++k) {
        const Extent a = extents[i], b = f_->valid(operands[k], i);
        extents[i] = smaller_extent(a, b, whole);
      }
    }
    return true;
  }
  Extent smaller_extent(const Extent& a, const Extent& b, const Extent& whole) {
    return a == b || b == whole ? a : a == whole ? b : extent_of(min(value_of(a), value_of(b)));
  }
  // The extent of a batch dim of a factor, counted from the end; of one that is repeated, the whole one of the product.
  [[nodiscard]] Extent batch_extent(ValueId factor, int from_end, const Extent& whole) const {
    const Type& t = f_->type(factor);
    const int axis = t.rank + from_end;
    return axis < 0 || Extent{t.dims[axis], {}} != whole ? whole : f_->valid(factor, axis);
  }
  // A right matrix of which nothing is valid has no rows, where the left one still has columns.
  [[noreturn]] void refuse_batches(int from_end) const {
    fail(location_, Text("matmul: the right factor is valid in part along a batch dim (axis ").append(std::int64_t{from_end}).append(")"),
         "loop over that dim with factors of one matrix, or give the left factor the extent");
  }
  bool indexed_extents(ValueId x, ValueId index, std::int64_t given, const Type& result, Extent* extents, ValueId& same_as) {
    const int axis = counted_from_front(given, result.rank);
    bool narrower = false;
    for (int i = 0; i < result.rank; ++i) {
      const Extent whole{result.dims[i], {}}, own = f_->valid(index, i), other = i == axis ? whole : f_->valid(x, i);
      extents[i] = smaller_extent(own, other, whole);
      narrower = narrower || extents[i] != own;
    }
    if (!narrower && !f_->fully_valid(index)) same_as = index;
    return narrower;
  }
  // Stated extents stand behind the offsets. A window on a partially valid source reaches no further than its data.
  bool window_extents(List<ValueId> operands, bool stated, const Type& result, Extent* extents) {
    const std::size_t rank = result.rank;
    if (f_->type(operands[0]).rank != result.rank) return false;  // a flattened window: the pass states the extents
    for (std::size_t i = 0; i < rank; ++i) {
      const int axis = static_cast<int>(i);
      extents[i] = stated ? extent_of(operands[1 + rank + i]) : Extent{result.dims[i], {}};
      if (f_->fully_valid(operands[0])) continue;
      const Extent reach = f_->valid(operands[0], axis);
      if (stated && !(reach.is_constant() && extents[i].is_constant())) continue;
      const ValueId offset = operands[1 + i];
      const ValueId left = sub(max(value_of(reach), offset), offset);
      extents[i] = extent_of(min(left, value_of(extents[i])));
    }
    return true;
  }
  // Elements of the new type count where all of their bytes are valid.
  bool scaled_extents(ValueId x, const Type& result, Extent* extents) {
    if (f_->fully_valid(x)) return false;
    const Type& source = f_->type(x);
    bool rows = source.rank == result.rank;
    for (int i = 0; rows && i + 1 < source.rank; ++i) rows = source.dims[i] == result.dims[i];
    if (!rows) fail(location_, Text("reinterpret: the operand is valid in part, and the shape changes (").append(shape_text(source)).append(" to ").append(shape_text(result)).append(")"), "fillpad(x) first, or leave the shape out: the last dim is scaled");
    for (int i = 0; i < result.rank; ++i) extents[i] = f_->valid(x, i);
    const std::int64_t from = info(source.dtype).bits, to = info(result.dtype).bits;
    ValueId last = value_of(extents[result.rank - 1]);
    last = from > to ? mul(last, index(from / to)) : scalar(ops::scalar_div, last, index(to / from));
    extents[result.rank - 1] = extent_of(last);
    return true;
  }
  // A dim of extent 1 that is valid in part holds nothing, perhaps: so does the result, along a dim of extent 1 or its first.
  void keep_emptiness(ValueId x, const Type& result, int back, Extent* extents) {
    const Type& source = f_->type(x);
    for (int i = 0; i < source.rank - back; ++i) {
      const Extent e = f_->valid(x, i);
      if (source.dims[i] != 1 || e == Extent{1, {}}) continue;
      int to = 0;
      while (to + 1 < result.rank - back && result.dims[to] != 1) ++to;
      if (result.dims[to] != 1) to = 0;
      extents[to] = extent_of(mul(value_of(extents[to]), value_of(e)));
    }
  }
  // Leading and trailing dims that both shapes share keep their extents; in between everything must be valid.
  bool reshape_extents(ValueId x, const Type& result, Extent* extents) {
    if (f_->fully_valid(x)) return false;
    const Type& source = f_->type(x);
    int back = 0;
    while (back < source.rank && back < result.rank && source.last(back) == result.last(back)) ++back;
    for (int i = 0; i < result.rank; ++i) extents[i] = {result.dims[i], {}};
    for (int i = 0; i < back; ++i) extents[result.rank - 1 - i] = f_->valid(x, source.rank - 1 - i);
    // The dims in front: either of extent 1 (added, dropped), or a partial extent goes into one dim of equal size.
    Pool<int> from, to;
    for (int i = 0; i < source.rank - back; ++i)
      if (source.dims[i] != 1) from.push_back(i);
    for (int i = 0; i < result.rank - back; ++i)
      if (result.dims[i] != 1) to.push_back(i);
    std::size_t kept = 0;
    for (; kept < from.size() && kept < to.size() && source.dims[from[kept]] == result.dims[to[kept]]; ++kept) extents[to[kept]] = f_->valid(x, from[kept]);
    keep_emptiness(x, result, back, extents);
    // Where the last dim changes, so do all rows of the tile that it becomes.
    const bool equal = kept == from.size() && kept == to.size();
    for (std::size_t i = equal || back > 0 ? kept : 0; i < from.size(); ++i)
      if (const Extent e = f_->valid(x, from[i]); e != Extent{source.dims[from[i]], {}})
        fail(location_, Text("reshape: the operand is valid in part only").append(i < kept ? ", and the last dim changes" : " along a dim that is split or merged").append(" (axis ").append(from[i]).append(": ").append(extent_text(e)).append(" of ").append(source.dims[from[i]]).append(")"), "fillpad(x) first, or reshape before giving valid extents");
    return true;
  }

  Function* f_;
  BlockId block_;
  OpId before_;
  Location location_;
  std::uint32_t sequence_ = 0;
  bool derive_valid_ = true;
};

}  // namespace tessera
