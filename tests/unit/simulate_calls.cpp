// Running programs: tensors between kernels are memory, undefined until a call writes them; spmd wrappers run every block.
#include <tessera/simulate.hpp>

#include "support/programs.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

using X = Tensor<Shape<32, 64>, f32>;
using Half = Tensor<Shape<16, 64>, f32>;

inline const auto softmax = kernel("softmax", params("x"), [](X x) {
  auto e = exp(x - row_max(x));
  return e / row_sum(e);
});
inline const auto scale = kernel("scale", params("x", "s"), [](X x, Scalar<f32> s) { return x * s; });
inline const auto add_one = kernel("add_one", params("x"), [](X x) { return x + 1.0f; });
inline const auto top_half = kernel("top_half", params("x", "o"), [](X x, Out<X> o) { store(load<Shape<16, 64>>(x, at(0, 0)), o, at(0, 0)); });
inline const auto bottom_half = kernel("bottom_half", params("x", "o"), [](X x, Out<X> o) { store(load<Shape<16, 64>>(x, at(16, 0)), o, at(16, 0)); });
inline const auto rows_of_block = kernel("rows_of_block", params("x", "o"), [](X x, Out<X> o) {
  Index rows = 32 / block_count(), first = rows * block_index();
  for (Index i : range(rows)) {
    auto t = load<Shape<1, 64>>(x, at(first + i, 0));
    store(t + cast<f32>(block_index()), o, at(first + i, 0));
  }
});
inline const auto blocks_of_4 = spmd("blocks_of_4", 4, params("x", "o"), [](X x, Out<X> o) { rows_of_block(x, o); });

std::string error_of(auto&& run) {
  try {
    run();
    return "no error";
  } catch (const UserError& e) { return std::string(e.message()); } catch (const InternalError& e) {
    return std::string("internal: ") + e.what();
  }
}
double element(const auto& array, std::int64_t i, std::int64_t k) { return array.get(i * 64 + k); }

}  // namespace

TEST_CASE("a program gives what its kernels give one after the other") {
  const auto layer = orchestration("layer_1", [](X x, Scalar<f32> s) {
    auto h = softmax(x);
    return scale(h, s + 1);
  });
  const auto x = random<X>(1);
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    const auto y = simulate(layer, SimulateOptions{.arch = arch}, x, 1.0f);
    const auto expected = simulate(scale, simulate(softmax, x), 2.0f);
    CHECK(max_abs_diff(y, expected) == 0);
  }
  const Program p = layer.trace();
  simulate_every_level(p, {x, 1.0f});
}
TEST_CASE("several results, outputs, a loop and a branch") {
  const auto layer = orchestration("layer_2", params("x", "n", "o"), [](X x, Index n, Out<X> o) {
    Var h = add_one(x);
    for (Index i : range(n)) if_(i == 1, [&] { h = softmax(h); }, [&] { h = scale(h, 2.0f); });
    top_half(h, o);
    bottom_half(x, o);
    return results(add_one(h), h);
  });
  const auto x = random<X>(2);
  auto o = zeros<X>();
  const auto [a, b] = simulate(layer, x, 3, o);
  CHECK(element(a, 5, 7) == Approx(element(b, 5, 7) + 1));
  CHECK(element(o, 5, 7) == element(b, 5, 7));
  CHECK(element(o, 20, 7) == element(x, 20, 7));
}
TEST_CASE("a tensor that is created is undefined until a call writes it") {
  const auto reads_all = orchestration("reads_all", [](X x) {
    auto t = create<Shape<32, 64>, f32>();
    top_half(x, t);
    return add_one(t);
  });
  const auto data = random<X>(3);
  CHECK(error_of([&] { (void)simulate(reads_all, data); }) == "return: an uninitialised element is returned (result 0, element [16, 0] of [32, 64])");
  // Without the recorded program it is the lowered one that tells.
  CHECK(error_of([&] { (void)simulate(reads_all, SimulateOptions{.agreement = Agreement::off}, data); }) ==
        "store: an uninitialised element is used (operand 0, element [16, 0] of [32, 64])");
  const auto gives_it = orchestration("gives_it", [](X x) {
    auto t = create<Shape<32, 64>, f32>();
    top_half(x, t);
    return t;
  });
  CHECK(error_of([&] { (void)simulate(gives_it, data); }) == "return: an uninitialised element is returned (result 0, element [16, 0] of [32, 64])");
  const auto host_reads = orchestration("host_reads", [](X x) {
    auto t = create<Shape<32, 64>, f32>();
    top_half(x, t);
    return scale(x, read(t, at(31, 0)));
  });
  CHECK(error_of([&] { (void)simulate(host_reads, data); }) == "read: an uninitialised element is used (operand 0, element [31, 0] of [32, 64])");
  const auto whole = orchestration("whole", [](X x) {
    auto t = create<Shape<32, 64>, f32>();
    top_half(x, t);
    bottom_half(x, t);
    return add_one(t);
  });
  CHECK(element(simulate(whole, data), 31, 63) == element(data, 31, 63) + 1);
}
TEST_CASE("each trip of a loop creates a tensor of its own") {
  const auto stale = orchestration("stale", [](X x, Index n) {
    Var h = add_one(x);
    for (Index i : range(n)) {
      auto t = create<Shape<32, 64>, f32>();
      if_(i == 0, [&] { bottom_half(h, t); });
      top_half(h, t);
      h = add_one(t);
    }
    return h;
  });
  const auto x = random<X>(4);
  CHECK(element(simulate(stale, x, 1), 31, 63) == Approx(element(x, 31, 63) + 2));
  CHECK(error_of([&] { (void)simulate(stale, x, 2); }) != "no error");
}
TEST_CASE("an spmd wrapper runs each of its blocks") {
  const auto x = random<X>(5);
  const auto layer = orchestration("layer_3", params("x", "o"), [](X x_, Out<X> o) {
    auto t = create<Shape<32, 64>, f32>();
    blocks_of_4(x_, t);
    rows_of_block(t, o);  // one block: all rows
  });
  auto o = zeros<X>();
  simulate(layer, x, o);
  const auto plus = [&](std::int64_t row, float n) { return static_cast<double>(static_cast<float>(element(x, row, 9)) + n); };
  CHECK(element(o, 0, 9) == plus(0, 0));
  CHECK(element(o, 8, 9) == plus(8, 1));
  CHECK(element(o, 31, 9) == plus(31, 3));
  // On its own, and in a group.
  auto alone = zeros<X>(), grouped = zeros<X>();
  simulate(blocks_of_4, x, alone);
  const auto cluster = group("cluster_1", [](X x_, Out<X> o_) { blocks_of_4(x_, o_); });
  simulate(cluster, x, grouped);
  CHECK(max_abs_diff(alone, o) == 0);
  CHECK(max_abs_diff(grouped, o) == 0);
  Statistics done;
  SimulateOptions options;
  options.statistics = &done;
  simulate(blocks_of_4, options, x, alone);
  CHECK(done.gm_bytes_written == 32 * 64 * 4);
}
TEST_CASE("blocks that are missing leave a hole that is found") {
  const auto few = kernel("few", params("x", "o"), [](X x, Out<X> o) {
    store(load<Shape<8, 64>>(x, at(block_index() * 8, 0)), o, at(block_index() * 8, 0));
  });
  const auto three = spmd("three", 3, params("x", "o"), [few](X x, Out<X> o) { few(x, o); });
  const auto layer = orchestration("layer_4", [three](X x) {
    auto t = create<Shape<32, 64>, f32>();
    three(x, t);
    return t;
  });
  CHECK(error_of([&] { (void)simulate(layer, random<X>(6)); }) == "return: an uninitialised element is returned (result 0, element [24, 0] of [32, 64])");
}
TEST_CASE("blocks of a launch neither write one element differently nor read what another one writes") {
  const auto from = random<X>(12);
  auto to = zeros<X>();
  const auto differently = kernel("differently", params("x", "o"), [](X x, Out<X> o) { store(load<Shape<8, 64>>(x, at(block_index(), 0)), o, at(0, 0)); });
  const auto alike = kernel("alike", params("x", "o"), [](X x, Out<X> o) { store(load<Shape<8, 64>>(x, at(3, 0)), o, at(0, 0)); });
  const auto neighbours = kernel("neighbours", params("x"), [](InOut<X> x) {
    store(load<Shape<1, 64>>(x, at(block_index(), 0)) + 1.0f, x, at(block_index() + 1, 0));
  });
  const auto as_value = kernel("as_value", params("x"), [](InOut<X> x) { store(slice<Shape<1, 64>>(x + 1.0f, at(0, 0)), x, at(block_index(), 0)); });
  const auto summed = kernel("summed", params("x", "sum"), [](X x, InOut<X> sum) { store(load<Shape<8, 64>>(x, at(0, 0)), sum, at(0, 0), Atomic::add); });
  const auto run = [&](const auto& k) {
    const auto launch = spmd(std::string("launch_") + k.name().c_str(), 2, [k](X a, X b) { k(a, b); });
    return error_of([&] { simulate(launch, from, to); });
  };
  CHECK(run(differently) == "store: two blocks of the launch write different numbers to one element (blocks 0, 1, element [0, 0])");
  CHECK(run(alike) == "no error");
  CHECK(run(summed) == "no error");
  const auto run_one = [&](const auto& k) {
    const auto launch = spmd(std::string("launch_") + k.name().c_str(), 2, [k](X a) { k(a); });
    return error_of([&] { simulate(launch, to); });
  };
  CHECK(run_one(neighbours) == "load: another block of the launch writes the element that is read (blocks 0, 1, element [1, 0])");
  CHECK(run_one(as_value) == "adds: another block of the launch writes the element that is read (blocks 0, 1, element [0, 0])");
  // Inside a program, and one launch behind the other.
  const auto two = spmd("two", 2, params("x"), [neighbours](X a) { neighbours(a); });
  const auto layer = orchestration("launches", [two](InOut<X> a) { two(a); });
  CHECK(error_of([&] { simulate(layer, to); }) == "load: another block of the launch writes the element that is read (blocks 0, 1, element [1, 0])");
  const auto wide = spmd("wide_of_2", 2, params("x", "o"), [](X a, X b) { rows_of_block(a, b); });
  const auto chain = orchestration("chain", [wide](X a, InOut<X> b) {
    auto t = create<Shape<32, 64>, f32>();
    wide(a, t);
    wide(t, b);
  });
  CHECK(error_of([&] { simulate(chain, from, to); }) == "no error");
}
TEST_CASE("a block reads what another one writes, whichever of them the simulator runs first") {
  auto to = zeros<X>();
  const auto run = [&](int blocks, const auto& k) {
    const auto launch = spmd(std::string("order_of_") + k.name().c_str(), blocks, [k](X a) { k(a); });
    return error_of([&] { simulate(launch, to); });
  };
  // Block i reads row i + 1, and writes row i: the numbers are the same in this order alone.
  const auto next = kernel("next_row", params("x"), [](InOut<X> x) { store(load<Shape<1, 64>>(x, at(block_index() + 1, 0)) + 1.0f, x, at(block_index(), 0)); });
  CHECK(run(2, next) == "store: another block of the launch reads the element that is written (blocks 0, 1, element [1, 0])");
  const auto previous = kernel("previous_row", params("x"), [](InOut<X> x) { store(load<Shape<1, 64>>(x, at(block_index(), 0)) + 1.0f, x, at(block_index() + 1, 0)); });
  CHECK(run(2, previous) == "load: another block of the launch writes the element that is read (blocks 0, 1, element [1, 0])");
  const auto own = kernel("own_row", params("x"), [](InOut<X> x) {
    store(load<Shape<1, 64>>(x, at(block_index(), 0)) + 1.0f, x, at(block_index(), 0));
    store(load<Shape<1, 64>>(x, at(block_index(), 0)) + 1.0f, x, at(block_index(), 0));
  });
  CHECK(run(4, own) == "no error");
  // All read one row, and the last one writes it.
  const auto last = kernel("last_writes", params("x"), [](InOut<X> x) {
    auto row = load<Shape<1, 64>>(x, at(9, 0));
    if_(block_index() == block_count() - 1, [&] { store(row + 1.0f, x, at(9, 0)); });
  });
  CHECK(run(3, last) == "store: another block of the launch reads the element that is written (blocks 0, 2, element [9, 0])");
  // Single elements.
  const auto elements = kernel("next_element", params("x"), [](InOut<X> x) { write(x, at(0, block_index()), read(x, at(0, block_index() + 1)) + 1.0f); });
  CHECK(run(2, elements) == "write: another block of the launch reads the element that is written (blocks 0, 1, element [0, 1])");
  // Alike, and read back by the block that wrote it.
  const auto alike = kernel("alike_and_back", params("x"), [](InOut<X> x) {
    store(full<Shape<1, 64>, f32>(2.0f), x, at(0, 0));
    store(load<Shape<1, 64>>(x, at(0, 0)) + 1.0f, x, at(1 + block_index(), 0));
  });
  CHECK(run(3, alike) == "no error");
}
TEST_CASE("what several blocks add to, none of them reads or writes") {
  auto to = zeros<X>();
  const auto run = [&](const auto& k) {
    const auto launch = spmd(std::string("adds_of_") + k.name().c_str(), 2, [k](X a) { k(a); });
    return error_of([&] { simulate(launch, to); });
  };
  const auto one = [] { return full<Shape<1, 64>, f32>(1.0f); };
  const auto first_reads = kernel("first_reads", params("x"), [one](InOut<X> x) {
    if_(block_index() == 0, [&] { store(load<Shape<1, 64>>(x, at(0, 0)), x, at(1, 0)); }, [&] { store(one(), x, at(0, 0), Atomic::add); });
  });
  CHECK(run(first_reads) == "store: another block of the launch reads the element that is added to (blocks 0, 1, element [0, 0])");
  const auto second_reads = kernel("second_reads", params("x"), [one](InOut<X> x) {
    store(one(), x, at(0, 0), Atomic::add);
    if_(block_index() == 1, [&] { store(load<Shape<1, 64>>(x, at(0, 0)), x, at(1, 0)); });
  });
  CHECK(run(second_reads) == "load: another block of the launch writes the element that is read (blocks 0, 1, element [0, 0])");
  const auto first_writes = kernel("first_writes", params("x"), [one](InOut<X> x) {
    if_(block_index() == 0, [&] { store(one(), x, at(0, 0)); }, [&] { store(one(), x, at(0, 0), Atomic::add); });
  });
  CHECK(run(first_writes) == "store: another block of the launch writes the element that is added to (blocks 0, 1, element [0, 0])");
  const auto second_writes = kernel("second_writes", params("x"), [one](InOut<X> x) {
    if_(block_index() == 1, [&] { store(one(), x, at(0, 0)); }, [&] { store(one(), x, at(0, 0), Atomic::add); });
  });
  CHECK(run(second_writes) == "store: another block of the launch adds to the element that is written (blocks 0, 1, element [0, 0])");
}
TEST_CASE("blocks return one result") {
  const auto rows = kernel("rows_of_one", params("x"), [](X x) { return slice<Shape<8, 64>>(x, at(block_index() * 8, 0)); });
  const auto apart = spmd("apart", 3, params("x"), [rows](X x) { return rows(x); });
  const auto x = random<X>(13);
  const auto line_of = [&](auto&& run) {
    try {
      run();
      return std::string("no error");
    } catch (const UserError& e) { return e.diagnostic().message + "\n  hint: " + e.diagnostic().hint; }
  };
  const std::string told = "call: blocks return different tensors (blocks 0 and 1)\n  hint: a launch has one result: write to an Out parameter at the block's offset";
  CHECK(line_of([&] { (void)simulate(apart, x); }) == told);
  const auto outer = orchestration("outer_of_apart", [apart](X a) { return apart(a); });
  CHECK(line_of([&] { (void)simulate(outer, x); }) == told);
  // The third block alone.
  const auto late = kernel("late", params("x"), [](X a) { return slice<Shape<8, 64>>(a, at(block_index() / 2, 0)); });
  const auto three = spmd("three_late", 3, params("x"), [late](X a) { return late(a); });
  CHECK(contains(line_of([&] { (void)simulate(three, x); }), "(blocks 0 and 2)"));
  const auto same = kernel("same_rows", params("x"), [](X a) { return slice<Shape<8, 64>>(a, at(8, 0)); });
  const auto all = spmd("all_same", 3, params("x"), [same](X a) { return same(a); });
  CHECK(line_of([&] { (void)simulate(all, x); }) == "no error");
}
TEST_CASE("one tensor under two names is refused when it is written") {
  const auto layer = orchestration("layer_5", params("x", "n"), [](X x, Index n) {
    Var a = add_one(x), b = add_one(x);
    if_(n == 1, [&] { b = a; });
    top_half(a, b);
    return add_one(b);
  });
  const auto x = random<X>(7);
  CHECK(error_of([&] { (void)simulate(layer, x, 0); }) == "no error");
  CHECK(error_of([&] { (void)simulate(layer, x, 1); }) ==
        "call: one tensor is given for two parameters, and top_half writes it (x, o)");
}
TEST_CASE("named dims of callees have one size") {
  using S = Tensor<Shape<dyn<"S">, 64>, f32>;
  using T = Tensor<Shape<dyn<"T">, 64>, f32>;
  const auto both = kernel("both_1", params("x", "o"), [](S x, Out<S> o) {
    for (Index i : range(dim(x, 0))) store(load<Shape<1, 64>>(x, at(i, 0)), o, at(i, 0));
  });
  const auto layer = orchestration("layer_6", params("x", "o"), [both](T x, Out<T> o) { both(x, o); });
  const auto x = random<X>(8);
  auto o = zeros<X>();
  simulate(layer, x, o);
  CHECK(max_abs_diff(x, o) == 0);
  auto other = zeros<Half>();
  CHECK(error_of([&] { simulate(layer, x, other); }) == "simulate: dim T has two sizes (32, in o 16)");
}
TEST_CASE("a plain parameter that a call writes is written in the array") {
  const auto layer = orchestration("layer_7", params("x", "y"), [](X x, X y) {
    top_half(x, y);
    bottom_half(x, y);
  });
  const auto x = random<X>(9);
  auto y = zeros<X>();
  simulate(layer, x, y);
  CHECK(max_abs_diff(x, y) == 0);
  CHECK(error_of([&] { simulate(layer, x, x); }) == "simulate: one array is given for two parameters, and the kernel writes it (x, y)");
  const auto fixed = random<X>(10);
  CHECK(error_of([&] { simulate(layer, x, fixed); }) == "simulate: the argument cannot be written (y)");
}
TEST_CASE("a lowering that writes something else is found through calls") {
  const auto layer = orchestration("layer_8", [](X x) { return add_one(x); });
  const Program meaning = layer.trace();
  Program lowered = lower(meaning);
  const auto other = kernel("other", params("x"), [](X x) { return x + 2.0f; });
  lowered.functions[0] = lower(other.trace());
  const auto x = random<X>(11);
  CHECK(contains(error_of([&] { (void)simulate_lowered(meaning, lowered, {x}); }),
                 "internal: internal error: simulate: layer_8: the lowered kernel gives another result 0 than its tensor-level meaning"));
}
TEST_CASE("emit_pto gives one module for each kernel that is reached") {
  const auto layer = orchestration("layer_9", [](X x, Out<X> o) {
    blocks_of_4(softmax(softmax(x)), o);
  });
  const std::vector<KernelText> texts = emit_pto(layer, {.arch = Arch::a5});
  REQUIRE(texts.size() == 2);
  CHECK(texts[0].kernel == "softmax");
  CHECK(texts[0].text == emit_pto(softmax, {.arch = Arch::a5}));
  CHECK(texts[1].kernel == "rows_of_block");
}
