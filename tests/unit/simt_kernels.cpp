// Simt kernels: what they record, the text that is written for them, what their threads compute, and what is refused.
#include "support/catch.hpp"
#include "support/ir.hpp"
#include "tessera/emit/pto_mlir.hpp"
#include "tessera/ir/printer.hpp"
#include "tessera/ir/verifier.hpp"
#include "tessera/simulate.hpp"

using namespace tessera;
using tessera::test::contains;
using tessera::test::golden;

namespace {

using X = Tensor<Shape<dyn<"N">>, f32>;
using Indices = Tensor<Shape<dyn<"M">>, i32>;
using Y = Out<Tensor<Shape<dyn<"M">>, f32>>;
using Short = Tensor<Shape<8>, f32>;
using Page = Tensor<Shape<16, 64>, f32>;
using T = Tile<Shape<16, 64>, f32, Vec>;

inline const auto gather_or = simt("gather_or", threads(256), params("x", "i", "y"), [](X x, Indices i, Y y) {
  for (Index k : range(thread_index(), dim(i, 0), thread_count())) {
    auto j = read(i, at(k));
    Var v = -1.0f;
    if_(j >= 0, [&] { v = read(x, at(j)) + 1.0f; });
    write(y, at(k), v);
  }
});
inline const auto histogram = simt("histogram", threads(32, 4), params("x", "h", "n"), [](Tensor<Shape<1024>, u32> x, InOut<Tensor<Shape<4, 4>, u32>> h, Index n) {
  Index first = thread_index() + thread_count() * thread_index<1>();
  for (Index k : range(first, n, thread_count<0>() * thread_count<1>())) {
    auto bin = read(x, at(k)) & 15;
    atomic_add(h, at(bin / 4, bin % 4), 1);
  }
});
inline const auto places = simt("places", threads(2, 3, 2), params("out"), [](Out<Tensor<Shape<2, 3, 2>, i32>> out) {
  auto x = thread_index(), y = thread_index<1>(), z = thread_index<2>();
  write(out, at(z, y, x), cast<i32>(x + 10 * y + 100 * z));
});
inline const auto steps = simt("steps", threads(16), params("x", "out"), [](Tensor<Shape<16>, i32> x, Out<Tensor<Shape<16>, i32>> out) {
  auto t = thread_index();
  Var n = read(x, at(t));
  Var count = cast<i32>(0 * t);
  while_([&] { return n != 1; }, [&] {
    n = select(n % 2 == 0, n / 2, 3 * n + 1);
    count = count + 1;
  });
  write(out, at(t), count);
});
inline const auto reversed_sum = simt("reversed_sum", threads(8), params("x", "out"), [](Short x, Out<Short> out) {
  auto t = thread_index();
  write(out, at(t), read(x, at(7 - t)));
  for (int step = 1; step < 8; step *= 2) {  // unrolled: each round reads what the one before it wrote
    sync_threads();
    Var sum = read(out, at(t));
    if_(t >= step, [&] { sum = sum + read(out, at(t - step)); });
    sync_threads();
    write(out, at(t), sum);
  }
});
inline const auto launcher = kernel("launcher", params("x", "i", "bins", "h", "y", "a"),
  [](X x, Tensor<Shape<64>, i32> i, Tensor<Shape<1024>, u32> bins, InOut<Tensor<Shape<4, 4>, u32>> h, Out<Tensor<Shape<64>, f32>> y, Page a) {
    for (Index k : range(3)) {
      if_(k != 1, [&] { histogram(bins, h, 100 * k + 4); });
    }
    gather_or(x, i, y);
    return exp(a);
  });

template <class F>
Simt<F> user(F f, const Threads& threads, const std::source_location& at) {
  static int count = 0;
  return Simt<F>(threads, "simt_user" + std::to_string(count++), std::move(f), nullptr, at);
}
/// What tracing a simt kernel says, without its name's number.
template <class F>
std::string refusal(F f, const Threads& threads = {{4, 1, 1}}, const std::source_location& at = std::source_location::current()) {
  std::string text;
  try {
    return "no error:\n" + print(user(std::move(f), threads, at).trace());
  } catch (const UserError& e) { text = e.diagnostic().text(true); }
  for (std::size_t name = text.find("simt_user"); name != std::string::npos; name = text.find("simt_user", name + 1))
    while (text.size() > name + 9 && std::isdigit(static_cast<unsigned char>(text[name + 9])) != 0) text.erase(name + 9, 1);
  return text;
}
template <class Run>
std::string thrown(Run run) {
  try {
    run();
  } catch (const UserError& e) { return e.diagnostic().text(true); } catch (const InternalError& e) {
    return e.text();
  }
  return "no error";
}
/// Of a kernel.
template <class F>
std::string kernel_refusal(F f, const std::source_location& at = std::source_location::current()) {
  static int count = 0;
  return thrown([&] { static_cast<void>(lower(Kernel<F>("launching" + std::to_string(count++), std::move(f), nullptr, at).trace(), {.arch = Arch::a5})); });
}
std::string error(int line, const std::string& message, const std::string& hint) {
  return "simt_kernels.cpp:" + std::to_string(line) + ": error: " + message + "\n  hint: " + hint;
}
HostTensor host(DType d, std::vector<std::int64_t> dims, const std::vector<double>& values) {
  HostTensor t(d, std::move(dims));
  for (std::int64_t i = 0; i < t.size(); ++i) t.set(i, values[static_cast<std::size_t>(i) % values.size()]);
  return t;
}
/// Runs a simt kernel of a few threads on eight numbers and a result.
template <class F>
std::string run_fault(F f, const Threads& threads = {{4, 1, 1}}, const std::source_location& at = std::source_location::current()) {
  HostTensor x = host(f32, {8}, {1, 2, 3}), out = host(f32, {8}, {0});
  return thrown([&] { simulate(user(std::move(f), threads, at).trace(), {x, out}); });
}

}  // namespace

TEST_CASE("simt kernels as recorded") {
  CHECK(print(gather_or.trace()) == golden(R"(
simt 256 @gather_or(%x: in f32[N], %i: in i32[M], %y: out f32[M]) {
  %0 = scalar.thread_index() {axis = 0} : index
  %1 = scalar.thread_count() {axis = 0} : index
  for %2 = %0 to M step %1 {
    %3 = tensor.read(%i, %2) : i32
    %4 = scalar.compare(%3, 0:i32) {compare = ge} : boolean
    %5 = if %4 : f32 {
      %6 = scalar.cast(%3) : index
      %7 = tensor.read(%x, %6) : f32
      %8 = scalar.add(%7, 1.0:f32) : f32
      yield %8
    } else {
      yield -1.0:f32
    }
    tensor.write(%y, %5, %2)
    yield
  }
  return
}
)"));
  CHECK(print(histogram.trace()) == golden(R"(
simt 32x4 @histogram(%x: in u32[1024], %h: inout u32[4,4], %n: index) {
  %0 = scalar.thread_index() {axis = 0} : index
  %1 = scalar.thread_count() {axis = 0} : index
  %2 = scalar.thread_index() {axis = 1} : index
  %3 = scalar.mul(%1, %2) : index
  %4 = scalar.add(%0, %3) : index
  %5 = scalar.thread_count() {axis = 0} : index
  %6 = scalar.thread_count() {axis = 1} : index
  %7 = scalar.mul(%5, %6) : index
  for %8 = %4 to %n step %7 {
    %9 = tensor.read(%x, %8) : u32
    %10 = scalar.and(%9, 15:u32) : u32
    %11 = scalar.div(%10, 4:u32) : u32
    %12 = scalar.cast(%11) : index
    %13 = scalar.rem(%10, 4:u32) : u32
    %14 = scalar.cast(%13) : index
    tensor.atomic_add(%h, 1:u32, %12, %14)
    yield
  }
  return
}
)"));
  CHECK(contains(print(places.trace()), "simt 2x3x2 @places(%out: out i32[2,3,2]) {"));
  const std::string text = print(launcher.trace());
  CHECK(contains(text, "simt 32x4 @histogram("));
  CHECK(contains(text, "launch @histogram(%bins, %h, "));
  CHECK(text.find("simt 256 @gather_or(") < text.find("kernel @launcher("));
}

TEST_CASE("a module has the kernel that launches, and the function that threads run") {
  CHECK(emit_pto_mlir(gather_or.trace(), {.arch = Arch::a5, .comments = false}) == golden(R"(
module attributes {pto.target_arch = "a5", pto.backend = "vpto"} {
  func.func @gather_or(%x: !pto.ptr<f32>, %i: !pto.ptr<i32>, %y: !pto.ptr<f32>, %N: index, %M: index) attributes {pto.entry} {
    %c256_i32 = arith.constant 256 : i32
    %c1_i32 = arith.constant 1 : i32
    pto.simt_launch @gather_or_simt<<<%c256_i32, %c1_i32, %c1_i32>>>(%x, %i, %y, %N, %M) : (!pto.ptr<f32>, !pto.ptr<i32>, !pto.ptr<f32>, index, index) -> ()
    pto.barrier <PIPE_ALL>
    return
  }
  func.func @gather_or_simt(%x: !pto.ptr<f32>, %i: !pto.ptr<i32>, %y: !pto.ptr<f32>, %N: index, %M: index) attributes {pto.simt_entry, pto.simt_max_threads = 256 : i32} {
    %c0_i32 = arith.constant 0 : i32
    %cst1 = arith.constant 1.0 : f32
    %cst2 = arith.constant -1.0 : f32
    %0 = pto.get_tid_x : i32
    %1 = arith.index_cast %0 : i32 to index
    %2 = pto.get_block_dim_x : i32
    %3 = arith.index_cast %2 : i32 to index
    scf.for %4 = %1 to %M step %3 {
      %5 = pto.load %i[%4] : !pto.ptr<i32> -> i32
      %6 = arith.cmpi sge, %5, %c0_i32 : i32
      %7 = scf.if %6 -> (f32) {
        %8 = arith.index_cast %5 : i32 to index
        %9 = pto.load %x[%8] : !pto.ptr<f32> -> f32
        %10 = arith.addf %9, %cst1 : f32
        scf.yield %10 : f32
      } else {
        scf.yield %cst2 : f32
      }
      pto.store %7, %y[%4] : !pto.ptr<f32>, f32
    }
    return
  }
}
)"));
  const std::string text = emit_pto(histogram, {.arch = Arch::a5, .level = 3});
  CHECK(contains(text, "func.func @histogram(%x: !pto.ptr<i32>, %h: !pto.ptr<i32>, %n: index) attributes {pto.entry} {"));
  CHECK(contains(text, "pto.simt_launch @histogram_simt<<<%c32_i32, %c4_i32, %c1_i32>>>(%x, %h, %n) : (!pto.ptr<i32>, !pto.ptr<i32>, index) -> ()"));
  CHECK(contains(text, "attributes {pto.simt_entry, pto.simt_max_threads = 128 : i32} {"));
  CHECK(contains(text, " = pto.get_tid_y : i32"));
  CHECK(contains(text, " = pto.get_block_dim_x : i32"));
  CHECK(contains(text, " unsigned : !pto.ptr<i32>, i32 -> i32"));
  CHECK(contains(text, " = arith.divui "));
}

TEST_CASE("a kernel that launches simt kernels holds them") {
  const std::string text = emit_pto(launcher);
  CHECK(contains(text, "module attributes {pto.target_arch = \"a5\", pto.backend = \"vpto\"} {"));
  CHECK(contains(text, " = pto.castptr %bins : !pto.ptr<ui32> -> !pto.ptr<i32>"));
  CHECK(contains(text, "pto.simt_launch @gather_or_simt<<<%c256_i32, %c1_i32, %c1_i32>>>(%x, %i, %y, %N, %c64) : (!pto.ptr<f32>, !pto.ptr<i32>, !pto.ptr<f32>, index, index) -> ()"));
  CHECK(contains(text, "pto.texp"));
  CHECK(contains(text, "func.func @histogram_simt(%x: !pto.ptr<i32>, %h: !pto.ptr<i32>, %n: index) attributes {pto.simt_entry"));
  // What has no tiles is the same behind every pass.
  CHECK(print(lower(gather_or.trace(), {.synchronise = true})) == print(gather_or.trace()));
}

TEST_CASE("threads compute, each for itself") {
  HostTensor x = host(f32, {4}, {10, 20, 30, 40}), i = host(i32, {300}, {3, -1, 0, 2, -7}), y(f32, {300});
  simulate(gather_or.trace(), {x, i, y});
  for (std::int64_t k = 0; k < 300; ++k) CHECK(y.get(k) == std::vector<double>{41, -1, 11, 31, -1}[static_cast<std::size_t>(k % 5)]);

  HostTensor eight = host(f32, {8}, {1, 2, 3, 4, 5, 6, 7, 8}), sums(f32, {8});
  simulate(reversed_sum.trace(), {eight, sums});
  CHECK(sums.values() == std::vector<double>{8, 15, 21, 26, 30, 33, 35, 36});
  CHECK(contains(emit_pto(reversed_sum), "    pto.syncthreads  // simt_kernels.cpp:"));

  HostTensor out(i32, {2, 3, 2});
  simulate(places.trace(), {out});
  CHECK(out.values() == std::vector<double>{0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121});

  HostTensor numbers = host(i32, {16}, {1, 2, 3, 6, 7, 27}), counts(i32, {16});
  simulate(steps.trace(), {numbers, counts});
  for (std::int64_t k = 0; k < 16; ++k) CHECK(counts.get(k) == std::vector<double>{0, 1, 7, 8, 16, 111}[static_cast<std::size_t>(k % 6)]);

  HostTensor bins = host(u32, {1024}, {0, 5, 15, 16, 5}), h = host(u32, {4, 4}, {7});
  Statistics done;
  SimulateOptions options;
  const SimulationResult run = simulate(histogram.trace(), {bins, h, 1000}, options);
  CHECK(h.integer(0) == 407);
  CHECK(h.integer(5) == 407);
  CHECK(h.integer(15) == 207);
  CHECK(h.integer(1) == 7);
  CHECK(run.statistics.count(ops::atomic_add) == 1000);
  CHECK(run.statistics.gm_bytes_written == 4000);
}

TEST_CASE("typed arrays, and every level") {
  auto x = random<Tensor<Shape<40>, f32>>(1);
  auto i = from_values<Tensor<Shape<5>, i32>>({0, 39, -1, 7, 7});
  auto y = zeros<Tensor<Shape<5>, f32>>();
  simulate(gather_or, x, i, y);
  CHECK(y(1) == x(39) + 1.0f);
  CHECK(y(2) == -1.0f);
  simulate_every_level(gather_or.trace(), {x, i, y});
}

TEST_CASE("a kernel launches simt kernels: numbers at every level") {
  HostTensor x = host(f32, {4}, {10, 20, 30, 40}), i = host(i32, {64}, {3, -1}), bins = host(u32, {1024}, {0, 5}), h = host(u32, {4, 4}, {0}), y(f32, {64}),
             a = host(f32, {16, 64}, {0, 1});
  const Function recorded = launcher.trace();
  simulate_every_level(recorded, {x, i, bins, h, y, a});
  const Function lowered = lower(recorded, {.synchronise = true});
  simulate_lowered(recorded, lowered, {x, i, bins, h, y, a});
  CHECK(h.integer(0) == 2 + 102);
  CHECK(h.integer(5) == 2 + 102);
  CHECK(y.get(0) == 41);
  CHECK(y.get(1) == -1);
}

namespace {
inline const auto on_blocks = simt("on_blocks", threads(8), params("x", "out"), [](Short x, Out<Tensor<Shape<32>, f32>> out) {
  write(out, at(block_index() * 8 + thread_index()), read(x, at(thread_index())) + cast<f32>(block_count()));
});
inline const auto in_four = spmd("in_four", 4, params("x", "out"), [](Short x, Out<Tensor<Shape<32>, f32>> out) { on_blocks(x, out); });
inline const auto all_blocks_write = simt("all_blocks_write", threads(8), params("x", "out"), [](Short x, Out<Tensor<Shape<32>, f32>> out) {
  write(out, at(thread_index()), read(x, at(thread_index())) + cast<f32>(block_index()));
});
inline const auto colliding = spmd("colliding", 2, params("x", "out"), [](Short x, Out<Tensor<Shape<32>, f32>> out) { all_blocks_write(x, out); });
inline const auto twice_in_four = orchestration("twice_in_four", params("x", "out"), [](Short x, Out<Tensor<Shape<32>, f32>> out) {
  in_four(x, out);
  in_four(x, out);
});
}  // namespace

TEST_CASE("functions on the host call simt kernels, in blocks too") {
  HostTensor x = host(f32, {8}, {0, 1, 2, 3, 4, 5, 6, 7}), out(f32, {32});
  simulate(twice_in_four.trace(), {x, out});
  for (std::int64_t k = 0; k < 32; ++k) CHECK(out.get(k) == static_cast<double>(k % 8 + 4));
  simulate_every_level(twice_in_four.trace(), {x, out});
  CHECK(contains(thrown([&] { simulate(colliding.trace(), {x, out}); }),
                 "write: two blocks of the launch write different numbers to one element (blocks 0, 1, element [0])\n"
                 "  hint: let each block write elements of its own, or add with atomic_add(...)"));
  const std::vector<KernelText> texts = emit_pto(twice_in_four);
  REQUIRE(texts.size() == 1);
  CHECK(texts[0].kernel == "on_blocks");
  CHECK(contains(texts[0].text, " = pto.get_block_idx"));
}

TEST_CASE("what threads do to each other's elements, and out of bounds, is found") {
  const int line = __LINE__;
  CHECK(run_fault([](Short x, Out<Short> out) { write(out, at(0), read(x, at(thread_index()))); }) ==
        error(line + 1, "write: two threads of the launch write different numbers to one element (threads 0, 1, element [0])",
              "let each thread write elements of its own, or add with atomic_add(...)"));
  CHECK(run_fault([](Short x, Out<Short> out) { write(out, at(0), read(x, at(0))); }) == "no error");  // the same number
  CHECK(run_fault([](Short x, InOut<Short> out) { write(out, at(thread_index()), read(out, at(thread_index() + 1)) + read(x, at(0))); }) ==
        error(line + 5, "write: another thread of the launch reads the element that is written (threads 0, 1, element [1])",
              "threads run side by side: read in one launch, and write in the next"));
  CHECK(run_fault([](Short x, InOut<Short> out) { write(out, at(thread_index() + 1), read(x, at(0)) + read(out, at(thread_index()))); }) ==
        error(line + 8, "read: another thread of the launch writes the element that is read (threads 0, 1, element [1])",
              "threads run side by side: write in one launch, and read in the next"));
  CHECK(run_fault([](Short x, InOut<Short> out) { if_(thread_index() < 2, [&] { atomic_add(out, at(0), read(x, at(0))); }, [&] { write(out, at(0), 1.0f); }); }) ==
        error(line + 11, "write: another thread of the launch adds to the element that is written (threads 0, 2, element [0])",
              "threads run side by side: write in one launch, and add in the next"));
  CHECK(run_fault([](Short x, Out<Short> out) { write(out, at(thread_index()), read(x, at(thread_index() * 3))); }) ==
        error(line + 14, "read: an index is out of bounds (axis 0: index 9, dim 8, thread 3)", "indices lie in [0, dim)"));
  CHECK(run_fault([](Short x, Out<Short> out) { atomic_add(out, at(0), read(x, at(0))); }) ==
        error(line + 16, "atomic_add: a thread adds to an element that holds nothing (element [0] of [8])",
              "declare the tensor InOut, or write to it in a launch before"));
}

TEST_CASE("what a thread cannot do is refused at its line") {
  const std::string numbers = "read(x, at(i)) elements, compute, and write(out, at(i), y) them; or make it a kernel(...)";
  int line = __LINE__ + 1;
  CHECK(refusal([](Page x, Out<Page> y) { y = exp(x); }) == error(line, "exp: a thread computes on numbers, not on tensors or tiles (simt simt_user)", numbers));
  CHECK(refusal([](Page x, Out<Page> y) { store(load<Shape<16, 64>>(x, at(0, 0)), y, at(0, 0)); }) ==
        error(line + 1, "load: a thread computes on numbers, not on tensors or tiles (simt simt_user)", numbers));
  CHECK(refusal([](Page x, InOut<Page> y) { write(y, at(0, 0), read(row_max(x), at(0, 0))); }) ==
        error(line + 3, "row_max: a thread computes on numbers, not on tensors or tiles (simt simt_user)", numbers));
  CHECK(refusal([](Out<Page> y) { write(y, at(subblock_index(), 0), 1.0f); }) ==
        error(line + 5, "subblock_index: threads do not know it (simt simt_user)", "call it in a kernel"));
  CHECK(refusal([](X x, Indices i, Y y) { gather_or(x, i, y); }) ==
        error(line + 7, "call: a simt kernel calls a function (gather_or)", "a thread computes on its own: write the other's body out, or launch both"));
  CHECK(refusal([](Out<Page> y) { for (Index i : range(4).pipelined(2)) write(y, at(i, 0), 1.0f); }) ==
        error(line + 9, "range: only loops of kernels are pipelined (simt simt_user)", "leave out pipelined(...): threads have no buffers"));
  CHECK(refusal([](Out<Page> y) { for (Index i : range(4)) { write(y, at(i, 0), 1.0f); sync_threads(); } }) ==
        error(line + 11, "sync_threads: it stands in a loop or a branch", "all threads have to come to it as often: write it outside; a for loop of C++ writes it several times"));
  CHECK(contains(refusal([](Page x, Out<Page> y) { static_cast<void>(read(x, at(0, 0))); static_cast<void>(y); }), "kernel: an output is never written (arg1)"));
}

TEST_CASE("extents of threads that a launch cannot have") {
  const auto one = [](Out<Short> y) { write(y, at(0), 1.0f); };
  const std::string axis = "simt: an extent of its threads is not positive (axis, extent)";
  CHECK(contains(refusal(one, {{0, 1, 1}}), axis + " (0, 0)\n  hint: run it in one thread at least"));
  CHECK(contains(refusal(one, {{4, 4, -1}}), axis + " (2, -1)"));
  CHECK(contains(refusal(one, {{2048, 2, 1}}), "simt: there are more threads than a launch has (threads, most) (4096, 2048)\n"
                                               "  hint: let each thread take every thread_count()-th element in a loop"));
  CHECK(contains(refusal(one, {{1 << 30, 1 << 30, 1 << 30}}), "more threads than a launch has"));
  CHECK(contains(refusal(one, {{2, 32, 32}}), "no error"));
}

namespace {
inline const auto launching_op = tileop("launching_op", [](T t, X x, Indices i, Y y) {
  gather_or(x, i, y);
  return t + 1.0f;
});
inline const auto add_up = simt("add_up", threads(8), params("x", "y", "sum"), [](Short x, Short y, InOut<Short> sum) {
  write(sum, at(thread_index()), read(x, at(thread_index())) + read(y, at(thread_index())));
});
}  // namespace

TEST_CASE("what only threads do, and what a launch cannot be given, is refused") {
  int line = __LINE__ + 1;
  CHECK(contains(kernel_refusal([](Out<Page> y) { write(y, at(thread_index(), 0), 1.0f); }),
                 "simt_kernels.cpp:" + std::to_string(line) + ": error: thread_index: only simt kernels run in threads (kernel launching"));
  CHECK(contains(kernel_refusal([](InOut<Short> y) { atomic_add(y, at(0), 1.0f); }), "atomic_add: only simt kernels run in threads (kernel launching"));
  CHECK(contains(kernel_refusal([] { sync_threads(); }), "sync_threads: only simt kernels run in threads (kernel launching"));
  line = __LINE__ + 1;  // of the next case
  CHECK(kernel_refusal([](Short x, InOut<Short> y) { add_up(exp(x), x, y); }) ==
        error(line, "call: the argument is a computed tensor, which has no memory (position) (0)", "pass a Tensor, Out or InOut parameter, or give the tile operation a Tile parameter"));
  CHECK(contains(kernel_refusal([](Short x, Short y) { add_up(x, x, y); }),
                 "simt_kernels.cpp:" + std::to_string(line + 2) + ": error: launch: the tensor is neither an Out nor an InOut parameter of a kernel"));
  CHECK(kernel_refusal([](Short x, InOut<Short> y) { add_up(x, y, y); }) ==
        error(line + 4, "call: one tensor is given for two parameters, and add_up writes it (y, sum)", "parameters do not overlap: pass another buffer, or make it one InOut parameter"));
  CHECK(kernel_refusal([](Short x, InOut<Short> y) { add_up(x, x, y); write(y, at(0), 1.0f); }) ==
        error(line + 6, "write: the kernel launches threads that use the tensor, and they may not see what is written here (arg1)",
              "write it in a launch, or in a kernel of its own that runs before"));
  CHECK(kernel_refusal([](Short x, InOut<Short> y, InOut<Short> z) { y = exp(x); add_up(x, y, z); }) ==
        error(line + 9, "store: the kernel launches threads that use the tensor, and they may not see what is written here (arg1)",
              "write it in a launch, or in a kernel of its own that runs before"));
  CHECK(kernel_refusal([](Short x, InOut<Short> y, Out<Short> z) { add_up(x, x, y); z = exp(y); }) ==
        error(line + 12, "exp: the kernel launches threads that write the tensor, and what they write may not be seen here (arg1)",
              "read it in a launch, or in a kernel of its own that runs behind"));
  CHECK(kernel_refusal([](Short x, InOut<Short> y, Out<Short> z) { add_up(x, x, y); z = exp(x); }) == "no error");
  CHECK(kernel_refusal([](Tensor<Shape<2, 4>, f32> x, Short y, InOut<Short> z) { add_up(view<Shape<8>>(x), y, z); }) == "no error");
}

namespace {
inline const auto calls_launching_op = kernel("calls_launching_op", [](X x, Indices i, Y y, Page a) { return launching_op(a, x, i, y); });
inline const auto gather_or_simt = kernel("gather_or_simt", [](X x, Indices i, Y y) { gather_or(x, i, y); });
}  // namespace

TEST_CASE("targets, assemblers and forms that have no simt kernels refuse them by name") {
  const std::string at = std::string(short_file(gather_or.location())) + ":" + std::to_string(gather_or.location().line) + ": error: ";
  const std::string hint = "\n  hint: emit and run it for a5: --arch a5, ARCH a5 in CMake, or .arch = Arch::a5";
  CHECK(thrown([] { static_cast<void>(emit_pto(gather_or, {.arch = Arch::a3})); }) == at + "simt: a3 has no simt kernels (gather_or)" + hint);
  CHECK(contains(thrown([] { static_cast<void>(emit_pto(launcher, {.arch = Arch::a3})); }), "error: launch: a3 has no simt kernels (histogram)" + hint));
  CHECK(contains(thrown([] { static_cast<void>(emit_pto(twice_in_four, {.arch = Arch::a3})); }), "simt: a3 has no simt kernels (on_blocks)" + hint));
  CHECK(thrown([] { static_cast<void>(emit_pto(gather_or, {.assembler = Assembler::v0_27})); }) ==
        at + "simt: assembler 0.27 has no simt kernels (gather_or)\n  hint: emit for assembler 0.60");
  CHECK(contains(thrown([] { static_cast<void>(emit_pto(launcher, {.assembler = Assembler::v0_27})); }), "launch: assembler 0.27 has no simt kernels (histogram)"));
  CHECK(thrown([] { static_cast<void>(emit_cpp(gather_or)); }) == at + "simt: simt kernels have no C++ (gather_or)\n  hint: emit the .pto text: --emit pto, or emit_pto(...)");
  CHECK(contains(thrown([] { static_cast<void>(emit_cpp(launcher)); }), "launch: simt kernels have no C++ (histogram)"));
  CHECK(contains(thrown([] { static_cast<void>(calls_launching_op.trace()); }), "launch: only kernels launch simt kernels (tileop launching_op calls gather_or)\n"
                                                                             "  hint: launch it in the kernel that calls the tile operation"));
  CHECK(contains(thrown([] { static_cast<void>(emit_pto(gather_or_simt)); }), "emit: the kernel has the name of what the threads of another one run (gather_or_simt)"));
}

TEST_CASE("the verifier keeps operations of threads and of tiles apart") {
  Function f = gather_or.trace();
  f.kind = FunctionKind::kernel;
  CHECK(contains(thrown([&] { verify(f); }), "the operation runs in threads only"));
  Function k = launcher.trace();
  k.kind = FunctionKind::simt;
  CHECK(contains(thrown([&] { verify(k); }), "the operation does not run in threads"));
  k.kind = FunctionKind::kernel;
  k.launched.pop_back();
  CHECK(contains(thrown([&] { verify(k); }), "the kernel does not hold the simt kernel that it launches"));
}
