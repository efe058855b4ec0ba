// Random kernels at tensor level: operations on tensors of rank 1 to 4 of awkward shapes, windows, products, loops, branches.
#pragma once

#include <cmath>
#include <functional>

#include "random_program.hpp"

namespace tessera::test {

class RandomTensorProgram : public RandomProgram {
 public:
  RandomTensorProgram(std::uint64_t seed, int budget, Focus focus = Focus::any) : RandomProgram(seed, budget), focus_(focus) {
    dtype_ = random.one_of({f32, f32, f32, f16, f16, bf16, i32, i16});
    const int rank = static_cast<int>(focus == Focus::pages ? random.between(3, 6) : random.one_of({1, 2, 2, 2, 2, 3, 3, 4}));
    shape_ = awkward(rank);
    dynamic_size = random.one_of<std::int64_t>({1, 3, 7, 16, 33, 40});
    Scope scope;
    for (int i = 0; i < 2; ++i) scope.push_back(input(dtype_, shape_));
    statements(scope, {}, 3, random.between(4, 12));
    finish(scope);
  }

 private:
  using Counters = std::vector<Counter>;
  static constexpr std::int64_t most_elements = 4096;

  [[nodiscard]] std::int64_t awkward_dim() {
    return random.one_of<std::int64_t>({1, 2, 3, 5, 7, 8, 16, 16, 17, 24, 32, 32, 33, 48, 64});
  }
  [[nodiscard]] std::vector<std::int64_t> awkward(int rank) {
    std::vector<std::int64_t> dims(static_cast<std::size_t>(rank));
    std::int64_t all = 0;
    do {
      all = 1;
      for (std::size_t i = 0; i < dims.size(); ++i) {
        const bool inner = i + 2 >= dims.size();
        dims[i] = inner ? awkward_dim() : random.between(1, 3);
        all *= dims[i];
      }
    } while (all > most_elements);
    return dims;
  }

  // --- values ---
  Known input(DType d, const std::vector<std::int64_t>& dims) {
    const bool whole = random.chance(70);
    return {tensor(d, dims, Direction::in, 0, whole || !is_float(d)), 4, whole || !is_float(d), false, false, true};
  }
  /// A fully valid value of that type: one of the scope, or a new input.
  Known like(const Scope& scope, const Type& t, int fresh = 30) {
    const Known* v =
        any(scope, [&](const Known& o) { return !o.partial && type(o).same_shape(t) && type(o).dtype == t.dtype; });
    return v != nullptr && !random.chance(fresh) ? *v : input(t.dtype, dims_of(t));
  }
  const Known* full_value(const Scope& scope) {
    return any(scope, [&](const Known& v) { return !v.partial && type(v).has_static_shape(); });
  }
  Known made(ValueId v, const Known& from, double bound, bool whole) {
    return {v, bound, whole, from.partial, from.empty, false};
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
    if (focus_ == Focus::pages && random.chance(15)) return matmul(scope);
    const std::int64_t n = random.below(100);
    if (n < 9) unary(scope);
    else if (n < 17) binary(scope);
    else if (n < 19) bit(scope);
    else if (n < 20) part(scope);
    else if (n < 25) scalar_form(scope, counters);
    else if (n < 28) choose(scope);
    else if (n < 34) cast(scope);
    else if (n < 43) reduce(scope);
    else if (n < 53) broadcast(scope);
    else if (n < 54) repeated(scope);
    else if (n < 62) slice(scope, counters);
    else if (n < 65) reshape(scope);
    else if (n < 66) concat(scope);
    else if (n < 69) transpose(scope);
    else if (n < 77) matmul(scope);
    else if (n < 80) fill(scope);
    else if (n < 81) random.chance(50) ? gather(scope) : scatter(scope);
    else if (n < 82) random.chance(40) ? sort(scope) : gather_rows(scope);
    else if (n < 87) store(scope, counters);
    else if (n < 89) element(scope, counters);
    else if (n < 91) assemble(scope, counters);
    else if (n < 93) pad(scope);
    else if (depth == 0) unary(scope);
    else if (n < 96) loop(scope, counters, depth);
    else if (n < 99) branch(scope, counters, depth);
    else repeat(scope, counters, depth);
  }

  Known clipped(const Known& v) {
    if (v.bound <= 50) return v;
    const DType d = type(v).dtype;
    const ValueId low = k.op(ops::minimums, {v.id, constant(d, 50)});
    return made(k.op(ops::maximums, {low, constant(d, -50)}), v, 50, v.whole);
  }
  void unary(Scope& scope) {
    const Known* const v = any(scope, [](const Known&) { return true; });
    if (v == nullptr) return;
    const Known x = *v;
    switch (random.below(6)) {
      case 0:
        return scope.push_back(made(k.op(ops::neg, {x.id}), x, x.bound, x.whole));
      case 1:
        return scope.push_back(made(k.op(ops::abs, {x.id}), x, x.bound, x.whole));
      case 2:
        if (random.chance(30))
          return scope.push_back(made(k.op(ops::lrelu, {x.id, k.constant(f32, 0.25)}), x, x.bound, false));
        return scope.push_back(made(k.op(ops::relu, {x.id}), x, x.bound, x.whole));
      case 3:
        return scope.push_back(made(k.op(ops::exp, {clipped(x).id}), x, unbounded, false));
      case 4:
        if (type(x).dtype == f32 && random.chance(30))
          return scope.push_back(made(k.op(random.chance(50) ? ops::sin : ops::cos, {x.id}), x, 1, false));
        return scope.push_back(made(k.op(random.chance(50) ? ops::recip : ops::rsqrt, {x.id}), x, unbounded, false));
      default:
        return scope.push_back(made(k.op(ops::sqrt, {k.op(ops::abs, {x.id})}), x, x.bound + 1, false));
    }
  }
  /// One of two values for each element, by a comparison of them or with a number.
  void choose(Scope& scope) {
    const Known* const v = any(scope, [](const Known&) { return true; });
    if (v == nullptr) return;
    const Known a = *v, b = like(scope, type(a));
    const DType d = type(a).dtype;
    if ((d == i16 || d == bf16) && random.chance(97)) return;  // not on a3
    const Attr how = attr(AttrKey::compare, random.below(6));
    const Known c = random.chance(70) ? a : like(scope, type(a));
    const ValueId mask = random.chance(50) ? k.op(ops::compare, {c.id, b.id}, {how})
                                           : k.op(ops::compares, {c.id, random.chance(50) ? number_parameter(d) : constant(d, random.between(-2, 2))}, {how});
    const ValueId r = k.op(ops::select, {mask, a.id, b.id});
    scope.push_back({r, std::max(a.bound, b.bound), a.whole && b.whole, !f().fully_valid(r), a.empty || c.empty, false});
    if (random.chance(30)) scope.push_back({k.op(ops::select, {mask, b.id, r}), std::max(a.bound, b.bound), a.whole && b.whole, !f().fully_valid(r), a.empty || c.empty, false});
  }
  double bound_of(const OpInfo& op, const Known& a, const Known& b) {
    if (is_integer(type(a).dtype) && (a.bound > 100 || b.bound > 100)) return unbounded;
    if (&op == &ops::mul || &op == &ops::row_expand_mul || &op == &ops::col_expand_mul) return a.bound * b.bound;
    return a.bound + b.bound;
  }
  void binary(Scope& scope) {
    const Known* const v = any(scope, [](const Known&) { return true; });
    if (v == nullptr) return;
    const Known a = *v, b = random.chance(10) && !a.memory ? a : like(scope, type(a));
    const OpInfo& op =
        *random.one_of({&ops::add, &ops::sub, &ops::mul, &ops::maximum, &ops::minimum, &ops::div, &ops::fmod});
    const bool division = &op == &ops::div || &op == &ops::fmod;
    if (division && !is_float(type(a).dtype)) return;
    scope.push_back(
        made(k.op(op, {a.id, b.id}), a, division ? unbounded : bound_of(op, a, b), !division && a.whole && b.whole));
  }
  void bit(Scope& scope) {
    const Known* const v = any(scope, [&](const Known& x) { return is_integer(type(x).dtype); });
    const Known x = v != nullptr ? *v : input(random.one_of({i16, i32, u16, i8}), shape_);
    scope.push_back(bits(x, [&](std::int64_t positions) {
      if (positions == 0) return like(scope, type(x));
      return Known{tensor(type(x).dtype, dims_of(type(x)), Direction::in, positions), 8, true, false, false, true};
    }));
  }
  void part(Scope& scope) {
    const Known* const v = any(scope, [](const Known& x) { return !x.memory; });
    if (v == nullptr) return;
    const Known x = *v;
    Known y = like(scope, type(x));
    if (y.memory) y = made(k.op(ops::neg, {y.id}), y, y.bound, y.whole);
    scope.push_back(parts(x, y));
  }
  void scalar_form(Scope& scope, const Counters& counters) {
    const Known* const v = any(scope, [](const Known&) { return true; });
    if (v == nullptr) return;
    const Known x = *v;
    const DType d = type(x).dtype;
    const OpInfo& op = *random.one_of({&ops::adds, &ops::subs, &ops::muls, &ops::maximums, &ops::minimums, &ops::divs, &ops::fmods});
    const std::int64_t n = random.between(1, 3);
    ValueId s = constant(d, n);
    bool known = true;
    if (random.chance(30)) s = number_parameter(d);
    else if (random.chance(15) && &op != &ops::divs && &op != &ops::fmods) {
      const Known from = type(x).rank > 2 && random.chance(95) ? input(d, {3, 5}) : like(scope, type(x));
      s = read(from, counters);
      known = false;
    }
    const bool whole = x.whole && &op != &ops::divs && known;
    const bool small = known && (is_float(d) || x.bound <= 100);
    scope.push_back(made(k.op(op, {x.id, s}), x, small ? x.bound * 3 + 3 : unbounded, whole));
  }
  void cast(Scope& scope) {
    const Known* const v = any(scope, [](const Known& x) { return x.bound <= 1000; });
    if (v == nullptr) return;
    const Known x = *v;
    const DType from = type(x).dtype, to = random.one_of({f32, f32, f16, bf16, i32, i16});
    const Rounding r =
        is_float(from) && is_float(to)
            ? Rounding::rint
            : random.one_of({Rounding::rint, Rounding::round, Rounding::floor, Rounding::ceil, Rounding::trunc});
    const bool exact = x.whole && x.bound <= 200;
    scope.push_back(made(k.cast(x.id, to, r), x, x.bound + 1, exact || is_integer(to)));
  }
  void reduce(Scope& scope) {
    const Known* const v = any(scope, [](const Known& x) { return !x.empty; });
    if (v == nullptr) return;
    const Known x = *v;
    const OpInfo& op =
        *random.one_of({&ops::row_sum, &ops::row_max, &ops::row_min, &ops::col_sum, &ops::col_max, &ops::col_min,
                        &ops::row_prod, &ops::col_prod});
    if (random.chance(20)) return arg_reduce(scope, x);
    if (&op == &ops::row_prod || &op == &ops::col_prod)
      return scope.push_back(made(k.op(op, {x.id}), x, unbounded, false));
    const bool sums = &op == &ops::row_sum || &op == &ops::col_sum;
    const double n = static_cast<double>(type(x).elements());
    const bool integer = is_integer(type(x).dtype);
    const double bound = sums ? x.bound * n : x.bound;
    scope.push_back(
        made(k.op(op, {x.id}), x, integer && bound > 30000 ? unbounded : bound, x.whole && (!sums || bound < 2000)));
  }
  void arg_reduce(Scope& scope, const Known& x) {
    const OpInfo& op = *random.one_of({&ops::row_argmax, &ops::row_argmin, &ops::col_argmax, &ops::col_argmin});
    if (!accepts_on(op, type(x).dtype, Arch::a3) && random.chance(97)) return;
    scope.push_back(made(k.op(op, {x.id}), x, static_cast<double>(type(x).elements()), true));
  }
  void concat(Scope& scope) {
    const Known* const v = any(scope, [](const Known&) { return true; });
    if (v == nullptr || type(*v).elements() > most_elements / 2) return;
    const Known a = *v;
    std::vector<std::int64_t> dims = dims_of(type(a));
    if (random.chance(60)) dims.back() = awkward_dim();
    const Known b = random.chance(20) ? a : like(scope, with_shape(type(a), dims.data(), type(a).rank));
    const ValueId r = k.op(ops::concat, {a.id, b.id});
    scope.push_back({r, std::max(a.bound, b.bound), a.whole && b.whole, !f().fully_valid(r), a.empty || b.empty, false});
  }
  void broadcast(Scope& scope) {
    const Known* const v = full_value(scope);
    if (v == nullptr) return;
    const Known x = *v;
    const Type t = type(x);
    const bool rows = random.chance(50);
    std::vector<std::int64_t> narrow = dims_of(t);
    if (rows) narrow.back() = 1;
    else
      for (std::size_t i = 0; i + 1 < narrow.size(); ++i) narrow[i] = 1;
    if (!rows && random.chance(30)) narrow.erase(narrow.begin(), narrow.begin() + random.between(0, t.rank - 1));
    Known y = like(scope, with_shape(t, narrow.data(), static_cast<int>(narrow.size())));
    if (rows && random.chance(30)) y = made(k.op(ops::row_max, {x.id}), x, x.bound, x.whole);
    if (random.chance(15))
      return scope.push_back(made(k.op(rows ? ops::row_expand : ops::col_expand, {y.id}, {}, t), y, y.bound, y.whole));
    if (random.chance(15)) {
      const ValueId low = clipped(x).id;
      return scope.push_back(
          made(k.op(rows ? ops::row_expand_expdif : ops::col_expand_expdif, {low, y.id}), x, unbounded, false));
    }
    const std::size_t which = static_cast<std::size_t>(random.below(6));
    static constexpr const OpInfo* by_row[] = {&ops::row_expand_add, &ops::row_expand_sub, &ops::row_expand_mul,
                                               &ops::row_expand_max, &ops::row_expand_min, &ops::row_expand_div};
    static constexpr const OpInfo* by_col[] = {&ops::col_expand_add, &ops::col_expand_sub, &ops::col_expand_mul,
                                               &ops::col_expand_max, &ops::col_expand_min, &ops::col_expand_div};
    const OpInfo& op = *(rows ? by_row : by_col)[which];
    scope.push_back(
        made(k.op(op, {x.id, y.id}), x, which == 5 ? unbounded : bound_of(op, x, y), which != 5 && x.whole && y.whole));
  }

  /// A value with some dims of extent 1, or without its first ones, repeated to the shape of another one.
  void repeated(Scope& scope) {
    const Known* const v = full_value(scope);
    if (v == nullptr) return;
    const Known x = *v;
    const Type t = type(x);
    std::vector<std::int64_t> narrow = dims_of(t), wide = narrow;
    for (std::int64_t& d : narrow)
      if (random.chance(50)) d = 1;
    if (random.chance(30)) narrow.erase(narrow.begin(), narrow.begin() + random.between(0, t.rank - 1));
    if (t.rank < 4 && random.chance(20)) wide.insert(wide.begin(), random.between(1, 6));
    const Type to = with_shape(t, wide.data(), static_cast<int>(wide.size()));
    if (to.elements() > most_elements) return;
    const Known y = like(scope, with_shape(t, narrow.data(), static_cast<int>(narrow.size())));
    const Known all = made(k.op(ops::broadcast_to, {y.id}, {}, to), y, y.bound, y.whole);
    scope.push_back(all);
    if (random.chance(30)) return store_whole(all);
    if (!to.same_shape(t)) return;
    const OpInfo& op = *random.one_of({&ops::add, &ops::sub, &ops::mul, &ops::maximum});
    scope.push_back(made(k.op(op, {all.id, x.id}), x, bound_of(op, all, x), all.whole && x.whole));
  }
  void store_whole(const Known& x) {
    const ValueId out = tensor(type(x).dtype, dims_of(type(x)), Direction::out);
    k.store(x.id, out, std::vector<ValueId>(type(x).rank, k.index(0)));
  }

  // --- windows ---
  void slice(Scope& scope, const Counters& counters) {
    if (random.chance(30)) return dynamic_slice(scope, counters);
    const Known* const v = full_value(scope);
    Known x;
    if (v == nullptr || random.chance(50) || (type(*v).rank > 2 && random.chance(80))) {
      std::vector<std::int64_t> dims = random.chance(70) ? shape_ : awkward(static_cast<int>(shape_.size()));
      for (std::int64_t& d : dims)
        if (random.chance(50)) d += random.one_of<std::int64_t>({1, 8, 16});
      x = input(dtype_, dims);
      if (random.chance(10)) x.id = tensor(dtype_, dims, Direction::inout), x.whole = true, scope.push_back(x);
    } else {
      x = *v;
    }
    const Type t = type(x);
    std::vector<std::int64_t> window = dims_of(t);
    const bool to_shape = t.rank == static_cast<int>(shape_.size()) && random.chance(70);
    for (std::size_t i = 0; i < window.size(); ++i)
      window[i] = to_shape && shape_[i] <= window[i] ? shape_[i]
                  : random.chance(40)                ? random.between(1, window[i])
                                                     : window[i];
    std::vector<ValueId> offsets, valid;
    bool empty = false;
    const bool partial = random.chance(20);
    const std::int64_t axis = random.below(t.rank);
    for (int i = 0; i < t.rank; ++i) {
      const std::int64_t size = window[static_cast<std::size_t>(i)];
      offsets.push_back(offset(t.dims[i] - size, counters));
      if (!partial) continue;
      const std::int64_t reach = i == axis ? random.between(random.chance(80) ? 1 : 0, size) : size;
      empty = empty || reach == 0;
      valid.push_back(i == axis && random.chance(50) ? index_parameter(reach).id : k.index(reach));
    }
    const ValueId r = k.slice(x.id, window, offsets, valid);
    scope.push_back({r, x.bound, x.whole, !f().fully_valid(r), empty, false});
  }
  /// A window of [S, ..] whose tail may reach past the end.
  void dynamic_slice(Scope& scope, const Counters& counters) {
    std::vector<std::int64_t> dims = shape_, window = shape_;
    const auto axis = static_cast<std::size_t>(shape_.size() > 1 && random.chance(20) ? shape_.size() - 1 : 0);
    dims[axis] = dyn<"S">;
    const ValueId t = tensor(dtype_, dims, random.chance(80) ? Direction::in : Direction::inout);
    const ValueId s = f().symbol(dyn<"S">), start = offset(dynamic_size, counters);
    const ValueId valid = k.b().min(k.b().max(k.b().sub(s, start), k.index(0)), k.index(window[axis]));
    std::vector<ValueId> offsets(dims.size(), k.index(0)), extents;
    offsets[axis] = start;
    for (const std::int64_t w : window) extents.push_back(k.index(w));
    extents[axis] = valid;
    const Known x{k.slice(t, window, offsets, extents), 4, true, true, true, false};
    scope.push_back(x);
    if (f().parameters[f()[t].position].direction == Direction::inout && random.chance(70))
      k.store(k.op(ops::neg, {x.id}), t, offsets);
  }
  void pad(Scope& scope) {
    const Known* const v = any(scope, [](const Known& x) { return x.partial; });
    if (v != nullptr && random.chance(70)) {
      const Known x = *v;
      return scope.push_back({k.op(ops::fillpad, {x.id}, {attr(AttrKey::pad, static_cast<std::int64_t>(Pad::zero))}),
                              x.bound, x.whole, false, false, false});
    }
    const Known* const w = any(scope, [](const Known& x) { return !x.partial && !x.memory; });
    if (w == nullptr) return;
    const Known x = *w;
    std::vector<ValueId> operands{x.id};
    for (int i = 0; i < type(x).rank; ++i) {
      const std::int64_t d = type(x).dims[i];
      const bool inner = i > 0 && i + 1 < type(x).rank && random.chance(80);
      operands.push_back(!inner && random.chance(50) ? index_parameter(random.between(1, d)).id : k.index(d));
    }
    const ValueId r = k.op(ops::set_valid_shape, operands);
    scope.push_back({r, x.bound, x.whole, !f().fully_valid(r), false, false});
  }
  void reshape(Scope& scope) {
    const Known* const v = full_value(scope);
    if (v == nullptr) return;
    const Known x = *v;
    std::vector<std::int64_t> dims = dims_of(type(x));
    switch (random.below(4)) {
      case 0:
        dims.insert(dims.begin(), 1);
        break;
      case 1:
        if (dims.size() > 1) dims[1] *= dims[0], dims.erase(dims.begin());
        break;
      case 2: {
        std::int64_t divisor = 1;
        for (const std::int64_t d : {2, 3, 5, 7, 11})
          if (dims[0] % d == 0) divisor = d;
        dims[0] /= divisor;
        dims.insert(dims.begin(), divisor);
        break;
      }
      default: {
        std::int64_t all = 1;
        for (const std::int64_t d : dims) all *= d;
        const std::int64_t columns = random.one_of<std::int64_t>({1, 8, 16, 32, all});
        if (all % columns != 0) return;
        dims = {all / columns, columns};
      }
    }
    if (dims.size() > 5) return;
    // Padded rows have no other shape: so rows of whole blocks, or the same rows, mostly.
    if (dims.back() != type(x).last() && random.chance(70))
      for (const std::int64_t last : {dims.back(), type(x).last()})
        if (last * info(type(x).dtype).bits % 256 != 0) return;
    scope.push_back(made(k.reshape(x.id, dims), x, x.bound, x.whole));
  }
  void transpose(Scope& scope) {
    const Known* const v = any(scope, [&](const Known& x) { return type(x).rank > 1; });
    if (v == nullptr) return;
    const Known x = *v;
    std::vector<Attr> attrs;
    if (random.chance(10))
      attrs = {attr(AttrKey::axis, random.between(-type(x).rank, type(x).rank - 1)), attr(AttrKey::other_axis, -1)};
    scope.push_back(made(k.op(ops::transpose, {x.id}, attrs), x, x.bound, x.whole));
  }

  // --- products ---
  void matmul(Scope& scope) {
    const Known* const v = any(scope, [&](const Known& x) {
      return !x.partial && type(x).rank > 1 && is_float(type(x).dtype) && type(x).last() <= 64 && type(x).last(1) <= 64;
    });
    const bool bytes = random.chance(10), ta = random.chance(30), tb = random.chance(30), swapped = random.chance(30);
    const int inner_axis = ta != swapped ? 1 : 0;
    Known a;
    if (v != nullptr && !bytes && random.chance(40)) {
      a = *v;
      if (type(a).last(inner_axis) * info(type(a).dtype).bits % 256 != 0 && random.chance(90)) return;
    } else {
      std::vector<std::int64_t> dims = awkward(static_cast<int>(focus_ == Focus::pages ? random.between(3, 5) : random.one_of({2, 2, 2, 3, 4})));
      if (random.chance(97)) dims[dims.size() - 1 - static_cast<std::size_t>(inner_axis)] = random.one_of({32, 64});
      a = input(bytes ? i8 : random.one_of({f16, f32, bf16}), dims);
    }
    const Type t = type(a);
    const std::int64_t inner = t.last(inner_axis), other = awkward_dim();
    std::vector<std::int64_t> dims;
    if (t.rank > 2 && random.chance(60))
      for (int i = 0; i + 2 < t.rank; ++i) dims.push_back(random.chance(30) ? 1 : t.dims[i]);
    else if (random.chance(20)) dims.push_back(random.between(1, 3));
    // b is [K,N] as the right factor, [M,K] as the left one; and the other way round when it is read transposed.
    const bool inner_first = swapped == tb;
    dims.push_back(inner_first ? inner : other);
    dims.push_back(inner_first ? other : inner);
    std::int64_t pages = 1;
    for (std::size_t i = 0; i + 2 < dims.size(); ++i) pages *= dims[i];
    if (pages * t.elements() > 2 * most_elements) return;
    Known b = like(scope, with_shape(with_space(t, Gm), dims.data(), static_cast<int>(dims.size())), 60);
    if (swapped) std::swap(a, b);
    const bool la = swapped ? tb : ta, lb = swapped ? ta : tb;
    const double bound = a.bound * b.bound * static_cast<double>(inner);
    const Known r{k.matmul(a.id, b.id, la, lb), bound, a.whole && b.whole, false, false, false};
    scope.push_back(r);
    if (!random.chance(25) || !r.whole || bound > 100000) return;
    // One more product on top: exact in any order.
    std::vector<Attr> attrs;
    if (la) attrs.push_back(attr(AttrKey::transpose_lhs, 1));
    if (lb) attrs.push_back(attr(AttrKey::transpose_rhs, 1));
    const Known start = random.chance(60) ? r : like(scope, type(r));
    if (!start.whole || start.bound > 100000) return;
    scope.push_back(
        {k.op(ops::matmul_acc, {start.id, a.id, b.id}, attrs), bound + start.bound, true, false, false, false});
  }

  // --- others ---
  void fill(Scope& scope) {
    if (random.chance(70))
      return scope.push_back({k.full(constant(dtype_, random.between(-3, 3)), shape_), 3, true, false, false, false});
    const DType d = random.one_of({i32, i16});
    std::vector<std::int64_t> dims(shape_.size(), 1);
    dims.back() = shape_.back();
    std::vector<Attr> attrs;
    if (random.chance(30)) attrs.push_back(attr(AttrKey::descending, 1));
    const double bound = static_cast<double>(shape_.back()) + 2;
    scope.push_back({k.op(ops::arange, {constant(d, random.between(0, 2))}, attrs, shaped_type(d, dims)), bound, true,
                     false, false, false});
  }
  void gather(Scope& scope) {
    const Known* const v = full_value(scope);
    if (v == nullptr) return;
    const Known x = *v;
    std::vector<std::int64_t> dims = dims_of(type(x));
    if (random.chance(20)) return pick(scope, x);
    const std::int64_t axis = random.chance(70) ? type(x).rank - 1 : random.below(type(x).rank);
    if (random.chance(60)) dims[static_cast<std::size_t>(axis)] = awkward_dim();
    const DType d = info(type(x).dtype).bits == 16 && random.chance(30) ? i16 : i32;
    const ValueId index = tensor(d, dims, Direction::in, type(x).dims[axis]);
    scope.push_back({k.op(ops::gather, {x.id, index}, {attr(AttrKey::axis, axis)}), x.bound, x.whole, false, false, false});
  }
  Attr any_pattern() { return attr(AttrKey::pattern, random.between(1, 7)); }
  void pick(Scope& scope, const Known& x) {
    scope.push_back({k.op(ops::gather_mask, {x.id}, {any_pattern()}, type(x)), x.bound, x.whole, false, false, false});
  }
  /// Elements or rows that an index names, or every second or fourth column.
  void scatter(Scope& scope) {
    const Known* const v = any(scope, [&](const Known& x) { return type(x).rank == 2 && type(x).has_static_shape(); });
    if (v == nullptr) return;
    const Known x = *v;
    const Type t = type(x);
    if (t.dtype == i8 && random.chance(97)) return;  // not on a3
    const auto written = [&](const Known& source) { return made({}, x, std::max(x.bound, source.bound), x.whole && source.whole); };
    if (random.chance(30)) {
      const Attr p = any_pattern();
      const std::int64_t length = pattern_length(static_cast<MaskPattern>(p.integer));
      if (t.last() % length != 0) return;
      const Known source = like(scope, with_dim(t, 1, t.last() / length));
      Known r = written(source);
      r.id = k.op(ops::scatter_mask, {x.id, source.id}, {p});
      return scope.push_back(r);
    }
    const bool rows = random.chance(50);
    const std::int64_t m = random.between(1, t.dims[0]), n = rows ? t.last() : random.between(1, t.last());
    const std::int64_t dims[] = {m, n};
    const Known source = like(scope, with_shape(t, dims, 2));
    const bool column = rows && random.chance(30);  // one index in each row of its own
    const ValueId index = rows ? distinct_positions(i32, {1, m}, t.dims[0]) : distinct_positions(ops::position_dtype(t.dtype), {m, n}, t.last());
    const ValueId turned = column ? k.reshape(index, {m, 1}) : rows && m % 2 == 0 && random.chance(50) ? k.reshape(index, {2, m / 2}) : index;
    Known r = written(source);
    r.id = k.op(rows ? ops::scatter_update : ops::scatter, {x.id, turned, source.id});
    scope.push_back(r);
  }
  /// Pairs; what is in one row is merged further.
  void sort(Scope& scope) {
    const Known* const v = any(scope, [&](const Known& x) {
      return !x.partial && type(x).last() % 32 == 0 && (type(x).dtype == f32 || type(x).dtype == f16) && type(x).elements() <= most_elements / 4;
    });
    const Known x = v != nullptr ? *v : input(random.one_of({f32, f16}), {1, random.one_of<std::int64_t>({64, 96, 128})});
    std::vector<std::int64_t> dims = dims_of(type(x));
    for (std::size_t i = 0; i + 1 < dims.size(); ++i) dims[i] = 1;
    const ValueId index = tensor(u32, random.chance(50) ? dims : dims_of(type(x)), Direction::in, 1000);
    Known pairs{k.op(ops::sort32, {x.id, index}), unbounded, false, false, x.empty, false};
    scope.push_back(pairs);
    pairs.id = k.op(ops::merge_sort, {pairs.id, k.constant(i32, type(x).dtype == f32 ? 64 : 128)});
    scope.push_back(pairs);
    if (!random.chance(50)) return;
    pairs.id = k.op(ops::merge_sort2, {pairs.id, pairs.id});
    scope.push_back(pairs);
  }
  /// Rows in Vec, or a right factor in Mat, plain or transposed, and its product: by two windows or by a block table.
  void gather_rows(Scope& scope) {
    const bool in_mat = random.chance(60), transposed = in_mat && random.chance(50), paged = random.chance(50);
    const DType d = in_mat ? random.one_of({f16, f32, bf16}) : random.one_of({f16, f32, i32, i8});
    // Of whole boxes: others stay in Acc on a3.
    const auto outer = [&] { return in_mat && random.chance(90) ? random.one_of<std::int64_t>({16, 32, 48}) : awkward_dim(); };
    const std::int64_t inner = random.one_of<std::int64_t>({32, 64}), other = outer();
    const std::int64_t rows = in_mat && !transposed ? inner : other, columns = in_mat && !transposed ? other : inner;
    const auto space = int_attr(AttrKey::space, in_mat ? Mat : Vec), turned = int_attr(AttrKey::transposed, transposed ? 1 : 0);
    const Known source = input(d, {std::max<std::int64_t>(rows, 16), columns + 8});
    ValueId made;
    if (paged) {
      const std::int64_t block = random.one_of<std::int64_t>({2, 4, 8});
      const ValueId index = tensor(i32, {rows}, Direction::in, 3 * block), table = tensor(i32, {3}, Direction::in, 16 / block);
      made = k.op(ops::paged_gather, {source.id, index, table},
                  {space, turned, int_attr(AttrKey::rows, rows), int_attr(AttrKey::columns, columns), int_attr(AttrKey::block_size, block), int_attr(AttrKey::column, 8)});
    } else {
      made = k.op(ops::create, {}, {space, turned}, shaped_type(d, {transposed ? columns : rows, transposed ? rows : columns}));
      const std::int64_t cut = random.between(0, rows);
      for (const auto& [start, count] : {std::pair{std::int64_t{0}, cut}, std::pair{cut, rows - cut}}) {
        if (count == 0) continue;
        const ValueId at = k.index(start), zero = k.index(0);
        std::vector<Attr> attrs{int_attr(AttrKey::rows, count), int_attr(AttrKey::columns, columns)};
        if (transposed) attrs.push_back(turned);
        made = k.op(ops::gather_row, {made, source.id, transposed ? zero : at, transposed ? at : zero, k.index(0), k.index(random.below(9))}, attrs);
      }
    }
    if (!in_mat) return scope.push_back({made, 4, source.whole, false, false, false});
    const Known left = input(d, {outer(), inner});
    scope.push_back({k.matmul(left.id, made), 16.0 * static_cast<double>(inner), source.whole && left.whole, false, false, false});
  }
  void store(Scope& scope, const Counters& counters) {
    const Known* const v = any(scope, [&](const Known& x) { return type(x).has_static_shape(); });
    if (v == nullptr) return;
    const Known x = *v;
    std::vector<std::int64_t> dims = dims_of(type(x));
    if (dims.size() < 4 && random.chance(20)) dims.insert(dims.begin(), random.between(1, 3));
    for (std::int64_t& d : dims)
      if (random.chance(30)) d += random.one_of<std::int64_t>({1, 8, 16});
    const bool again = random.chance(30);
    const ValueId out = tensor(type(x).dtype, dims, again ? Direction::inout : Direction::out);
    std::vector<ValueId> offsets;
    const int extra = static_cast<int>(dims.size()) - type(x).rank;
    for (int i = 0; i < static_cast<int>(dims.size()); ++i)
      offsets.push_back(
          offset(dims[static_cast<std::size_t>(i)] - (i < extra ? 1 : type(x).dims[i - extra]), counters));
    k.store(x.id, out, offsets);
    if (again) scope.push_back({out, unbounded, false, false, false, true});
  }
  void assemble(Scope& scope, const Counters& counters) {
    const Known* const v = any(scope, [&](const Known& x) { return !x.memory && !x.partial; });
    if (v == nullptr) return;
    const Known x = *v;
    std::vector<std::int64_t> dims = dims_of(type(x));
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (random.chance(i + 1 < dims.size() || random.chance(10) ? 40 : 0)) dims[i] = random.between(1, dims[i]);
    const Known part = like(scope, with_shape(type(x), dims.data(), static_cast<int>(dims.size())), 50);
    std::vector<ValueId> operands{x.id, part.id};
    for (int i = 0; i < type(x).rank; ++i)
      operands.push_back(offset(type(x).dims[i] - dims[static_cast<std::size_t>(i)], counters));
    scope.push_back(made(k.op(ops::assemble, operands), x, std::max(x.bound, part.bound), x.whole && part.whole));
  }
  ValueId read(const Known& x, const Counters& counters) {
    std::vector<ValueId> operands{x.id};
    for (const std::int64_t d : dims_of(type(x))) operands.push_back(offset(d - 1, counters));
    return k.op(ops::read, operands);
  }
  void element(Scope& scope, const Counters& counters) {
    const Known* const v = full_value(scope);
    if (v == nullptr || (type(*v).rank > 2 && random.chance(90))) return;
    const Known x = *v;
    const ValueId value = random.chance(50) ? constant(type(x).dtype, 5) : read(x, counters);
    ValueId target =
        random.chance(50) ? tensor(type(x).dtype, dims_of(type(x)), Direction::out) : k.op(ops::neg, {x.id});
    std::vector<ValueId> operands{target, value};
    for (const std::int64_t d : dims_of(type(x))) operands.push_back(offset(d - 1, counters));
    k.effect(ops::write, operands);
    if (f()[target].kind == ValueKind::result) scope.push_back({target, unbounded, false, false, false, false});
  }

  // --- control flow ---
  Known last_of(const Scope& scope, const Type& t, const Known& otherwise) {
    for (std::size_t i = scope.size(); i-- > 0;)
      if (!scope[i].partial && type(scope[i]) == t && (!scope[i].memory || random.chance(50))) return scope[i];
    return otherwise;
  }
  // Of values that change in a loop nothing is known.
  Scope carried_scope(const Scope& scope, const std::vector<ValueId>& carried) {
    Scope inner = scope;
    for (int twice = 0; twice < 2; ++twice)
      for (const ValueId c : carried)
        if (type(c).is_shaped()) inner.push_back({c, unbounded, false, false, false, false});
    return inner;
  }
  std::vector<ValueId> carried_on(const Scope& inner, const std::vector<ValueId>& carried) {
    std::vector<ValueId> list;
    for (const ValueId c : carried) list.push_back(last_of(inner, type(c), Known{c}).id);
    return list;
  }
  std::vector<ValueId> initial(const Scope& scope) {
    std::vector<ValueId> list;
    for (std::int64_t n = random.between(1, 2); n > 0; --n)
      if (const Known* v = full_value(scope)) list.push_back(v->id);
    return list;
  }
  void loop(Scope& scope, const Counters& counters, int depth) {
    const std::int64_t trips = random.between(0, 3);
    const ValueId stop = random.chance(50) ? k.index(trips) : index_parameter(trips).id;
    const auto results = k.loop(stop, initial(scope), [&](ValueId i, const std::vector<ValueId>& carried) {
      Scope inner = carried_scope(scope, carried);
      Counters known = counters;
      known.push_back({i, trips > 0 ? trips - 1 : 0});
      statements(inner, known, depth - 1, random.between(1, 4));
      return carried_on(inner, carried);
    });
    for (const ValueId r : results) scope.push_back({r, unbounded, false, false, false, false});
  }
  void repeat(Scope& scope, const Counters& counters, int depth) {
    std::vector<ValueId> start = initial(scope);
    start.insert(start.begin(), k.index(0));
    const std::int64_t trips = random.between(0, 3);
    const ValueId stop = index_parameter(trips).id;
    const auto results = k.loop_while(start, [&](std::vector<ValueId> carried) {
      carried.insert(carried.begin(), k.op(ops::scalar_compare, {carried[0], stop},
                                           {attr(AttrKey::compare, static_cast<std::int64_t>(Compare::lt))}));
      return carried;
    }, [&](const std::vector<ValueId>& carried) {
      Scope inner = carried_scope(scope, carried);
      statements(inner, counters, depth - 1, random.between(1, 3));
      std::vector<ValueId> next{k.b().add(carried[0], k.index(1))};
      for (std::size_t i = 1; i < carried.size(); ++i)
        next.push_back(last_of(inner, type(carried[i]), Known{carried[i]}).id);
      return next;
    });
    for (std::size_t i = 1; i < results.size(); ++i)
      scope.push_back({results[i], unbounded, false, false, false, false});
  }
  void branch(Scope& scope, const Counters& counters, int depth) {
    const ValueId n =
        counters.empty() || random.chance(50) ? index_parameter(random.between(0, 2)).id : random.one_of(counters).id;
    const ValueId condition = k.op(ops::scalar_compare, {n, k.index(1)}, {attr(AttrKey::compare, random.below(6))});
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

  // What was made last is returned, or stored to a tensor.
  void finish(const Scope& scope) {
    std::vector<ValueId> results;
    for (std::size_t i = scope.size(); i-- > 0 && results.size() < 3;)
      if (type(scope[i]).is_tensor() && type(scope[i]).has_static_shape() && (!scope[i].memory || results.empty()) &&
          !scope[i].empty)
        results.push_back(scope[i].id);
    k.returns(results);
  }

  Focus focus_;
  DType dtype_ = f32;
  std::vector<std::int64_t> shape_;
};

}  // namespace tessera::test
