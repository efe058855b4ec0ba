// sin and cos: what they compute, how exactly, and the operations that they become.
#include <cmath>

#include "support/lowering.hpp"

#include <tessera/emit/pto_mlir.hpp>
#include <tessera/passes/legalize.hpp>
#include <tessera/passes/pass.hpp>
#include <tessera/simulate.hpp>

using namespace tessera;

namespace trigonometry {

using X = Tensor<Shape<4, 1024>, f32>;
inline const auto waves = kernel("waves", [](X x) { return results(sin(x), cos(x)); });
inline const auto columns = kernel("columns", [](Tensor<Shape<24, 64>, f32> x) { return sin(row_max(x)) + cos(row_min(x)); });
using T = Tensor<Shape<dyn<"S">, 40>, f32>;
inline const auto tail = kernel("tail", [](T x, Out<T> out) {
  Index s = dim(x, 0);
  for (Index i : range(0, s, 16)) {
    auto t = load<Shape<16, 40>>(x, at(i, 0), valid(min(16, s - i), 40));
    store(cos(t), out, at(i, 0));
  }
});

}  // namespace trigonometry
using namespace trigonometry;

TEST_CASE("sin and cos are within 2e-7 for |x| <= 10000") {
  auto x = zeros<X>();
  std::uint32_t state = 1;
  const auto next = [&] { return (state = state * 1664525u + 1013904223u) / 4294967296.0 * 2 - 1; };
  for (const double reach : {1.0, 2.0, 4.0, 30.0, 100.0, 1000.0, 3000.0, 10000.0}) {
    for (std::int64_t i = 0; i < x.size(); ++i)  // one in two near a zero or an extremum
      x.set(i, i % 2 == 0 ? next() * reach : std::floor(next() * reach / 1.5708) * 1.5707963267948966 + next() * 1e-3);
    for (const Arch arch : {Arch::a3, Arch::a5}) {
      const auto [sines, cosines] = simulate(waves, SimulateOptions{.arch = arch, .agreement = Agreement::exact}, x);
      double of_sine = 0, of_cosine = 0;  // the largest differences from the true ones
      for (std::int64_t i = 0; i < x.size(); ++i) {
        of_sine = std::max(of_sine, std::fabs(sines.get(i) - std::sin(x.get(i))));
        of_cosine = std::max(of_cosine, std::fabs(cosines.get(i) - std::cos(x.get(i))));
      }
      CHECK(of_sine < 2e-7);
      CHECK(of_cosine < 2e-7);
    }
  }
}

TEST_CASE("sin and cos of zero, infinity and NaN") {
  auto x = zeros<X>();
  x.set(1, -0.0), x.set(2, infinity), x.set(3, -infinity), x.set(4, std::nan("")), x.set(5, 1e-20);
  const auto [s, c] = simulate(waves, x);
  CHECK(s.get(0) == 0);
  CHECK(c.get(0) == Approx(1).margin(1e-7));
  CHECK(s.get(1) == 0);
  for (const int i : {2, 3}) {
    CHECK_FALSE(std::isfinite(s.get(i)));
    CHECK_FALSE(std::isfinite(c.get(i)));
  }
  CHECK(std::isnan(s.get(4)));
  CHECK(std::isnan(c.get(4)));
  CHECK(s.get(5) == static_cast<double>(1e-20f));
}

TEST_CASE("columns and tails have a sine, too") {
  const auto x = random<Tensor<Shape<24, 64>, f32>>(1);
  const auto t = random<T>(2, {{"S", 21}});
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    const auto y = simulate(columns, SimulateOptions{.arch = arch, .agreement = Agreement::exact}, x);
    for (int i = 0; i < 24; ++i) {
      float most = x(i, 0), least = x(i, 0);
      for (int j = 1; j < 64; ++j) most = std::max(most, x(i, j)), least = std::min(least, x(i, j));
      CHECK(y(i, 0) == Approx(std::sin(most) + std::cos(least)).margin(1e-6));
    }
    auto out = zeros<T>({{"S", 21}});
    simulate(tail, SimulateOptions{.arch = arch, .agreement = Agreement::exact}, t, out);
    for (int i = 0; i < 21; ++i)
      for (int j = 0; j < 40; ++j) CHECK(out(i, j) == Approx(std::cos(t(i, j))).margin(1e-6));
  }
}

TEST_CASE("a sine becomes these operations") {
  using namespace tessera::test;
  Recording k;
  const ValueId x = k.tensor("x", f32, {16, 64}), o = k.tensor("o", f32, {16, 64}, Direction::out);
  k.store(k.op(ops::sin, {k.load(x, {16, 64}, {k.index(0), k.index(0)})}), o, {k.index(0), k.index(0)});
  k.returns();
  const Function f = legalize.run(k.f(), PassContext{Arch::a3});
  CHECK(op_names(f) ==
        "load muls cast cast muls cast cast sub muls adds muls sub muls sub muls sub mul muls adds mul adds mul adds mul mul add mul store");
}
