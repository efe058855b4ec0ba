// The IR as text: names, types, constants, attributes, blocks, places in the source.
#include "support/catch.hpp"
#include "support/ir.hpp"

#include <tessera/ir/printer.hpp>

using namespace tessera;
using namespace tessera::test;

TEST_CASE("types", "[ir]") {
  CHECK(text(shaped_type(f32, {16, 64})) == "f32[16,64]");
  CHECK(text(shaped_type(bf16, {4, dyn<"S">})) == "bf16[4,S]");
  CHECK(text(shaped_type(f32, {16, 64}, Vec)) == "tile<f32[16,64]@Vec>");
  CHECK(text(shaped_type(f32, {16, 1}, Vec)) == "tile<f32[16,1]@Vec>");
  Type t = shaped_type(f32, {16, 64}, Mat);
  t.layout = Layout::zn;
  CHECK(text(t) == "tile<f32[16,64]@Mat, zn>");
  CHECK(text(index_scalar) == "index");
  CHECK(text(Type{}) == "none");
}

TEST_CASE("hints are made unique, also where a hint looks like a made name", "[ir]") {
  Recording k("names");
  const ValueId x = k.tensor("x", f32, {8});
  const ValueId a = k.named(k.op(ops::exp, {x}), "scores");
  const ValueId b = k.named(k.op(ops::exp, {a}), "scores_1");
  const ValueId c = k.named(k.op(ops::exp, {b}), "scores");
  const ValueId d = k.named(k.op(ops::exp, {k.op(ops::neg, {c})}), "x");
  k.returns({d});
  CHECK(print(k.f()) == golden(R"(
kernel @names(%x: in f32[8]) {
  %scores = tensor.exp(%x) : f32[8]
  %scores_1 = tensor.exp(%scores) : f32[8]
  %scores_2 = tensor.exp(%scores_1) : f32[8]
  %0 = tensor.neg(%scores_2) : f32[8]
  %x_1 = tensor.exp(%0) : f32[8]
  return %x_1
}
)"));
}

TEST_CASE("constants, attributes and directions", "[ir]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {8, 16}, Direction::inout), s = k.scalar("s", i32),
                o = k.tensor("o", f16, {8, 16}, Direction::out);
  k.op(ops::scalar_add, {s, k.constant(i32, -5)});
  k.op(ops::scalar_not, {k.f().constant(boolean, std::int64_t{1})});
  k.op(ops::muls, {x, k.constant(f32, 0.1)});
  k.op(ops::muls, {x, k.constant(f32, 1e30)});
  k.op(ops::full, {k.constant(f16, -4.0)}, {}, shaped_type(f16, {4}));
  k.cast(x, f16, Rounding::rint);
  k.op(ops::transpose, {x},
       {int_attr(AttrKey::axis, 0), int_attr(AttrKey::other_axis, -1)});
  const ValueId t = k.load(x, {8, 16}, {k.index(0), k.index(0)});
  const Attr window = k.f().list_attr(AttrKey::window, {8, 16});
  k.effect(ops::store, {k.cast(t, f16, Rounding::none), o, k.index(0), k.index(0)}, {window});
  k.op(ops::add, {k.f().symbol(dyn<"N">) ? k.f().result(OpId{5}) : t, k.f().result(OpId{5})});
  k.returns();
  CHECK(print(k.f()) == golden(R"(
kernel @k(%x: inout f32[8,16], %s: i32, %o: out f16[8,16]) {
  %0 = scalar.add(%s, -5:i32) : i32
  %1 = scalar.not(true) : boolean
  %2 = tensor.muls(%x, 0.1:f32) : f32[8,16]
  %3 = tensor.muls(%x, 1e+30:f32) : f32[8,16]
  %4 = tensor.full(-4.0:f16) : f16[4]
  %5 = tensor.cast(%x) {rounding = rint} : f16[8,16]
  %6 = tensor.transpose(%x) {axis = 0, other_axis = -1} : f32[16,8]
  %7 = tile.load(%x, 0, 0) : tile<f32[8,16]@Vec>
  %8 = tile.cast(%7) {rounding = none} : tile<f16[8,16]@Vec>
  tile.store(%8, %o, 0, 0) {window = [8, 16]}
  %9 = tensor.add(%5, %5) : f16[8,16]
  return
}
)"));
}

TEST_CASE("valid extents and buffers", "[ir]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {16, 64}), n = k.scalar("n", index_type);
  const ValueId t = k.load(x, {16, 64}, {k.index(0), k.index(0)}, Vec, {n, k.index(60)});
  const ValueId e = k.named(k.op(ops::exp, {t}), "e");
  k.f()[t].buffer = t.index;
  k.f()[e].buffer = t.index;
  k.returns();
  CHECK(print(k.f()) == golden(R"(
kernel @k(%x: in f32[16,64], %n: index) {
  %0 = tile.load(%x, 0, 0, %n, 60) {has_valid = 1} : tile<f32[16,64]@Vec> valid[%n,60] buffer(%0)
  %e = tile.exp(%0) : tile<f32[16,64]@Vec> valid[%n,60] buffer(%0)
  return
}
)"));
}

TEST_CASE("blocks are indented; places are the file's name and the line", "[ir]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {8}), n = k.scalar("n", index_type);
  const auto r = k.loop(n, {x}, [&](ValueId i, const auto& c) {
    const ValueId first = k.op(ops::scalar_compare, {i, k.index(0)}, {int_attr(AttrKey::compare, 2)});
    return k.branch(first, {shaped_type(f32, {8})}, [&] { return std::vector{c[0]}; },
                    [&] { return std::vector{k.op(ops::exp, {c[0]})}; });
  });
  k.returns(r);
  CHECK(print(k.f(), {.locations = true}) == golden(R"(
kernel @k(%x: in f32[8], %n: index) {
  %0 = for %1 = 0 to %n step 1 carry(%2 = %x) : f32[8] {
    %3 = scalar.compare(%1, 0) {compare = lt} : boolean loc(k.cpp:2)
    %4 = if %3 : f32[8] {
      yield %2 loc(k.cpp:4)
    } else {
      %5 = tensor.exp(%2) : f32[8] loc(k.cpp:5)
      yield %5 loc(k.cpp:6)
    } loc(k.cpp:3)
    yield %4 loc(k.cpp:7)
  } loc(k.cpp:1)
  return %0 loc(k.cpp:8)
}
)"));
  CHECK(print(k.f(), k.f().definition(r[0])).substr(0, 54) == "%0 = for %1 = 0 to %n step 1 carry(%2 = %x) : f32[8] {");
}
