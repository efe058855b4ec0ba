// Flags and barriers that insert_sync sets: which ones, where, and that they are enough in every run.
#include "support/catch.hpp"
#include "support/ir.hpp"
#include "tessera/driver/random_arguments.hpp"
#include "tessera/ir/printer.hpp"
#include "tessera/ir/walk.hpp"
#include "tessera/kernel.hpp"
#include "tessera/passes/insert_sync.hpp"
#include "tessera/passes/pass.hpp"
#include "tessera/passes/pipeline.hpp"
#include "tessera/simulate.hpp"

using namespace tessera;
using test::contains;

namespace {

template <std::int64_t... D>
using F32 = Tensor<Shape<D...>, f32>;

template <class K>
Function with_flags(const K& kernel, Arch arch, bool pipelining = false) {
  PassOptions options;
  options.verify = true;
  return run_passes(kernel.trace(), full_pipeline(), {arch, pipelining}, options);
}
// One line: instructions, loops and branches in braces, `MTE2>V0!` for a flag that is raised, `MTE2>V0?` for one that is waited
// for, `|V|` for a barrier.
void write_order(const Function& f, BlockId b, std::string& out) {
  for (OpId op = f[b].first; op; op = f.next(op)) {
    const auto pipe = [&](AttrKey key) { return std::string(name(static_cast<Pipe>(f.attr(op, key)))); };
    if (f.is(op, ops::barrier)) {
      out += "|" + pipe(AttrKey::pipe) + "| ";
    } else if (is_sync(f.info(op))) {
      out += pipe(AttrKey::pipe) + ">" + pipe(AttrKey::to_pipe) + std::to_string(f.attr(op, AttrKey::event)) + (f.is(op, ops::set_flag) ? "! " : "? ");
    } else if (f.block_count(op) > 0) {
      out += std::string(f.info(op).name) + " { ";
      for (int k = 0; k < f.block_count(op); ++k) {
        if (k > 0) out += "} { ";
        write_order(f, f.block(op, k), out);
      }
      out += "} ";
    } else if (pipe_of(f, op) != Pipe::none && f.info(op).level != Level::scalar) {
      out += std::string(f.info(op).name) + " ";
    }
  }
}
template <class K>
std::string order(const K& kernel, Arch arch = Arch::a3, bool pipelining = false) {
  const Function f = with_flags(kernel, arch, pipelining);
  std::string out;
  write_order(f, f.body(), out);
  out.pop_back();
  return out;
}
int count(const Function& f, const OpInfo& info) {
  int n = 0;
  for (const OpId op : all_operations(f)) n += f.is(op, info);
  return n;
}
// Every stage computes the same, and the last one in every order of the pipes that its flags allow.
template <class K>
void runs(const K& kernel, const driver::Settings& settings = {}) {
  const Function f = kernel.trace();
  const driver::Settings all = driver::complete(f, 1, settings, nullptr);
  const driver::RandomArguments arguments(f, 1, all);
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    SimulateOptions options;
    options.arch = arch;
    options.replays = 10;
    CHECK_NOTHROW(simulate_every_level(f, arguments.list(), options));
  }
}

const auto smallest = kernel("smallest", [](F32<16, 64> x) { return abs(x); });
const auto in_rows = kernel("in_rows", params("x", "n", "out"), [](F32<64, 64> x, Index n, Out<F32<64, 64>> out) {
  for (Index i : range(0, n, 16)) store(abs(load<Shape<16, 64>>(x, at(i, 0))), out, at(i, 0));
});
const auto twice = kernel("twice", params("x", "n", "out", "again"), [](F32<64, 64> x, Index n, Out<F32<64, 64>> out, Out<F32<64, 64>> again) {
  for (Index i : range(0, n, 16)) store(abs(load<Shape<16, 64>>(x, at(i, 0))), out, at(i, 0));
  for (Index i : range(0, n, 16)) store(exp(load<Shape<16, 64>>(x, at(i, 0))), again, at(i, 0));
});

}  // namespace

TEST_CASE("load, compute, store: one flag from each pipe to the next") {
  CHECK(order(smallest) == "load MTE2>V0! MTE2>V0? abs V>MTE30! V>MTE30? store");
  CHECK(order(smallest, Arch::a5) == order(smallest));
  runs(smallest);
}

TEST_CASE("a loop waits for what the turn before did to its bytes; zero turns leave no flag raised") {
  CHECK(order(in_rows) ==
        "MTE3>MTE20! for { MTE3>MTE20? load MTE2>V0! MTE2>V0? abs V>MTE30! V>MTE30? store MTE3>MTE20! } MTE3>MTE20?");
  for (const double n : {0.0, 16.0, 32.0, 64.0}) {
    runs(in_rows, {{"n", n}});
    runs(twice, {{"n", n}});
  }
}

TEST_CASE("a loop with buffers for two turns: the load of one turn waits for its own buffer only") {
  const auto k = kernel("two_turns", params("x", "out"), [](F32<64, 64> x, Out<F32<64, 64>> out) {
    for (Index i : range(0, 64, 16)) store(abs(load<Shape<16, 64>>(x, at(i, 0))), out, at(i, 0));
  });
  CHECK(order(k, Arch::a3, true) ==
        "V>MTE20! MTE3>V0! V>MTE21! MTE3>V1! for { "
        "V>MTE20? load MTE2>V0! MTE2>V0? MTE3>V0? abs V>MTE30! V>MTE20! V>MTE30? store MTE3>V0! "
        "V>MTE21? load MTE2>V1! MTE2>V1? MTE3>V1? abs V>MTE31! V>MTE21! V>MTE31? store MTE3>V1! } V>MTE20? MTE3>V0? V>MTE21? MTE3>V1?");
  runs(k);
}

TEST_CASE("independent chains: flags between pipes, and no barrier") {
  const auto k = kernel("chains", [](F32<3, 16, 64> x, Out<F32<3, 16, 64>> out) {
    for (int i = 0; i < 3; ++i) store(exp(load<Shape<1, 16, 64>>(x, at(i, 0, 0))), out, at(i, 0, 0));
  });
  const Function f = with_flags(k, Arch::a3, true);
  CHECK(count(f, ops::set_flag) == 6);
  CHECK(count(f, ops::barrier) == 0);
  runs(k);
}

TEST_CASE("one flag behind the last of several producers covers them all") {
  const auto k = kernel("product", [](F32<64, 64> a, F32<64, 64> b) { return matmul(a, b); });
  CHECK(order(k) ==
        "load MTE2>MTE10! load MTE2>MTE11! MTE2>MTE10? move MTE2>MTE11? move MTE1>M0! MTE1>M0? matmul M>FIX0! M>FIX0? store");
  runs(k);
}

TEST_CASE("the accumulator is free when the fix pipe has read it") {
  const auto k = kernel("products", [](Tensor<Shape<32, 64>, f16> a, Tensor<Shape<64, 64>, f16> b, Out<F32<64, 64>> c) {
    for (Index i : range(0, 64, 32)) {
      auto r = move<Right>(load<Shape<64, 64>, Mat>(b, at(0, 0)));
      store(matmul(move<Left>(load<Shape<32, 64>, Mat>(a, at(0, 0))), r), c, at(i, 0));
    }
  });
  CHECK(contains(order(k), "MTE1>M0? FIX>M0? matmul M>FIX0!"));
  CHECK(contains(order(k), "M>FIX0? store FIX>M0! }"));
  runs(k);
  const auto read_back = kernel("read_back", [](F32<64, 64> a, F32<64, 64> b, Out<F32<64, 64>> c, Out<F32<64, 64>> d) {
    store(matmul(move<Left>(load<Shape<64, 64>, Mat>(a, at(0, 0))), move<Right>(load<Shape<64, 64>, Mat>(b, at(0, 0)))), c, at(0, 0));
    store(load<Shape<64, 64>>(c, at(0, 0)) + 1.0f, d, at(0, 0));
  });
  CHECK(contains(order(read_back), "store FIX>MTE20! FIX>MTE20? load"));
  runs(read_back);
}

TEST_CASE("what the cube computed reaches the vector unit behind the fix pipe") {
  const auto k = kernel("narrowed", [](F32<64, 64> a, F32<64, 64> b) { return cast<bf16>(matmul(a, b)); });
  CHECK(contains(order(k), "matmul M>FIX0! M>FIX0? move FIX>V0! FIX>V0? cast V>MTE30! V>MTE30? store"));
  runs(k);
}

TEST_CASE("tiles with other names in the same bytes are ordered") {
  // The second load lands in the bytes that the first store still reads.
  const auto k = kernel("same_bytes", [](F32<184, 128> x, F32<184, 128> y, Out<F32<184, 128>> out, Out<F32<184, 128>> twice_y) {
    store(load<Shape<184, 128>>(x, at(0, 0)), out, at(0, 0));
    auto b = load<Shape<184, 128>>(y, at(0, 0));
    store(b + b, twice_y, at(0, 0));
  });
  CHECK(contains(order(k, Arch::a3), "store MTE3>MTE20! MTE3>MTE20? load"));
  runs(k);
}

TEST_CASE("a tensor that is read and written: windows that cannot meet need no flag") {
  const auto apart = kernel("apart", [](InOut<F32<256, 64>> x) {
    for (Index i : range(0, 256, 32)) store(load<Shape<32, 64>>(x, at(i, 0)) * 2.0f, x, at(i, 0));
  });
  CHECK_FALSE(contains(order(apart, Arch::a3, true), "MTE3>MTE2"));
  runs(apart);
  const auto meeting = kernel("meeting", [](InOut<F32<257, 64>> x) {
    for (Index i : range(0, 224, 32)) store(load<Shape<33, 64>>(x, at(i, 0)) * 2.0f, x, at(i, 0));
  });
  CHECK(contains(order(meeting, Arch::a3, true), "MTE3>MTE2"));
  runs(meeting);
  const auto halves = kernel("halves", [](InOut<F32<64, 64>> x) {
    store(load<Shape<32, 64>>(x, at(0, 0)) * 2.0f, x, at(32, 0));
    store(load<Shape<32, 64>>(x, at(0, 0)) * 3.0f, x, at(0, 0));
  });
  CHECK_FALSE(contains(order(halves, Arch::a3, true), "MTE3>MTE2"));
  runs(halves);
}

TEST_CASE("windows that only another turn of an outer loop meets") {
  const auto inner = kernel("inner", [](InOut<F32<128, 128>> x) {
    for (Index i : range(0, 96, 32))
      for (Index j : range(0, 128, 32)) store(load<Shape<32, 32>>(x, at(i, j)) * 2.0f, x, at(i + 32, j));
  });
  CHECK(contains(order(inner, Arch::a3, true), "MTE3>MTE2"));
  runs(inner);
  const auto in_branch = kernel("in_branch", params("x", "n"), [](InOut<F32<128, 64>> x, Index n) {
    for (Index i : range(0, 96, 32)) if_(i < n, [&] { store(load<Shape<32, 64>>(x, at(i, 0)) * 2.0f, x, at(i + 32, 0)); });
  });
  CHECK(contains(order(in_branch, Arch::a3, true), "MTE3>MTE2"));
  for (const double n : {0.0, 33.0, 128.0}) runs(in_branch, {{"n", n}});
  // The store in front of the load meets it a turn later.
  const auto store_first = kernel("store_first", [](F32<32, 64> y, InOut<F32<128, 64>> x, Out<F32<96, 64>> out) {
    auto t = load<Shape<32, 64>>(y, at(0, 0));
    for (Index i : range(0, 96, 32)) {
      store(t, x, at(i + 32, 0));
      store(load<Shape<32, 64>>(x, at(i, 0)), out, at(i, 0));
    }
  });
  CHECK(contains(order(store_first, Arch::a3, true), "MTE3>MTE2"));
  runs(store_first);
}

TEST_CASE("vector instructions on a3: a barrier where one needs what another is still at work on") {
  const auto small = kernel("small", [](F32<16, 32> x) { return exp(abs(x)); });
  CHECK(contains(order(small), "abs |V| exp"));
  CHECK(contains(order(small, Arch::a5), "abs exp"));
  // The same bytes in the same order, and enough of them: the second stays behind the first.
  const auto large = kernel("large", [](F32<64, 64> x) { return exp(abs(x)); });
  CHECK(contains(order(large), "abs exp"));
  const auto turned = kernel("turned", [](F32<64, 64> x) { return transpose(abs(x)); });
  CHECK(contains(order(turned), "abs |V| transpose"));
  const auto partly = kernel("partly", params("x", "n", "out"), [](F32<64, 64> x, Index n, Out<F32<64, 64>> out) {
    store(exp(abs(load<Shape<64, 64>>(x, at(0, 0), valid(n, 64)))), out, at(0, 0));
  });
  CHECK(contains(order(partly), "abs |V| exp"));
  runs(small), runs(large), runs(turned), runs(partly, {{"n", 7}});
}

TEST_CASE("elements that the scalar unit reads and writes") {
  const auto k = kernel("elements", [](F32<16, 64> x) {
    auto t = abs(x);
    return t * read(t, at(0, 0));
  });
  CHECK(contains(order(k), "V>S0! V>S0? read"));
  runs(k);
}

TEST_CASE("branches: flags stand around them, and both ways are in order") {
  const auto k = kernel("branches", params("x", "n"), [](F32<64, 64> x, Index n) {
    Var r = full<Shape<64, 64>, f32>(0.0f);
    auto t = x * 2.0f;
    if_(n > 0, [&] { r = t + 1.0f; }, [&] { r = exp(t); });
    return r;
  });
  CHECK(order(k) == "load MTE2>V0! full MTE2>V0? muls if { adds } { exp } V>MTE30! V>MTE30? store");
  runs(k, {{"n", 0}}), runs(k, {{"n", 1}});
  const auto in_loop = kernel("branch_in_loop", params("x", "n", "out"), [](F32<64, 64> x, Index n, Out<F32<64, 64>> out) {
    for (Index i : range(0, n, 1))
      if_(i < 2, [&] { store(exp(load<Shape<16, 64>>(x, at(i * 16, 0))), out, at(i * 16, 0)); },
          [&] { store(abs(load<Shape<16, 64>>(x, at(i * 16, 0))), out, at(i * 16, 0)); });
  });
  for (const double n : {0.0, 1.0, 3.0, 4.0}) runs(in_loop, {{"n", n}});
}

TEST_CASE("a while loop: its condition runs once more than its body") {
  const auto k = kernel("while_loop", params("x", "n", "out"), [](F32<64, 64> x, Index n, Out<F32<64, 64>> out) {
    Var i = 0;
    while_([&] { return i < n; }, [&] {
      store(exp(load<Shape<16, 64>>(x, at(i * 16, 0))), out, at(i * 16, 0));
      i = i + 1;
    });
  });
  for (const double n : {0.0, 1.0, 4.0}) runs(k, {{"n", n}});
  // What the body computes and the condition reads.
  const auto reads = kernel("reads", [](F32<16, 64> x) {
    Var t = x * 4.0f;
    while_([&] { return read(t, at(0, 0)) > 0.0f; }, [&] { t = t - 10.0f; });
    return t;
  });
  CHECK(contains(order(reads), "V>S0! while { V>S0? read"));
  runs(reads);
}

TEST_CASE("more than eight flags between two pipes") {
  const auto k = kernel("many", [](F32<16, 16, 64> x, Out<F32<16, 16, 64>> out) {
    std::vector<Tile<Shape<1, 16, 64>, f32, Vec>> tiles;
    for (int i = 0; i < 16; ++i) tiles.push_back(load<Shape<1, 16, 64>>(x, at(i, 0, 0)));
    for (int i = 0; i < 16; ++i) store(exp(tiles[static_cast<std::size_t>(i)]), out, at(i, 0, 0));
  });
  const Function f = with_flags(k, Arch::a3, true);
  CHECK(count(f, ops::set_flag) == count(f, ops::wait_flag));
  runs(k);
}

TEST_CASE("a loop with more buffers than flags has no barrier") {
  const auto k = kernel("many_buffers", params("x", "out"), [](F32<800, 32> x, Out<F32<800, 32>> out) {
    for (Index i : range(0, 800, 80).pipelined(2))
      for (int t = 0; t < 5; ++t) store(exp(load<Shape<16, 32>>(x, at(i + 16 * t, 0))), out, at(i + 16 * t, 0));
  });
  CHECK(count(with_flags(k, Arch::a3, true), ops::barrier) == 0);
  runs(k);
}

TEST_CASE("buffers that a loop needs again, swaps and merges: the same numbers in any order of the pipes") {
  const auto index_kept = kernel("index_kept", params("x", "index", "n", "out"), [](F32<8, 64> x, F32<1, 64> index, Index n, Out<F32<1, 64>> out) {
    auto kept = load<Shape<1, 64>>(index, at(0, 0));
    Var merged = kept * 0.0f;
    for (Index s : range(0, n, 1)) merged = merged + maximum(load<Shape<1, 64>>(x, at(s, 0)), kept);
    store(merged, out, at(0, 0));
  });
  for (const double n : {0.0, 1.0, 2.0, 4.0, 8.0}) runs(index_kept, {{"n", n}});
  const auto swap = kernel("swap", params("x", "y", "n", "out"), [](F32<16, 64> x, F32<16, 64> y, Index n, Out<F32<32, 64>> out) {
    Var a = load<Shape<16, 64>>(x, at(0, 0));
    Var b = load<Shape<16, 64>>(y, at(0, 0));
    for ([[maybe_unused]] Index i : range(0, n, 1)) {
      Var c = a;
      a = b;
      b = c + 1.0f;
    }
    store(a, out, at(0, 0));
    store(b, out, at(16, 0));
  });
  for (const double n : {0.0, 1.0, 2.0, 3.0}) runs(swap, {{"n", n}});
  const auto k_loop = kernel("k_loop", [](Tensor<Shape<64, 256>, f16> a, Tensor<Shape<256, 64>, f16> b, Out<F32<64, 64>> c) {
    for (Index i : range(0, 64, 32)) {
      Var acc = tile<Shape<32, 64>, f32, Acc>();
      for (Index k : range(0, 256, 64)) {
        auto l = move<Left>(load<Shape<32, 64>, Mat>(a, at(i, k)));
        auto r = move<Right>(load<Shape<64, 64>, Mat>(b, at(k, 0)));
        if_(k == 0, [&] { acc = matmul(l, r); }, [&] { acc = matmul_acc(acc, l, r); });
      }
      store(acc, c, at(i, 0));
    }
  });
  runs(k_loop);
}

TEST_CASE("every instruction runs on a pipe, and says what it touches") {
  for (const ops::Family& family : ops::families)
    for (const OpInfo* op : family) {
      if (op->level == Level::control || op->level == Level::scalar || op->level == Level::tensor) continue;
      INFO(op->name);
      if (op->form == PtoForm::expanded || op->form == PtoForm::none) continue;
      CHECK((op->pipe == Pipe::none) == op->is_view);
    }
}

TEST_CASE("the pass needs addresses, and does not touch what is in order") {
  const Function f = with_flags(smallest, Arch::a3);
  CHECK(contains(test::thrown<InternalError>([&] { (void)run_passes(smallest.trace(), {&insert_sync}, {Arch::a3}); }),
                 "insert_sync requires what the function does not have"));
  CHECK(print(with_flags(smallest, Arch::a3)) == print(f));
}
