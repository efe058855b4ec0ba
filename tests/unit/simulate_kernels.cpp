// Kernels through the whole pipeline, compared with plain loops in double.
#include "support/catch.hpp"
#include "tessera/simulate.hpp"

namespace simulate_kernels {
using namespace tessera;

inline const auto softmax = kernel("softmax", [](Tensor<Shape<64, 128>, f32> x) {
  auto e = exp(x - row_max(x));
  return e / row_sum(e);
});
inline const auto scaled_add = kernel("scaled_add", params("a", "b", "s", "out"),
                                      [](Tensor<Shape<256, 128>, f32> a, Tensor<Shape<256, 128>, f32> b, Scalar<f32> s,
                                         Out<Tensor<Shape<256, 128>, f32>> out) {
  for (Index i : range(0, 256, 32)) {
    auto ta = load<Shape<32, 128>>(a, at(i, 0));
    auto tb = load<Shape<32, 128>>(b, at(i, 0));
    store(ta + tb * s, out, at(i, 0));
  }
});
inline const auto gemm = kernel(
    "gemm", [](Tensor<Shape<256, 512>, f16> a, Tensor<Shape<512, 256>, f16> b, Out<Tensor<Shape<256, 256>, f32>> c) {
  for (Index i : range(0, 256, 128))
    for (Index j : range(0, 256, 128)) {
      Var acc = tile<Shape<128, 128>, f32, Acc>();
      for (Index k : range(0, 512, 64)) {
        auto l = move<Left>(load<Shape<128, 64>, Mat>(a, at(i, k)));
        auto r = move<Right>(load<Shape<64, 128>, Mat>(b, at(k, j)));
        if_(k == 0, [&] { acc = matmul(l, r); }, [&] { acc = matmul_acc(acc, l, r); });
      }
      store(acc, c, at(i, j));
    }
});
inline const auto widen =
    kernel("widen", [](Tensor<Shape<4, dyn<"S">, 512>, bf16> x, Out<Tensor<Shape<4, dyn<"S">, 512>, f32>> out) {
  Index s = dim(x, 1);
  for (Index b : range(4))
    for (Index c : range(0, s, 16)) {
      auto t = load<Shape<1, 16, 512>>(x, at(b, c, 0), valid(1, min(16, s - c), 512));
      store(cast<f32>(t), out, at(b, c, 0));
    }
});
inline const auto running_max = kernel("running_max", [](Tensor<Shape<1024, 64>, f32> x, Scalar<i32> n) {
  Var m = full<Shape<1, 64>, f32>(-infinity);
  for (Index i : range(0, n, 1)) m = maximum(m, slice<Shape<1, 64>>(x, at(i, 0)));
  return m;
});
inline const auto both = kernel("both", [](Tensor<Shape<16, 64>, f32> x) { return results(x + x, row_max(x)); });
inline const auto countdown = kernel("countdown", [](Scalar<i32> from) {
  return results(arange<Shape<1, 64>, i32>(from, Order::descending), arange<Shape<1, 64>, i32>(from));
});
inline const auto accumulate =
    kernel("accumulate", [](Tensor<Shape<2, 8, 64>, f32> x, InOut<Tensor<Shape<2, 8, 64>, f32>> sum) {
  for (Index i : range(0, 8, 4)) store(load<Shape<2, 4, 64>>(x, at(0, i, 0)) * 2.0f, sum, at(0, i, 0), Atomic::add);
  store(x, sum, at(0, 0, 0), Atomic::add);
});
inline const auto add_to_nothing = kernel("add_to_nothing", [](Tensor<Shape<16, 64>, f32> x, Out<Tensor<Shape<16, 64>, f32>> sum) {
  store(x, sum, at(0, 0), Atomic::add);
});
using Factors = Tensor<Shape<2, 16, 32>, f16>;
using Turned = Tensor<Shape<2, 32, 16>, f16>;
inline const auto added_product = kernel("added_product", [](Factors a, Turned b, Tensor<Shape<2, 16, 16>, f32> c) { return matmul_acc(c, a, b); });
inline const auto product_in_while = kernel("product_in_while", [](Factors a, Turned b, Index n) {
  Var p = matmul(a, b);
  Var c = n;
  while_([&] { return c > 0; }, [&] {
    p = matmul_acc(p, a, b);
    c = c - 1;
  });
  return col_max(p);
});
inline const auto add_bf16 =
    kernel("add_bf16", [](Tensor<Shape<16, 64>, bf16> x, InOut<Tensor<Shape<16, 64>, bf16>> sum) {
  store(x, sum, at(0, 0), Atomic::add);
});
inline const auto add_u16 = kernel("add_u16", [](Tensor<Shape<16, 64>, u16> x, InOut<Tensor<Shape<16, 64>, u16>> sum) {
  store(x, sum, at(0, 0), Atomic::add);
});

}  // namespace simulate_kernels

using namespace simulate_kernels;

TEST_CASE("softmax rows sum to one") {
  auto x = random<Tensor<Shape<64, 128>, f32>>(1);
  auto y = simulate(softmax, x);
  CHECK(max_abs_diff(row_sums(y), 1.0f) < 1e-5);
  double sum = 0, largest = -2;
  for (int j = 0; j < 128; ++j) largest = std::max(largest, static_cast<double>(x(5, j)));
  for (int j = 0; j < 128; ++j) sum += std::exp(static_cast<double>(x(5, j)) - largest);
  CHECK(std::abs(static_cast<double>(y(5, 7)) - std::exp(static_cast<double>(x(5, 7)) - largest) / sum) < 1e-7);
}
TEST_CASE("a tiled sum with a scalar, and what it did") {
  const auto a = random<Tensor<Shape<256, 128>, f32>>(1), b = random<Tensor<Shape<256, 128>, f32>>(2);
  auto out = zeros<Tensor<Shape<256, 128>, f32>>();
  Statistics statistics;
  simulate(scaled_add, {.statistics = &statistics}, a, b, 0.5, out);
  CHECK(std::abs(static_cast<double>(out(255, 3)) -
                 (static_cast<double>(a(255, 3)) + static_cast<double>(b(255, 3)) * 0.5)) < 1e-6);
  CHECK(statistics.gm_bytes_read == 2 * 256 * 128 * 4);
  CHECK(statistics.gm_bytes_written == 256 * 128 * 4);
  CHECK(statistics.count(ops::load) == 16);
}
TEST_CASE("a tiled matrix product") {
  const auto a = random<Tensor<Shape<256, 512>, f16>>(1);
  const auto b = random<Tensor<Shape<512, 256>, f16>>(2);
  auto c = zeros<Tensor<Shape<256, 256>, f32>>();
  simulate(gemm, a, b, c);
  for (const int i : {0, 100, 255}) {
    double expected = 0;
    for (int k = 0; k < 512; ++k) expected += a.get(i * 512 + k) * b.get(k * 256 + i);
    CHECK(std::abs(static_cast<double>(c(i, i)) - expected) < 1e-4);
  }
}
TEST_CASE("run-time dims, with and without a tail") {
  for (const std::int64_t s : {1, 16, 40}) {
    const auto x = random<Tensor<Shape<4, dyn<"S">, 512>, bf16>>(3, {{"S", s}});
    auto y = zeros<Tensor<Shape<4, dyn<"S">, 512>, f32>>({{"S", s}});
    simulate(widen, x, y);
    CHECK(max_abs_diff(x, y) == 0);
  }
}
TEST_CASE("a loop of a run-time count") {
  const auto x = random<Tensor<Shape<1024, 64>, f32>>(4);
  CHECK(max_abs_diff(simulate(running_max, x, 0), -std::numeric_limits<double>::infinity()) == 0);
  CHECK(max_abs_diff(simulate(running_max, x, 1), from_values<Tensor<Shape<1, 64>, f32>>([&] {
    auto row = x.values();
    row.resize(64);
    return row;
  }())) == 0);
  try {
    (void)simulate(running_max, x, 1025);
    FAIL("row 1024 is past the end");
  } catch (const UserError& e) {
    CHECK(e.diagnostic().message.find(
              "reaches past the end of the tensor (axis 0: offset 1024 + extent 1 > dim 1024)") != std::string::npos);
    CHECK(e.diagnostic().location.line > 0);
  }
}
TEST_CASE("several results") {
  const auto x = random<Tensor<Shape<16, 64>, f32>>(5);
  auto [twice, largest] = simulate(both, x);
  CHECK(twice(3, 4) == 2 * x(3, 4));
  CHECK(largest(3, 0) >= x(3, 4));
}
TEST_CASE("every level of a kernel agrees") {
  const auto x = random<Tensor<Shape<64, 128>, f32>>(6);
  simulate_every_level(softmax.trace(), {x});
  const auto w = random<Tensor<Shape<4, dyn<"S">, 512>, bf16>>(3, {{"S", 24}});
  auto y = zeros<Tensor<Shape<4, dyn<"S">, 512>, f32>>({{"S", 24}});
  simulate_every_level(widen.trace(), {w, y});
  CHECK(max_abs_diff(y, 0) == 0);
}
TEST_CASE("a sequence counts downwards") {
  auto [down, up] = simulate(countdown, 5);
  CHECK(down(0, 0) == 5);
  CHECK(down(0, 63) == -58);
  CHECK(up(0, 63) == 68);
  CHECK(emit_pto(countdown).find("{descending = true}") != std::string::npos);
}
TEST_CASE("a store adds atomically") {
  const auto x = random<Tensor<Shape<2, 8, 64>, f32>>(7);
  auto sum = filled<Tensor<Shape<2, 8, 64>, f32>>(1);
  simulate(accumulate, x, sum);
  CHECK(std::abs(static_cast<double>(sum(1, 7, 3)) - (1 + 3 * static_cast<double>(x(1, 7, 3)))) < 1e-6);
  const std::string text = emit_pto(accumulate);
  CHECK(text.find("{atomicType = #pto<atomic_type atomic_add>}") != std::string::npos);
  CHECK(!emit_pto(add_bf16, {.arch = Arch::a3}).empty());
  const auto refusal = [](auto&& f) -> std::string {
    try {
      f();
    } catch (const UserError& e) { return std::string(e.message()); }
    return {};
  };
  CHECK(refusal([] { (void)emit_pto(add_bf16, {.arch = Arch::a5}); }) ==
        "store: the target cannot add atomically in this element type (bf16)");
  CHECK(refusal([] {
          auto nothing = zeros<Tensor<Shape<16, 64>, f32>>();
          (void)simulate(add_to_nothing, random<Tensor<Shape<16, 64>, f32>>(1), nothing);
        }) == "store: Atomic::add adds to an element that holds nothing (element [0, 0] of [16, 64])");
  CHECK(refusal([] { (void)add_u16.trace(); }) == "store: the target cannot add atomically in this element type (u16)");
}
TEST_CASE("a product added to a tensor is rounded as the product and the sum are") {
  const auto a = random<Factors>(1);
  const auto b = random<Turned>(2);
  const auto c = random<Tensor<Shape<2, 16, 16>, f32>>(3);
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    const auto r = simulate(added_product, {.arch = arch, .agreement = Agreement::exact}, a, b, c);
    double sum = static_cast<double>(c(1, 3, 5));
    for (int k = 0; k < 32; ++k) sum += static_cast<double>(a(1, 3, k)) * static_cast<double>(b(1, k, 5));
    CHECK(std::abs(static_cast<double>(r(1, 3, 5)) - sum) < 1e-5);
  }
}
TEST_CASE("the assembler makes no section around a while loop: the function has a kind") {
  for (const Arch arch : {Arch::a3, Arch::a5})
    CHECK(emit_pto(product_in_while, {.arch = arch}).find("pto.kernel_kind = #pto.kernel_kind<vector>") != std::string::npos);
  const auto r = simulate(product_in_while, random<Factors>(1), random<Turned>(2), 2);
  CHECK(r(0, 0, 0) != 0);
}
