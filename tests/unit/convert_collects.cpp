// Loops that collect a result window by window: stored part by part where nothing else sees the whole, and only there.
#include "support/catch.hpp"
#include "support/convert.hpp"
#include "support/same_numbers.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

/// x in [4,16], taken row by row; `rows` of them.
struct Rows : Recording {
  ValueId x = tensor("x", f32, {4, 16});

  std::vector<ValueId> collect(ValueId initial, ValueId rows) {
    return loop(rows, {initial}, [&](ValueId i, const auto& c) {
      const ValueId row = op(ops::exp, {slice(x, {1, 16}, {i, index(0)})});
      return std::vector{op(ops::assemble, {c[0], row, i, index(0)})};
    });
  }
};

}  // namespace

TEST_CASE("a result that is collected in storage without content is stored part by part", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {1, 64});
  k.returns(k.loop(k.index(2), {k.create(f32, {1, 64})}, [&](ValueId i, const auto& c) {
    const ValueId at = k.b().mul(i, k.index(32));
    const ValueId part = k.slice(x, {1, 32}, {k.index(0), k.index(0)});
    return std::vector{k.op(ops::assemble, {c[0], part, k.index(0), at})};
  }));
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[1,64], %out: out f32[1,64]) {
  for %0 = 0 to 2 step 1 {
    %1 = scalar.mul(%0, 32) : index
    %2 = tile.load(%x, 0, 0) : tile<f32[1,32]@Vec>
    tile.store(%2, %out, 0, %1)
    yield
  }
  return
}
)"));
  SameNumbers a5(k), a3(k, Arch::a3);
}

TEST_CASE("a product that is collected leaves Acc for the result", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f16, {64, 32}), w = k.tensor("w", f16, {32, 16});
  k.returns(k.loop(k.index(4), {k.create(f32, {64, 16})}, [&](ValueId i, const auto& c) {
    const ValueId at = k.b().mul(i, k.index(16));
    return std::vector{k.op(ops::assemble, {c[0], k.matmul(k.slice(x, {16, 32}, {at, k.index(0)}), w), at, k.index(0)})};
  }));
  CHECK(contains(converted(k), R"(
    %3 = tile.matmul(%2, %w_mat) : tile<f32[16,16]@Acc>
    tile.store(%3, %out, %1, 0)
    yield
)"));
  SameNumbers a5(k), a3(k, Arch::a3);
}

TEST_CASE("results keep their order, whichever is stored first", "[convert]") {
  Rows k;
  const ValueId first = k.named(k.op(ops::neg, {k.x}), "first");
  const ValueId second = k.named(k.collect(k.create(f32, {4, 16}), k.index(4))[0], "second");
  k.returns({first, second});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[4,16], %first: out f32[4,16], %second: out f32[4,16]) {
  %x_tile = tile.load(%x, 0, 0) : tile<f32[4,16]@Vec>
  %first_1 = tile.neg(%x_tile) : tile<f32[4,16]@Vec>
  for %0 = 0 to 4 step 1 {
    %1 = tile.load(%x, %0, 0) : tile<f32[1,16]@Vec>
    %2 = tile.exp(%1) : tile<f32[1,16]@Vec>
    tile.store(%2, %second, %0, 0)
    yield
  }
  tile.store(%first_1, %first, 0, 0)
  return
}
)"));
  SameNumbers a5(k);
}

TEST_CASE("storage that has content is kept: what no round writes stays as it was", "[convert]") {
  Rows k;
  k.returns(k.collect(k.full(k.constant(f32, 0.0), {4, 16}), k.index(2)));
  CHECK(contains(converted(k), "carry("));
  SameNumbers a5(k), a3(k, Arch::a3);
}

TEST_CASE("a loop that may have no round hands on the content that its storage has", "[convert]") {
  for (const std::int64_t rounds : {0, 3}) {
    Rows k;
    const ValueId n = k.scalar("n", index_type);
    k.returns(k.collect(k.full(k.constant(f32, 7.0), {4, 16}), n));
    CHECK(contains(converted(k), "carry("));
    SameNumbers a5(k, Arch::a5, 8, rounds);
  }
}

TEST_CASE("a collected tile that is used again, or returned twice, is a tile", "[convert]") {
  {
    Rows k;
    const ValueId whole = k.collect(k.create(f32, {4, 16}), k.index(4))[0];
    k.returns({whole, k.op(ops::neg, {whole})});
    CHECK(contains(converted(k), "carry("));
    SameNumbers a5(k);
  }
  {
    Rows k;
    const ValueId whole = k.collect(k.create(f32, {4, 16}), k.index(4))[0];
    k.returns({whole, whole});
    CHECK(contains(converted(k), "carry("));
    SameNumbers a5(k);
  }
}

TEST_CASE("a round that looks at what is collected needs the tile", "[convert]") {
  Rows k;
  const ValueId storage = k.create(f32, {4, 16});
  k.returns(k.loop(k.index(4), {storage}, [&](ValueId i, const auto& c) {
    const ValueId row = k.slice(k.x, {1, 16}, {i, k.index(0)});
    const ValueId next = k.op(ops::assemble, {c[0], row, i, k.index(0)});
    return std::vector{k.op(ops::assemble, {next, k.slice(c[0], {1, 16}, {k.index(0), k.index(0)}, {}), i, k.index(0)})};
  }));
  CHECK(contains(converted(k), "carry("));
}

TEST_CASE("collected in a loop within a loop, the tile stays", "[convert]") {
  Rows k;
  k.returns(k.loop(k.index(2), {k.create(f32, {4, 16})},
                   [&](ValueId, const auto& c) { return k.collect(c[0], k.index(4)); }));
  CHECK(contains(converted(k), "carry("));
  SameNumbers a5(k);
}
