// Registration and tracing of kernels: names, repetition, captures, nesting, threads.
#include "support/catch.hpp"
#include "support/trace.hpp"

#include <thread>
#include <vector>

namespace my_kernels {
using namespace tessera;  // NOLINT: as users write
using X = Tensor<Shape<16, 64>, f32>;

inline const auto add = kernel("add", params("x", "y"), [](X x, X y) { return x + y; });
inline const auto gamma = kernel("gamma", [](X x, Scalar<f32> s, Out<X> o) { o = x * s; });
template <int N>
auto scaled() {
  return kernel("scaled_" + dims<N, 2>(), [](X x) { return x * N; });
}
inline const auto big = kernel("big", params("x", "w", "n"), [](X x, Tensor<Shape<64, 64>, f16> w, Scalar<i32> n) {
  auto h = matmul(cast<f16>(x), w);
  Var m = full<Shape<16, 64>, f32>(-infinity);
  for (Index i : range(n)) {
    if_(i % 2 == 0, [&] { m = maximum(m, h); }, [&] { m = m + exp(h - row_max(h)); });
  }
  auto e = exp(m);
  return results(e / row_sum(e), m);
});
}  // namespace my_kernels

namespace {
using namespace tessera;  // NOLINT: a test
using my_kernels::X;

TEST_CASE("a kernel has the name, parameters and place that the user gave it") {
  const Function f = my_kernels::add.trace();
  CHECK(f.name == "add");
  CHECK(f.parameters.size() == 2);
  CHECK(f.parameters[0].name == "x");
  CHECK(f.parameters[1].name == "y");
  CHECK(my_kernels::add.location().line == 12);  // as above
  CHECK(print(f) == "kernel @add(%x: in f32[16,64], %y: in f32[16,64]) {\n  %0 = tensor.add(%x, %y) : f32[16,64]\n  return %0\n}\n");
  CHECK(Registry::instance().find("gamma") != nullptr);
  CHECK(Registry::instance().find("gama") == nullptr);
}

TEST_CASE("repeated kernels are one, other kernels of the name are errors") {
  const std::size_t before = Registry::instance().size(), errors = Registry::instance().errors().size();
  const auto a = my_kernels::scaled<3>();
  CHECK(my_kernels::scaled<3>().name() == a.name());
  CHECK(a.name() == "scaled_3x2");
  CHECK(Registry::instance().size() == before + 1);
  CHECK(Registry::instance().errors().size() == errors);
  (void)my_kernels::scaled<4>();
  CHECK(Registry::instance().size() == before + 2);

  const int line = __LINE__ + 1;
  (void)kernel("scaled_3x2", [](X x) { return x; });
  REQUIRE(Registry::instance().errors().size() == errors + 1);
  const Diagnostic d = Registry::instance().errors().back();
  CHECK(d.message == "kernel: the name is taken (scaled_3x2, line 16)");
  CHECK(static_cast<int>(d.location.line) == line);
  CHECK_FALSE(d.hint.empty());
}

TEST_CASE("closures with captures are kernels of their own") {
  const std::size_t errors = Registry::instance().errors().size();
  std::string text[2];
  for (int i = 0; i < 2; ++i) {
    const auto k = kernel("captured_" + std::to_string(i), [i](X x) { return x + i; });
    text[i] = print(k.trace());
  }
  CHECK(text[0].find("0.0:f32") != std::string::npos);
  CHECK(text[1].find("1.0:f32") != std::string::npos);
  CHECK(Registry::instance().errors().size() == errors);
  for (int i = 0; i < 2; ++i) (void)kernel("captured", [i](X x) { return x + i; });
  CHECK(Registry::instance().errors().size() == errors + 1);
  // A mutable lambda starts from the same state in each trace.
  const auto k = kernel("counting", [n = 0](X x) mutable { return x + ++n; });
  CHECK(print(k.trace()) == print(k.trace()));
}

TEST_CASE("a kernel that is traced while another is") {
  std::string inner;
  const auto outer = kernel("outer", [&](X x) {
    auto e = exp(x);
    Var v = x;
    for ([[maybe_unused]] Index i : range(2)) {
      v = v + e;
      inner = print(my_kernels::add.trace());
      (void)my_kernels::scaled<5>();  // registers
    }
    return v;
  });
  const std::string first = print(outer.trace());
  CHECK(inner == print(my_kernels::add.trace()));
  CHECK(first == print(outer.trace()));
  CHECK(first.find("scaled") == std::string::npos);
}

TEST_CASE("traces are equal, always and on every thread") {
  const std::string expected = R"(kernel @big(%x: in f32[16,64], %w: in f16[64,64], %n: i32) {
  %0 = tensor.cast(%x) {rounding = round} : f16[16,64]
  %1 = tensor.matmul(%0, %w) : f32[16,64]
  %2 = tensor.full(-inf:f32) : f32[16,64]
  %3 = scalar.cast(%n) : index
  %4 = for %5 = 0 to %3 step 1 carry(%6 = %2) : f32[16,64] {
    %7 = scalar.rem(%5, 2) : index
    %8 = scalar.compare(%7, 0) {compare = eq} : boolean
    %9 = if %8 : f32[16,64] {
      %10 = tensor.maximum(%6, %1) : f32[16,64]
      yield %10
    } else {
      %11 = tensor.row_max(%1) : f32[16,1]
      %12 = tensor.row_expand_sub(%1, %11) : f32[16,64]
      %13 = tensor.exp(%12) : f32[16,64]
      %14 = tensor.add(%6, %13) : f32[16,64]
      yield %14
    }
    yield %9
  }
  %15 = tensor.exp(%4) : f32[16,64]
  %16 = tensor.row_sum(%15) : f32[16,1]
  %17 = tensor.row_expand_div(%15, %16) : f32[16,64]
  return %17, %4
}
)";
  for (int i = 0; i < 50; ++i) REQUIRE(print(my_kernels::big.trace()) == expected);
  std::vector<std::string> texts(8);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&texts, t] {
      for (int i = 0; i < 25; ++i) {
        texts[static_cast<std::size_t>(t)] = print(my_kernels::big.trace());
        (void)my_kernels::gamma.trace();
        (void)kernel("threaded_" + std::to_string(t), [](X x) { return x; });
      }
    });
  for (std::thread& t : threads) t.join();
  for (const std::string& s : texts) CHECK(s == expected);
  for (int t = 0; t < 8; ++t) CHECK(Registry::instance().find("threaded_" + std::to_string(t)) != nullptr);
}
}  // namespace
