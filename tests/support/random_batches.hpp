// What random kernels on tiles of rank 3 to 6 have besides: batches of products whose operands broadcast, are windows, tails,
// views or moved, and are loaded in front of loops and writes; tails of chunks; regrouped leading dims.
#pragma once

#include "random_program.hpp"

namespace tessera::test {

class RandomBatches : public RandomProgram {
 protected:
  using Counters = std::vector<Counter>;
  using Dims = std::vector<std::int64_t>;
  using RandomProgram::RandomProgram;

  /// A tile loaded from a tensor of its shape.
  Known whole(DType d, const Dims& dims, MemorySpace space = Vec) {
    const bool numbers = random.chance(70) || !is_float(d);
    const ValueId t = tensor(d, dims, Direction::in, 0, numbers);
    return {k.load(t, dims, std::vector<ValueId>(dims.size(), k.index(0)), space), 4, numbers, false, false, false};
  }
  /// A shape of rank 3 to 6 with few pages.
  Dims shape_of_pages(const Dims& inner) {
    Dims dims;
    std::int64_t pages = 1;
    for (std::int64_t n = random.between(1, 4); n > 0; --n) {
      dims.push_back(pages < 5 ? random.between(1, 3) : 1);
      pages *= dims.back();
    }
    dims.insert(dims.end(), inner.begin(), inner.end());
    return dims;
  }

  /// A chunk of rows with a tail that the run-time dim decides, behind leading dims of extent 1.
  Known tail(DType d, const Dims& inner, const Counters& counters) {
    const Dims like = shape_of_pages(inner);
    Dims dims = like, window = like;
    const std::size_t axis = dims.size() - 2;
    for (std::size_t i = 0; i < axis; ++i) window[i] = 1;
    dims[axis] = dyn<"S">;
    const ValueId t = tensor(d, dims, Direction::in), s = f().symbol(dyn<"S">);
    std::vector<ValueId> offsets, valid;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      offsets.push_back(i == axis ? offset(dynamic_size, counters) : i < axis ? offset(dims[i] - 1, counters) : k.index(0));
      valid.push_back(k.index(window[i]));
    }
    valid[axis] = k.b().min(k.b().max(k.b().sub(s, offsets[axis]), k.index(0)), k.index(window[axis]));
    return {k.load(t, window, offsets, Vec, valid), 4, true, true, true, false};
  }
  /// The leading dims in other groups; empty when there is no other one.
  Dims regrouped(const Dims& dims) {
    Dims r = dims;
    if (r.size() > 3 && random.chance(60)) {
      const std::size_t at = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(r.size()) - 3));
      r[at + 1] *= r[at];
      r.erase(r.begin() + static_cast<std::ptrdiff_t>(at));
    } else if (r.size() < 6) {
      const std::int64_t n = r[0] % 2 == 0 ? 2 : r[0] % 3 == 0 ? 3 : 1;
      r[0] /= n;
      r.insert(r.begin(), n);
    }
    return r == dims ? Dims{} : r;
  }

  // --- products ---
  struct Batch {
    DType dtype = f16;
    Dims dims;  ///< of the result, without rows and columns
    std::int64_t m = 16, k = 32, n = 16;
  };
  struct Factor {
    ValueId id;
    bool turned = false;  ///< by attribute
    ValueId tensor;
  };
  Batch batch() {
    Batch p;
    p.dtype = random.one_of({f16, f16, bf16, f32, i8});
    p.dims = shape_of_pages({});
    const auto rows = [&] { return random.chance(60) ? 16 * random.between(1, 2) : random.one_of<std::int64_t>({1, 3, 5, 8, 17}); };
    p.m = p.dtype == i8 && random.chance(50) ? 32 : rows();
    p.n = p.dtype == i8 && random.chance(50) ? 32 : rows();
    return p;
  }
  /// [.., rows, columns] in Mat, or in Left or Right; some batch dims repeat. `rows` may be a tail.
  Factor factor(const Batch& p, bool right, bool plain, const Counters& counters) {
    Factor r;
    const bool by_view = random.chance(30);
    r.turned = !by_view && !plain && random.chance(15);
    const bool turned = by_view || r.turned;
    const std::int64_t own = right ? p.n : p.m;
    const bool k_first = right != turned;
    Dims dims = p.dims;
    for (std::int64_t& d : dims)
      if (random.chance(25)) d = 1;
    if (random.chance(20)) dims.erase(dims.begin(), dims.begin() + random.between(0, static_cast<std::int64_t>(dims.size())));
    dims.push_back(k_first ? p.k : own);
    dims.push_back(k_first ? own : p.k);
    Dims all = dims;
    const bool is_tail = !k_first && random.chance(15);
    const std::size_t row_axis = all.size() - 2;
    std::vector<ValueId> offsets, valid;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool rows = is_tail && i == row_axis, block = i + 1 == all.size();
      const std::int64_t more = !rows && random.chance(15) ? (block ? 32 : random.between(1, 2)) : 0;
      offsets.push_back(more == 0 ? k.index(0) : block ? k.index(32) : offset(more, counters));
      all[i] = rows ? dyn<"S"> : all[i] + more;
      valid.push_back(k.index(dims[i]));
    }
    if (is_tail) valid[row_axis] = k.b().min(f().symbol(dyn<"S">), k.index(dims[row_axis]));
    else valid.clear();
    r.tensor = tensor(p.dtype, all, Direction::inout);
    const bool moved = random.chance(8);
    r.id = k.load(r.tensor, dims, offsets, moved ? Vec : Mat, valid);
    if (moved && (by_view || random.chance(50))) r.id = k.op(ops::move, {r.id}, {}, with_space(type(r.id), Mat));
    if (const Dims other = regrouped(dims); dims.size() > 2 && !other.empty() && other.size() == dims.size() && !is_tail && random.chance(30)) {
      r.id = k.reshape(r.id, other);
      r.id = k.reshape(r.id, dims);
    }
    if (by_view) r.id = k.op(ops::transpose_view, {r.id});
    if (plain && type(r.id).space == Mat) r.id = k.op(ops::move, {r.id}, {}, with_space(type(r.id), right ? Right : Left));
    return r;
  }
  ValueId multiply(const Factor& a, const Factor& b, ValueId acc = {}) {
    std::vector<Attr> attrs;
    if (a.turned) attrs.push_back(attr(AttrKey::transpose_lhs, 1));
    if (b.turned) attrs.push_back(attr(AttrKey::transpose_rhs, 1));
    return acc ? k.op(ops::matmul_acc, {acc, a.id, b.id}, attrs) : k.op(ops::matmul, {a.id, b.id}, attrs);
  }
  void batch_product(Scope& scope, const Counters& counters) {
    const Batch p = batch();
    const bool plain = random.chance(25);
    const Factor a = factor(p, false, plain, counters), b = factor(p, true, plain, counters);
    // What is loaded stays what it was when the tensor is written.
    if (p.dtype != i8 && random.chance(20)) overwrite(b);
    if (random.chance(20)) return product_in_loop(a, b);
    ValueId r = multiply(a, b);
    if (random.chance(30) && f().fully_valid(r)) r = multiply(factor_like(p, false, plain, counters), factor_like(p, true, plain, counters), r);
    scope.push_back({r, unbounded, false, !f().fully_valid(r), false, false});
    if (random.chance(60)) store_product(r);
  }
  void overwrite(const Factor& x) {
    const Type& t = type(x.tensor);
    if (!t.has_static_shape()) return;
    const ValueId ones = k.op(ops::full, {constant(t.dtype, 1)}, {}, shaped_type(t.dtype, dims_of(t), Vec));
    k.store(ones, x.tensor, std::vector<ValueId>(t.rank, k.index(0)));
  }
  // Fully valid: fits an accumulator.
  Factor factor_like(const Batch& p, bool right, bool plain, const Counters& counters) {
    for (;;) {
      const Factor r = factor(p, right, plain, counters);
      if (f().fully_valid(r.id)) return r;
    }
  }
  void product_in_loop(const Factor& a, const Factor& b) {
    const ValueId out = product_tensor(a, b);
    k.loop(k.index(2), {}, [&](ValueId i, const std::vector<ValueId>&) {
      const ValueId r = multiply(a, b);
      std::vector<ValueId> at(type(r).rank, k.index(0));
      at.insert(at.begin(), i);
      k.store(r, out, at);
      return std::vector<ValueId>{};
    });
  }
  ValueId product_tensor(const Factor& a, const Factor& b) {
    const Type &x = type(a.id), &y = type(b.id);
    Dims dims{2};
    for (int i = std::max(x.rank, y.rank) - 1; i >= 2; --i)
      dims.push_back(std::max(i < x.rank ? x.last(i) : 1, i < y.rank ? y.last(i) : 1));
    dims.push_back(x.last(a.turned ? 0 : 1));
    dims.push_back(y.last(b.turned ? 1 : 0));
    return tensor(is_float(x.dtype) ? f32 : i32, dims, Direction::out);
  }
  void store_product(ValueId r) {
    const Type t = type(r);
    const bool add = random.chance(20);
    const ValueId out = tensor(t.dtype, dims_of(t), add ? Direction::inout : Direction::out);
    std::vector<ValueId> operands{r, out};
    operands.resize(2u + t.rank, k.index(0));
    std::vector<Attr> attrs;
    if (add) attrs.push_back(attr(AttrKey::atomic_add, 1));
    k.effect(ops::store, operands, attrs);
  }
};

}  // namespace tessera::test
