// Memory that a kernel declares: reserved regions, buffers and their slots; what becomes of them, and what is refused.
#include "support/declared.hpp"

#include <tessera/emit/pto_cpp.hpp>
#include <tessera/emit/pto_mlir.hpp>
#include <tessera/passes/pipeline.hpp>

using namespace tessera;
using namespace tessera::test;

namespace {

using Row = Tensor<Shape<16, 64>, f32>;  // 4096 bytes
template <int N>
using Rows = Tensor<Shape<16 * N, 64>, f32>;
using Square = Tensor<Shape<64, 64>, f32>;  // 16384 bytes
using Matrix = Tensor<Shape<64, 64>, f16>;

// Loads, computes and stores in turns, with what `load` and `work` make of them.
template <class Load, class Work>
Function stream(int turns, Load tile_of, Work result_of) {
  return traced([=](Rows<8> x, Out<Rows<8>> out) {
    auto slots = buffer<Vec, 3>("slots");
    const auto body = [&](Index i) { store(result_of(exp(tile_of(load<Shape<16, 64>>(x, at(i, 0)), slots)), slots), out, at(i, 0)); };
    if (turns == 0) for (Index i : range(0, 128, 16)) body(i);
    else for (Index i : range(0, 128, 16).pipelined(turns)) body(i);
  });
}
constexpr auto anywhere = [](auto t, const auto&) { return t; };
constexpr auto in_turn = [](auto t, const auto& slots) { return place(t, slots); };
constexpr auto in_slot_0 = [](auto t, const auto& slots) { return place(t, slots[0]); };

}  // namespace

// --- what is recorded, and what becomes of it ---

TEST_CASE("declarations stand in the function, tiles are placed by an operation") {
  CHECK(trace::text([](Row x, Out<Row> out) {
          reserve<Mat>("ring", 65536);
          auto ping = buffer<Vec>("ping");
          auto slots = buffer<Vec, 2>("slots", at_address(4096));
          auto t = place(load<Shape<16, 64>>(x, at(0, 0)), ping);
          auto e = place(exp(t), slots[1]);
          store(place(exp(e), slots[0_c]), out, at(0, 0));
        }) == R"((%arg0: in f32[16,64], %arg1: out f32[16,64]) {
  reserve @ring : Mat, 65536 bytes
  buffer @ping : Vec
  buffer @slots : Vec, 2 slots at 4096
  %0 = tile.load(%arg0, 0, 0) : tile<f32[16,64]@Vec>
  %1 = tile.place(%0) {buffer = 1} : tile<f32[16,64]@Vec>
  %2 = tile.exp(%1) : tile<f32[16,64]@Vec>
  %3 = tile.place(%2) {buffer = 2, slot = 1} : tile<f32[16,64]@Vec>
  %4 = tile.exp(%3) : tile<f32[16,64]@Vec>
  %5 = tile.place(%4) {buffer = 2, slot = 0} : tile<f32[16,64]@Vec>
  tile.store(%5, %arg1, 0, 0)
  return
}
)");
}

TEST_CASE("regions stand in front of the tiles, slots one behind the other, and addresses of the author are kept") {
  const Function f = planned(traced([](Square x, Row y, Out<Square> out) {
    reserve<Vec>("low", 1000);
    reserve<Vec>("high", 64, at_address(32768));
    auto slots = buffer<Vec, 2>("slots");
    auto ping = buffer<Vec>("ping", at_address(4096));
    auto a = place(load<Shape<64, 64>>(x, at(0, 0)), slots[1]);
    auto b = place(load<Shape<16, 64>>(y, at(0, 0)), slots[0]);
    auto c = place(load<Shape<16, 64>>(y, at(0, 0)), ping);
    auto d = load<Shape<16, 64>>(y, at(0, 0));
    store(a, out, at(0, 0));
    store(b, out, at(0, 0));
    store(c, out, at(0, 0));
    store(d, out, at(0, 0));
  }));
  CHECK(addresses(f, {"a", "b", "c", "d"}) == "a 49216, b 32832, c 4096, d 8192");
  CHECK(f.storage[0].address == 0);
  CHECK(f.storage[1].address == 32768);
  CHECK(f.storage[2].bytes == 16384);  // of the largest tile
  CHECK(f.storage[2].address == 32832);
  const std::string text = print(f);
  CHECK(contains(text, "  reserve @low : Vec, 1000 bytes at 0\n"));
  CHECK(contains(text, "  buffer @slots : Vec, 2 slots, 16384 bytes each at 32832\n"));
  CHECK(contains(text, "buffer(%a in @slots[1] at 49216)"));
  CHECK(contains(text, "buffer(%c in @ping at 4096)"));
  CHECK_FALSE(contains(text, "place"));
}

TEST_CASE("the bytes of a buffer are others' while none of its tiles is needed") {
  const Function f = planned(traced([](Square x, Out<Square> out) {
    auto ping = buffer<Vec>("ping", at_address(0));
    auto a = place(load<Shape<64, 64>>(x, at(0, 0)), ping);
    store(a, out, at(0, 0));
    auto b = load<Shape<64, 64>>(x, at(0, 0));
    store(b, out, at(0, 0));
    auto c = place(load<Shape<64, 64>>(x, at(0, 0)), ping);
    auto d = load<Shape<64, 64>>(x, at(0, 0));
    store(c + d, out, at(0, 0));
  }));
  CHECK(addresses(f, {"a", "b", "c", "d"}) == "a 0, b 0, c 0, d 16384");
}

TEST_CASE("a tile is written over another one in its slot where the instruction allows it") {
  const Function f = planned(traced([](Square x, Out<Square> out) {
    auto ping = buffer<Vec>("ping");
    auto a = place(load<Shape<64, 64>>(x, at(0, 0)), ping);
    auto b = place(exp(a), ping);
    store(b, out, at(0, 0));
  }));
  CHECK(addresses(f, {"a", "b"}) == "a 0, b 0");
  CHECK(peak_of(f, Vec) == 16384);
}

TEST_CASE("variables, loops and branches keep the buffer of what is placed; two slots are never one storage") {
  const Function recorded = traced([](Square x, Index n, Out<Square> out) {
    auto kept = buffer<Vec>("kept", at_address(65536));
    auto other = buffer<Vec>("other", at_address(98304));
    Var sum = place(load<Shape<64, 64>>(x, at(0, 0)), kept);
    for (Index i : range(n)) sum = sum + load<Shape<64, 64>>(x, at(i * 0, 0));
    if_(n > 1, [&] { sum = place(exp(sum), other); }, [&] { sum = place(sum * 2.0f, kept); });
    store(sum, out, at(0, 0));
  });
  const Function f = planned(recorded);
  INFO(print(f));
  CHECK(contains(print(f), "in @kept at 65536)"));
  CHECK(contains(print(f), "in @other at 98304)"));
  for (const std::int64_t n : {0, 1, 3}) {
    const HostTensor x = numbers({64, 64});
    HostTensor out(f32, {64, 64});
    same_numbers(recorded, {x, Argument(n), out});
  }
}

TEST_CASE("products stand in the buffers of the cube unit") {
  const Function recorded = traced([](Tensor<Shape<64, 256>, f16> x, Tensor<Shape<256, 64>, f16> y, Out<Square> out) {
    reserve<Mat>("ring", 8192, at_address(0));
    auto lefts = buffer<Left, 2>("lefts");
    auto sums = buffer<Acc>("sums", at_address(65536));
    Var sum = place(tile<Shape<64, 64>, f32, Acc>(), sums);
    for (Index k : range(0, 256, 64)) {
      auto l = place(move<Left>(load<Shape<64, 64>, Mat>(x, at(0, k))), lefts);
      auto r = move<Right>(load<Shape<64, 64>, Mat>(y, at(k, 0)));
      if_(k == 0, [&] { sum = matmul(l, r); }, [&] { sum = matmul_acc(sum, l, r); });
    }
    store(sum, out, at(0, 0));
  });
  for (const bool pipelining : {false, true}) {
    const Function f = planned(recorded, Arch::a3, pipelining);
    INFO(print(f));
    CHECK(contains(print(f), "in @sums at 65536)"));
    CHECK(contains(print(f), "in @lefts[0] at 0)"));
    CHECK(contains(print(f), "in @lefts[1] at 8192)") == pipelining);
    const HostTensor x = numbers({64, 256}, f16), y = numbers({256, 64}, f16);
    HostTensor out(f32, {64, 64});
    same_numbers(recorded, {x, y, out}, Arch::a3, pipelining);
  }
}

TEST_CASE("tiles of rank 3, columns and rows are placed as what they become") {
  const Function recorded = traced([](Tensor<Shape<2, 8, 64>, f32> x, Out<Tensor<Shape<2, 8, 64>, f32>> out) {
    auto cube = buffer<Vec>("cube", at_address(65536));
    auto column = buffer<Vec>("column", at_address(32768));
    auto t = place(load<Shape<2, 8, 64>>(x, at(0, 0, 0)), cube);
    auto m = place(row_max(t), column);
    store(t - m, out, at(0, 0, 0));
  });
  const Function f = planned(recorded);
  INFO(print(f));
  CHECK(contains(print(f), "in @cube at 65536)"));
  CHECK(contains(print(f), "in @column at 32768)"));
  const HostTensor x = numbers({2, 8, 64});
  HostTensor out(f32, {2, 8, 64});
  same_numbers(recorded, {x, out});
}

TEST_CASE("a batch of matrices in Mat has no place of its own") {
  std::string said = refused(__LINE__, [](Tensor<Shape<2, 16, 32>, f16> x, Tensor<Shape<2, 32, 16>, f16> y, Out<Tensor<Shape<2, 16, 16>, f32>> out) {
    auto lefts = buffer<Mat>("lefts");
    auto l = place(load<Shape<2, 16, 32>, Mat>(x, at(0, 0, 0)), lefts);
    store(matmul(move<Left>(l), move<Right>(load<Shape<2, 32, 16>, Mat>(y, at(0, 0, 0)))), out, at(0, 0, 0));
  });
  CHECK(contains(said, "place: a batch of matrices is one tile in Vec only (tile<f16[2,16,32]@Mat>) | load and place one matrix at a time"));
}

TEST_CASE("what follows in a slot waits for what stands in it") {
  const Function recorded = traced([](Rows<2> x, Out<Rows<2>> out) {
    auto ping = buffer<Vec>("ping");
    auto a = place(load<Shape<16, 64>>(x, at(0, 0)), ping);
    store(a, out, at(0, 0));
    auto b = place(load<Shape<16, 64>>(x, at(16, 0)), ping);
    store(b, out, at(16, 0));
  });
  const Function f = run_passes(recorded, full_pipeline(), {Arch::a3, true});
  const auto flag = [&](Pipe from, Pipe to) {
    int n = 0;
    for (const OpId op : all_operations(f))
      n += f.is(op, ops::wait_flag) && f.attr(op, AttrKey::pipe) == static_cast<int>(from) && f.attr(op, AttrKey::to_pipe) == static_cast<int>(to) ? 1 : 0;
    return n;
  };
  CHECK(flag(Pipe::mte2, Pipe::mte3) == 2);
  CHECK(flag(Pipe::mte3, Pipe::mte2) == 1);
  const HostTensor x = numbers({32, 64});
  HostTensor out(f32, {32, 64});
  same_numbers(recorded, {x, out});
}

// --- loops ---

TEST_CASE("turns of a pipelined loop take the slots of a buffer in turn") {
  const Function recorded = stream(3, in_turn, anywhere);
  const Function f = planned(recorded, Arch::a3, true);
  INFO(print(f));
  for (const char* place : {"in @slots[0] at ", "in @slots[1] at ", "in @slots[2] at "}) CHECK(contains(print(f), place));
  const HostTensor x = numbers({128, 64});
  HostTensor out(f32, {128, 64});
  same_numbers(recorded, {x, out});
  // Without being asked a loop has two turns.
  CHECK(contains(print(planned(stream(0, in_turn, anywhere), Arch::a3, true)), "in @slots[1] at "));
  CHECK_FALSE(contains(print(planned(stream(0, in_turn, anywhere), Arch::a3, true)), "in @slots[2] at "));
  CHECK_FALSE(contains(print(planned(stream(0, in_turn, anywhere))), "in @slots[1] at "));
}

TEST_CASE("one slot keeps a loop as it is, with a note") {
  const int line = __LINE__ + 1;
  const auto notes_of = [&](auto tile_of, auto work) { return notes(planned(stream(0, tile_of, work), Arch::a3, true), line); };
  CHECK(contains(notes_of(in_slot_0, anywhere), "its turns share buffers (a tile is placed in slots[0], which has room for 1 turn)"));
  CHECK(contains(notes_of(in_turn, in_slot_0), "its turns share buffers (a tile is placed in slots[0], which has room for 1 turn)"));
  CHECK(contains(notes_of(in_turn, anywhere), "2 turns have buffers of their own (automatic)"));
  const Function single = planned(traced([](Rows<4> x, Out<Rows<4>> out) {
    auto ping = buffer<Vec>("ping");
    for (Index i : range(0, 64, 16)) store(exp(place(load<Shape<16, 64>>(x, at(i, 0)), ping)), out, at(i, 0));
  }), Arch::a3, true);
  CHECK(contains(notes(single, line), "its turns share buffers (a tile is placed in ping, which has room for 1 turn)"));
}

TEST_CASE("more turns than slots are refused where they are asked for") {
  std::string said = refused(__LINE__, [](Rows<4> x, Out<Rows<4>> out) {
    auto slots = buffer<Vec, 2>("slots");
    for (Index i : range(0, 64, 16).pipelined(3)) store(place(load<Shape<16, 64>>(x, at(i, 0)), slots), out, at(i, 0));
  }, Arch::a3, true);
  CHECK(said ==
        "2: range: the loop cannot be pipelined (a tile is placed in slots, which has room for 2 turns, line 2) | declare the buffer with a slot for each turn, "
        "buffer<Vec, 3>(...), and place(x, it) without an index");
}

// --- what is refused while recording ---

TEST_CASE("declarations that cannot be") {
  const auto declared = [](int line, auto declare) { return refused(line, [=](Row x, Out<Row> out) { declare(), out = x; }); };
  CHECK(declared(__LINE__, [] { reserve<Mat>("a ring", 512); }) == "0: reserve: the name is not an identifier (a ring) | use letters, digits and '_'");
  CHECK(declared(__LINE__, [] { reserve<Mat>("ring", 0); }) == "0: reserve: the count of bytes is not positive (ring, 0) | state how many bytes others use");
  CHECK(declared(__LINE__, [] { reserve<Mat>("ring", 512, at_address(100)); }) ==
        "0: reserve: the address is not a multiple of 512 (ring, 100 in Mat) | tiles begin at such addresses in this memory space; leave the address out where it does not matter");
  CHECK(declared(__LINE__, [] { static_cast<void>(buffer<Vec>("ping", at_address(-32))); }) ==
        "0: buffer: the address is not a multiple of 32 (ping, -32 in Vec) | tiles begin at such addresses in this memory space; leave the address out where it does not matter");
  std::string said = refused(__LINE__, [](Row x, Out<Row> out) {
    static_cast<void>(buffer<Vec>("ping"));
    reserve<Vec>("ping", 32);
    out = x;
  });
  CHECK(said == "2: reserve: the name is given twice (ping, lines 1 and 2) | give each buffer and each reserved region a name of its own; a buffer is declared once, "
              "and its name is handed on in C++");
  said = refused(__LINE__, [](Row x, Out<Row> out) {
    static_cast<void>(buffer<Vec, 2>("slots"));
    static_cast<void>(buffer<Vec, 3>("slots"));
    out = x;
  });
  CHECK(contains(said, "2: buffer: the name is given twice (slots, lines 1 and 2, with 2 and 3 slots)"));
  const auto rows = tileop("declares", [](Tile<Shape<16, 64>, f32, Vec> t) { return place(exp(t), buffer<Vec>("ping")); });
  CHECK(contains(refused(__LINE__, [&](Row x) { return rows(x); }), "buffer: only kernels declare memory (tileop declares) | declare it in the kernel that calls this"));
}

TEST_CASE("tiles that have their storage already are not placed") {
  const auto placed = [](int line, auto make) {
    return refused(line, [=](Row x, Out<Row> out) {
      auto ping = buffer<Vec>("ping");
      store(place(make(x, ping), ping), out, at(0, 0));
    });
  };
  CHECK(contains(placed(__LINE__, [](Row x, auto& ping) { return place(load<Shape<16, 64>>(x, at(0, 0)), ping); }),
                 ": place: the tile is placed already (ping, line 0) | place it once"));
  CHECK(contains(placed(__LINE__, [](Row x, auto&) { return slice<Shape<8, 64>>(load<Shape<16, 64>>(x, at(0, 0)), at(8, 0)); }),
                 ": place: the tile is another look at one that has its storage already (slice, line 0) | place the tile that is looked at"));
  CHECK(contains(placed(__LINE__, [](Row x, auto&) { return write(load<Shape<16, 64>>(x, at(0, 0)), at(0, 0), 1.0f); }),
                 ": place: the tile is written in the place of an operand (write, line 0) | place that operand, where it is made"));
  std::string said = refused(__LINE__, [](Row x, Out<Row> out) {
    auto ping = buffer<Vec>("ping");
    Var sum = load<Shape<16, 64>>(x, at(0, 0));
    for (Index i : range(4)) sum = sum + load<Shape<16, 64>>(x, at(i * 0, 0));
    store(place(sum, ping), out, at(0, 0));
  });
  CHECK(said == "4: place: the tile is that of a variable, which has its storage already | place the value that the variable starts with: Var v = place(x, ping)");
  said = refused(__LINE__, [](Row x, Out<Row> out) {
    auto slots = buffer<Vec, 2>("slots");
    store(place(load<Shape<16, 64>>(x, at(0, 0)), slots[2]), out, at(0, 0));
  });
  CHECK(said == "2: place: the buffer has no such slot (slots[2] of 2, line 1) | slots are counted from 0");
}

TEST_CASE("a buffer is used in its own kernel only") {
  Buffer<Vec> kept({0, 0});
  const Function other = traced([&](Row x, Out<Row> out) {
    kept = buffer<Vec>("ping");
    out = x;
  });
  CHECK(contains(refused(__LINE__, [&](Row x, Out<Row> out) { store(place(load<Shape<16, 64>>(x, at(0, 0)), kept), out, at(0, 0)); }),
                 "0: kernel: a value of another kernel is used"));
}

// --- what is refused when memory is planned ---

TEST_CASE("a tile in the slot of one that is still read") {
  std::string said = refused(__LINE__, [](Row x, Out<Row> out) {
    auto slots = buffer<Vec, 2>("slots");
    auto a = place(load<Shape<16, 64>>(x, at(0, 0)), slots[1]);
    auto b = place(load<Shape<16, 64>>(x, at(0, 0)), slots[1]);
    store(a + b, out, at(0, 0));
  });
  CHECK(said == "3: place: a tile takes the place of one that is still needed (slots[1]: a, line 2; b, line 3) | place one of them in another slot or buffer, or read the "
              "first for the last time before the second is made");
  // What a loop reads from outside is read in its next turn, too.
  said = refused(__LINE__, [](Row x, Index n, Out<Row> out) {
    auto ping = buffer<Vec>("ping");
    auto a = place(load<Shape<16, 64>>(x, at(0, 0)), ping);
    for (Index i : range(n)) {
      store(a, out, at(i * 0, 0));
      auto b = place(load<Shape<16, 64>>(x, at(0, 0)), ping);
      store(b, out, at(0, 0));
    }
  });
  CHECK(contains(said, "5: place: a tile takes the place of one that is still needed (ping: a, line 2; b, line 5)"));
  // An instruction that reads again what it has written.
  said = refused(__LINE__, [](Row x, Out<Row> out) {
    auto ping = buffer<Vec>("ping");
    auto a = place(load<Shape<16, 64>>(x, at(0, 0)), ping);
    auto b = place(recip(a), ping);
    store(b, out, at(0, 0));
  });
  CHECK(contains(said, "3: place: a tile takes the place of one that is still needed (ping: a, line 2; b, line 3)"));
}

TEST_CASE("regions and buffers that overlap") {
  std::string said = refused(__LINE__, [](Row x, Out<Row> out) {
    reserve<Mat>("ring", 8192, at_address(4096));
    reserve<Mat>("queue", 512, at_address(12288 - 512));
    out = x;
  });
  CHECK(said == "2: reserve: it overlaps a reserved region (queue (line 2): bytes 11776 to 12288; ring (line 1): bytes 4096 to 12288 of Mat) | give them addresses apart, or "
              "leave one to the planner");
  said = refused(__LINE__, [](Row x, Out<Row> out) {
    auto ping = buffer<Vec>("ping", at_address(0));
    store(place(load<Shape<16, 64>>(x, at(0, 0)), ping), out, at(0, 0));
    reserve<Vec>("ring", 32, at_address(4064));
  });
  CHECK(said == "3: reserve: it overlaps a buffer (ring (line 3): bytes 4064 to 4096; ping (line 1): bytes 0 to 4096 of Vec) | give them addresses apart, or leave one to the planner");
  said = refused(__LINE__, [](Row x, Out<Row> out) {
    auto ping = buffer<Vec>("ping", at_address(0));
    auto pong = buffer<Vec>("pong", at_address(2048));
    auto a = place(load<Shape<16, 64>>(x, at(0, 0)), ping);
    auto b = place(load<Shape<16, 64>>(x, at(0, 0)), pong);
    store(a + b, out, at(0, 0));
  });
  CHECK(said == "4: place: a tile takes bytes of one that is still needed (ping (line 1) and pong (line 2): a, line 3, bytes 0 to 4096; b, line 4, bytes 2048 to 6144 of Vec) | "
              "give the buffers addresses apart, or leave one to the planner");
  // At different times they may; so may regions that touch.
  const Function f = planned(traced([](Row x, Out<Row> out) {
    reserve<Vec>("ring", 4096, at_address(65536));
    auto ping = buffer<Vec>("ping", at_address(69632));
    auto pong = buffer<Vec>("pong", at_address(69664));
    auto a = place(load<Shape<16, 64>>(x, at(0, 0)), ping);
    store(a, out, at(0, 0));
    auto b = place(load<Shape<16, 64>>(x, at(0, 0)), pong);
    store(b, out, at(0, 0));
  }));
  CHECK(addresses(f, {"a", "b"}) == "a 69632, b 69664");
}

TEST_CASE("what is larger than its space, wherever it would stand") {
  const std::string said = refused(__LINE__, [](Row x, Out<Row> out) {
    reserve<Mat>("ring", 9223372036854775807);
    store(load<Shape<16, 64>>(x, at(0, 0)), out, at(0, 0));
  });
  CHECK(contains(said, "1: reserve: it is larger than its memory space (ring: 9223372036854775807 bytes, a3 has 524288 of Mat) | reserve less"));
  const std::string unused = refused(__LINE__, [](Row x, Out<Row> out) {
    [[maybe_unused]] auto b = buffer<Vec>("b", at_address(999936));
    store(load<Shape<16, 64>>(x, at(0, 0)), out, at(0, 0));
  });
  CHECK(contains(unused, "1: buffer: it ends beyond what is safe to use (b: 0 bytes from 999936 of Vec, a3 has 188416)"));
}

TEST_CASE("what ends beyond the target's limit, with the bytes of it") {
  const auto high = [](Row x, Out<Row> out) {
    auto slots = buffer<Vec, 2>("slots", at_address(188416 - 4096));
    store(place(load<Shape<16, 64>>(x, at(0, 0)), slots[0]), out, at(0, 0));
  };
  CHECK(contains(refused(0, high),
                 "buffer: it ends beyond what is safe to use (slots: 8192 bytes from 184320 of Vec, a3 has 188416) | choose a lower address, or leave it to the planner"));
  CHECK(peak_of(planned(traced(high), Arch::a5), Vec) == 188416);
  std::string said = refused(__LINE__, [](Row x, Out<Row> out) {
    reserve<Acc>("ring", 131072, at_address(512));
    out = x;
  });
  CHECK(contains(said, "1: reserve: it ends beyond what is safe to use (ring: 131072 bytes from 512 of Acc, a3 has 131072)"));
}

TEST_CASE("reserved bytes count first, and what does not fit says so") {
  const int line = __LINE__ + 2;
  const auto kernel_with = [](std::int64_t reserved) {
    return [=](Matrix x, Matrix y, Out<Square> out) {
      reserve<Mat>("ring", reserved);
      auto l = load<Shape<64, 64>, Mat>(x, at(0, 0));
      auto r = load<Shape<64, 64>, Mat>(y, at(0, 0));
      store(matmul(move<Left>(l), move<Right>(r)), out, at(0, 0));
    };
  };
  CHECK(addresses(planned(traced(kernel_with(524288 - 16384))), {"l", "r"}) == "l 516096, r 507904");
  CHECK(refused(line, kernel_with(524288 - 16384 + 512)) ==
        "2: plan_memory: Mat needs 524800 bytes, a3 has 524288 (2 tiles at load, 508416 bytes are reserved) | make tiles smaller, or compute them in a loop; needed at the same "
        "time, in bytes: r (line 3) 8192, l (line 2) 8192; reserved: ring (line 1) 508416");
  std::string said = refused(__LINE__, [](Row x, Out<Row> out) {
    reserve<Mat>("ring", 500000);
    reserve<Mat>("queue", 30000);
    out = x;
  });
  CHECK(said == "2: plan_memory: Mat needs 530432 bytes, a3 has 524288, and all of them are reserved | reserve less; reserved: ring (line 1) 500000, queue (line 2) 30000");
  // Slots that are too many.
  said = refused(__LINE__, [](Square x, Out<Square> out) {
    auto slots = buffer<Vec, 12>("slots");
    store(place(load<Shape<64, 64>>(x, at(0, 0)), slots[11]), out, at(0, 0));
  });
  CHECK(contains(said, "buffer: it is larger than its memory space (slots: 12 slots of 16384 bytes, a3 has 188416 of Vec) | use fewer slots or smaller tiles"));
}

TEST_CASE("no space is inferred for storage that is placed") {
  std::string said = refused(__LINE__, [](Matrix x, Matrix y, Out<Square> out) {
    auto sums = buffer<Vec>("sums");
    Var sum = place(full<Shape<64, 64>, f32, Vec>(0.0f), sums);
    sum = sum + move<Vec>(matmul(move<Left>(load<Shape<64, 64>, Mat>(x, at(0, 0))), move<Right>(load<Shape<64, 64>, Mat>(y, at(0, 0)))));
    store(sum, out, at(0, 0));
  });
  CHECK(said.substr(0, 9) == "no error:");
}

// --- what shows declared memory ---

namespace {
constexpr auto shown = [](Row x, Out<Row> out) {
  reserve<Mat>("ring", 65536);
  reserve<Vec>("low", 1024);
  auto slots = buffer<Vec, 2>("slots");
  auto t = place(load<Shape<16, 64>>(x, at(0, 0)), slots[1]);
  store(t, out, at(0, 0));
};
}  // namespace

TEST_CASE("the memory map lists regions and names buffers") {
  Function f = planned(traced(shown));
  f.name = "shown";
  const std::string map = memory_map(f);
  INFO(map);
  CHECK(contains(map, "Vec: peak 9216 of 188416 bytes; at least 5120 are needed, at 1 load\n"));
  CHECK(contains(map, "\n        0   1024  low, reserved  "));
  CHECK(contains(map, "  always\n     5120   4096  t in slots[1]  "));
  CHECK(contains(map, "Mat: peak 65536 of 524288 bytes; at least 65536 are needed, at the start\n"));
  CHECK(contains(map, "\n        0  65536  ring, reserved  "));
}

TEST_CASE("emitted text has regions by name, and no buffers where the assembler plans") {
  const auto with_regions = [](std::int64_t address) {
    return [=](Row x, Out<Row> out) {
      if (address < 0) reserve<Mat>("ring", 65536);
      else reserve<Mat>("ring", 65536, at_address(address));
      store(load<Shape<16, 64>>(x, at(0, 0)), out, at(0, 0));
    };
  };
  const Function free = planned(traced(with_regions(-1))), fixed = planned(traced(with_regions(512)));
  CHECK(contains(emit_pto_mlir(free), R"( = pto.reserve_buffer {name = "ring", size = 65536, location = #pto.address_space<mat>, auto = true} -> i32)"));
  CHECK(contains(emit_pto_mlir(free, {.level = 3}), R"( = pto.reserve_buffer {name = "ring", size = 65536, location = #pto.address_space<mat>, auto = false, base = 0} -> i32)"));
  CHECK(contains(emit_pto_mlir(fixed, {.level = 3}), "auto = false, base = 512} -> i32"));
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(emit_pto_mlir(fixed)); }), "error: emit: at level 2 the assembler chooses where tiles stand (reserve ring (line "));
  const Function f = planned(traced(shown));
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(emit_pto_mlir(f)); }), "error: emit: at level 2 the assembler chooses where tiles stand (buffer slots (line "));
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(emit_pto_mlir(f)); }), "hint: emit the kernel with planned addresses: at level 3, or as C++"));
  CHECK(contains(emit_pto_mlir(f, {.level = 3}), "addr = %c5120_i64"));
  // The older assembler takes one region; at level 3 addresses do without.
  const Function two = planned(traced([](Row x, Out<Row> out) {
    reserve<Mat>("ring", 65536);
    reserve<Vec>("low", 64);
    reserve<Acc>("sums", 4096);
    store(load<Shape<16, 64>>(x, at(0, 0)), out, at(0, 0));
  }));
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(emit_pto_mlir(two)); }), "(reserve sums (line "));
  const std::string text = emit_pto_mlir(two, {.level = 3});
  CHECK(contains(text, "\"ring\""));
  CHECK(contains(text, "\"low\""));
  CHECK_FALSE(contains(text, "\"sums\""));
  CHECK_FALSE(contains(emit_pto_mlir(two, {.assembler = Assembler::v0_27, .level = 3}), "\"low\""));
  Function without_acc = two;
  without_acc.storage.shrink(2);
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(emit_pto_mlir(without_acc, {.assembler = Assembler::v0_27})); }),
                 "emit: assembler 0.27 keeps one region free in a kernel (low (line "));
  const std::string cpp = emit_pto_cpp(run_passes(traced(shown), full_pipeline(), {}));
  CHECK(contains(cpp, "  // reserved: ring, 65536 bytes of Mat from 0\n"));
  CHECK(contains(cpp, ", 5120);"));
}

TEST_CASE("a plan that is made wrong is found") {
  const Function good = planned(traced(shown));
  const auto fault = [](const Function& f) {
    const auto found = address_fault(f);
    return found ? found->what : std::string();
  };
  CHECK(fault(good).empty());
  Function in_region = good;
  in_region.storage[1].bytes = 8192;
  CHECK(contains(fault(in_region), "stands in the reserved region low"));
  Function other_slot = good;
  other_slot.storage[2].address = 4096;
  CHECK(contains(fault(other_slot), "does not stand in slots[1]"));
  Function beyond = good;
  beyond.storage[0].address = 524288;
  CHECK(fault(beyond) == "the reserved region ring is beyond what is safe to use");
}
