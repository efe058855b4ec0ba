// Recording, lowering and emitting give the same bytes every time, in one thread after the other and in many at once.
#include <array>
#include <thread>

#include "support/catch.hpp"
#include "tessera/compile.hpp"
#include "tessera/emit/pto_mlir.hpp"
#include "tessera/ir/printer.hpp"
#include "tessera/ir/source_names.hpp"
#include "tessera/passes/pass.hpp"
#include "tessera/passes/pipeline.hpp"

namespace determinism {
using namespace tessera;

inline const auto softmax = kernel("softmax", params("x"), [](Tensor<Shape<64, 128>, f32> x) {
  auto e = exp(x - row_max(x));
  return e / row_sum(e);
});
inline const auto rms_norm =
    kernel("rms_norm", params("x", "gamma"), [](Tensor<Shape<16, 512>, bf16> x, Tensor<Shape<1, 512>, bf16> gamma) {
  auto xf = cast<f32>(x);
  auto inv = rsqrt(row_sum(xf * xf) * (1.0f / 512) + 1e-6f);
  return cast<bf16>(xf * inv * cast<f32>(gamma));
});
inline const auto gemm = kernel(
    "gemm", [](Tensor<Shape<128, 256>, f16> a, Tensor<Shape<256, 64>, f16> b, Out<Tensor<Shape<128, 64>, f32>> c) {
  for (Index i : range(0, 128, 64)) {
    Var acc = tile<Shape<64, 64>, f32, Acc>();
    for (Index k : range(0, 256, 64)) {
      auto l = move<Left>(load<Shape<64, 64>, Mat>(a, at(i, k)));
      auto r = move<Right>(load<Shape<64, 64>, Mat>(b, at(k, 0)));
      if_(k == 0, [&] { acc = matmul(l, r); }, [&] { acc = matmul_acc(acc, l, r); });
    }
    store(acc, c, at(i, 0));
  }
});
inline const auto batched = kernel("batched", [](Tensor<Shape<3, 16, 32>, f16> a, Tensor<Shape<1, 48, 32>, f16> b) {
  return matmul(a, transpose(b));
});
inline const auto tail = kernel("tail", params("x", "out"),
                                [](Tensor<Shape<dyn<"S">, 64>, f32> x, Out<Tensor<Shape<dyn<"S">, 64>, f32>> out) {
  for (Index i : range(0, dim(x, 0), 16)) {
    auto t = load<Shape<16, 64>>(x, at(i, 0), valid(min(16, dim(x, 0) - i), 64));
    store(t * 2.0f, out, at(i, 0));
  }
});

// Everything that is printed of one kernel: as recorded, after each pass, and as `.pto` text.
template <class K>
std::string all_text(const K& k, Arch arch) {
  Function f = k.trace();
  name_from_source(f);
  std::string text = print(f);
  PassOptions options;
  options.after = [&](const Pass&, const Function& g) { text += print(g); };
  return text + emit_pto_mlir(run_passes(f, default_pipeline(), {arch}, options), {.arch = arch});
}
std::array<std::string, 10> all_texts() {
  std::array<std::string, 10> texts;
  std::size_t n = 0;
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    texts[n++] = all_text(softmax, arch);
    texts[n++] = all_text(rms_norm, arch);
    texts[n++] = all_text(gemm, arch);
    texts[n++] = all_text(batched, arch);
    texts[n++] = all_text(tail, arch);
  }
  return texts;
}

TEST_CASE("fifty runs give the same bytes") {
  const auto expected = all_texts();
  for (const std::string& text : expected) REQUIRE(text.find("func.func") != std::string::npos);
  for (int run = 1; run < 50; ++run) REQUIRE(all_texts() == expected);
}

TEST_CASE("eight threads at once give the same bytes") {
  const auto expected = all_texts();
  std::array<int, 8> same{};
  std::array<std::thread, 8> threads;
  for (std::size_t i = 0; i < threads.size(); ++i)
    threads[i] = std::thread([&, i] {
      for (int run = 0; run < 10; ++run) same[i] += all_texts() == expected ? 1 : 0;
    });
  for (std::thread& t : threads) t.join();
  for (const int n : same) CHECK(n == 10);
}

}  // namespace determinism
