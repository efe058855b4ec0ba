// Rows gathered into Mat and Vec: what the passes make of create in Mat, gather_row and paged_gather, their numbers before and
// after each pass, and what they refuse.
#include "support/convert.hpp"
#include "support/lowering.hpp"

#include <tessera/emit/pto_mlir.hpp>
#include <tessera/passes/pass.hpp>
#include <tessera/passes/pipeline.hpp>
#include <tessera/simulate.hpp>

using namespace tessera;

namespace gather_rows {

using Keys = Tensor<Shape<256, 64>, f16>;
using Q = Tensor<Shape<16, 64>, f16>;
using Weights = Tensor<Shape<16, 128>, f16>;

/// Two runs of rows, of lengths that are known at run time: the second window reaches past the end of the accumulator.
inline const auto two_runs = kernel("two_runs", params("w", "pool", "r"), [](Weights w, Keys pool, Index r) {
  auto kv = create<Shape<128, 64>, f16, Mat>();
  auto first = gather_row<Shape<128, 64>>(kv, pool, at(0, 0), at(7, 0), valid(r, 64));
  auto both = gather_row<Shape<128, 64>>(first, pool, at(r, 0), at(100, 0), valid(128 - r, 64));
  return matmul(w, both);
});
/// Rows become the columns of the right factor.
inline const auto turned = kernel("turned", params("q", "pool"), [](Q q, Keys pool) {
  Var kt = create<Shape<64, 128>, f16, Mat, Form::transposed>();
  for (Index i : range(0, 128)) kt = gather_row<Shape<1, 64>, Form::transposed>(kt, pool, at(0, i), at(i + i, 0));
  return matmul(q, kt);
});
/// Storage without a stated place, for a product and for Vec; constant offsets inside a box.
inline const auto placed = kernel("placed", [](Tensor<Shape<16, 32>, f16> w, Keys pool) {
  auto kv = create<Shape<32, 64>, f16>();
  auto first = gather_row<Shape<5, 64>>(kv, pool, at(0, 0), at(7, 0));
  auto rows = gather_row<Shape<4, 40>>(create<Shape<4, 40>, f16>(), pool, at(0, 0), at(3, 9));
  return results(matmul(w, gather_row<Shape<27, 64>>(first, pool, at(5, 0), at(100, 0))), rows + rows);
});
inline const auto on_tiles = kernel("on_tiles", [](Q q, Keys pool, Out<Tensor<Shape<16, 16>, f32>> out) {
  auto left = move<Left>(load<Shape<16, 64>, Mat>(q, at(0, 0)));
  auto kt = gather_row<Shape<16, 64>, Form::transposed>(tile<Shape<64, 16>, f16, Mat, Form::transposed>(), pool, at(0, 0), at(31, 0));
  store(matmul(left, move<Right>(kt)), out, at(0, 0));
});

template <PagedGather P, class Indices>
inline const auto paged = kernel("paged", [](Keys pool, Indices indices, Tensor<Shape<1, 8>, i32> table, Q q) {
  if constexpr (P.space == Vec) return paged_gather<P>(pool, indices, table) * 2.0f;
  else return matmul(q, paged_gather<P>(pool, indices, table));
});
inline const auto some = kernel("some", [](Q q, Keys pool, Tensor<Shape<dyn<"N">>, i32> indices, Tensor<Shape<8>, i32> table, Out<Tensor<Shape<16, dyn<"N">>, f32>> out) {
  auto s = matmul(q, paged_gather<PagedGather{.block_size = 32, .size = 64, .max_indices = 32, .form = Form::transposed}>(pool, indices, table));
  store(s, out, at(0, 0));
});

/// Runs all levels and both targets.
template <class K, class... A>
void check_levels(const K& k, A&&... a) {
  for (const Arch arch : {Arch::a3, Arch::a5}) simulate_every_level(k.trace(), {Argument(a)...}, {.arch = arch});
}
auto indices(int count, int most) {
  auto t = zeros<Tensor<Shape<dyn<"N">>, i32>>({{"N", count}});
  for (int i = 0; i < count; ++i) t(i) = i * 37 % most;
  return t;
}
template <class T>
auto table() {
  auto t = zeros<T>();
  for (std::int64_t i = 0; i < t.size(); ++i) t.set(i, static_cast<double>((i * 3 + 5) % 8));
  return t;
}

Attr n(AttrKey key, std::int64_t value) { return int_attr(key, value); }
std::vector<Attr> window(std::int64_t rows, std::int64_t columns, bool flip = false, bool valid = false) {
  std::vector<Attr> attrs{n(AttrKey::rows, rows), n(AttrKey::columns, columns)};
  if (flip) attrs.push_back(n(AttrKey::transposed, 1));
  if (valid) attrs.push_back(n(AttrKey::has_valid, 1));
  return attrs;
}
std::vector<Attr> pages(std::int64_t most, std::int64_t size, std::int64_t block, MemorySpace space, bool flip = false) {
  std::vector<Attr> attrs{n(AttrKey::space, space), n(AttrKey::rows, most), n(AttrKey::columns, size), n(AttrKey::block_size, block)};
  if (flip) attrs.push_back(n(AttrKey::transposed, 1));
  return attrs;
}

}  // namespace gather_rows

using namespace gather_rows;

TEST_CASE("two runs of rows fill an accumulator in Mat") {
  const auto w = random<Weights>(1);
  const auto pool = random<Keys>(2);
  for (const int r : {0, 1, 50, 128}) {
    const auto out = simulate(two_runs, w, pool, r);
    for (int j = 0; j < 64; j += 9) {
      float sum = 0;
      for (int i = 0; i < 128; ++i) {
        const float term = static_cast<float>(w(3, i)) * static_cast<float>(i < r ? pool(7 + i, j) : pool(100 + i - r, j));
        sum += term;
      }
      CHECK(out(3, j) == sum);
    }
    check_levels(two_runs, w, pool, std::int64_t{r});
  }
  CHECK(test::contains(test::thrown<UserError>([&] { (void)simulate(two_runs, w, pool, 129); }), "gather_row"));
}

TEST_CASE("rows become columns of a transposed tile") {
  const auto q = random<Q>(3);
  const auto pool = random<Keys>(4);
  const auto out = simulate(turned, q, pool);
  for (int j = 0; j < 128; j += 17) {
    float sum = 0;
    for (int i = 0; i < 64; ++i) {
      const float term = static_cast<float>(q(5, i)) * static_cast<float>(pool(2 * j, i));
      sum += term;
    }
    CHECK(out(5, j) == sum);
  }
  check_levels(turned, q, pool);
  check_levels(placed, random<Tensor<Shape<16, 32>, f16>>(5), pool);
  auto to = zeros<Tensor<Shape<16, 16>, f32>>();
  simulate(on_tiles, q, pool, to);
  CHECK(to(1, 2) != 0);
}

TEST_CASE("paged_gather finds rows by indices and a block table") {
  const auto q = random<Q>(6);
  const auto pool = random<Keys>(7);
  const auto blocks = table<Tensor<Shape<1, 8>, i32>>();
  auto sixteen = zeros<Tensor<Shape<16>, i32>>();
  for (int i = 0; i < 16; ++i) sixteen(i) = (i * 37 + 11) % 256;
  const auto row = [&](int i) { return blocks(0, sixteen(i) / 32) * 32 + sixteen(i) % 32; };
  constexpr PagedGather in_vec{.block_size = 32, .size = 32, .max_indices = 16, .column = 16, .space = Vec};
  constexpr PagedGather columns{.block_size = 32, .size = 64, .max_indices = 16, .form = Form::transposed};
  const auto rows = simulate(paged<in_vec, Tensor<Shape<16>, i32>>, pool, sixteen, blocks, q);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 32; ++j) CHECK(rows(i, j) == Eigen::half(2.0f * static_cast<float>(pool(row(i), 16 + j))));
  const auto product = simulate(paged<columns, Tensor<Shape<16>, i32>>, pool, sixteen, blocks, q);
  for (int j = 0; j < 16; ++j) {
    float sum = 0;
    for (int i = 0; i < 64; ++i) {
      const float term = static_cast<float>(q(2, i)) * static_cast<float>(pool(row(j), i));
      sum += term;
    }
    CHECK(product(2, j) == sum);
  }
  check_levels(paged<in_vec, Tensor<Shape<16>, i32>>, pool, sixteen, blocks, q);
  check_levels(paged<columns, Tensor<Shape<16>, i32>>, pool, sixteen, blocks, q);
}

TEST_CASE("S21: the count of rows is known at run time, and so is what is valid of the product") {
  const auto q = random<Q>(8);
  const auto pool = random<Keys>(9);
  const auto blocks = table<Tensor<Shape<8>, i32>>();
  for (const int count : {1, 9, 32}) {
    auto out = zeros<Tensor<Shape<16, dyn<"N">>, f32>>({{"N", count}});
    simulate(some, q, pool, indices(count, 256), blocks, out);
    CHECK(out(0, count - 1) != 0);
  }
  auto out = zeros<Tensor<Shape<16, dyn<"N">>, f32>>({{"N", 33}});
  CHECK(test::contains(test::thrown<UserError>([&] { simulate(some, q, pool, indices(33, 256), blocks, out); }), "paged_gather: there are more indices than max_indices (33, 32)"));
  auto far = indices(2, 256);
  far(1) = 256;
  auto two = zeros<Tensor<Shape<16, dyn<"N">>, f32>>({{"N", 2}});
  CHECK(test::contains(test::thrown<UserError>([&] { simulate(some, q, pool, far, blocks, two); }), "paged_gather: an index is out of bounds"));
}

TEST_CASE("G1: storage in Mat, plain and transposed") {
  test::Recording k;
  const ValueId pool = k.tensor("pool", bf16, {64, 128}), z = k.index(0);
  const ValueId plain = k.op(ops::create, {}, {n(AttrKey::space, Mat)}, test::shaped_type(bf16, {16, 128}));
  const ValueId columns = k.op(ops::create, {}, {n(AttrKey::space, Mat), n(AttrKey::transposed, 1)}, test::shaped_type(bf16, {128, 16}));
  // G2, G3: literal offsets, one load for each call; a row becomes column i.
  const ValueId a = k.op(ops::gather_row, {plain, pool, z, z, k.index(3), z}, window(1, 128));
  const ValueId b = k.op(ops::gather_row, {a, pool, k.index(1), z, k.index(9), z}, window(1, 128));
  const ValueId c = k.op(ops::gather_row, {columns, pool, z, k.index(5), k.index(7), z}, window(1, 128, true));
  k.returns({k.matmul(b, c)});
  CHECK(test::converted(k) == test::golden(R"(
kernel @k(%pool: in bf16[64,128], %out: out f32[16,16]) {
  %0 = tile.create() : tile<bf16[16,128]@Mat>
  %1 = tile.create() : tile<bf16[128,16]@Mat, zn>
  %2 = tile.gather_row(%0, %pool, 0, 0, 3, 0) {rows = 1, columns = 128} : tile<bf16[16,128]@Mat>
  %3 = tile.gather_row(%2, %pool, 1, 0, 9, 0) {rows = 1, columns = 128} : tile<bf16[16,128]@Mat>
  %4 = tile.gather_row(%1, %pool, 0, 5, 7, 0) {rows = 1, columns = 128, transposed = 1} : tile<bf16[128,16]@Mat, zn>
  %5 = tile.matmul(%3, %4) : tile<f32[16,16]@Acc>
  tile.store(%5, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("G10, G12: a paged gather is a loop of scalar reads and one load for each row") {
  for (const MemorySpace space : {Mat, Vec}) {
    test::Recording k;
    const ValueId src = k.tensor("src", f16, {256, 128}), idx = k.tensor("idx", i32, {16}), blocks = k.tensor("table", i32, {8});
    k.returns({k.op(ops::paged_gather, {src, idx, blocks}, pages(16, 128, 128, space))});
    const std::string at = space == Mat ? "Mat" : "Vec";
    CHECK(test::converted(k) == test::golden(R"(
kernel @k(%src: in f16[256,128], %idx: in i32[16], %table: in i32[8], %out: out f16[16,128]) {
  %0 = tile.create() : tile<f16[16,128]@)" + at + R"(>
  %1 = for %2 = 0 to 16 step 1 carry(%3 = %0) : tile<f16[16,128]@)" + at + R"(> {
    %4 = tensor.read(%idx, %2) : i32
    %5 = scalar.cast(%4) : index
    %6 = scalar.div(%5, 128) : index
    %7 = tensor.read(%table, %6) : i32
    %8 = scalar.cast(%7) : index
    %9 = scalar.rem(%5, 128) : index
    %10 = scalar.mul(%8, 128) : index
    %11 = scalar.add(%10, %9) : index
    %12 = tile.gather_row(%3, %src, %2, 0, %11, 0) {rows = 1, columns = 128} : tile<f16[16,128]@)" + at + R"(>
    yield %12
  }
  tile.store(%1, %out, 0, 0)
  return
}
)"));
  }
}

TEST_CASE("transposed, with fewer rows than there may be, the gathered tile is valid as far as there are indices") {
  test::Recording k;
  const ValueId src = k.tensor("src", f16, {256, 128}), idx = k.tensor("idx", i32, {1, 10}), blocks = k.tensor("table", i32, {8});
  k.returns({k.matmul(k.tensor("q", f16, {16, 128}), k.op(ops::paged_gather, {src, idx, blocks}, pages(16, 128, 32, Mat, true)))});
  const std::string text = test::converted(k);
  CHECK(test::contains(text, "%0 = tile.create() : tile<f16[128,16]@Mat, zn>\n"));
  CHECK(test::contains(text, "for %2 = 0 to 10 step 1 carry(%3 = %0) : tile<f16[128,16]@Mat, zn> {\n    %4 = tensor.read(%idx, 0, %2) : i32\n"));
  CHECK(test::contains(text, "tile.gather_row(%3, %src, 0, %2, %11, 0) {rows = 1, columns = 128, transposed = 1}"));
  CHECK(test::contains(text, "tile.set_valid_shape(%1, 128, 10) : tile<f16[128,16]@Mat, zn>"));
}

TEST_CASE("the load goes into a window of whole boxes; a constant row inside a box is hidden from the assembler") {
  const std::string text = emit_pto(placed, {.arch = Arch::a3});
  INFO(text);
  CHECK(test::contains(text, "[%c0, %c0] sizes [16, 64] valid [%c5, %c64] : !pto.tile_buf<mat, 32x64xf16, blayout=col_major, slayout=row_major> -> "
                             "!pto.tile_buf<mat, 16x64xf16, valid=5x64, blayout=col_major, slayout=row_major>"));
  CHECK(test::contains(text, "[%c5.launch, %c0] sizes [32, 64] valid [%c27, %c64]"));
  CHECK(test::contains(text, "%c5.launch = arith.addi %launch.index, %c5 : index\n"));
  CHECK(test::contains(text, "[%c0, %c0] sizes [4, 48] valid [%c4, %c40] : !pto.tile_buf<vec, 4x48xf16, valid=4x40>"));
  const std::string columns = emit_pto(turned, {.arch = Arch::a5});
  CHECK(test::contains(columns, "shape = [%c64, %c256], strides = [%c1, %c64] {layout = #pto.layout<dn>}"));
  CHECK(test::contains(columns, "sizes = [%c64, %c1] : !pto.tensor_view<?x?xf16> -> !pto.partition_tensor_view<64x1xf16>"));
  CHECK(test::contains(columns, "sizes [64, 16] valid [%c64, %c1] : !pto.tile_buf<mat, 64x128xf16, blayout=row_major, slayout=col_major>"));
  CHECK(!test::contains(columns, "<vec"));
  CHECK(test::contains(test::thrown<UserError>([] { (void)emit_pto(turned, {.assembler = Assembler::v0_27}); }), "gather_row: assembler 0.27 loads into no window of a tile"));
}

TEST_CASE("what gather_row refuses") {
  test::Recording k;
  const ValueId pool = k.tensor("pool", f16, {64, 32}), z = k.index(0), i = k.scalar("i", index_type);
  const ValueId acc = k.create(f16, {16, 32}, Mat), vec = k.create(f16, {32, 16}, Vec), one = k.constant(f32, 1.0);
  const auto says = [&](std::vector<ValueId> operands, const std::vector<Attr>& attrs, std::string_view part) {
    const std::string text = test::thrown<UserError>([&] { k.op(ops::gather_row, operands, attrs); });
    INFO(text);
    CHECK(test::contains(text, part));
  };
  says({acc, k.tensor("f", f32, {64, 32}), z, z, z, z}, window(1, 32), "gather_row: the element types of tile and tensor differ (f16, f32)");
  says({acc, k.tensor("v", f16, {64}), z, z, z, z}, window(1, 32), "gather_row: the accumulator, the tensor and the window have two dims (1)");
  says({acc, pool, z, z, z, z}, window(0, 32), "gather_row: an extent of the window is not positive (0)");
  says({acc, pool, z, z, z, z}, window(dyn<"R">, 32), "gather_row: a tile's shape must be static (R)");
  says({acc, pool, z, z, z, z}, window(17, 32), "gather_row: the window reaches past the end of the tensor (0, 17, 16)");
  says({acc, pool, k.index(15), z, z, z}, window(2, 32), "(15, 2, 16)");
  says({acc, pool, z, z, k.index(63), z}, window(2, 32), "(63, 2, 64)");
  says({acc, pool, z, z, k.index(-1), z}, window(2, 32), "gather_row: an offset is negative (-1)");
  says({acc, pool, z, z, z}, window(2, 32), "gather_row: the count of offsets is not the tensor's rank (3, 4)");
  says({acc, pool, z, z, z, z, k.index(1)}, window(2, 32, false, true), "(5, 6)");
  says({acc, pool, z, z, z, one}, window(2, 32), "gather_row: the operand is not an integer scalar");
  says({acc, pool, z, z, z, z, k.index(3), k.index(32)}, window(2, 32, false, true), "gather_row: a valid extent is larger than the window (3, 2)");
  says({acc, pool, z, z, z, z, k.index(-1), k.index(32)}, window(2, 32, false, true), "gather_row: a valid extent is negative (-1)");
  says({acc, pool, z, z, z, z, i, one}, window(2, 32, false, true), "gather_row: the operand is not an integer scalar");
  says({acc, pool, z, z, z, z, i, k.index(16)}, window(2, 16, true, true), "gather_row: rows that become columns have no valid extents");
  says({vec, pool, z, z, z, z}, window(1, 32, true), "gather_row: only a tile in Mat is stored transposed (Vec)");
  says({acc, pool, z, z, z, z}, window(16, 16, true), "gather_row: the accumulator is not stored as the rows are gathered");
  says({acc, pool, z, k.index(8), z, z}, window(1, 16), "gather_row: the window starts inside a block of 32 bytes (8)");
  // A run-time length is trusted, and so is a window that then reaches past the end.
  CHECK_NOTHROW(k.op(ops::gather_row, {acc, pool, k.index(9), z, z, z, i, k.index(32)}, window(16, 32, false, true)));
  CHECK(test::contains(test::thrown<UserError>([&] { k.op(ops::create, {}, {n(AttrKey::space, Vec), n(AttrKey::transposed, 1)}, test::shaped_type(f16, {16, 32})); }),
                       "create: only a tile in Mat is stored transposed (Vec)"));
}

TEST_CASE("G14, CE20: what paged_gather refuses") {
  test::Recording k;
  const ValueId src = k.tensor("src", f16, {256, 128}), idx = k.tensor("idx", i32, {16}), blocks = k.tensor("table", i32, {8});
  const auto says = [&](std::vector<ValueId> operands, const std::vector<Attr>& attrs, std::string_view part) {
    const std::string text = test::thrown<UserError>([&] { k.op(ops::paged_gather, operands, attrs); });
    INFO(text);
    CHECK(test::contains(text, part));
  };
  says({src, idx, blocks}, {n(AttrKey::rows, 16), n(AttrKey::columns, 128)}, "paged_gather: block_size, size or max_indices is missing or not positive (0, 128, 16)");
  says({src, idx, blocks}, pages(16, 0, 32, Mat), "(32, 0, 16)");
  says({src, idx, blocks}, pages(-1, 128, 32, Mat), "(32, 128, -1)");
  says({src, idx, blocks}, pages(15, 128, 32, Mat), "paged_gather: there are more indices than max_indices (16, 15)");
  says({src, idx, blocks}, pages(16, 128, 32, Vec, true), "paged_gather: only a tile in Mat is stored transposed (Vec)");
  says({src, idx, blocks}, pages(16, 128, 32, Acc), "paged_gather: the rows are gathered into Mat or Vec only (Acc)");
  says({k.tensor("s3", f16, {2, 16, 128}), idx, blocks}, pages(16, 128, 32, Mat), "paged_gather: the source has not two dims (3)");
  says({src, k.tensor("i64s", i64, {16}), blocks}, pages(16, 128, 32, Mat), "paged_gather: the indices and the block table are not i32 (i64)");
  says({src, idx, k.tensor("ts", i16, {8})}, pages(16, 128, 32, Mat), "paged_gather: the indices and the block table are not i32 (i16)");
  says({src, k.tensor("i2", i32, {2, 16}), blocks}, pages(16, 128, 32, Mat), "paged_gather: the indices or the block table are more than one row (2)");
  says({src, idx, blocks}, pages(16, 129, 32, Mat), "paged_gather: the window reaches past the end of the tensor (0, 129, 128)");
  says({k.tensor("ints", i32, {256, 128}), idx, blocks}, pages(16, 128, 32, Mat), "paged_gather: no target has this operation for the element type (i32)");
}

TEST_CASE("rows are read from memory, and an accumulator in Mat is never copied") {
  test::Recording k;
  const ValueId x = k.tensor("x", f16, {64, 32}), z = k.index(0);
  k.returns({k.op(ops::gather_row, {k.create(f16, {16, 32}), k.op(ops::exp, {x}), z, z, z, z}, window(1, 32))});
  CHECK(test::contains(test::refusal(k), "gather_row: a tensor value is read like memory (operand 1)\n  hint: pass a parameter of the kernel: rows are loaded from GM"));
  test::Recording again;
  const ValueId y = again.tensor("y", f16, {64, 32});
  const ValueId zero = again.index(0);
  const ValueId acc = again.op(ops::create, {}, {n(AttrKey::space, Mat)}, test::shaped_type(f16, {16, 32}));
  const ValueId first = again.op(ops::gather_row, {acc, y, zero, zero, zero, zero}, window(16, 32));
  const ValueId second = again.op(ops::gather_row, {first, y, zero, zero, again.index(16), zero}, window(8, 32));
  const ValueId q = again.tensor("q", f16, {16, 16});
  again.returns({again.matmul(q, first), again.matmul(q, second)});
  CHECK(test::contains(test::thrown<UserError>([&] { (void)run_passes(again.f(), default_pipeline(), {Arch::a3}); }), "gather_row: a tile in Mat would have to be copied, and no instruction does that"));
}

TEST_CASE("rows of a view are gathered") {
  const auto k = kernel("rows_of_a_view", [](Tensor<Shape<64, 64>, f16> x) {
    auto wide = view<Shape<32, 128>>(x);
    auto rows = gather_row<Shape<4, 128>>(create<Shape<4, 128>, f16>(), wide, at(0, 0), at(3, 0));
    return rows + rows;
  });
  const auto x = random<Tensor<Shape<64, 64>, f16>>(1);
  const auto y = simulate(k, x);
  for (std::int64_t i = 0; i < 4 * 128; ++i) CHECK(y(i / 128, i % 128) == 2 * x(6 + i / 64, i % 64));
  CHECK(test::contains(emit_pto(k, {.arch = Arch::a3}), "pto.tload"));
}

TEST_CASE("rows that a block of a launch gathers, no other one writes") {
  using Pool = Tensor<Shape<64, 64>, f16>;
  auto pool = zeros<Pool>();
  const auto row_of = kernel("row_of", params("pool"), [](InOut<Pool> p) {
    auto r = gather_row<Shape<1, 64>>(create<Shape<1, 64>, f16>(), p, at(0, 0), at(32 + block_index(), 0));
    store(r, p, at(33 - block_index(), 0));
  });
  const auto run = [&](const auto& launch, auto&&... more) {
    return test::thrown<UserError>([&] { simulate(launch, pool, more...); });
  };
  const auto two = spmd("two_rows", 2, params("pool"), [row_of](Pool p) { row_of(p); });
  CHECK(test::contains(run(two), "gather_row: another block of the launch writes the element that is read (blocks 0, 1, element [33, 0])"));
  static constexpr PagedGather how{.block_size = 32, .size = 64, .max_indices = 16, .space = Vec};
  using Table = Tensor<Shape<1, 8>, i32>;
  using Indices = Tensor<Shape<16>, i32>;
  const auto paged_of = kernel("paged_of", params("pool", "indices", "table"), [](InOut<Pool> p, Indices indices, Table table) {
    store(paged_gather<how>(p, indices, table) * 2.0f, p, at(block_index() * 16, 0));
  });
  const auto paged_two = spmd("paged_two", 2, params("pool", "indices", "table"), [paged_of](Pool p, Indices i, Table t) { paged_of(p, i, t); });
  auto table = zeros<Table>();
  auto rows = zeros<Indices>();
  for (int i = 0; i < 16; ++i) rows(i) = 20;  // block 0 reads what block 1 writes later
  CHECK(test::contains(run(paged_two, rows, table), "store: another block of the launch reads the element that is written (blocks 0, 1, element [20, 0])"));
  for (int i = 0; i < 16; ++i) rows(i) = 3;  // block 1 reads what block 0 wrote
  CHECK(test::contains(run(paged_two, rows, table), "another block of the launch writes the element that is read (blocks 0, 1, element [3, 0])"));
}
