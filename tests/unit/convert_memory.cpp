// Parameters: directions, loads and stores in their order, scalar access, results; and what is refused.
#include "support/catch.hpp"
#include "support/convert.hpp"

#include <tessera/ir/printer.hpp>

using namespace tessera;
using namespace tessera::test;

TEST_CASE("a slice of a partly valid parameter is a load of what is valid; the reshape stands apart", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {3, 64});
  k.f().set_valid(x, {{3, {}}, {12, {}}});
  k.returns({k.reshape(k.slice(x, {1, 64}, {k.index(1), k.index(0)}), {64})});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[3,64] valid[3,12], %out: out f32[64]) {
  %0 = tile.load(%x, 1, 0) : tile<f32[1,64]@Vec> valid[1,12]
  %1 = tile.reshape(%0) : tile<f32[64]@Vec> valid[12]
  tile.store(%1, %out, 0)
  return
}
)"));
}

TEST_CASE("assemble loads its sources where it uses them", "[convert]") {
  Recording k;
  const ValueId a = k.tensor("a", f32, {1, 32}), b = k.tensor("b", f32, {1, 32});
  const ValueId one = k.op(ops::assemble, {k.create(f32, {1, 64}), a, k.index(0), k.index(0)});
  const ValueId two = k.op(ops::assemble, {one, b, k.index(0), k.index(32)});
  k.returns({k.cast(two, bf16)});
  CHECK(converted(k) == golden(R"(
kernel @k(%a: in f32[1,32], %b: in f32[1,32], %out: out bf16[1,64]) {
  %0 = tile.create() : tile<f32[1,64]@Vec>
  %a_tile = tile.load(%a, 0, 0) : tile<f32[1,32]@Vec>
  %1 = tile.assemble(%0, %a_tile, 0, 0) : tile<f32[1,64]@Vec>
  %b_tile = tile.load(%b, 0, 0) : tile<f32[1,32]@Vec>
  %2 = tile.assemble(%1, %b_tile, 0, 32) : tile<f32[1,64]@Vec>
  %3 = tile.cast(%2) {rounding = round} : tile<bf16[1,64]@Vec>
  tile.store(%3, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("a kernel at tile level stays as it is", "[convert]") {
  Recording k;
  const ValueId a = k.tensor("a", f16, {32, 64}), b = k.tensor("b", f16, {32, 64}),
                out = k.tensor("out", f32, {32, 32}, Direction::out);
  const ValueId zero = k.index(0);
  const ValueId l = k.op(ops::move, {k.load(a, {32, 64}, {zero, zero}, Mat)}, {}, shaped_type(f16, {32, 64}, Left));
  const ValueId view = k.op(ops::transpose_view, {k.load(b, {32, 64}, {zero, zero}, Mat)});
  const ValueId r = k.op(ops::move, {view}, {}, shaped_type(f16, {64, 32}, Right));
  k.store(k.matmul(l, r), out, {zero, zero});
  k.returns();
  CHECK(converted(k) == print(k.f()));
  CHECK(converted(k) == golden(R"(
kernel @k(%a: in f16[32,64], %b: in f16[32,64], %out: out f32[32,32]) {
  %0 = tile.load(%a, 0, 0) : tile<f16[32,64]@Mat>
  %1 = tile.move(%0) : tile<f16[32,64]@Left>
  %2 = tile.load(%b, 0, 0) : tile<f16[32,64]@Mat>
  %3 = tile.transpose_view(%2) : tile<f16[64,32]@Mat, zn>
  %4 = tile.move(%3) : tile<f16[64,32]@Right>
  %5 = tile.matmul(%1, %4) : tile<f32[32,32]@Acc>
  tile.store(%5, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("an element of a parameter that no tile holds is read from GM", "[convert]") {
  Recording k;
  const ValueId config = k.tensor("config", f32, {4}), x = k.tensor("x", f32, {64});
  k.returns({k.op(ops::muls, {x, k.op(ops::read, {config, k.index(0)})})});
  CHECK(converted(k) == golden(R"(
kernel @k(%config: in f32[4], %x: in f32[64], %out: out f32[64]) {
  %x_tile = tile.load(%x, 0) : tile<f32[64]@Vec>
  %0 = tensor.read(%config, 0) : f32
  %1 = tile.muls(%x_tile, %0) : tile<f32[64]@Vec>
  tile.store(%1, %out, 0)
  return
}
)"));
}

TEST_CASE("a scalar result is returned", "[convert]") {
  Recording k;
  k.returns({k.op(ops::read, {k.create(f32, {64}), k.index(0)})});
  CHECK(converted(k) == golden(R"(
kernel @k() {
  %0 = tile.create() : tile<f32[64]@Vec>
  %1 = tile.read(%0, 0) : f32
  return %1
}
)"));
}

TEST_CASE("a parameter that is written and never read becomes Out, one that is read InOut", "[convert]") {
  Recording k;
  const ValueId dst = k.tensor("dst", f32, {4}), both = k.tensor("both", f32, {4}),
                kept = k.tensor("kept", f32, {4}, Direction::inout);
  k.effect(ops::write, {dst, k.constant(f32, 2.0), k.index(0)});
  k.effect(ops::write, {both, k.op(ops::read, {both, k.index(1)}), k.index(0)});
  k.effect(ops::write, {kept, k.constant(f32, 2.0), k.index(0)});
  k.returns();
  CHECK(converted(k) == golden(R"(
kernel @k(%dst: out f32[4], %both: inout f32[4], %kept: inout f32[4]) {
  tensor.write(%dst, 2.0:f32, 0)
  %0 = tensor.read(%both, 1) : f32
  tensor.write(%both, %0, 0)
  tensor.write(%kept, 2.0:f32, 0)
  return
}
)"));
}

TEST_CASE("elements of a loaded tensor and of a computed one are those of tiles", "[convert]") {
  Recording k;
  const ValueId a = k.tensor("a", f32, {64}), b = k.tensor("b", f32, {64});
  const ValueId t = k.op(ops::add, {a, b});
  k.effect(ops::write, {t, k.op(ops::read, {a, k.index(0)}), k.index(0)});
  k.returns({k.op(ops::read, {t, k.index(0)})});
  CHECK(converted(k) == golden(R"(
kernel @k(%a: in f32[64], %b: in f32[64]) {
  %a_tile = tile.load(%a, 0) : tile<f32[64]@Vec>
  %b_tile = tile.load(%b, 0) : tile<f32[64]@Vec>
  %0 = tile.add(%a_tile, %b_tile) : tile<f32[64]@Vec>
  %1 = tile.read(%a_tile, 0) : f32
  %2 = tile.write(%0, %1, 0) : tile<f32[64]@Vec>
  %3 = tile.read(%2, 0) : f32
  return %3
}
)"));
}

TEST_CASE("a written parameter is loaded at every use: nothing stale is read", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {16, 64}), o = k.tensor("o", f32, {16, 64}), y = k.tensor("y", f32, {64, 16});
  k.store(k.op(ops::exp, {o}), o, {k.index(0), k.index(0)});
  k.store(k.op(ops::add, {o, x}), o, {k.index(0), k.index(0)});
  k.returns({k.matmul(o, y)});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[16,64], %o: inout f32[16,64], %y: in f32[64,16], %out: out f32[16,16]) {
  %x_tile = tile.load(%x, 0, 0) : tile<f32[16,64]@Vec>
  %o_tile = tile.load(%o, 0, 0) : tile<f32[16,64]@Vec>
  %0 = tile.exp(%o_tile) : tile<f32[16,64]@Vec>
  tile.store(%0, %o, 0, 0)
  %o_tile_1 = tile.load(%o, 0, 0) : tile<f32[16,64]@Vec>
  %1 = tile.add(%o_tile_1, %x_tile) : tile<f32[16,64]@Vec>
  tile.store(%1, %o, 0, 0)
  %o_mat = tile.load(%o, 0, 0) : tile<f32[16,64]@Mat>
  %y_mat = tile.load(%y, 0, 0) : tile<f32[64,16]@Mat>
  %2 = tile.matmul(%o_mat, %y_mat) : tile<f32[16,16]@Acc>
  tile.store(%2, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("a loop that writes a parameter loads it in every round; a carried one starts with what it held",
          "[convert]") {
  Recording k;
  const ValueId o = k.tensor("o", f32, {64}, Direction::inout), x = k.tensor("x", f32, {64});
  k.returns(k.loop(k.index(4), {o}, [&](ValueId, const auto& c) {
    k.store(k.op(ops::add, {o, x}), o, {k.index(0)});
    return std::vector{k.op(ops::add, {c[0], o})};
  }));
  CHECK(converted(k) == golden(R"(
kernel @k(%o: inout f32[64], %x: in f32[64], %out: out f32[64]) {
  %x_tile = tile.load(%x, 0) : tile<f32[64]@Vec>
  %o_tile = tile.load(%o, 0) : tile<f32[64]@Vec>
  %0 = for %1 = 0 to 4 step 1 carry(%2 = %o_tile) : tile<f32[64]@Vec> {
    %o_tile_1 = tile.load(%o, 0) : tile<f32[64]@Vec>
    %3 = tile.add(%o_tile_1, %x_tile) : tile<f32[64]@Vec>
    tile.store(%3, %o, 0)
    %o_tile_2 = tile.load(%o, 0) : tile<f32[64]@Vec>
    %4 = tile.add(%2, %o_tile_2) : tile<f32[64]@Vec>
    yield %4
  }
  tile.store(%0, %out, 0)
  return
}
)"));
}

TEST_CASE("every result gets its own Out parameter, named without clashes; a parameter is stored without a hint",
          "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {64}), o = k.tensor("out", f32, {64}, Direction::out);
  k.store(x, o, {k.index(0)});
  const ValueId e = k.named(k.op(ops::exp, {x}), "x");
  k.returns({x, e, e, k.op(ops::neg, {e})});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[64], %out: out f32[64], %out1: out f32[64], %x1: out f32[64], %x2: out f32[64], %out2: out f32[64]) {
  %x_tile = tile.load(%x, 0) : tile<f32[64]@Vec>
  tile.store(%x_tile, %out, 0)
  %x_1 = tile.exp(%x_tile) : tile<f32[64]@Vec>
  %0 = tile.neg(%x_1) : tile<f32[64]@Vec>
  tile.store(%x_tile, %out1, 0)
  tile.store(%x_1, %x1, 0)
  tile.store(%x_1, %x2, 0)
  tile.store(%0, %out2, 0)
  return
}
)"));
}

TEST_CASE("bulk and scalar stores of one tensor are refused at the scalar store", "[convert]") {
  Recording k;
  const ValueId dst = k.tensor("dst", i32, {32}, Direction::out);
  k.store(k.full(k.constant(i32, 0), {32}), dst, {k.index(0)});
  k.loop(k.index(4), {}, [&](ValueId i, const auto&) {
    k.effect(ops::write, {dst, k.constant(i32, 1), i});
    return std::vector<ValueId>{};
  });
  k.returns();
  CHECK(refusal(k) ==
        "k.cpp:4: error: write: the tensor is written by store, too; bulk and scalar stores cannot be mixed (dst)\n"
        "  hint: write the elements into a tile and store that, or write to another tensor");
}

TEST_CASE("bulk stores to one tensor and scalar stores to another are accepted", "[convert]") {
  Recording k;
  const ValueId a = k.tensor("a", i32, {32}, Direction::out), b = k.tensor("b", i32, {32}, Direction::out);
  k.store(k.full(k.constant(i32, 0), {32}), a, {k.index(0)});
  k.effect(ops::write, {b, k.constant(i32, 1), k.index(0)});
  k.returns();
  CHECK_NOTHROW(conversion(k));
}

TEST_CASE("a tensor with a run-time dim is not loaded as a whole, at its first use", "[convert]") {
  const std::string hint =
      "\n  hint: loop over static chunks, slice<Shape<...>>(x, at(...), valid(...)) with the tail's extents; or give "
      "the parameter a static shape";
  Recording vec;
  const ValueId x = vec.tensor("x", f32, {4, dyn<"S">});
  vec.full(vec.constant(f32, 0.0), {4});
  vec.returns({vec.op(ops::exp, {x})});
  CHECK(refusal(vec) ==
        "k.cpp:2: error: exp: a tensor with a run-time dim cannot be loaded as a whole (x, f32[4,S])" + hint);
  Recording mat;
  const ValueId a = mat.tensor("x", f32, {dyn<"S">, 16}), b = mat.tensor("b", f32, {16, 16});
  mat.returns({mat.matmul(a, b)});
  CHECK(refusal(mat) ==
        "k.cpp:1: error: matmul: a tensor with a run-time dim cannot be loaded as a whole (x, f32[S,16])" + hint);
}

TEST_CASE("chunks of a tensor with a run-time dim are loaded", "[convert]") {
  Recording k;
  const std::int64_t s = dyn<"S">;
  const ValueId x = k.tensor("x", f32, {s, 16}), o = k.tensor("o", f32, {s, 16}, Direction::out);
  const ValueId rows = k.f().symbol(s);
  k.loop(rows, {}, [&](ValueId i, const auto&) {
    const ValueId at = k.b().mul(i, k.index(8)), tail = k.b().min(k.index(8), k.b().sub(rows, at));
    k.store(k.op(ops::exp, {k.slice(x, {8, 16}, {at, k.index(0)}, {tail, k.index(16)})}), o, {at, k.index(0)});
    return std::vector<ValueId>{};
  });
  k.returns();
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[S,16], %o: out f32[S,16]) {
  for %0 = 0 to S step 1 {
    %1 = scalar.mul(%0, 8) : index
    %2 = scalar.sub(S, %1) : index
    %3 = scalar.min(8, %2) : index
    %4 = tile.load(%x, %1, 0, %3, 16) {has_valid = 1} : tile<f32[8,16]@Vec> valid[%3,16]
    %5 = tile.exp(%4) : tile<f32[8,16]@Vec> valid[%3,16]
    tile.store(%5, %o, %1, 0)
    yield
  }
  return
}
)"));
}

TEST_CASE("an element of a tensor value from outside of the loop cannot be written", "[convert]") {
  Recording k;
  const ValueId t = k.full(k.constant(f32, 0.0), {64});
  k.loop(k.index(4), {}, [&](ValueId i, const auto&) {
    k.effect(ops::write, {t, k.constant(f32, 1.0), i});
    return std::vector<ValueId>{};
  });
  k.returns({t});
  CHECK(refusal(k) == "k.cpp:3: error: write: the tensor value is made outside of this loop or branch\n"
                      "  hint: make it a Var, so that the loop carries it, or write to an Out parameter");
}

TEST_CASE("a tensor operation without tile form is an internal error that shows it", "[convert]") {
  static constexpr OpInfo odd = {.name = "odd", .summary = "", .level = Level::tensor, .infer = ops::exp.infer};
  Recording k;
  k.returns({k.op(odd, {k.tensor("x", f32, {64})})});
  CHECK(contains(thrown<InternalError>([&] { (void)conversion(k); }),
                 "no tile operation for\n  %0 = tensor.odd(%x) : f32[64]"));
}
