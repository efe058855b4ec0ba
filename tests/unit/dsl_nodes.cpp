// Expression nodes: what is recorded, where, how often and in which order.
#include "support/catch.hpp"
#include "support/trace.hpp"

namespace {
using namespace tessera;  // NOLINT: a test
using X = Tensor<Shape<16, 64>, f32>;
using Row = Tensor<Shape<1, 64>, f32>;
using Column = Tensor<Shape<16, 1>, f32>;

TEST_CASE("a named node is recorded once, where it was written") {
  CHECK(trace::text([](X x) {
          auto e = exp(x);
          auto l = log(x);
          return l + e * e;
        }) == R"((%arg0: in f32[16,64]) {
  %0 = tensor.exp(%arg0) : f32[16,64]
  %1 = tensor.log(%arg0) : f32[16,64]
  %2 = tensor.mul(%0, %0) : f32[16,64]
  %3 = tensor.add(%1, %2) : f32[16,64]
  return %3
}
)");
}

TEST_CASE("an unused node is never recorded") {
  CHECK(trace::text([](X x) {
          [[maybe_unused]] auto e = exp(x);
          return x + x;
        }) == R"((%arg0: in f32[16,64]) {
  %0 = tensor.add(%arg0, %arg0) : f32[16,64]
  return %0
}
)");
}

TEST_CASE("unnamed operands are recorded left to right") {
  CHECK(trace::text([](X x, X y) { return (exp(x) + log(y)) * (sqrt(x) + abs(y)); }) == R"((%arg0: in f32[16,64], %arg1: in f32[16,64]) {
  %0 = tensor.exp(%arg0) : f32[16,64]
  %1 = tensor.log(%arg1) : f32[16,64]
  %2 = tensor.add(%0, %1) : f32[16,64]
  %3 = tensor.sqrt(%arg0) : f32[16,64]
  %4 = tensor.abs(%arg1) : f32[16,64]
  %5 = tensor.add(%3, %4) : f32[16,64]
  %6 = tensor.mul(%2, %5) : f32[16,64]
  return %6
}
)");
}

TEST_CASE("the operand that needs more comes first when that keeps fewer bytes alive") {
  // exp(x) would be held while the right side needs two values: the right side goes first.
  CHECK(trace::text([](X x, X y) { return exp(x) + (log(y) + sqrt(y)); }) == R"((%arg0: in f32[16,64], %arg1: in f32[16,64]) {
  %0 = tensor.log(%arg1) : f32[16,64]
  %1 = tensor.sqrt(%arg1) : f32[16,64]
  %2 = tensor.add(%0, %1) : f32[16,64]
  %3 = tensor.exp(%arg0) : f32[16,64]
  %4 = tensor.add(%3, %2) : f32[16,64]
  return %4
}
)");
}

TEST_CASE("a node used first inside a loop stands before the loop") {
  CHECK(trace::text([](X x) {
          auto e = exp(x);
          Var s = x;
          for ([[maybe_unused]] Index i : range(4)) {
            for ([[maybe_unused]] Index j : range(2)) s = s + e;
          }
          return s;
        }) == R"((%arg0: in f32[16,64]) {
  %0 = tensor.exp(%arg0) : f32[16,64]
  %1 = for %2 = 0 to 4 step 1 carry(%3 = %arg0) : f32[16,64] {
    %4 = for %5 = 0 to 2 step 1 carry(%6 = %3) : f32[16,64] {
      %7 = tensor.add(%6, %0) : f32[16,64]
      yield %7
    }
    yield %4
  }
  return %1
}
)");
}

TEST_CASE("a node between two loops, used first in the second, stands between them") {
  CHECK(trace::text([](X x) {
          Var s = x;
          for ([[maybe_unused]] Index i : range(2)) s = s + x;
          auto e = exp(s);
          for ([[maybe_unused]] Index i : range(3)) s = s + e;
          return s;
        }) == R"((%arg0: in f32[16,64]) {
  %0 = for %1 = 0 to 2 step 1 carry(%2 = %arg0) : f32[16,64] {
    %3 = tensor.add(%2, %arg0) : f32[16,64]
    yield %3
  }
  %4 = tensor.exp(%0) : f32[16,64]
  %5 = for %6 = 0 to 3 step 1 carry(%7 = %0) : f32[16,64] {
    %8 = tensor.add(%7, %4) : f32[16,64]
    yield %8
  }
  return %5
}
)");
}

TEST_CASE("a node keeps the value that a variable had when it was written") {
  CHECK(trace::text([](X x) {
          Var v = exp(x);
          auto old = v + 1;
          v = log(x);
          return old + v;
        }) == R"((%arg0: in f32[16,64]) {
  %0 = tensor.exp(%arg0) : f32[16,64]
  %1 = tensor.adds(%0, 1.0:f32) : f32[16,64]
  %2 = tensor.log(%arg0) : f32[16,64]
  %3 = tensor.add(%1, %2) : f32[16,64]
  return %3
}
)");
}

TEST_CASE("copying a node names it; moving hands it on") {
  const std::string once = R"((%arg0: in f32[16,64]) {
  %0 = tensor.exp(%arg0) : f32[16,64]
  %1 = tensor.add(%0, %0) : f32[16,64]
  return %1
}
)";
  CHECK(trace::text([](X x) {
          auto a = exp(x);
          auto b = a;
          return a + b;
        }) == once);
  CHECK(trace::text([](X x) {
          auto a = exp(x);
          auto both = [=] { return a + a; };
          return both();
        }) == once);
  CHECK(trace::text([](X x) {
          auto a = exp(x);
          auto b = std::move(a);
          return b + b;
        }) == once);
  CHECK(trace::text([](X x) {
          const auto a = exp(x);
          const auto& r = a;
          return r + std::move(a);  // NOLINT: const, so a copy
        }) == once);
}

TEST_CASE("broadcasts, scalars and literals choose the instruction") {
  CHECK(trace::text([](X x, Row r, Column c, Scalar<f32> s) {
          auto a = x + r;
          auto b = c * a;
          auto d = c - b;
          auto e = r / d;
          auto f = s * e;
          auto g = s - f;
          auto h = 2.0f / g;
          auto i = c + r;
          auto j = maximum(i, 0);
          return h + j;
        }) == R"((%arg0: in f32[16,64], %arg1: in f32[1,64], %arg2: in f32[16,1], %arg3: f32) {
  %0 = tensor.col_expand_add(%arg0, %arg1) : f32[16,64]
  %1 = tensor.row_expand_mul(%0, %arg2) : f32[16,64]
  %2 = tensor.row_expand(%arg2) : f32[16,64]
  %3 = tensor.sub(%2, %1) : f32[16,64]
  %4 = tensor.col_expand(%arg1) : f32[16,64]
  %5 = tensor.div(%4, %3) : f32[16,64]
  %6 = tensor.muls(%5, %arg3) : f32[16,64]
  %7 = tensor.full(%arg3) : f32[16,64]
  %8 = tensor.sub(%7, %6) : f32[16,64]
  %9 = tensor.full(2.0:f32) : f32[16,64]
  %10 = tensor.div(%9, %8) : f32[16,64]
  %11 = tensor.row_expand(%arg2) : f32[16,64]
  %12 = tensor.col_expand_add(%11, %arg1) : f32[16,64]
  %13 = tensor.maximums(%12, 0.0:f32) : f32[16,64]
  %14 = tensor.add(%10, %13) : f32[16,64]
  return %14
}
)");
}

TEST_CASE("operators on bits choose the instruction") {
  CHECK(trace::text([](Tensor<Shape<16, 64>, i16> x, Tensor<Shape<16, 64>, i16> y, Scalar<i16> s) {
          auto a = (x & y) | 3;
          auto b = (7 ^ a) & s;
          auto c = (b << 2) >> y;
          auto d = 1 << (~c ^ x);
          return fmod(d, y) | fmod(s, fmod(x, 5));
        }) == R"((%arg0: in i16[16,64], %arg1: in i16[16,64], %arg2: i16) {
  %0 = tensor.bit_and(%arg0, %arg1) : i16[16,64]
  %1 = tensor.bit_ors(%0, 3:i16) : i16[16,64]
  %2 = tensor.bit_xors(%1, 7:i16) : i16[16,64]
  %3 = tensor.bit_ands(%2, %arg2) : i16[16,64]
  %4 = tensor.shls(%3, 2:i16) : i16[16,64]
  %5 = tensor.shr(%4, %arg1) : i16[16,64]
  %6 = tensor.bit_not(%5) : i16[16,64]
  %7 = tensor.bit_xor(%6, %arg0) : i16[16,64]
  %8 = tensor.full(1:i16) : i16[16,64]
  %9 = tensor.shl(%8, %7) : i16[16,64]
  %10 = tensor.full(%arg2) : i16[16,64]
  %11 = tensor.fmods(%arg0, 5:i16) : i16[16,64]
  %12 = tensor.fmod(%10, %11) : i16[16,64]
  %13 = tensor.fmod(%9, %arg1) : i16[16,64]
  %14 = tensor.bit_or(%13, %12) : i16[16,64]
  return %14
}
)");
}

TEST_CASE("a slope is f32") {
  CHECK(trace::text([](Tensor<Shape<16, 64>, f16> x, Scalar<f32> s) { return lrelu(lrelu(x + x, 0.25), s); }) ==
        R"((%arg0: in f16[16,64], %arg1: f32) {
  %0 = tensor.add(%arg0, %arg0) : f16[16,64]
  %1 = tensor.lrelu(%0, 0.25:f32) : f16[16,64]
  %2 = tensor.lrelu(%1, %arg1) : f16[16,64]
  return %2
}
)");
}

TEST_CASE("operators on bits of tiles, parts, products and fused differences") {
  CHECK(trace::text([](X x, Out<X> o, Tensor<Shape<16, 64>, u32> n, Out<Tensor<Shape<16, 64>, u32>> p) {
          auto t = load<Shape<16, 64>>(x, at(0, 0));
          auto u = load<Shape<16, 64>>(n, at(0, 0));
          store(~(u ^ 5u) >> 1, p, at(0, 0));
          auto e = row_expand_expdif(t, row_prod(t));
          store(part_add(part_mul(e, t), part_max(part_min(t, e), col_expand_expdif(t, col_prod(e)))), o, at(0, 0));
        }) == R"((%arg0: in f32[16,64], %arg1: out f32[16,64], %arg2: in u32[16,64], %arg3: out u32[16,64]) {
  %0 = tile.load(%arg0, 0, 0) : tile<f32[16,64]@Vec>
  %1 = tile.load(%arg2, 0, 0) : tile<u32[16,64]@Vec>
  %2 = tile.bit_xors(%1, 5:u32) : tile<u32[16,64]@Vec>
  %3 = tile.bit_not(%2) : tile<u32[16,64]@Vec>
  %4 = tile.shrs(%3, 1:u32) : tile<u32[16,64]@Vec>
  tile.store(%4, %arg3, 0, 0)
  %5 = tile.row_prod(%0) : tile<f32[16,1]@Vec>
  %6 = tile.row_expand_expdif(%0, %5) : tile<f32[16,64]@Vec>
  %7 = tile.col_prod(%6) : tile<f32[1,64]@Vec>
  %8 = tile.col_expand_expdif(%0, %7) : tile<f32[16,64]@Vec>
  %9 = tile.part_min(%0, %6) : tile<f32[16,64]@Vec>
  %10 = tile.part_max(%9, %8) : tile<f32[16,64]@Vec>
  %11 = tile.part_mul(%6, %0) : tile<f32[16,64]@Vec>
  %12 = tile.part_add(%11, %10) : tile<f32[16,64]@Vec>
  tile.store(%12, %arg1, 0, 0)
  return
}
)");
}

TEST_CASE("an integer scalar is accepted where an Index is; constants are folded; 1 / N is C++") {
  constexpr int n = 4;
  CHECK(trace::text([](X x, Scalar<i32> k, Out<X> o, Index i) {
          auto t = load<Shape<4, 64>>(x, at(i * 2 + k, 0));
          auto u = load<Shape<4, 64>>(x, at(k, (Index(3) - 3) * i));
          store(t * (1.0f / n) + u, o, at(min(i + 0, 12), 0));
        }) == R"((%arg0: in f32[16,64], %arg1: i32, %arg2: out f32[16,64], %arg3: index) {
  %0 = scalar.mul(%arg3, 2) : index
  %1 = scalar.cast(%arg1) : index
  %2 = scalar.add(%0, %1) : index
  %3 = tile.load(%arg0, %2, 0) : tile<f32[4,64]@Vec>
  %4 = scalar.cast(%arg1) : index
  %5 = scalar.mul(0, %arg3) : index
  %6 = tile.load(%arg0, %4, %5) : tile<f32[4,64]@Vec>
  %7 = tile.muls(%3, 0.25:f32) : tile<f32[4,64]@Vec>
  %8 = tile.add(%7, %6) : tile<f32[4,64]@Vec>
  %9 = scalar.min(%arg3, 12) : index
  tile.store(%8, %arg2, %9, 0)
  return
}
)");
}

TEST_CASE("products: transposed operands and accumulation") {
  using A = Tensor<Shape<16, 32>, f16>;
  using W = Tensor<Shape<64, 32>, f16>;
  CHECK(trace::text([](A a, W w) { return matmul(a, transpose(w)) + matmul(a, transpose(w)); }) ==
        R"((%arg0: in f16[16,32], %arg1: in f16[64,32]) {
  %0 = tensor.matmul(%arg0, %arg1) {transpose_rhs = 1} : f32[16,64]
  %1 = tensor.matmul_acc(%0, %arg0, %arg1) {transpose_rhs = 1} : f32[16,64]
  return %1
}
)");
  CHECK(trace::text([](A a, W w) {
          auto t = transpose(w);
          return matmul(a, t);
        }) == R"((%arg0: in f16[16,32], %arg1: in f16[64,32]) {
  %0 = tensor.transpose(%arg1) : f16[32,64]
  %1 = tensor.matmul(%arg0, %0) : f32[16,64]
  return %1
}
)");
  CHECK(trace::text([](A a, A b) { return matmul(transpose(a), b); }) == R"((%arg0: in f16[16,32], %arg1: in f16[16,32]) {
  %0 = tensor.matmul(%arg0, %arg1) {transpose_lhs = 1} : f32[32,32]
  return %0
}
)");
}

TEST_CASE("results are recorded left to right; names are hints") {
  CHECK(trace::text([](X x) { return results(named("e", exp(x)), log(x), row_sum(x)); }) == R"((%arg0: in f32[16,64]) {
  %e = tensor.exp(%arg0) : f32[16,64]
  %0 = tensor.log(%arg0) : f32[16,64]
  %1 = tensor.row_sum(%arg0) : f32[16,1]
  return %e, %0, %1
}
)");
}

TEST_CASE("scalar functions") {
  CHECK(trace::text([](Out<X> o, Scalar<i32> n, Scalar<f32> s, Index i) {
          auto m = max(n, 3);
          auto c = select(i < 4, i, n);
          auto d = select(!(s > 0), 1.5f, s);
          auto e = cast<f32>(m) + -d;
          write(o, at(c, i % 4), e);
        }) == R"((%arg0: out f32[16,64], %arg1: i32, %arg2: f32, %arg3: index) {
  %0 = scalar.max(%arg1, 3:i32) : i32
  %1 = scalar.compare(%arg3, 4) {compare = lt} : boolean
  %2 = scalar.cast(%arg1) : index
  %3 = scalar.select(%1, %arg3, %2) : index
  %4 = scalar.compare(%arg2, 0.0:f32) {compare = gt} : boolean
  %5 = scalar.not(%4) : boolean
  %6 = scalar.select(%5, 1.5:f32, %arg2) : f32
  %7 = scalar.cast(%0) : f32
  %8 = scalar.neg(%6) : f32
  %9 = scalar.add(%7, %8) : f32
  %10 = scalar.rem(%arg3, 4) : index
  tensor.write(%arg0, %9, %3, %10)
  return
}
)");
}

TEST_CASE("dims, blocks, reads and fills") {
  CHECK(trace::text([](Tensor<Shape<dyn<"S">, 64>, f32> x, Out<Tensor<Shape<1, 64>, f32>> o) {
          Index s = dim(x, 0);
          Index n = dim(x, -1);
          auto v = read(x, at(s - 1, n - 1));
          store(full<Shape<1, 64>, f32, Vec>(v), o, at(block_index() / block_count(), 0));
          store(full<Shape<1, 64>, f32, Vec>(v), o, at(subblock_index() / subblock_count(), 0));
        }) == R"((%arg0: in f32[S,64], %arg1: out f32[1,64]) {
  %0 = scalar.sub(S, 1) : index
  %1 = tensor.read(%arg0, %0, 63) : f32
  %2 = tile.full(%1) : tile<f32[1,64]@Vec>
  %3 = scalar.block_index() : index
  %4 = scalar.block_count() : index
  %5 = scalar.div(%3, %4) : index
  tile.store(%2, %arg1, %5, 0)
  %6 = tile.full(%1) : tile<f32[1,64]@Vec>
  %7 = scalar.subblock_index() : index
  %8 = scalar.subblock_count() : index
  %9 = scalar.div(%7, %8) : index
  tile.store(%6, %arg1, %9, 0)
  return
}
)");
}

TEST_CASE("outputs: assignment is a store, in program order") {
  CHECK(trace::text([](X x, Out<X> o, InOut<X> io) {
          o = exp(x);
          io = io + o;
          o = io;
          Out<X> same = o;
          same = x;
        }) == R"((%arg0: in f32[16,64], %arg1: out f32[16,64], %arg2: inout f32[16,64]) {
  %0 = tensor.exp(%arg0) : f32[16,64]
  tensor.store(%0, %arg1, 0, 0)
  %1 = tensor.add(%arg2, %arg1) : f32[16,64]
  tensor.store(%1, %arg2, 0, 0)
  tensor.store(%arg2, %arg1, 0, 0)
  tensor.store(%arg0, %arg1, 0, 0)
  return
}
)");
}
}  // namespace
