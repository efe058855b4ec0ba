// Products: operands that come from GM are loaded straight to Mat, transposed ones are read through a view.
#include "support/catch.hpp"
#include "support/convert.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {
const Attr equal = int_attr(AttrKey::compare, static_cast<std::int64_t>(Compare::eq));
}

TEST_CASE("C49: operands are loaded to Mat at the product", "[convert]") {
  Recording k;
  const ValueId a = k.tensor("a", f16, {16, 128}), b = k.tensor("b", f16, {128, 64});
  k.returns({k.matmul(a, b)});
  CHECK(converted(k) == golden(R"(
kernel @k(%a: in f16[16,128], %b: in f16[128,64], %out: out f32[16,64]) {
  %a_mat = tile.load(%a, 0, 0) : tile<f16[16,128]@Mat>
  %b_mat = tile.load(%b, 0, 0) : tile<f16[128,64]@Mat>
  %0 = tile.matmul(%a_mat, %b_mat) : tile<f32[16,64]@Acc>
  tile.store(%0, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("C49: a transposed operand is a view", "[convert]") {
  Recording k;
  const ValueId a = k.tensor("a", bf16, {16, 128}), b = k.tensor("b", bf16, {64, 128});
  k.returns({k.matmul(a, b, false, true)});
  CHECK(converted(k) == golden(R"(
kernel @k(%a: in bf16[16,128], %b: in bf16[64,128], %out: out f32[16,64]) {
  %a_mat = tile.load(%a, 0, 0) : tile<bf16[16,128]@Mat>
  %b_mat = tile.load(%b, 0, 0) : tile<bf16[64,128]@Mat>
  %0 = tile.transpose_view(%b_mat) : tile<bf16[128,64]@Mat, zn>
  %1 = tile.matmul(%a_mat, %0) : tile<f32[16,64]@Acc>
  tile.store(%1, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("C50: a computed transposed operand is moved to Mat, then viewed", "[convert]") {
  Recording k;
  const ValueId a = k.tensor("a", f32, {16, 64}), b0 = k.tensor("b0", f32, {128, 64}),
                b1 = k.tensor("b1", f32, {128, 64});
  k.returns({k.matmul(a, k.op(ops::add, {b0, b1}), false, true)});
  CHECK(converted(k) == golden(R"(
kernel @k(%a: in f32[16,64], %b0: in f32[128,64], %b1: in f32[128,64], %out: out f32[16,128]) {
  %b0_tile = tile.load(%b0, 0, 0) : tile<f32[128,64]@Vec>
  %b1_tile = tile.load(%b1, 0, 0) : tile<f32[128,64]@Vec>
  %0 = tile.add(%b0_tile, %b1_tile) : tile<f32[128,64]@Vec>
  %a_mat = tile.load(%a, 0, 0) : tile<f32[16,64]@Mat>
  %1 = tile.move(%0) : tile<f32[128,64]@Mat>
  %2 = tile.transpose_view(%1) : tile<f32[64,128]@Mat, zn>
  %3 = tile.matmul(%a_mat, %2) : tile<f32[16,128]@Acc>
  tile.store(%3, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("C51: a slice that feeds a product is loaded to Mat, through set_valid_shape", "[convert]") {
  Recording k;
  const ValueId src = k.tensor("src", bf16, {32, 64}), b = k.tensor("b", bf16, {64, 32});
  const ValueId a =
      k.op(ops::set_valid_shape, {k.slice(src, {16, 64}, {k.index(0), k.index(0)}), k.index(8), k.index(64)});
  k.returns({k.matmul(a, b)});
  CHECK(converted(k) == golden(R"(
kernel @k(%src: in bf16[32,64], %b: in bf16[64,32], %out: out f32[16,32]) {
  %0 = tile.load(%src, 0, 0) : tile<bf16[16,64]@Mat>
  %1 = tile.set_valid_shape(%0, 8, 64) : tile<bf16[16,64]@Mat> valid[8,64]
  %b_mat = tile.load(%b, 0, 0) : tile<bf16[64,32]@Mat>
  %2 = tile.matmul(%1, %b_mat) : tile<f32[16,32]@Acc> valid[8,32]
  tile.store(%2, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("a reshape that keeps the rows passes the demand on, one that cuts them does not", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f16, {2, 8, 64}), y = k.tensor("y", f16, {32, 32}), b = k.tensor("b", f16, {64, 32});
  k.returns({k.matmul(k.reshape(x, {16, 64}), b), k.matmul(k.reshape(y, {16, 64}), b)});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f16[2,8,64], %y: in f16[32,32], %b: in f16[64,32], %out: out f32[16,32], %out1: out f32[16,32]) {
  %y_tile = tile.load(%y, 0, 0) : tile<f16[32,32]@Vec>
  %x_mat = tile.load(%x, 0, 0, 0) : tile<f16[2,8,64]@Mat>
  %0 = tile.reshape(%x_mat) : tile<f16[16,64]@Mat>
  %b_mat = tile.load(%b, 0, 0) : tile<f16[64,32]@Mat>
  %1 = tile.matmul(%0, %b_mat) : tile<f32[16,32]@Acc>
  %2 = tile.reshape(%y_tile) : tile<f16[16,64]@Vec>
  %3 = tile.matmul(%2, %b_mat) : tile<f32[16,32]@Acc>
  tile.store(%1, %out, 0, 0)
  tile.store(%3, %out1, 0, 0)
  return
}
)"));
}

TEST_CASE("C53: the same parameter is loaded once for two products", "[convert]") {
  Recording k;
  const ValueId a = k.tensor("lhs", f32, {16, 64}), b = k.tensor("rhs", f32, {64, 32});
  const ValueId first = k.matmul(a, b);
  k.returns({k.matmul_acc(first, a, b)});
  CHECK(converted(k) == golden(R"(
kernel @k(%lhs: in f32[16,64], %rhs: in f32[64,32], %out: out f32[16,32]) {
  %lhs_mat = tile.load(%lhs, 0, 0) : tile<f32[16,64]@Mat>
  %rhs_mat = tile.load(%rhs, 0, 0) : tile<f32[64,32]@Mat>
  %0 = tile.matmul(%lhs_mat, %rhs_mat) : tile<f32[16,32]@Acc>
  %1 = tile.matmul_acc(%0, %lhs_mat, %rhs_mat) : tile<f32[16,32]@Acc>
  tile.store(%1, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("C52: a slice that two products use is loaded once", "[convert]") {
  Recording k;
  const ValueId a = k.slice(k.tensor("lhs", f32, {64, 64}), {16, 64}, {k.index(16), k.index(0)});
  const ValueId b = k.tensor("b", f32, {64, 32}), c = k.tensor("c", f32, {64, 32});
  k.returns({k.matmul(a, b), k.matmul(a, c)});
  CHECK(converted(k) == golden(R"(
kernel @k(%lhs: in f32[64,64], %b: in f32[64,32], %c: in f32[64,32], %out: out f32[16,32], %out1: out f32[16,32]) {
  %0 = tile.load(%lhs, 16, 0) : tile<f32[16,64]@Mat>
  %b_mat = tile.load(%b, 0, 0) : tile<f32[64,32]@Mat>
  %1 = tile.matmul(%0, %b_mat) : tile<f32[16,32]@Acc>
  %c_mat = tile.load(%c, 0, 0) : tile<f32[64,32]@Mat>
  %2 = tile.matmul(%0, %c_mat) : tile<f32[16,32]@Acc>
  tile.store(%1, %out, 0, 0)
  tile.store(%2, %out1, 0, 0)
  return
}
)"));
}

TEST_CASE("C56: a sliced batch operand is viewed once", "[convert]") {
  Recording k;
  const ValueId a = k.tensor("lhs", bf16, {16, 128});
  const ValueId b = k.slice(k.tensor("rhs", bf16, {2, 64, 128}), {1, 64, 128}, {k.index(1), k.index(0), k.index(0)});
  k.returns({k.matmul(a, b, false, true)});
  CHECK(converted(k) == golden(R"(
kernel @k(%lhs: in bf16[16,128], %rhs: in bf16[2,64,128], %out: out f32[1,16,64]) {
  %0 = tile.load(%rhs, 1, 0, 0) : tile<bf16[1,64,128]@Mat>
  %lhs_mat = tile.load(%lhs, 0, 0) : tile<bf16[16,128]@Mat>
  %1 = tile.transpose_view(%0) : tile<bf16[1,128,64]@Mat, zn>
  %2 = tile.matmul(%lhs_mat, %1) : tile<f32[1,16,64]@Acc>
  tile.store(%2, %out, 0, 0, 0)
  return
}
)"));
}

TEST_CASE("C55: batch dims stay, the view exchanges the last two", "[convert]") {
  Recording k;
  const ValueId a = k.tensor("lhs", bf16, {16, 128}), b = k.tensor("rhs", bf16, {1, 64, 128});
  k.returns({k.matmul(a, b, false, true)});
  CHECK(converted(k) == golden(R"(
kernel @k(%lhs: in bf16[16,128], %rhs: in bf16[1,64,128], %out: out f32[1,16,64]) {
  %lhs_mat = tile.load(%lhs, 0, 0) : tile<bf16[16,128]@Mat>
  %rhs_mat = tile.load(%rhs, 0, 0, 0) : tile<bf16[1,64,128]@Mat>
  %0 = tile.transpose_view(%rhs_mat) : tile<bf16[1,128,64]@Mat, zn>
  %1 = tile.matmul(%lhs_mat, %0) : tile<f32[1,16,64]@Acc>
  tile.store(%1, %out, 0, 0, 0)
  return
}
)"));
}

TEST_CASE("C90: the view of a sliced operand follows the order of the operands", "[convert]") {
  Recording right;
  const ValueId rhs = right.slice(right.tensor("r", f16, {240, 128}), {120, 128}, {right.index(0), right.index(0)});
  right.returns({right.matmul(right.tensor("l", f16, {16, 128}), rhs, false, true)});
  CHECK(converted(right) == golden(R"(
kernel @k(%r: in f16[240,128], %l: in f16[16,128], %out: out f32[16,120]) {
  %0 = tile.load(%r, 0, 0) : tile<f16[120,128]@Mat>
  %l_mat = tile.load(%l, 0, 0) : tile<f16[16,128]@Mat>
  %1 = tile.transpose_view(%0) : tile<f16[128,120]@Mat, zn>
  %2 = tile.matmul(%l_mat, %1) : tile<f32[16,120]@Acc>
  tile.store(%2, %out, 0, 0)
  return
}
)"));
  Recording left;
  const ValueId lhs = left.slice(left.tensor("l", f16, {128, 32}), {128, 16}, {left.index(0), left.index(0)});
  left.returns({left.matmul(lhs, left.tensor("r", f16, {128, 64}), true, false)});
  CHECK(converted(left) == golden(R"(
kernel @k(%l: in f16[128,32], %r: in f16[128,64], %out: out f32[16,64]) {
  %0 = tile.load(%l, 0, 0) : tile<f16[128,16]@Mat>
  %1 = tile.transpose_view(%0) : tile<f16[16,128]@Mat, zn>
  %r_mat = tile.load(%r, 0, 0) : tile<f16[128,64]@Mat>
  %2 = tile.matmul(%1, %r_mat) : tile<f32[16,64]@Acc>
  tile.store(%2, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("a slice that a product and a vector operation use is loaded to both places", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {32, 64}), y = k.tensor("y", f32, {64, 16});
  const ValueId s = k.slice(x, {16, 64}, {k.index(0), k.index(0)});
  k.returns({k.matmul(s, y), k.op(ops::exp, {s})});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[32,64], %y: in f32[64,16], %out: out f32[16,16], %out1: out f32[16,64]) {
  %0 = tile.load(%x, 0, 0) : tile<f32[16,64]@Vec>
  %1 = tile.load(%x, 0, 0) : tile<f32[16,64]@Mat>
  %y_mat = tile.load(%y, 0, 0) : tile<f32[64,16]@Mat>
  %2 = tile.matmul(%1, %y_mat) : tile<f32[16,16]@Acc>
  %3 = tile.exp(%0) : tile<f32[16,64]@Vec>
  tile.store(%2, %out, 0, 0)
  tile.store(%3, %out1, 0, 0)
  return
}
)"));
}

TEST_CASE("an accumulator of undefined content stands in Acc, through loop and branch; loads leave the loop",
          "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {16, 64}), y = k.tensor("y", f32, {64, 16});
  k.returns(k.loop(k.index(3), {k.create(f32, {16, 16})}, [&](ValueId i, const auto& c) {
    const ValueId first = k.op(ops::scalar_compare, {i, k.index(0)}, {equal});
    return k.branch(first, {shaped_type(f32, {16, 16})}, [&] { return std::vector{k.matmul(x, y)}; },
                    [&] { return std::vector{k.matmul_acc(c[0], x, y)}; });
  }));
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[16,64], %y: in f32[64,16], %out: out f32[16,16]) {
  %0 = tile.create() : tile<f32[16,16]@Acc>
  %x_mat = tile.load(%x, 0, 0) : tile<f32[16,64]@Mat>
  %y_mat = tile.load(%y, 0, 0) : tile<f32[64,16]@Mat>
  %1 = for %2 = 0 to 3 step 1 carry(%3 = %0) : tile<f32[16,16]@Acc> {
    %4 = scalar.compare(%2, 0) {compare = eq} : boolean
    %5 = if %4 : tile<f32[16,16]@Acc> {
      %6 = tile.matmul(%x_mat, %y_mat) : tile<f32[16,16]@Acc>
      yield %6
    } else {
      %7 = tile.matmul_acc(%3, %x_mat, %y_mat) : tile<f32[16,16]@Acc>
      yield %7
    }
    yield %5
  }
  tile.store(%1, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("an accumulator that is filled elsewhere is added to outside of Acc", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {32, 64}), y = k.tensor("y", f32, {64, 16});
  const ValueId zero = k.full(k.constant(f32, 0.0), {32, 16});
  k.returns(k.loop(k.index(3), {zero}, [&](ValueId, const auto& c) { return std::vector{k.matmul_acc(c[0], x, y)}; }));
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[32,64], %y: in f32[64,16], %out: out f32[32,16]) {
  %0 = tile.full(0.0:f32) : tile<f32[32,16]@Vec>
  %x_mat = tile.load(%x, 0, 0) : tile<f32[32,64]@Mat>
  %y_mat = tile.load(%y, 0, 0) : tile<f32[64,16]@Mat>
  %1 = for %2 = 0 to 3 step 1 carry(%3 = %0) : tile<f32[32,16]@Vec> {
    %4 = tile.matmul(%x_mat, %y_mat) : tile<f32[32,16]@Acc>
    %5 = tile.move(%4) : tile<f32[32,16]@Vec>
    %6 = tile.add(%3, %5) : tile<f32[32,16]@Vec>
    yield %6
  }
  tile.store(%1, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("a carried window that only products read stays in Mat; a sum of a product stands in Vec", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {64, 64}), y = k.tensor("y", f32, {64, 16});
  const ValueId zero = k.full(k.constant(f32, 0.0), {16, 16});
  const auto r =
      k.loop(k.index(3), {k.slice(x, {16, 64}, {k.index(0), k.index(0)}), zero}, [&](ValueId i, const auto& c) {
    const ValueId product = k.matmul(c[0], y);
    const ValueId next = k.slice(x, {16, 64}, {k.b().mul(k.b().add(i, k.index(1)), k.index(16)), k.index(0)});
    return std::vector{next, k.op(ops::add, {c[1], product})};
  });
  k.returns({r[1]});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[64,64], %y: in f32[64,16], %out: out f32[16,16]) {
  %0 = tile.full(0.0:f32) : tile<f32[16,16]@Vec>
  %1 = tile.load(%x, 0, 0) : tile<f32[16,64]@Mat>
  %y_mat = tile.load(%y, 0, 0) : tile<f32[64,16]@Mat>
  %2, %3 = for %4 = 0 to 3 step 1 carry(%5 = %1, %6 = %0) : tile<f32[16,64]@Mat>, tile<f32[16,16]@Vec> {
    %7 = tile.matmul(%5, %y_mat) : tile<f32[16,16]@Acc>
    %8 = scalar.add(%4, 1) : index
    %9 = scalar.mul(%8, 16) : index
    %10 = tile.load(%x, %9, 0) : tile<f32[16,64]@Mat>
    %11 = tile.add(%6, %7) : tile<f32[16,16]@Vec>
    yield %10, %11
  }
  tile.store(%3, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("a product of vectors is refused by its rule", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f16, {16}), y = k.tensor("y", f16, {16});
  CHECK(contains(thrown<UserError>([&] { k.matmul(x, y); }), "matmul: an operand has fewer than two dims (1, 1)"));
}
