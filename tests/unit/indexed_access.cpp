// Elements by positions: what gathers along an axis or by a pattern and scatters compute, on every target and level.
#include "support/lowering.hpp"

#include <tessera/emit/pto_mlir.hpp>
#include <tessera/simulate.hpp>

using namespace tessera;

namespace indexed_access {

template <class X, class I>
inline const auto along_0 = kernel("along_0", [](X x, I index) { return gather<0>(x, index); });
template <class X, class I>
inline const auto along_1 = kernel("along_1", [](X x, I index) { return gather<1>(x, index); });
template <class X>
inline const auto picked = kernel("picked", [](X x) {
  return results(gather<MaskPattern::P0101>(x), gather<MaskPattern::P1010>(x), gather<MaskPattern::P0010>(x), gather<MaskPattern::P1000>(x));
});
inline const auto pairs = kernel("pairs", [](Tensor<Shape<4, 16>, f32> x) {
  return results(gather<MaskPattern::P0101>(x), gather<MaskPattern::P1010, i32>(x), gather<MaskPattern::P1111, u32>(x));
});
template <class X, class I, class Y>
inline const auto scattered = kernel("scattered", [](X x, I index, Y source) { return scatter(x, index, source); });
template <class X, class I, class Y>
inline const auto updated = kernel("updated", [](X x, I index, Y source) { return scatter_update(x, index, source); });
template <MaskPattern P, class X, class Y>
inline const auto spread = kernel("spread", [](X x, Y source) { return scatter<P>(x, source); });

const Arch archs[] = {Arch::a3, Arch::a5};

// Numbers below `limit`, no two of one row equal.
template <class I>
auto distinct(int limit, int step) {
  auto index = zeros<I>();
  constexpr Type t = type_of<I>;
  for (std::int64_t i = 0; i < index.size(); ++i)
    index.set_integer(i, (i % t.last() * step + 3 * (i / t.last())) % limit);
  return index;
}
template <class I>
auto any_index(int limit) {
  auto index = random<I>(7);
  for (std::int64_t i = 0; i < index.size(); ++i) index.set_integer(i, (index.integer(i) + 8 + i) % limit);
  return index;
}

template <class X, class I>
void check_along_0() {
  const auto x = random<X>(1);
  constexpr Type t = type_of<X>;
  const std::int64_t inner = t.elements() / t.dims[0];
  const auto index = any_index<I>(static_cast<int>(t.dims[0]));
  for (const Arch arch : archs) {
    const auto r = simulate(along_0<X, I>, SimulateOptions{.arch = arch}, x, index);
    for (std::int64_t i = 0; i < r.size(); ++i) CHECK(r.get(i) == x.get(index.integer(i) * inner + i % inner));
  }
}
template <class X, class I>
void check_along_1() {
  const auto x = random<X>(1);
  constexpr Type t = type_of<X>, n = type_of<I>;
  const std::int64_t inner = t.last();
  const auto index = any_index<I>(static_cast<int>(t.dims[1]));
  for (const Arch arch : archs) {
    const auto r = simulate(along_1<X, I>, SimulateOptions{.arch = arch}, x, index);
    for (std::int64_t i = 0; i < r.size(); ++i) {
      const std::int64_t page = i / (n.dims[1] * inner);
      CHECK(r.get(i) == x.get((page * t.dims[1] + index.integer(i)) * inner + i % inner));
    }
  }
}
template <class X>
void check_patterns() {
  const auto x = random<X>(2);
  for (const Arch arch : archs) {
    const auto [even, odd, second, fourth] = simulate(picked<X>, SimulateOptions{.arch = arch}, x);
    for (std::int64_t i = 0; i < even.size(); ++i) {
      CHECK(even.get(i) == x.get(2 * i));
      CHECK(odd.get(i) == x.get(2 * i + 1));
    }
    for (std::int64_t i = 0; i < second.size(); ++i) {
      CHECK(second.get(i) == x.get(4 * i + 1));
      CHECK(fourth.get(i) == x.get(4 * i + 3));
    }
  }
}
template <class X, class I, class Y>
void check_scatter(int step, std::initializer_list<Arch> targets = {Arch::a3, Arch::a5}) {
  const auto x = random<X>(3);
  const auto source = random<Y>(4);
  constexpr Type t = type_of<X>, n = type_of<I>;
  const auto index = distinct<I>(static_cast<int>(t.last()), step);
  auto expected = x;
  for (std::int64_t i = 0; i < source.size(); ++i) expected.set(i / n.last() * t.last() + index.integer(i), source.get(i));
  for (const Arch arch : targets) CHECK(simulate(scattered<X, I, Y>, SimulateOptions{.arch = arch}, x, index, source).values() == expected.values());
}
template <class X, class I, class Y>
void check_update(int step, std::initializer_list<Arch> targets = {Arch::a3, Arch::a5}) {
  const auto x = random<X>(5);
  const auto source = random<Y>(6);
  constexpr Type t = type_of<X>;
  auto index = zeros<I>();
  for (std::int64_t i = 0; i < index.size(); ++i) index.set_integer(i, (i * step + 2) % t.dims[0]);
  auto expected = x;
  for (std::int64_t i = 0; i < source.size(); ++i)
    expected.set(index.integer(i / t.last()) * t.last() + i % t.last(), source.get(i));
  for (const Arch arch : targets) CHECK(simulate(updated<X, I, Y>, SimulateOptions{.arch = arch}, x, index, source).values() == expected.values());
}
template <MaskPattern P, class X, class Y>
void check_spread(std::initializer_list<Arch> targets = {Arch::a3, Arch::a5}) {
  const auto x = random<X>(8);
  const auto source = random<Y>(9);
  auto expected = x;
  for (std::int64_t i = 0; i < source.size(); ++i) expected.set(i * pattern_length(P) + pattern_start(P), source.get(i));
  for (const Arch arch : targets) CHECK(simulate(spread<P, X, Y>, SimulateOptions{.arch = arch}, x, source).values() == expected.values());
}

}  // namespace indexed_access

using namespace indexed_access;

TEST_CASE("gather along axis 0 and 1, with and without padding") {
  check_along_0<Tensor<Shape<6, 16>, f32>, Tensor<Shape<3, 16>, i32>>();
  check_along_0<Tensor<Shape<6, 13>, f16>, Tensor<Shape<9, 13>, i32>>();
  check_along_0<Tensor<Shape<6, 5>, i32>, Tensor<Shape<1, 5>, i32>>();
  check_along_0<Tensor<Shape<24, 1>, f32>, Tensor<Shape<5, 1>, i32>>();
  check_along_0<Tensor<Shape<1, 16>, i16>, Tensor<Shape<4, 16>, i16>>();
  check_along_0<Tensor<Shape<5, 2, 16>, f32>, Tensor<Shape<3, 2, 16>, i32>>();
  check_along_1<Tensor<Shape<2, 6, 13>, f16>, Tensor<Shape<2, 3, 13>, i32>>();
  check_along_1<Tensor<Shape<3, 4, 8>, f32>, Tensor<Shape<3, 1, 8>, i32>>();
  check_along_1<Tensor<Shape<1, 4, 8>, i32>, Tensor<Shape<1, 6, 8>, i32>>();
}

TEST_CASE("a pattern takes every second or fourth element") {
  check_patterns<Tensor<Shape<4, 64>, f32>>();
  check_patterns<Tensor<Shape<5, 24>, f16>>();
  check_patterns<Tensor<Shape<6, 4>, f32>>();
  check_patterns<Tensor<Shape<3, 2, 12>, i32>>();
  check_patterns<Tensor<Shape<1, 8>, i16>>();
  check_patterns<Tensor<Shape<40>, f32>>();
}

TEST_CASE("values and positions come out of pairs") {
  auto x = zeros<Tensor<Shape<4, 16>, f32>>();
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 8; ++j) {
      x.set(16 * i + 2 * j, 10 * i + j + 0.5);
      x.set(16 * i + 2 * j + 1, static_cast<double>(std::bit_cast<float>(100 * i + j)));
    }
  for (const Arch arch : archs) {
    const auto [values, positions, bits] = simulate(pairs, SimulateOptions{.arch = arch}, x);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 8; ++j) {
        CHECK(values(i, j) == static_cast<float>(10 * i + j) + 0.5f);
        CHECK(positions(i, j) == 100 * i + j);
        CHECK(bits(i, 2 * j + 1) == static_cast<std::uint32_t>(100 * i + j));
      }
  }
}

TEST_CASE("a pattern of a tail has as many valid elements as it takes") {
  static const auto tail = kernel("tail", [](Tensor<Shape<4, dyn<"S">>, f32> x, Out<Tensor<Shape<4, 16>, f32>> out) {
    auto t = load<Shape<4, 32>>(x, at(0, 0), valid(3, dim(x, 1)));
    store(gather<MaskPattern::P1010>(t), out, at(0, 0));
  });
  for (const int n : {0, 1, 2, 7, 32}) {
    const auto x = random<Tensor<Shape<4, dyn<"S">>, f32>>(1, {{"S", n}});
    for (const Arch arch : archs) {
      auto out = filled<Tensor<Shape<4, 16>, f32>>(9);
      simulate(tail, SimulateOptions{.arch = arch}, x, out);
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 16; ++j) CHECK(out(i, j) == (i < 3 && 2 * j + 1 < n ? x(i, 2 * j + 1) : 9));
    }
  }
}

TEST_CASE("scatter keeps what no index names") {
  check_scatter<Tensor<Shape<16, 8>, f32>, Tensor<Shape<4, 8>, i32>, Tensor<Shape<4, 8>, f32>>(3);
  check_scatter<Tensor<Shape<16, 13>, f16>, Tensor<Shape<4, 5>, i16>, Tensor<Shape<4, 5>, f16>>(2);
  check_scatter<Tensor<Shape<1, 13>, bf16>, Tensor<Shape<1, 5>, i16>, Tensor<Shape<1, 5>, bf16>>(2);
  check_scatter<Tensor<Shape<9, 7>, i32>, Tensor<Shape<9, 1>, i32>, Tensor<Shape<9, 1>, i32>>(1);
  check_scatter<Tensor<Shape<9, 1>, f32>, Tensor<Shape<3, 1>, i32>, Tensor<Shape<3, 1>, f32>>(1);
  check_scatter<Tensor<Shape<4, 64>, i16>, Tensor<Shape<4, 16>, i16>, Tensor<Shape<4, 16>, i16>>(5);
  check_scatter<Tensor<Shape<4, 40>, i8>, Tensor<Shape<4, 16>, i16>, Tensor<Shape<4, 16>, i8>>(3, {Arch::a5});
}

TEST_CASE("scatter_update replaces rows") {
  check_update<Tensor<Shape<32, 32>, f32>, Tensor<Shape<2, 8>, i32>, Tensor<Shape<16, 32>, f32>>(3);
  check_update<Tensor<Shape<16, 64>, f16>, Tensor<Shape<2, 4>, i32>, Tensor<Shape<8, 64>, f16>>(5);
  check_update<Tensor<Shape<16, 5>, i32>, Tensor<Shape<1, 4>, i32>, Tensor<Shape<4, 5>, i32>>(3);
  check_update<Tensor<Shape<16, 13>, bf16>, Tensor<Shape<3, 3>, i32>, Tensor<Shape<9, 13>, bf16>>(3);
  check_update<Tensor<Shape<16, 13>, i16>, Tensor<Shape<4, 1>, i32>, Tensor<Shape<4, 13>, i16>>(3);
  check_update<Tensor<Shape<16, 16>, f32>, Tensor<Shape<1, 1>, i32>, Tensor<Shape<1, 16>, f32>>(1);
  check_update<Tensor<Shape<24, 1>, f32>, Tensor<Shape<2, 3>, i32>, Tensor<Shape<6, 1>, f32>>(5);
  check_update<Tensor<Shape<1, 40>, f32>, Tensor<Shape<1, 1>, i32>, Tensor<Shape<1, 40>, f32>>(1);
  check_update<Tensor<Shape<8, 32>, i8>, Tensor<Shape<1, 4>, i32>, Tensor<Shape<4, 32>, i8>>(3, {Arch::a5});
}

TEST_CASE("a pattern writes every second or fourth column") {
  check_spread<MaskPattern::P1010, Tensor<Shape<16, 16>, f32>, Tensor<Shape<16, 8>, f32>>();
  check_spread<MaskPattern::P0101, Tensor<Shape<5, 26>, f16>, Tensor<Shape<5, 13>, f16>>();
  check_spread<MaskPattern::P0100, Tensor<Shape<6, 4>, i16>, Tensor<Shape<6, 1>, i16>>();
  check_spread<MaskPattern::P1000, Tensor<Shape<1, 12>, i32>, Tensor<Shape<1, 3>, i32>>();
  check_spread<MaskPattern::P1111, Tensor<Shape<6, 10>, bf16>, Tensor<Shape<6, 10>, bf16>>();
  check_spread<MaskPattern::P1111, Tensor<Shape<6, 1>, f32>, Tensor<Shape<6, 1>, f32>>();
  check_spread<MaskPattern::P0001, Tensor<Shape<6, 128>, i8>, Tensor<Shape<6, 32>, i8>>({Arch::a5});
}

TEST_CASE("where an index names a place twice, the element is not defined") {
  using X = Tensor<Shape<1, 8>, f32>;
  using I = Tensor<Shape<1, 4>, i32>;
  using Y = Tensor<Shape<1, 4>, f32>;
  static const auto summed = kernel("summed", [](X x, I index, Y source) { return row_sum(scatter(x, index, source)); });
  const auto x = random<X>(1);
  const auto same = from_values<I>({1, 3, 3, 0});
  // Two equal elements leave no doubt.
  CHECK_NOTHROW(simulate(summed, x, same, from_values<Y>({1, 2, 2, 3})));
  const std::string text = test::thrown<UserError>([&] { static_cast<void>(simulate(summed, x, same, from_values<Y>({1, 2, 4, 3}))); });
  INFO(text);
  CHECK(test::contains(text, "indexed_access.cpp"));
}

TEST_CASE("an index out of range is told with its place") {
  using X = Tensor<Shape<4, 8>, f32>;
  using I = Tensor<Shape<1, 2>, i32>;
  using Y = Tensor<Shape<2, 8>, f32>;
  const auto index = from_values<I>({1, 4});
  const std::string text = test::thrown<UserError>([&] { static_cast<void>(simulate(updated<X, I, Y>, random<X>(1), index, random<Y>(2))); });
  CHECK(test::contains(text, "scatter_update: an index is out of bounds (element [0, 1]: index 4, dim 4)"));
}

TEST_CASE("the forms on tiles are one instruction each") {
  static const auto tiles = kernel("tiles", [](Tensor<Shape<8, 16>, f32> x, Tensor<Shape<4, 8>, i32> index, Tensor<Shape<8, 8>, f32> y,
                                               Out<Tensor<Shape<8, 16>, f32>> a, Out<Tensor<Shape<8, 16>, f32>> b, Out<Tensor<Shape<8, 16>, f32>> c) {
    auto t = load<Shape<8, 16>>(x, at(0, 0));
    auto i = load<Shape<4, 8>>(index, at(0, 0));
    auto s = load<Shape<8, 8>>(y, at(0, 0));
    auto part = slice<Shape<4, 8>>(s, at(0, 0));
    store(scatter_flat(tile<Shape<8, 16>, f32>(), part, i), a, at(0, 0));
    store(scatter_strided<MaskPattern::P1010>(tile<Shape<8, 16>, f32>(), s), b, at(0, 0));
    store(t + scatter_flat(t, part, i), c, at(0, 0));
  });
  const auto x = random<Tensor<Shape<8, 16>, f32>>(1);
  const auto y = random<Tensor<Shape<8, 8>, f32>>(2);
  auto index = zeros<Tensor<Shape<4, 8>, i32>>();
  for (int i = 0; i < 32; ++i) index.set_integer(i, (i * 5 + 3) % 128);
  for (const Arch arch : archs) {
    auto a = zeros<Tensor<Shape<8, 16>, f32>>(), b = a, c = a;
    simulate(tiles, SimulateOptions{.arch = arch}, x, index, y, a, b, c);
    auto flat = zeros<Tensor<Shape<8, 16>, f32>>();
    for (int i = 0; i < 32; ++i) flat.set(index.integer(i), y.get(i));
    CHECK(a.values() == flat.values());
    for (int i = 0; i < 64; ++i) CHECK(b.get(2 * i + 1) == y.get(i));
    for (int i = 0; i < 64; ++i) CHECK(b.get(2 * i) == 0);
    for (int i = 0; i < 128; ++i) CHECK(c.get(i) == static_cast<double>(static_cast<float>(x.get(i) + flat.get(i))));
    const std::string text = emit_pto(tiles, {.arch = arch});
    CHECK(test::contains(text, "pto.tscatter ins("));
    CHECK(test::contains(text, "{maskPattern = #pto.mask_pattern<P1010>} : !pto.tile_buf<vec, 8x8xf32>, \"row\") outs("));
  }
}

TEST_CASE("assembler 0.27 has no axis word, and scatters by an index only") {
  const std::string text = emit_pto(pairs, {.arch = Arch::a3, .assembler = Assembler::v0_27});
  CHECK(test::contains(text, "{maskPattern = #pto.mask_pattern<P0101>} : !pto.tile_buf<vec, 4x16xf32>) outs("));
  using X = Tensor<Shape<4, 16>, f32>;
  using Y = Tensor<Shape<4, 8>, f32>;
  const std::string refused = test::thrown<UserError>([] {
    static_cast<void>(emit_pto(spread<MaskPattern::P0101, X, Y>, {.arch = Arch::a3, .assembler = Assembler::v0_27}));
  });
  CHECK(test::contains(refused, "scatter_strided: assembler 0.27 scatters by an index only"));
}

TEST_CASE("one element of each row") {
  static const auto one = kernel("one", [](Tensor<Shape<24, 13>, f16> x, Tensor<Shape<24, 1>, i32> index) { return gather(x, index); });
  const auto x = random<Tensor<Shape<24, 13>, f16>>(1);
  const auto index = any_index<Tensor<Shape<24, 1>, i32>>(13);
  for (const Arch arch : archs) {
    const auto r = simulate(one, SimulateOptions{.arch = arch}, x, index);
    for (std::int64_t i = 0; i < 24; ++i) CHECK(r.get(i) == x.get(13 * i + index.integer(i)));
  }
}
