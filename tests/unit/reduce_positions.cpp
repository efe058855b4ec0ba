// Positions of the largest and smallest elements, and concat: what they compute, and the tiles that they need.
#include "support/lowering.hpp"

#include <tessera/emit/pto_mlir.hpp>
#include <tessera/passes/pass.hpp>
#include <tessera/passes/pipeline.hpp>
#include <tessera/simulate.hpp>

using namespace tessera;

namespace reduce_positions {

template <class T>
inline const auto positions = kernel("positions_" + dims<type_of<T>.rank, type_of<T>.last()>(), [](T x) { return results(row_argmax(x), row_argmin(x), col_argmax(x), col_argmin(x)); });
using Small = Tensor<Shape<4, 8>, f32>;
using Wide = Tensor<Shape<24, 130>, f16>;
using Pages = Tensor<Shape<2, 3, 5, 16>, f32>;
using Column = Tensor<Shape<24, 1>, f32>;
using Row = Tensor<Shape<1, 70>, f32>;
inline const auto tail = kernel("tail", [](Tensor<Shape<dyn<"S">, 40>, f32> x, Out<Tensor<Shape<dyn<"S">, 1>, i32>> out) {
  Index s = dim(x, 0);
  for (Index i : range(0, s, 16)) {
    auto t = load<Shape<16, 40>>(x, at(i, 0), valid(min(16, s - i), 37));
    store(row_argmax(t), out, at(i, 0));
  }
});
inline const auto summed = kernel("summed", [](Tensor<Shape<20, 16>, f32> x) { return concat(x, row_sum(x)); });
inline const auto joined = kernel("joined", [](Tensor<Shape<2, 3, 16>, f32> a, Tensor<Shape<2, 3, 8>, f32> b, Tensor<Shape<2, 3, 5>, f32> c) {
  return results(concat(a, b), concat(a, b, c), concat(a, b, a, exp(b)));
});

// The first of the elements that are the largest (smallest) of a row or column, by plain loops.
template <class A>
int position(const A& x, std::int64_t start, std::int64_t step, int count, bool largest) {
  int best = 0;
  for (int i = 1; i < count; ++i) {
    const double a = x.get(start + i * step), b = x.get(start + best * step);
    if (largest ? a > b : a < b) best = i;
  }
  return best;
}
template <class T>
void check_positions(std::uint64_t seed) {
  constexpr Type t = type_of<T>;
  auto x = random<T>(seed);
  for (std::int64_t i = 0; i < x.size(); ++i) x.set(i, std::round(3 * x.get(i)));  // many equal ones
  const int m = static_cast<int>(t.last(1)), n = static_cast<int>(t.last());
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    const auto [row_max, row_min, col_max, col_min] = simulate(positions<T>, SimulateOptions{.arch = arch}, x);
    for (std::int64_t page = 0; page < x.size() / (m * n); ++page) {
      for (int i = 0; i < m; ++i) {
        CHECK(row_max.integer(page * m + i) == position(x, (page * m + i) * n, 1, n, true));
        CHECK(row_min.integer(page * m + i) == position(x, (page * m + i) * n, 1, n, false));
      }
      for (int j = 0; j < n; ++j) {
        CHECK(col_max.integer(page * n + j) == position(x, page * m * n + j, n, m, true));
        CHECK(col_min.integer(page * n + j) == position(x, page * m * n + j, n, m, false));
      }
    }
  }
}

}  // namespace reduce_positions

using namespace reduce_positions;

TEST_CASE("the first of equal elements counts, in every shape") {
  check_positions<Small>(1);
  check_positions<Wide>(2);
  check_positions<Pages>(3);
  check_positions<Column>(4);
  check_positions<Row>(5);
}

TEST_CASE("NaN counts as the largest and as the smallest element") {
  const double nan = std::nan("");
  auto x = zeros<Small>();
  const double values[] = {1, nan, 3, nan, -5, 0, 2, 7};
  for (int j = 0; j < 8; ++j) x.set(8 + j, values[j]);
  const auto [row_max, row_min, col_max, col_min] = simulate(positions<Small>, x);
  CHECK(row_max(0, 0) == 0);
  CHECK(row_max(1, 0) == 1);
  CHECK(row_min(1, 0) == 1);
  CHECK(col_max(0, 1) == 1);
  CHECK(col_min(0, 3) == 1);
  CHECK(col_min(0, 4) == 1);
  CHECK(col_max(0, 4) == 0);
}

TEST_CASE("positions in a tail") {
  auto x = random<Tensor<Shape<dyn<"S">, 40>, f32>>(6, {{"S", 21}});
  for (int i = 0; i < 21; ++i) x(i, 39) = 100;  // not valid
  auto out = zeros<Tensor<Shape<dyn<"S">, 1>, i32>>({{"S", 21}});
  simulate(tail, x, out);
  for (int i = 0; i < 21; ++i) CHECK(out(i, 0) == position(x, i * 40, 1, 37, true));
}

TEST_CASE("concat puts its operands side by side") {
  const auto a = random<Tensor<Shape<2, 3, 16>, f32>>(7);
  const auto b = random<Tensor<Shape<2, 3, 8>, f32>>(8);
  const auto c = random<Tensor<Shape<2, 3, 5>, f32>>(9);
  const auto [two, three, four] = simulate(joined, a, b, c);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) {
      for (int l = 0; l < 16; ++l) CHECK((two(i, j, l) == a(i, j, l) && three(i, j, l) == a(i, j, l) && four(i, j, 24 + l) == a(i, j, l)));
      for (int l = 0; l < 8; ++l) CHECK((two(i, j, 16 + l) == b(i, j, l) && three(i, j, 16 + l) == b(i, j, l)));
      for (int l = 0; l < 5; ++l) CHECK(three(i, j, 24 + l) == c(i, j, l));
    }
}

TEST_CASE("a column is put behind rows") {
  auto x = zeros<Tensor<Shape<20, 16>, f32>>();
  for (std::int64_t i = 0; i < x.size(); ++i) x.set(i, static_cast<double>(i));
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    const auto r = simulate(summed, SimulateOptions{.arch = arch}, x);
    for (int i = 0; i < 20; ++i) CHECK((r(i, 15) == x(i, 15) && r(i, 16) == static_cast<float>(16 * 16 * i + 120)));
    CHECK(emit_pto(summed, {.arch = arch}).find("20x8xf32, valid=20x1>) outs(") != std::string::npos);
  }
}

TEST_CASE("C46: positions need scratch of the operand's shape, of two blocks at least; pages share it") {
  for (const OpInfo* op : {&ops::row_argmax, &ops::row_argmin, &ops::col_argmax, &ops::col_argmin}) {
    test::Recording k;
    const ValueId x = k.load(k.tensor("x", f32, {32, 64}), {32, 64}, {k.index(0), k.index(0)});
    CHECK(scratch_type(*op, k.f().type(x)) == test::shaped_type(f32, {32, 64}, Vec));
    CHECK(scratch_type(*op, test::shaped_type(f16, {4, 8}, Vec)) == test::shaped_type(f16, {4, 32}, Vec));
    CHECK(k.f().type(k.op(*op, {x})).dtype == i32);
  }
  const std::string pages = emit_pto(positions<Pages>);
  CHECK(pages.find("pto.tcolargmax ins(") != std::string::npos);
  CHECK(pages.find("30x16xf32>\n") != std::string::npos);  // of the row form
}

TEST_CASE("what positions and concat refuse") {
  test::Recording k;
  const ValueId a = k.tensor("a", f32, {8, 16}), odd = k.tensor("b", f32, {8, 5}), n = k.scalar("n", index_type);
  CHECK(test::contains(test::thrown<UserError>([&] { k.op(ops::concat, {odd, a}); }), "concat: the second operand starts inside a block of 32 bytes"));
  const ValueId part = k.op(ops::set_valid_shape, {a, k.index(8), n});
  CHECK(test::contains(test::thrown<UserError>([&] { k.op(ops::concat, {part, a}); }), "concat: the first operand is valid in part along the last axis"));
  const ValueId behind = k.op(ops::concat, {a, part});
  CHECK(!k.f().fully_valid(behind));
  const ValueId tall = k.op(ops::col_argmax, {k.tensor("t", f16, {2100, 32})});
  k.returns({tall});
  CHECK(test::contains(test::thrown<UserError>([&] { (void)run_passes(k.f(), default_pipeline(), {Arch::a3}); }), "col_argmax: a3 numbers at most 2048 rows of f16 (2100)"));
}
