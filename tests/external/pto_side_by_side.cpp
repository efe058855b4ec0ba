// Memory and synchronisation beside the real assembler's, which plans and synchronises the same modules: the most bytes of each
// space, pairs of flags, barriers. Loops are left as they are written, so that both count the same instructions.
#include <cstdio>
#include <map>
#include <regex>

#include "support/catch.hpp"
#include "support/ptoas.hpp"
#include "tessera/compile.hpp"
#include "tessera/kernel.hpp"
#include "tessera/passes/pipeline.hpp"

namespace {
using namespace tessera;

template <std::int64_t... D>
using F32 = Tensor<Shape<D...>, f32>;

const auto add = kernel("add", [](F32<128, 128> a, F32<128, 128> b) { return a + b; });
const auto add_in_rows = kernel("add_in_rows", [](F32<512, 128> a, F32<512, 128> b, Out<F32<512, 128>> out) {
  for (Index i : range(0, 512, 128).pipelined(1))
    store(load<Shape<128, 128>>(a, at(i, 0)) + load<Shape<128, 128>>(b, at(i, 0)), out, at(i, 0));
});
const auto softmax = kernel("softmax", [](F32<64, 64> x) {
  auto e = exp(x - row_max(x));
  return e / row_sum(e);
});
const auto softmax_in_rows = kernel("softmax_in_rows", [](F32<256, 64> x, Out<F32<256, 64>> out) {
  for (Index i : range(0, 256, 64).pipelined(1)) {
    auto t = load<Shape<64, 64>>(x, at(i, 0));
    auto e = exp(t - row_max(t));
    store(e / row_sum(e), out, at(i, 0));
  }
});
const auto layer_norm = kernel("layer_norm", [](F32<32, 64> x, F32<1, 64> gamma, F32<1, 64> beta) {
  auto centred = x - row_sum(x) * (1.0f / 64);
  auto variance = row_sum(centred * centred) * (1.0f / 64);
  return centred * rsqrt(variance + 1e-5f) * gamma + beta;
});
const auto rms_norm = kernel("rms_norm", [](F32<32, 64> x, F32<1, 64> gamma) {
  auto inv = rsqrt(row_sum(x * x) * (1.0f / 64) + 1e-6f);
  return x * inv * gamma;
});
const auto gelu = kernel("gelu", [](F32<32, 128> x) { return x * recip(exp(x * -1.702f) + 1.0f); });
const auto silu = kernel("silu", [](F32<32, 128> x) { return x / (exp(-x) + 1.0f); });
const auto swiglu = kernel("swiglu", [](F32<32, 128> gate, F32<32, 128> up) { return gate / (exp(-gate) + 1.0f) * up; });
const auto product = kernel("matmul", [](F32<64, 64> a, F32<64, 64> b) { return matmul(a, b); });
const auto product_in_two = kernel("matmul_in_two", [](F32<64, 64> a, F32<64, 64> b, Out<F32<64, 64>> c) {
  auto first = matmul(move<Left>(load<Shape<64, 32>, Mat>(a, at(0, 0))), move<Right>(load<Shape<32, 64>, Mat>(b, at(0, 0))));
  store(matmul_acc(first, move<Left>(load<Shape<64, 32>, Mat>(a, at(0, 32))), move<Right>(load<Shape<32, 64>, Mat>(b, at(32, 0)))), c, at(0, 0));
});
const auto gemm = kernel("gemm", [](Tensor<Shape<256, 512>, f16> a, Tensor<Shape<512, 256>, f16> b, Out<F32<256, 256>> c) {
  for (Index i : range(0, 256, 128).pipelined(1))
    for (Index j : range(0, 256, 128).pipelined(1)) {
      Var acc = tile<Shape<128, 128>, f32, Acc>();
      for (Index k : range(0, 512, 64).pipelined(1)) {
        auto l = move<Left>(load<Shape<128, 64>, Mat>(a, at(i, k)));
        auto r = move<Right>(load<Shape<64, 128>, Mat>(b, at(k, j)));
        if_(k == 0, [&] { acc = matmul(l, r); }, [&] { acc = matmul_acc(acc, l, r); });
      }
      store(acc, c, at(i, j));
    }
});
const auto widen = kernel("widen", [](Tensor<Shape<4, dyn<"S">, 512>, bf16> x, Out<Tensor<Shape<4, dyn<"S">, 512>, f32>> out) {
  Index s = dim(x, 1);
  for (Index b : range(4).pipelined(1))
    for (Index c : range(0, s, 16).pipelined(1)) {
      auto t = load<Shape<1, 16, 512>>(x, at(b, c, 0), valid(1, min(16, s - c), 512));
      store(cast<f32>(t), out, at(b, c, 0));
    }
});
const auto running_max = kernel("running_max", [](F32<1024, 64> x, Scalar<i32> n) {
  Var m = full<Shape<1, 64>, f32>(-infinity);
  for (Index i : range(0, n, 1).pipelined(1)) m = maximum(m, slice<Shape<1, 64>>(x, at(i, 0)));
  return m;
});
const auto two_ways = kernel("two_ways", [](F32<64, 64> x, Scalar<i32> n) {
  Var r = full<Shape<64, 64>, f32>(0.0f);
  auto t = x * 2.0f;
  if_(n > 0, [&] { r = t + 1.0f; }, [&] { r = exp(t); });
  return r;
});
const auto three_chains = kernel("three_chains", [](F32<3, 16, 64> x, Out<F32<3, 16, 64>> out) {
  for (int i = 0; i < 3; ++i) store(exp(load<Shape<1, 16, 64>>(x, at(i, 0, 0))), out, at(i, 0, 0));
});

struct Counts {
  int pairs = 0, barriers = 0;
  std::map<std::string, std::int64_t> peak;  // by space
};

Counts ours(const Function& f) {
  Counts c;
  for (const OpId op : all_operations(f)) {
    c.pairs += f.is(op, ops::wait_flag);
    c.barriers += f.is(op, ops::barrier);
    for (int i = 0; i < f.result_count(op); ++i)
      if (const ValueId v = f.result(op, i); f.type(v).is_tile()) {
        std::int64_t& peak = c.peak[std::string(name(f.type(v).space))];
        peak = std::max(peak, byte_range(f, v).end);
      }
  }
  return c;
}
std::int64_t bytes_of_type(const std::string& t) {
  return t == "float" || t == "int32_t" || t == "uint32_t" ? 4 : t == "half" || t == "bfloat16_t" || t == "int16_t" || t == "uint16_t" ? 2 : 1;
}
// Of the C++ that the assembler writes.
Counts theirs(const std::string& cpp) {
  Counts c;
  const std::string body = cpp.substr(cpp.find("__global__"));
  std::map<std::string, std::int64_t> numbers, size;
  std::map<std::string, std::string> space;
  static const std::regex constant("const int64_t (v\\d+) = (-?\\d+);"), copy("uint64_t (v\\d+) = \\(uint64_t\\) (v\\d+);"),
      tile("Tile<TileType::(\\w+), (\\w+), (\\d+), (\\d+),.*> (v\\d+)(;| = )"), assign("TASSIGN\\((v\\d+), (v\\d+)\\);");
  std::istringstream in(body);
  std::smatch m;
  for (std::string line; std::getline(in, line);) {
    c.pairs += line.find(" wait_flag(") != std::string::npos;
    c.barriers += line.find(" pipe_barrier(") != std::string::npos;
    if (std::regex_search(line, m, constant)) numbers[m[1]] = std::stoll(m[2]);
    else if (std::regex_search(line, m, copy)) numbers[m[1]] = numbers[m[2]];
    else if (std::regex_search(line, m, tile)) space[m[5]] = m[1], size[m[5]] = std::stoll(m[3]) * std::stoll(m[4]) * bytes_of_type(m[2]);
    else if (std::regex_search(line, m, assign)) {
      std::int64_t& peak = c.peak[space[m[1]]];
      peak = std::max(peak, numbers[m[2]] + size[m[1]]);
    }
  }
  return c;
}

// More bytes than the assembler's plan takes, and no more flags: the next turn's load starts while this turn computes.
bool loads_ahead(const Function& f, Arch arch) { return arch == Arch::a5 && std::string_view(f.name) == "softmax_in_rows"; }

template <class K>
void compare(const K& kernel, Arch arch) {
  const Function planned = lower(kernel.trace(), {.arch = arch});
  const Counts a = ours(run_passes(kernel.trace(), full_pipeline(), {arch, true}));
  const test::Assembled made = test::assemble(emit_pto_mlir(planned, {.arch = arch}), arch);
  INFO(made.words);
  REQUIRE(made.accepted);
  const Counts b = theirs(made.cpp);
  std::string bytes;
  for (const auto& [s, n] : a.peak) bytes += " " + s + " " + std::to_string(n) + "/" + std::to_string(b.peak.contains(s) ? b.peak.at(s) : 0);
  std::printf("%-16s %s  pairs %d/%d  barriers %d/%d %s\n", planned.name.c_str(), std::string(name(arch)).c_str(), a.pairs, b.pairs, a.barriers, b.barriers,
              bytes.c_str());
  CHECK(a.pairs <= b.pairs);
  CHECK(a.barriers <= b.barriers);
  for (const auto& [s, n] : a.peak) CHECK((n <= b.peak.at(s) || loads_ahead(planned, arch)));
}
}  // namespace

TEST_CASE("no more bytes, flags and barriers than the assembler's own") {
  if (test::assembler_is_absent()) return;
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    compare(add, arch), compare(add_in_rows, arch), compare(softmax, arch), compare(softmax_in_rows, arch), compare(layer_norm, arch);
    compare(rms_norm, arch), compare(gelu, arch), compare(silu, arch), compare(swiglu, arch), compare(product, arch);
    compare(product_in_two, arch), compare(gemm, arch), compare(widen, arch), compare(running_max, arch), compare(two_ways, arch);
    compare(three_chains, arch);
  }
}
