// Loops and branches: what they carry becomes tiles of one place and one set of valid extents.
#include "support/catch.hpp"
#include "support/convert.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {
const Attr equal = int_attr(AttrKey::compare, static_cast<std::int64_t>(Compare::eq));
const Attr less = int_attr(AttrKey::compare, static_cast<std::int64_t>(Compare::lt));
}  // namespace

TEST_CASE("a parameter that both branches use is loaded once, in front", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {64}), n = k.scalar("n", index_type);
  const ValueId zero = k.op(ops::scalar_compare, {n, k.index(0)}, {equal});
  k.returns(k.branch(zero, {shaped_type(f32, {64})}, [&] { return std::vector{k.op(ops::add, {x, x})}; },
                     [&] { return std::vector{k.op(ops::mul, {x, x})}; }));
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[64], %n: index, %out: out f32[64]) {
  %x_tile = tile.load(%x, 0) : tile<f32[64]@Vec>
  %0 = scalar.compare(%n, 0) {compare = eq} : boolean
  %1 = if %0 : tile<f32[64]@Vec> {
    %2 = tile.add(%x_tile, %x_tile) : tile<f32[64]@Vec>
    yield %2
  } else {
    %3 = tile.mul(%x_tile, %x_tile) : tile<f32[64]@Vec>
    yield %3
  }
  tile.store(%1, %out, 0)
  return
}
)"));
}

TEST_CASE("a parameter that starts a carried value is loaded in front of the loop", "[convert]") {
  Recording k;
  const ValueId acc = k.tensor("acc", f32, {64}), x = k.tensor("x", f32, {64});
  k.returns(k.loop(k.index(3), {acc}, [&](ValueId, const auto& c) { return std::vector{k.op(ops::add, {c[0], x})}; }));
  CHECK(converted(k) == golden(R"(
kernel @k(%acc: in f32[64], %x: in f32[64], %out: out f32[64]) {
  %acc_tile = tile.load(%acc, 0) : tile<f32[64]@Vec>
  %x_tile = tile.load(%x, 0) : tile<f32[64]@Vec>
  %0 = for %1 = 0 to 3 step 1 carry(%2 = %acc_tile) : tile<f32[64]@Vec> {
    %3 = tile.add(%2, %x_tile) : tile<f32[64]@Vec>
    yield %3
  }
  tile.store(%0, %out, 0)
  return
}
)"));
}

TEST_CASE("while carries a tile and a counter", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {64}), n = k.scalar("n", index_type);
  const auto r = k.loop_while({x, k.index(0)},
      [&](const auto& c) { return std::vector{k.op(ops::scalar_compare, {c[1], n}, {less}), c[0], c[1]}; },
      [&](const auto& c) { return std::vector{k.op(ops::exp, {c[0]}), k.b().add(c[1], k.index(1))}; });
  k.returns({r[0]});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[64], %n: index, %out: out f32[64]) {
  %x_tile = tile.load(%x, 0) : tile<f32[64]@Vec>
  %0, %1 = while carry(%2 = %x_tile, %3 = 0) : tile<f32[64]@Vec>, index {
    %4 = scalar.compare(%3, %n) {compare = lt} : boolean
    condition %4, %2, %3
  } do(%5, %6) {
    %7 = tile.exp(%5) : tile<f32[64]@Vec>
    %8 = scalar.add(%6, 1) : index
    yield %7, %8
  }
  tile.store(%0, %out, 0)
  return
}
)"));
}

TEST_CASE("branches that yield a product and a parameter meet in Vec", "[convert]") {
  Recording k;
  const ValueId a = k.tensor("a", f32, {16, 16}), b = k.tensor("b", f32, {16, 16}), n = k.scalar("n", index_type);
  const ValueId zero = k.op(ops::scalar_compare, {n, k.index(0)}, {equal});
  k.returns(k.branch(zero, {shaped_type(f32, {16, 16})}, [&] { return std::vector{k.matmul(a, b)}; },
                     [&] { return std::vector{a}; }));
  CHECK(converted(k) == golden(R"(
kernel @k(%a: in f32[16,16], %b: in f32[16,16], %n: index, %out: out f32[16,16]) {
  %a_tile = tile.load(%a, 0, 0) : tile<f32[16,16]@Vec>
  %0 = scalar.compare(%n, 0) {compare = eq} : boolean
  %1 = if %0 : tile<f32[16,16]@Vec> {
    %a_mat = tile.load(%a, 0, 0) : tile<f32[16,16]@Mat>
    %b_mat = tile.load(%b, 0, 0) : tile<f32[16,16]@Mat>
    %2 = tile.matmul(%a_mat, %b_mat) : tile<f32[16,16]@Acc>
    %3 = tile.move(%2) : tile<f32[16,16]@Vec>
    yield %3
  } else {
    yield %a_tile
  }
  tile.store(%1, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("a load of one branch does not serve the other", "[convert]") {
  Recording k;
  const ValueId a = k.tensor("a", f32, {16, 16}), b = k.tensor("b", f32, {16, 16}), n = k.scalar("n", index_type);
  const ValueId zero = k.op(ops::scalar_compare, {n, k.index(0)}, {equal});
  k.returns(k.branch(zero, {shaped_type(f32, {16, 16})}, [&] { return std::vector{k.matmul(a, b)}; },
                     [&] { return std::vector{k.matmul(b, a)}; }));
  CHECK(converted(k) == golden(R"(
kernel @k(%a: in f32[16,16], %b: in f32[16,16], %n: index, %out: out f32[16,16]) {
  %0 = scalar.compare(%n, 0) {compare = eq} : boolean
  %1 = if %0 : tile<f32[16,16]@Acc> {
    %a_mat = tile.load(%a, 0, 0) : tile<f32[16,16]@Mat>
    %b_mat = tile.load(%b, 0, 0) : tile<f32[16,16]@Mat>
    %2 = tile.matmul(%a_mat, %b_mat) : tile<f32[16,16]@Acc>
    yield %2
  } else {
    %b_mat_1 = tile.load(%b, 0, 0) : tile<f32[16,16]@Mat>
    %a_mat_1 = tile.load(%a, 0, 0) : tile<f32[16,16]@Mat>
    %3 = tile.matmul(%b_mat_1, %a_mat_1) : tile<f32[16,16]@Acc>
    yield %3
  }
  tile.store(%1, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("a carried value that becomes valid in part is refused", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {16, 64});
  k.returns(k.loop(k.index(3), {x}, [&](ValueId, const auto& c) {
    return std::vector{k.op(ops::set_valid_shape, {c[0], k.index(8), k.index(64)})};
  }));
  CHECK(refusal(k) ==
        "k.cpp:1: error: for: a carried value starts and continues with different valid extents (axis 0 of "
        "tile<f32[16,64]@Vec>)\n"
        "  hint: use fillpad(x) or set_valid_shape(x, ...) so that both have the same extents");
}

TEST_CASE("branches that yield different valid extents are refused", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {16, 64}), n = k.scalar("n", index_type);
  const ValueId zero = k.op(ops::scalar_compare, {n, k.index(0)}, {equal});
  k.returns(k.branch(zero, {shaped_type(f32, {16, 64})}, [&] { return std::vector{x}; },
                     [&] { return std::vector{k.op(ops::set_valid_shape, {x, k.index(16), n})}; }));
  CHECK(refusal(k) ==
        "k.cpp:2: error: if: the branches yield with different valid extents (axis 1 of tile<f32[16,64]@Vec>)\n"
        "  hint: use fillpad(x) or set_valid_shape(x, ...) so that both have the same extents");
}
