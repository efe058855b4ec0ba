// Reductions of shapes with dims of extent 1, of every rank: what they compute behind every pass, and pages of one column.
#include "support/same_numbers.hpp"

#include <tessera/passes/flatten_tile_nd_to_2d.hpp>

using namespace tessera;
using namespace tessera::test;

namespace {

using Dims = std::vector<std::int64_t>;
const OpInfo* const over_rows[] = {&ops::row_sum, &ops::row_max, &ops::row_min, &ops::row_prod, &ops::row_argmax, &ops::row_argmin};
const OpInfo* const over_columns[] = {&ops::col_sum, &ops::col_max, &ops::col_min, &ops::col_prod, &ops::col_argmax, &ops::col_argmin};

std::string shape_text(const Dims& dims) {
  std::string text;
  for (const std::int64_t d : dims) text.append(text.empty() ? "" : "x").append(std::to_string(d));
  return text;
}
/// Results that are returned, and results of computed values, which no load has placed.
void check(const OpInfo& op, const Dims& dims, DType d, Arch arch) {
  INFO(op.name << " " << shape_text(dims) << " " << name(d) << " " << name(arch));
  Recording k;
  const ValueId x = k.tensor("x", d, dims), r = k.op(op, {x}), own = k.op(op, {k.op(ops::add, {x, x})});
  k.returns({r, own});
  try {
    CHECK(!SameNumbers(k, arch).module.empty());
  } catch (const std::exception& e) {
    FAIL_CHECK(e.what());
  }
}

}  // namespace

TEST_CASE("reductions of any shape") {
  const Dims shapes[] = {{3, 1}, {1, 1}, {1, 5}, {8, 1}, {3, 5}, {2, 3, 1}, {2, 1, 1}, {1, 3, 1}, {1, 1, 1}, {1, 1, 5}, {2, 1, 5}, {4, 16, 1},
                         {2, 2, 3, 1}, {1, 2, 3, 1}, {2, 1, 3, 1}, {2, 2, 1, 1}, {1, 1, 1, 1}, {2, 1, 1, 8}, {1, 1, 3, 5}};
  for (const Dims& dims : shapes)
    for (const Arch arch : {Arch::a3, Arch::a5}) {
      for (const OpInfo* op : over_rows) check(*op, dims, f32, arch);
      for (const OpInfo* op : over_columns) check(*op, dims, f32, arch);
    }
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    check(ops::row_sum, {1}, f32, arch);
    check(ops::row_max, {5}, f32, arch);
  }
}
TEST_CASE("pages of one column, of every element type") {
  for (const Arch arch : {Arch::a3, Arch::a5})
    for (const OpInfo* op : over_columns)
      for (const DType d : {i8, u8, i16, u16, i32, u32, f16, bf16, f32})
        if (accepts_on(*op, d, arch) && accepts_on(ops::add, d, arch)) check(*op, {2, 3, 1}, d, arch);
}
TEST_CASE("pages of one column, and of one row, are turned") {
  for (const Dims& dims : {Dims{3, 5, 1}, Dims{3, 1, 7}, Dims{2, 3, 5, 1}, Dims{2, 1, 9}, Dims{3, 1, 1}, Dims{1, 5, 1}})
    for (const Arch arch : {Arch::a3, Arch::a5}) {
      for (const DType d : {u16, i32, f16, f32}) check(ops::transpose, dims, d, arch);
      Recording k;
      const ValueId x = k.tensor("x", i8, dims);
      k.returns({k.op(ops::transpose, {x})});
      INFO(shape_text(dims));
      CHECK(!SameNumbers(k, arch).module.empty());
    }
}
TEST_CASE("pages of one column get rows") {
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    Recording k;
    const ValueId x = k.tensor("x", f32, {2, 3, 1});
    k.returns({k.op(ops::fillpad_expand, {k.op(ops::add, {x, x})}, {int_attr(AttrKey::pad, static_cast<std::int64_t>(Pad::max))}, shaped_type(f32, {2, 5, 1}))});
    CHECK(!SameNumbers(k, arch).module.empty());
  }
}
TEST_CASE("pages of one column are repeated to whole blocks, of which one column is taken") {
  Recording k;
  const ValueId x = k.load(k.tensor("x", f32, {2, 3, 1}), {2, 3, 1}, {k.index(0), k.index(0), k.index(0)});
  k.store(k.op(ops::col_sum, {x}), k.tensor("o", f32, {2, 1, 1}, Direction::out), {k.index(0), k.index(0), k.index(0)});
  k.returns();
  const Function f = flatten_tile_nd_to_2d.run(k.f(), {Arch::a3});
  CHECK(print(f) == golden(R"(
kernel @k(%x: in f32[2,3,1], %o: out f32[2,1,1]) {
  %0 = tile.load(%x, 0, 0, 0) {window = [2, 3, 1]} : tile<f32[6,1]@Vec>
  %1 = tile.row_expand(%0) : tile<f32[6,8]@Vec>
  %2 = tile.create() : tile<f32[2,8]@Vec>
  %3 = tile.slice(%1, 0, 0) : tile<f32[3,8]@Vec>
  %4 = tile.col_sum(%3) : tile<f32[1,8]@Vec>
  %5 = tile.assemble(%2, %4, 0, 0) : tile<f32[2,8]@Vec>
  %6 = tile.slice(%1, 3, 0) : tile<f32[3,8]@Vec>
  %7 = tile.col_sum(%6) : tile<f32[1,8]@Vec>
  %8 = tile.assemble(%5, %7, 1, 0) : tile<f32[2,8]@Vec>
  %9 = tile.slice(%8, 0, 0) : tile<f32[2,1]@Vec>
  tile.store(%9, %o, 0, 0, 0) {window = [2, 1, 1]}
  return
}
)"));
}
