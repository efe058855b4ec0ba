// Whole kernels on tensors and tiles of rank above 2: against plain loops as recorded, and the same numbers behind every pass
// on both targets.
#include <numeric>

#include "support/nd_programs.hpp"
#include "support/same_numbers.hpp"

#include <tessera/emit/pto_mlir.hpp>
#include <tessera/ir/properties.hpp>
#include <tessera/ir/verifier.hpp>
#include <tessera/passes/flatten_tile_nd_to_2d.hpp>
#include <tessera/passes/legalize.hpp>
#include <tessera/passes/pass.hpp>
#include <tessera/passes/pipeline.hpp>

using namespace tessera;
using namespace tessera::test;

namespace {

using Dims = std::vector<std::int64_t>;
using Numbers = std::vector<double>;

std::int64_t product(const Dims& dims, std::size_t from, std::size_t to) {
  return std::accumulate(dims.begin() + static_cast<std::ptrdiff_t>(from), dims.begin() + static_cast<std::ptrdiff_t>(to), std::int64_t{1}, std::multiplies<>());
}
// a x b, batch by batch, where batch dims are equal or absent; one of them may be read transposed.
Numbers times(const HostTensor& a, const HostTensor& b, bool ta = false, bool tb = false) {
  const std::int64_t m = a.dim(ta ? -1 : -2), k = a.dim(ta ? -2 : -1), n = b.dim(tb ? -2 : -1);
  const std::int64_t batches = std::max(product(a.dims(), 0, a.dims().size() - 2), product(b.dims(), 0, b.dims().size() - 2));
  const Numbers x = a.values(), y = b.values();
  Numbers r(static_cast<std::size_t>(batches * m * n));
  for (std::int64_t p = 0; p < batches; ++p) {
    const std::int64_t at_a = a.rank() == 2 ? 0 : p * m * k, at_b = b.rank() == 2 ? 0 : p * k * n;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < k; ++l)
          sum += x[static_cast<std::size_t>(at_a + (ta ? l * m + i : i * k + l))] * y[static_cast<std::size_t>(at_b + (tb ? j * k + l : l * n + j))];
        r[static_cast<std::size_t>((p * m + i) * n + j)] = sum;
      }
  }
  return r;
}

// Runs what is recorded, compares it with the reference, and lowers it on both targets. Gives the module of the last one.
template <class Reference>
std::string check(Recording& k, Reference&& reference, bool on_a3 = true, std::int64_t dynamic = 8) {
  Inputs in(k.f(), dynamic);
  const std::deque<HostTensor> before = in.tensors;
  const SimulationResult run = simulate(k.f(), in.arguments);
  const Numbers made = run.results.empty() ? in.tensors.back().values() : run.results[0].values();
  CHECK((made == reference(before)));
  std::string module;
  for (const Arch arch : {Arch::a3, Arch::a5})
    if (on_a3 || arch == Arch::a5) module = SameNumbers(k, arch, dynamic).module;
  return module;
}
std::string check_product(Dims a, Dims b, bool ta, bool tb, DType d = f32, bool on_tiles = true) {
  Recording k;
  const ValueId x = k.tensor("x", d, a), y = k.tensor("y", d, b);
  INFO(a.size() << " " << b.size());
  if (on_tiles) {
    ValueId l = k.load(x, a, nd::origin(k, a.size()), Mat), r = k.load(y, b, nd::origin(k, b.size()), Mat);
    if (ta) l = k.op(ops::transpose_view, {l});
    if (tb) r = k.op(ops::transpose_view, {r});
    nd::put(k, k.matmul(l, r));
    k.returns();
  } else {
    k.returns({k.matmul(x, y, ta, tb)});
  }
  return check(k, [&](const auto& in) { return times(in[0], in[1], ta, tb); });
}
int count(const std::string& text, std::string_view part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("the programs that the assembler is given keep their numbers behind every pass") {
  for (const NdProgram& p : nd_programs)
    for (const Arch arch : {Arch::a3, Arch::a5}) {
      if (!p.on_a3 && arch == Arch::a3) continue;
      INFO(p.name);
      Recording k(p.name);
      p.record(k);
      CHECK_FALSE(SameNumbers(k, arch, 40).module.empty());
    }
}

TEST_CASE("windows of leading dims, and rows of a tensor of pages (S1..S4)") {
  struct Case {
    Dims tensor, window, from, to;
  };
  for (const Case& c : {Case{{2, 2, 8, 16}, {1, 2, 8, 16}, {0, 0, 0, 0}, {1, 0, 0, 0}}, Case{{2, 2, 8, 16}, {1, 1, 8, 16}, {0, 1, 0, 0}, {1, 0, 0, 0}},
                        Case{{4, 3, 8, 64}, {2, 3, 8, 64}, {0, 0, 0, 0}, {2, 0, 0, 0}}, Case{{2, 4, 16}, {1, 1, 16}, {0, 3, 0}, {1, 2, 0}}}) {
    Recording k;
    const ValueId a = k.tensor("a", f32, c.tensor), o = k.tensor("o", f32, c.tensor, Direction::inout);
    std::vector<ValueId> from, to;
    for (const std::int64_t n : c.from) from.push_back(k.index(n));
    for (const std::int64_t n : c.to) to.push_back(k.index(n));
    const ValueId t = k.load(a, c.window, from);
    k.store(k.op(ops::mul, {t, t}), o, to);
    k.returns();
    check(k, [&](const auto& in) {
      Numbers r = in[1].values();
      const Numbers x = in[0].values();
      const auto position = [&](const Dims& at, const Dims& index) {
        std::int64_t n = 0;
        for (std::size_t i = 0; i < at.size(); ++i) n = n * c.tensor[i] + at[i] + index[i];
        return static_cast<std::size_t>(n);
      };
      Dims index(c.window.size(), 0);
      for (std::int64_t i = 0; i < product(c.window, 0, c.window.size()); ++i) {
        std::int64_t rest = i;
        for (std::size_t axis = index.size(); axis-- > 0; rest /= c.window[axis]) index[axis] = rest % c.window[axis];
        r[position(c.to, index)] = x[position(c.from, index)] * x[position(c.from, index)];
      }
      return r;
    });
  }
  Recording k;  // a 2-D tile
  const ValueId a = k.tensor("a", f32, {1, 16}), o = k.tensor("o", f32, {2, 4, 16}, Direction::inout);
  const ValueId t = k.load(a, {1, 16}, nd::origin(k, 2));
  k.store(k.op(ops::mul, {t, t}), o, {k.index(1), k.index(2), k.index(0)});
  k.returns();
  check(k, [](const auto& in) {
    Numbers r = in[1].values();
    for (std::size_t i = 0; i < 16; ++i) r[(4 + 2) * 16 + i] = in[0].values()[i] * in[0].values()[i];
    return r;
  });
}

TEST_CASE("batched products of tiles, plain and transposed (S6, S7, S8)") {
  check_product({2, 64, 64}, {2, 64, 64}, false, false);
  check_product({4, 32, 32}, {4, 32, 32}, false, false);
  check_product({1, 128, 64}, {1, 64, 128}, false, false);
  check_product({2, 64, 32}, {2, 32, 64}, false, false);
  check_product({2, 32, 64}, {2, 64, 128}, false, false);
  check_product({2, 64, 64}, {2, 64, 64}, false, true);
  check_product({4, 32, 32}, {4, 32, 32}, false, true);
  check_product({2, 64, 32}, {2, 128, 32}, false, true);
  check_product({2, 32, 64}, {2, 48, 64}, false, true);
  check_product({2, 64, 64}, {2, 64, 64}, true, false);
  check_product({2, 32, 128}, {2, 32, 64}, true, false);
  check_product({2, 64, 48}, {2, 64, 32}, true, false);
}

TEST_CASE("batched products of tensors: 2-D with 3-D, more batches than fit (S9, S12, S14)") {
  check_product({16, 128}, {1, 64, 128}, false, true, bf16, false);
  check_product({2, 16, 48}, {2, 80, 48}, false, true, f32, false);
  check_product({3, 16, 64}, {3, 64, 64}, false, true, f32, false);
  const std::string whole = check_product({3, 16, 64}, {3, 64, 64}, false, false, f16, false);
  CHECK(count(whole, "pto.tload") == 2);
  CHECK(count(whole, "pto.textract") == 6);
  Recording k;  // 576 KiB on the right: matrix by matrix
  k.returns({k.matmul(k.tensor("a", f16, {9, 16, 128}), k.tensor("b", f16, {9, 128, 256}))});
  const Function f = run_passes(k.f(), default_pipeline(), {Arch::a3});
  const std::string text = emit_pto_mlir(f, {.arch = Arch::a3});
  CHECK(count(text, "pto.tload") == 18);
  CHECK(count(text, "pto.textract") == 0);
}

TEST_CASE("K in halves of tensors of rank 3, a slice of one page (S10, S13)") {
  Recording k;
  nd::k_halves(k);
  check(k, [](const auto& in) { return times(in[0], in[1]); });

  Recording page;
  const ValueId a = page.tensor("a", bf16, {16, 128}), w = page.tensor("w", bf16, {3, 64, 128});
  page.returns({page.matmul(a, page.slice(w, {1, 64, 128}, {page.index(2), page.index(0), page.index(0)}), false, true)});
  check(page, [](const auto& in) {
    HostTensor one(bf16, {64, 128});
    for (std::int64_t i = 0; i < one.size(); ++i) one.set(i, in[1].get(2 * one.size() + i));
    return times(in[0], one, false, true);
  });
}

TEST_CASE("a computed factor, transposed (S11)") {
  Recording k;
  const ValueId a = k.tensor("a", f32, {2, 16, 48}), b0 = k.tensor("b0", f32, {2, 80, 48}), b1 = k.tensor("b1", f32, {2, 80, 48});
  k.returns({k.matmul(a, k.op(ops::add, {b0, b1}), false, true)});
  check(k, [](const auto& in) {
    HostTensor sum = in[1];
    for (std::int64_t i = 0; i < sum.size(); ++i) sum.set(i, in[1].get(i) + in[2].get(i));
    return times(in[0], sum, false, true);
  }, false);
}

TEST_CASE("an accumulator of a loop stands in Acc, and nothing moves within Mat (S15, S23)") {
  Recording k;
  nd::accumulated(k);
  const std::string text = check(k, [](const auto& in) { return times(in[0], in[1]); });
  CHECK(count(text, "pto.alloc_tile : !pto.tile_buf<acc") == 2);
  CHECK(count(text, "pto.tmov") + count(text, "pto.textract") == 8);  // to Left and Right, of both pages, in both branches
  CHECK(count(text, "outs(%") > 0);
  CHECK(count(text, "pto.tinsert") == 0);
}

TEST_CASE("transposes on chip (S16)") {
  for (const Dims& dims : {Dims{16, 2}, Dims{8, 8}, Dims{24, 24}, Dims{16, 8}, Dims{4, 24, 8}, Dims{2, 2, 8, 16}}) {
    Recording k;
    nd::put(k, k.op(ops::transpose, {nd::whole(k, "x", f32, dims)}));
    k.returns();
    check(k, [&](const auto& in) {
      const std::int64_t rows = dims[dims.size() - 2], columns = dims.back(), pages = product(dims, 0, dims.size() - 2);
      Numbers r(static_cast<std::size_t>(in[0].size()));
      for (std::int64_t p = 0; p < pages; ++p)
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < columns; ++j)
            r[static_cast<std::size_t>((p * columns + j) * rows + i)] = in[0].get((p * rows + i) * columns + j);
      return r;
    });
  }
  // Pairs of neighbours have rows of 8 bytes, which are padded: taken apart by a pattern, not by a transpose.
  Recording pairs;
  const ValueId x = nd::whole(pairs, "x", f32, {4, 16});
  nd::put(pairs, pairs.op(ops::transpose, {pairs.reshape(x, {4, 8, 2})}));
  pairs.returns();
  const Function flat = flatten_tile_nd_to_2d.run(pairs.f(), {});
  verify(flat, {Property::tile_ops, Property::tiles_2d});
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(legalize.run(flat, {})); }), "reshape: the rows are padded to 32 bytes"));
}

TEST_CASE("a cast in chunks with a tail (S20)") {
  for (const std::int64_t s : {40, 16, 1}) {
    Recording k;
    nd::chunked_cast(k);
    check(k, [](const auto& in) { return in[0].values(); }, true, s);
  }
}

TEST_CASE("a product of products; one load serves two products (S22)") {
  Recording chain;
  nd::on_chip_chain(chain);
  check(chain, [](const auto& in) {
    HostTensor first(f32, {2, 16, 16});
    const Numbers ab = times(in[0], in[1]);
    for (std::size_t i = 0; i < ab.size(); ++i) first.set(static_cast<std::int64_t>(i), ab[i]);
    return times(first, in[2]);
  });
  Recording shared;  // scores and values from one slice
  const ValueId q = shared.tensor("q", f16, {2, 16, 32}), kv = shared.tensor("kv", f16, {4, 32, 32});
  const ValueId page = shared.slice(kv, {2, 32, 32}, {shared.index(1), shared.index(0), shared.index(0)});
  const ValueId qk = shared.matmul(q, page, false, true), qv = shared.matmul(q, page);
  shared.returns({qk, qv});
  const std::string text = check(shared, [](const auto& in) {
    HostTensor part(f16, {2, 32, 32});
    for (std::int64_t i = 0; i < part.size(); ++i) part.set(i, in[1].get(32 * 32 + i));
    return times(in[0], part, false, true);
  });
  CHECK(count(text, "pto.tload") <= 4);
}
