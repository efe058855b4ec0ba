// What infer_tileop_summary says of tile operations, and what is refused: bodies, calls, and extents that a call cannot give.
#include "support/catch.hpp"
#include "support/ir.hpp"
#include "tessera/dsl/trace.hpp"
#include "tessera/kernel.hpp"
#include "tessera/passes/infer_tileop_summary.hpp"
#include "tessera/passes/pipeline.hpp"

using namespace tessera;
using tessera::test::contains;

namespace {

using T = Tile<Shape<16, 64>, f32, Vec>;
using X = Tensor<Shape<16, 64>, f32>;
using M = Tensor<Shape<64, 64>, f32>;
using L = Tile<Shape<16, 64>, f16, Left>;
using R = Tile<Shape<64, 32>, f16, Right>;
using C = Tile<Shape<16, 32>, f32, Acc>;

Program traced_alone(const KernelEntry& tileop) {
  const Pass* const passes[] = {&infer_tileop_summary};
  PassOptions options;
  options.verify = true;
  return run_passes(trace_program(tileop), {passes, 1}, {Arch::a3}, options);
}
template <class F>
TileOp<F> registered(F f, const char* const* names, const std::source_location& at) {
  static int count = 0;
  return TileOp<F>("op" + std::to_string(count++), std::move(f), names, at);
}
/// "[MTE2, V, MTE3], vector, [write, read]", or the text of the user error, in which the operation is called `op`.
template <class F>
std::string summary(F f, const std::source_location& at = std::source_location::current()) {
  const auto op = registered(std::move(f), nullptr, at);
  try {
    const std::string text = print(traced_alone(op.entry()));
    const auto part = [&](const char* key, const char* end) {
      const std::size_t from = text.find(key) + std::string_view(key).size();
      return text.substr(from, text.find(end, from) - from);
    };
    return part("pipe_footprint = ", ", pto.") + ", " + part("kernel_kind = ", ", pto.") + ", " + part("arg_effects = ", "} {");
  } catch (const UserError& e) {
    std::string text = e.diagnostic().text(true);
    const std::string name(std::string_view(op.name()));
    while (text.find(name) != std::string::npos) text.replace(text.find(name), name.size(), "op");
    return text;
  }
}
/// The text of what is wrong with a kernel.
template <class F>
std::string refusal(F f, const std::source_location& at = std::source_location::current()) {
  static int count = 0;
  try {
    return "no error:\n" + print(trace_kernel(Kernel<F>("refused" + std::to_string(count++), std::move(f), nullptr, at).entry()));
  } catch (const UserError& e) { return e.diagnostic().text(true); }
}
std::string line(int n) { return "tileop_summary.cpp:" + std::to_string(n); }

inline const auto flat = tileop("flat", [](T x) { return reshape<Shape<1, 1024>>(x) + 1.0f; });
constexpr int flat_line = __LINE__ - 1;
inline const auto scaled_rows = kernel("scaled_rows", [](X x) { return x * 2.0f; });

T again(T x);
inline const auto endless = tileop("endless", [](T x) { return again(x); });
inline const auto between = tileop("between", [](T x) { return endless(x) + 1.0f; });
T again(T x) { return between(x); }

}  // namespace

TEST_CASE("vector work: moves to and from tensors and numbers are beside it") {
  CHECK(summary([](T x) { return exp(x) / row_sum(x); }) == "[V], vector, [read]");
  CHECK(summary([](M x, Index i, M y) { return load<Shape<16, 64>>(x, at(i, 0)) + read(y, at(0, 0)); }) == "[S, V, MTE2], vector, [read, none, read]");
  CHECK(summary([](Out<X> out, X x) {
          auto t = load<Shape<16, 64>>(x, at(0, 0));
          auto e = exp(t - row_max(t));
          store(e / row_sum(e), out, at(0, 0));
        }) == "[V, MTE2, MTE3], vector, [write, read]");
  CHECK(summary([](InOut<X> sum, T x) { store(x + 1.0f, sum, at(0, 0), Atomic::add); }) == "[V, MTE3], vector, [readwrite, read]");
  CHECK(summary([](InOut<X> y, T x) { store(load<Shape<16, 64>>(y, at(0, 0)) + x, y, at(0, 0)); }) == "[V, MTE2, MTE3], vector, [readwrite, read]");
}
TEST_CASE("cube work: the moves to its operands and out of Acc are beside it") {
  CHECK(summary([](L a, R b) { return matmul(a, b); }) == "[M], cube, [read, read]");
  CHECK(summary([](InOut<C> c, L a, R b) { c = matmul_acc(c, a, b); }) == "[M], cube, [readwrite, read, read]");
  CHECK(summary([](Tile<Shape<16, 64>, f16, Mat> a, Tensor<Shape<64, 32>, f16> b, Out<Tensor<Shape<16, 32>, f32>> c) {
          store(matmul(move<Left>(a), move<Right>(load<Shape<64, 32>, Mat>(b, at(0, 0)))), c, at(0, 0));
        }) == "[M, MTE1, MTE2, FIX], cube, [read, read, write]");
}
TEST_CASE("effects on tiles") {
  CHECK(summary([](Out<T> y, T x, T) { y = x + 1.0f; }) == "[V], vector, [write, read, none]");
  CHECK(summary([](InOut<T> y, T x) { y = y + x; }) == "[V], vector, [readwrite, read]");
  CHECK(summary([](InOut<T> y, T x) { y = x + x; }) == "[V], vector, [write, read]");
  CHECK(summary([](InOut<T> y, T x) { return y + x; }) == "[V], vector, [read, read]");
  CHECK(summary([](InOut<T> y, T x, Index n) { if_(n > 0, [&] { y = x + 1.0f; }); }) == "[S, V], vector, [readwrite, read, none]");
  // What a branch leaves as it was counts as read: the effect is widened, never dropped.
  CHECK(summary([](Out<T> y, T x, Index n) { if_(n > 0, [&] { y = x + 1.0f; }); }) == "[S, V], vector, [readwrite, read, none]");
}
TEST_CASE("the summary is found on what the body becomes") {
  // A row minimum of bf16 takes a cast; the rows of a product are moved to the cube's own buffers.
  CHECK(summary([](Tile<Shape<2, 16, 64>, f32, Vec> x) { return x + 1.0f; }) == "[V], vector, [read]");
  CHECK(summary([](T x) { return flat(x) + 1.0f; }) == "[V], vector, [read]");
  // Called or alone, it is the same.
  const auto user = kernel("flat_user", [](X x) { return flat(x); });
  const Function f = infer_tileop_summary.run(trace_kernel(user.entry()), {Arch::a3});
  REQUIRE(f.tileops.size() == 1);
  REQUIRE(f.tileops[0]->summary != nullptr);
  CHECK(f.tileops[0]->summary->uses(Pipe::vector));
  CHECK_FALSE(f.tileops[0]->summary->uses(Pipe::mte2));
  CHECK(f.tileops[0]->summary->effects == std::vector<ArgEffect>{ArgEffect::read});
}
TEST_CASE("a body computes on one unit") {
  const auto both = [](L a, R b) {
    auto c = matmul(a, b);
    return move<Vec>(c) + 1.0f;
  };
  const int here = __LINE__ - 2;
  CHECK(summary(both) == line(here) + ": error: tileop op: the body computes on the vector unit and on the cube unit (adds at " + line(here) + ", matmul at " + line(here - 1) +
                             ")\n  hint: make two tile operations, one for each unit, and call both from the kernel");
}
TEST_CASE("a body computes something") {
  const int here = __LINE__ + 1;
  CHECK(summary([](Out<X> out, T x) { store(x, out, at(0, 0)); }) ==
        line(here) + ": error: tileop op: the body computes nothing (operations: 1, all of them moves or numbers)\n"
                   "  hint: a tile operation has work for the vector unit or for the cube unit; move data in the kernel");
}
TEST_CASE("outputs are assigned") {
  const int here = __LINE__ + 1;
  CHECK(summary([](Out<T>, T x) { return x + 1.0f; }) ==
        line(here) + ": error: tileop: an output is never assigned (arg0)\n  hint: assign it (arg0 = ...), or leave the parameter out");
  CHECK(contains(summary([](Out<X>, T x) { return x + 1.0f; }), "kernel: an output is never written (arg0)"));
}
TEST_CASE("what a body refuses of a call's extents names both lines") {
  const auto partial = [](X x, Out<Tensor<Shape<1, 1024>, f32>> out, Index n) {
    store(flat(load<Shape<16, 64>>(x, at(0, 0), valid(n, 32))), out, at(0, 0));
  };
  const int here = __LINE__ - 2;
  CHECK(refusal(partial) == line(flat_line) + ": error: reshape: the operand is valid in part only along a dim that is split or merged (axis 0: a run-time extent of 16) (flat is called at " +
                                line(here) + ")\n  hint: fillpad(x) first, or reshape before giving valid extents");
  const auto counted = tileop("counted", [](T x, Tensor<Shape<8>, i32> n) { return set_valid_shape(x, valid(read(n, at(0)), 64)) + 1.0f; });
  const std::string text = refusal([counted](X x, Tensor<Shape<8>, i32> n, Out<X> out) { store(counted(load<Shape<16, 64>>(x, at(0, 0)), n), out, at(0, 0)); });
  CHECK(contains(text, "tileop counted: the valid extents of the result depend on what the body reads or counts (axis 0) (counted is called at " + line(__LINE__ - 1) + ")"));
  CHECK(contains(text, "give the extent as an Index parameter, or fillpad(...) the result"));
  const auto grows = tileop("grows", [](T x, Index n) {
    Var y = x;
    for (Index i : range(n)) y = fillpad(y, Pad::zero);
    return y;
  });
  CHECK(contains(refusal([grows](X x, Out<X> out, Index n) { store(grows(load<Shape<16, 64>>(x, at(0, 0), valid(n, 64)), 2), out, at(0, 0)); }),
                 line(__LINE__ - 4) + ": error: for: the body leaves a variable with other valid extents than it had before the loop (axis 0) (grows is called at"));
}
TEST_CASE("who calls whom") {
  const std::string loop = refusal([](X x, Out<X> out) { store(endless(load<Shape<16, 64>>(x, at(0, 0))), out, at(0, 0)); });
  CHECK(contains(loop, "error: call: a function calls itself (endless -> between -> endless)\n  hint: repeat calls by a loop"));
  const auto calls_kernel = tileop("calls_kernel", [](T x, X y) {
    scaled_rows(y);
    return x + 1.0f;
  });
  CHECK(contains(refusal([calls_kernel](X x, Out<X> out) { store(calls_kernel(load<Shape<16, 64>>(x, at(0, 0)), x), out, at(0, 0)); }),
                 "call: a tile operation calls a function (scaled_rows)\n  hint: what runs on chip calls tile operations only"));
  const auto host = orchestration("host", [](X x) { return flat(x); });
  CHECK(contains(test::thrown<UserError>([&] { static_cast<void>(trace_program(host.entry())); }), "call: only kernels call tile operations (orchestration host calls flat)"));
  const auto of_memory = tileop("of_memory", [](X x) { return load<Shape<16, 64>>(x, at(0, 0)) + 1.0f; });
  CHECK(contains(refusal([of_memory](X x, Out<X> out) { store(of_memory(exp(x)), out, at(0, 0)); }),
                 "call: the argument is a computed tensor, which has no memory (position) (0)"));
  CHECK(contains(test::thrown<UserError>([&] { static_cast<void>(run_passes(trace_program(flat.entry()).entry(), default_pipeline(), {Arch::a3})); }),
                 "kernel: a tile operation is no kernel (flat)"));
  const auto wrong = tileop("no-name", [](T x) { return x + 1.0f; });
  CHECK(contains(test::thrown<UserError>([&] { static_cast<void>(trace_program(wrong.entry())); }), "kernel: the name is not an identifier (no-name)"));
}
