// Comparisons of tensors and tiles, and select: what they compute, and the instructions that they become.
#include "support/lowering.hpp"

#include <tessera/emit/pto_mlir.hpp>
#include <tessera/simulate.hpp>

using namespace tessera;

namespace select_masks {

using X = Tensor<Shape<6, 40>, f32>;
inline const auto clipped = kernel("clipped", [](X x, X y, Scalar<f32> s) {
  const auto above = x > s;
  return results(select(x < y, x, y), select(above, s, select(above, y, x)), select(0 <= x, x, 0), select(x != y, 1.5f, y));
});
using I = Tensor<Shape<3, 5, 8>, i32>;
inline const auto integers = kernel("integers", [](I x, I y, Scalar<i32> n) {
  return results(select(x < y, x, 1) + select(x <= y, x, 2) * 10, select(x > y, y, 3) + select(x >= y, y, 4) * 10,
                 select(x == n, x, y) + select(x != n, 10, y), select(n < x, x, y) + select(n >= x, y, 100));
});
inline const auto columns = kernel("columns", [](Tensor<Shape<24, 64>, i32> x) {
  auto s = row_sum(x);
  auto m = row_max(x);
  return results(select(s > m, s, m), select(s < 3, s, m), select(s != m, 1, m));
});
inline const auto tail = kernel("tail", [](Tensor<Shape<dyn<"S">, 72>, f16> x, Out<Tensor<Shape<dyn<"S">, 72>, f16>> out) {
  Index s = dim(x, 0);
  for (Index i : range(0, s, 16)) {
    auto t = load<Shape<16, 72>>(x, at(i, 0), valid(min(16, s - i), 72));
    store(select(t > 0.25f, t, t * 2.0f), out, at(i, 0));
  }
});
inline const auto masked = kernel("masked", [](Tensor<Shape<8, 64>, f32> x, Scalar<i32> n) {
  const auto position = col_expand<Shape<8, 64>>(arange<Shape<1, 64>, i32>(0));
  return row_sum(select(position < n, x, 0));
});

const auto x = random<X>(1), y = random<X>(2);

}  // namespace select_masks

using namespace select_masks;

TEST_CASE("select takes one of two elements by a comparison") {
  const auto [least, chosen, positive, differing] = simulate(clipped, x, y, 0.25f);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 40; ++j) {
      CHECK(least(i, j) == std::min(x(i, j), y(i, j)));
      CHECK(chosen(i, j) == (x(i, j) > 0.25f ? 0.25f : x(i, j)));
      CHECK(positive(i, j) == std::max(x(i, j), 0.0f));
      CHECK(differing(i, j) == 1.5f);
    }
}

TEST_CASE("every comparison of integers, on every target and level") {
  const auto a = random<I>(3), b = random<I>(4);
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    const auto [less, greater, equal, swapped] = simulate(integers, SimulateOptions{.arch = arch}, a, b, 2);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 5; ++j)
        for (int l = 0; l < 8; ++l) {
          const int p = a(i, j, l), q = b(i, j, l);
          CHECK(less(i, j, l) == (p < q ? p : 1) + (p <= q ? p : 2) * 10);
          CHECK(greater(i, j, l) == (p > q ? q : 3) + (p >= q ? q : 4) * 10);
          CHECK(equal(i, j, l) == (p == 2 ? p : q) + (p != 2 ? 10 : q));
          CHECK(swapped(i, j, l) == (2 < p ? p : q) + (2 >= p ? q : 100));
        }
  }
}

TEST_CASE("columns are compared as rows") {
  const auto a = random<Tensor<Shape<24, 64>, i32>>(5);
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    const auto [larger, small, differing] = simulate(columns, SimulateOptions{.arch = arch}, a);
    for (int i = 0; i < 24; ++i) {
      std::int32_t s = 0, m = -100;
      for (int j = 0; j < 64; ++j) s += a(i, j), m = std::max(m, a(i, j));
      CHECK(larger(i, 0) == std::max(s, m));
      CHECK(small(i, 0) == (s < 3 ? s : m));
      CHECK(differing(i, 0) == (s != m ? 1 : m));
    }
  }
}

TEST_CASE("a tail, and a mask made of positions") {
  const auto a = random<Tensor<Shape<dyn<"S">, 72>, f16>>(6, {{"S", 21}});
  auto out = zeros<Tensor<Shape<dyn<"S">, 72>, f16>>({{"S", 21}});
  simulate(tail, a, out);
  for (int i = 0; i < 21; ++i)
    for (int j = 0; j < 72; ++j) {
      const auto v = static_cast<float>(a(i, j));
      CHECK(static_cast<float>(out(i, j)) == (v > 0.25f ? v : 2 * v));
    }
  const auto ones = filled<Tensor<Shape<8, 64>, f32>>(1);
  for (const int n : {0, 1, 37, 64, 100}) CHECK(simulate(masked, ones, n)(3, 0) == static_cast<float>(std::min(n, 64)));
}

TEST_CASE("comparisons with NaN are those of IEEE 754") {
  using Row = Tensor<Shape<1, 8>, f32>;
  static const auto all = kernel("all", [](Row a, Row b) {
    return results(select(a < b, 1, full<Shape<1, 8>, f32>(0)) + select(a <= b, 2, full<Shape<1, 8>, f32>(0)),
                   select(a > b, 1, full<Shape<1, 8>, f32>(0)) + select(a >= b, 2, full<Shape<1, 8>, f32>(0)),
                   select(a == b, 1, full<Shape<1, 8>, f32>(0)) + select(a != b, 2, full<Shape<1, 8>, f32>(0)));
  });
  const float nan = std::nanf(""), inf = static_cast<float>(infinity);
  const auto a = from_values<Row>({nan, nan, 0, -0.0, inf, -inf, 1, 2}), b = from_values<Row>({nan, 0, nan, 0, inf, inf, 2, 1});
  const auto [less, greater, equal] = simulate(all, a, b);
  const float expected[3][8] = {{0, 0, 0, 2, 2, 3, 3, 0}, {0, 0, 0, 2, 2, 0, 0, 3}, {2, 2, 2, 1, 1, 2, 2, 2}};
  for (int j = 0; j < 8; ++j) {
    CHECK(less(0, j) == expected[0][j]);
    CHECK(greater(0, j) == expected[1][j]);
    CHECK(equal(0, j) == expected[2][j]);
  }
}

TEST_CASE("a mask has packed rows on a3 and the shape of the operands on a5") {
  const std::string a3 = emit_pto(clipped, {.arch = Arch::a3}), a5 = emit_pto(clipped, {.arch = Arch::a5});
  const auto has = [](const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; };
  CHECK(has(a3, "{cmpMode = #pto<cmp lt>} : !pto.tile_buf<vec, 6x40xf32>, !pto.tile_buf<vec, 6x40xf32>) outs("));
  CHECK(has(a3, " : !pto.tile_buf<vec, 6x32xui8>)"));
  CHECK(has(a3, "pto.tcmps ins("));
  CHECK(has(a3, "{cmpMode = #pto<cmp ge>} : !pto.tile_buf<vec, 6x40xf32>, f32) outs("));
  CHECK(has(a3, " : !pto.tile_buf<vec, 6x32xui8>, !pto.tile_buf<vec, 6x40xf32>, !pto.tile_buf<vec, 6x40xf32>, !pto.tile_buf<vec, 1x8xi32>) outs("));
  // Rows of 40 are padded to 64 for the comparison of two tiles.
  CHECK(has(a5, "{cmpMode = #pto<cmp lt>} : !pto.tile_buf<vec, 6x64xf32, valid=6x40>, !pto.tile_buf<vec, 6x64xf32, valid=6x40>) outs("));
  CHECK(has(a5, " : !pto.tile_buf<vec, 6x64xui8>)"));
}

TEST_CASE("i32 is compared for equality only on a3") {
  const std::string a3 = emit_pto(integers, {.arch = Arch::a3});
  CHECK(a3.find("#pto<cmp lt>") == std::string::npos);
  CHECK(a3.find("#pto<cmp ge>") == std::string::npos);
  CHECK(a3.find("#pto<cmp ne>") == std::string::npos);
  CHECK(emit_pto(integers, {.arch = Arch::a5}).find("#pto<cmp ge>") != std::string::npos);
}

TEST_CASE("what a mask cannot be is refused in the IR, too") {
  test::Recording k;
  const ValueId a = k.tensor("a", f32, {8, 64});
  const ValueId mask = k.op(ops::compares, {a, k.constant(f32, 0.0)}, {int_attr(AttrKey::compare, 2)});
  CHECK(test::contains(test::thrown<UserError>([&] { k.op(ops::neg, {mask}); }), "neg: an operand is a comparison of tensors or tiles"));
  CHECK(test::contains(test::thrown<UserError>([&] { k.op(ops::select, {a, a, a}); }), "select: the condition is not a comparison"));
}
