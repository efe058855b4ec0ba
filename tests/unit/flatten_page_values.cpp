// Pages of tiles where they stand apart and where they do not: extents of carried pages, pages of which nothing is valid, tiles
// that start an accumulator.
#include "support/lowering.hpp"
#include "support/same_numbers.hpp"

#include <tessera/emit/pto_mlir.hpp>
#include <tessera/passes/flatten_tile_nd_to_2d.hpp>
#include <tessera/passes/pass.hpp>
#include <tessera/passes/pipeline.hpp>

using namespace tessera;
using namespace tessera::test;

namespace {

std::vector<ValueId> zeros(Recording& k, std::size_t n) { return std::vector<ValueId>(n, k.index(0)); }
std::vector<ValueId> numbers(Recording& k, List<std::int64_t> list) {
  std::vector<ValueId> values;
  for (const std::int64_t n : list) values.push_back(k.index(n));
  return values;
}
ValueId equals(Recording& k, ValueId a, std::int64_t n) {
  return k.op(ops::scalar_compare, {a, k.index(n)}, {int_attr(AttrKey::compare, static_cast<std::int64_t>(Compare::eq))});
}
ValueId load(Recording& k, std::string_view name, DType d, List<std::int64_t> dims, MemorySpace space = Mat, std::vector<ValueId> valid = {}) {
  return k.load(k.tensor(name, d, dims), dims, zeros(k, dims.size()), space, std::move(valid));
}
void put(Recording& k, std::string_view name, ValueId v) {
  const Type t = k.f().type(v);
  k.store(v, k.tensor(name, t.dtype, {t.dims, t.rank}, Direction::inout), zeros(k, t.rank));
}
/// The 2-D function, which computes what the recorded one does.
Function flat_alike(Recording& k) {
  k.returns();
  Function flat = flatten_tile_nd_to_2d.run(k.f(), {});
  INFO(print(flat));
  Inputs meant(k.f()), made(k.f());
  static_cast<void>(simulate(k.f(), meant.arguments));
  static_cast<void>(simulate(flat, made.arguments));
  CHECK((meant.tensors == made.tensors));
  return flat;
}

}  // namespace

TEST_CASE("flatten: a tile that starts an accumulator is stored and moved as any other") {
  Recording k;
  const ValueId t = load(k, "s", f32, {2, 16, 16}, Vec);
  put(k, "o", t);
  put(k, "p", k.op(ops::move, {t}, {}, k.f().type(t)));
  static_cast<void>(k.matmul_acc(t, load(k, "a", f16, {2, 16, 32}), load(k, "b", f16, {2, 32, 16})));
  k.returns();
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(flatten_tile_nd_to_2d.run(k.f(), {})); }),
                 "matmul_acc: the accumulator of a batch is a part of another tile (rank 3)"));

  for (const bool sliced : {false, true}) {
    Recording loop;
    ValueId start = load(loop, "s", f32, {4, 16, 16}, Vec);
    start = sliced ? loop.slice(start, {2, 16, 16}, numbers(loop, {1, 0, 0})) : load(loop, "r", f32, {2, 16, 16}, Vec);
    put(loop, "o", start);
    put(loop, "p", loop.op(ops::move, {start}, {}, loop.f().type(start)));
    const ValueId a = load(loop, "a", f16, {2, 16, 32}), b = load(loop, "b", f16, {2, 32, 16});
    const auto sum = loop.loop(loop.index(2), {start}, [&](ValueId, const auto& c) { return std::vector<ValueId>{loop.matmul_acc(c[0], a, b)}; });
    put(loop, "q", sum[0]);
    const Function f = flat_alike(loop);
    CHECK(count_op(f, ops::matmul_acc) == 2);
    CHECK(count_op(f, ops::move) == 1);
  }
}

TEST_CASE("flatten: both branches load pages as far as a number of the run") {
  for (const std::int64_t n : {1, 2}) {
    Recording k;
    const ValueId pages = k.scalar("n", index_type), c = equals(k, pages, 1);
    const ValueId x = k.tensor("x", f32, {2, 16, 32}), y = k.tensor("y", f32, {2, 16, 32});
    const auto part = [&](ValueId t) { return k.load(t, {2, 16, 32}, zeros(k, 3), Vec, {pages, k.index(16), k.index(32)}); };
    const ValueId v = k.branch(c, {shaped_type(f32, {2, 16, 32}, Vec)}, [&] { return std::vector<ValueId>{part(x)}; },
                               [&] { return std::vector<ValueId>{part(y)}; })[0];
    k.f().set_valid(v, {{0, pages}, {16, {}}, {32, {}}});
    put(k, "o", k.op(ops::exp, {k.op(ops::minimums, {v, k.constant(f32, 0.0)})}));
    k.returns();
    for (const Arch arch : {Arch::a3, Arch::a5}) CHECK_FALSE(SameNumbers(k, arch, 8, n).module.empty());
  }
}

TEST_CASE("a branch that leaves products of different batches is refused by name") {
  for (const bool run_time : {false, true}) {
    Recording k;
    const ValueId scalar = k.scalar("n", index_type), c = equals(k, scalar, 1);
    const ValueId a = k.tensor("a", f16, {2, 16, 32}), r = load(k, "b", f16, {2, 32, 16});
    const auto product = [&](ValueId pages) {
      return std::vector<ValueId>{k.matmul(k.load(a, {2, 16, 32}, zeros(k, 3), Mat, {pages, k.index(16), k.index(32)}), r)};
    };
    const ValueId v = k.branch(c, {shaped_type(f32, {2, 16, 16}, Acc)},
                               [&] { return product(run_time ? k.b().add(scalar, k.index(1)) : k.index(1)); }, [&] { return product(k.index(2)); })[0];
    put(k, "o", v);
    k.returns();
    const std::string text = thrown<UserError>([&] { static_cast<void>(run_passes(k.f(), default_pipeline(), {Arch::a3})); });
    CHECK(contains(text, "error: if: the branches yield with different valid extents (axis 0 of tile<f32[2,16,16]@Acc>)"));
  }
}

TEST_CASE("flatten: no instruction is made for a page of which nothing is valid") {
  Recording product;  // the second page is not defined
  put(product, "o", product.matmul(load(product, "a", f16, {2, 16, 32}, Mat, numbers(product, {1, 16, 32})), load(product, "b", f16, {2, 32, 16})));
  product.returns();
  CHECK(op_names(flatten_tile_nd_to_2d.run(product.f(), {})) == "view load view load slice slice matmul store");

  Recording sum;
  const ValueId l = load(sum, "a", f16, {2, 16, 32}, Mat, numbers(sum, {1, 16, 32})), r = load(sum, "b", f16, {2, 32, 16});
  put(sum, "o", sum.matmul_acc(sum.matmul(l, r), l, r));
  sum.returns();
  const Function accumulated = flatten_tile_nd_to_2d.run(sum.f(), {});
  CHECK(count_op(accumulated, ops::matmul) == 1);
  CHECK(count_op(accumulated, ops::matmul_acc) == 1);
  CHECK(count_op(accumulated, ops::store) == 1);
  CHECK_FALSE(emit_pto_mlir(run_passes(sum.f(), default_pipeline(), {Arch::a3}), {.arch = Arch::a3}).empty());

  Recording cut;  // loaded page by page where it stands, for two products
  const ValueId x = cut.load(cut.tensor("b", f16, {2, 64, 48}), {2, 32, 32}, numbers(cut, {0, 32, 16}), Mat, numbers(cut, {1, 32, 32}));
  put(cut, "o", cut.matmul(load(cut, "a", f16, {16, 32}), x));
  put(cut, "p", cut.matmul(load(cut, "c", f16, {16, 32}), x));
  cut.returns();
  const Function loads = flatten_tile_nd_to_2d.run(cut.f(), {});
  CHECK(count_op(loads, ops::load) == 3);
  CHECK(count_op(loads, ops::matmul) == 2);

  Recording stored;
  const ValueId m = stored.matmul(load(stored, "a", f16, {2, 16, 32}), load(stored, "b", f16, {2, 32, 16}));
  std::vector<ValueId> operands = numbers(stored, {1, 16, 16});
  operands.insert(operands.begin(), m);
  put(stored, "o", stored.op(ops::set_valid_shape, operands));
  CHECK(count_op(flat_alike(stored), ops::store) == 1);

  Recording assembled;
  operands = {load(assembled, "t", f32, {2, 8, 16}, Vec), load(assembled, "s", f32, {2, 4, 16}, Vec, numbers(assembled, {1, 4, 16}))};
  for (const std::int64_t n : {0, 4, 0}) operands.push_back(assembled.index(n));
  put(assembled, "o", assembled.op(ops::assemble, operands));
  CHECK(count_op(flat_alike(assembled), ops::assemble) == 1);
}

TEST_CASE("flatten: a transposed batch in other leading dims is refused") {
  Recording k;
  const ValueId view = k.op(ops::transpose_view, {load(k, "b", f16, {2, 48, 32})});
  const ValueId look = k.reshape(view, {1, 2, 32, 48});
  CHECK(k.f().type(look).layout != k.f().type(view).layout);
  put(k, "o", k.matmul(load(k, "a", f16, {1, 2, 16, 32}), look));
  k.returns();
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(flatten_tile_nd_to_2d.run(k.f(), {})); }),
                 "k.cpp:2: error: transpose_view: a batch of transposed matrices can only be an operand of matmul"));
}

TEST_CASE("flatten: a factor that is turned where nothing turns it") {
  Recording k;
  const ValueId l = k.create(f16, {32, 16}, Left), r = load(k, "b", f16, {32, 16});
  put(k, "o", k.matmul(l, r, true, false));
  k.returns();
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(flatten_tile_nd_to_2d.run(k.f(), {})); }),
                 "matmul: a transposed operand is in a space where it cannot be turned (Left)\n  hint: load it to Mat, and write matmul(a, transpose(b)) on tensors"));
}
