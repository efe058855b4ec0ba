// Bits of scalars, and compound assignments of bits.
#include "support/catch.hpp"

#include <tessera/emit/pto_mlir.hpp>
#include <tessera/simulate.hpp>

using namespace tessera;

namespace scalar_bits {

using X = Tensor<Shape<1, 8>, i32>;
inline const auto scalars = kernel("scalars", params("n", "u", "k", "out"), [](Scalar<i32> n, Scalar<u16> u, Index k, Out<X> out) {
  write(out, at(0, 0), (n ^ 5) << 3);
  write(out, at(0, 1), cast<i32>(n >> k));
  write(out, at(0, 2), ~n);
  write(out, at(0, 3), cast<i32>(~u));
  write(out, at(0, 4), cast<i32>(u >> 2));
  write(out, at(0, 5), cast<i32>(1 << k));
  write(out, at(0, 6), cast<i32>(~k));
  Var v = n;
  v &= 0xff, v |= 256, v ^= n, v <<= 2, v >>= 1;
  write(out, at(0, 7), v);
});
using T = Tensor<Shape<4, 16>, i32>;
inline const auto tensors = kernel("tensors", [](T x, Tensor<Shape<4, 1>, i32> mask) {
  Var v = x;
  v &= mask;
  v <<= 2;
  v |= 1;
  v ^= x;
  v >>= 1;
  return v;
});

}  // namespace scalar_bits
using namespace scalar_bits;

TEST_CASE("bits of scalars") {
  for (const int n : {0, 7, -3, 123456789}) {
    for (const int k : {0, 1, 13}) {
      auto out = zeros<X>();
      const std::uint16_t u = 0xf00f;
      simulate(scalars, n, u, k, out);
      CHECK(out(0, 0) == static_cast<std::int32_t>(static_cast<std::uint32_t>(n ^ 5) << 3));
      CHECK(out(0, 1) == n >> k);
      CHECK(out(0, 2) == ~n);
      CHECK(out(0, 3) == 0x0ff0);
      CHECK(out(0, 4) == 0xf00f >> 2);
      CHECK(out(0, 5) == 1 << k);
      CHECK(out(0, 6) == ~k);
      CHECK(out(0, 7) == static_cast<std::int32_t>(static_cast<std::uint32_t>(((n & 0xff) | 256) ^ n) << 2) >> 1);
    }
  }
}
TEST_CASE("compound assignments of bits") {
  auto x = zeros<T>();
  auto mask = zeros<Tensor<Shape<4, 1>, i32>>();
  for (std::int64_t i = 0; i < 64; ++i) x.set(i, static_cast<double>(i * 37 - 500));
  for (std::int64_t i = 0; i < 4; ++i) mask.set(i, static_cast<double>(i * 5 + 1));
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    const auto y = simulate(tensors, SimulateOptions{.arch = arch}, x, mask);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 16; ++j) CHECK(y(i, j) == (((((x(i, j) & mask(i, 0)) * 4) | 1) ^ x(i, j)) >> 1));
  }
}
TEST_CASE("a shift of a scalar by too much is an error") {
  static const auto wide = kernel("wide", params("n", "out"), [](Scalar<i32> n, Out<X> out) { write(out, at(0, 0), 1 << n); });
  auto out = zeros<X>();
  try {
    simulate(wide, 32, out);
    FAIL("not refused");
  } catch (const UserError& e) { CHECK(e.diagnostic().text(true).find("the amount is not below the count of bits") != std::string::npos); }
}
