// Small kernels that random programs led to: each once had another meaning after a pass, or could not be emitted.
#include "support/lowering.hpp"
#include "tessera/emit/pto_mlir.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

// Both targets, all stages, and text at the end.
void goes_through(Recording& k, std::int64_t dynamic = 8, std::int64_t scalar = 1) {
  k.returns();
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    const Lowered l = lower_tiles(k.f(), arch, dynamic, scalar);
    CHECK_FALSE(emit_pto_mlir(l.buffered, {.arch = arch}).empty());
  }
}
std::vector<ValueId> origin(Recording& k, std::size_t rank = 2) { return std::vector<ValueId>(rank, k.index(0)); }
ValueId loaded(Recording& k, std::string_view name, List<std::int64_t> dims) {
  return k.load(k.tensor(name, f32, dims), dims, origin(k));
}
void stored(Recording& k, ValueId v, List<std::int64_t> dims) {
  k.store(v, k.tensor("o", f32, dims, Direction::out), origin(k));
}

}  // namespace

TEST_CASE("columns that are carried change their places") {
  Recording k;
  const ValueId a = k.op(ops::abs, {loaded(k, "a", {3, 1})}), b = loaded(k, "b", {3, 1});
  const auto r = k.loop(k.scalar("n", index_type), {a, b}, [&](ValueId, const std::vector<ValueId>& c) {
    return std::vector<ValueId>{c[1], k.op(ops::neg, {c[0]})};
  });
  stored(k, k.op(ops::sub, {r[0], r[1]}), {3, 1});
  goes_through(k, 8, 3);
}

TEST_CASE("a window is carried, from elsewhere in its own buffer") {
  Recording k;
  const ValueId x = loaded(k, "x", {16, 8}), n = k.scalar("n", index_type);
  const Attr zero = int_attr(AttrKey::pad, static_cast<std::int64_t>(Pad::zero));
  const ValueId start = k.slice(x, {8, 8}, {k.index(4), k.index(0)});
  const auto r = k.loop(k.index(2), {start}, [&](ValueId, const std::vector<ValueId>& c) {
    const ValueId part = k.slice(c[0], {8, 8}, {n, k.index(0)}, {k.index(4), k.index(8)});
    return std::vector<ValueId>{k.op(ops::fillpad, {part}, {zero})};
  });
  stored(k, r[0], {8, 8});
  goes_through(k, 8, 2);
}

TEST_CASE("the whole of a tile as a window is carried") {
  Recording k;
  const auto r = k.loop(k.index(3), {loaded(k, "x", {8, 8})}, [&](ValueId, const std::vector<ValueId>& c) {
    return std::vector<ValueId>{k.slice(k.op(ops::neg, {c[0]}), {8, 8}, origin(k))};
  });
  stored(k, r[0], {8, 8});
  goes_through(k);
}

TEST_CASE("a column of which nothing is valid stays empty as a row") {
  for (const std::int64_t columns : {0, 1}) {
    Recording k;
    const ValueId x = k.tensor("x", f32, {64, 2}), n = k.scalar("n", index_type);
    const ValueId v = k.load(x, {64, 1}, origin(k), Vec, {k.index(64), k.b().sub(k.index(1), n)});
    stored(k, k.op(ops::neg, {v}), {64, 1});
    goes_through(k, 8, columns);
  }
}

TEST_CASE("columns and rows of one element are repeated beside columns and rows") {
  for (const std::int64_t rows : {1, 17})
    for (const std::int64_t columns : {1, 9}) {
      Recording k;
      const ValueId x = loaded(k, "x", {rows, columns});
      const ValueId r = k.op(ops::row_expand_add, {x, loaded(k, "c", {rows, 1})});
      const ValueId c = k.op(ops::col_expand_mul, {r, loaded(k, "r", {1, columns})});
      const ValueId wide = k.op(ops::row_expand, {loaded(k, "d", {rows, 1})}, {}, k.f().type(c));
      const ValueId deep = k.op(ops::col_expand, {loaded(k, "s", {1, columns})}, {}, k.f().type(c));
      stored(k, k.op(ops::add, {c, k.op(ops::sub, {wide, deep})}), {rows, columns});
      goes_through(k);
    }
}

TEST_CASE("operands of other valid extents are narrowed to those of the result") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {16, 16}), n = k.scalar("n", index_type);
  const ValueId part = k.load(x, {16, 16}, origin(k), Vec, {n, k.index(9)});
  stored(k, k.op(ops::add, {loaded(k, "y", {16, 16}), part}), {16, 16});
  k.returns();
  const Lowered l = lower_tiles(k.f(), Arch::a3, 8, 5);
  const OpId add = find_op(l.legal, ops::add);
  for (int axis = 0; axis < 2; ++axis)
    CHECK(l.legal.valid(l.legal.operand(add, 0), axis) == l.legal.valid(l.legal.operand(add, 1), axis));
}

TEST_CASE("what has no elements is neither loaded nor stored") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {8, 8});
  stored(k, k.op(ops::neg, {k.load(x, {8, 8}, origin(k), Vec, {k.index(0), k.index(8)})}), {8, 8});
  k.returns();
  const Lowered l = lower_tiles(k.f());
  CHECK(count_op(l.legal, ops::load) + count_op(l.legal, ops::store) == 0);
}
