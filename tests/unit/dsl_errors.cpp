// Mistakes that only tracing can find: the exact text, at the user's line.
#include "support/catch.hpp"
#include "support/trace.hpp"

#include <optional>
#include <stdexcept>
#include <vector>

namespace {
using namespace tessera;  // NOLINT: a test
using X = Tensor<Shape<16, 64>, f32>;
using S = Tensor<Shape<dyn<"S">, 64>, f32>;
constexpr const char* run_to_its_end = "the body is recorded once: let it run to its end, and use if_(...) or while_(...) instead";
constexpr const char* declare_a_var = "declare a Var before the loop or branch and assign it inside";

// The line of a mistake, marked in its kernel's own text. (Inside of CHECK every line would be that of CHECK.)
#define HERE(LINE) (LINE = __LINE__, void())

std::string expected(int line, const std::string& message, const std::string& hint) { return trace::error(__FILE__, line, message, hint); }

TEST_CASE("literals out of range") {
  std::string got;
  static int line;
  const std::string hint = "use a number that the element type holds, or cast the operand to a wider type";
  got = trace::text([](Out<X> o, Scalar<i8> n) {
    HERE(line); auto m = n + 300;
    write(o, at(cast<i32>(m), 0), 1);
  });
  CHECK(got == expected(line, "kernel: a literal is out of range for i8 (300)", hint));
  got = trace::text([](Out<X> o, Scalar<u8> n) {
    HERE(line); auto m = n - -1;
    write(o, at(cast<i32>(m), 0), 1);
  });
  CHECK(got == expected(line, "kernel: a literal is out of range for u8 (-1)", hint));
  got = trace::text([](Tensor<Shape<16, 64>, f16> x) {
    HERE(line); return x * 70000.0f;
  });
  CHECK(got == expected(line, "kernel: a literal is out of range for f16 (70000)", hint));
  got = trace::text([](Tensor<Shape<16, 64>, i16> x) {
    HERE(line); return 40000 - x;
  });
  CHECK(got == expected(line, "kernel: a literal is out of range for i16 (40000)", hint));
  got = trace::text([](Tensor<Shape<16, 64>, f16> x) { return maximum(x, -infinity); });
  CHECK(got.find("-inf:f16") != std::string::npos);
  got = trace::text([](Out<X> o, Scalar<i8> n) {
    Var v = cast<i8>(n);
    HERE(line); v = 128;
    write(o, at(cast<i32>(v), 0), 1);
  });
  CHECK(got == expected(line, "kernel: a literal is out of range for i8 (128)", hint));
}

TEST_CASE("a loop that is left by break or return") {
  std::string got;
  static int line;
  const std::string message = "range: the loop is left by break, return or an exception";
  got = trace::text([](X x) {
    HERE(line); for ([[maybe_unused]] Index i : range(4)) break;
    return exp(x);
  });
  CHECK(got == expected(line, message, run_to_its_end));
  got = trace::text([](X x, Out<X> o) {
    HERE(line); for ([[maybe_unused]] Index i : range(4)) return;
    o = x;
  });
  CHECK(got == expected(line, message, run_to_its_end));
  // Later loops are recorded, and what the break causes later is not what is reported.
  got = trace::text([](X x) {
    Var a = x;
    HERE(line); for ([[maybe_unused]] Index i : range(4)) {
            a = exp(a);
            break;
    }
    for ([[maybe_unused]] Index i : range(2)) a = log(a);
    (void)dim(x, 7);
    return a;
  });
  CHECK(got == expected(line, message, run_to_its_end));
  // Tracing works again.
  got = trace::text([](X x) { return exp(x); });
  CHECK(got.find("error") == std::string::npos);
}

TEST_CASE("exceptions in a kernel") {
  std::string got;
  static int line;
  got = trace::text([](X x) {
    HERE(line); for ([[maybe_unused]] Index i : range(4)) throw std::runtime_error("no such table");
    return exp(x);
  });
  CHECK(got == expected(line, "kernel: the lambda throws an exception (no such table)", "a kernel's lambda runs once, while it is recorded"));
  got = trace::text([](X x) {
    for ([[maybe_unused]] Index i : range(4)) {
            HERE(line); (void)dim(x, 3);
    }
    return exp(x);
  });
  CHECK(got == expected(line, "dim: the axis is out of range (3, 2)", "axes lie in [-rank, rank)"));
  got = trace::text([](X x) {
    try {
            HERE(line); for ([[maybe_unused]] Index i : range(4)) throw 3;
    } catch (int) {
    }
    return exp(x);
  });
  CHECK(got == expected(line, "range: the loop is left by break, return or an exception", run_to_its_end));
  CHECK_THROWS_AS(trace::text([](X x) {
                    if_(dim(x, 0) == 16, [] { throw 3; });
                    return x;
                  }),
                  int);
  got = trace::text([](X x) { return exp(x); });
  CHECK(got.find("error") == std::string::npos);
}

TEST_CASE("a value outside of the block that holds it") {
  std::string got;
  static int made, used;
  const auto message = [] { return "kernel: a value is used outside of the block that holds it (made in line " + std::to_string(made) + ")"; };
  got = trace::text([](S x, Out<X> o) {
    std::vector<Tile<Shape<16, 64>, f32, Vec>> tiles;
    for (Index i : range(4)) {
            HERE(made); tiles.push_back(load<Shape<16, 64>>(x, at(i, 0), valid(1, 64)));
    }
    HERE(used); store(tiles[0], o, at(0, 0));
  });
  CHECK(got == expected(used, message(), declare_a_var));
  got = trace::text([](S x, Out<X> o) {
    std::vector<Index> counters;
    HERE(made); for (Index i : range(4)) counters.push_back(i);
    HERE(used); auto next = counters[0] + 1;
    store(full<Shape<1, 64>, f32, Vec>(0), o, at(next, 0));
    (void)x;
  });
  CHECK(got == expected(used, message(), declare_a_var));
  // A node: written in the body, used first outside.
  got = trace::text([](X x) {
    std::optional<decltype(exp(x))> e;
    const auto keep = [&](auto&& n) { e.emplace(std::move(n)); };
    for ([[maybe_unused]] Index i : range(4)) {
            HERE(made); auto n = exp(x);
            keep(std::move(n));
    }
    HERE(used); return log(*e);
  });
  CHECK(got == expected(used, message(), declare_a_var));
  got = trace::text([](X x, Index i) {
    std::optional<Var<X>> v;
    HERE(made); if_(i == 0, [&] { v.emplace(exp(x)); });
    for ([[maybe_unused]] Index j : range(4)) (void)x;
    HERE(used); return *v + x;
  });
  CHECK(got == expected(used, message(), declare_a_var));
}

TEST_CASE("values of another kernel") {
  std::string got;
  static int made, used;
  static std::optional<X> handle;
  static std::optional<Var<X>> variable;
  got = trace::text([](X x) {
    handle.emplace(x);
    variable.emplace(x);
    return x;
  });
  CHECK(got.find("error") == std::string::npos);
  got = trace::text([](X x) {
    HERE(used); return x + *handle;
  });
  CHECK(got == expected(used, "kernel: a value of another kernel is used", "pass it as a parameter of this kernel"));
  got = trace::text([](X x) {
    HERE(used); return x + *variable;
  });
  CHECK(got == expected(used, "kernel: a variable of another kernel is used", "declare the Var inside this kernel's lambda"));
  got = trace::text([](X x) {
    HERE(used); *variable = x;
    return x;
  });
  CHECK(got == expected(used, "kernel: a variable of another kernel is used", "declare the Var inside this kernel's lambda"));
  got = trace::text([](X x) {
    HERE(made); auto e = exp(x);
    auto recorded = log(x);
    [[maybe_unused]] auto use = recorded + 1;
    std::string inner = trace::text([&](X y) {
            HERE(used); return y + e;
    });
    CHECK(inner == expected(used, "kernel: a value of another kernel is used (made in line " + std::to_string(made) + ")",
                                  "pass it as a parameter of this kernel"));
    inner = trace::text([&](X) {
            HERE(used); return exp(recorded);
    });
    CHECK(inner.find(":" + std::to_string(used) + ": error: kernel: a value of another kernel is used (made in line ") != std::string::npos);
    return e;
  });
  CHECK(got.find("error") == std::string::npos);
  handle.reset();
  variable.reset();
}

TEST_CASE("outside of any kernel") {
  static std::optional<X> handle;
  (void)trace::text([](X x) {
    handle.emplace(x);
    return x;
  });
  int line = 0;
  try {
    line = __LINE__; (void)exp(*handle);
    FAIL();
  } catch (const UserError& e) {
    CHECK(e.diagnostic().text(true) == expected(line, "kernel: a recorded value is used outside of a kernel",
                                                "write operations inside the lambda that is given to kernel(...)"));
  }
  handle.reset();
}

TEST_CASE("a moved node") {
  std::string got;
  static int line;
  got = trace::text([](X x) {
    auto e = exp(x);
    auto f = std::move(e);
    HERE(line); return f + e;
  });
  CHECK(got == expected(line, "kernel: a value is used after it was moved from", "use the value that it was moved to"));
}

TEST_CASE("while_ and if_") {
  std::string got;
  static int line;
  got = trace::text([](X x) {
    Var n = 0;
    HERE(line); while_([&] { n = n + 1; return n < 3; }, [&] {});
    return x;
  });
  CHECK(got == expected(line, "while_: the condition assigns a variable", "assign variables in the body"));
  got = trace::text([](X x, Index i, Out<X> o) {
    Var t = load<Shape<8, 64>>(x, at(0, 0));
    HERE(line); if_(i == 0, [&] { t = load<Shape<8, 64>>(x, at(8, 0), valid(4, 64)); });
    store(t, o, at(0, 0));
  });
  CHECK(got == expected(line, "if_: the branches leave a Vec variable with different valid extents (axis 0: 4, 8)",
                       "give both values the same extents, computed before the branch: for a variable that starts as tile<...>(), "
                       "set_valid_shape(tile<...>(), valid(...))"));
  got = trace::text([](Index i) {
    Var t = tile<Shape<16, 64>, f32, Acc>();
    HERE(line); if_(i == 0, [&] { t = set_valid_shape(tile<Shape<16, 64>, f32, Acc>(), valid(4, 64)); });
  });
  CHECK(got.find("if_: the branches leave an Acc variable with different valid extents (axis 0: ") != std::string::npos);
  got = trace::text([](X x, Out<X> o) {
    Var t = load<Shape<8, 64>>(x, at(0, 0));
    for ([[maybe_unused]] Index i : range(4)) {
            HERE(line); t = load<Shape<8, 64>>(x, at(8, 0), valid(4, 64));
    }
    store(t, o, at(0, 0));
  });
  CHECK(got == expected(line, "range: the body leaves a variable with other valid extents than it had before the loop (axis 0)",
                       "fillpad(...) the value, or give both the same extents, computed before the loop"));
}

TEST_CASE("ranges and windows") {
  std::string got;
  static int line;
  got = trace::text([](X x) {
    HERE(line); for ([[maybe_unused]] Index i : range(8, 0, -1)) (void)x;
    return x;
  });
  CHECK(got == expected(line, "range: the step is not positive (-1)", "count upwards"));
  got = trace::text([](X x, Out<X> o) {
    HERE(line); auto t = load<Shape<8, 64>>(x, at(12, 0));
    store(t, o, at(0, 0));
  });
  CHECK(got == expected(line, "load: the window reaches past the end of the tensor (12, 8, 16)",
                       "use a smaller window, or give valid(...) extents that stay inside"));
  got = trace::text([](X x, Out<X> o) {
    auto t = load<Shape<8, 64>>(x, at(0, 0));
    HERE(line); store(t, o, at(4 + 8, 0));
  });
  CHECK(got == expected(line, "store: the window reaches past the end of the tensor (12, 8, 16)",
                       "use a smaller window, or give valid(...) extents that stay inside"));
  got = trace::text([](X x) {
    HERE(line); return slice<Shape<8, 64>>(x, at(0, 0), valid(9, 64));
  });
  CHECK(got == expected(line, "slice: a valid extent is larger than the window (9, 8)", "valid extents lie in [0, window]"));
  got = trace::text([](X x) {
    HERE(line); return x * read(x, at(16, 0));
  });
  CHECK(got == expected(line, "read: an index is out of bounds (16, 16)", "indices lie in [0, dim)"));
}
}  // namespace
