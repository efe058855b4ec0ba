// sort32 and merge_sort: pairs of values and indices, their bits, what the passes make of them, and what they refuse.
#include <cstring>

#include "support/convert.hpp"
#include "support/lowering.hpp"

#include <tessera/emit/pto_mlir.hpp>
#include <tessera/simulate.hpp>

using namespace tessera;

namespace sort_pairs {

// The index of pair number i, from the bits in host memory.
std::uint32_t index_of_pair(const HostTensor& t, std::int64_t i) {
  std::uint32_t index = 0;
  std::memcpy(&index, t.data() + i * 8 + 4, 4);
  return index;
}
double value_of_pair(const HostTensor& t, std::int64_t i) { return t.get(i * (t.dtype() == f32 ? 2 : 4)); }

using Rows = Tensor<Shape<3, 64>, f32>;
inline const auto rows = kernel("rows", [](Rows x, Tensor<Shape<3, 64>, u32> index) { return sort32(x, index); });
inline const auto halves = kernel("halves", [](Tensor<Shape<2, 2, 32>, f16> x, Tensor<Shape<1, 1, 32>, u32> index) { return sort32(x, index); });
inline const auto whole = kernel("whole", [](Tensor<Shape<1, 1024>, f32> x) {
  auto pairs = sort32(x, arange<Shape<1, 1024>, u32>(0u));
  return merge_sort(merge_sort(merge_sort(pairs, 64_c), 256), 1024);
});
inline const auto lists = kernel("lists", [](Tensor<Shape<1, 64>, f16> a, Tensor<Shape<1, 32>, f16> b, Tensor<Shape<1, 96>, f16> c) {
  auto index = arange<Shape<1, 96>, u32>(100u);
  auto sorted_a = merge_sort(sort32(a, slice<Shape<1, 64>>(index, at(0, 0))), 128);
  auto sorted_b = sort32(b, slice<Shape<1, 32>>(index, at(0, 0)));
  auto sorted_c = merge_sort(sort32(c, index), 128);
  return results(merge_sort(sorted_a, sorted_b), merge_sort(sorted_a, sorted_b, sorted_c), merge_sort(sorted_a, sorted_b, sorted_c, sorted_b));
});

template <class Result, class X>
void check_descending(const Result& r, const X& x, std::int64_t first, std::int64_t count, std::int64_t offset) {
  for (std::int64_t i = first; i < first + count; ++i) {
    if (i > first) CHECK(value_of_pair(r, i - 1) >= value_of_pair(r, i));
    CHECK(value_of_pair(r, i) == x.get(index_of_pair(r, i) - offset));
  }
}

}  // namespace sort_pairs

using namespace sort_pairs;

TEST_CASE("each 32 elements of a row are sorted with their indices") {
  auto x = random<Rows>(1);
  x(1, 5) = x(1, 9) = 7;
  auto index = zeros<Tensor<Shape<3, 64>, u32>>();
  for (std::int64_t i = 0; i < index.size(); ++i) index.set_integer(i, i);
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    const auto r = simulate(rows, SimulateOptions{.arch = arch}, x, index);
    for (int block = 0; block < 6; ++block) check_descending(r, x, 32 * block, 32, 0);
    CHECK(index_of_pair(r, 64) == 69);  // of equal ones the first
    CHECK(index_of_pair(r, 65) == 73);
  }
}

TEST_CASE("a pair of f16 takes 8 bytes; every bit of an index is kept") {
  const auto x = random<Tensor<Shape<2, 2, 32>, f16>>(2);
  auto index = zeros<Tensor<Shape<1, 1, 32>, u32>>();
  // Halves that are NaN, signalling or not, and infinity, as f16.
  const std::int64_t odd[] = {0x7C01, 0x7E00, 0x7DFF, 0xFC01, 0x7C00, 0xFFFF, 0x7C017C01, 0xFFFFFFFF};
  for (int i = 0; i < 32; ++i) index.set_integer(i, i < 8 ? odd[i] : i);
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    const auto r = simulate(halves, SimulateOptions{.arch = arch}, x, index);
    CHECK(r.dims() == std::vector<std::int64_t>{2, 2, 128});
    for (int row = 0; row < 4; ++row)
      for (int i = 0; i < 32; ++i) {
        const std::int64_t pair = 32 * row + i;
        const std::uint32_t found = index_of_pair(r, pair);
        int from = 0;
        while (static_cast<std::uint32_t>(index.integer(from)) != found) REQUIRE(++from < 32);
        CHECK(value_of_pair(r, pair) == x.get(32 * row + from));
        CHECK(r.get(4 * pair + 1) == 0);
        if (i > 0) CHECK(value_of_pair(r, pair - 1) >= value_of_pair(r, pair));
      }
  }
}

TEST_CASE("three merges sort a row of 1024") {
  const auto x = random<Tensor<Shape<1, 1024>, f32>>(3);
  for (const Arch arch : {Arch::a3, Arch::a5}) check_descending(simulate(whole, SimulateOptions{.arch = arch}, x), x, 0, 1024, 0);
}

TEST_CASE("NaN comes first") {
  auto x = random<Rows>(4);
  x(0, 20) = static_cast<float>(std::nan(""));
  const auto r = simulate(rows, x, zeros<Tensor<Shape<3, 64>, u32>>());
  CHECK(std::isnan(value_of_pair(r, 0)));
}

TEST_CASE("lists of several lengths are merged; two or three blocks of a row are lists") {
  const auto a = random<Tensor<Shape<1, 64>, f16>>(5);
  const auto b = random<Tensor<Shape<1, 32>, f16>>(6);
  const auto c = random<Tensor<Shape<1, 96>, f16>>(7);
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    const auto [two, three, four] = simulate(lists, SimulateOptions{.arch = arch}, a, b, c);
    CHECK(two.dims() == std::vector<std::int64_t>{1, 384});
    CHECK(three.dims() == std::vector<std::int64_t>{1, 768});
    CHECK(four.dims() == std::vector<std::int64_t>{1, 896});
    for (std::int64_t i = 1; i < 192; ++i) CHECK(value_of_pair(three, i - 1) >= value_of_pair(three, i));
    for (std::int64_t i = 1; i < 224; ++i) CHECK(value_of_pair(four, i - 1) >= value_of_pair(four, i));
    const std::string text = emit_pto(lists, {.arch = arch});
    CHECK(text.find("%merge.counts = arith.constant dense<0> : vector<4xi16>\n") != std::string::npos);
    CHECK(text.find("{exhausted = false} : !pto.tile_buf<vec, 1x256xf16>, !pto.tile_buf<vec, 1x128xf16>, !pto.tile_buf<vec, 1x384xf16>) outs(") != std::string::npos);
  }
}

TEST_CASE("C102: sort32 keeps its name") {
  test::Recording k;
  k.returns({k.op(ops::sort32, {k.tensor("src", f32, {8, 32}), k.tensor("idx", u32, {8, 32})})});
  CHECK(test::converted(k) == test::golden(R"(
kernel @k(%src: in f32[8,32], %idx: in u32[8,32], %out: out f32[8,64]) {
  %src_tile = tile.load(%src, 0, 0) : tile<f32[8,32]@Vec>
  %idx_tile = tile.load(%idx, 0, 0) : tile<u32[8,32]@Vec>
  %0 = tile.sort32(%src_tile, %idx_tile) : tile<f32[8,64]@Vec>
  tile.store(%0, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("C103: blocks of one row keep their name") {
  test::Recording k;
  k.returns({k.op(ops::merge_sort, {k.tensor("src", f32, {1, 128}), k.constant(i32, 64)})});
  CHECK(test::converted(k) == test::golden(R"(
kernel @k(%src: in f32[1,128], %out: out f32[1,128]) {
  %src_tile = tile.load(%src, 0, 0) : tile<f32[1,128]@Vec>
  %0 = tile.merge_sort(%src_tile, 64:i32) : tile<f32[1,128]@Vec>
  tile.store(%0, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("C104: merged lists get scratch of all their widths") {
  test::Recording k;
  std::vector<ValueId> x;
  for (const char* name : {"a", "b", "c", "d"}) x.push_back(k.tensor(name, f32, {1, 128}));
  k.returns({k.op(ops::merge_sort4, x)});
  CHECK(test::converted(k) == test::golden(R"(
kernel @k(%a: in f32[1,128], %b: in f32[1,128], %c: in f32[1,128], %d: in f32[1,128], %out: out f32[1,512]) {
  %a_tile = tile.load(%a, 0, 0) : tile<f32[1,128]@Vec>
  %b_tile = tile.load(%b, 0, 0) : tile<f32[1,128]@Vec>
  %c_tile = tile.load(%c, 0, 0) : tile<f32[1,128]@Vec>
  %d_tile = tile.load(%d, 0, 0) : tile<f32[1,128]@Vec>
  %0 = tile.create() : tile<f32[1,512]@Vec>
  %1 = tile.merge_sort4(%a_tile, %b_tile, %c_tile, %d_tile, %0) : tile<f32[1,512]@Vec>
  tile.store(%1, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("what sorting refuses while a kernel is traced, lowered or run") {
  test::Recording k;
  const ValueId n = k.scalar("n", index_type), row = k.tensor("row", f32, {1, 512}), index = k.tensor("index", u32, {1, 512});
  const auto says = [&](const std::function<void()>& f, std::string_view part) {
    const std::string text = test::thrown<UserError>(f);
    INFO(text);
    CHECK(test::contains(text, part));
  };
  const ValueId part = k.op(ops::set_valid_shape, {row, k.index(1), n}), length = k.scalar("length", i32);
  says([&] { k.op(ops::sort32, {part, index}); }, "sort32: an operand is valid in part along the last axis (operand 0)");
  says([&] { k.op(ops::merge_sort2, {row, part}); }, "merge_sort2: an operand is valid in part along the last axis (operand 1)");
  says([&] { k.op(ops::merge_sort, {row, length}); }, "merge_sort: the block length is missing, or not a constant");
  says([&] { k.op(ops::merge_sort, {row, k.constant(i32, 0)}); }, "merge_sort: the block length is not a positive multiple of 64 (0)");
  says([&] { k.op(ops::merge_sort, {row, k.constant(i32, 96)}); }, "merge_sort: the block length is not a positive multiple of 64 (96)");
  says([&] { k.op(ops::merge_sort, {row, k.constant(i32, 512)}); }, "no whole number of groups of four blocks (width, block length) (512, 512)");
  says([&] { k.op(ops::merge_sort, {k.tensor("w", f32, {1, 320}), k.constant(i32, 64)}); }, "(320, 64)");
  k.returns({k.op(ops::merge_sort, {row, k.constant(i32, 128)})});
  std::vector<HostTensor> tensors = test::whole_numbers(k.f(), 8);
  says([&] {
    std::vector<Argument> arguments{Argument(std::int64_t{1})};
    arguments.insert(arguments.end(), {tensors[1], tensors[2], Argument(std::int64_t{64}), tensors[4]});
    (void)simulate(k.f(), arguments);
  }, "merge_sort: what is merged is not sorted (operand 0, element ");
}
