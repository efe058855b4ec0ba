// Scatters and gathers by patterns or along other axes: the tile operations that they become, in order.
#include "support/catch.hpp"
#include "support/convert.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

Attr pattern(MaskPattern p) { return int_attr(AttrKey::pattern, static_cast<std::int64_t>(p)); }
Attr axis(std::int64_t n) { return int_attr(AttrKey::axis, n); }

}  // namespace

TEST_CASE("C112: elements and ones are scattered into zeros, and where a one arrived the element is taken", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("inp", f32, {16, 8}), i = k.tensor("idx", i32, {4, 8}), s = k.tensor("src", f32, {4, 8});
  k.returns({k.op(ops::scatter, {x, i, s})});
  CHECK(converted(k) == golden(R"(
kernel @k(%inp: in f32[16,8], %idx: in i32[4,8], %src: in f32[4,8], %out: out f32[16,8]) {
  %inp_tile = tile.load(%inp, 0, 0) : tile<f32[16,8]@Vec>
  %idx_tile = tile.load(%idx, 0, 0) : tile<i32[4,8]@Vec>
  %src_tile = tile.load(%src, 0, 0) : tile<f32[4,8]@Vec>
  %0 = tile.arange(0:i32) : tile<i32[1,32]@Vec>
  %1 = tile.reshape(%0) : tile<i32[4,8]@Vec>
  %2 = tile.divs(%1, 8:i32) : tile<i32[4,8]@Vec>
  %3 = tile.muls(%2, 8:i32) : tile<i32[4,8]@Vec>
  %4 = tile.add(%idx_tile, %3) : tile<i32[4,8]@Vec>
  %5 = tile.full(0.0:f32) : tile<f32[16,8]@Vec>
  %6 = tile.scatter_flat(%5, %src_tile, %4) : tile<f32[16,8]@Vec>
  %7 = tile.full(0.0:f32) : tile<f32[16,8]@Vec>
  %8 = tile.full(1.0:f32) : tile<f32[4,8]@Vec>
  %9 = tile.scatter_flat(%7, %8, %4) : tile<f32[16,8]@Vec>
  %10 = tile.compares(%9, 0.0:f32) {compare = ne} : tile<boolean[16,8]@Vec>
  %11 = tile.create() : tile<i32[1,8]@Vec>
  %12 = tile.select(%10, %6, %inp_tile, %11) : tile<f32[16,8]@Vec>
  tile.store(%12, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("scatter to one row needs no row bases", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("inp", f16, {1, 16}), i = k.tensor("idx", i16, {1, 8}), s = k.tensor("src", f16, {1, 8});
  k.returns({k.op(ops::scatter, {x, i, s})});
  CHECK(converted(k) == golden(R"(
kernel @k(%inp: in f16[1,16], %idx: in i16[1,8], %src: in f16[1,8], %out: out f16[1,16]) {
  %inp_tile = tile.load(%inp, 0, 0) : tile<f16[1,16]@Vec>
  %idx_tile = tile.load(%idx, 0, 0) : tile<i16[1,8]@Vec>
  %src_tile = tile.load(%src, 0, 0) : tile<f16[1,8]@Vec>
  %0 = tile.full(0.0:f16) : tile<f16[1,16]@Vec>
  %1 = tile.scatter_flat(%0, %src_tile, %idx_tile) : tile<f16[1,16]@Vec>
  %2 = tile.full(0.0:f16) : tile<f16[1,16]@Vec>
  %3 = tile.full(1.0:f16) : tile<f16[1,8]@Vec>
  %4 = tile.scatter_flat(%2, %3, %idx_tile) : tile<f16[1,16]@Vec>
  %5 = tile.compares(%4, 0.0:f16) {compare = ne} : tile<boolean[1,16]@Vec>
  %6 = tile.create() : tile<i32[1,8]@Vec>
  %7 = tile.select(%5, %1, %inp_tile, %6) : tile<f16[1,16]@Vec>
  tile.store(%7, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("positions count the padding of rows, which is cut off again", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("inp", f16, {6, 13}), i = k.tensor("idx", i16, {2, 3}), s = k.tensor("src", f16, {2, 3});
  k.returns({k.op(ops::scatter, {x, i, s})});
  CHECK(converted(k) == golden(R"(
kernel @k(%inp: in f16[6,13], %idx: in i16[2,3], %src: in f16[2,3], %out: out f16[6,13]) {
  %inp_tile = tile.load(%inp, 0, 0) : tile<f16[6,13]@Vec>
  %idx_tile = tile.load(%idx, 0, 0) : tile<i16[2,3]@Vec>
  %src_tile = tile.load(%src, 0, 0) : tile<f16[2,3]@Vec>
  %0 = tile.arange(0:i16) : tile<i16[1,2]@Vec>
  %1 = tile.reshape(%0) : tile<i16[2,1]@Vec>
  %2 = tile.muls(%1, 16:i16) : tile<i16[2,1]@Vec>
  %3 = tile.row_expand_add(%idx_tile, %2) : tile<i16[2,3]@Vec>
  %4 = tile.full(0.0:f16) : tile<f16[6,16]@Vec>
  %5 = tile.scatter_flat(%4, %src_tile, %3) : tile<f16[6,16]@Vec>
  %6 = tile.slice(%5, 0, 0) : tile<f16[6,13]@Vec>
  %7 = tile.full(0.0:f16) : tile<f16[6,16]@Vec>
  %8 = tile.full(1.0:f16) : tile<f16[2,3]@Vec>
  %9 = tile.scatter_flat(%7, %8, %3) : tile<f16[6,16]@Vec>
  %10 = tile.slice(%9, 0, 0) : tile<f16[6,13]@Vec>
  %11 = tile.compares(%10, 0.0:f16) {compare = ne} : tile<boolean[6,13]@Vec>
  %12 = tile.create() : tile<i32[1,8]@Vec>
  %13 = tile.select(%11, %6, %inp_tile, %12) : tile<f16[6,13]@Vec>
  tile.store(%13, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("C113: the form with a pattern has the same blend", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("inp", f32, {16, 16}), s = k.tensor("src", f32, {16, 8});
  k.returns({k.op(ops::scatter_mask, {x, s}, {pattern(MaskPattern::P1010)})});
  CHECK(converted(k) == golden(R"(
kernel @k(%inp: in f32[16,16], %src: in f32[16,8], %out: out f32[16,16]) {
  %inp_tile = tile.load(%inp, 0, 0) : tile<f32[16,16]@Vec>
  %src_tile = tile.load(%src, 0, 0) : tile<f32[16,8]@Vec>
  %0 = tile.full(0.0:f32) : tile<f32[16,16]@Vec>
  %1 = tile.scatter_strided(%0, %src_tile) {pattern = P1010} : tile<f32[16,16]@Vec>
  %2 = tile.full(0.0:f32) : tile<f32[16,16]@Vec>
  %3 = tile.full(1.0:f32) : tile<f32[16,8]@Vec>
  %4 = tile.scatter_strided(%2, %3) {pattern = P1010} : tile<f32[16,16]@Vec>
  %5 = tile.compares(%4, 0.0:f32) {compare = ne} : tile<boolean[16,16]@Vec>
  %6 = tile.create() : tile<i32[1,8]@Vec>
  %7 = tile.select(%5, %1, %inp_tile, %6) : tile<f32[16,16]@Vec>
  tile.store(%7, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("scatter_update: positions of whole rows", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("inp", f32, {32, 32}), i = k.tensor("idx", i32, {2, 8}), s = k.tensor("src", f32, {16, 32});
  k.returns({k.op(ops::scatter_update, {x, i, s})});
  CHECK(converted(k) == golden(R"(
kernel @k(%inp: in f32[32,32], %idx: in i32[2,8], %src: in f32[16,32], %out: out f32[32,32]) {
  %inp_tile = tile.load(%inp, 0, 0) : tile<f32[32,32]@Vec>
  %idx_tile = tile.load(%idx, 0, 0) : tile<i32[2,8]@Vec>
  %src_tile = tile.load(%src, 0, 0) : tile<f32[16,32]@Vec>
  %0 = tile.arange(0:i32) : tile<i32[1,32]@Vec>
  %1 = tile.col_expand(%0) : tile<i32[16,32]@Vec>
  %2 = tile.reshape(%idx_tile) : tile<i32[16,1]@Vec>
  %3 = tile.muls(%2, 32:i32) : tile<i32[16,1]@Vec>
  %4 = tile.row_expand_add(%1, %3) : tile<i32[16,32]@Vec>
  %5 = tile.full(0.0:f32) : tile<f32[32,32]@Vec>
  %6 = tile.scatter_flat(%5, %src_tile, %4) : tile<f32[32,32]@Vec>
  %7 = tile.full(0.0:f32) : tile<f32[32,32]@Vec>
  %8 = tile.full(1.0:f32) : tile<f32[16,32]@Vec>
  %9 = tile.scatter_flat(%7, %8, %4) : tile<f32[32,32]@Vec>
  %10 = tile.compares(%9, 0.0:f32) {compare = ne} : tile<boolean[32,32]@Vec>
  %11 = tile.create() : tile<i32[1,8]@Vec>
  %12 = tile.select(%10, %6, %inp_tile, %11) : tile<f32[32,32]@Vec>
  tile.store(%12, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("C95: short elements have i16 positions, narrowed once; padded rows of indices are put together first", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("buf", f16, {16, 64}), i = k.tensor("idx", i32, {2, 4}), s = k.tensor("src", f16, {8, 64});
  k.returns({k.op(ops::scatter_update, {x, i, s})});
  CHECK(converted(k) == golden(R"(
kernel @k(%buf: in f16[16,64], %idx: in i32[2,4], %src: in f16[8,64], %out: out f16[16,64]) {
  %buf_tile = tile.load(%buf, 0, 0) : tile<f16[16,64]@Vec>
  %idx_tile = tile.load(%idx, 0, 0) : tile<i32[2,4]@Vec>
  %src_tile = tile.load(%src, 0, 0) : tile<f16[8,64]@Vec>
  %0 = tile.arange(0:i32) : tile<i32[1,64]@Vec>
  %1 = tile.col_expand(%0) : tile<i32[8,64]@Vec>
  %2 = tile.arange(0:i32) : tile<i32[1,8]@Vec>
  %3 = tile.divs(%2, 4:i32) : tile<i32[1,8]@Vec>
  %4 = tile.muls(%3, 4:i32) : tile<i32[1,8]@Vec>
  %5 = tile.add(%2, %4) : tile<i32[1,8]@Vec>
  %6 = tile.create() : tile<i32[2,8]@Vec>
  %7 = tile.assemble(%6, %idx_tile, 0, 0) : tile<i32[2,8]@Vec>
  %8 = tile.create() : tile<i32[1,8]@Vec>
  %9 = tile.gather_flat(%7, %5, %8) : tile<i32[1,8]@Vec>
  %10 = tile.reshape(%9) : tile<i32[8,1]@Vec>
  %11 = tile.muls(%10, 64:i32) : tile<i32[8,1]@Vec>
  %12 = tile.row_expand_add(%1, %11) : tile<i32[8,64]@Vec>
  %13 = tile.cast(%12) {rounding = none} : tile<i16[8,64]@Vec>
  %14 = tile.full(0.0:f16) : tile<f16[16,64]@Vec>
  %15 = tile.scatter_flat(%14, %src_tile, %13) : tile<f16[16,64]@Vec>
  %16 = tile.full(0.0:f16) : tile<f16[16,64]@Vec>
  %17 = tile.full(1.0:f16) : tile<f16[8,64]@Vec>
  %18 = tile.scatter_flat(%16, %17, %13) : tile<f16[16,64]@Vec>
  %19 = tile.compares(%18, 0.0:f16) {compare = ne} : tile<boolean[16,64]@Vec>
  %20 = tile.create() : tile<i32[1,8]@Vec>
  %21 = tile.select(%19, %15, %buf_tile, %20) : tile<f16[16,64]@Vec>
  tile.store(%21, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("C111: a gather by a pattern keeps its name", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {16, 16});
  k.returns({k.op(ops::gather_mask, {x}, {pattern(MaskPattern::P1010)}, shaped_type(i32, {1}))});
  CHECK(converted(k) == golden(R"(
kernel @k(%x: in f32[16,16], %out: out i32[16,8]) {
  %x_tile = tile.load(%x, 0, 0) : tile<f32[16,16]@Vec>
  %0 = tile.gather_mask(%x_tile) {pattern = P1010} : tile<i32[16,8]@Vec>
  tile.store(%0, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("gather along the first axis is one instruction on both targets", "[convert]") {
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    Recording k;
    const ValueId x = k.tensor("x", f32, {6, 16}), i = k.tensor("i", i32, {3, 16});
    k.returns({k.op(ops::gather, {x, i}, {axis(0)})});
    CHECK(converted(k, arch) == golden(R"(
kernel @k(%x: in f32[6,16], %i: in i32[3,16], %out: out f32[3,16]) {
  %x_tile = tile.load(%x, 0, 0) : tile<f32[6,16]@Vec>
  %i_tile = tile.load(%i, 0, 0) : tile<i32[3,16]@Vec>
  %0 = tile.muls(%i_tile, 16:i32) : tile<i32[3,16]@Vec>
  %1 = tile.arange(0:i32) : tile<i32[1,16]@Vec>
  %2 = tile.col_expand_add(%0, %1) : tile<i32[3,16]@Vec>
  %3 = tile.create() : tile<i32[3,16]@Vec>
  %4 = tile.gather_flat(%x_tile, %2, %3) : tile<f32[3,16]@Vec>
  tile.store(%4, %out, 0, 0)
  return
}
)"));
  }
}

TEST_CASE("gather along axis 1 of three: the page of each row is counted, in a copy with whole blocks", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f16, {2, 6, 13}), i = k.tensor("i", i32, {2, 3, 13});
  k.returns({k.op(ops::gather, {x, i}, {axis(1)})});
  CHECK(converted(k, Arch::a3) == golden(R"(
kernel @k(%x: in f16[2,6,13], %i: in i32[2,3,13], %out: out f16[2,3,13]) {
  %x_tile = tile.load(%x, 0, 0, 0) : tile<f16[2,6,13]@Vec>
  %i_tile = tile.load(%i, 0, 0, 0) : tile<i32[2,3,13]@Vec>
  %0 = tile.reshape(%x_tile) : tile<f16[12,13]@Vec>
  %1 = tile.reshape(%i_tile) : tile<i32[6,13]@Vec>
  %2 = tile.create() : tile<f16[12,16]@Vec>
  %3 = tile.assemble(%2, %0, 0, 0) : tile<f16[12,16]@Vec>
  %4 = tile.muls(%1, 16:i32) : tile<i32[6,13]@Vec>
  %5 = tile.arange(0:i32) : tile<i32[1,6]@Vec>
  %6 = tile.reshape(%5) : tile<i32[6,1]@Vec>
  %7 = tile.divs(%6, 3:i32) : tile<i32[6,1]@Vec>
  %8 = tile.muls(%7, 96:i32) : tile<i32[6,1]@Vec>
  %9 = tile.row_expand_add(%4, %8) : tile<i32[6,13]@Vec>
  %10 = tile.arange(0:i32) : tile<i32[1,13]@Vec>
  %11 = tile.col_expand_add(%9, %10) : tile<i32[6,13]@Vec>
  %12 = tile.create() : tile<i32[6,13]@Vec>
  %13 = tile.gather_flat(%3, %11, %12) : tile<f16[6,13]@Vec>
  %14 = tile.reshape(%13) : tile<f16[2,3,13]@Vec>
  tile.store(%14, %out, 0, 0, 0)
  return
}
)"));
}

TEST_CASE("scatters of tiles and of computed values load nothing again", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {8, 8}), i = k.tensor("i", i32, {8, 8});
  const ValueId e = k.op(ops::exp, {x});
  k.returns({k.op(ops::scatter, {e, i, e})});
  const std::string text = converted(k);
  CHECK(text.find("%x_tile = tile.load(%x, 0, 0)") != std::string::npos);
  CHECK(text.find("= tile.load(%x, 0, 0)", text.find("%x_tile = ") + 20) == std::string::npos);
  CHECK(text.find("tile.scatter_flat(%6, %0, %5)") != std::string::npos);
}

TEST_CASE("what a scatter or a gather along an axis cannot do is refused by name", "[convert]") {
  SECTION("indices of 16 bits, in rows that are put together") {
    Recording k;
    const ValueId x = k.tensor("x", f16, {64, 1024}), i = k.tensor("i", i16, {2, 1024});
    k.returns({k.op(ops::gather, {x, i}, {axis(0)})});
    CHECK(refusal(k) == "k.cpp:1: error: gather: the positions do not fit i16 indices (elements with padding, most) (65536, 32768)\n  hint: use i32 "
        "indices where the operation takes them; a scatter of elements of 8 and 16 bits does not: scatter into fewer rows at a time, or cast to 32 bits");
  }
  SECTION("an axis in front of padded rows") {
    Recording k;
    const ValueId x = k.tensor("x", f32, {4, 3, 5}), i = k.tensor("i", i32, {2, 3, 5});
    k.returns({k.op(ops::gather, {x, i}, {axis(0)})});
    CHECK(refusal(k) ==
          "k.cpp:1: error: gather: along an axis in front of rows that are padded to 32 bytes (5 elements)\n  hint: use rows of a "
          "multiple of 32 bytes of both x and the index, or reshape the tensors before they are loaded");
  }
  SECTION("an axis in front of rows of one element") {
    Recording k;
    const ValueId x = k.tensor("x", f32, {4, 3, 1}), i = k.tensor("i", i32, {4, 2, 1});
    k.returns({k.op(ops::gather, {x, i}, {axis(1)})});
    CHECK(refusal(k) ==
          "k.cpp:1: error: gather: along axis 1 of rows of one element (4 pages)\n  hint: reshape to [P,M] and gather along the last axis");
  }
  SECTION("a source that is valid in part") {
    Recording k;
    const ValueId x = k.tensor("x", f32, {8, 16}), y = k.tensor("y", f32, {8, 8});
    const ValueId part = k.slice(y, {8, 8}, {k.index(0), k.index(0)}, {k.index(5), k.index(8)});
    k.returns({k.op(ops::scatter_mask, {x, part}, {pattern(MaskPattern::P0101)})});
    CHECK(refusal(k) ==
          "k.cpp:2: error: scatter: the source is valid in part only (tile<f32[8,8]@Vec>)\n  hint: fillpad(source) it first");
  }
  SECTION("rows to update that are valid in part") {
    Recording k;
    const ValueId x = k.tensor("x", f32, {8, 8}), i = k.tensor("i", i32, {1, 8}), y = k.tensor("y", f32, {8, 8});
    const ValueId part = k.slice(y, {8, 8}, {k.index(0), k.index(0)}, {k.index(5), k.index(8)});
    k.returns({k.op(ops::scatter_update, {x, i, part})});
    CHECK(refusal(k) ==
          "k.cpp:2: error: scatter_update: the source is valid in part only (tile<f32[8,8]@Vec>)\n  hint: fillpad(...) both first, or use scatter");
  }
}

TEST_CASE("C97 and the like: rules of scatters", "[convert]") {
  Recording k;
  const auto says = [&](const OpInfo& op, std::vector<ValueId> operands, std::vector<Attr> attrs = {}) {
    return thrown<UserError>([&] { k.op(op, operands, attrs); });
  };
  const ValueId x = k.tensor("x", f32, {16, 8}), pages = k.tensor("p", f32, {2, 2, 4, 8}), h = k.tensor("h", f16, {64, 512}),
                i = k.tensor("i", i32, {2, 4}), short_i = k.tensor("si", i16, {2, 4}), y = k.tensor("y", f32, {8, 8}), z = k.tensor("z", f32, {2, 4}),
                w = k.tensor("w", f16, {8, 512}), all = k.tensor("all", f32, {17, 8}), rows = k.tensor("rows", i32, {17, 8}),
                many = k.tensor("many", f16, {65, 512}), hz = k.tensor("hz", f16, {2, 4});
  CHECK(contains(says(ops::scatter_update, {pages, i, y}), "scatter_update: only 2-D operands can be scattered (rank) (4)"));
  CHECK(contains(says(ops::scatter_update, {x, short_i, y}), "scatter_update: the indices of rows are not i32 (i16)"));
  CHECK(contains(says(ops::scatter_update, {x, i, z}), "scatter_update: the source has not one row for each index (2, 8)"));
  CHECK(contains(says(ops::scatter_update, {h, i, w}),
                 "scatter_update: the positions do not fit i16 indices (elements with padding, most) (32768, 32767)"));
  CHECK(contains(says(ops::scatter, {x, short_i, z}), "scatter: the index is not of the integer type that fits (i16, f32)"));
  CHECK(contains(says(ops::scatter, {x, rows, all}), "scatter: the source has more rows or columns than there are places (17, 16)"));
  CHECK(contains(says(ops::scatter, {x, i, y}), "scatter: the shapes differ in a dim (2, 8)"));
  CHECK(contains(says(ops::scatter, {many, short_i, hz}),
                 "scatter: the positions do not fit i16 indices (elements with padding, most) (33280, 32768)"));
  CHECK_NOTHROW(k.op(ops::scatter, {h, short_i, hz}));
  CHECK(contains(says(ops::scatter_mask, {x, z}, {pattern(MaskPattern::P0101)}), "scatter_mask: a dim other than that along which the extents may differ does (axis, dim, dim) (0, 16, 2)"));
  CHECK(contains(says(ops::scatter_mask, {all, all}, {pattern(MaskPattern::P0101)}),
                 "scatter_mask: the source and the pattern do not make a row (columns, source, pattern) (8, 8, 2)"));
  CHECK(contains(says(ops::gather_mask, {k.tensor("odd", f32, {4, 6})}, {pattern(MaskPattern::P0001)}),
                 "gather_mask: the row is not a whole number of patterns (columns, pattern) (6, 4)"));
  CHECK(contains(thrown<UserError>([&] { k.op(ops::gather_mask, {x}, {pattern(MaskPattern::P0101)}, scalar_type(f16)); }),
                 "gather: the element types differ in width (f16, f32)"));
  CHECK(contains(says(ops::gather, {pages, k.tensor("pi", i32, {2, 2, 4, 8})}, {axis(1)}),
                 "gather: only the last axis of a tensor of this rank (1, 4)"));
  CHECK(contains(says(ops::gather, {x, i}, {axis(2)}), "gather: the axis is out of range (2, 2)"));
}

TEST_CASE("a column goes to a base of one row: the instruction wants as many columns as its source has", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {9, 8}), i = k.tensor("i", i32, {9, 1}), y = k.tensor("y", f32, {9, 1});
  k.returns({k.op(ops::scatter, {x, i, y})});
  const std::string text = converted(k);
  CHECK(text.find("tile.full(0.0:f32) : tile<f32[1,72]@Vec>") != std::string::npos);
  const std::size_t scattered = text.find("tile.scatter_flat("), back = text.find("tile.reshape(", scattered);
  CHECK(text.substr(back, text.find('\n', back) - back).find(" : tile<f32[9,8]@Vec>") != std::string::npos);
}
