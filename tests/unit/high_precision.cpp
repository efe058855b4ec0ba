// The more exact instructions: attribute, scratch, text.
#include "support/lowering.hpp"

#include <tessera/emit/pto_mlir.hpp>
#include <tessera/simulate.hpp>

using namespace tessera;

namespace high_precision_test {

using X = Tensor<Shape<16, 64>, f32>;
inline const auto exact = kernel("exact", [](X x, X y) {
  return results(div(x, y, high_precision), log(x, high_precision) + recip(y, high_precision), rsqrt(x, high_precision),
                 exp(sqrt(y, high_precision), high_precision));
});
inline const auto repeated = kernel("repeated", [](Tensor<Shape<16, 64>, f16> x) {
  return results(div(x, row_max(x), high_precision), rsqrt(row_max(x), high_precision));
});

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace high_precision_test

TEST_CASE("an exact quotient with a number") {
  using namespace high_precision_test;  // NOLINT: a test
  const auto k = kernel("exact_numbers", [](X x, Scalar<f32> s, Index n) {
    return results(div(x, 3.0f, high_precision), div(1, x, high_precision), div(x, s, high_precision), div(x, 3.0f) * cast<f32>(div(n, 2)));
  });
  CHECK(test::op_names(k.trace()) == "full div full div full div divs div cast muls");
  auto x = random<X>(1);
  for (std::int64_t i = 0; i < x.size(); ++i) x.set(i, std::fabs(x.get(i)) + 0.5);
  const auto [by_number, inverse, by_scalar, scaled] = simulate(k, x, 7.0f, 5);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    CHECK(by_number.get(i) == static_cast<double>(static_cast<float>(x.get(i) / 3)));
    CHECK(inverse.get(i) == static_cast<double>(static_cast<float>(1 / x.get(i))));
    CHECK(by_scalar.get(i) == static_cast<double>(static_cast<float>(x.get(i) / 7)));
    CHECK(scaled.get(i) == static_cast<double>(2 * static_cast<float>(x.get(i) / 3)));
  }
}
using namespace high_precision_test;

TEST_CASE("high_precision is an attribute of the operation") {
  const Function f = exact.trace();
  CHECK(test::op_names(f) == "div log recip add rsqrt sqrt exp");
  for (const OpId op : all_operations(f))
    if (!f.is(op, ops::add) && !f.is(op, ops::return_op)) CHECK(f.attr(op, AttrKey::high_precision) == 1);
  CHECK(has(print(f), "tensor.rsqrt(%arg0) {high_precision = 1} : f32[16,64]"));
  CHECK(test::op_names(repeated.trace()) == "row_max row_expand div row_max rsqrt");
}

TEST_CASE("exact instructions compute what the fast ones do") {
  auto x = random<X>(1), y = random<X>(2);
  for (std::int64_t i = 0; i < x.size(); ++i) x.set(i, std::fabs(x.get(i)) + 0.5), y.set(i, std::fabs(y.get(i)) + 0.5);
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    const auto [quotient, sum, root, power] = simulate(exact, SimulateOptions{.arch = arch}, x, y);
    for (std::int64_t i = 0; i < x.size(); ++i) {
      CHECK(quotient.get(i) == static_cast<double>(static_cast<float>(x.get(i) / y.get(i))));
      CHECK(sum.get(i) == Approx(std::log(x.get(i)) + 1 / y.get(i)).margin(1e-6));
      CHECK(root.get(i) == Approx(1 / std::sqrt(x.get(i))));
      CHECK(power.get(i) == Approx(std::exp(std::sqrt(y.get(i)))));
    }
  }
}

TEST_CASE("high_precision in .pto text") {
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    const std::string text = emit_pto(exact, {.arch = arch});
    for (const std::string_view word : {"div", "log", "recip", "rsqrt", "exp", "sqrt"})
      CHECK(has(text, "{precisionType = #pto<" + std::string(word) + "_precision high_precision>}"));
    CHECK(has(text, " : !pto.tile_buf<vec, 16x64xf32>, !pto.tile_buf<vec, 1x32xui8>) outs("));
    CHECK(has(emit_pto(repeated, {.arch = arch}), "rsqrt_precision"));
  }
  try {
    static_cast<void>(emit_pto(exact, {.arch = Arch::a3, .assembler = Assembler::v0_27}));
    FAIL("not refused");
  } catch (const UserError& e) {
    CHECK(has(e.diagnostic().text(true), "error: div: assembler 0.27 has no instructions of high precision\n  hint: emit for assembler 0.60"));
  }
}
