// Addresses that plan_memory gives: what shares bytes, what does not, in which places.
#include "support/planning.hpp"

#include <tessera/passes/assign_buffers.hpp>
#include <tessera/passes/flatten_tile_nd_to_2d.hpp>
#include <tessera/passes/infer_memory_space.hpp>
#include <tessera/passes/legalize.hpp>

using namespace tessera;
using namespace tessera::test;

namespace {

// A tile-level kernel with an input `x` and an output `o`; each stage of its lowering is verified and computes the same.
struct TileKernel {
  Recording k;
  ValueId x, o;
  explicit TileKernel(DType d = f32, std::int64_t rows = 64, std::int64_t cols = 64) {
    x = k.tensor("x", d, {rows, cols});
    o = k.tensor("o", d, {rows, cols}, Direction::out);
  }
  ValueId load(std::string_view name, std::int64_t rows = 64, std::int64_t cols = 64) {
    return k.named(k.load(x, {rows, cols}, {k.index(0), k.index(0)}), name);
  }
  ValueId op(std::string_view name, const OpInfo& info, List<ValueId> operands) { return k.named(k.op(info, operands), name); }
  void store(ValueId v) { k.store(v, o, {k.index(0), k.index(0)}); }
  ValueId below(ValueId a, int n) { return k.op(ops::scalar_compare, {a, k.index(n)}, {int_attr(AttrKey::compare, 0)}); }
  Function planned(std::int64_t scalar = 1, Arch arch = Arch::a3) {
    k.returns();
    return lower_tiles(k.f(), arch, 8, scalar).planned;
  }
};
const Type whole = shaped_type(f32, {64, 64}, Vec);

}  // namespace

TEST_CASE("tiles that are needed at the same time stand one behind the other, each space from 0") {
  TileKernel k;
  const ValueId a = k.load("a"), b = k.load("b"), c = k.load("c");
  const ValueId d = k.op("d", ops::add, {k.op("s", ops::add, {a, b}), c});
  k.store(k.op("e", ops::add, {d, a}));
  const Function f = k.planned();
  CHECK(addresses(f, {"a", "b", "c"}) == "a 0, b 16384, c 32768");
  CHECK(peak_of(f, Vec) == 49152);
}

TEST_CASE("addresses are multiples of 32 bytes, whatever is valid of a tile") {
  TileKernel k;
  const ValueId a = k.load("a", 1, 3), b = k.load("b", 1, 8), c = k.load("c", 1, 9);
  k.store(k.op("d", ops::adds, {a, k.k.constant(f32, 1.0)}));
  k.store(b);
  k.store(c);
  CHECK(addresses(k.planned(), {"a", "b", "c"}) == "a 0, b 32, c 64");
}

TEST_CASE("an element-wise result is written over an operand that dies") {
  TileKernel k;
  const ValueId a = k.load("a"), b = k.load("b");
  const ValueId c = k.op("c", ops::add, {a, b}), d = k.op("d", ops::mul, {c, c}), e = k.op("e", ops::add, {d, d});
  k.store(e);
  CHECK(addresses(k.planned(), {"a", "b", "c", "d", "e"}) == "a 0, b 16384, c 0, d 0, e 0");
}

TEST_CASE("a chain needs one tile; an operand that is read again needs its own") {
  TileKernel k;
  const ValueId a = k.load("a"), b = k.op("b", ops::add, {a, a}), c = k.op("c", ops::add, {b, b}), d = k.op("d", ops::add, {c, c});
  k.store(k.op("e", ops::add, {c, d}));
  const Function f = k.planned();
  CHECK(addresses(f, {"a", "b", "c", "d"}) == "a 0, b 0, c 0, d 16384");
  CHECK(peak_of(f, Vec) == 32768);
}

TEST_CASE("large and small tiles are placed without gaps") {
  TileKernel k;
  const ValueId big = k.load("big"), small = k.load("small", 32, 32);
  k.store(k.op("big2", ops::exp, {big}));
  k.store(k.op("small2", ops::exp, {small}));
  const ValueId again = k.load("again"), little = k.load("little", 32, 32);
  k.store(again);
  k.store(little);
  const Function f = k.planned();
  CHECK(addresses(f, {"big", "small", "big2", "small2"}) == "big 0, small 16384, big2 0, small2 0");
  CHECK(peak_of(f, Vec) == 16384 + 4096);
}

TEST_CASE("a result whose elements stand elsewhere is not written over its operand") {
  SECTION("another width of the elements") {
    TileKernel k;
    const ValueId a = k.load("a"), h = k.k.named(k.k.cast(a, f16), "h"), w = k.k.named(k.k.cast(h, f32), "w");
    k.store(w);
    const Function f = k.planned();
    CHECK(addresses(f, {"a", "h", "w"}) == "a 0, h 16384, w 0");
  }
  SECTION("an instruction that reads again what it has written") {
    TileKernel k;
    k.store(k.op("r", ops::recip, {k.load("a")}));
    CHECK(addresses(k.planned(), {"a", "r"}) == "a 0, r 16384");
  }
  SECTION("a window") {
    TileKernel k;
    const ValueId a = k.load("a");
    const ValueId w = k.k.named(k.k.slice(a, {32, 64}, {k.k.index(32), k.k.index(0)}), "w");
    k.store(k.op("e", ops::exp, {w}));
    CHECK(addresses(k.planned(), {"a", "w", "e"}) == "a 0, w 0, e 16384");
  }
  SECTION("a transposed tile, with its scratch apart from both") {
    TileKernel k;
    k.store(k.op("t", ops::transpose, {k.load("a"), k.k.named(k.k.create(f32, {64, 64}, Vec), "scratch")}));
    const Function f = k.planned();
    CHECK(peak_of(f, Vec) == 3 * 16384);
  }
}

TEST_CASE("other element types and other shapes use the same bytes later") {
  TileKernel k;
  const ValueId a = k.load("a");
  const ValueId b = k.k.named(k.k.cast(k.op("n", ops::neg, {a}), bf16), "b");
  const ValueId c = k.k.named(k.k.cast(b, f32), "c");
  k.store(c);
  const ValueId row = k.load("row", 1, 64);
  k.store(row);
  const Function f = k.planned();
  CHECK(address(f, "row") == 0);
  CHECK(peak_of(f, Vec) == 16384 + 8192);
}

TEST_CASE("scratch is needed while its instruction runs, and no longer") {
  for (const bool one : {false, true}) {
    TileKernel k;
    const ValueId scratch = k.k.create(f32, {64, 128}, Vec), other = one ? scratch : k.k.create(f32, {64, 128}, Vec);
    const ValueId a = k.load("a"), m = k.op("m", ops::row_max, {a, scratch});
    const ValueId e = k.op("e", ops::row_expand_sub, {a, m});
    const ValueId s = k.op("s", ops::row_sum, {e, other});
    k.store(k.op("d", ops::row_expand_div, {e, s}));
    const Function f = k.planned();
    CHECK(least_of(f, Vec) == 16384 + 32768 + 256);
    // The same scratch for both stands beside a and e, which are there at the same time once.
    CHECK(peak_of(f, Vec) == (one ? 2 : 1) * 16384 + 32768 + 256);
  }
}

TEST_CASE("what a loop reads from outside lives until the loop ends") {
  TileKernel k;
  const ValueId n = k.k.scalar("n", index_type), w = k.load("w");
  k.k.loop(n, {}, [&](ValueId, const auto&) {
    const ValueId t = k.load("t"), y = k.op("y", ops::mul, {t, w});
    k.store(k.op("z", ops::exp, {y}));
    return std::vector<ValueId>{};
  });
  k.store(k.load("behind"));
  const Function f = k.planned(2);
  CHECK(addresses(f, {"w", "t", "y", "z", "behind"}) == "w 0, t 16384, y 16384, z 16384, behind 0");
}

TEST_CASE("a carried tile keeps its bytes while its next content is made") {
  TileKernel k;
  const ValueId n = k.k.scalar("n", index_type), a = k.load("a");
  const auto done = k.k.loop(n, {a}, [&](ValueId, const auto& carried) {
    const ValueId t = k.load("t");
    return std::vector{k.op("next", ops::add, {carried[0], t})};
  });
  k.store(done[0]);
  CHECK(addresses(k.planned(3), {"a", "t", "next"}) == "a 0, t 16384, next 0");
}

TEST_CASE("bytes of a carried tile are free where its content is dead") {
  TileKernel k;
  const ValueId n = k.k.scalar("n", index_type), a = k.load("a");
  const auto done = k.k.loop(n, {a}, [&](ValueId, const auto& carried) {
    const ValueId e = k.op("e", ops::row_max, {carried[0], k.k.named(k.k.create(f32, {64, 128}, Vec), "scratch")});
    const ValueId t = k.load("t");
    return std::vector{k.op("next", ops::row_expand_add, {t, e})};
  });
  k.store(done[0]);
  const Function f = k.planned(3);
  CHECK(peak_of(f, Vec) == 32768 + 16384 + 256);
}

TEST_CASE("exchanged tiles") {
  TileKernel k;
  const ValueId n = k.k.scalar("n", index_type);
  const ValueId a = k.load("a"), b = k.op("b", ops::neg, {a});
  const auto done = k.k.loop(n, {a, b}, [&](ValueId, const auto& c) { return std::vector{c[1], c[0]}; });
  k.store(k.op("d", ops::sub, {done[0], done[1]}));
  const Function f = k.planned(3);
  CHECK(peak_of(f, Vec) == 3 * 16384);  // the exchange has a third
}

TEST_CASE("the blocks of a branch use the same bytes; a result of theirs stands in one place") {
  TileKernel k;
  const ValueId n = k.k.scalar("n", index_type), a = k.load("a");
  const auto r = k.k.branch(k.below(n, 2), {whole}, [&] {
    const ValueId p = k.load("p"), q = k.load("q");
    return std::vector{k.op("r", ops::add, {k.op("pq", ops::mul, {p, q}), a})};
  }, [&] {
    const ValueId u = k.load("u"), v = k.load("v");
    return std::vector{k.op("w", ops::sub, {k.op("uv", ops::mul, {u, v}), a})};
  });
  k.store(r[0]);
  const Function f = k.planned();
  CHECK(address(f, "r") == address(f, "w"));
  CHECK(address(f, "p") == address(f, "u"));
  CHECK(peak_of(f, Vec) == 3 * 16384);
}

TEST_CASE("a tile that one block of a branch reads is dead in the other") {
  TileKernel k;
  const ValueId n = k.k.scalar("n", index_type), a = k.load("a");
  k.k.branch(k.below(n, 2), {}, [&] {
    k.store(a);
    return std::vector<ValueId>{};
  }, [&] {
    k.store(k.load("b"));
    return std::vector<ValueId>{};
  });
  CHECK(addresses(k.planned(), {"a", "b"}) == "a 0, b 0");
}

TEST_CASE("the result of a branch that is read behind a loop") {
  TileKernel k;
  const ValueId n = k.k.scalar("n", index_type), a = k.load("a");
  const auto r = k.k.branch(k.below(n, 2), {whole}, [&] { return std::vector{k.op("m", ops::mul, {a, a})}; },
                            [&] { return std::vector{k.op("s", ops::add, {a, a})}; });
  k.k.loop(n, {}, [&](ValueId, const auto&) {
    k.store(k.op("t2", ops::exp, {k.load("t")}));
    return std::vector<ValueId>{};
  });
  k.store(r[0]);
  const Function f = k.planned(2);
  CHECK(address(f, "t") != address(f, "m"));
  CHECK(peak_of(f, Vec) == 32768);
}

TEST_CASE("while: what its condition and its body read lives as long as it runs") {
  TileKernel k;
  const ValueId n = k.k.scalar("n", index_type), w = k.load("w"), a = k.load("a");
  const auto done = k.k.loop_while({k.k.index(0), a}, [&](const auto& c) {
    const ValueId first = k.k.op(ops::read, {w, k.k.index(0), k.k.index(0)});
    const ValueId more = k.k.op(ops::scalar_compare, {first, k.k.constant(f32, -100.0)}, {int_attr(AttrKey::compare, static_cast<std::int64_t>(Compare::gt))});
    return std::vector{k.k.op(ops::scalar_and, {more, k.k.op(ops::scalar_compare, {c[0], n}, {int_attr(AttrKey::compare, static_cast<std::int64_t>(Compare::lt))})}), c[0], c[1]};
  }, [&](const auto& c) {
    const ValueId t = k.load("t");
    return std::vector{k.k.op(ops::scalar_add, {c[0], k.k.index(1)}), k.op("next", ops::add, {c[1], t})};
  });
  k.store(done[1]);
  CHECK(addresses(k.planned(3), {"w", "a", "t", "next"}) == "w 0, a 16384, t 32768, next 16384");
}

TEST_CASE("views and what is written in place stand where their tile does") {
  TileKernel k;
  const ValueId a = k.load("a"), row = k.load("row", 1, 64);
  const ValueId flat = k.k.named(k.k.reshape(a, {32, 128}), "flat"), back = k.k.named(k.k.reshape(flat, {64, 64}), "back");
  const ValueId joined = k.op("joined", ops::assemble, {back, row, k.k.index(3), k.k.index(0)});
  k.store(joined);
  CHECK(addresses(k.planned(), {"a", "row", "flat", "back", "joined"}) == "a 0, row 16384, flat 0, back 0, joined 0");
}

TEST_CASE("the spaces of the cube unit: whole boxes, and wider ones for i32 accumulators") {
  Recording k;
  const ValueId x = k.tensor("x", i8, {16, 32}), y = k.tensor("y", i8, {32, 16}), o = k.tensor("o", i32, {16, 16}, Direction::out);
  const ValueId zero = k.index(0);
  const ValueId a = k.named(k.load(x, {16, 32}, {zero, zero}, Mat), "a"), b = k.named(k.load(y, {32, 16}, {zero, zero}, Mat), "b");
  const ValueId left = k.op(ops::move, {a}, {}, shaped_type(i8, {16, 32}, Left)), right = k.op(ops::move, {b}, {}, shaped_type(i8, {32, 16}, Right));
  const ValueId c = k.named(k.matmul(left, right), "c"), d = k.named(k.matmul(left, right), "d");
  k.store(c, o, {zero, zero});
  k.store(d, o, {zero, zero});
  k.returns();
  const Function f = lower_tiles(k.f()).planned;
  CHECK(addresses(f, {"a", "b", "c", "d"}) == "a 0, b 1024, c 0, d 4096");
  CHECK(peak_of(f, Mat) == 2048);
  CHECK(peak_of(f, Acc) == 8192);
  CHECK(peak_of(f, Left) == 1024);
}

TEST_CASE("masks are as large as the target stores them") {
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    TileKernel k;
    const ValueId a = k.load("a"), b = k.load("b");
    const ValueId m = k.k.named(k.k.op(ops::compare, {a, b}, {int_attr(AttrKey::compare, static_cast<std::int64_t>(Compare::lt))}), "m");
    k.store(k.op("s", ops::select, {m, a, b, k.k.create(i32, {1, 8}, Vec)}));
    const Function f = k.planned(1, arch);
    CHECK(byte_range(f, f.operand(find_op(f, ops::select), 0)).bytes() == (arch == Arch::a3 ? 64 * 32 : 64 * 64));
  }
}

TEST_CASE("a function without tiles is left as it is") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {4, 8}), o = k.tensor("o", f32, {4, 8}, Direction::out);
  k.effect(ops::write, {o, k.op(ops::read, {x, k.index(0), k.index(0)}), k.index(1), k.index(1)});
  k.returns();
  const Function f = lower_tiles(k.f()).planned;
  CHECK(has_addresses(f));
  CHECK(peak_of(f, Vec) == 0);
}

TEST_CASE("equal functions have equal plans, and the printer tells addresses") {
  const auto make = [] {
    TileKernel k;
    const ValueId a = k.load("a"), b = k.load("b");
    k.store(k.op("c", ops::add, {a, b}));
    return print(k.planned());
  };
  const std::string text = make();
  CHECK(contains(text, "%b = tile.load(%x, 0, 0) : tile<f32[64,64]@Vec> buffer(%b at 16384)"));
  for (int i = 0; i < 50; ++i) REQUIRE(make() == text);
}

// --- what does not fit ---

namespace {
std::string refusal(const Function& f, Arch arch) {
  return thrown<UserError>([&] {
    PassOptions options;
    options.properties = {Property::tile_ops};
    const Pass* const passes[] = {&flatten_tile_nd_to_2d, &legalize, &infer_memory_space, &assign_buffers, &plan_memory};
    static_cast<void>(run_passes(f, {passes, std::size(passes)}, {arch}, options));
  });
}
}  // namespace

TEST_CASE("tiles that do not fit are an error that names the largest") {
  const auto make = [](Recording& k, std::int64_t cols) {
    const ValueId x = k.tensor("x", f32, {64, 1024}), o = k.tensor("o", f32, {64, 1024}, Direction::out), zero = k.index(0);
    const ValueId a = k.named(k.load(x, {64, 256}, {zero, zero}), "a"), b = k.named(k.load(x, {64, 256}, {zero, zero}), "b");
    const ValueId c = k.load(x, {64, cols}, {zero, zero});
    k.store(k.op(ops::add, {a, b}), o, {zero, zero});
    k.store(c, o, {zero, zero});
    k.returns();
  };
  Recording large, fitting;
  make(large, 240);
  CHECK(refusal(large.f(), Arch::a3) ==
        "dir/k.cpp:3: error: plan_memory: Vec needs 192512 bytes, a3 has 188416 (3 tiles at load)\n"
        "  hint: make tiles smaller, or compute them in a loop; needed at the same time, in bytes: a (line 1) 65536, b (line 2) 65536, "
        "load (line 3) 61440");
  CHECK(refusal(large.f(), Arch::a5) == "nothing is thrown");
  make(fitting, 224);  // exactly the limit
  CHECK(refusal(fitting.f(), Arch::a3) == "nothing is thrown");
}

TEST_CASE("only what is needed at the same time counts: a loop that is unrolled needs what the loop does") {
  const auto make = [](Recording& k, bool unrolled) {
    const ValueId x = k.tensor("x", f32, {64, 256}), o = k.tensor("o", f32, {64, 256}, Direction::out), zero = k.index(0);
    const ValueId a = k.load(x, {64, 256}, {zero, zero});
    const auto turn = [&](ValueId sum) { return k.op(ops::add, {sum, k.load(x, {64, 256}, {zero, zero})}); };
    ValueId sum = a;
    if (unrolled) for (int i = 0; i < 16; ++i) sum = turn(sum);
    else sum = k.loop(k.index(16), {a}, [&](ValueId, const auto& c) { return std::vector{turn(c[0])}; })[0];
    k.store(sum, o, {zero, zero});
    k.returns();
  };
  Recording loop, unrolled;
  make(loop, false);
  make(unrolled, true);
  CHECK(peak_of(lower_tiles(loop.f()).planned, Vec) == 131072);
  CHECK(peak_of(lower_tiles(unrolled.f()).planned, Vec) == 131072);
}

TEST_CASE("scratch counts, too") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {64, 368}), o = k.tensor("o", f32, {64, 1}, Direction::out), zero = k.index(0);
  k.store(k.op(ops::row_sum, {k.named(k.load(x, {64, 368}, {zero, zero}), "a")}), o, {zero, zero});
  k.returns();
  CHECK(refusal(k.f(), Arch::a3) ==
        "dir/k.cpp:2: error: plan_memory: Vec needs 188672 bytes, a3 has 188416 (3 tiles at row_sum)\n"
        "  hint: make tiles smaller, or compute them in a loop; needed at the same time, in bytes: a (line 1) 94208, create (line 2) 94208, "
        "row_sum (line 2) 256");
}
