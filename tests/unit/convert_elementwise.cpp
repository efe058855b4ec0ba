// Elementwise operations, reductions and windows of tiles: the operation keeps its name, parameters are loaded at the top.
#include "support/catch.hpp"
#include "support/convert.hpp"

#include <tessera/ir/printer.hpp>

using namespace tessera;
using namespace tessera::test;

TEST_CASE("C1: one operand used twice is loaded once", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {64});
  k.returns({k.op(ops::add, {x, x})});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[64], %out: out f32[64]) {
  %x_tile = tile.load(%x, 0) : tile<f32[64]@Vec>
  %0 = tile.add(%x_tile, %x_tile) : tile<f32[64]@Vec>
  tile.store(%0, %out, 0)
  return
}
)"));
}

TEST_CASE("C1: loads stand in parameter order", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {64}), y = k.tensor("y", f32, {64});
  k.returns({k.op(ops::sub, {y, x})});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[64], %y: in f32[64], %out: out f32[64]) {
  %x_tile = tile.load(%x, 0) : tile<f32[64]@Vec>
  %y_tile = tile.load(%y, 0) : tile<f32[64]@Vec>
  %0 = tile.sub(%y_tile, %x_tile) : tile<f32[64]@Vec>
  tile.store(%0, %out, 0)
  return
}
)"));
}

TEST_CASE("C1 C2 C4 C5: every unary, binary and scalar form keeps its name", "[convert]") {
  for (const OpInfo* info : {&ops::add, &ops::sub, &ops::mul, &ops::div, &ops::maximum, &ops::minimum, &ops::fmod}) {
    Recording k;
    const ValueId x = k.tensor("x", f32, {64}), y = k.tensor("y", f32, {64});
    k.returns({k.op(*info, {x, y})});
    CHECK(converted(k).find("%0 = tile." + std::string(info->name) + "(%x_tile, %y_tile) : tile<f32[64]@Vec>\n") !=
          std::string::npos);
  }
  for (const OpInfo* info : {&ops::adds, &ops::subs, &ops::muls, &ops::divs, &ops::maximums, &ops::minimums, &ops::fmods}) {
    Recording k;
    k.returns({k.op(*info, {k.tensor("x", f32, {64}), k.constant(f32, 1.0)})});
    CHECK(converted(k).find("%0 = tile." + std::string(info->name) + "(%x_tile, 1.0:f32) : tile<f32[64]@Vec>\n") !=
          std::string::npos);
  }
  for (const OpInfo* info :
       {&ops::exp, &ops::neg, &ops::recip, &ops::sqrt, &ops::abs, &ops::log, &ops::rsqrt, &ops::relu, &ops::sin, &ops::cos}) {
    Recording k;
    k.returns({k.op(*info, {k.tensor("x", f32, {64})})});
    CHECK(converted(k).find("%0 = tile." + std::string(info->name) + "(%x_tile) : tile<f32[64]@Vec>\n") !=
          std::string::npos);
  }
}

TEST_CASE("an operation that is asked to be exact stays so", "[convert]") {
  const Attr exact = int_attr(AttrKey::high_precision, 1);
  for (const OpInfo* info : {&ops::exp, &ops::log, &ops::sqrt, &ops::rsqrt, &ops::recip}) {
    Recording k;
    k.returns({k.op(*info, {k.tensor("x", f32, {64})}, {exact})});
    CHECK(converted(k).find("%0 = tile." + std::string(info->name) + "(%x_tile) {high_precision = 1} : tile<f32[64]@Vec>\n") !=
          std::string::npos);
  }
  Recording k;
  k.returns({k.op(ops::div, {k.tensor("x", f32, {64}), k.tensor("y", f32, {64})}, {exact})});
  CHECK(converted(k).find("%0 = tile.div(%x_tile, %y_tile) {high_precision = 1} : tile<f32[64]@Vec>\n") != std::string::npos);
}

TEST_CASE("a sequence keeps its direction", "[convert]") {
  Recording k;
  k.returns({k.op(ops::arange, {k.constant(i32, 0)}, {int_attr(AttrKey::descending, 1)}, shaped_type(i32, {1, 32}))});
  CHECK(converted(k) == golden(R"(
kernel @k(%out: out i32[1,32]) {
  %0 = tile.arange(0:i32) {descending = 1} : tile<i32[1,32]@Vec>
  tile.store(%0, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("which block and which vector core runs is asked as before", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {256, 64}), out = k.tensor("out", f32, {256, 64}, Direction::out);
  const ValueId row = k.op(ops::scalar_mul, {k.op(ops::block_index, {}), k.index(32)});
  const ValueId half = k.op(ops::scalar_add, {row, k.op(ops::subblock_index, {})});
  k.store(k.slice(x, {16, 64}, {half, k.index(0)}), out, {half, k.index(0)});
  k.returns();
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[256,64], %out: out f32[256,64]) {
  %0 = scalar.block_index() : index
  %1 = scalar.mul(%0, 32) : index
  %2 = scalar.subblock_index() : index
  %3 = scalar.add(%1, %2) : index
  %4 = tile.load(%x, %3, 0) : tile<f32[16,64]@Vec>
  tile.store(%4, %out, %3, 0)
  return
}
)"));
}

TEST_CASE("a parameter that is assembled into an output is loaded", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {16, 64}), out = k.tensor("out", f32, {64, 64}, Direction::out);
  k.store(x, out, {k.index(16), k.index(0)});
  k.returns();
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[16,64], %out: out f32[64,64]) {
  %x_tile = tile.load(%x, 0, 0) : tile<f32[16,64]@Vec>
  tile.store(%x_tile, %out, 16, 0)
  return
}
)"));
}

TEST_CASE("a slope is f32 beside f16", "[convert]") {
  Recording k;
  k.returns({k.op(ops::lrelu, {k.tensor("x", f16, {64}), k.constant(f32, 0.25)})});
  CHECK(converted(k).find("%0 = tile.lrelu(%x_tile, 0.25:f32) : tile<f16[64]@Vec>\n") != std::string::npos);
}

TEST_CASE("C3: part operations keep their name", "[convert]") {
  for (const OpInfo* info : {&ops::part_add, &ops::part_mul, &ops::part_max, &ops::part_min}) {
    Recording k;
    const ValueId x = k.tensor("x", f32, {64}), y = k.tensor("y", f32, {64});
    k.returns({k.op(*info, {x, y})});
    CHECK(converted(k).find("%0 = tile." + std::string(info->name) + "(%x_tile, %y_tile) : tile<f32[64]@Vec>\n") !=
          std::string::npos);
  }
}

TEST_CASE("C28 C29 C30: operations on bits keep their name", "[convert]") {
  for (const OpInfo* info : {&ops::bit_and, &ops::bit_or, &ops::shl, &ops::shr}) {
    Recording k;
    const ValueId x = k.tensor("x", i32, {64}), y = k.tensor("y", i32, {64});
    k.returns({k.op(*info, {x, y})});
    CHECK(converted(k).find("%0 = tile." + std::string(info->name) + "(%x_tile, %y_tile) : tile<i32[64]@Vec>\n") !=
          std::string::npos);
  }
  for (const OpInfo* info : {&ops::bit_ands, &ops::bit_ors, &ops::shls, &ops::shrs}) {
    Recording k;
    k.returns({k.op(*info, {k.tensor("x", i32, {64}), k.constant(i32, 3)})});
    CHECK(converted(k).find("%0 = tile." + std::string(info->name) + "(%x_tile, 3:i32) : tile<i32[64]@Vec>\n") !=
          std::string::npos);
  }
  Recording k;
  k.returns({k.op(ops::bit_not, {k.tensor("x", i16, {64})})});
  CHECK(converted(k).find("%0 = tile.bit_not(%x_tile) : tile<i16[64]@Vec>\n") != std::string::npos);
}

TEST_CASE("C31 C32: exclusive or gets a scratch tile like its first operand", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", i16, {32}), y = k.tensor("y", i16, {32});
  k.returns({k.op(ops::bit_xor, {x, y}), k.op(ops::bit_xors, {x, k.constant(i16, 5)})});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in i16[32], %y: in i16[32], %out: out i16[32], %out1: out i16[32]) {
  %x_tile = tile.load(%x, 0) : tile<i16[32]@Vec>
  %y_tile = tile.load(%y, 0) : tile<i16[32]@Vec>
  %0 = tile.create() : tile<i16[32]@Vec>
  %1 = tile.bit_xor(%x_tile, %y_tile, %0) : tile<i16[32]@Vec>
  %2 = tile.create() : tile<i16[32]@Vec>
  %3 = tile.bit_xors(%x_tile, 5:i16, %2) : tile<i16[32]@Vec>
  tile.store(%1, %out, 0)
  tile.store(%3, %out1, 0)
  return
}
)"));
}

TEST_CASE("C6: only results are stored", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {64}), y = k.op(ops::add, {x, x});
  k.returns({k.named(k.op(ops::mul, {y, y}), "z")});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[64], %z: out f32[64]) {
  %x_tile = tile.load(%x, 0) : tile<f32[64]@Vec>
  %0 = tile.add(%x_tile, %x_tile) : tile<f32[64]@Vec>
  %z_1 = tile.mul(%0, %0) : tile<f32[64]@Vec>
  tile.store(%z_1, %z, 0)
  return
}
)"));
}

TEST_CASE("C15: two dims", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f16, {32, 64});
  k.returns({k.op(ops::add, {x, x})});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f16[32,64], %out: out f16[32,64]) {
  %x_tile = tile.load(%x, 0, 0) : tile<f16[32,64]@Vec>
  %0 = tile.add(%x_tile, %x_tile) : tile<f16[32,64]@Vec>
  tile.store(%0, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("C45: a row reduction gets a scratch tile of at least 128 columns", "[convert]") {
  Recording k;
  k.returns({k.op(ops::row_min, {k.tensor("x", f32, {32, 64})})});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[32,64], %out: out f32[32,1]) {
  %x_tile = tile.load(%x, 0, 0) : tile<f32[32,64]@Vec>
  %0 = tile.create() : tile<f32[32,128]@Vec>
  %1 = tile.row_min(%x_tile, %0) : tile<f32[32,1]@Vec>
  tile.store(%1, %out, 0, 0)
  return
}
)"));
  Recording wide;
  wide.returns({wide.op(ops::row_sum, {wide.tensor("x", f32, {2, 8, 256})})});
  CHECK(converted(wide).find("%0 = tile.create() : tile<f32[2,8,256]@Vec>\n") != std::string::npos);
}

TEST_CASE("a reduction at tile level gets its scratch, too; one that has it keeps it", "[convert]") {
  Recording k;
  const ValueId x = k.load(k.tensor("x", f32, {32, 64}), {32, 64}, {k.index(0), k.index(0)});
  const ValueId m = k.op(ops::row_max, {x});
  const ValueId s = k.op(ops::row_sum, {x, k.create(f32, {32, 128}, Vec)});
  k.returns({m, s});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[32,64], %out: out f32[32,1], %out1: out f32[32,1]) {
  %0 = tile.load(%x, 0, 0) : tile<f32[32,64]@Vec>
  %1 = tile.create() : tile<f32[32,128]@Vec>
  %2 = tile.row_max(%0, %1) : tile<f32[32,1]@Vec>
  %3 = tile.create() : tile<f32[32,128]@Vec>
  %4 = tile.row_sum(%0, %3) : tile<f32[32,1]@Vec>
  tile.store(%2, %out, 0, 0)
  tile.store(%4, %out1, 0, 0)
  return
}
)"));
}

TEST_CASE("C47 C48: row and column broadcasts keep their name", "[convert]") {
  for (const OpInfo* info : {&ops::row_expand_add, &ops::row_expand_sub, &ops::row_expand_mul, &ops::row_expand_div,
                             &ops::row_expand_max, &ops::row_expand_min, &ops::row_expand_expdif}) {
    Recording k;
    const ValueId x = k.tensor("x", f16, {32, 64}), y = k.tensor("y", f16, {32, 1});
    k.returns({k.op(*info, {x, y})});
    CHECK(converted(k).find("%0 = tile." + std::string(info->name) + "(%x_tile, %y_tile) : tile<f16[32,64]@Vec>\n") !=
          std::string::npos);
  }
  for (const OpInfo* info : {&ops::col_expand_add, &ops::col_expand_sub, &ops::col_expand_mul, &ops::col_expand_div,
                             &ops::col_expand_max, &ops::col_expand_min, &ops::col_expand_expdif}) {
    Recording k;
    const ValueId x = k.tensor("x", f16, {32, 64}), y = k.tensor("y", f16, {1, 64});
    k.returns({k.op(*info, {x, y})});
    CHECK(converted(k).find("%0 = tile." + std::string(info->name) + "(%x_tile, %y_tile) : tile<f16[32,64]@Vec>\n") !=
          std::string::npos);
  }
}

TEST_CASE("C16: a transpose has no scratch yet", "[convert]") {
  Recording k;
  k.returns({k.op(ops::transpose, {k.tensor("x", f16, {32, 64})})});
  CHECK(converted(k).find("%0 = tile.transpose(%x_tile) : tile<f16[64,32]@Vec>\n") != std::string::npos);
}

TEST_CASE("C71: a window of a tile stays a view", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {8, 32}), n = k.scalar("n", index_type);
  const ValueId t = k.create(f32, {16, 64});
  const ValueId plain = k.slice(t, {8, 32}, {k.index(0), k.index(0)});
  const ValueId part = k.slice(t, {8, 32}, {k.index(0), k.index(0)}, {k.index(8), n});
  k.returns({k.op(ops::add, {plain, x}), k.op(ops::add, {part, x})});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[8,32], %n: index, %out: out f32[8,32], %out1: out f32[8,32]) {
  %x_tile = tile.load(%x, 0, 0) : tile<f32[8,32]@Vec>
  %0 = tile.create() : tile<f32[16,64]@Vec>
  %1 = tile.slice(%0, 0, 0) : tile<f32[8,32]@Vec>
  %2 = tile.slice(%0, 0, 0, 8, %n) {has_valid = 1} : tile<f32[8,32]@Vec> valid[8,%n]
  %3 = tile.add(%1, %x_tile) : tile<f32[8,32]@Vec>
  %4 = tile.add(%2, %x_tile) : tile<f32[8,32]@Vec> valid[8,%n]
  tile.store(%3, %out, 0, 0)
  tile.store(%4, %out1, 0, 0)
  return
}
)"));
}

TEST_CASE("C73 C75: fillpad and set_valid_shape load and keep their name", "[convert]") {
  Recording k;
  const ValueId part = k.op(ops::set_valid_shape, {k.tensor("x", f32, {16, 32}), k.index(16), k.index(24)});
  k.returns({part, k.op(ops::fillpad, {part},
                        {int_attr(AttrKey::pad, static_cast<std::int64_t>(Pad::min))})});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[16,32], %out: out f32[16,32], %out1: out f32[16,32]) {
  %x_tile = tile.load(%x, 0, 0) : tile<f32[16,32]@Vec>
  %0 = tile.set_valid_shape(%x_tile, 16, 24) : tile<f32[16,32]@Vec> valid[16,24]
  %1 = tile.fillpad(%0) {pad = min} : tile<f32[16,32]@Vec>
  tile.store(%0, %out, 0, 0)
  tile.store(%1, %out1, 0, 0)
  return
}
)"));
}

TEST_CASE("C98: the load comes before what is made", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {64});
  k.returns({k.op(ops::add, {k.full(k.constant(f32, 2.5), {64}), x})});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[64], %out: out f32[64]) {
  %x_tile = tile.load(%x, 0) : tile<f32[64]@Vec>
  %0 = tile.full(2.5:f32) : tile<f32[64]@Vec>
  %1 = tile.add(%0, %x_tile) : tile<f32[64]@Vec>
  tile.store(%1, %out, 0)
  return
}
)"));
}

TEST_CASE(
    "C143: operations keep their place in the source, loads have that of the parameter, stores that of the return",
    "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {64});
  k.returns({k.op(ops::exp, {x})});
  CHECK(print(conversion(k), {.locations = true}) == golden(R"(
kernel @k(%x: in f32[64], %out: out f32[64]) {
  %x_tile = tile.load(%x, 0) : tile<f32[64]@Vec> loc(k.cpp:100)
  %0 = tile.exp(%x_tile) : tile<f32[64]@Vec> loc(k.cpp:1)
  tile.store(%0, %out, 0) loc(k.cpp:2)
  return loc(k.cpp:2)
}
)"));
}
