// Batched products become one product per page, in straight-line code, loops and branches.
#include "support/lowering.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

std::vector<ValueId> zeros(Recording& k, std::size_t n) { return std::vector<ValueId>(n, k.index(0)); }

// The offsets of a store.
std::string offsets_of(const Function& f, OpId store) {
  std::string text;
  for (int i = 2; i < f.operand_count(store); ++i)
    text.append(text.empty() ? "" : ",").append(std::to_string(f[f.operand(store, i)].integer));
  return text;
}

}  // namespace

TEST_CASE("flatten: a batched product stored at once, with broadcast batch dims (F36)") {
  Recording k;
  const ValueId a = k.tensor("a", f16, {2, 1, 16, 32}), b = k.tensor("b", f16, {1, 3, 32, 16}),
                o = k.tensor("o", f32, {2, 3, 16, 16}, Direction::out);
  const ValueId l = k.load(a, {2, 1, 16, 32}, zeros(k, 4), Mat), r = k.load(b, {1, 3, 32, 16}, zeros(k, 4), Mat);
  k.store(k.matmul(l, r), o, zeros(k, 4));
  k.returns();
  const Lowered done = lower_tiles(k.f());
  const Function& f = done.flat;
  // Each page is loaded once, and stored where it belongs.
  CHECK(count_op(f, ops::load) == 5);
  CHECK(count_op(f, ops::matmul) == 6);
  CHECK(count_op(f, ops::store) == 6);
  CHECK(op_names(f).starts_with("load load matmul store load matmul store"));
  CHECK(type_text(f, ops::load) == "f16[16,32]@Mat");
  CHECK(offsets_of(f, find_op(f, ops::store, 5)) == "1,2,0,0");
  CHECK(f[find_op(f, ops::matmul)].location.line == 3);
  CHECK(f[find_op(f, ops::load)].location.line == 1);
  CHECK(f[find_op(f, ops::store)].location.line == 4);
  CHECK(count_op(done.placed, ops::move) == 5);  // each page once
}

TEST_CASE("flatten: tiles in Vec are sliced (F35); a5 moves them on") {
  Recording k;
  const ValueId a = k.tensor("a", f16, {2, 16, 32}), b = k.tensor("b", f16, {2, 32, 16}),
                o = k.tensor("o", f32, {2, 16, 16}, Direction::out);
  k.store(k.matmul(k.load(a, {2, 16, 32}, zeros(k, 3)), k.load(b, {2, 32, 16}, zeros(k, 3))), o, zeros(k, 3));
  k.returns();
  CHECK(op_names(lower_tiles(k.f(), Arch::a5).flat) == "load load slice slice matmul store slice slice matmul store");
  const std::string text = thrown<UserError>([&] { static_cast<void>(lower_tiles(k.f(), Arch::a3)); });
  CHECK(contains(
      text,
      "k.cpp:3: error: matmul: no instruction moves the operand to where it is read (operand 0, Vec to Left on a3)"));
}

TEST_CASE("flatten: transposed operands, as views and as attributes (F38)") {
  for (const bool attribute : {false, true}) {
    Recording k;
    const ValueId a = k.tensor("a", f16, {2, 32, 16}), b = k.tensor("b", f16, {2, 48, 32}),
                  o = k.tensor("o", f32, {2, 16, 48}, Direction::out);
    const ValueId l = k.load(a, {2, 32, 16}, zeros(k, 3), Mat), r = k.load(b, {2, 48, 32}, zeros(k, 3), Mat);
    k.store(attribute ? k.matmul(l, r, true, true)
                      : k.matmul(k.op(ops::transpose_view, {l}), k.op(ops::transpose_view, {r})),
            o, zeros(k, 3));
    k.returns();
    const Function f = lower_tiles(k.f()).flat;
    CHECK(count_op(f, ops::transpose) == 0);
    CHECK(count_op(f, ops::transpose_view) == 4);
    CHECK(type_text(f, ops::transpose_view) == "f16[16,32]@Mat:zn");
  }
}

TEST_CASE("flatten: moves to Left and Right are made page by page") {
  Recording k;
  const ValueId a = k.tensor("a", f16, {2, 16, 32}), b = k.tensor("b", f16, {32, 16}),
                o = k.tensor("o", f32, {2, 16, 16}, Direction::out);
  const ValueId l = k.op(ops::move, {k.load(a, {2, 16, 32}, zeros(k, 3), Mat)}, {}, shaped_type(f16, {2, 16, 32}, Left));
  const ValueId r = k.op(ops::move, {k.load(b, {32, 16}, zeros(k, 2), Mat)}, {}, shaped_type(f16, {32, 16}, Right));
  k.store(k.matmul(l, r), o, zeros(k, 3));
  k.returns();
  CHECK(op_names(lower_tiles(k.f()).flat) == "load move load move matmul store load move matmul store");
}

TEST_CASE("flatten: a fused store keeps its attributes; a second use is served (H2)") {
  Recording k;
  const ValueId a = k.tensor("a", f16, {2, 16, 16}), b = k.tensor("b", f16, {2, 16, 16}),
                o = k.tensor("o", f32, {2, 16, 16}, Direction::inout),
                p = k.tensor("p", f32, {2, 16, 16}, Direction::out);
  const ValueId m = k.matmul(k.load(a, {2, 16, 16}, zeros(k, 3), Mat), k.load(b, {2, 16, 16}, zeros(k, 3), Mat));
  std::vector<ValueId> operands{m, o, k.index(0), k.index(0), k.index(0)};
  k.effect(ops::store, operands, {int_attr(AttrKey::atomic_add, 1)});
  k.store(k.op(ops::exp, {k.op(ops::minimums, {m, k.constant(f32, 0)})}), p, zeros(k, 3));
  k.returns();
  const Function f = lower_tiles(k.f()).flat;
  CHECK(f.attr(find_op(f, ops::store, 0), AttrKey::atomic_add) == 1);
  CHECK(f.attr(find_op(f, ops::store, 1), AttrKey::atomic_add) == 1);
  CHECK(f.attr(find_op(f, ops::store, 2), AttrKey::atomic_add) == 0);
  CHECK(type_text(f, ops::exp) == "f32[32,16]@Vec");
  CHECK(count_op(f, ops::matmul) == 2);
}

TEST_CASE("flatten: pages are loaded before their tensor is written") {
  Recording k;
  const ValueId a = k.tensor("a", f32, {2, 16, 16}, Direction::inout),
                b = k.tensor("b", f32, {1, 16, 16}, Direction::inout);
  const ValueId l = k.load(a, {2, 16, 16}, zeros(k, 3), Mat), r = k.load(b, {1, 16, 16}, zeros(k, 3), Mat);
  const ValueId one = k.op(ops::full, {k.constant(f32, 1.0)}, {}, shaped_type(f32, {1, 16, 16}, Vec));
  k.store(one, b, zeros(k, 3));
  k.store(k.matmul(l, r), a, zeros(k, 3));
  k.returns();
  CHECK(op_names(lower_tiles(k.f()).flat) == "load load load full store matmul store matmul store");
}

TEST_CASE("flatten: operands from outside a loop or branch (H10, F42)") {
  Recording k;
  const ValueId a = k.tensor("a", f16, {4, 16, 16}), b = k.tensor("b", f16, {2, 16, 16}),
                o = k.tensor("o", f32, {2, 16, 16}, Direction::out), n = k.scalar("n", index_type);
  const ValueId l = k.load(a, {2, 16, 16}, {k.index(2), k.index(0), k.index(0)}, Mat),
                r = k.load(b, {2, 16, 16}, zeros(k, 3), Mat);
  const ValueId c = k.op(ops::scalar_compare, {n, k.index(1)}, {int_attr(AttrKey::compare, 0)});
  static_cast<void>(k.branch(c, {}, [&] {
    return k.store(k.matmul(l, r), o, zeros(k, 3)), std::vector<ValueId>{};
  }, [&] { return k.store(k.matmul(l, k.op(ops::transpose_view, {r})), o, zeros(k, 3)), std::vector<ValueId>{}; }));
  k.returns();
  const Lowered done = lower_tiles(k.f(), Arch::a3, 8, 1);
  CHECK(op_names(done.flat).starts_with(
      "load load load load compare if{matmul store matmul store yield}{transpose_view matmul store"));
  // Read in two ways: loaded for each of them.
  CHECK(count_op(done.legal, ops::load) == 6);
  static_cast<void>(lower_tiles(k.f(), Arch::a3, 8, 2));
}

TEST_CASE("flatten: accumulators have no batch either (F44, F47, F49)") {
  Recording k;
  const ValueId a = k.tensor("a", f16, {2, 16, 32}), b = k.tensor("b", f16, {2, 32, 16}),
                o = k.tensor("o", f32, {2, 16, 16}, Direction::out);
  const auto at = [&](int i, int j) { return std::vector<ValueId>{k.index(0), k.index(i), k.index(j)}; };
  const ValueId first = k.matmul(k.load(a, {2, 16, 16}, at(0, 0), Mat), k.load(b, {2, 16, 16}, at(0, 0), Mat));
  const ValueId second =
      k.matmul_acc(first, k.load(a, {2, 16, 16}, at(0, 16), Mat), k.load(b, {2, 16, 16}, at(16, 0), Mat));
  k.store(second, o, zeros(k, 3));
  k.returns();
  const Lowered done = lower_tiles(k.f());
  CHECK(count_op(done.flat, ops::matmul) == 2);
  CHECK(count_op(done.flat, ops::matmul_acc) == 2);
  CHECK(count_op(done.flat, ops::assemble) == 0);
  CHECK(count_op(done.placed, ops::move) == 8);
}

TEST_CASE("flatten: a loop carries one accumulator per page (F45, S15)") {
  for (const std::int64_t pages : {1, 2}) {
    Recording k;
    const ValueId a = k.tensor("a", f16, {pages, 16, 64}), b = k.tensor("b", f16, {pages, 64, 16}),
                  o = k.tensor("o", f32, {pages, 16, 16}, Direction::out);
    const auto step = [&](ValueId i, const std::vector<ValueId>& c, bool first) {
      const ValueId at = k.b().mul(i, k.index(16));
      const ValueId l = k.load(a, {pages, 16, 16}, {k.index(0), k.index(0), at}, Mat),
                    r = k.load(b, {pages, 16, 16}, {k.index(0), at, k.index(0)}, Mat);
      return first ? k.matmul(l, r) : k.matmul_acc(c[0], l, r);
    };
    const ValueId start = k.create(f32, {pages, 16, 16}, Vec);
    const auto sum = k.loop(k.index(4), {start}, [&](ValueId i, const auto& c) {
      const ValueId is_first = k.op(ops::scalar_compare, {i, k.index(0)}, {int_attr(AttrKey::compare, 0)});
      return k.branch(is_first, {shaped_type(f32, {pages, 16, 16}, Acc)}, [&] {
        return std::vector<ValueId>{step(i, c, true)};
      }, [&] { return std::vector<ValueId>{step(i, c, false)}; });
    });
    k.store(sum[0], o, zeros(k, 3));
    k.returns();
    // The recorder cannot know the place of the carried storage; the passes find it.
    PassContext context{Arch::a3};
    const Function flat = flatten_tile_nd_to_2d.run(k.f(), context);
    const Function placed = infer_memory_space.run(legalize.run(flat, context), context);
    verify(placed, {Property::tile_ops, Property::tiles_2d, Property::legal, Property::spaces_inferred});
    CHECK(count_op(flat, ops::matmul) == pages);
    CHECK(count_op(flat, ops::create) == pages);
    CHECK(type_text(placed, ops::create) == "f32[16,16]@Acc");
    const Function f = assign_buffers.run(placed, context);
    verify(f, {Property::buffers_assigned});
    CHECK(count_op(f, ops::move) == 4 * pages);  // to Left and Right, in both branches; no copies
    // One buffer from the first storage to the store.
    const OpId create = find_op(f, ops::create), matmul = find_op(f, ops::matmul), acc = find_op(f, ops::matmul_acc);
    CHECK(f[f.result(matmul)].buffer == f.result(create).index);
    CHECK(f[f.result(acc)].buffer == f.result(create).index);
    CHECK(f[f.operand(find_op(f, ops::store), 0)].buffer == f.result(create).index);
  }
}

TEST_CASE("flatten: tails of a batched product are stored as far as they are valid") {
  Recording k;
  const ValueId a = k.tensor("a", f16, {2, dyn<"S">, 32}), b = k.tensor("b", f16, {2, 32, 16}),
                o = k.tensor("o", f32, {2, dyn<"S">, 16}, Direction::out);
  const ValueId n = k.b().min(k.f().symbol(dyn<"S">), k.index(16));
  const ValueId l = k.load(a, {2, 16, 32}, zeros(k, 3), Mat, {k.index(2), n, k.index(32)});
  k.store(k.matmul(l, k.load(b, {2, 32, 16}, zeros(k, 3), Mat)), o, zeros(k, 3));
  k.returns();
  for (const std::int64_t s : {1, 7, 16}) static_cast<void>(lower_tiles(k.f(), Arch::a3, s));
}

TEST_CASE("flatten: one window in Mat stays one load (F51, F52)") {
  Recording k;
  const ValueId a = k.tensor("a", f16, {2, 16, 32}), b = k.tensor("b", f16, {32, 16}),
                o = k.tensor("o", f32, {16, 16}, Direction::out);
  const ValueId l = k.load(a, {1, 16, 32}, {k.index(1), k.index(0), k.index(0)}, Mat),
                r = k.load(b, {32, 16}, zeros(k, 2), Mat);
  k.store(k.reshape(k.matmul(l, r), {16, 16}), o, zeros(k, 2));
  k.returns();
  const Function f = lower_tiles(k.f()).flat;
  CHECK(op_names(f) == "load load matmul store");
  CHECK(type_text(f, ops::load) == "f16[16,32]@Mat");
}
