// Loops, branches and variables: what is carried, merged and folded away.
#include "support/catch.hpp"
#include "support/trace.hpp"

#include <utility>

namespace {
using namespace tessera;  // NOLINT: a test
using X = Tensor<Shape<16, 64>, f32>;

TEST_CASE("assigned variables are carried, the others folded away") {
  CHECK(trace::text([](X x, X y) {
          Var a = x;
          Var b = y;
          Var n = 0;
          for (Index i : range(0, 8, 2)) {
            a = a + b;
            n = n + i;
          }
          return a;
        }) == R"((%arg0: in f32[16,64], %arg1: in f32[16,64]) {
  %0, %1 = for %2 = 0 to 8 step 2 carry(%3 = %arg0, %4 = 0) : f32[16,64], index {
    %5 = tensor.add(%3, %arg1) : f32[16,64]
    %6 = scalar.add(%4, %2) : index
    yield %5, %6
  }
  return %0
}
)");
}

TEST_CASE("a variable that takes another one's value") {
  CHECK(trace::text([](X x, X y) {
          Var a = x;
          Var b = y;
          for ([[maybe_unused]] Index i : range(4)) a = b;
          return a;
        }) == R"((%arg0: in f32[16,64], %arg1: in f32[16,64]) {
  %0 = for %1 = 0 to 4 step 1 carry(%2 = %arg0) : f32[16,64] {
    yield %arg1
  }
  return %0
}
)");
}

TEST_CASE("two variables that change places") {
  const std::string text = R"((%arg0: in f32[16,64], %arg1: in f32[16,64]) {
  %0, %1 = for %2 = 0 to 4 step 1 carry(%3 = %arg0, %4 = %arg1) : f32[16,64], f32[16,64] {
    yield %4, %3
  }
  %5 = tensor.sub(%0, %1) : f32[16,64]
  return %5
}
)";
  CHECK(trace::text([](X x, X y) {
          Var a = x;
          Var b = y;
          for ([[maybe_unused]] Index i : range(4)) {
            Var t = a;
            a = b;
            b = t;
          }
          return a - b;
        }) == text);
  CHECK(trace::text([](X x, X y) {
          Var a = x;
          Var b = y;
          for ([[maybe_unused]] Index i : range(4)) std::swap(a, b);
          return a - b;
        }) == text);
}

TEST_CASE("nested loops, a variable made inside a body, compound assignment") {
  CHECK(trace::text([](X x) {
          Var sum = x;
          for (Index i : range(2)) {
            Var part = full<Shape<16, 64>, f32>(0);
            for (Index j : range(i, 3)) {
              part += slice<Shape<16, 64>>(x, at(j - j, 0));
            }
            sum *= part;
          }
          sum -= 1;
          sum /= 2.0f;
          return sum;
        }) == R"((%arg0: in f32[16,64]) {
  %0 = for %1 = 0 to 2 step 1 carry(%2 = %arg0) : f32[16,64] {
    %3 = tensor.full(0.0:f32) : f32[16,64]
    %4 = for %5 = %1 to 3 step 1 carry(%6 = %3) : f32[16,64] {
      %7 = scalar.sub(%5, %5) : index
      %8 = tensor.slice(%arg0, %7, 0) : f32[16,64]
      %9 = tensor.add(%6, %8) : f32[16,64]
      yield %9
    }
    %10 = tensor.mul(%2, %4) : f32[16,64]
    yield %10
  }
  %11 = tensor.subs(%0, 1.0:f32) : f32[16,64]
  %12 = tensor.divs(%11, 2.0:f32) : f32[16,64]
  return %12
}
)");
}

TEST_CASE("branches merge what either side assigns") {
  CHECK(trace::text([](X x, Index i) {
          Var a = x;
          Var b = exp(x);
          Var c = log(x);
          if_(i == 0, [&] { a = b; }, [&] { b = a; });
          if_((i > 1) & (i < 4), [&] { a = a + c; });
          return a + b;
        }) == R"((%arg0: in f32[16,64], %arg1: index) {
  %0 = tensor.exp(%arg0) : f32[16,64]
  %1 = tensor.log(%arg0) : f32[16,64]
  %2 = scalar.compare(%arg1, 0) {compare = eq} : boolean
  %3, %4 = if %2 : f32[16,64], f32[16,64] {
    yield %0, %0
  } else {
    yield %arg0, %arg0
  }
  %5 = scalar.compare(%arg1, 1) {compare = gt} : boolean
  %6 = scalar.compare(%arg1, 4) {compare = lt} : boolean
  %7 = scalar.and(%5, %6) : boolean
  %8 = if %7 : f32[16,64] {
    %9 = tensor.add(%3, %1) : f32[16,64]
    yield %9
  } else {
    yield %3
  }
  %10 = tensor.add(%8, %4) : f32[16,64]
  return %10
}
)");
}

TEST_CASE("while carries variables through condition and body") {
  CHECK(trace::text([](X x, Scalar<i32> n) {
          Var a = x;
          Var left = cast<i32>(n);
          Var limit = 3;
          while_([&] { return left > limit; }, [&] {
            a = a * 2.0f;
            --left;
          });
          return a;
        }) == R"((%arg0: in f32[16,64], %arg1: i32) {
  %0 = scalar.cast(%arg1) : i32
  %1, %2 = while carry(%3 = %arg0, %4 = %0) : f32[16,64], i32 {
    %5 = scalar.cast(%4) : index
    %6 = scalar.compare(%5, 3) {compare = gt} : boolean
    condition %6, %3, %4
  } do(%7, %8) {
    %9 = tensor.muls(%7, 2.0:f32) : f32[16,64]
    %10 = scalar.sub(%8, 1:i32) : i32
    yield %9, %10
  }
  return %1
}
)");
}

TEST_CASE("a copy of a variable is a variable of its own") {
  CHECK(trace::text([](X x) {
          Var a = x;
          Var b = a;
          a = exp(a);
          return a + b;
        }) == R"((%arg0: in f32[16,64]) {
  %0 = tensor.exp(%arg0) : f32[16,64]
  %1 = tensor.add(%0, %arg0) : f32[16,64]
  return %1
}
)");
}

TEST_CASE("an assignment only inside an inner branch is carried by every loop around it") {
  CHECK(trace::text([](X x) {
          Var a = x;
          for (Index i : range(2))
            for (Index j : range(2)) if_(i == j, [&] { a = exp(a); });
          return a;
        }) == R"((%arg0: in f32[16,64]) {
  %0 = for %1 = 0 to 2 step 1 carry(%2 = %arg0) : f32[16,64] {
    %3 = for %4 = 0 to 2 step 1 carry(%5 = %2) : f32[16,64] {
      %6 = scalar.compare(%1, %4) {compare = eq} : boolean
      %7 = if %6 : f32[16,64] {
        %8 = tensor.exp(%5) : f32[16,64]
        yield %8
      } else {
        yield %5
      }
      yield %7
    }
    yield %3
  }
  return %0
}
)");
}

TEST_CASE("valid extents given by a variable that a loop does not assign") {
  CHECK(trace::text([](Tensor<Shape<dyn<"S">, 64>, f32> x, Out<Tensor<Shape<dyn<"S">, 64>, f32>> o) {
          Var n = min(16, dim(x, 0));
          Var whole = 64;
          Var t = load<Shape<16, 64>>(x, at(0, 0), valid(n, whole));
          for (Index i : range(4)) {
            auto u = load<Shape<16, 64>>(x, at(i * 16, 0), valid(n, whole));
            t = t + u;
          }
          store(t, o, at(0, 0));
        }) == R"((%arg0: in f32[S,64], %arg1: out f32[S,64]) {
  %0 = scalar.min(16, S) : index
  %1 = tile.load(%arg0, 0, 0, %0, 64) {has_valid = 1} : tile<f32[16,64]@Vec> valid[%0,64]
  %2 = for %3 = 0 to 4 step 1 carry(%4 = %1) : tile<f32[16,64]@Vec> valid[%0,64] {
    %5 = scalar.mul(%3, 16) : index
    %6 = tile.load(%arg0, %5, 0, %0, 64) {has_valid = 1} : tile<f32[16,64]@Vec> valid[%0,64]
    %7 = tile.add(%4, %6) : tile<f32[16,64]@Vec> valid[%0,64]
    yield %7
  }
  tile.store(%2, %arg1, 0, 0)
  return
}
)");
}

TEST_CASE("a loop over a run-time range, with scalars as bounds") {
  CHECK(trace::text([](Out<X> o, Scalar<i32> n, Index m) {
          for (Index i : range(n, m, n)) write(o, at(i, 0), 1.0f);
          for (Index i : range(std::size_t{3})) write(o, at(i, 0), 1);
        }) == R"((%arg0: out f32[16,64], %arg1: i32, %arg2: index) {
  %0 = scalar.cast(%arg1) : index
  %1 = scalar.cast(%arg1) : index
  for %2 = %0 to %arg2 step %1 {
    tensor.write(%arg0, 1.0:f32, %2, 0)
    yield
  }
  for %3 = 0 to 3 step 1 {
    tensor.write(%arg0, 1.0:f32, %3, 0)
    yield
  }
  return
}
)");
}
}  // namespace
