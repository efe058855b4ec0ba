// Run-time texts of mistakes with valid extents, windows of values and indices: what they name, and with which numbers.
#include <tessera/simulate.hpp>

#include "support/catch.hpp"

using namespace tessera;

namespace {

using X = Tensor<Shape<32, 64>, f32>;
using Deep = Tensor<Shape<8, 16, 64>, f32>;

template <class Run>
std::string said(Run&& run) {
  try {
    run();
    return "no error";
  } catch (const UserError& e) {
    const Diagnostic d = e.diagnostic();
    return d.message + " | " + d.hint;
  }
}
template <class S, class F>
std::string reshaped(F valid_part) {
  return said([&] {
    const auto k = kernel("reshaped", [valid_part](Deep x, Index n) { return fillpad(reshape<S>(exp(valid_part(x, n)))); });
    static_cast<void>(simulate(k, random<Deep>(1), 3));
  });
}

}  // namespace

TEST_CASE("a dim in front of those that are split keeps its extent") {
  const auto k = kernel("kept", [](Deep x, Index n) {
    return fillpad(reshape<Shape<8, 4, 4, 64>>(exp(slice<Shape<8, 16, 64>>(x, at(0, 0, 0), valid(n, 16, 64)))));
  });
  const auto x = random<Deep>(1);
  for (const std::int64_t n : {0, 3, 8}) {
    const auto y = simulate(k, x, n);
    for (std::int64_t i = 0; i < 8; ++i) CHECK((y(i, 3, 2, 5) > 0) == (i < n));
  }
}
TEST_CASE("reshape names the dim that is split while it is valid in part") {
  const std::string hint = " | fillpad(x) first, or reshape before giving valid extents";
  CHECK(reshaped<Shape<8, 4, 4, 64>>([](Deep x, Index n) { return slice<Shape<8, 16, 64>>(x, at(0, 0, 0), valid(8, n, 64)); }) ==
        "reshape: the operand is valid in part only along a dim that is split or merged (axis 1: a run-time extent of 16)" + hint);
  CHECK(reshaped<Shape<8, 16, 8, 8>>([](Deep x, Index) { return slice<Shape<8, 16, 64>>(x, at(0, 0, 0), valid(8, 16, 20)); }) ==
        "reshape: the operand is valid in part only along a dim that is split or merged (axis 2: 20 of 64)" + hint);
  CHECK(reshaped<Shape<8, 16, 8, 8>>([](Deep x, Index) { return slice<Shape<8, 16, 64>>(x, at(0, 0, 0), valid(5, 16, 64)); }) ==
        "reshape: the operand is valid in part only, and the last dim changes (axis 0: 5 of 8)" + hint);
}
TEST_CASE("concat and reinterpret tell extents and shapes") {
  CHECK(said([] {
          static_cast<void>(kernel("joined", [](X x) {
                              auto t = load<Shape<32, 64>>(x, at(0, 0), valid(32, 20));
                              return fillpad(concat(t, t));
                            }).trace());
        }) == "concat: the first operand is valid in part along the last axis (20 of 64) | fillpad(x) it first");
  CHECK(said([] {
          static_cast<void>(kernel("seen", [](X x) {
                              return reinterpret<i32, Shape<64, 32>>(load<Shape<32, 64>>(x, at(0, 0), valid(32, 20)));
                            }).trace());
        }) == "reinterpret: the operand is valid in part, and the shape changes ([32,64] to [64,32]) | fillpad(x) first, or leave the shape out: the last dim is scaled");
}
TEST_CASE("an index that names a place twice is told as such") {
  using Two = Tensor<Shape<1, 2>, i32>;
  using Rows = Tensor<Shape<2, 64>, f32>;
  const auto twice = from_values<Two>({3, 3});
  const std::string hint = " | it is not defined which of the two stays: let each index name a place of its own";
  const auto returned = kernel("returned", [](X x, Two i, Rows s) { return scatter_update(x, i, s); });
  CHECK(said([&] { static_cast<void>(simulate(returned, random<X>(1), twice, random<Rows>(2))); }) ==
        "return: an element that an index names twice, for different elements, is returned (result 0, element [3, 0] of [32, 64])" + hint);
  const auto used = kernel("used", [](X x, Two i, Rows s) { return row_sum(scatter_update(x, i, s)); });
  CHECK(said([&] { static_cast<void>(simulate(used, random<X>(1), twice, random<Rows>(2))); }) ==
        "row_sum: an element that an index names twice, for different elements, is used (operand 0, element [3, 0] of [32, 64])" + hint);
  CHECK(said([&] { static_cast<void>(simulate(used, random<X>(1), twice, filled<Rows>(1))); }) == "no error");
}
TEST_CASE("the source or the index of scatter_update that is valid in part is named") {
  using Two = Tensor<Shape<1, 2>, i32>;
  using Rows = Tensor<Shape<2, 64>, f32>;
  const auto k = kernel("part", [](X x, Two i, Rows s, Index n) { return scatter_update(x, i, set_valid_shape(exp(s), valid(n, 64))); });
  CHECK(said([&] { static_cast<void>(simulate(k, random<X>(1), from_values<Two>({3, 4}), random<Rows>(2), 1)); }) ==
        "scatter_update: the source is valid in part only (tile<f32[2,64]@Vec>) | fillpad(...) both first, or use scatter");
}
