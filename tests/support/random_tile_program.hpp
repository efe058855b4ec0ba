// Random kernels at tile level: the user states every place. Loads with tails, extents, windows, moves, products, stores.
#pragma once

#include <cmath>

#include "random_batches.hpp"

namespace tessera::test {

class RandomTileProgram : public RandomBatches {
 public:
  RandomTileProgram(std::uint64_t seed, int budget, Focus focus = Focus::any) : RandomBatches(seed, budget), focus_(focus) {
    dtype_ = random.one_of({f32, f32, f32, f16, f16, bf16, i32, i16});
    if (focus == Focus::pages) {
      shape_ = shape_of_pages({dim(), dim()});
    } else {
      const int rank = static_cast<int>(random.one_of({1, 2, 2, 2, 2, 2, 3, 3, 4}));
      for (int i = 0; i < rank; ++i) shape_.push_back(i + 2 >= rank ? dim() : random.between(1, 3));
    }
    dynamic_size = random.one_of<std::int64_t>({1, 3, 7, 16, 33, 40});
    Scope scope;
    for (int i = 0; i < 2; ++i) scope.push_back(whole(dtype_, shape_));
    statements(scope, {}, 2, random.between(4, 12));
    finish(scope);
    k.returns();
  }

 private:
  [[nodiscard]] std::int64_t dim() {
    return random.one_of<std::int64_t>({1, 3, 5, 7, 8, 16, 16, 16, 17, 32, 32, 33, 64});
  }
  template <class Fits>
  const Known* vec(const Scope& scope, Fits&& fits) {
    return any(scope, [&](const Known& v) { return type(v).space == Vec && fits(v); });
  }
  const Known* vec(const Scope& scope) {
    return vec(scope, [](const Known&) { return true; });
  }
  const Known* full_vec(const Scope& scope) {
    return vec(scope, [](const Known& v) { return !v.partial; });
  }
  Known like(const Scope& scope, const Type& t, int fresh = 30) {
    const Known* v =
        vec(scope, [&](const Known& o) { return !o.partial && type(o).same_shape(t) && type(o).dtype == t.dtype; });
    return v != nullptr && !random.chance(fresh) ? *v : whole(t.dtype, dims_of(t));
  }
  static Known made(ValueId v, const Known& from, double bound, bool whole_numbers) {
    return {v, bound, whole_numbers, from.partial, from.empty, false};
  }

  // --- statements ---
  void statements(Scope& scope, const Counters& counters, int depth, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (!spend()) return;
      try {
        statement(scope, counters, depth);
      } catch (const UserError&) {
        continue;  // a rule says no: so this statement is left out
      }
    }
  }
  void statement(Scope& scope, const Counters& counters, int depth) {
    if (focus_ == Focus::pages && random.chance(30)) return pages(scope, counters);
    const std::int64_t n = random.below(100);
    if (n < 14) load(scope, counters);
    else if (n < 23) elementwise(scope);
    else if (n < 26) choose(scope);
    else if (n < 32) cast(scope);
    else if (n < 40) reduce(scope);
    else if (n < 46) random.chance(25) ? repeated(scope) : broadcast(scope);
    else if (n < 52) extents(scope);
    else if (n < 59) pad(scope);
    else if (n < 65) slice(scope, counters);
    else if (n < 70) assemble(scope, counters);
    else if (n < 74) move(scope);
    else if (n < 76) reshape(scope);
    else if (n < 77) random.chance(50) ? concat(scope) : positions(scope);
    else if (n < 80) transpose(scope);
    else if (n < 86) product(scope, counters, depth);
    else if (n < 91) store(scope, counters);
    else if (n < 93) element(scope, counters);
    else if (depth == 0) elementwise(scope);
    else if (n < 97) loop(scope, counters, depth);
    else branch(scope, counters, depth);
  }

  void pages(Scope& scope, const Counters& counters) {
    const std::int64_t n = random.below(10);
    if (n < 6) return batch_product(scope, counters);
    if (n < 8) return scope.push_back(tail(dtype_, {shape_[shape_.size() - 2], shape_.back()}, counters));
    const Known* const v = full_vec(scope);
    if (v == nullptr || type(*v).rank < 3) return;
    const Known x = *v;
    const Dims dims = regrouped(dims_of(type(x)));
    if (!dims.empty()) scope.push_back(made(k.reshape(x.id, dims), x, x.bound, x.whole));
  }

  // --- windows of tensors ---
  void load(Scope& scope, const Counters& counters) {
    std::vector<std::int64_t> dims = shape_;
    const auto last = dims.size() - 1;
    const auto axis = last > 0 && random.chance(25) ? last : 0;
    const bool run_time = random.chance(40);
    if (run_time) dims[axis] = dyn<"S">;
    else
      for (std::int64_t& d : dims) d += random.chance(30) ? random.one_of<std::int64_t>({1, 8, 16}) : 0;
    const ValueId t = tensor(dtype_, dims, Direction::in);
    std::vector<ValueId> offsets, valid;
    bool empty = false;
    const bool partial = run_time || random.chance(30);
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const std::int64_t size = run_time && i == axis ? dynamic_size : dims[i];
      const bool tail = i == axis && partial;
      const ValueId start = offset(tail ? size : size - shape_[i], counters);
      offsets.push_back(start);
      const ValueId left = k.b().sub(run_time && i == axis ? f().symbol(dyn<"S">) : k.index(size), start);
      valid.push_back(tail ? k.b().min(k.b().max(left, k.index(0)), k.index(shape_[i])) : k.index(shape_[i]));
      empty = empty || tail;
    }
    if (!partial) valid.clear();
    const ValueId v = k.load(t, shape_, offsets, Vec, valid);
    scope.push_back({v, 4, true, !f().fully_valid(v), empty, false});
  }
  void store(Scope& scope, const Counters& counters) {
    const Known* const v = any(scope, [&](const Known& x) { return type(x).space == Vec || type(x).space == Acc; });
    if (v != nullptr) store_at(*v, counters);
  }
  void store_at(const Known& x, const Counters& counters) {
    const Type t = type(x);
    std::vector<std::int64_t> dims = dims_of(t);
    if (dims.size() < 4 && random.chance(15)) dims.insert(dims.begin(), random.between(1, 3));
    for (std::int64_t& d : dims) d += random.chance(20) ? random.one_of<std::int64_t>({1, 8}) : 0;
    const bool narrow = t.space == Acc && t.dtype == f32 && random.chance(30);
    const ValueId out = tensor(narrow ? f16 : t.dtype, dims, random.chance(80) ? Direction::out : Direction::inout);
    std::vector<ValueId> offsets;
    const int extra = static_cast<int>(dims.size()) - t.rank;
    for (int i = 0; i < static_cast<int>(dims.size()); ++i)
      offsets.push_back(offset(dims[static_cast<std::size_t>(i)] - (i < extra ? 1 : t.dims[i - extra]), counters));
    k.store(x.id, out, offsets);
  }

  // --- arithmetic ---
  void elementwise(Scope& scope) {
    const Known* const v = vec(scope);
    if (v == nullptr) return;
    const Known a = *v;
    const DType d = type(a).dtype;
    if (is_integer(d) && random.chance(30))
      return scope.push_back(bits(a, [&](std::int64_t positions) {
        if (positions == 0) return like(scope, type(a));
        const ValueId t = tensor(d, dims_of(type(a)), Direction::in, positions);
        return Known{k.load(t, dims_of(type(a)), std::vector<ValueId>(type(a).rank, k.index(0))), 8, true, false, false, false};
      }));
    if (random.chance(10)) return scope.push_back(parts(a, like(scope, type(a))));
    if (random.chance(40)) {
      const OpInfo& op = *random.one_of({&ops::neg, &ops::abs, &ops::relu, &ops::exp, &ops::sqrt, &ops::recip});
      const bool exact = &op == &ops::neg || &op == &ops::abs || &op == &ops::relu;
      return scope.push_back(made(k.op(op, {a.id}), a, exact ? a.bound : unbounded, exact && a.whole));
    }
    if (random.chance(40)) {
      const OpInfo& op = *random.one_of({&ops::adds, &ops::muls, &ops::maximums, &ops::divs, &ops::fmods});
      const ValueId s = random.chance(40) ? number_parameter(d) : constant(d, random.between(1, 3));
      const bool small = is_float(d) || a.bound < 1000;
      return scope.push_back(
          made(k.op(op, {a.id, s}), a, small ? a.bound * 3 + 3 : unbounded, a.whole && &op != &ops::divs));
    }
    const Known b = random.chance(15) ? a : like(scope, type(a));
    if (is_float(d) && random.chance(10))
      return scope.push_back(made(k.op(ops::fmod, {a.id, b.id}), a, unbounded, false));
    const OpInfo& op = *random.one_of({&ops::add, &ops::sub, &ops::mul, &ops::maximum, &ops::minimum});
    const double bound = &op == &ops::mul ? a.bound * b.bound : a.bound + b.bound;
    scope.push_back(
        made(k.op(op, {a.id, b.id}), a, is_float(d) || bound < 10000 ? bound : unbounded, a.whole && b.whole));
  }
  /// One of two tiles for each element, by a comparison of them or with a number.
  void choose(Scope& scope) {
    const Known* const v = vec(scope);
    if (v == nullptr) return;
    const Known a = *v, b = random.chance(15) ? a : like(scope, type(a));
    const DType d = type(a).dtype;
    if ((d == i16 || d == bf16) && random.chance(97)) return;  // not on a3
    const Attr how = attr(AttrKey::compare, random.below(6));
    const ValueId mask = random.chance(50) ? k.op(ops::compare, {a.id, b.id}, {how})
                                           : k.op(ops::compares, {a.id, random.chance(40) ? number_parameter(d) : constant(d, random.between(-2, 2))}, {how});
    std::vector<ValueId> operands{mask, a.id, b.id};
    if (random.chance(50)) std::swap(operands[1], operands[2]);
    operands.push_back(k.op(ops::create, {}, {}, scratch_type(ops::select, type(a))));
    scope.push_back(made(k.op(ops::select, operands), a, std::max(a.bound, b.bound), a.whole && b.whole));
  }
  void cast(Scope& scope) {
    const Known* const v = vec(scope, [](const Known& x) { return x.bound <= 1000; });
    if (v == nullptr) return;
    const Known x = *v;
    const DType to = random.one_of({f32, f16, bf16, i32, i16});
    const bool exact = x.whole && x.bound <= 200;
    scope.push_back(made(k.cast(x.id, to, random.one_of({Rounding::rint, Rounding::floor, Rounding::trunc})), x,
                         x.bound + 1, exact || is_integer(to)));
  }
  void reduce(Scope& scope) {
    const Known* const v = vec(scope, [](const Known& x) { return !x.empty; });
    if (v == nullptr) return;
    const Known x = *v;
    const OpInfo& op =
        *random.one_of({&ops::row_sum, &ops::row_max, &ops::row_min, &ops::col_sum, &ops::col_max, &ops::col_min,
                        &ops::row_prod, &ops::col_prod});
    if (random.chance(20)) return arg_reduce(scope, x);
    std::vector<ValueId> operands{x.id};
    if (op.scratch != ScratchRule::none) operands.push_back(k.create(type(x).dtype, with_columns(type(x)), Vec));
    if (&op == &ops::row_prod || &op == &ops::col_prod)
      return scope.push_back(made(k.op(op, operands), x, unbounded, false));
    const double bound = x.bound * static_cast<double>(type(x).elements());
    scope.push_back(made(k.op(op, operands), x, bound < 30000 ? bound : unbounded, x.whole && bound < 2000));
  }
  void arg_reduce(Scope& scope, const Known& x) {
    const OpInfo& op = *random.one_of({&ops::row_argmax, &ops::row_argmin, &ops::col_argmax, &ops::col_argmin});
    if (!accepts_on(op, type(x).dtype, Arch::a3) && random.chance(97)) return;
    const ValueId scratch = k.op(ops::create, {}, {}, scratch_type(op, type(x)));
    scope.push_back(made(k.op(op, {x.id, scratch}), x, static_cast<double>(type(x).elements()), true));
  }
  /// Elements by positions or by a pattern.
  void positions(Scope& scope) {
    const Known* const v = vec(scope, [&](const Known& x) { return type(x).rank == 2 && info(type(x).dtype).bits >= 16; });
    if (v == nullptr) return;
    const Known x = *v;
    const Type t = type(x);
    const Attr p = attr(AttrKey::pattern, random.between(1, 7));
    const std::int64_t length = pattern_length(static_cast<MaskPattern>(p.integer));
    if (t.last() % length == 0 && random.chance(60)) {
      if (random.chance(50)) return scope.push_back(made(k.op(ops::gather_mask, {x.id}, {p}, t), x, x.bound, x.whole));
      const Known source = like(scope, with_dim(t, 1, t.last() / length));
      return scope.push_back({k.op(ops::scatter_strided, {k.create(t.dtype, dims_of(t), Vec), source.id}, {p}), source.bound, source.whole, false, false, false});
    }
    const std::int64_t dims[] = {1, random.between(1, t.elements())};
    if (dims[1] > 64) return;
    const Known source = like(scope, with_shape(t, dims, 2));
    const ValueId index = distinct_positions(ops::position_dtype(t.dtype), dims_of(type(source)), t.elements());
    const ValueId where = k.load(index, dims_of(type(source)), {k.index(0), k.index(0)});
    const Known target = x.partial ? Known{k.create(t.dtype, dims_of(t), Vec)} : x;
    scope.push_back({k.op(ops::scatter_flat, {target.id, source.id, where}), source.bound, source.whole, false, false, false});
  }
  void concat(Scope& scope) {
    const Known* const v = vec(scope);
    if (v == nullptr || type(*v).elements() > 4096) return;
    const Known a = *v;
    std::vector<std::int64_t> dims = dims_of(type(a));
    if (random.chance(60)) dims.back() = dim();
    const Known b = random.chance(20) ? a : like(scope, with_shape(type(a), dims.data(), type(a).rank));
    const ValueId r = k.op(ops::concat, {a.id, b.id});
    scope.push_back({r, std::max(a.bound, b.bound), a.whole && b.whole, !f().fully_valid(r), a.empty || b.empty, false});
  }
  static std::vector<std::int64_t> with_columns(const Type& t) {
    std::vector<std::int64_t> dims = dims_of(t);
    dims.back() = std::max<std::int64_t>(dims.back(), 128);
    return dims;
  }
  void broadcast(Scope& scope) {
    const Known* const v = full_vec(scope);
    if (v == nullptr) return;
    const Known x = *v;
    const Type t = type(x);
    const bool rows = random.chance(50);
    std::vector<std::int64_t> narrow = dims_of(t);
    if (rows) narrow.back() = 1;
    else
      for (std::size_t i = 0; i + 1 < narrow.size(); ++i) narrow[i] = 1;
    const Known y = like(scope, with_shape(t, narrow.data(), t.rank));
    if (random.chance(20))
      return scope.push_back(made(k.op(rows ? ops::row_expand : ops::col_expand, {y.id}, {}, t), y, y.bound, y.whole));
    if (random.chance(20))
      return scope.push_back(
          made(k.op(rows ? ops::row_expand_expdif : ops::col_expand_expdif, {x.id, y.id}), x, unbounded, false));
    const OpInfo& op = rows ? *random.one_of({&ops::row_expand_add, &ops::row_expand_sub, &ops::row_expand_max})
                            : *random.one_of({&ops::col_expand_add, &ops::col_expand_sub, &ops::col_expand_min});
    const double bound = x.bound + y.bound;
    scope.push_back(made(k.op(op, {x.id, y.id}), x, bound < 10000 ? bound : unbounded, x.whole && y.whole));
  }

  /// A tile, perhaps valid in part, with more dims in front, or dims of extent 1 repeated.
  void repeated(Scope& scope) {
    const Known* const v = any(scope, [&](const Known& x) { return type(x).is_tile() && type(x).space == Vec && type(x).rank < 4; });
    if (v == nullptr) return;
    const Known x = *v;
    const Type t = type(x);
    std::vector<std::int64_t> wide = dims_of(t);
    for (std::int64_t& d : wide)
      if (d == 1 && random.chance(60)) d = random.between(2, 9);
    if (random.chance(60)) wide.insert(wide.begin(), random.between(1, 6));
    const Type to = with_shape(t, wide.data(), static_cast<int>(wide.size()));
    if (to.elements() > 4096) return;
    scope.push_back(made(k.op(ops::broadcast_to, {x.id}, {}, to), x, x.bound, x.whole));
  }

  // --- extents and windows of tiles ---
  void extents(Scope& scope) {
    const Known* const v = full_vec(scope);
    if (v == nullptr) return;
    const Known x = *v;
    const Type t = type(x);
    std::vector<ValueId> operands{x.id};
    bool empty = false;
    for (int i = 0; i < t.rank; ++i) {
      const bool outer = i > 0 && i + 1 < t.rank && random.chance(95);
      const std::int64_t reach =
          outer || random.chance(40) ? t.dims[i] : random.between(random.chance(15) ? 0 : 1, t.dims[i]);
      empty = empty || reach == 0;
      operands.push_back(!outer && random.chance(50) ? index_parameter(reach).id : k.index(reach));
    }
    const ValueId r = k.op(ops::set_valid_shape, operands);
    scope.push_back({r, x.bound, x.whole, !f().fully_valid(r), empty, false});
  }
  void pad(Scope& scope) {
    const Known* const v = vec(scope, [](const Known& x) { return x.partial; });
    if (v == nullptr) return;
    const Known x = *v;
    const Pad pad = random.chance(70) ? Pad::zero : random.one_of({Pad::min, Pad::max});
    scope.push_back({k.op(ops::fillpad, {x.id}, {attr(AttrKey::pad, static_cast<std::int64_t>(pad))}),
                     pad == Pad::zero ? x.bound : unbounded, x.whole && pad == Pad::zero, false, false, false});
  }
  [[nodiscard]] std::vector<std::int64_t> part_of(const Type& t) {
    std::vector<std::int64_t> dims = dims_of(t);
    for (std::int64_t& d : dims)
      if (random.chance(50)) d = random.between(1, d);
    return dims;
  }
  void slice(Scope& scope, const Counters& counters) {
    const Known* const v =
        vec(scope, [&](const Known& x) { return !x.partial && (type(x).rank < 3 || random.chance(5)); });
    if (v == nullptr) return;
    const Known x = *v;
    const Type t = type(x);
    const std::vector<std::int64_t> dims = part_of(t);
    std::vector<ValueId> offsets;
    for (int i = 0; i < t.rank; ++i)
      offsets.push_back(start(t, i, t.dims[i] - dims[static_cast<std::size_t>(i)], counters));
    scope.push_back(made(k.slice(x.id, dims, offsets), x, x.bound, x.whole));
  }
  // Rows begin at 32 bytes, mostly.
  ValueId start(const Type& t, int axis, std::int64_t room, const Counters& counters) {
    const std::int64_t block = 256 / info(t.dtype).bits;
    if (axis + 1 < t.rank || random.chance(5)) return offset(room, counters);
    return k.index(room < block ? 0 : random.between(0, room / block) * block);
  }
  void assemble(Scope& scope, const Counters& counters) {
    const Known* const v = full_vec(scope);
    if (v == nullptr) return;
    const Known x = *v;
    const Type t = type(x);
    const std::vector<std::int64_t> dims = part_of(t);
    const Known part = like(scope, with_shape(t, dims.data(), t.rank), 50);
    std::vector<ValueId> operands{x.id, part.id};
    for (int i = 0; i < t.rank; ++i)
      operands.push_back(start(t, i, t.dims[i] - dims[static_cast<std::size_t>(i)], counters));
    scope.push_back(made(k.op(ops::assemble, operands), x, std::max(x.bound, part.bound), x.whole && part.whole));
  }
  void move(Scope& scope) {
    const Known* const v =
        random.chance(70) ? full_vec(scope) : any(scope, [&](const Known& x) { return type(x).space == Acc; });
    if (v == nullptr) return;
    const Known x = *v;
    scope.push_back(made(k.op(ops::move, {x.id}, {}, with_space(type(x), Vec)), x, x.bound, x.whole));
  }
  void reshape(Scope& scope) {
    const Known* const v = full_vec(scope);
    if (v == nullptr) return;
    const Known x = *v;
    const Type t = type(x);
    std::vector<std::int64_t> dims = dims_of(t);
    if (random.chance(30)) dims.insert(dims.begin(), 1);
    else if (dims.size() > 1 && random.chance(50)) dims[1] *= dims[0], dims.erase(dims.begin());
    else if (t.elements() % 16 == 0) dims = {t.elements() / 16, 16};
    if (dims.size() < 5) scope.push_back(made(k.reshape(x.id, dims), x, x.bound, x.whole));
  }
  void transpose(Scope& scope) {
    const Known* const v = vec(scope, [&](const Known& x) { return type(x).rank > 1; });
    if (v == nullptr) return;
    const Known x = *v;
    std::vector<ValueId> operands{x.id};
    if (type(x).rank == 2 && random.chance(50)) operands.push_back(k.create(type(x).dtype, dims_of(type(x)), Vec));
    scope.push_back(made(k.op(ops::transpose, operands), x, x.bound, x.whole));
  }

  // --- products: a sum over chunks of k, through Mat, Left and Right ---
  Known factor(DType d, std::int64_t rows, std::int64_t columns, MemorySpace space, bool turned) {
    Known m = whole(d, turned ? std::vector{columns, rows} : std::vector{rows, columns}, Mat);
    if (turned) m.id = k.op(ops::transpose_view, {m.id});
    m.id = k.op(ops::move, {m.id}, {}, with_space(type(m), space));
    return m;
  }
  void product(Scope& scope, const Counters& counters, int depth) {
    const DType d = random.one_of({f16, f16, bf16, f32, i8});
    const std::int64_t m = random.chance(60) ? 16 * random.between(1, 3) : dim(),
                       n = random.chance(60) ? 16 * random.between(1, 3) : dim();
    const std::int64_t chunk = random.chance(95) ? 32 : dim();
    if (depth == 0 || random.chance(40)) {
      const Known a = factor(d, m, chunk, Left, random.chance(30)), b = factor(d, chunk, n, Right, random.chance(30));
      Known r{k.matmul(a.id, b.id), unbounded, false, false, false, false};
      if (random.chance(40))
        r.id = k.matmul_acc(r.id, factor(d, m, chunk, Left, false).id, factor(d, chunk, n, Right, false).id);
      return scope.push_back(r);
    }
    const std::int64_t chunks = random.between(1, 3);
    const ValueId a = tensor(d, {m, chunk * chunks}, Direction::in), b = tensor(d, {chunk * chunks, n}, Direction::in);
    const ValueId stop = random.chance(50) ? k.index(chunks) : index_parameter(chunks).id;
    const auto parts = [&](ValueId i) {
      const ValueId at = k.b().mul(i, k.index(chunk));
      const ValueId left = k.load(a, {m, chunk}, {k.index(0), at}, Mat),
                    right = k.load(b, {chunk, n}, {at, k.index(0)}, Mat);
      return std::pair{k.op(ops::move, {left}, {}, with_space(type(left), Left)),
                       k.op(ops::move, {right}, {}, with_space(type(right), Right))};
    };
    const DType sum = is_float(d) ? f32 : i32;
    const auto results =
        k.loop(stop, {k.create(sum, {m, n}, Acc)}, [&](ValueId i, const std::vector<ValueId>& carried) {
      const auto [left, right] = parts(i);
      const ValueId first =
          k.op(ops::scalar_compare, {i, k.index(0)}, {attr(AttrKey::compare, static_cast<std::int64_t>(Compare::eq))});
      return k.branch(first, {type(carried[0])}, [&] { return std::vector{k.matmul(left, right)}; },
                      [&] { return std::vector{k.matmul_acc(carried[0], left, right)}; });
    });
    scope.push_back({results[0], unbounded, false, false, false, false});
    if (random.chance(50)) store_at(scope.back(), counters);
  }

  void element(Scope& scope, const Counters& counters) {
    const Known* const v =
        vec(scope, [&](const Known& x) { return !x.partial && (type(x).rank < 3 || random.chance(5)); });
    if (v == nullptr) return;
    const Known x = *v;
    std::vector<ValueId> operands{x.id};
    for (const std::int64_t d : dims_of(type(x))) operands.push_back(offset(d - 1, counters));
    const ValueId value = k.op(ops::read, operands);
    operands.insert(operands.begin() + 1, random.chance(50) ? value : constant(type(x).dtype, 5));
    scope.push_back(made(k.op(ops::write, operands), x, std::max(x.bound, 5.0), x.whole));
  }

  // --- control flow ---
  std::vector<ValueId> initial(const Scope& scope) {
    std::vector<ValueId> list;
    for (std::int64_t n = random.between(1, 2); n > 0; --n)
      if (const Known* v = full_vec(scope)) list.push_back(v->id);
    return list;
  }
  std::vector<ValueId> carried_on(const Scope& inner, const std::vector<ValueId>& carried) {
    std::vector<ValueId> list;
    for (const ValueId c : carried) {
      ValueId next = c;
      for (const Known& v : inner)
        if (!v.partial && type(v) == type(c)) next = v.id;
      list.push_back(next);
    }
    return list;
  }
  void loop(Scope& scope, const Counters& counters, int depth) {
    const std::int64_t trips = random.between(0, 3);
    const ValueId stop = random.chance(50) ? k.index(trips) : index_parameter(trips).id;
    const bool strided = random.chance(20);  // every block takes every block_count()-th turn
    const ValueId start = strided ? k.op(ops::block_index, {}) : k.index(0), step = strided ? k.op(ops::block_count, {}) : k.index(1);
    const auto results = k.loop(start, stop, step, initial(scope), [&](ValueId i, const std::vector<ValueId>& carried) {
      Scope inner = scope;
      for (const ValueId c : carried) inner.push_back({c, unbounded, false, false, false, false});
      Counters known = counters;
      known.push_back({i, trips > 0 ? trips - 1 : 0});
      statements(inner, known, depth - 1, random.between(1, 4));
      return carried_on(inner, carried);
    });
    for (const ValueId r : results) scope.push_back({r, unbounded, false, false, false, false});
  }
  void branch(Scope& scope, const Counters& counters, int depth) {
    const ValueId condition = k.op(ops::scalar_compare, {index_parameter(random.between(0, 2)).id, k.index(1)},
                                   {attr(AttrKey::compare, random.below(6))});
    const std::vector<ValueId> models = initial(scope);
    std::vector<Type> types;
    for (const ValueId m : models) types.push_back(type(m));
    const auto block = [&] {
      Scope inner = scope;
      statements(inner, counters, depth - 1, random.between(0, 3));
      return carried_on(inner, models);
    };
    for (const ValueId r : k.branch(condition, types, block, block))
      scope.push_back({r, unbounded, false, false, false, false});
  }

  void finish(const Scope& scope) {
    int stores = 0;
    for (std::size_t i = scope.size(); i-- > 0 && stores < 3;)
      if (type(scope[i]).space == Vec || type(scope[i]).space == Acc) store_at(scope[i], {}), ++stores;
  }

  Focus focus_;
  DType dtype_ = f32;
  std::vector<std::int64_t> shape_;
};

}  // namespace tessera::test
