// What goes wrong with on-chip memory in compilers of tile kernels, as programs: each case is one kind of fault that is not to be
// possible. First capacity and allocation, then data that is lost where storage is reused.
#include <thread>

#include "support/declared.hpp"

#include <tessera/emit/pto_mlir.hpp>
#include <tessera/passes/pipeline.hpp>

using namespace tessera;
using namespace tessera::test;

namespace {

using Tile8 = Tensor<Shape<8, 64>, f32>;
using Square = Tensor<Shape<64, 64>, f32>;

// One [64,N] tile of f32.
template <int N>
Function one_tile() {
  return traced([](Tensor<Shape<64, N>, f32> x, Out<Tensor<Shape<64, N>, f32>> out) {
    auto t = load<Shape<64, N>>(x, at(0, 0));
    store(t, out, at(0, 0));
  });
}
std::string planned_or_refused(const Function& f, Arch arch, bool pipelining = false) {
  try {
    static_cast<void>(planned(f, arch, pipelining));
    return "fits";
  } catch (const UserError& e) { return e.diagnostic().message; }
}
// Runs a kernel at every level and with flags, on both targets, tightly packed and with room taken.
void same_everywhere(const Function& f, const std::vector<Argument>& arguments) {
  for (const Arch arch : {Arch::a3, Arch::a5})
    for (const bool pipelining : {false, true}) same_numbers(f, arguments, arch, pipelining);
  simulate_every_level(f, arguments);
}
bool share_bytes(const Function& f, std::string_view a, std::string_view b) {
  const auto range = [&](std::string_view n) {
    for (std::uint32_t v = 0; v < f.value_count(); ++v)
      if (f.type({v}).is_tile() && std::string_view(f.name_of({v})) == n) return byte_range(f, {v});
    FAIL("no tile " << n << "\n" << print(f));
    return ByteRange{};
  };
  return range(a).overlaps(range(b));
}

}  // namespace

// --- capacity and allocation ---

TEST_CASE("what is live at the same time counts, and the largest tiles are named with bytes and lines") {
  const int line = __LINE__ + 1;
  const auto sum = [](Tensor<Shape<16, 2000>, f32> x, Tensor<Shape<16, 2000>, f32> y, Out<Tensor<Shape<16, 2000>, f32>> out) {
    auto a = load<Shape<16, 2000>>(x, at(0, 0));
    auto b = load<Shape<16, 2000>>(y, at(0, 0));
    store(a + b, out, at(0, 0));
  };
  CHECK(refused(line, sum) == "2: plan_memory: Vec needs 256000 bytes, a3 has 188416 (2 tiles at load) | make tiles smaller, or compute them in a loop; needed at the "
                              "same time, in bytes: a (line 1) 128000, b (line 2) 128000");
  CHECK(contains(refused(line, sum, Arch::a5), "2: plan_memory: Vec needs 256000 bytes, a5 has 245760 (2 tiles at load)"));
  // A tile that is too large alone is refused where it is made: 48000 elements.
  const std::string alone = refused(__LINE__, [](Tensor<Shape<16, 3000>, f32> x, Out<Tensor<Shape<16, 3000>, f32>> out) {
    auto t = load<Shape<16, 3000>>(x, at(0, 0));
    store(t, out, at(0, 0));
  });
  INFO(alone);
  CHECK(contains(alone, "1: load: "));
  CHECK(contains(alone, "192000"));
  CHECK(contains(alone, "188416"));
}

namespace {
// Beside a tile of [64,N] one of 32 bytes.
template <int N>
Function one_block_more() {
  return traced([](Tensor<Shape<64, N>, f32> x, Tensor<Shape<1, 8>, f32> y, Out<Tensor<Shape<64, N>, f32>> out, Out<Tensor<Shape<1, 8>, f32>> copy) {
    auto t = load<Shape<64, N>>(x, at(0, 0));
    auto b = load<Shape<1, 8>>(y, at(0, 0));
    store(t, out, at(0, 0));
    store(b, copy, at(0, 0));
  });
}
}  // namespace

TEST_CASE("the top of Vec that hardware corrupts is no room") {
  CHECK(capacity(Vec, Arch::a3) == 184 * 1024);
  CHECK(capacity(Vec, Arch::a5) == 240 * 1024);
  CHECK(planned_or_refused(one_tile<736>(), Arch::a3) == "fits");  // 188416 bytes
  CHECK(contains(planned_or_refused(one_block_more<736>(), Arch::a3), "Vec needs 188448 bytes, a3 has 188416"));
  CHECK(contains(planned_or_refused(one_tile<752>(), Arch::a3), "192512"));
  CHECK(contains(planned_or_refused(one_tile<752>(), Arch::a3), "188416"));
  CHECK(planned_or_refused(one_tile<752>(), Arch::a5) == "fits");
  CHECK(planned_or_refused(one_tile<960>(), Arch::a5) == "fits");  // 245760 bytes
  CHECK(contains(planned_or_refused(one_block_more<960>(), Arch::a5), "Vec needs 245792 bytes, a5 has 245760"));
}

namespace {
// A row reduction and a row beside it. The tile, its scratch and the column of results take 2 * 92160 + 256 = 184576 bytes; what is
// left of 188416 are 3840, a row of 960 elements.
template <int N>
Function with_scratch() {
  return traced([](Tensor<Shape<64, 360>, f32> x, Tensor<Shape<1, N>, f32> y, Out<Tensor<Shape<64, 1>, f32>> out, Out<Tensor<Shape<1, N>, f32>> copy) {
    auto r = load<Shape<1, N>>(y, at(0, 0));
    auto t = load<Shape<64, 360>>(x, at(0, 0));
    store(row_sum(t), out, at(0, 0));
    store(r, copy, at(0, 0));
  });
}
}  // namespace

TEST_CASE("a block below, at and above the limit, with scratch counted, many times in one process") {
  const Function below = with_scratch<952>(), exact = with_scratch<960>(), above = with_scratch<968>();
  for (int i = 0; i < 10; ++i) {
    CHECK(peak_of(planned(below), Vec) == 188416 - 32);
    CHECK(peak_of(planned(exact), Vec) == 188416);
    CHECK(contains(planned_or_refused(above, Arch::a3), "plan_memory: Vec needs 188448 bytes, a3 has 188416"));
    CHECK(planned_or_refused(above, Arch::a5) == "fits");
  }
}

TEST_CASE("no instruction takes memory of its own: scratch is a tile of the plan") {
  const Function recorded = traced([](Tensor<Shape<1, 8192>, f32> x, Out<Tensor<Shape<1, 1>, f32>> out) {
    auto t = load<Shape<1, 8192>>(x, at(0, 0));
    store(row_sum(t), out, at(0, 0));
  });
  const Function f = planned(recorded);
  INFO(print(f));
  CHECK(peak_of(f, Vec) == 2 * 32768 + 32);
  const OpId sum = find_op(f, ops::row_sum);
  REQUIRE(f.operand_count(sum) == scratch_operand(ops::row_sum) + 1);
  const ValueId scratch = f.operand(sum, scratch_operand(ops::row_sum));
  CHECK_FALSE(byte_range(f, scratch).overlaps(byte_range(f, f.operand(sum, 0))));
  CHECK_FALSE(byte_range(f, scratch).overlaps(byte_range(f, f.result(sum))));
  const HostTensor x = numbers({1, 8192});
  HostTensor out(f32, {1, 1});
  same_everywhere(recorded, {x, out});
}

TEST_CASE("a tile larger than Left is refused, also when nothing but storage is asked for") {
  const int line = __LINE__ + 1;
  const auto left = [](Tensor<Shape<256, 16>, f16> x, Out<Tensor<Shape<256, 16>, f32>> out) {
    auto l = tile<Shape<256, 256>, f16, Left>();  // 128 KiB
    auto r = move<Right>(load<Shape<256, 16>, Mat>(x, at(0, 0)));
    store(matmul(l, r), out, at(0, 0));
  };
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    const std::string message = refused(line, left, arch);
    INFO(message);
    CHECK(message.substr(0, 11) == "1: create: ");
    CHECK(contains(message, "131072"));
    CHECK(contains(message, "65536"));
  }
}

TEST_CASE("a loop that is unrolled needs what the loop does") {
  const auto sum = [](bool unrolled) {
    return traced([=](Tensor<Shape<1024, 64>, f32> x, Out<Square> out) {
      Var acc = load<Shape<64, 64>>(x, at(0, 0));
      const auto turn = [&](Index i) { acc = acc + load<Shape<64, 64>>(x, at(i, 0)); };
      if (unrolled) for (int i = 1; i < 16; ++i) turn(i * 64);
      else for (Index i : range(64, 1024, 64)) turn(i);
      store(acc, out, at(0, 0));
    });
  };
  CHECK(peak_of(planned(sum(false)), Vec) == 32768);
  CHECK(peak_of(planned(sum(true)), Vec) == 32768);
  // Where there is room, turns have buffers of their own, and no more than there is.
  CHECK(peak_of(planned(sum(false), Arch::a3, true), Vec) <= capacity(Vec, Arch::a3));
  CHECK(peak_of(planned(sum(true), Arch::a3, true), Vec) <= capacity(Vec, Arch::a3));
}

TEST_CASE("reserved bytes are taken first, and the message names them") {
  const int line = __LINE__ + 2;
  const auto reserves = [](std::int64_t bytes) {
    return [=](Tensor<Shape<64, 64>, f16> x, Tensor<Shape<64, 64>, f16> y, Out<Square> out) {
      reserve<Mat>("ring", bytes);
      auto l = move<Left>(load<Shape<64, 64>, Mat>(x, at(0, 0)));
      store(matmul(l, move<Right>(load<Shape<64, 64>, Mat>(y, at(0, 0)))), out, at(0, 0));
    };
  };
  const std::string message = refused(line, reserves(512 * 1024));
  CHECK(contains(message, "plan_memory: Mat needs 532480 bytes, a3 has 524288"));
  CHECK(contains(message, "524288 bytes are reserved"));
  CHECK(contains(message, "reserved: ring (line 1) 524288"));
  CHECK(planned_or_refused(traced(reserves(512 * 1024 - 8192)), Arch::a3) == "fits");
  // The author's own addresses, with a check.
  const auto placed = [](std::int64_t second) {
    return [=](Square x, Out<Square> out) {
      auto a = place(load<Shape<64, 64>>(x, at(0, 0)), buffer<Vec>("first", at_address(0)));
      auto b = place(load<Shape<64, 64>>(x, at(0, 0)), buffer<Vec>("second", at_address(second)));
      store(a + b, out, at(0, 0));
    };
  };
  CHECK(addresses(planned(traced(placed(16384))), {"a", "b"}) == "a 0, b 16384");
  CHECK(contains(refused(0, placed(16352)), "place: a tile takes bytes of one that is still needed"));
}

TEST_CASE("equal kernels have equal plans, whoever compiles them; tiles that overlap while both are live are refused") {
  const auto text = [] {
    const Function f = traced([](Square x, Out<Square> out) {
      auto a = load<Shape<64, 64>>(x, at(0, 0));
      auto b = exp(a);
      auto c = transpose(b);
      auto d = c + b;
      auto e = recip(d);
      auto g = e * a;
      store(g, out, at(0, 0));
    });
    Function named = f;
    named.name = "chain";
    named = planned(std::move(named), Arch::a3, true);
    return print(named) + memory_map(named) + emit_pto_mlir(named, {.level = 3});
  };
  const std::string first = text();
  for (int i = 0; i < 50; ++i) REQUIRE(text() == first);
  std::string elsewhere[2];
  std::thread threads[2];
  for (int i = 0; i < 2; ++i) threads[i] = std::thread([&, i] { elsewhere[i] = text(); });
  for (std::thread& t : threads) t.join();
  for (const std::string& t : elsewhere) CHECK(t == first);

  Function wrong = planned(traced([](Square x, Out<Square> out) {
    auto a = load<Shape<64, 64>>(x, at(0, 0));
    auto b = load<Shape<64, 64>>(x, at(0, 0));
    store(a + b, out, at(0, 0));
  }));
  wrong[ValueId{wrong[wrong.result(find_op(wrong, ops::load, 1))].buffer}].address = 8192;
  CHECK(address_fault(wrong));
  std::string said = refused(__LINE__, [](Square x, Out<Square> out) {
    auto ring = buffer<Vec, 2>("ring");
    auto a = place(load<Shape<64, 64>>(x, at(0, 0)), ring[0]);
    auto b = place(load<Shape<64, 64>>(x, at(0, 0)), ring[0]);
    store(a + b, out, at(0, 0));
  });
  CHECK(contains(said, "3: place: a tile takes the place of one that is still needed (ring[0]: a, line 2; b, line 3)"));
}

// --- storage that is reused ---

TEST_CASE("an index that every turn of a loop reads is kept until the loop ends") {
  const Function f = traced([](Tensor<Shape<64, 64>, f32> x, Tensor<Shape<8, 64>, f32> i, Index n, Out<Tile8> out) {
    auto index = load<Shape<8, 64>>(i, at(0, 0));
    Var merged = full<Shape<8, 64>, f32, Vec>(0.0f);
    for (Index s : range(n)) {
      auto c = maximum(load<Shape<8, 64>>(x, at(s * 8, 0)), index);
      auto half = c * 0.5f;
      merged = merged * 0.25f + (half - c);
    }
    store(merged, out, at(0, 0));
  });
  const HostTensor x = numbers({64, 64}), index = numbers({8, 64});
  for (const std::int64_t n : {0, 1, 2, 4, 8}) {
    HostTensor out(f32, {8, 64});
    same_everywhere(f, {x, index, Argument(n), out});
  }
  const Function p = planned(f);
  for (const char* other : {"c", "half", "merged"}) CHECK_FALSE(share_bytes(p, "index", other));
}

TEST_CASE("two carried tiles that change places have storage of their own") {
  const Function f = traced([](Tensor<Shape<16, 64>, f32> x, Index n, Out<Tensor<Shape<16, 64>, f32>> out) {
    Var a = load<Shape<8, 64>>(x, at(0, 0));
    Var b = load<Shape<8, 64>>(x, at(8, 0));
    for (Index i : range(n)) {
      static_cast<void>(i);
      auto t = a * 1.0f;
      a = b;
      b = t;
    }
    store(a, out, at(0, 0));
    store(b, out, at(8, 0));
  });
  const HostTensor x = numbers({16, 64});
  for (const std::int64_t n : {0, 1, 2, 3}) {
    HostTensor out(f32, {16, 64});
    same_everywhere(f, {x, Argument(n), out});
    CHECK(out.get(0) == x.get(n % 2 == 0 ? 0 : 8 * 64));
  }
  // What is yielded is another carried tile itself.
  const Function directly = traced([](Tensor<Shape<16, 64>, f32> x2, Index n, Out<Tensor<Shape<16, 64>, f32>> out) {
    Var a = load<Shape<8, 64>>(x2, at(0, 0));
    Var b = load<Shape<8, 64>>(x2, at(8, 0));
    for (Index i : range(n)) {
      static_cast<void>(i);
      Var old = a;
      a = b;
      b = old;
    }
    store(a, out, at(0, 0));
    store(b, out, at(8, 0));
  });
  HostTensor out(f32, {16, 64});
  same_everywhere(directly, {x, Argument(std::int64_t{3}), out});
}

namespace {
// A carried tile is read by `use` in front of its next content.
template <class Use>
void carried_by(Use use) {
  const Function f = traced([=](Tile8 x, Index n, Out<Tile8> out) {
    Var t = load<Shape<8, 64>>(x, at(0, 0));
    Var sum = full<Shape<8, 64>, f32, Vec>(0.0f);
    for (Index i : range(n)) {
      static_cast<void>(i);
      auto u = use(t);
      t = t * 0.5f + 1.0f;
      sum = sum + u;
    }
    store(sum, out, at(0, 0));
  });
  const HostTensor x = numbers({8, 64});
  for (const std::int64_t n : {1, 3}) {
    HostTensor out(f32, {8, 64});
    same_everywhere(f, {x, Argument(n), out});
  }
}
}  // namespace

TEST_CASE("a carried tile is read by every kind of operation") {
  carried_by([](auto& t) { return exp(t); });
  carried_by([](auto& t) { return t + t; });
  carried_by([](auto& t) { return t - row_max(t); });
  carried_by([](auto& t) { return t * col_sum(t); });
  carried_by([](auto& t) { return assemble(t, slice<Shape<4, 64>>(t, at(4, 0)), at(0, 0)); });
  carried_by([](auto& t) { return reshape<Shape<8, 64>>(exp(reshape<Shape<4, 128>>(t))); });
  carried_by([](auto& t) { return reshape<Shape<8, 64>>(transpose(t)); });
  carried_by([](auto& t) { return cast<f32>(cast<f16>(t)); });
  carried_by([](auto& t) { return select(t > 0.0f, t, neg(t)); });
  carried_by([](auto& t) { return t + read(t, at(1, 3)); });
  carried_by([](auto& t) { return write(t, at(2, 5), 7.0f); });
  carried_by([](auto& t) { return fillpad(set_valid_shape(t, valid(4, 64)), Pad::zero); });
  carried_by([](auto& t) { return slice<Shape<8, 64>>(concat(t, t), at(0, 64)); });
  carried_by([](auto& t) { return move<Vec>(t); });
}

TEST_CASE("both sides of a branch write what is read behind it, in loops and for columns, too") {
  const Function f = traced([](Tile8 x, Index n, Out<Tile8> out, Out<Tensor<Shape<8, 1>, f32>> column) {
    auto a = load<Shape<8, 64>>(x, at(0, 0));
    Var r = a;
    Var m = row_max(a);
    if_(n > 1, [&] { r = a * a; m = row_sum(a); }, [&] { r = a + a; m = row_min(a); });
    for (Index i : range(n)) {
      if_(i == 1, [&] { r = r * 2.0f; }, [&] { r = r - m; });
      if_(i > 1, [&] { m = m + 1.0f; });
      auto noise = load<Shape<8, 64>>(x, at(i * 0, 0));
      store(noise, out, at(0, 0));
    }
    store(r, out, at(0, 0));
    store(m, column, at(0, 0));
  });
  const HostTensor x = numbers({8, 64});
  for (const std::int64_t n : {0, 1, 2, 4}) {
    HostTensor out(f32, {8, 64}), column(f32, {8, 1});
    same_everywhere(f, {x, Argument(n), out, column});
  }
}

namespace {
template <int M, int N>
void apart_in_place() {
  INFO(M << " x " << N);
  const Function f = traced([](Tensor<Shape<M, N>, f32> x, Out<Tensor<Shape<N, M>, f32>> turned, Out<Tensor<Shape<M, 2 * N>, f32>> joined, Out<Tensor<Shape<M, N>, f32>> moved,
                               Out<Tensor<Shape<M / 2, N>, f32>> part) {
    auto t = load<Shape<M, N>>(x, at(0, 0));
    auto u = transpose(t);
    store(u, turned, at(0, 0));
    auto p = load<Shape<M, N>>(x, at(0, 0));
    auto q = load<Shape<M, N>>(x, at(0, 0));
    auto c = concat(p, q);
    store(c, joined, at(0, 0));
    auto v = load<Shape<M, N>>(x, at(0, 0));
    auto w = move<Vec>(v);
    store(w, moved, at(0, 0));
    auto s = load<Shape<M, N>>(x, at(0, 0));
    auto h = exp(slice<Shape<M / 2, N>>(s, at(M / 2, 0)));
    store(h, part, at(0, 0));
  });
  const Function p = planned(f);
  CHECK_FALSE(share_bytes(p, "t", "u"));
  CHECK_FALSE(share_bytes(p, "p", "c"));
  CHECK_FALSE(share_bytes(p, "q", "c"));
  CHECK_FALSE(share_bytes(p, "v", "w"));
  CHECK_FALSE(share_bytes(p, "s", "h"));
  const HostTensor x = numbers({M, N});
  HostTensor turned(f32, {N, M}), joined(f32, {M, 2 * N}), moved(f32, {M, N}), part(f32, {M / 2, N});
  same_everywhere(f, {x, turned, joined, moved, part});
}
}  // namespace

TEST_CASE("instructions that need storage of their own do not run in place") {
  for (const OpInfo* op : {&ops::transpose, &ops::concat, &ops::move, &ops::assemble, &ops::recip}) {
    INFO(op->name);
    CHECK_FALSE(op->may_alias);
  }
  apart_in_place<8, 8>();
  apart_in_place<24, 24>();
  apart_in_place<16, 8>();
}

TEST_CASE("tiles of different names at one address are ordered by their bytes") {
  const Function f = traced([](Square x, Out<Square> out, Out<Square> twice) {
    auto ping = buffer<Vec>("ping", at_address(0));
    auto half = buffer<Vec>("half", at_address(8192));
    auto a = place(load<Shape<64, 64>>(x, at(0, 0)), ping);
    store(a, out, at(0, 0));
    auto b = place(load<Shape<64, 64>>(x, at(0, 0)), half);
    store(b + b, twice, at(0, 0));
    auto c = place(load<Shape<32, 64>>(x, at(0, 0)), ping);
    store(c, out, at(0, 0));
  });
  const HostTensor x = numbers({64, 64});
  HostTensor out(f32, {64, 64}), twice(f32, {64, 64});
  same_everywhere(f, {x, out, twice});
  // Without the flag between store and load the proof finds it.
  Function synchronised = run_passes(f, full_pipeline(), {Arch::a3, true});
  int taken = 0, found = 0;
  for (std::uint32_t o = 0; o < synchronised.operation_count(); ++o) {
    const OpId wait{o};
    if (!synchronised[wait].parent || !synchronised.is(wait, ops::wait_flag) || synchronised.attr(wait, AttrKey::pipe) != static_cast<int>(Pipe::mte3) ||
        synchronised.attr(wait, AttrKey::to_pipe) != static_cast<int>(Pipe::mte2))
      continue;
    Function without = synchronised;
    for (std::uint32_t s = 0; s < o; ++s)
      if (const OpId set{s}; without[set].parent && without.is(set, ops::set_flag) && without.attr(set, AttrKey::pipe) == without.attr(wait, AttrKey::pipe) &&
                             without.attr(set, AttrKey::to_pipe) == without.attr(wait, AttrKey::to_pipe) && without.attr(set, AttrKey::event) == without.attr(wait, AttrKey::event)) {
        without.erase(set);
        break;
      }
    without.erase(wait);
    ++taken;
    found += thrown<InternalError>([&] { verify(without, {Property::synchronised}); }) != "nothing is thrown" ? 1 : 0;
  }
  CHECK(taken > 0);
  CHECK(found == taken);
}

TEST_CASE("what is loaded in front of a loop shares no bytes with what the loop makes") {
  const Function f = traced([](Tensor<Shape<64, 64>, f32> x, Tile8 weights, Index n, Out<Tensor<Shape<64, 64>, f32>> out) {
    auto w = load<Shape<8, 64>>(weights, at(0, 0));
    for (Index i : range(n)) {
      auto t = load<Shape<8, 64>>(x, at(i * 8, 0));
      auto y = t * w;
      store(y, out, at(i * 8, 0));
    }
  });
  for (const bool pipelining : {false, true}) {
    const Function p = planned(f, Arch::a3, pipelining);
    CHECK_FALSE(share_bytes(p, "w", "t"));
    CHECK_FALSE(share_bytes(p, "w", "y"));
  }
  const HostTensor x = numbers({64, 64}), w = numbers({8, 64});
  for (const std::int64_t n : {0, 1, 2, 5, 8}) {
    HostTensor out(f32, {64, 64});
    same_everywhere(f, {x, w, Argument(n), out});
  }
}

TEST_CASE("an accumulator stands in one place of Acc: nothing there is copied") {
  const Function f = traced([](Tensor<Shape<32, 128>, f16> x, Tensor<Shape<128, 64>, f16> y, Index n, Out<Tensor<Shape<32, 64>, f32>> out) {
    for (Index j : range(0, 64, 32)) {
      Var acc = tile<Shape<32, 32>, f32, Acc>();
      for (Index o : range(n)) {
        for (Index k : range(0, 64, 32)) {
          auto l = move<Left>(load<Shape<32, 32>, Mat>(x, at(0, o * 64 + k)));
          auto r = move<Right>(load<Shape<32, 32>, Mat>(y, at(o * 64 + k, j)));
          if_(o + k == 0, [&] { acc = matmul(l, r); }, [&] { acc = matmul_acc(acc, l, r); });
        }
      }
      store(acc, out, at(0, j));
    }
  });
  const HostTensor x = numbers({32, 128}, f16), y = numbers({128, 64}, f16);
  HostTensor out(f32, {32, 64});
  same_everywhere(f, {x, y, Argument(std::int64_t{2}), out});
  for (const bool pipelining : {false, true}) {
    const Function p = planned(f, Arch::a3, pipelining);
    INFO(print(p));
    for (const OpId op : all_operations(p))
      if (p.is(op, ops::move)) CHECK_FALSE((p.type(p.operand(op, 0)).space == Acc && p.type(p.result(op)).space == Acc));
    if (!pipelining) CHECK(peak_of(p, Acc) == 4096);
  }
  // Where it would have to be copied, it is refused before any code is made.
  std::string said = refused(__LINE__, [](Tensor<Shape<32, 32>, f16> a, Tensor<Shape<32, 32>, f16> b, Out<Tensor<Shape<32, 32>, f32>> sum) {
    auto l = move<Left>(load<Shape<32, 32>, Mat>(a, at(0, 0)));
    auto r = move<Right>(load<Shape<32, 32>, Mat>(b, at(0, 0)));
    auto c = matmul(l, r);
    auto d = matmul_acc(c, l, r);
    store(c, sum, at(0, 0));
    store(d, sum, at(0, 0));
  });
  CHECK(contains(said, "matmul_acc: a tile in Acc would have to be copied, and no instruction does that"));
}
