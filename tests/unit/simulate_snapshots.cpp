// A value made from a parameter that the kernel writes holds what the parameter held then.
#include "support/catch.hpp"
#include "tessera/simulate.hpp"

using namespace tessera;  // NOLINT: a test

namespace {
using T = Tensor<Shape<16, 64>, f32>;

const auto exchange = kernel("exchange", [](InOut<T> x, InOut<T> y) {
  Var t = x;
  x = y;
  y = t;
});
const auto previous = kernel("previous", [](InOut<T> x, Out<T> o, Index n) {
  Var p = x * 0;
  for (Index i : range(n)) {
    p = x;
    x = x + 1;
    (void)i;
  }
  o = p;
});
const auto returned = kernel("returned", [](InOut<T> x) {
  auto y = T(x);
  x = x * 2;
  return y;
});
const auto summed = kernel("summed", [](InOut<T> x) {
  T y = x;
  x = x * 2;
  x = x + y;
});
const auto of_output = kernel("of_output", [](InOut<T> x, Out<T> o) {
  o = x;
  auto y = T(o);
  o = x * 2;
  x = y;
});
const auto several = kernel("several", [](InOut<T> x) {
  auto r = results(x, x);
  x = x * 2;
  return r;
});
}  // namespace

TEST_CASE("a value made from an output parameter keeps what it held") {
  const Arch arch = GENERATE(Arch::a3, Arch::a5);
  auto x = filled<T>(1), y = filled<T>(101), o = zeros<T>();
  SECTION("two parameters exchanged") {
    simulate(exchange, {.arch = arch}, x, y);
    CHECK(x(0, 0) == 101);
    CHECK(y(15, 63) == 1);
  }
  SECTION("in a loop") {
    simulate(previous, {.arch = arch}, x, o, 3);
    CHECK(o(0, 0) == 3);
    CHECK(x(0, 0) == 4);
  }
  SECTION("returned") {
    const auto r = simulate(returned, {.arch = arch}, x);
    CHECK(r(0, 0) == 1);
    CHECK(x(0, 0) == 2);
  }
  SECTION("used after the parameter changed") {
    simulate(summed, {.arch = arch}, x);
    CHECK(x(3, 3) == 3);
  }
  SECTION("from an Out parameter") {
    simulate(of_output, {.arch = arch}, x, o);
    CHECK(x(0, 0) == 1);
    CHECK(o(0, 0) == 2);
  }
  SECTION("in results") {
    const auto [a, b] = simulate(several, {.arch = arch}, x);
    CHECK(a(0, 0) == 1);
    CHECK(b(0, 0) == 1);
    CHECK(x(0, 0) == 2);
  }
}

TEST_CASE("parameters that the kernel writes are arrays of their own") {
  auto x = filled<T>(1);
  try {
    simulate(exchange, x, x);
    FAIL("accepted");
  } catch (const UserError& e) {
    CHECK(e.diagnostic().message == "simulate: one array is given for two parameters, and the kernel writes it (arg0, arg1)");
    CHECK(e.diagnostic().hint == "parameters do not overlap: pass a copy, or make it one InOut parameter");
  }
}
