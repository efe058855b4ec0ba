// Windows that are padded or cut at the edge, bytes seen in another element type, and tiles that grow.
#include "support/catch.hpp"
#include "support/trace.hpp"

#include <cstring>

#include <tessera/compile.hpp>
#include <tessera/simulate.hpp>

namespace {
using namespace tessera;
using X = Tensor<Shape<16, 64>, f32>;
using Rows = Tensor<Shape<dyn<"S">, 64>, f32>;

inline const auto padded = kernel("padded", params("x", "n"), [](X x, Index n) {
  auto kept = slice<Shape<8, 64>>(x, at(8, 0), valid(n, 24), Pad::min);
  auto part = slice<Shape<8, 32>>(load<Shape<16, 64>>(x, at(0, 0)), at(0, 0), valid(8, n), Pad::max);
  return results(kept, part * 1.0f);
});
inline const auto edges = kernel("edges", params("x", "out"), [](Rows x, Out<Rows> out) {
  for (Index i : range(0, dim(x, 0) + 20, 16)) store(load<Shape<16, 64>>(x, at(i, 0), clamped) + 1.0f, out, at(i, 0));
});
inline const auto inner_edge = kernel("inner_edge", params("x", "n"), [](X x, Index n) {
  auto t = load<Shape<16, 64>>(x, at(0, 0), valid(n, 64));
  auto inner = fillpad(slice<Shape<8, 64>>(t, at(8, 0), clamped), Pad::zero);
  return results(inner * 1.0f, slice<Shape<8, 64>>(x, at(12, 0), clamped, Pad::zero));
});
inline const auto bytes = kernel("bytes", params("x", "y"), [](Tensor<Shape<8, 16>, f32> x, Tensor<Shape<4, 32>, i32> y) {
  auto magnitude = reinterpret<i32>(x) & 0x7fffffff;
  auto halves = reinterpret<i16, Shape<16, 16>>(load<Shape<8, 16>>(x, at(0, 0)));
  return results(reinterpret<f32>(magnitude), halves + 1, reinterpret<i8>(y), reinterpret<u16, Shape<16, 16>>(y));
});
}  // namespace

TEST_CASE("a slice with a pad is a window and a fill", "[dsl]") {
  CHECK(trace::text([](X x, Index n) { return slice<Shape<8, 64>>(x, at(8, 0), valid(n, 24), Pad::min); }) ==
        R"((%arg0: in f32[16,64], %arg1: index) {
  %0 = tensor.slice(%arg0, 8, 0, %arg1, 24) {has_valid = 1} : f32[8,64] valid[%arg1,24]
  %1 = tensor.fillpad(%0) {pad = min} : f32[8,64]
  return %1
}
)");
  const auto x = random<X>(1);
  const auto [kept, part] = simulate(padded, x, 5);
  CHECK(kept(4, 23) == x(12, 23));
  CHECK(std::isinf(kept(5, 0)));
  CHECK(kept(0, 24) < 0);
  CHECK(part(7, 4) == x(7, 4));
  CHECK(std::isinf(part(7, 5)));
}

TEST_CASE("a clamped window ends at the edge of its source", "[dsl]") {
  CHECK(trace::text([](Rows x, Index i) { return load<Shape<16, 64>>(x, at(i, 60), clamped); }) ==
        R"((%arg0: in f32[S,64], %arg1: index) {
  %0 = scalar.max(S, %arg1) : index
  %1 = scalar.sub(%0, %arg1) : index
  %2 = scalar.min(%1, 16) : index
  %3 = tile.load(%arg0, %arg1, 60, %2, 4) {has_valid = 1} : tile<f32[16,64]@Vec> valid[%2,4]
  return %3
}
)");
  for (const int rows : {1, 16, 40}) {
    const auto x = random<Rows>(1, {{"S", rows}});
    auto out = zeros<Rows>({{"S", rows}});
    simulate(edges, x, out);
    CHECK(out(rows - 1, 63) == x(rows - 1, 63) + 1);
  }
  for (const int n : {0, 3, 8, 11, 16}) {
    const auto x = random<X>(1);
    const auto [inner, outer] = simulate(inner_edge, x, n);
    CHECK(inner(2, 5) == (n > 10 ? x(10, 5) : 0.0f));
    CHECK(outer(3, 5) == x(15, 5));
    CHECK(outer(4, 5) == 0.0f);
  }
}

TEST_CASE("a clamped window is past the end when its offset is", "[dsl]") {
  // Nothing is left to read; a window without it would be an error.
  CHECK(trace::text([](X x) { return fillpad(load<Shape<8, 64>>(x, at(20_c, 0_c), clamped)); }).find("valid[0,64]") !=
        std::string::npos);
  static_assert(std::is_same_v<decltype(load<Shape<8, 64>>(std::declval<X&>(), at(20_c, 0_c))),
                               broken::window_out_of_bounds<&ops::load, 20, 8, 16>>);
  static_assert(std::is_same_v<decltype(load<Shape<8, 64>>(std::declval<X&>(), at(-1_c, 0_c), clamped)),
                               broken::window_offset_is_negative<&ops::load, -1>>);
}

TEST_CASE("the same bytes are seen as elements of another type", "[dsl]") {
  auto x = random<Tensor<Shape<8, 16>, f32>>(1);
  const auto y = random<Tensor<Shape<4, 32>, i32>>(2);
  const auto [magnitude, halves, octets, words] = simulate(bytes, x, y);
  std::int16_t low[256];
  std::memcpy(low, x.data(), sizeof low);
  for (int i = 0; i < 256; ++i) CHECK(halves(i / 16, i % 16) == static_cast<std::int16_t>(low[i] + 1));
  for (int i = 0; i < 128; ++i) CHECK(magnitude(i / 16, i % 16) == std::abs(x(i / 16, i % 16)));
  CHECK(std::memcmp(octets.data(), y.data(), 512) == 0);
  CHECK(std::memcmp(words.data(), y.data(), 512) == 0);
}

TEST_CASE("what is valid in part scales with the element", "[dsl]") {
  CHECK(trace::text([](Tensor<Shape<4, 16>, f32> x, Index n) {
          auto t = load<Shape<4, 16>>(x, at(0, 0), valid(3, n));
          return reinterpret<f32>(reinterpret<i16>(t) + 1);
        }) == R"((%arg0: in f32[4,16], %arg1: index) {
  %0 = tile.load(%arg0, 0, 0, 3, %arg1) {has_valid = 1} : tile<f32[4,16]@Vec> valid[3,%arg1]
  %1 = scalar.mul(%arg1, 2) : index
  %2 = tile.reinterpret(%0) : tile<i16[4,32]@Vec> valid[3,%1]
  %3 = tile.adds(%2, 1:i16) : tile<i16[4,32]@Vec> valid[3,%1]
  %4 = scalar.div(%1, 2) : index
  %5 = tile.reinterpret(%3) : tile<f32[4,16]@Vec> valid[3,%4]
  return %5
}
)");
  CHECK(trace::text([](Tensor<Shape<4, 16>, f32> x) {
          auto t = load<Shape<4, 16>>(x, at(0, 0), valid(3, 5));
          return reinterpret<i16, Shape<8, 16>>(t);
        }).find("error: reinterpret: the operand is valid in part, and the shape changes ([4,16] to [8,16])\n  hint: fillpad(x) first, or leave the "
                "shape out: the last dim is scaled") != std::string::npos);
}

TEST_CASE("what cannot be seen in another element type", "[dsl]") {
  using Odd = Tensor<Shape<4, 3>, i16>;
  static_assert(std::is_same_v<decltype(reinterpret<f32>(std::declval<Odd&>())), broken::reinterpret_row_does_not_divide<6, 32>>);
  static_assert(std::is_same_v<decltype(reinterpret<f32, Shape<2, 2>>(std::declval<Odd&>())),
                               broken::reinterpret_changes_the_byte_count<24, 16>>);
  static_assert(std::is_same_v<value_of<decltype(reinterpret<f32, Shape<2, 3>>(std::declval<Odd&>()))>, Tensor<Shape<2, 3>, f32>>);
  static_assert(std::is_same_v<decltype(reinterpret<i16>(std::declval<Odd&>())), broken::reinterpret_to_the_same_dtype<i16>>);
  static_assert(std::is_same_v<decltype(reinterpret<i16>(std::declval<Tile<Shape<16, 16>, f32, Acc>&>())),
                               broken::reinterpret_needs_rows<Acc>>);
  static_assert(std::is_same_v<decltype(reinterpret<i16>(std::declval<Tile<Shape<16, 1>, f32, Vec>&>())),
                               broken::reinterpret_needs_rows<Vec>>);
  static_assert(std::is_same_v<decltype(reinterpret<f8e4m3>(std::declval<Odd&>())),
                               broken::dtype_not_supported<&ops::reinterpret, f8e4m3>>);
}

namespace {
inline const auto grown = kernel("grown", params("x", "n"), [](Tensor<Shape<6, 16>, f32> x, Index n) {
  auto t = load<Shape<6, 16>>(x, at(0, 0), valid(n, 12));
  return results(fillpad_expand<Shape<8, 32>>(t, Pad::max), fillpad_expand<Shape<16, 1>>(row_sum(fillpad(t))));
});
inline const auto grown_pages = kernel("grown_pages", params("x"), [](Tensor<Shape<2, 6, 16>, f32> x) {
  return results(fillpad_expand<Shape<2, 8, 32>>(x), fillpad_expand<Shape<2, 6, 24>>(x, Pad::min));
});
}  // namespace

TEST_CASE("a tile grows, filled where nothing was valid", "[dsl]") {
  for (const int n : {1, 4, 6}) {
    const auto x = random<Tensor<Shape<6, 16>, f32>>(1);
    const auto [large, sums] = simulate(grown, x, n);
    CHECK(large(n - 1, 11) == x(n - 1, 11));
    CHECK(std::isinf(large(n - 1, 12)));
    CHECK(std::isinf(large(n, 0)));
    CHECK(sums(15, 0) == 0.0f);
  }
  const auto x = random<Tensor<Shape<2, 6, 16>, f32>>(1);
  const auto [zeros, lowest] = simulate(grown_pages, x);
  CHECK(zeros(1, 5, 15) == x(1, 5, 15));
  CHECK(zeros(0, 6, 0) == 0.0f);
  CHECK(lowest(1, 5, 15) == x(1, 5, 15));
  CHECK(lowest(1, 5, 16) == -std::numeric_limits<float>::infinity());
  static_assert(std::is_same_v<decltype(fillpad_expand<Shape<8, 8>>(std::declval<Tensor<Shape<6, 16>, f32>&>())),
                               broken::padded_shape_is_smaller<8, 16>>);
  static_assert(std::is_same_v<decltype(fillpad_expand<Shape<3, 6, 16>>(std::declval<Tensor<Shape<2, 6, 16>, f32>&>())),
                               broken::padded_leading_dims_differ<2, 3>>);
}

TEST_CASE("a view is the memory of its parameter, and written where the parameter is", "[dsl]") {
  CHECK(trace::text([](Tensor<Shape<4, 64>, f32> x, Out<Tensor<Shape<16, 16>, f32>> out) {
          auto seen = view<Shape<2, 128>>(view<Shape<256>>(out));
          seen = reshape<Shape<2, 128>>(exp(view<Shape<256>>(x)));
          write(view<Shape<256>>(out), at(3), 1.0f);
        }) == R"((%arg0: in f32[4,64], %arg1: out f32[16,16]) {
  %0 = tensor.view(%arg1) : f32[256]
  %1 = tensor.view(%0) : f32[2,128]
  %2 = tensor.view(%arg0) : f32[256]
  %3 = tensor.exp(%2) : f32[256]
  %4 = tensor.reshape(%3) : f32[2,128]
  tensor.store(%4, %1, 0, 0)
  %5 = tensor.view(%arg1) : f32[256]
  tensor.write(%5, 1.0:f32, 3)
  return
}
)");
  using T = Tensor<Shape<4, 64>, f32>;
  static_assert(std::is_same_v<decltype(view<Shape<256>>(std::declval<InOut<T>&>())), InOut<Tensor<Shape<256>, f32>>>);
  static_assert(std::is_same_v<decltype(view<Shape<255>>(std::declval<T&>())), broken::view_changes_the_elements<256, 255>>);
  static_assert(std::is_same_v<decltype(view<Shape<256>>(exp(std::declval<T&>()))), broken::view_of_a_value<>>);
  CHECK(trace::text([](T x) {
          T y = exp(x);
          return view<Shape<256>>(y);
        }).find("error: view: the operand is a value and no tensor parameter") != std::string::npos);
}
