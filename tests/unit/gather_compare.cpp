// gather_compare: positions and counts of elements that compare with a number, what the passes make of it, and what is refused.
#include "support/convert.hpp"
#include "support/lowering.hpp"

#include <tessera/emit/pto_mlir.hpp>
#include <tessera/simulate.hpp>

using namespace tessera;

namespace matching {

template <class T, std::int64_t N>
using Positions = Tensor<Shape<type_of<T>.dims[0], N>, i32>;
template <class T>
using Counts = Tensor<Shape<1, type_of<T>.dims[0]>, i32>;
template <Compare By, std::int64_t Places, class T, DType D>
inline const auto found = kernel("found", params("x", "k", "positions", "counts"),
  [](T x, Scalar<D> k, Out<Positions<T, Places>> to_positions, Out<Counts<T>> to_counts) {
    auto [positions, counts] = gather_compare<By, Places>(x, k, 1000);
    using S = Shape<type_of<T>.dims[0], Places>;
    auto place = col_expand<S>(arange<Shape<1, Places>, i32>(0));
    to_positions = select(place < row_expand<S>(reshape<Shape<type_of<T>.dims[0], 1>>(counts)), positions, -1);
    to_counts = counts;
  });
using X = Tensor<Shape<5, 64>, f32>;
inline const auto counted = kernel("counted", params("x"), [](X x) { return gather_compare<Compare::gt, 64>(abs(x), 0.5f).counts * 2; });
inline const auto placed = kernel("placed", params("x"), [](X x) { return gather_compare<Compare::eq, 16>(x, 0).positions; });
inline const auto both = kernel("both", params("x"), [](X x) {
  auto [positions, counts] = gather_compare<Compare::gt, 64>(x, 0.0f);
  return results(positions, counts);
});
inline const auto of_rows = kernel("of_rows", params("x", "n", "out"), [](X x, Index n, Out<Tensor<Shape<1, 5>, i32>> out) {
  auto t = load<Shape<5, 64>>(x, at(0, 0), valid(n, 64));
  store(gather_compare<Compare::gt, 64>(t, 0.0f).counts, out, at(0, 0));
});

// What was found in row i, and what a plain loop finds.
template <Compare By, std::int64_t Places, class T, DType D, class Number>
void check(const Array<T>& x, Number k, std::initializer_list<Arch> archs = {Arch::a3, Arch::a5}) {
  constexpr Type t = type_of<T>;
  for (const Arch arch : archs) {
    auto positions = zeros<Positions<T, Places>>();
    auto counts = zeros<Counts<T>>();
    simulate(found<By, Places, T, D>, SimulateOptions{.arch = arch}, x, k, positions, counts);
    for (std::int64_t i = 0; i < t.dims[0]; ++i) {
      std::int64_t n = 0;
      for (std::int64_t j = 0; j < t.last(); ++j) {
        const double e = x.get(i * t.last() + j);
        if (By == Compare::gt ? e > static_cast<double>(k) : e == static_cast<double>(k)) CHECK(positions(i, n++) == 1000 + i * t.last() + j);
      }
      CHECK(counts(0, i) == n);
      for (; n < Places; ++n) CHECK(positions(i, n) == -1);
    }
  }
}
// Numbers from -3 to 3.
template <class T>
Array<T> small_numbers() {
  auto x = zeros<T>();
  for (std::int64_t i = 0; i < x.size(); ++i) x.set(i, static_cast<double>(i * 37 % 101 % 7 - 3));
  return x;
}

}  // namespace matching

using namespace matching;

TEST_CASE("positions and counts of matches") {
  check<Compare::eq, 32, Tensor<Shape<5, 64>, f32>, f32>(small_numbers<Tensor<Shape<5, 64>, f32>>(), 2.0f);
  check<Compare::gt, 64, Tensor<Shape<5, 64>, f32>, f32>(small_numbers<Tensor<Shape<5, 64>, f32>>(), -0.5f);
  check<Compare::gt, 128, Tensor<Shape<3, 128>, f16>, f16>(small_numbers<Tensor<Shape<3, 128>, f16>>(), 1.0f);
  check<Compare::eq, 64, Tensor<Shape<1, 192>, f16>, f16>(small_numbers<Tensor<Shape<1, 192>, f16>>(), -3.0f);
  check<Compare::eq, 40, Tensor<Shape<9, 128>, i32>, i32>(small_numbers<Tensor<Shape<9, 128>, i32>>(), 3);
  check<Compare::gt, 64, Tensor<Shape<2, 64>, i32>, i32>(small_numbers<Tensor<Shape<2, 64>, i32>>(), -1, {Arch::a5});
}

TEST_CASE("NaN matches nothing") {
  auto x = filled<X>(std::numeric_limits<double>::quiet_NaN());
  x(1, 7) = 0;
  const auto r = simulate(counted, x);
  for (int i = 0; i < 5; ++i) CHECK(r(0, i) == 0);
}

TEST_CASE("what is not used is not recorded, and rows that are not valid are not counted") {
  CHECK(test::op_names(counted.trace()) == "abs count_matches muls");
  CHECK(test::op_names(placed.trace()) == "find_positions");
  CHECK(test::op_names(both.trace()) == "find_positions count_matches");
  const auto x = small_numbers<X>();
  for (const Arch arch : {Arch::a3, Arch::a5})
    for (const int n : {1, 3, 5}) {
      auto out = filled<Tensor<Shape<1, 5>, i32>>(-1);
      simulate(of_rows, SimulateOptions{.arch = arch}, x, n, out);
      for (int i = 0; i < 5; ++i) {
        int count = 0;
        for (int j = 0; j < 64; ++j) count += x(i, j) > 0 ? 1 : 0;
        CHECK(out(0, i) == (i < n ? count : -1));
      }
    }
}

TEST_CASE("more matches than places, and positions behind the last one") {
  const std::string text = test::thrown<UserError>([] { static_cast<void>(simulate(placed, zeros<X>())); });
  CHECK(test::contains(text, "gather_compare.cpp"));
  CHECK(test::contains(text, "error: find_positions: a row has more matches than places (row 0: 64, 16)"));
  CHECK(test::contains(text, "hint: give it more places"));
  static const auto summed = kernel("summed", [](X x) { return row_sum(cast<f32>(gather_compare<Compare::eq, 16>(x, 0).positions)); });
  auto x = filled<X>(1);
  x(0, 3) = 0;
  const std::string poison = test::thrown<UserError>([&] { static_cast<void>(simulate(summed, x)); });
  CHECK(test::contains(poison, "gather_compare.cpp"));
}

TEST_CASE("both keep their names", "[convert]") {
  test::Recording k;
  const ValueId x = k.tensor("x", f32, {4, 128}), number = k.scalar("k", f32), offset = k.constant(i32, 7);
  const Attr by = int_attr(AttrKey::compare, static_cast<std::int64_t>(Compare::gt));
  const ValueId p = k.op(ops::find_positions, {x, number, offset}, {by}, test::shaped_type(i32, {4, 32}));
  k.returns({p, k.op(ops::count_matches, {x, number, offset}, {by})});
  CHECK(test::converted(k) == test::golden(R"(
kernel @k(%x: in f32[4,128], %k: f32, %out: out i32[4,32], %out1: out i32[1,4]) {
  %x_tile = tile.load(%x, 0, 0) : tile<f32[4,128]@Vec>
  %0 = tile.find_positions(%x_tile, %k, 7:i32) {compare = gt} : tile<i32[4,32]@Vec>
  %1 = tile.count_matches(%x_tile, %k, 7:i32) {compare = gt} : tile<i32[1,4]@Vec>
  tile.store(%0, %out, 0, 0)
  tile.store(%1, %out1, 0, 0)
  return
}
)"));
}

TEST_CASE("one instruction each, with scratch that a3 writes behind") {
  for (const Assembler version : {Assembler::v0_27, Assembler::v0_60}) {
    const std::string a3 = emit_pto(both, {.arch = Arch::a3, .assembler = version}), a5 = emit_pto(both, {.arch = Arch::a5, .assembler = version});
    CHECK(test::contains(a3, "pto.alloc_tile : !pto.tile_buf<vec, 29x64xui8>"));
    CHECK(test::contains(a5, ", f32, !pto.tile_buf<vec, 1x32xui8>) outs("));
    for (const std::string& text : {a3, a5})
      CHECK(test::contains(text, " : !pto.tile_buf<vec, 5x64xi32>, !pto.tile_buf<vec, 1x8xi32, valid=1x5>) {cmpMode = #pto<cmp gt>, offset = 0 : i32}"));
  }
}

TEST_CASE("a3 compares integers by eq only") {
  using I = Tensor<Shape<2, 64>, i32>;
  const std::string text = test::thrown<UserError>([] { static_cast<void>(emit_pto(found<Compare::gt, 64, I, i32>, {.arch = Arch::a3})); });
  CHECK(test::contains(text, "error: find_positions: a3 compares integers by eq only"));
  CHECK(test::contains(text, "hint: cast the operand: cast<f32>(x)"));
}

TEST_CASE("extents and offsets that the instruction does not take") {
  static const auto cut = kernel("cut", [](X x, Index n) { return gather_compare<Compare::gt, 64>(load<Shape<5, 64>>(x, at(0, 0), valid(5, n)), 0.0f).counts; });
  CHECK(test::contains(test::thrown<UserError>([] { static_cast<void>(cut.trace()); }),
                       "count_matches: an operand is valid in part along the last axis (operand 0)"));
  test::Recording k;
  const ValueId x = k.tensor("x", f32, {4, 128}), offset = k.scalar("o", i32);
  const Attr by = int_attr(AttrKey::compare, static_cast<std::int64_t>(Compare::eq));
  CHECK(test::contains(test::thrown<UserError>([&] { k.op(ops::count_matches, {x, k.constant(f32, 1.0), offset}, {by}); }),
                       "count_matches: the offset is no constant of i32 from 0 on"));
  static const auto before = kernel("before", [](X y) { return gather_compare<Compare::gt, 64>(y, 0.0f, -1).positions; });
  CHECK(test::contains(test::thrown<UserError>([] { static_cast<void>(before.trace()); }),
                       "gather_compare.cpp:" + std::to_string(__LINE__ - 2) + ":"));
}
