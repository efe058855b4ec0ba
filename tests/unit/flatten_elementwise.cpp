// Tiles of rank > 2 become 2-D: loads, stores, elementwise operations, reductions, extents, control flow.
#include "support/lowering.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

const PassContext a3{Arch::a3};

// load, one operation, store
std::string one(const OpInfo& info, List<std::int64_t> dims, DType d = f32) {
  Recording k;
  const ValueId x = k.tensor("x", d, dims), o = k.tensor("o", d, dims, Direction::out);
  const std::vector<ValueId> at(dims.size(), k.index(0));
  const ValueId t = k.load(x, dims, at);
  k.store(k.op(info, {t}), o, at);
  k.returns();
  return print(lower_tiles(k.f()).flat);
}

}  // namespace

TEST_CASE("flatten: one elementwise operation (F1)") {
  CHECK(one(ops::exp, {2, 3, 8}) == golden(R"(
kernel @k(%x: in f32[2,3,8], %o: out f32[2,3,8]) {
  %0 = tile.load(%x, 0, 0, 0) {window = [2, 3, 8]} : tile<f32[6,8]@Vec>
  %1 = tile.exp(%0) : tile<f32[6,8]@Vec>
  tile.store(%1, %o, 0, 0, 0) {window = [2, 3, 8]}
  return
}
)"));
  CHECK(contains(one(ops::neg, {2, 2, 2, 2, 16}, f16), "tile<f16[16,16]@Vec>"));
}

TEST_CASE("flatten: 1-D and 2-D tiles are untouched (F4)") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {32, 64}), v = k.tensor("v", f32, {64}),
                o = k.tensor("o", f32, {32, 64}, Direction::out), p = k.tensor("p", f32, {64}, Direction::out);
  k.store(k.op(ops::exp, {k.load(x, {32, 64}, {k.index(0), k.index(0)})}), o, {k.index(0), k.index(0)});
  k.store(k.op(ops::exp, {k.load(v, {64}, {k.index(0)})}), p, {k.index(0)});
  k.returns();
  CHECK(print(flatten_tile_nd_to_2d.run(k.f(), a3)) == print(k.f()));
}

TEST_CASE("flatten: two operands, create, full (F3, F12, F13)") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {2, 3, 8}), o = k.tensor("o", f32, {2, 3, 8}, Direction::out);
  const std::vector<ValueId> at(3, k.index(0));
  const ValueId t = k.load(x, {2, 3, 8}, at),
                c = k.op(ops::full, {k.constant(f32, 2.0)}, {}, shaped_type(f32, {2, 3, 8}, Vec));
  k.store(k.op(ops::muls, {k.op(ops::add, {k.op(ops::abs, {t}), c}), k.constant(f32, 2.0)}), o, at);
  k.returns();
  const Function f = lower_tiles(k.f()).flat;
  CHECK(op_names(f) == "load full abs add muls store");
  CHECK(type_text(f, ops::full) == "f32[6,8]@Vec");
}

TEST_CASE("flatten: parts of several pages, the larger one known before the rows are one") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {2, 3, 8}), o = k.tensor("o", f32, {2, 3, 8}, Direction::out),
                n = k.scalar("n", index_type);
  const std::vector<ValueId> at(3, k.index(0));
  const ValueId pages = k.b().min(n, k.index(2));
  const ValueId a = k.load(x, {2, 3, 8}, at, Vec, {pages, k.index(3), n}),
                b = k.load(x, {2, 3, 8}, at, Vec, {pages, k.index(3), k.b().min(n, k.index(5))});
  const ValueId r = k.op(ops::part_add, {a, b});
  k.store(r, o, at);
  k.returns();
  for (const std::int64_t valid : {1, 2, 5, 8}) {
    const Function f = lower_tiles(k.f(), Arch::a3, 8, valid).flat;
    CHECK(type_text(f, ops::part_add) == "f32[6,8]@Vec");
    const ValueId made = f.result(find_op(f, ops::part_add));
    CHECK((!f.valid(made, 0).is_constant() && !f.valid(made, 1).is_constant()));
  }
}

TEST_CASE("flatten: an extent in front of the rows (F8)") {
  for (const std::int64_t s : {1, 5, 8, 13}) {
    Recording k;
    const ValueId x = k.tensor("x", f16, {2, dyn<"S">, 32}), o = k.tensor("o", f32, {2, dyn<"S">, 32}, Direction::out);
    const ValueId n = k.b().min(k.f().symbol(dyn<"S">), k.index(8));
    const ValueId t = k.load(x, {1, 8, 32}, {k.index(1), k.index(0), k.index(0)}, Vec, {k.index(1), n, k.index(32)});
    k.store(k.cast(t, f32), o, {k.index(1), k.index(0), k.index(0)});
    k.returns();
    const Function f = lower_tiles(k.f(), Arch::a3, s).flat;
    CHECK(type_text(f, ops::cast) == "f32[8,32]@Vec");
    CHECK(f.valid(f.result(find_op(f, ops::cast)), 1) == Extent{32, {}});
    CHECK_FALSE(f.valid(f.result(find_op(f, ops::cast)), 0).is_constant());
  }
}

TEST_CASE("flatten: extents that leave gaps are refused (H3), a partial first dim is not") {
  const auto lower = [](std::int64_t pages, std::int64_t rows) {
    Recording k;
    const ValueId x = k.tensor("x", f32, {4, 16, 32}), o = k.tensor("o", f32, {4, 16, 32}, Direction::out);
    const std::vector<ValueId> at(3, k.index(0));
    const ValueId t = k.load(x, {2, 16, 32}, at, Vec, {k.index(pages), k.index(rows), k.index(32)});
    k.store(k.op(ops::neg, {t}), o, at);
    k.returns();
    return lower_tiles(k.f());
  };
  const Function f = lower(1, 16).flat;
  CHECK(f.valid(f.result(find_op(f, ops::neg)), 0) == Extent{16, {}});
  const std::string text = thrown<UserError>([&] { static_cast<void>(lower(2, 5)); });
  CHECK(contains(text, "k.cpp:1: error: load: the valid part is not one band of rows"));
  CHECK(contains(text, "axis 1: 5 of 16"));
  CHECK(contains(text, "loop over the outer dims"));
}

TEST_CASE("flatten: a run-time dim is refused with both remedies (F7)") {
  Recording k;
  const ValueId x = k.f().add_argument(k.f().body(), shaped_type(f32, {dyn<"N">, 3, 4}, Vec));
  static_cast<void>(k.op(ops::add, {x, x}));
  k.returns();
  const std::string text = thrown<UserError>([&] { static_cast<void>(flatten_tile_nd_to_2d.run(k.f(), a3)); });
  CHECK(contains(text, "cannot be flattened to 2D"));
  CHECK(contains(text, "loop over chunks"));
  CHECK(contains(text, "reshape"));
}

TEST_CASE("flatten: rows are reduced everywhere, columns page by page (H6)") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {2, 8, 8}), r = k.tensor("r", f32, {2, 8, 1}, Direction::out),
                c = k.tensor("c", f32, {2, 1, 8}, Direction::out);
  const std::vector<ValueId> at(3, k.index(0));
  const ValueId t = k.load(x, {2, 8, 8}, at);
  const ValueId m = k.op(ops::row_max, {t, k.create(f32, {2, 8, 8}, Vec)});
  k.store(m, r, at);
  k.store(k.op(ops::col_sum, {k.op(ops::row_expand_sub, {t, m})}), c, at);
  k.returns();
  const Function f = lower_tiles(k.f()).flat;
  CHECK(op_names(f) ==
        "load create row_max store row_expand_sub create slice col_sum assemble slice col_sum assemble store");
  CHECK(type_text(f, ops::row_max) == "f32[16,1]@Vec:dn");
  CHECK(type_text(f, ops::assemble, 1) == "f32[2,8]@Vec");
}

TEST_CASE("flatten: broadcasts of rows and columns of rank 3 keep their meaning (H5)") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {2, 8, 8}), w = k.tensor("w", f32, {1, 8}),
                o = k.tensor("o", f32, {2, 8, 8}, Direction::out);
  const std::vector<ValueId> at(3, k.index(0));
  const ValueId t = k.load(x, {2, 8, 8}, at), v = k.load(w, {1, 8}, {k.index(0), k.index(0)});
  k.store(k.op(ops::col_expand_mul, {t, v}), o, at);
  k.returns();
  CHECK(op_names(lower_tiles(k.f()).flat) == "load load col_expand_mul store");
}

TEST_CASE("flatten: page fills (F19, F20) and pages that are not one band") {
  const auto lower = [](List<std::int64_t> part, std::vector<std::int64_t> offsets) {
    Recording k;
    const ValueId x = k.tensor("x", f32, {4, 8, 16}), o = k.tensor("o", f32, {4, 8, 16}, Direction::out);
    const std::vector<ValueId> at(3, k.index(0));
    const ValueId acc = k.load(x, {4, 8, 16}, at),
                  page = k.op(ops::full, {k.constant(f32, 1.0)}, {}, shaped_type(f32, part, Vec));
    std::vector<ValueId> operands{acc, page};
    for (const std::int64_t n : offsets) operands.push_back(k.index(n));
    k.store(k.op(ops::assemble, operands), o, at);
    k.returns();
    return lower_tiles(k.f()).flat;
  };
  const Function f = lower({1, 8, 16}, {2, 0, 0});
  CHECK(op_names(f) == "load full assemble store");
  CHECK(f.is_integer_constant(f.operand(find_op(f, ops::assemble), 2), 16));
  CHECK(op_names(lower({2, 4, 16}, {1, 4, 0})) == "load full slice assemble slice assemble store");
  CHECK(op_names(lower({4, 8, 16}, {0, 0, 0})) == "load full assemble store");
}

TEST_CASE("flatten: a source of another rank is refused (F23)") {
  Recording k;
  const ValueId acc = k.create(f32, {4, 8, 16}, Vec),
                page = k.op(ops::full, {k.constant(f32, 1.0)}, {}, shaped_type(f32, {8, 16}, Vec));
  CHECK(contains(thrown<UserError>(
                     [&] { static_cast<void>(k.op(ops::assemble, {acc, page, k.index(2), k.index(0), k.index(0)})); }),
                 "rank is not the tensor's (2, 3)"));
}

TEST_CASE("flatten: a user's reshape to rank 3 is followed by anything (H9)") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {16, 8}), o = k.tensor("o", f32, {2, 8, 8}, Direction::out);
  const ValueId t = k.load(x, {16, 8}, {k.index(0), k.index(0)});
  k.store(k.op(ops::neg, {k.reshape(t, {2, 8, 8})}), o, {k.index(0), k.index(0), k.index(0)});
  k.returns();
  CHECK(op_names(lower_tiles(k.f()).flat) == "load neg store");
}

TEST_CASE("flatten: slice, read and write of rank 3 are refused by name (FE2)") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {2, 8, 8});
  const ValueId t = k.load(x, {2, 8, 8}, {k.index(0), k.index(0), k.index(0)});
  static_cast<void>(k.op(ops::read, {t, k.index(0), k.index(0), k.index(1)}));
  k.returns();
  const std::string text = thrown<UserError>([&] { static_cast<void>(flatten_tile_nd_to_2d.run(k.f(), a3)); });
  CHECK(contains(text, "k.cpp:2: error: read: not supported on tiles of rank above 2 (rank 3)"));
  CHECK(contains(text, "reshape the tile to 2-D first"));
}

TEST_CASE("flatten: transposes of the last two axes (F54, F55, F56)") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {2, 8, 16}), o = k.tensor("o", f32, {2, 16, 8}, Direction::out);
  const std::vector<ValueId> at(3, k.index(0));
  k.store(k.op(ops::transpose, {k.load(x, {2, 8, 16}, at)}), o, at);
  k.returns();
  const Function f = lower_tiles(k.f()).flat;
  CHECK(op_names(f) == "load create create slice transpose assemble slice transpose assemble store");
  CHECK(type_text(f, ops::create) == "f32[8,16]@Vec");
  CHECK(type_text(f, ops::transpose) == "f32[16,8]@Vec");
  CHECK(type_text(f, ops::assemble) == "f32[32,8]@Vec");

  Recording two;
  const ValueId y = two.tensor("y", f32, {8, 16}), p = two.tensor("p", f32, {16, 8}, Direction::out);
  two.store(two.op(ops::transpose, {two.load(y, {8, 16}, {two.index(0), two.index(0)})}), p,
            {two.index(0), two.index(0)});
  two.returns();
  CHECK(op_names(lower_tiles(two.f()).flat) == "load create transpose store");

  Recording outer;
  const ValueId z = outer.tensor("z", f32, {2, 8, 16});
  const std::vector<Attr> axes{int_attr(AttrKey::axis, 0), int_attr(AttrKey::other_axis, 1)};
  static_cast<void>(
      outer.op(ops::transpose, {outer.load(z, {2, 8, 16}, {outer.index(0), outer.index(0), outer.index(0)})}, axes));
  outer.returns();
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(flatten_tile_nd_to_2d.run(outer.f(), a3)); }),
                 "transpose: only the last two axes"));
}

TEST_CASE("flatten: loops and while carry 2-D tiles (F32, F33)") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {2, 4, 8}), o = k.tensor("o", f32, {2, 4, 8}, Direction::out),
                p = k.tensor("p", f32, {2, 4, 8}, Direction::out);
  const std::vector<ValueId> at(3, k.index(0));
  const ValueId t = k.load(x, {2, 4, 8}, at);
  const auto carried =
      k.loop(k.index(3), {t}, [&](ValueId, const auto& c) { return std::vector<ValueId>{k.op(ops::add, {c[0], t})}; });
  k.store(carried[0], o, at);
  const Attr less = int_attr(AttrKey::compare, static_cast<std::int64_t>(Compare::lt));
  const auto last = k.loop_while({k.index(0), t}, [&](const auto& c) {
    return std::vector<ValueId>{k.op(ops::scalar_compare, {c[0], k.index(2)}, {less}), c[0], c[1]};
  }, [&](const auto& c) {
    return std::vector<ValueId>{k.op(ops::scalar_add, {c[0], k.index(1)}), k.op(ops::neg, {c[1]})};
  });
  k.store(last[1], p, at);
  k.returns();
  const Function f = lower_tiles(k.f()).flat;
  CHECK(op_names(f) == "load for{add yield} store while{compare condition}{add neg yield} store");
  CHECK(f.type(f.result(find_op(f, ops::while_loop), 1)) == shaped_type(f32, {8, 8}, Vec));
}

TEST_CASE("flatten: operations keep the user's line (F59)") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {2, 8, 8}), c = k.tensor("c", f32, {2, 1, 8}, Direction::out);
  const std::vector<ValueId> at(3, k.index(0));
  k.store(k.op(ops::col_max, {k.load(x, {2, 8, 8}, at)}), c, at);
  k.returns();
  const Function f = flatten_tile_nd_to_2d.run(k.f(), a3);
  CHECK(f[find_op(f, ops::load)].location.line == 1);
  for (const OpInfo* info : {&ops::slice, &ops::col_max, &ops::assemble, &ops::create})
    CHECK(f[find_op(f, *info)].location.line == 2);
  CHECK(f[find_op(f, ops::store)].location.line == 3);
}
