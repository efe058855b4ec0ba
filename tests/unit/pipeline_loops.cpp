// Loops with buffers for several turns: which ones, what becomes of them, and what the planner keeps apart.
#include <limits>

#include <tessera/compile.hpp>
#include <tessera/emit/pto_mlir.hpp>
#include <tessera/passes/assign_buffers.hpp>
#include <tessera/passes/memory/map.hpp>
#include <tessera/passes/pipeline.hpp>
#include <tessera/passes/pipeline_loops.hpp>
#include <tessera/simulate.hpp>

#include "support/planning.hpp"
#include "support/trace.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

template <class F>
Function traced(F body, const std::source_location& at = std::source_location::current()) {
  static int count = 0;
  return Kernel<F>("k" + std::to_string(count++), std::move(body), nullptr, at).trace();
}
// The default passes up to pipeline_loops and, with `planned`, to their end; each result is verified.
Function lowered(const Function& f, bool planned = false, Arch arch = Arch::a3, bool pipelining = true) {
  PassOptions options;
  options.verify = true;
  const std::size_t count = default_pipeline().size() - (planned ? 0 : 2);
  return run_passes(f, {default_pipeline().begin(), count}, {arch, pipelining}, options);
}
// What is refused, without the number of a line.
template <class F>
std::string refusal(F body) {
  try {
    return "no error:\n" + print(lowered(traced(std::move(body)), true));
  } catch (const UserError& e) {
    const Diagnostic d = e.diagnostic();
    std::string message = d.message;
    if (const auto at = message.find("(line "); at != std::string::npos) message.erase(at + 5, message.find(')', at) - at - 5);
    return message + " | " + d.hint;
  }
}
std::string body_of(const Function& f) {
  const std::string text = print(f);
  return text.substr(text.find('\n'));
}
// "line 3: ..." of each note, with lines counted from the kernel's.
std::string notes(const Function& f) {
  std::string text;
  for (LoopNote n : f.loops) {
    n.location.line -= f.location.line;
    text.append(text.empty() ? "" : "; ").append(loop_text(n));
  }
  return text;
}
OpId unrolled_loop(const Function& f) {
  for (const OpId op : all_operations(f))
    if (detail::is_unrolled(f, op)) return op;
  FAIL("no loop is unrolled:\n" << print(f));
  return {};
}

using Row = Tensor<Shape<16, 64>, f32>;
template <int N>
using Rows = Tensor<Shape<16 * N, 64>, f32>;
using Many = Tensor<Shape<dyn<"S">, 64>, f32>;
using Count = Tensor<Shape<8>, i32>;

// A loop that streams N times 16 rows, with `turns` of its turns pipelined; 0: nothing is said.
template <int N>
Function stream(int turns = 0) {
  return traced([=](Rows<N> x, Out<Rows<N>> out) {
    const auto body = [&](Index i) { store(exp(load<Shape<16, 64>>(x, at(i, 0))) * 2.0f, out, at(i, 0)); };
    if (turns == 0) {
      for (Index i : range(0, 16 * N, 16)) body(i);
    } else {
      for (Index i : range(0, 16 * N, 16).pipelined(turns)) body(i);
    }
  });
}
// Carries what it loads from turn to turn.
template <int N>
Function sums(int turns) {
  return traced([=](Rows<N> x, Out<Rows<N>> out) {
    Var sum = load<Shape<16, 64>>(x, at(0, 0));
    for (Index i : range(N).pipelined(turns)) {
      sum = sum * 0.5f + load<Shape<16, 64>>(x, at(i * 16, 0));
      store(sum, out, at(i * 16, 0));
    }
    store(sum, out, at(0, 0));
  });
}

// A product that accumulates over 8 parts of 32, the first of them in front of the loop.
Function products(int turns) {
  return traced([=](Tensor<Shape<64, 256>, f32> x, Tensor<Shape<256, 64>, f32> y, Out<Tensor<Shape<64, 64>, f32>> out) {
    const auto left = [&](Index k) { return move<Left>(load<Shape<64, 32>, Mat>(x, at(0, k))); };
    const auto right = [&](Index k) { return move<Right>(load<Shape<32, 64>, Mat>(y, at(k, 0))); };
    Var sum = matmul(left(0), right(0));
    for (Index k : range(32, 256, 32).pipelined(turns)) sum = matmul_acc(sum, left(k), right(k));
    store(sum, out, at(0, 0));
  });
}

// Runs a function as recorded and as planned with the pass, and compares what they write.
void same_numbers(const Function& f, std::vector<Argument> arguments, Arch arch = Arch::a3) {
  static_cast<void>(simulate_lowered(f, lowered(f, true, arch), std::move(arguments)));
}
HostTensor numbers(std::vector<std::int64_t> dims) {
  HostTensor x(f32, std::move(dims));
  for (std::int64_t i = 0; i < x.size(); ++i) x.set(i, static_cast<double>(i % 13) - 6);
  return x;
}
template <int N>
void same_stream(int turns) {
  INFO(N << " turns, pipelined(" << turns << ")");
  const HostTensor x = numbers({16 * N, 64});
  HostTensor out(f32, {16 * N, 64});
  same_numbers(stream<N>(turns), {x, out});
  same_numbers(sums<N>(turns), {x, out});
}

}  // namespace

// --- what is recorded ---

TEST_CASE("pipelined is an attribute of the loop") {
  CHECK(trace::text([](Rows<4> x, Out<Rows<4>> out) {
          for (Index i : range(0, 64, 16).pipelined(4)) store(load<Shape<16, 64>>(x, at(i, 0)), out, at(i, 0));
        }) == R"((%arg0: in f32[64,64], %arg1: out f32[64,64]) {
  for %0 = 0 to 64 step 16 {pipelined = 4} {
    %1 = tile.load(%arg0, %0, 0) : tile<f32[16,64]@Vec>
    tile.store(%1, %arg1, %0, 0)
    yield
  }
  return
}
)");
  const auto refused = [](int n) {
    return trace::text([=](Row x, Out<Row> out) {
      for ([[maybe_unused]] Index i : range(4).pipelined(n)) out = x;
    });
  };
  const int line = __LINE__ - 3;
  for (const int n : {-1, 0, 9})
    CHECK(refused(n) == trace::error(__FILE__, line, "range: a loop has no buffers for that many turns (" + std::to_string(n) + ")",
                                     "pipelined(2) to pipelined(8); pipelined(1) leaves the loop as it is"));
  const auto host = orchestration("pipelined_host", [](Row x, Out<Row> out) {
    for ([[maybe_unused]] Index i : range(4).pipelined(2)) static_cast<void>(x), static_cast<void>(out);
  });
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(host.trace()); }),
                 "range: only loops of kernels are pipelined (orchestration pipelined_host)\n  hint: leave out pipelined(...): the host has no buffers on chip"));
  const auto op = tileop("pipelined_op", [](Rows<4> x, Out<Rows<4>> out) {
    for (Index i : range(0, 64, 16).pipelined(2)) store(exp(load<Shape<16, 64>>(x, at(i, 0))), out, at(i, 0));
  });
  const auto caller = kernel("calls_pipelined_op", [&](Rows<4> x, Out<Rows<4>> out) { op(x, out); });
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(caller.trace()); }),
                 "range: only loops of kernels are pipelined (tileop pipelined_op)\n  hint: leave out pipelined(...), or write it at a loop of the kernel, around the call"));
}

// --- what becomes of a loop ---

TEST_CASE("turns that fill groups need nothing behind the loop") {
  CHECK(body_of(lowered(stream<4>())) == R"(
  for %0 = 0 to 64 step 32 {unrolled = 2} {
    %1 = tile.load(%arg0, %0, 0) : tile<f32[16,64]@Vec>
    %2 = tile.exp(%1) : tile<f32[16,64]@Vec>
    %3 = tile.muls(%2, 2.0:f32) : tile<f32[16,64]@Vec>
    tile.store(%3, %arg1, %0, 0)
    %4 = scalar.add(%0, 16) : index
    %5 = tile.load(%arg0, %4, 0) : tile<f32[16,64]@Vec>
    %6 = tile.exp(%5) : tile<f32[16,64]@Vec>
    %7 = tile.muls(%6, 2.0:f32) : tile<f32[16,64]@Vec>
    tile.store(%7, %arg1, %4, 0)
    yield
  }
  return
}
)");
}

TEST_CASE("one turn that is left stands behind the loop, several in a loop; carried values go from copy to copy") {
  CHECK(op_names(lowered(stream<5>())) ==
        "for{load exp muls store add load exp muls store yield} load exp muls store");
  CHECK(op_names(lowered(stream<5>(3))) ==
        "for{load exp muls store add load exp muls store add load exp muls store yield} for{load exp muls store yield}");
  CHECK(body_of(lowered(traced([](Rows<5> x, Out<Row> out) {
          Var sum = load<Shape<16, 64>>(x, at(0, 0));
          for (Index i : range(1, 4).pipelined(2)) sum = sum + load<Shape<16, 64>>(x, at(i * 16, 0));
          store(sum, out, at(0, 0));
        }))) == R"(
  %0 = tile.load(%arg0, 0, 0) : tile<f32[16,64]@Vec>
  %1 = for %2 = 1 to 3 step 2 carry(%3 = %0) {pipelined = 2, unrolled = 2} : tile<f32[16,64]@Vec> {
    %4 = scalar.mul(%2, 16) : index
    %5 = tile.load(%arg0, %4, 0) : tile<f32[16,64]@Vec>
    %6 = tile.add(%3, %5) : tile<f32[16,64]@Vec>
    %7 = scalar.add(%2, 1) : index
    %8 = scalar.mul(%7, 16) : index
    %9 = tile.load(%arg0, %8, 0) : tile<f32[16,64]@Vec>
    %10 = tile.add(%6, %9) : tile<f32[16,64]@Vec>
    yield %10
  }
  %11 = tile.load(%arg0, 48, 0) : tile<f32[16,64]@Vec>
  %12 = tile.add(%1, %11) : tile<f32[16,64]@Vec>
  tile.store(%12, %arg1, 0, 0)
  return
}
)");
}

TEST_CASE("with bounds that are known at run time the loop carries its counter to what is left") {
  const auto rows = [](int turns) {
    return lowered(traced([=](Rows<8> x, Many s, Out<Rows<8>> out) {
      Var last = load<Shape<16, 64>>(x, at(0, 0));
      for (Index i : range(0, dim(s, 0), 16).pipelined(turns)) {
        last = exp(load<Shape<16, 64>>(x, at(i, 0))) + last;
        store(last, out, at(i, 0));
      }
    }));
  };
  CHECK(body_of(rows(2)) == R"(
  %0 = tile.load(%arg0, 0, 0) : tile<f32[16,64]@Vec>
  %1 = scalar.sub(S, 16) : index
  %2, %3 = for %4 = 0 to %1 step 32 carry(%5 = %0, %6 = 0) {pipelined = 2, unrolled = 2} : tile<f32[16,64]@Vec>, index {
    %7 = tile.load(%arg0, %4, 0) : tile<f32[16,64]@Vec>
    %8 = tile.exp(%7) : tile<f32[16,64]@Vec>
    %9 = tile.add(%8, %5) : tile<f32[16,64]@Vec>
    tile.store(%9, %arg2, %4, 0)
    %10 = scalar.add(%4, 16) : index
    %11 = tile.load(%arg0, %10, 0) : tile<f32[16,64]@Vec>
    %12 = tile.exp(%11) : tile<f32[16,64]@Vec>
    %13 = tile.add(%12, %9) : tile<f32[16,64]@Vec>
    tile.store(%13, %arg2, %10, 0)
    %14 = scalar.add(%4, 32) : index
    yield %13, %14
  }
  %15 = scalar.compare(%3, S) {compare = lt} : boolean
  %16 = if %15 : tile<f32[16,64]@Vec> {
    %17 = tile.load(%arg0, %3, 0) : tile<f32[16,64]@Vec>
    %18 = tile.exp(%17) : tile<f32[16,64]@Vec>
    %19 = tile.add(%18, %2) : tile<f32[16,64]@Vec>
    tile.store(%19, %arg2, %3, 0)
    yield %19
  } else {
    yield %2
  }
  return
}
)");
  CHECK(op_names(rows(3)) ==
        "load sub for{load exp add store add load exp add store add load exp add store add yield} for{load exp add store yield}");
}

TEST_CASE("range(first, first + length) has a known count of turns") {
  const Function f = lowered(traced([](Rows<64> x, Out<Rows<64>> out) {
    const Index first = block_index() * 64;
    for (Index i : range(first, first + 64, 16)) store(exp(load<Shape<16, 64>>(x, at(i, 0))), out, at(i, 0));
  }));
  CHECK(op_names(f) == "block_index mul add for{load exp store add load exp store yield}");
}

// --- the same numbers ---

TEST_CASE("a loop gives what it gave, however many turns it has") {
  for (const int turns : {2, 3, 4, 8}) {
    same_stream<1>(turns);
    same_stream<2>(turns);
    same_stream<3>(turns);
    same_stream<5>(turns);
    same_stream<8>(turns);
  }
}

TEST_CASE("run-time dims and tails") {
  for (const int turns : {2, 3, 5})
    for (const std::int64_t s : {0, 1, 16, 17, 32, 40, 48, 80, 95, 96, 97}) {
      INFO("S=" << s << ", pipelined(" << turns << ")");
      const HostTensor in = numbers({s, 64});
      HostTensor result(f32, {s, 64});
      same_numbers(traced([=](Many x, Out<Many> out) {
                     for (Index i : range(0, dim(x, 0), 16).pipelined(turns)) {
                       auto t = load<Shape<16, 64>>(x, at(i, 0), valid(min(dim(x, 0) - i, 16), 64));
                       store(exp(t) + t, out, at(i, 0));
                     }
                   }),
                   {in, result}, turns == 3 ? Arch::a5 : Arch::a3);
    }
}

TEST_CASE("any bounds: none, negative ones, and such at the end of all numbers") {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max(), smallest = std::numeric_limits<std::int64_t>::min();
  // Counts turns, and mixes what they see in their order.
  const auto count = [](int turns, int step) {
    return traced([=](Index first, Index last, Out<Count> out) {
      Var turn = 0;
      Var seen = 1;
      for (Index i : range(first, last, step).pipelined(turns)) {
        turn = turn + 1;
        seen = (seen * 3 + i % 1009) % 65537;
      }
      write(out, at(0), cast<i32>(turn));
      write(out, at(1), cast<i32>(seen));
    });
  };
  const std::int64_t bounds[][2] = {{0, 0},      {0, 1},       {5, 3},        {-7, 6},       {-100, -37}, {largest - 40, largest}, {largest - 1, largest},
                                    {largest, largest}, {smallest, smallest + 31}, {smallest, smallest}, {smallest + 3, smallest}, {largest, smallest},
                                    {largest - 64, largest - 3}, {0, 64}, {0, 65}, {1, 64}};
  for (const int turns : {2, 3, 8})
    for (const int step : {1, 5, 16}) {
      const Function f = count(turns, step), g = lowered(f, true);
      CHECK(count_op(g, ops::for_loop) == 2);
      CHECK(count_op(g, ops::if_else) == 0);
      for (const auto& [first, last] : bounds) {
        INFO(first << " to " << last << " step " << step << ", pipelined(" << turns << ")");
        HostTensor out(i32, {8});
        static_cast<void>(simulate_lowered(f, g, {Argument(first), Argument(last), out}));
      }
    }
  // Constants there: they are no turns of groups that anybody needs.
  HostTensor result(i32, {8});
  const Function f = traced([=](Out<Count> out) {
    Var turn = 0;
    for ([[maybe_unused]] Index i : range(largest - 40, largest, 16).pipelined(2)) turn = turn + 1;
    write(out, at(0), cast<i32>(turn));
  });
  static_cast<void>(simulate_lowered(f, lowered(f, true), {result}));
  CHECK(result.integer(0) == 3);
}

TEST_CASE("products that accumulate, branches and loops in the body, variables that change places") {
  const HostTensor a = numbers({64, 256}), b = numbers({256, 64});
  for (const int turns : {1, 2, 3}) {
    HostTensor product(f32, {64, 64});
    same_numbers(products(turns), {a, b, product});
    HostTensor rows(f32, {16, 64});
    same_numbers(traced([=](Tensor<Shape<256, 64>, f32> x, Out<Row> out) {
                   Var p = load<Shape<16, 64>>(x, at(0, 0));
                   Var q = load<Shape<16, 64>>(x, at(16, 0));
                   for (Index i : range(2, 13).pipelined(turns)) {
                     auto t = load<Shape<16, 64>>(x, at(i * 16, 0));
                     auto old = p + 0.0f;
                     p = q;
                     q = old;
                     if_(i % 3 == 0, [&] { p = p + t; }, [&] { q = q - t; });
                     for ([[maybe_unused]] Index j : range(i % 4)) p = p * 0.5f;
                   }
                   store(p - q, out, at(0, 0));
                 }),
                 {b, rows});
  }
}

// --- which loops ---

TEST_CASE("loops that load and work are pipelined without being asked, innermost ones first") {
  CHECK(notes(lowered(stream<4>())) == "line 3: 2 turns have buffers of their own (automatic)");
  CHECK(notes(lowered(stream<4>(1))).empty());
  CHECK(notes(lowered(stream<1>())) == "line 3: its turns share buffers (it has 1 turn)");
  CHECK(notes(lowered(stream<3>(8))) == "line 5: 3 turns have buffers of their own (it has 3 turns)");
  CHECK(notes(lowered(stream<4>(3))) == "line 5: 3 turns have buffers of their own (asked for)");
  const auto nested = [](int outer) {
    return lowered(traced([=](Rows<8> x, Rows<1> w, Out<Rows<8>> out) {
      const auto rows = [&](Index i) {
        Var t = load<Shape<16, 64>>(w, at(0, 0));
        for (Index j : range(0, 2)) t = t + load<Shape<16, 64>>(x, at(i + j * 16, 0));
        store(t, out, at(i, 0));
      };
      if (outer == 0) {
        for (Index i : range(0, 64, 16)) rows(i);
      } else {
        for (Index i : range(0, 64, 16).pipelined(outer)) rows(i);
      }
    }));
  };
  CHECK(notes(nested(0)) == "line 3: 2 turns have buffers of their own (automatic)");
  CHECK(notes(nested(1)) == "line 3: 2 turns have buffers of their own (automatic)");
  CHECK(notes(nested(2)) == "line 9: 2 turns have buffers of their own (asked for)");
  CHECK(op_names(nested(2)) == "for{load for{mul add load add yield} store add load for{mul add load add yield} store yield}");
}

TEST_CASE("every block takes every block_count()-th window") {
  const auto window = [](Many x, Out<Many> out, Index i) {
    const auto rows = min(16, dim(x, 0) - i);
    store(exp(load<Shape<16, 64>>(x, at(i, 0), valid(rows, 64))), out, at(i, 0));
  };
  // Found, and asked for; the end is a dim, or any number.
  const Function kernels[] = {
      traced([=](Many x, Out<Many> out) {
        for (Index i : range(block_index() * 16, dim(x, 0), block_count() * 16)) window(x, out, i);
      }),
      traced([=](Many x, Out<Many> out) {
        for (Index i : range(block_index() * 16, dim(x, 0), block_count() * 16).pipelined(3)) window(x, out, i);
      }),
      traced([=](Many x, Out<Many> out, Index n) {
        for (Index i : range(block_index() * 16, n, block_count() * 16)) window(x, out, i);
      })};
  CHECK(notes(lowered(kernels[0])) == "line 1: 2 turns have buffers of their own (automatic)");
  CHECK(notes(lowered(kernels[2])) == "line 1: 2 turns have buffers of their own (automatic)");
  for (const Function& f : kernels)
    for (const Arch arch : {Arch::a3, Arch::a5}) {
      const Function synchronised = run_passes(f, full_pipeline(), {arch, true});
      const OpId loop = unrolled_loop(synchronised);
      // The first turn counts as the loop does, and the step is a multiple of the one that is written.
      CHECK(synchronised.is(synchronised.definition(synchronised.operand(loop, 2)), ops::scalar_mul));
      INFO(print(synchronised));
      for (const OpId op : all_operations(synchronised))
        if (synchronised.is(op, ops::scalar_mul)) CHECK_FALSE(synchronised.is_integer_constant(synchronised.operand(op, 1), 0));
      SimulateOptions options;
      for (const std::int64_t rows : {1, 16, 17, 32, 47, 96, 130})
        for (const std::int64_t blocks : {1, 2, 3, 8}) {
          INFO(rows << " rows, " << blocks << " blocks");
          const HostTensor x = numbers({rows, 64});
          HostTensor made(f32, {rows, 64}), meant(f32, {rows, 64});
          options.blocks = blocks;
          for (options.block = 0; options.block < blocks; ++options.block) {
            std::vector<Argument> to_made{x, made}, to_meant{x, meant};
            if (f.parameters.size() == 3) to_made.emplace_back(rows), to_meant.emplace_back(rows);
            const SimulationResult run = simulate(synchronised, to_made, options), meaning = simulate(f, to_meant, options);
            CHECK(made == meant);
            CHECK(run.unwritten(1).count == meaning.unwritten(1).count);
          }
        }
    }
}

TEST_CASE("steps of dims") {
  const auto turned = [](auto step) {
    return notes(lowered(traced([=](Many x, Tensor<Shape<dyn<"C">, 64>, f32> chunk, Out<Many> out) {
      for (Index i : range(0, dim(x, 0), step(dim(chunk, 0)))) store(exp(load<Shape<16, 64>>(x, at(i, 0), valid(min(16, dim(x, 0) - i), 64))), out, at(i, 0));
    })));
  };
  const std::string found = "line 1: 2 turns have buffers of their own (automatic)";
  CHECK(turned([](Index c) { return c; }) == found);
  CHECK(turned([](Index c) { return Index(c * 2); }) == found);
  CHECK(turned([](Index c) { return Index((c + 15) / 16); }) == found);
  CHECK(turned([](Index c) { return Index(c * block_count()); }) == found);
  CHECK(turned([](Index c) { return Index(c * c); }) == "line 1: its turns share buffers (its step is no constant, and perhaps large)");
}

TEST_CASE("what does not stream stays as it is") {
  const Function f = traced([](Row x, Out<Row> out, Index n) {
    Var t = load<Shape<16, 64>>(x, at(0, 0));
    for ([[maybe_unused]] Index i : range(n)) t = exp(t);                              // loads nothing
    for (Index i : range(0, 64, n)) store(exp(load<Shape<16, 64>>(x, at(i * 0, 0))), out, at(0, 0));  // a step that is not known
    Var k = 0;
    for (Index i : range(8)) {
      t = t + load<Shape<16, 64>>(x, at(i * 0, 0));
      while_([&] { return k < i; }, [&] { k = k + 1; });
    }
    store(t, out, at(0, 0));
  });
  CHECK(notes(lowered(f)) == "line 3: its turns share buffers (its step is no constant, and perhaps large)");
  CHECK(body_of(lowered(f)) == body_of(lowered(f, false, Arch::a3, false)));
  CHECK(lowered(f, false, Arch::a3, false).loops.empty());
  const Function large = traced([](Row x, Out<Row> out) {
    for (Index i : range(8)) {
      Var t = load<Shape<16, 64>>(x, at(i * 0, 0));
      for (int k = 0; k < 254; ++k) t = exp(t);
      store(t, out, at(0, 0));
    }
  });
  CHECK(notes(lowered(large)) == "line 1: its turns share buffers (its body has 258 operations, more than 256)");
}

TEST_CASE("without the option functions stay as they are") {
  for (const int turns : {0, 1, 2}) {
    const Function off = lowered(stream<4>(turns), false, Arch::a3, false);
    CHECK(op_names(off) == "for{load exp muls store yield}");
    CHECK(off.loops.empty());
  }
}

TEST_CASE("a pipelined loop is not pipelined again") {
  const Function once = lowered(stream<5>(3));
  const Function again = pipeline_loops.run(once, {Arch::a3, true});
  CHECK(print(again) == print(once));
}

TEST_CASE("what cannot be pipelined is refused where it is asked for") {
  CHECK(refusal([](Row x, Out<Row> out, Index n) {
          for (Index i : range(0, 64, n).pipelined(2)) store(exp(load<Shape<16, 64>>(x, at(i * 0, 0))), out, at(0, 0));
        }) == "range: the loop cannot be pipelined (its step is no constant, and perhaps large) | leave out pipelined(...), or make the step of small constants, dims and block_count()");
  CHECK(refusal([](Row x, Out<Row> out) {
          for (Index i : range(4).pipelined(2)) {
            Var k = 0;
            while_([&] { return k < i; }, [&] { k = k + 1; });
            store(exp(load<Shape<16, 64>>(x, at(k * 0, 0))), out, at(0, 0));
          }
        }) == "range: a pipelined loop holds a while_ (line) | leave out pipelined(...), or count with range in place of while_");
  CHECK(refusal([](Row x, Out<Row> out) {
          for ([[maybe_unused]] Index i : range(4).pipelined(2))
            for (Index j : range(4).pipelined(2)) store(exp(load<Shape<16, 64>>(x, at(j * 0, 0))), out, at(0, 0));
        }) == "range: a pipelined loop holds another one (line) | leave out pipelined(...) at one of them: at the inner one, data of its turns is loaded ahead");
  CHECK(refusal([](Tensor<Shape<32, 32>, f32> x, Out<Tensor<Shape<32, 32>, f32>> out) {
          for ([[maybe_unused]] Index i : range(4).pipelined(2)) {
            auto product = matmul(x, x);
            for (auto lane : split_aiv<Split::up_down>()) store(aiv_shard(product, lane), out, at(lane * 16, 0));
          }
        }) == "range: a pipelined loop holds a split region (line) | leave out pipelined(...)");
}

// --- what the planner does ---

namespace {

struct Touched {
  ValueId tile;
  unsigned pipes = 0;
};
// The buffers that a loop touches, each by one of its tiles.
std::vector<Touched> touched(const Function& f, OpId loop) {
  std::vector<Touched> list;
  for (const OpId op : all_operations(f)) {
    bool inside = false;
    for (OpId o = op; o; o = f[f[o].parent].owner) inside = inside || (o == loop && op != loop);
    if (!inside) continue;
    for_each_access(f, op, [&](ValueId v, bool) {
      if (!f.type(v).is_tile()) return;
      auto at = std::find_if(list.begin(), list.end(), [&](const Touched& t) { return f[t.tile].buffer == f[v].buffer; });
      if (at == list.end()) at = list.insert(list.end(), {v});
      at->pipes |= 1u << static_cast<unsigned>(pipe_of(f, op));
    });
  }
  return list;
}
// Buffers of two pipes that share bytes with another one of the loop; and how many there are that do not.
std::pair<int, int> together_and_apart(const Function& f) {
  int together = 0, apart = 0;
  const std::vector<Touched> list = touched(f, unrolled_loop(f));
  for (const Touched& a : list) {
    if ((a.pipes & (a.pipes - 1)) == 0) continue;
    int n = 0;
    for (const Touched& b : list)
      n += f[a.tile].buffer != f[b.tile].buffer && f.type(a.tile).space == f.type(b.tile).space && byte_range(f, a.tile).overlaps(byte_range(f, b.tile));
    (n > 0 ? together : apart)++;
  }
  return {together, apart};
}
// A load, a result that is stored, and something in between: `Rows` rows of 256 bytes each.
template <int R>
Function large_tiles(int turns = 0) {
  return traced([=](Tensor<Shape<4 * R, 64>, f32> x, Out<Tensor<Shape<4 * R, 64>, f32>> out) {
    const auto body = [&](Index i) {
      auto t = load<Shape<R, 64>>(x, at(i, 0));
      store(exp(t * 2.0f) + t, out, at(i, 0));
    };
    if (turns == 0) {
      for (Index i : range(0, 4 * R, R)) body(i);
    } else {
      for (Index i : range(0, 4 * R, R).pipelined(turns)) body(i);
    }
  });
}

}  // namespace

TEST_CASE("buffers that two pipes touch share no bytes with others of the loop") {
  for (const int turns : {2, 3, 4}) {
    const Function f = lowered(large_tiles<64>(turns), true);
    INFO(print(f));
    CHECK(together_and_apart(f) == std::pair(0, 2 * turns));
    CHECK(peak_of(f, Vec) >= (2 * turns + 1) * 16384);
  }
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    const Function f = lowered(products(2), true, arch);
    INFO(print(f));
    CHECK(together_and_apart(f) == std::pair(0, 8));
    CHECK(peak_of(f, Mat) >= 4 * 8192);
    CHECK(peak_of(f, Left) >= 2 * 8192);
  }
}

TEST_CASE("where the cube unit's own spaces have too little room, factors share bytes and what is loaded does not") {
  const auto product = [](int turns) {
    return traced([=](Tensor<Shape<128, 1024>, f32> x, Tensor<Shape<1024, 64>, f32> y, Out<Tensor<Shape<128, 64>, f32>> out) {
      const auto left = [&](Index k) { return move<Left>(load<Shape<128, 128>, Mat>(x, at(0, k))); };  // 65536 bytes: all of Left
      const auto right = [&](Index k) { return move<Right>(load<Shape<128, 64>, Mat>(y, at(k, 0))); };
      Var sum = matmul(left(0), right(0));
      if (turns == 0) {
        for (Index k : range(128, 1024, 128)) sum = matmul_acc(sum, left(k), right(k));
      } else {
        for (Index k : range(128, 1024, 128).pipelined(turns)) sum = matmul_acc(sum, left(k), right(k));
      }
      store(sum, out, at(0, 0));
    });
  };
  const Function f = lowered(product(0), true);
  INFO(print(f));
  CHECK(notes(f) == "line 5: 2 turns have buffers of their own (not for factors and products: Left would need 131072 bytes, a3 has 65536)");
  CHECK(contains(print(f), "{unrolled = 2, factors_shared = 1}"));
  CHECK(peak_of(f, Mat) >= 2 * (65536 + 32768));
  CHECK(peak_of(f, Left) == 65536);
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(lowered(product(2), true)); }), "plan_memory: Left needs 131072 bytes, a3 has 65536"));
}

TEST_CASE("a loop for which there is no room shares its buffers, and it is said why") {
  const Function f = lowered(large_tiles<160>(), true);  // 40960 bytes each: 5 of them are more than there is
  CHECK(notes(f) == "line 6: its turns share buffers (Vec would need 204800 bytes, a3 has 188416)");
  CHECK(op_names(f) == "for{load muls exp add store yield}");
  CHECK(notes(lowered(large_tiles<160>(), true, Arch::a5)) == "line 6: 2 turns have buffers of their own (automatic)");
  // Other loops keep theirs.
  const Function two = lowered(traced([](Tensor<Shape<640, 64>, f32> x, Out<Tensor<Shape<640, 64>, f32>> out) {
                                 for (Index i : range(0, 640, 160)) {
                                   auto t = load<Shape<160, 64>>(x, at(i, 0));
                                   store(exp(t * 2.0f) + t, out, at(i, 0));
                                 }
                                 for (Index i : range(0, 640, 64)) store(exp(load<Shape<64, 64>>(x, at(i, 0))), out, at(i, 0));
                               }),
                               true);
  CHECK(notes(two) == "line 1: its turns share buffers (Vec would need 204800 bytes, a3 has 188416); line 5: 2 turns have buffers of their own (automatic)");
  CHECK(contains(memory_map(two), "\nloops\n  line "));
  CHECK(contains(memory_map(two), ": its turns share buffers (Vec would need 204800 bytes, a3 has 188416)\n"));
}

TEST_CASE("the planner gives up loops that were not asked for") {
  const Function unrolled = assign_buffers.run(lowered(large_tiles<160>(), false, Arch::a5), {Arch::a5, true});
  const Function f = plan_memory.run(unrolled, {Arch::a3, true});
  CHECK(peak_of(f, Vec) == 2 * 40960);
  CHECK(notes(f) == "line 6: its turns share buffers (Vec would need 204800 bytes, a3 has 188416)");
  CHECK_FALSE(contains(print(f), "unrolled"));
  verify(f, {Property::addresses_planned});
}

TEST_CASE("a loop for which there is no room and that was asked for is an error, also where functions stay as they are") {
  const bool pipelining = GENERATE(true, false);
  try {
    static_cast<void>(lowered(large_tiles<160>(2), true, Arch::a3, pipelining));
    FAIL("it fits");
  } catch (const UserError& e) {
    const Diagnostic d = e.diagnostic();
    CHECK(contains(d.message, "plan_memory: Vec needs 204800 bytes, a3 has 188416 (5 tiles at "));
    CHECK(contains(d.hint, "make tiles smaller, or lower pipelined(2) of the loop in line "));
    CHECK(contains(d.hint, "; needed at the same time, in bytes: "));
  }
}

TEST_CASE("equal functions are pipelined equally") {
  const auto text = [] { return print(lowered(large_tiles<64>(), true)) + print(lowered(large_tiles<160>(), true)); };
  const std::string first = text();
  CHECK(first.substr(first.find('\n')) != "");
  const Function f = large_tiles<64>();
  CHECK(print(lowered(f, true)) == print(lowered(f, true)));
  CHECK(emit_pto_mlir(lowered(f, true), {.level = 3}) == emit_pto_mlir(lowered(f, true), {.level = 3}));
}
