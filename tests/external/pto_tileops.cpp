// The real assembler takes kernels that call tile operations, in place and as functions, with and without flags of ours, and orders
// calls by what they do to their arguments.
#include "support/catch.hpp"
#include "support/ptoas.hpp"
#include "tessera/compile.hpp"
#include "tessera/kernel.hpp"

namespace tileops {
using namespace tessera;

using Rows = Tile<Shape<16, 64>, f32, Vec>;
using X = Tensor<Shape<16, 64>, f32>;
using Long = Tensor<Shape<dyn<"S">, 64>, f32>;

inline const auto softmax_rows = tileop("softmax_rows", [](Rows x) {
  auto e = exp(x - row_max(x));
  return e / row_sum(e);
});
inline const auto add_product = tileop("add_product", [](InOut<Tile<Shape<16, 32>, f32, Acc>> c, Tile<Shape<16, 64>, f16, Left> a, Tile<Shape<64, 32>, f16, Right> b) {
  c = matmul_acc(c, a, b);
});
// Loops, branches, windows, storage of the body's own, and an output beside the result.
inline const auto scaled_sum = tileop("scaled_sum", params("sum", "x", "s", "n"), [](InOut<Rows> sum, Rows x, Scalar<f32> s, Index n) {
  Var t = x * s;
  for (Index i : range(n)) t = exp(t - row_max(t)) + cast<f32>(i);
  if_(n > 2, [&] { t = t + slice<Shape<1, 64>>(x, at(3, 0)); });
  sum = sum + t;
  return row_sum(t);
});

inline const auto centre_rows = tileop("centre_rows", [](Long x, Index i, Out<Long> out) {
  auto t = load<Shape<16, 64>>(x, at(i, 0), clamped);
  store(t - row_max(t), out, at(i, 0));
});

const auto tensors = kernel("tensors", [](X x) { return softmax_rows(softmax_rows(x)); });
const auto tails = kernel("tails", [](Long x, Out<Long> out) {
  for (Index i : range(0, dim(x, 0), 16)) {
    Var t = load<Shape<16, 64>>(x, at(i, 0), clamped);
    if_(i > 0, [&] { t = softmax_rows(t); });
    store(t, out, at(i, 0));
  }
});
const auto products = kernel("products", [](Tensor<Shape<16, 128>, f16> a, Tensor<Shape<128, 32>, f16> b, Out<Tensor<Shape<16, 32>, f32>> out) {
  Var c = tile<Shape<16, 32>, f32, Acc>();
  for (Index k : range(0, 128, 64)) {
    auto l = move<Left>(load<Shape<16, 64>, Mat>(a, at(0, k)));
    auto r = move<Right>(load<Shape<64, 32>, Mat>(b, at(k, 0)));
    if_(k == 0, [&] { c = matmul(l, r); }, [&] { add_product(c, l, r); });
  }
  store(c, out, at(0, 0));
});
const auto sums = kernel("sums", params("x", "y", "n", "out", "row_sums"), [](Long x, X y, Index n, Out<X> out, Out<Tensor<Shape<16, 1>, f32>> row_sums) {
  Var sum = load<Shape<16, 64>>(y, at(0, 0));
  for (Index i : range(0, dim(x, 0), 16)) {
    auto t = fillpad(load<Shape<16, 64>>(x, at(i, 0), clamped));
    store(scaled_sum(sum, t, 2.0f, n), row_sums, at(0, 0));
    store(scaled_sum(sum, t, 3.0f, 4), row_sums, at(0, 0));
  }
  store(sum, out, at(0, 0));
});

// Its body moves data, so text has it in place only.
const auto centred = kernel("centred", [](Long x, Out<Long> out) {
  for (Index i : range(0, dim(x, 0), 16)) centre_rows(x, i, out);
});

Function lowered(const KernelEntry& k, Arch arch) { return lower(trace_kernel(k), {.arch = arch, .level = 3, .tileops = TileopForm::called}); }
bool has_no_calls() { return ::test::assembler_is_absent() || ::test::assembler_version() == Assembler::v0_27; }
}  // namespace tileops

TEST_CASE("the assembler takes tile operations in place of their calls, and text with flags of its own") {
  using namespace tileops;
  if (::test::assembler_is_absent()) return;
  struct Form {
    int level;
    bool synchronise;
  };
  for (const Arch arch : {Arch::a3, Arch::a5})
    for (const Form form : {Form{2, false}, Form{3, false}, Form{3, true}})
      for (const KernelEntry* k : {&tensors.entry(), &tails.entry(), &products.entry(), &centred.entry()}) {
        const Assembler version = ::test::assembler_version();
        const Function f = lower(trace_kernel(*k), {.arch = arch, .level = form.level, .synchronise = form.synchronise});
        const std::string text = emit_pto_mlir(f, {.arch = arch, .assembler = version, .level = form.level});
        const ::test::Assembled answer = ::test::assemble(text, arch, form.level);
        INFO(name(arch) << " level " << form.level << "\n" << answer.words << text);
        CHECK(answer.accepted);
      }
}

TEST_CASE("the assembler takes tile operations that stay functions") {
  using namespace tileops;
  if (has_no_calls()) return;
  for (const Arch arch : {Arch::a3, Arch::a5})
    for (const int level : {2, 3})
      for (const KernelEntry* k : {&tensors.entry(), &tails.entry(), &products.entry(), &sums.entry()}) {
        const std::string text = emit_pto_mlir(lowered(*k, arch), {.arch = arch, .level = level});
        const ::test::Assembled answer = ::test::assemble(text, arch, level);
        INFO(name(arch) << " level " << level << "\n" << answer.words << text);
        CHECK(answer.accepted);
        CHECK(text.find("func.call @") != std::string::npos);
      }
}

TEST_CASE("the assembler waits around calls for what they read and write") {
  using namespace tileops;
  if (has_no_calls()) return;
  for (const int level : {2, 3}) {
    const std::string cpp = ::test::assemble(emit_pto_mlir(lowered(tensors.entry(), Arch::a3), {.level = level}), Arch::a3, level).cpp;
    INFO(cpp);
    const std::size_t load = cpp.find("TLOAD("), call = cpp.find("softmax_rows(", load), store = cpp.find("TSTORE(", call);
    REQUIRE(store != std::string::npos);
    CHECK(cpp.find("wait_flag(PIPE_MTE2, PIPE_V", load) < call);
    CHECK(cpp.find("wait_flag(PIPE_V, PIPE_MTE3", call) < store);
  }
}
