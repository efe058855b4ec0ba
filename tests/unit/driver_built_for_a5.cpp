// In a program that is compiled for a5, everything that takes a kernel lowers it for a5 and refuses another target.
#include <sstream>
#include <tessera/driver.hpp>
#include <tessera/tessera.hpp>

#include "support/catch.hpp"

namespace {

using namespace tessera;

const auto twice = kernel("twice", [](Tensor<Shape<16, 64>, f32> x) { return x + x; });

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.diagnostic().message + " | " + e.diagnostic().hint;
  }
  return {};
}
constexpr const char* refusal =
    "kernel: the source is compiled for another target (a5, not a3) | ask for a5, or compile the source for a3 or for no target";

}  // namespace

TEST_CASE("the target of the program is the default") {
  CHECK(twice.trace().target == static_cast<int>(Arch::a5));
  CHECK(emit_pto(twice) == emit_pto(twice, {.arch = Arch::a5}));
  CHECK(emit_pto(twice).find("pto.target_arch = \"a5\"") != std::string::npos);
  const auto x = random<Tensor<Shape<16, 64>, f32>>(1);
  CHECK(simulate(twice, x)(3, 4) == 2 * x(3, 4));
  simulate_every_level(twice.trace(), {x});
}
TEST_CASE("another target is refused") {
  const Function f = twice.trace();
  CHECK(error_of([&] { static_cast<void>(lower(f, {.arch = Arch::a3})); }) == refusal);
  CHECK(error_of([&] { static_cast<void>(emit_pto(twice, {.arch = Arch::a3})); }) == refusal);
  CHECK(error_of([&] { static_cast<void>(emit_pto_mlir(lower(f), {.arch = Arch::a3})); }) == refusal);
  const auto x = random<Tensor<Shape<16, 64>, f32>>(1);
  CHECK(error_of([&] { static_cast<void>(simulate(twice, {.arch = Arch::a3}, x)); }) == refusal);
}
TEST_CASE("the generator offers its target alone") {
  std::ostringstream out, err;
  const auto run = [&](std::vector<std::string> arguments) {
    out.str({});
    err.str({});
    return driver::run({Registry::instance(), out, err}, std::move(arguments), "gen");
  };
  REQUIRE(run({"emit", "--help"}) == 0);
  CHECK(out.str().find("target: a5, the only one of this generator") != std::string::npos);
  REQUIRE(run({"lower", "twice"}) == 0);
  const std::string lowered = out.str();
  REQUIRE(run({"lower", "twice", "--arch", "a5"}) == 0);
  CHECK(out.str() == lowered);
  CHECK(run({"lower", "twice", "--arch", "a3"}) == 2);
  CHECK(err.str().find("--arch: this generator is built for one target only (a5, not a3)\n  hint: ") != std::string::npos);
}
