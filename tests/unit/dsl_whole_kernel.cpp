// What a recorded kernel has to hold as a whole: the exact text of each refusal, at the kernel's or the operation's line.
#include "support/catch.hpp"
#include "support/trace.hpp"

namespace {
using namespace tessera;  // NOLINT: a test
using X = Tensor<Shape<16, 64>, f32>;

std::string expected(int line, const std::string& message, const std::string& hint) { return trace::error(__FILE__, line, message, hint); }

template <class F>
std::string refusal(std::string_view name, const Pool<const char*>& parameters, F f, const std::source_location& at = std::source_location::current()) {
  const auto k = Kernel<F>(name, std::move(f), parameters.empty() ? nullptr : parameters.data(), at);
  try {
    (void)k.trace();
    return "";
  } catch (const UserError& e) {
    return e.diagnostic().text(true);
  }
}
Pool<const char*> names(std::initializer_list<const char*> list) { return {list.begin(), list.size()}; }

TEST_CASE("an output that is never written") {
  const std::string hint = "assign it (out = ...), store(...) to it, or leave the parameter out";
  const int line = __LINE__ + 1;
  const std::string got = refusal("no_store", names({"x", "out"}), [](X x, Out<X>) { auto y = exp(x); });
  CHECK(got == expected(line, "kernel: an output is never written (out)", hint));
  CHECK(refusal("written_in_a_branch", {}, [](X x, Out<X> out, Index n) { if_(n == 0, [&] { out = x; }); }) == "");
  CHECK(refusal("written_in_part", {}, [](Out<X> out) { write(out, at(0, 0), 1); }) == "");
  CHECK(refusal("only_read", {}, [](InOut<X> x) { return x * 2; }) == "");
}

TEST_CASE("names of kernels and parameters") {
  int line = __LINE__ + 1;
  std::string got = refusal("int", {}, [](X x) { return x + 1; });
  CHECK(got == expected(line, "kernel: the name is a word of C++ (int)", "the emitted function is compiled as C++: use another name"));
  line = __LINE__ + 1;
  got = refusal("main", {}, [](X x) { return x + 1; });
  CHECK(got == expected(line, "kernel: the name is a word of C++ (main)", "the emitted function is compiled as C++: use another name"));
  line = __LINE__ + 1;
  got = refusal("two words", {}, [](X x) { return x + 1; });
  CHECK(got == expected(line, "kernel: the name is not an identifier (two words)", "use letters, digits and '_', and no digit in front"));
  line = __LINE__ + 1;
  got = refusal("twice", names({"x", "y", "x"}), [](X x, X y, X z) { return x + y + z; });
  CHECK(got == expected(line, "params: a name is given twice (x, parameters 0 and 2)", "give each parameter a name of its own"));
  line = __LINE__ + 1;
  got = refusal("no_word", names({"x y"}), [](X x) { return x + 1; });
  CHECK(got == expected(line, "params: a name is not an identifier (x y)", "use letters, digits and '_'"));
}

TEST_CASE("a tensor larger than any memory") {
  const int line = __LINE__ + 1;
  const std::string got = refusal("huge", {}, [](Tensor<Shape<4294967296, 4294967296>, f32> x) { return load<Shape<16, 16>>(x, at(0, 0)); });
  CHECK(got == expected(line, "kernel: a tensor is larger than any memory (arg0)", "use smaller dims"));
}

TEST_CASE("an integer division by zero") {
  const std::string hint = "integers have no quotient by zero";
  int line = __LINE__ + 1;
  std::string got = refusal("index_div", {}, [](X x, Index i) { return x + read(x, at(i / 0, 0)); });
  CHECK(got == expected(line, "div: the divisor is zero", hint));
  line = __LINE__ + 1;
  got = refusal("index_rem", {}, [](X x, Index i) { return x + read(x, at(i % 0, 0)); });
  CHECK(got == expected(line, "rem: the divisor is zero", hint));
  line = __LINE__ + 1;
  got = refusal("divs", {}, [](Tensor<Shape<16, 64>, i32> x) { return x / 0; });
  CHECK(got == expected(line, "divs: the divisor is zero", hint));
  CHECK(refusal("floats", {}, [](X x) { return x / 0.0f; }) == "");
}

TEST_CASE("what is a constant only behind its loop is judged there") {
  static int line;
  std::string got = refusal("window", {}, [](X x, Out<X> out) {
    Var n = 12;
    for ([[maybe_unused]] Index i : range(4)) {
      line = __LINE__ + 1;
      auto t = load<Shape<8, 64>>(x, at(n, 0));
      store(t, out, at(0, 0));
    }
  });
  CHECK(got == expected(line, "load: the window reaches past the end of the tensor (12, 8, 16)",
                        "use a smaller window, or give valid(...) extents that stay inside"));
  got = refusal("divisor", {}, [](X x, Index m) {
    Var n = 0;
    Var s = x;
    for ([[maybe_unused]] Index i : range(4)) {
      line = __LINE__ + 1;
      auto k = m / n;
      s = s + read(x, at(k, 0));
    }
    return s;
  });
  CHECK(got == expected(line, "div: the divisor is zero", "integers have no quotient by zero"));
}
}  // namespace
