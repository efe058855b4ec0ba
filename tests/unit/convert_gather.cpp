// gather along the last axis: one instruction with row bases on a5, a loop over rows on a3.
#include "support/catch.hpp"
#include "support/convert.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_CASE("C105: short rows get one base each", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("inp", f16, {4, 16}), i = k.tensor("idx", i32, {4, 3});
  k.returns({k.op(ops::gather, {x, i})});
  CHECK(converted(k) == golden(R"(
kernel @k(%inp: in f16[4,16], %idx: in i32[4,3], %out: out f16[4,3]) {
  %inp_tile = tile.load(%inp, 0, 0) : tile<f16[4,16]@Vec>
  %idx_tile = tile.load(%idx, 0, 0) : tile<i32[4,3]@Vec>
  %0 = tile.arange(0:i32) : tile<i32[1,4]@Vec>
  %1 = tile.reshape(%0) : tile<i32[4,1]@Vec>
  %2 = tile.muls(%1, 16:i32) : tile<i32[4,1]@Vec>
  %3 = tile.row_expand_add(%idx_tile, %2) : tile<i32[4,3]@Vec>
  %4 = tile.create() : tile<i32[4,3]@Vec>
  %5 = tile.gather_flat(%inp_tile, %3, %4) : tile<f16[4,3]@Vec>
  tile.store(%5, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("C107: rows of whole blocks get the base of every element at once", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("inp", f16, {4, 32}), i = k.tensor("idx", i32, {4, 64});
  k.returns({k.op(ops::gather, {x, i})});
  CHECK(converted(k) == golden(R"(
kernel @k(%inp: in f16[4,32], %idx: in i32[4,64], %out: out f16[4,64]) {
  %inp_tile = tile.load(%inp, 0, 0) : tile<f16[4,32]@Vec>
  %idx_tile = tile.load(%idx, 0, 0) : tile<i32[4,64]@Vec>
  %0 = tile.arange(0:i32) : tile<i32[1,256]@Vec>
  %1 = tile.reshape(%0) : tile<i32[4,64]@Vec>
  %2 = tile.divs(%1, 64:i32) : tile<i32[4,64]@Vec>
  %3 = tile.muls(%2, 32:i32) : tile<i32[4,64]@Vec>
  %4 = tile.add(%idx_tile, %3) : tile<i32[4,64]@Vec>
  %5 = tile.create() : tile<i32[4,64]@Vec>
  %6 = tile.gather_flat(%inp_tile, %4, %5) : tile<f16[4,64]@Vec>
  tile.store(%6, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("C108: a3 loads and gathers row by row", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("inp", f16, {4, 16}), i = k.tensor("idx", i32, {4, 3});
  k.returns({k.op(ops::gather, {x, i})});
  CHECK(converted(k, Arch::a3) == golden(R"(
kernel @k(%inp: in f16[4,16], %idx: in i32[4,3], %out: out f16[4,3]) {
  %0 = tile.create() : tile<f16[4,3]@Vec>
  %1 = for %2 = 0 to 4 step 1 carry(%3 = %0) : tile<f16[4,3]@Vec> {
    %4 = tile.load(%inp, %2, 0) : tile<f16[1,16]@Vec>
    %5 = tile.load(%idx, %2, 0) : tile<i32[1,3]@Vec>
    %6 = tile.create() : tile<i32[1,3]@Vec>
    %7 = tile.gather_flat(%4, %5, %6) : tile<f16[1,3]@Vec>
    %8 = tile.assemble(%3, %7, %2, 0) : tile<f16[4,3]@Vec>
    yield %8
  }
  tile.store(%1, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("one row needs no base on either target", "[convert]") {
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    Recording k;
    const ValueId x = k.tensor("inp", f32, {1, 16}), i = k.tensor("idx", i32, {1, 8});
    k.returns({k.op(ops::gather, {x, i})});
    CHECK(converted(k, arch) == golden(R"(
kernel @k(%inp: in f32[1,16], %idx: in i32[1,8], %out: out f32[1,8]) {
  %inp_tile = tile.load(%inp, 0, 0) : tile<f32[1,16]@Vec>
  %idx_tile = tile.load(%idx, 0, 0) : tile<i32[1,8]@Vec>
  %0 = tile.create() : tile<i32[1,8]@Vec>
  %1 = tile.gather_flat(%inp_tile, %idx_tile, %0) : tile<f32[1,8]@Vec>
  tile.store(%1, %out, 0, 0)
  return
}
)"));
  }
}

TEST_CASE("three dims are rows on a3; a tile is read in windows", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("inp", f32, {2, 4, 16}), i = k.tensor("idx", i32, {2, 4, 8});
  k.returns({k.op(ops::gather, {x, i})});
  CHECK(converted(k, Arch::a3) == golden(R"(
kernel @k(%inp: in f32[2,4,16], %idx: in i32[2,4,8], %out: out f32[2,4,8]) {
  %inp_tile = tile.load(%inp, 0, 0, 0) : tile<f32[2,4,16]@Vec>
  %0 = tile.reshape(%inp_tile) : tile<f32[8,16]@Vec>
  %idx_tile = tile.load(%idx, 0, 0, 0) : tile<i32[2,4,8]@Vec>
  %1 = tile.reshape(%idx_tile) : tile<i32[8,8]@Vec>
  %2 = tile.create() : tile<f32[8,8]@Vec>
  %3 = for %4 = 0 to 8 step 1 carry(%5 = %2) : tile<f32[8,8]@Vec> {
    %6 = tile.slice(%0, %4, 0) : tile<f32[1,16]@Vec>
    %7 = tile.slice(%1, %4, 0) : tile<i32[1,8]@Vec>
    %8 = tile.create() : tile<i32[1,8]@Vec>
    %9 = tile.gather_flat(%6, %7, %8) : tile<f32[1,8]@Vec>
    %10 = tile.assemble(%5, %9, %4, 0) : tile<f32[8,8]@Vec>
    yield %10
  }
  %11 = tile.reshape(%3) : tile<f32[2,4,8]@Vec>
  tile.store(%11, %out, 0, 0, 0)
  return
}
)"));
}

TEST_CASE("a window of a tile is copied before positions are counted in it", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {4, 16}), i = k.tensor("idx", i32, {4, 3});
  const ValueId window = k.slice(k.op(ops::exp, {x}), {4, 8}, {k.index(0), k.index(8)});
  k.returns({k.op(ops::gather, {window, i})});
  const std::string text = converted(k);
  CHECK(text.find("%1 = tile.slice(%0, 0, 8) : tile<f32[4,8]@Vec>\n") != std::string::npos);
  CHECK(text.find("%2 = tile.move(%1) : tile<f32[4,8]@Vec>\n") != std::string::npos);
  CHECK(text.find("tile.gather_flat(%2, ") != std::string::npos);
}

TEST_CASE("positions that do not fit i16 indices are refused", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f16, {64, 1024}), i = k.tensor("idx", i16, {64, 16});
  k.returns({k.op(ops::gather, {x, i})});
  CHECK(refusal(k) ==
        "k.cpp:1: error: gather: the positions do not fit i16 indices (elements with padding, most) (65536, 32768)\n  hint: use i32 "
        "indices where the operation takes them; a scatter of elements of 8 and 16 bits does not: scatter into fewer rows at a time, or cast to 32 bits");
}

TEST_CASE("one element of each row: one gather on both targets, from a copy without padding", "[convert]") {
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    Recording k;
    const ValueId x = k.tensor("inp", f32, {4, 13}), i = k.tensor("idx", i32, {4, 1});
    k.returns({k.op(ops::gather, {x, i})});
    CHECK(converted(k, arch) == golden(R"(
kernel @k(%inp: in f32[4,13], %idx: in i32[4,1], %out: out f32[4,1]) {
  %inp_tile = tile.load(%inp, 0, 0) : tile<f32[4,13]@Vec>
  %idx_tile = tile.load(%idx, 0, 0) : tile<i32[4,1]@Vec>
  %0 = tile.create() : tile<f32[4,16]@Vec>
  %1 = tile.assemble(%0, %inp_tile, 0, 0) : tile<f32[4,16]@Vec>
  %2 = tile.arange(0:i32) : tile<i32[1,4]@Vec>
  %3 = tile.reshape(%2) : tile<i32[4,1]@Vec>
  %4 = tile.muls(%3, 16:i32) : tile<i32[4,1]@Vec>
  %5 = tile.row_expand_add(%idx_tile, %4) : tile<i32[4,1]@Vec>
  %6 = tile.create() : tile<i32[4,1]@Vec>
  %7 = tile.gather_flat(%1, %5, %6) : tile<f32[4,1]@Vec>
  tile.store(%7, %out, 0, 0)
  return
}
)"));
  }
}
