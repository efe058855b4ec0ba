// The verifier finds what is broken: structure, types, dominance, and every property that a pass may promise.
#include "support/catch.hpp"
#include "support/ir.hpp"

#include <tessera/ir/verifier.hpp>

using namespace tessera;
using namespace tessera::test;

namespace {
std::string verdict(const Function& f, Properties p = {}) {
  return thrown<InternalError>([&] { verify(f, p); });
}
const std::string lawful_text = "nothing is thrown";

/// A kernel at tile level, with all that the five properties ask for.
struct Placed : Recording {
  ValueId x = tensor("x", f32, {8, 16}), out = tensor("out", f32, {16, 8}, Direction::out);
  ValueId t = load(x, {8, 16}, {index(0), index(0)});
  ValueId e = op(ops::exp, {t});
  ValueId scratch = create(f32, {8, 16}, Vec);
  ValueId r = op(ops::transpose, {e, scratch});
  Placed() {
    store(r, out, {index(0), index(0)});
    returns();
    for (const ValueId v : {t, scratch, r}) f()[v].buffer = v.index;
    f()[e].buffer = t.index;
  }
};
constexpr Properties all = {Property::tile_ops, Property::tiles_2d, Property::legal, Property::spaces_inferred,
                            Property::buffers_assigned};
}  // namespace

TEST_CASE("a lawful function has every property", "[ir]") {
  Placed k;
  CHECK(verdict(k.f(), all) == lawful_text);
}

TEST_CASE("a recorded type must be the inferred one", "[ir]") {
  Placed k;
  k.f()[k.e].type.dtype = f16;
  CHECK(contains(verdict(k.f()),
                 "verify: k.cpp:2: the recorded type (tile<f16[8,16]@Vec>) is not the inferred one "
                 "(tile<f32[8,16]@Vec>)\n  %1 = tile.exp(%0)"));
}

TEST_CASE("an operation must be lawful", "[ir]") {
  Placed k;
  k.f()[k.x].type.dims[0] = 4;
  CHECK(contains(verdict(k.f()),
                 "load: the window reaches past the end of the tensor (0, 8, 4)\n  %0 = tile.load(%x, 0, 0)"));
}

TEST_CASE("values are defined before they are used", "[ir]") {
  Placed k;
  k.f().set_operand(k.f().definition(k.e), 0, k.r);
  CHECK(contains(verdict(k.f()), "operand 0 is not defined before the operation\n  %1 = tile.exp(%3)"));
}

TEST_CASE("values of a block are not seen behind it", "[ir]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {8});
  ValueId inner;
  k.loop(k.index(2), {}, [&](ValueId, const auto&) {
    inner = k.op(ops::exp, {x});
    return std::vector<ValueId>{};
  });
  k.op(ops::exp, {inner});
  k.returns();
  CHECK(contains(verdict(k.f()), "operand 0 is not defined before the operation"));
}

TEST_CASE("valid extents are defined before the value", "[ir]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {8}), n = k.scalar("n", index_type);
  const ValueId e = k.op(ops::exp, {x});
  const ValueId late = k.op(ops::scalar_add, {n, n});
  k.f().set_valid(e, {{0, late}});
  k.returns();
  CHECK(contains(verdict(k.f()), "a valid extent is not defined before the value"));
}

TEST_CASE("blocks end in their terminator, and only there", "[ir]") {
  Recording open;
  open.op(ops::exp, {open.tensor("x", f32, {8})});
  CHECK(contains(verdict(open.f()), "the block does not end in return"));
  Recording empty;
  CHECK(contains(verdict(empty.f()), "has a block without operations"));
  Recording twice;
  twice.returns();
  twice.returns();
  CHECK(contains(verdict(twice.f()), "a terminator stands inside a block"));
  Recording wrong;
  wrong.b().control(ops::yield, {}, {}, 0);
  CHECK(contains(verdict(wrong.f()), "the block does not end in return"));
}

TEST_CASE("loops carry as many values, of the same types, in front, inside and behind", "[ir]") {
  const auto loop = [](Recording& k, ValueId& x, ValueId& y) {
    x = k.tensor("x", f32, {8});
    y = k.tensor("y", f32, {16});
    const auto r = k.loop(k.index(2), {x}, [&](ValueId, const auto& c) { return std::vector{k.op(ops::exp, {c[0]})}; });
    k.returns(r);
    return k.f().definition(r[0]);
  };
  ValueId x, y;
  Recording initial;
  initial.f().set_operand(loop(initial, x, y), 3, y);
  CHECK(contains(verdict(initial.f()), "the type of initial values 0 (f32[16]) is not that of the result (f32[8])"));
  Recording yielded;
  const OpId l = loop(yielded, x, y);
  yielded.f().set_operand(yielded.f().terminator(yielded.f().block(l)), 0, y);
  CHECK(contains(verdict(yielded.f()), "the type of yielded values 0 (f32[16]) is not that of the result (f32[8])"));
  Recording count;
  const OpId c = loop(count, x, y);
  count.f().set_operands(count.f().terminator(count.f().block(c)), {});
  CHECK(contains(verdict(count.f()), "the count of yielded values is not that of the results"));
  Recording bound;
  const OpId b = loop(bound, x, y);
  bound.f().set_operand(b, 1, bound.f().constant(i32, std::int64_t{2}));
  CHECK(contains(verdict(bound.f()), "a bound is not an index"));
}

TEST_CASE("a branch has a boolean condition and equal results", "[ir]") {
  const auto branch = [](Recording& k, ValueId other) {
    const ValueId x = k.tensor("x", f32, {8}), c = k.scalar("c", boolean);
    return k.f().definition(
        k.branch(c, {shaped_type(f32, {8})}, [&] { return std::vector{x}; }, [&] { return std::vector{other}; })[0]);
  };
  Recording types;
  branch(types, types.tensor("y", f32, {16}));
  types.returns();
  CHECK(contains(verdict(types.f()), "the type of yielded values 0 (f32[16]) is not that of the result (f32[8])"));
  Recording condition;
  const OpId b = branch(condition, condition.tensor("y", f32, {8}));
  condition.returns();
  condition.f().set_operand(b, 0, condition.index(1));
  CHECK(contains(verdict(condition.f()), "the condition is not boolean"));
}

TEST_CASE("links fit the block", "[ir]") {
  Placed k;
  k.f()[k.f().definition(k.e)].previous = {};
  CHECK(contains(verdict(k.f()), "the operation's links do not fit its block"));
}

TEST_CASE("tile_ops: no tensor operation, no returned tile, scratch for reductions", "[ir]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {8, 16});
  k.op(ops::exp, {x});
  k.returns();
  CHECK(verdict(k.f()) == lawful_text);
  CHECK(contains(verdict(k.f(), {Property::tile_ops}),
                 "tile_ops: a tensor-level operation is left\n  %0 = tensor.exp(%x)"));
  Recording made;
  made.create(f32, {8});
  made.returns();
  CHECK(contains(verdict(made.f(), {Property::tile_ops}), "tile_ops: a value is still a tensor"));
  Recording returned;
  const ValueId y = returned.tensor("y", f32, {8});
  returned.returns({returned.load(y, {8}, {returned.index(0)})});
  CHECK(contains(verdict(returned.f(), {Property::tile_ops}), "tile_ops: a tensor or tile is returned and not stored"));
  Recording reduced;
  const ValueId z = reduced.tensor("z", f32, {8, 16});
  reduced.op(ops::row_sum, {reduced.load(z, {8, 16}, {reduced.index(0), reduced.index(0)})});
  reduced.returns();
  CHECK(contains(verdict(reduced.f(), {Property::tile_ops}), "tile_ops: the operation has no scratch tile"));
}

TEST_CASE("tile_ops: reads and writes of parameters may stay", "[ir]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {8}, Direction::inout);
  k.effect(ops::write, {x, k.op(ops::read, {x, k.index(0)}), k.index(1)});
  k.returns();
  CHECK(verdict(k.f(), {Property::tile_ops}) == lawful_text);
}

TEST_CASE("tiles_2d: ranks, scratch of transposes, transposed operands", "[ir]") {
  Recording rank;
  rank.create(f32, {2, 8, 16}, Vec);
  rank.returns();
  CHECK(contains(verdict(rank.f(), {Property::tiles_2d}),
                 "tiles_2d: a tile has more than two dims\n  %0 = tile.create()"));
  Placed transposed;
  transposed.f().set_operands(transposed.f().definition(transposed.r), {transposed.e});
  CHECK(contains(verdict(transposed.f(), {Property::tiles_2d}), "tiles_2d: the operation has no scratch tile"));
  Recording product;
  const ValueId a = product.create(f16, {16, 32}, Left), b = product.create(f16, {16, 32}, Right);
  product.matmul(a, b, false, true);
  product.returns();
  CHECK(contains(verdict(product.f(), {Property::tiles_2d}), "tiles_2d: a tile operand is read transposed"));
}

TEST_CASE("legal: operations on rows do not meet columns", "[ir]") {
  Recording k;
  k.op(ops::exp, {k.create(f32, {16, 1}, Vec)});
  k.returns();
  CHECK(contains(verdict(k.f(), {Property::legal}), "legal: an operand is not row-major\n  %1 = tile.exp(%0)"));
  Recording line;
  line.create(f32, {16}, Vec);
  line.returns();
  CHECK(contains(verdict(line.f(), {Property::legal}),
                 "legal: a tile has one dim and is not a row\n  %0 = tile.create()"));
}

TEST_CASE("legal: every operation on tiles has an instruction, and its scratch", "[ir]") {
  for (const OpInfo* op : {&ops::sin, &ops::cos}) {
    Recording k;
    k.op(*op, {k.create(f32, {8, 16}, Vec)});
    k.returns();
    CHECK(verdict(k.f(), {Property::tile_ops, Property::tiles_2d}) == lawful_text);
    CHECK(contains(verdict(k.f(), {Property::legal}), "legal: the operation has no instruction\n  %1 = tile." + std::string(op->name) + "(%0)"));
  }
  Recording repeated;
  repeated.op(ops::broadcast_to, {repeated.create(f32, {1, 16}, Vec)}, {}, shaped_type(f32, {8, 16}, Vec));
  repeated.returns();
  CHECK(contains(verdict(repeated.f(), {Property::legal}), "legal: the operation has no instruction\n  %1 = tile.broadcast_to(%0)"));
  for (const OpInfo* op : {&ops::row_sum, &ops::transpose}) {
    Recording k;
    k.op(*op, {k.create(f32, {8, 16}, Vec)});
    k.returns();
    CHECK(contains(verdict(k.f(), {Property::legal}), "legal: the operation has no scratch tile\n  %1 = tile." + std::string(op->name) + "(%0)"));
  }
  Recording both;
  const ValueId x = both.create(i32, {8, 16}, Vec);
  both.op(ops::bit_xor, {x, x});
  both.returns();
  CHECK(contains(verdict(both.f(), {Property::legal}), "legal: the operation has no scratch tile\n  %1 = tile.bit_xor(%0, %0)"));
  // On tensors it is still to be made one on tiles.
  Recording tensors;
  tensors.op(ops::sin, {tensors.tensor("x", f32, {8, 16})});
  tensors.returns();
  CHECK(verdict(tensors.f(), {Property::legal}) == lawful_text);
}

TEST_CASE("spaces_inferred: operands stand where the instruction reads them", "[ir]") {
  Recording k;
  const ValueId a = k.create(f16, {16, 32}, Mat), b = k.create(f16, {32, 16}, Right);
  k.matmul(a, b);
  k.returns();
  CHECK(verdict(k.f(), {Property::tile_ops}) == lawful_text);
  CHECK(contains(verdict(k.f(), {Property::spaces_inferred}), "matmul: the left operand is not in Left (Mat)"));
}

TEST_CASE("buffers_assigned: every tile has an owner that holds it", "[ir]") {
  Placed none;
  none.f()[none.e].buffer = no_index;
  CHECK(contains(verdict(none.f(), all), "buffers_assigned: a tile has no buffer"));
  Placed chain;
  chain.f()[chain.scratch].buffer = chain.e.index;
  CHECK(contains(verdict(chain.f(), all),
                 "buffers_assigned: the buffer's owner is not an operation's result that owns itself"));
  Recording small;
  const ValueId a = small.create(f32, {8, 8}, Vec), b = small.create(f32, {8, 16}, Vec);
  small.returns();
  small.f()[a].buffer = small.f()[b].buffer = a.index;
  CHECK(contains(verdict(small.f(), {Property::buffers_assigned}),
                 "buffers_assigned: the buffer is smaller than the tile"));
}
