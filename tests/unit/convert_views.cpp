// Parameters that are seen with other dims or element types, windows with a pad value, tiles that grow.
#include "support/catch.hpp"
#include "support/convert.hpp"
#include "support/same_numbers.hpp"

#include <tessera/passes/pass.hpp>
#include <tessera/passes/pipeline.hpp>

using namespace tessera;
using namespace tessera::test;

namespace {
struct Viewer : Recording {
  ValueId view(ValueId x, List<std::int64_t> dims) { return op(ops::view, {x}, {}, shaped_type(f().type(x).dtype, dims)); }
  ValueId reinterpret(ValueId x, DType d, List<std::int64_t> dims = {}) {
    return op(ops::reinterpret, {x}, {}, dims.empty() ? scalar_type(d) : shaped_type(d, dims));
  }
  void write(ValueId t, int n, std::vector<ValueId> at) {
    at.insert(at.begin(), {t, constant(f().type(t).dtype, n)});
    effect(ops::write, at);
  }
};
Attr pad(Pad p) { return int_attr(AttrKey::pad, static_cast<std::int64_t>(p)); }
}  // namespace

// --- views of memory ---

TEST_CASE("a view of a parameter stays memory: its windows are loaded, it is stored to", "[convert]") {
  Viewer k;
  const ValueId x = k.tensor("x", f32, {2, 3, 64}), o = k.tensor("o", f32, {6, 64});
  const ValueId rows = k.view(x, {6, 64}), pages = k.view(o, {3, 2, 64});
  k.loop(k.index(3), {}, [&](ValueId i, const auto&) {
    const ValueId part = k.slice(rows, {2, 64}, {k.b().mul(i, k.index(2)), k.index(0)});
    k.store(k.reshape(k.op(ops::exp, {part}), {1, 2, 64}), pages, {i, k.index(0), k.index(0)});
    return std::vector<ValueId>{};
  });
  k.returns();
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[2,3,64], %o: out f32[6,64]) {
  %0 = tensor.view(%x) : f32[6,64]
  %1 = tensor.view(%o) : f32[3,2,64]
  for %2 = 0 to 3 step 1 {
    %3 = scalar.mul(%2, 2) : index
    %4 = tile.load(%0, %3, 0) : tile<f32[2,64]@Vec>
    %5 = tile.exp(%4) : tile<f32[2,64]@Vec>
    %6 = tile.reshape(%5) : tile<f32[1,2,64]@Vec>
    tile.store(%6, %1, %2, 0, 0)
    yield
  }
  return
}
)"));
  k.f().parameters[1].direction = Direction::out;
  SameNumbers a5(k), a3(k, Arch::a3);
}

TEST_CASE("a view that is a value is loaded whole, where it is used", "[convert]") {
  Viewer k;
  const ValueId x = k.tensor("x", f32, {2, 16});
  k.returns({k.op(ops::exp, {k.view(x, {32})}), k.view(x, {4, 8})});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[2,16], %out: out f32[32], %out1: out f32[4,8]) {
  %0 = tensor.view(%x) : f32[32]
  %x_tile = tile.load(%0, 0) : tile<f32[32]@Vec>
  %1 = tile.exp(%x_tile) : tile<f32[32]@Vec>
  %2 = tensor.view(%x) : f32[4,8]
  tile.store(%1, %out, 0)
  %x_tile_1 = tile.load(%2, 0, 0) : tile<f32[4,8]@Vec>
  tile.store(%x_tile_1, %out1, 0, 0)
  return
}
)"));
  SameNumbers a5(k), a3(k, Arch::a3);
}

TEST_CASE("a product reads a view of a parameter from Mat, transposed or not", "[convert]") {
  Viewer k;
  const ValueId a = k.tensor("a", f16, {2, 8, 32}), b = k.tensor("b", f16, {32, 32});
  k.returns({k.matmul(k.view(a, {16, 32}), b), k.matmul(k.view(a, {16, 32}), b, false, true)});
  const std::string text = converted(k);
  CHECK(contains(text, "%a_mat = tile.load(%0, 0, 0) : tile<f16[16,32]@Mat>"));
  CHECK_FALSE(contains(text, "@Vec"));
  SameNumbers a5(k), a3(k, Arch::a3);
}

TEST_CASE("views of one tensor are one tensor: directions and orders see through them", "[convert]") {
  Viewer k;
  const ValueId dst = k.tensor("dst", f32, {4, 16}), zero = k.index(0);
  std::string expected;
  SECTION("a bulk store to a view and an element of the tensor") {
    k.store(k.full(k.constant(f32, 0.0), {64}), k.view(dst, {64}), {zero});
    k.effect(ops::write, {dst, k.constant(f32, 1.0), zero, zero});
    expected = "k.cpp:4: error: write: the tensor is written by store, too; bulk and scalar stores cannot be mixed (dst)";
  }
  SECTION("an element of a view of a view, and a load of the tensor") {
    k.effect(ops::write, {k.view(k.view(dst, {64}), {8, 8}), k.constant(f32, 1.0), zero, zero});
    k.returns({k.op(ops::exp, {dst})});
    expected = "k.cpp:4: error: exp: the tensor is written element by element before";
  }
  SECTION("a store to a view") {
    k.store(k.full(k.constant(f32, 0.0), {64}), k.view(dst, {64}), {zero});
    expected = "@k(%dst: out f32[4,16])";
  }
  SECTION("a store to a view, a load of another one") {
    k.store(k.full(k.constant(f32, 0.0), {64}), k.view(dst, {64}), {zero});
    k.slice(k.view(dst, {8, 8}), {8, 8}, {zero, zero});
    expected = "@k(%dst: inout f32[4,16])";
  }
  if (!k.f()[k.f().body()].last || !k.f().is(k.f()[k.f().body()].last, ops::return_op)) k.returns();
  CHECK(contains(refusal(k), expected));
}

TEST_CASE("stores through one view are seen through another", "[convert]") {
  Viewer k;
  const ValueId dst = k.tensor("dst", f32, {4, 16}, Direction::inout), zero = k.index(0);
  k.store(k.full(k.constant(f32, 5.0), {1, 32}), k.view(dst, {2, 32}), {k.index(1), zero});
  k.returns({k.op(ops::add, {dst, dst}), k.op(ops::neg, {k.view(dst, {64})})});
  SameNumbers a5(k), a3(k, Arch::a3);
}

TEST_CASE("run-time dims of a view are those of the parameter", "[convert]") {
  Viewer k;
  const std::int64_t s = dyn<"S">;
  const ValueId x = k.tensor("x", f32, {s, 4, 16}), o = k.tensor("o", f32, {s, 64}, Direction::out), zero = k.index(0);
  const ValueId rows = k.f().symbol(s), seen = k.view(x, {s, 64});
  k.loop(rows, {}, [&](ValueId i, const auto&) {
    k.store(k.op(ops::exp, {k.slice(seen, {1, 64}, {i, zero})}), o, {i, zero});
    return std::vector<ValueId>{};
  });
  k.returns();
  SameNumbers a5(k), a3(k, Arch::a3);
  CHECK(contains(thrown<UserError>([&] { k.view(x, {64, s, 2}); }), "view: the count of elements changes, or the run-time dims do (64, 128)"));
}

TEST_CASE("a value has no memory to view", "[convert]") {
  Viewer k;
  const ValueId x = k.tensor("x", f32, {4, 8}), part = k.slice(x, {4, 8}, {k.index(0), k.index(0)});
  CHECK(contains(thrown<UserError>([&] { k.view(part, {32}); }),
                 "k.cpp:2: error: view: the operand is a value and no tensor parameter\n"
                 "  hint: pass a Tensor, Out or InOut parameter; reshape<Shape<...>>(x) gives a value another shape"));
}

TEST_CASE("an element of a view is one of the parameter", "[convert]") {
  Viewer k;
  const ValueId x = k.tensor("x", i32, {4, 16}), o = k.tensor("o", i32, {4, 16}, Direction::out);
  const ValueId flat = k.view(x, {64}), element = k.op(ops::read, {flat, k.index(20)});
  k.effect(ops::write, {k.view(o, {2, 32}), element, k.index(1), k.index(3)});
  k.returns();
  const SameNumbers made(k);
  CHECK(contains(made.module, "pto.load_scalar %x[%c20]"));
  CHECK(contains(made.module, "pto.store_scalar %"));
  CHECK(contains(made.module, ", %o[%c35]"));
}

// --- bytes ---

TEST_CASE("bytes of a parameter are seen through a tile in Vec", "[convert]") {
  Viewer k;
  SECTION("the last dim is scaled") { k.returns({k.reinterpret(k.tensor("x", f32, {8, 16}), i16)}); }
  SECTION("in a row") { k.returns({k.reinterpret(k.tensor("x", f32, {16}), i16)}); }
  SECTION("in a stated shape") { k.returns({k.reinterpret(k.tensor("x", f32, {1, 24}), i16, {3, 16})}); }
  SECTION("in pages") { k.returns({k.reinterpret(k.tensor("x", i8, {2, 4, 32}), bf16)}); }
  SECTION("of what is computed") {
    const ValueId x = k.tensor("x", f32, {8, 16});
    const ValueId bits = k.op(ops::bit_ands, {k.reinterpret(k.op(ops::exp, {x}), i32), k.constant(i32, -65536)});
    k.returns({k.op(ops::neg, {k.reinterpret(bits, f32)})});
  }
  SECTION("carried by a loop") {
    const ValueId x = k.tensor("x", f32, {8, 16});
    k.returns(k.loop(k.index(3), {k.reinterpret(x, i32)},
                     [&](ValueId, const auto& c) { return std::vector{k.op(ops::adds, {c[0], k.constant(i32, 1)})}; }));
  }
  SECTION("of a product") {
    k.returns({k.reinterpret(k.matmul(k.tensor("a", f16, {16, 32}), k.tensor("b", f16, {32, 16})), i32)});
  }
  SameNumbers a5(k), a3(k, Arch::a3);
  CHECK(contains(a5.module, "pto.treshape"));
  CHECK_FALSE(contains(print(a5.converted), "tensor.reinterpret"));
}

TEST_CASE("columns and padded rows have no other element type", "[convert]") {
  {
    Viewer k;
    k.returns({k.reinterpret(k.tensor("x", f32, {16, 1}), i16)});
    CHECK(refusal(k) == "k.cpp:1: error: reinterpret: the elements do not follow each other row by row (Vec)\n"
                        "  hint: only packed rows in Vec are seen in another element type: reshape a column to one row "
                        "first, move a product to Vec");
  }
  Viewer k;
  k.returns({k.reinterpret(k.tensor("x", f32, {2, 3}), i16, {3, 4})});
  CHECK(contains(thrown<UserError>([&] { SameNumbers a5(k); }),
                 "reinterpret: the rows are padded to 32 bytes, so the tile is not seen in another element type ([2,3] of f32 "
                 "to [3,4] of i16)"));
}

// --- pads ---

TEST_CASE("the pad of a window is filled behind its load; on a tile behind its view", "[convert]") {
  Viewer k;
  const ValueId x = k.tensor("x", f32, {16, 64}), n = k.scalar("n", index_type), zero = k.index(0);
  const ValueId part = k.slice(x, {8, 32}, {k.index(8), zero}, {n, k.index(24)});
  const ValueId tile = k.slice(k.full(k.constant(f32, 1.0), {16, 64}), {8, 32}, {zero, zero}, {k.index(8), k.index(8)});
  k.returns({k.op(ops::fillpad, {part}, {pad(Pad::max)}), k.op(ops::fillpad, {tile}, {pad(Pad::min)})});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[16,64], %n: index, %out: out f32[8,32], %out1: out f32[8,32]) {
  %0 = tile.load(%x, 8, 0, %n, 24) {has_valid = 1} : tile<f32[8,32]@Vec> valid[%n,24]
  %1 = tile.full(1.0:f32) : tile<f32[16,64]@Vec>
  %2 = tile.slice(%1, 0, 0, 8, 8) {has_valid = 1} : tile<f32[8,32]@Vec> valid[8,8]
  %3 = tile.fillpad(%0) {pad = max} : tile<f32[8,32]@Vec>
  %4 = tile.fillpad(%2) {pad = min} : tile<f32[8,32]@Vec>
  tile.store(%3, %out, 0, 0)
  tile.store(%4, %out1, 0, 0)
  return
}
)"));
  SameNumbers a5(k, Arch::a5, 8, 5), a3(k, Arch::a3, 8, 3);
}

TEST_CASE("a parameter that grows is loaded, and filled into a larger tile", "[convert]") {
  Viewer k;
  const ValueId x = k.tensor("x", f32, {8, 32});
  k.returns({k.op(ops::fillpad_expand, {x}, {pad(Pad::min)}, shaped_type(f32, {16, 64}))});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[8,32], %out: out f32[16,64]) {
  %x_tile = tile.load(%x, 0, 0) : tile<f32[8,32]@Vec>
  %0 = tile.fillpad_expand(%x_tile) {pad = min} : tile<f32[16,64]@Vec>
  tile.store(%0, %out, 0, 0)
  return
}
)"));
  SameNumbers a5(k), a3(k, Arch::a3);
}

TEST_CASE("a loaded slice that two products read is loaded once", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f16, {32, 32}), b = k.tensor("b", f16, {32, 16}), c = k.tensor("c", f16, {32, 16});
  const ValueId part = k.slice(x, {16, 32}, {k.index(16), k.index(0)});
  k.returns({k.matmul(part, b), k.matmul(part, c)});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f16[32,32], %b: in f16[32,16], %c: in f16[32,16], %out: out f32[16,16], %out1: out f32[16,16]) {
  %0 = tile.load(%x, 16, 0) : tile<f16[16,32]@Mat>
  %b_mat = tile.load(%b, 0, 0) : tile<f16[32,16]@Mat>
  %1 = tile.matmul(%0, %b_mat) : tile<f32[16,16]@Acc>
  %c_mat = tile.load(%c, 0, 0) : tile<f16[32,16]@Mat>
  %2 = tile.matmul(%0, %c_mat) : tile<f32[16,16]@Acc>
  tile.store(%1, %out, 0, 0)
  tile.store(%2, %out1, 0, 0)
  return
}
)"));
  SameNumbers a5(k), a3(k, Arch::a3);
}

TEST_CASE("a sliced page of a batch is read through one transposed view", "[convert]") {
  Recording k;
  const ValueId lhs = k.tensor("lhs", bf16, {16, 128}), all = k.tensor("all", bf16, {2, 64, 128}), zero = k.index(0);
  k.returns({k.matmul(lhs, k.slice(all, {1, 64, 128}, {k.index(1), zero, zero}), false, true)});
  CHECK(converted(k) == golden(R"(
kernel @k(%lhs: in bf16[16,128], %all: in bf16[2,64,128], %out: out f32[1,16,64]) {
  %0 = tile.load(%all, 1, 0, 0) : tile<bf16[1,64,128]@Mat>
  %lhs_mat = tile.load(%lhs, 0, 0) : tile<bf16[16,128]@Mat>
  %1 = tile.transpose_view(%0) : tile<bf16[1,128,64]@Mat, zn>
  %2 = tile.matmul(%lhs_mat, %1) : tile<f32[1,16,64]@Acc>
  tile.store(%2, %out, 0, 0, 0)
  return
}
)"));
  SameNumbers a5(k), a3(k, Arch::a3);
}

TEST_CASE("storage that is larger than its space is refused by its size", "[convert]") {
  Recording k;
  k.returns({k.op(ops::exp, {k.create(f32, {1024, 64})})});
  CHECK(contains(thrown<UserError>([&] { (void)run_passes(k.f(), default_pipeline(), {Arch::a3}); }),
                 "k.cpp:1: error: create: the tile is larger than its memory space (Vec, 262144, 188416)"));
}
