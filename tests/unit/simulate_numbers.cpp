// Numbers in the formats of element types.
#include "support/catch.hpp"
#include "tessera/simulate/host_tensor.hpp"

using namespace tessera;
using namespace tessera::simulator;

namespace {
constexpr double inf = std::numeric_limits<double>::infinity();
const double not_a_number = std::numeric_limits<double>::quiet_NaN();
}  // namespace

TEST_CASE("floats round to nearest even") {
  CHECK(rounded(f16, 1 + 0x1p-11) == 1.0f);                  // half way, to even
  CHECK(rounded(f16, 1 + 3 * 0x1p-11) == 1.0f + 0x1p-9f);    // half way, to even
  CHECK(rounded(f16, 1 + 0x1p-11 + 0x1p-40) == 1.0f + 0x1p-10f);  // a bit above half way: float alone would lose it
  CHECK(rounded(f16, 65504) == 65504.0f);
  CHECK(rounded(f16, 65519) == 65504.0f);
  CHECK(rounded(f16, 65520) == std::numeric_limits<float>::infinity());
  CHECK(rounded(f16, 0x1p-24) == 0x1p-24f);                  // the smallest subnormal
  CHECK(rounded(f16, 0x1p-25) == 0.0f);
  CHECK(rounded(bf16, 1 + 0x1p-8) == 1.0f);
  CHECK(rounded(bf16, 1 + 0x1p-8 + 0x1p-45) == 1.0f + 0x1p-7f);
  CHECK(rounded(bf16, -(1 + 3 * 0x1p-8)) == -(1 + 0x1p-6f));
  CHECK(rounded(bf16, 1e39) == std::numeric_limits<float>::infinity());
  CHECK(std::isnan(rounded(f16, not_a_number)));
  CHECK(std::isnan(rounded(bf16, not_a_number)));
  CHECK(rounded(f32, 16777217.0) == 16777216.0f);
}

TEST_CASE("floats round in every mode") {
  struct Row {
    Rounding mode;
    double positive, negative;  // of +-(2049) in f16, whose neighbours are 2048 and 2050
  };
  const Row rows[] = {{Rounding::none, 2048, -2048},  {Rounding::rint, 2048, -2048}, {Rounding::round, 2050, -2050},
                      {Rounding::floor, 2048, -2050}, {Rounding::ceil, 2050, -2048}, {Rounding::trunc, 2048, -2048},
                      {Rounding::odd, 2050, -2050}};
  for (const Row& r : rows) {
    CAPTURE(static_cast<int>(r.mode));
    CHECK(static_cast<double>(rounded(f16, 2049, r.mode)) == r.positive);
    CHECK(static_cast<double>(rounded(f16, -2049, r.mode)) == r.negative);
    CHECK(static_cast<double>(rounded(f16, 2048, r.mode)) == 2048);
    CHECK(static_cast<double>(rounded(f16, -inf, r.mode)) == -inf);
  }
  CHECK(rounded(bf16, 1.001, Rounding::trunc) == 1.0f);
  CHECK(rounded(bf16, 1.001, Rounding::ceil) == 1.0f + 0x1p-7f);
  CHECK(rounded(bf16, 1.001, Rounding::odd) == 1.0f + 0x1p-7f);
  CHECK(rounded(f16, 65519, Rounding::round) == 65504.0f);
  CHECK(rounded(f16, 65520, Rounding::round) == std::numeric_limits<float>::infinity());
  CHECK(rounded(f16, 1e9, Rounding::trunc) == 65504.0f);
  CHECK(rounded(f16, 1e9, Rounding::floor) == 65504.0f);
  CHECK(rounded(f16, -0x1p-30, Rounding::floor) == -0x1p-24f);
  CHECK(rounded(f16, 0x1p-30, Rounding::trunc) == 0.0f);
  CHECK(rounded(f32, 16777217.0, Rounding::ceil) == 16777218.0f);
  CHECK(rounded(f32, 16777217.0, Rounding::round) == 16777218.0f);
}

TEST_CASE("floats become integers: rounded, then clamped") {
  struct Row {
    Rounding mode;
    std::int64_t results[4];  // of 2.5, 3.5, -2.5, 2.25
  };
  const Row rows[] = {{Rounding::none, {2, 4, -2, 2}},  {Rounding::rint, {2, 4, -2, 2}},
                      {Rounding::round, {3, 4, -3, 2}}, {Rounding::floor, {2, 3, -3, 2}},
                      {Rounding::ceil, {3, 4, -2, 3}},  {Rounding::trunc, {2, 3, -2, 2}},
                      {Rounding::odd, {3, 3, -3, 3}}};
  const double inputs[] = {2.5, 3.5, -2.5, 2.25};
  for (const Row& r : rows)
    for (int i = 0; i < 4; ++i) {
      CAPTURE(static_cast<int>(r.mode), inputs[i]);
      CHECK(to_integer(i32, inputs[i], r.mode) == r.results[i]);
    }
  CHECK(to_integer(i8, 300, Rounding::rint) == 127);
  CHECK(to_integer(i8, -300, Rounding::rint) == -128);
  CHECK(to_integer(u8, -1, Rounding::rint) == 0);
  CHECK(to_integer(u8, 255.5, Rounding::rint) == 255);
  CHECK(to_integer(i32, inf, Rounding::rint) == 2147483647);
  CHECK(to_integer(i32, not_a_number, Rounding::rint) == 0);
  CHECK(to_integer(i64, 1e30, Rounding::rint) == std::numeric_limits<std::int64_t>::max());
  CHECK(to_integer(i64, -1e30, Rounding::rint) == std::numeric_limits<std::int64_t>::min());
  CHECK(to_integer(u64, 1.8e19, Rounding::rint) == static_cast<std::int64_t>(18000000000000000000u));
  CHECK(to_integer(u64, 1e30, Rounding::rint) == -1);
  CHECK(to_integer(boolean, 0.25, Rounding::rint) == 1);
}

TEST_CASE("integers wrap") {
  CHECK(wrapped(i8, 128) == -128);
  CHECK(wrapped(u8, -1) == 255);
  CHECK(wrapped(i16, 40000) == -25536);
  CHECK(wrapped(u16, 65536) == 0);
  CHECK(wrapped(i32, std::int64_t{1} << 31) == -2147483648LL);
  CHECK(wrapped(u32, -1) == 4294967295LL);
  CHECK(wrapped(i64, -5) == -5);
  CHECK(wrapped(boolean, 2) == 1);
  CHECK(smallest_integer(i16) == -32768);
  CHECK(smallest_integer(u16) == 0);
  CHECK(largest_integer(i16) == 32767);
  CHECK(largest_integer(u64) == -1);
  CHECK(to_double(u64, -1) == 18446744073709551615.0);
}

TEST_CASE("host tensors hold every element type exactly") {
  for (const DType d : {f32, f16, bf16, i8, u8, i16, u16, i32, u32, i64, u64, boolean, index_type}) {
    CAPTURE(name(d));
    HostTensor t(d, {2, 3});
    CHECK(t.size() == 6);
    CHECK(t.get(5) == 0);
    t.set(5, 1);
    CHECK(t.get(5) == 1);
    CHECK(t.get(4) == 0);
  }
  HostTensor h(f16, {1});
  h.set(0, 1 + 0x1p-11);
  CHECK(h.get(0) == 1);
  HostTensor b(i8, {1});
  b.set_integer(0, 200);
  CHECK(b.get(0) == -56);
  b.set(0, 200);
  CHECK(b.get(0) == 127);
  HostTensor u(u64, {1});
  u.set_integer(0, -1);
  CHECK(u.integer(0) == -1);
  CHECK(u.get(0) == 18446744073709551615.0);
  HostTensor l(i64, {1});
  l.set_integer(0, 9007199254740993);
  CHECK(l.integer(0) == 9007199254740993);
}

TEST_CASE("element types without a host format are refused") {
  for (const DType d : {f8e4m3, f8e5m2, f8e8m0, hif8, f4e2m1}) {
    CAPTURE(name(d));
    CHECK_THROWS_AS(HostTensor(d, {2}), UserError);
  }
}
