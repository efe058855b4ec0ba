// Tiles of rank > 2 become 2-D: loads, stores, elementwise operations, reductions, extents, control flow.
#include "support/lowering.hpp"

#include <tessera/ir/properties.hpp>
#include <tessera/ir/verifier.hpp>
#include <tessera/passes/flatten_tile_nd_to_2d.hpp>
#include <tessera/passes/pass.hpp>

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

TEST_CASE("flatten: ten bodies of one operation (F1)") {
  const auto body = [](const OpInfo& info, std::vector<std::int64_t> dims, DType d, int operands) {
    Recording k;
    const ValueId x = k.tensor("x", d, dims), o = k.tensor("o", d, dims, Direction::out);
    const std::vector<ValueId> at(dims.size(), k.index(0));
    const ValueId t = k.load(x, dims, at);
    std::vector<ValueId> list{t};
    if (operands == 2) list.push_back(t);
    if (operands == -1) list.push_back(k.constant(d, 2.0));
    k.store(k.op(info, list), o, at);
    k.returns();
    const Function f = lower_tiles(k.f()).flat;
    CHECK(op_names(f) == "load " + std::string(info.name) + " store");
    const List<std::int64_t> stored = f.attr_list(find_op(f, ops::store), AttrKey::window);
    CHECK(std::vector<std::int64_t>(stored.begin(), stored.end()) == dims);
    CHECK(type_text(f, ops::load) == type_text(f, info));
    return type_text(f, info);
  };
  CHECK(body(ops::add, {2, 3, 4}, f32, 2) == "f32[6,4]@Vec");
  CHECK(body(ops::mul, {2, 3, 4, 5}, f32, 2) == "f32[24,5]@Vec");
  CHECK(body(ops::add, {2, 2, 2, 2, 4}, f32, 2) == "f32[16,4]@Vec");
  CHECK(body(ops::exp, {2, 3, 4}, f32, 1) == "f32[6,4]@Vec");
  CHECK(body(ops::neg, {4, 2, 8}, f32, 1) == "f32[8,8]@Vec");
  CHECK(body(ops::muls, {2, 4, 8}, f32, -1) == "f32[8,8]@Vec");
  CHECK(body(ops::adds, {2, 4, 8}, f32, -1) == "f32[8,8]@Vec");
  CHECK(body(ops::sub, {3, 4, 5}, f32, 2) == "f32[12,5]@Vec");
  CHECK(body(ops::add, {2, 4, 8}, f16, 2) == "f16[8,8]@Vec");
  CHECK(body(ops::maximum, {2, 1, 2, 1, 3, 16}, f16, 2) == "f16[12,16]@Vec");
}

TEST_CASE("flatten: the same bytes as other elements (F2)") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {2, 3, 8}), o = k.tensor("o", f32, {2, 3, 8}, Direction::out);
  const std::vector<ValueId> at(3, k.index(0));
  const ValueId words = k.op(ops::reinterpret, {k.load(x, {2, 3, 8}, at)}, {}, scalar_type(i16));
  k.store(k.op(ops::reinterpret, {words}, {}, scalar_type(f32)), o, at);
  k.returns();
  const Function f = lower_tiles(k.f()).flat;
  CHECK(type_text(f, ops::reinterpret) == "i16[6,16]@Vec");
  CHECK(type_text(f, ops::reinterpret, 1) == "f32[6,8]@Vec");
}

TEST_CASE("flatten: storage, paths of both ranks, stores of one tile (F14, F15, F16)") {
  Recording k;
  const ValueId o = k.tensor("o", f32, {2, 3, 8}, Direction::out), p = k.tensor("p", f32, {2, 3, 8}, Direction::out),
                q = k.tensor("q", f32, {4, 8}, Direction::out), y = k.tensor("y", f32, {4, 8});
  const std::vector<ValueId> at(3, k.index(0)), at2(2, k.index(0));
  const ValueId c = k.create(f32, {2, 3, 8}, Vec), one = k.op(ops::full, {k.constant(f32, 1.0)}, {}, shaped_type(f32, {2, 3, 8}, Vec));
  const ValueId filled = k.op(ops::assemble, {c, one, k.index(0), k.index(0), k.index(0)});
  const ValueId sum = k.op(ops::add, {filled, one});
  k.store(sum, o, at);
  k.store(sum, p, at);
  k.store(k.op(ops::exp, {k.load(y, {4, 8}, at2)}), q, at2);
  k.returns();
  const Function f = lower_tiles(k.f()).flat;
  CHECK(op_names(f) == "create full assemble add store store load exp store");
  CHECK(type_text(f, ops::create) == "f32[6,8]@Vec");
  CHECK(f.find_attr(find_op(f, ops::store, 1), AttrKey::window) != nullptr);
  CHECK(f.find_attr(find_op(f, ops::store, 2), AttrKey::window) == nullptr);
}

TEST_CASE("flatten: kernels of a program one by one, callers not at all (F5, F6, F17)") {
  const auto kernel_of = [](std::vector<std::int64_t> dims) {
    Recording k;
    const ValueId x = k.tensor("x", f32, dims), o = k.tensor("o", f32, dims, Direction::out);
    const std::vector<ValueId> at(dims.size(), k.index(0));
    k.store(k.op(ops::neg, {k.load(x, dims, at)}), o, at);
    k.returns();
    return std::move(k.f());
  };
  Program p;
  p.functions.push_back(kernel_of({2, 3, 8}));
  p.functions.push_back(kernel_of({3, 4, 8}));
  p.functions.push_back(kernel_of({4, 8}));
  Recording group("g");
  group.f().kind = FunctionKind::group;
  group.returns({group.tensor("x", f32, {2, 3, 8})});
  p.functions.push_back(std::move(group.f()));
  PassOptions options;
  options.properties = {Property::tile_ops};
  const Program done = run_passes(p, {&flatten_tile_nd_to_2d}, a3, options);
  CHECK(type_text(done.functions[0], ops::neg) == "f32[6,8]@Vec");
  CHECK(type_text(done.functions[1], ops::neg) == "f32[12,8]@Vec");
  for (const std::size_t same : {2u, 3u}) CHECK(print(done.functions[same]) == print(p.functions[same]));
  CHECK(flatten_tile_nd_to_2d.name == "flatten_tile_nd_to_2d");  // F24, F25
  CHECK(flatten_tile_nd_to_2d.required == Properties{Property::tile_ops});
  CHECK(flatten_tile_nd_to_2d.produced == Properties{Property::tiles_2d});
}

TEST_CASE("flatten: the verifier sees what is not 2-D on its own (F26, F27, F28, F29)") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {2, 3, 8}), o = k.tensor("o", f32, {2, 3, 8}, Direction::out);
  const std::vector<ValueId> at(3, k.index(0));
  const ValueId part = k.op(ops::full, {k.constant(f32, 1.0)}, {}, shaped_type(f32, {1, 3, 8}, Vec));
  k.store(k.op(ops::assemble, {k.load(x, {2, 3, 8}, at), part, k.index(1), k.index(0), k.index(0)}), o, at);
  k.returns();
  const Properties promised{Property::tile_ops, Property::tiles_2d};
  CHECK(contains(thrown<InternalError>([&] { verify(k.f(), promised); }), "tiles_2d: a tile has more than two dims"));
  const Function good = flatten_tile_nd_to_2d.run(k.f(), a3);
  verify(good, promised);
  const auto broken = [&](auto&& damage) {
    Function f = flatten_tile_nd_to_2d.run(k.f(), a3);
    damage(f);
    return thrown<InternalError>([&] { verify(f, promised); });
  };
  CHECK(contains(broken([](Function& f) {
    const OpId op = find_op(f, ops::assemble);
    std::vector<ValueId> operands = f.operands(op);
    operands.push_back(f.index(0));
    f.set_operands(op, operands);
  }), "assemble"));
  const auto window = [](const OpInfo& info, std::vector<std::int64_t> box) {
    return [&info, box](Function& f) {
      const OpId op = find_op(f, info);
      for (std::uint32_t i = 0; i < f[op].attr_count; ++i) {
        Attr& a = const_cast<Attr&>(f.attrs(op).begin()[i]);
        if (a.key == AttrKey::window) a = f.list_attr(AttrKey::window, box);
      }
    };
  };
  CHECK(contains(broken(window(ops::load, {2, 3})), "tiles_2d: the window has another rank than the tensor"));
  CHECK(contains(broken(window(ops::load, {1, 3, 8})), "tiles_2d: the window has other rows and columns than the tile"));
  CHECK(contains(broken(window(ops::store, {2, 3, 4})), "tiles_2d: the window has other rows and columns than the tile"));
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

TEST_CASE("flatten: one rule for extents: what is valid stays one band of rows (H3)") {
  struct Case {
    std::vector<std::int64_t> dims, valid;
    std::int64_t rows;  // -1: gaps
  };
  const Case cases[] = {
      {{2, 16, 32}, {2, 5, 32}, -1}, {{2, 16, 32}, {1, 5, 32}, 5},   {{2, 16, 32}, {1, 16, 8}, 16},  {{1, 1, 16, 32}, {1, 1, 9, 32}, 9},
      {{2, 4, 8, 8}, {1, 3, 8, 8}, 24}, {{2, 4, 8, 8}, {2, 3, 8, 8}, -1}, {{2, 4, 8, 8}, {1, 1, 3, 8}, 3}, {{2, 4, 8, 8}, {1, 4, 3, 8}, -1},
      {{2, 16, 32}, {0, 5, 32}, 0},  {{2, 16, 32}, {2, 0, 32}, 0},   {{2, 1, 16, 32}, {2, 1, 16, 3}, 32}};
  for (const Case& c : cases) {
    Recording k;
    const ValueId x = k.tensor("x", f32, c.dims), o = k.tensor("o", f32, c.dims, Direction::out);
    const std::vector<ValueId> at(c.dims.size(), k.index(0));
    std::vector<ValueId> valid;
    for (const std::int64_t n : c.valid) valid.push_back(k.index(n));
    k.store(k.op(ops::neg, {k.load(x, c.dims, at, Vec, valid)}), o, at);
    k.returns();
    INFO(print(k.f()));
    if (c.rows < 0) {
      CHECK(contains(thrown<UserError>([&] { static_cast<void>(flatten_tile_nd_to_2d.run(k.f(), a3)); }), "the valid part is not one band of rows"));
      continue;
    }
    const Function f = lower_tiles(k.f()).flat;
    CHECK(f.valid(f.result(find_op(f, ops::neg)), 0) == Extent{c.rows, {}});
    CHECK(f.valid(f.result(find_op(f, ops::neg)), 1) == Extent{c.valid.back(), {}});
  }
}

TEST_CASE("flatten: chunks of a loop with a tail, which may be empty (F8, S20)") {
  Recording k;
  const ValueId x = k.tensor("x", bf16, {3, dyn<"S">, 32}), o = k.tensor("o", f32, {3, dyn<"S">, 32}, Direction::out);
  const ValueId s = k.f().symbol(dyn<"S">);
  k.loop(k.index(3), {}, [&](ValueId b, const auto&) {
    k.loop(k.index(3), {}, [&](ValueId i, const auto&) {
      const ValueId c = k.b().mul(i, k.index(16)), n = k.b().min(k.b().max(k.b().sub(s, c), k.index(0)), k.index(16));
      const ValueId t = k.load(x, {1, 16, 32}, {b, c, k.index(0)}, Vec, {k.index(1), n, k.index(32)});
      k.store(k.cast(t, f32), o, {b, c, k.index(0)});
      return std::vector<ValueId>{};
    });
    return std::vector<ValueId>{};
  });
  k.returns();
  for (const std::int64_t size : {1, 16, 40, 48}) {
    const Function f = lower_tiles(k.f(), Arch::a3, size).flat;
    CHECK(type_text(f, ops::load) == "bf16[16,32]@Vec");
    CHECK(type_text(f, ops::cast) == "f32[16,32]@Vec");
  }
}

TEST_CASE("flatten: extents of a reshape follow from the dims that are still apart") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {2, 1, 8}), o = k.tensor("o", f32, {2, 8, 1}, Direction::out);
  const std::vector<ValueId> at(3, k.index(0));
  const ValueId t = k.load(x, {2, 1, 8}, at, Vec, {k.index(1), k.index(1), k.index(8)});
  k.store(k.reshape(t, {2, 8, 1}), o, at);
  k.returns();
  const Function f = flatten_tile_nd_to_2d.run(k.f(), a3);
  verify(f, {Property::tile_ops, Property::tiles_2d});
  CHECK(op_names(f) == "load reshape store");
  CHECK(f.valid(f.result(find_op(f, ops::reshape)), 0) == Extent{8, {}});
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

TEST_CASE("flatten: dims that are no numbers of rows are refused (F11, FE1, FE7)") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {1, dyn<"S">, 512});
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(k.load(x, {1, dyn<"S">, 512}, std::vector<ValueId>(3, k.index(0)))); }), "load: "));
  const auto refused = [](List<std::int64_t> dims) {
    Recording r;
    const ValueId v = r.f().add_argument(r.f().body(), shaped_type(f32, dims, Vec));
    static_cast<void>(r.op(ops::neg, {v}));
    r.returns();
    return thrown<UserError>([&] { static_cast<void>(flatten_tile_nd_to_2d.run(r.f(), a3)); });
  };
  CHECK(contains(refused({2, 0, 8}), "k.cpp:1: error: neg: a tile with a dim that is not positive cannot be flattened to 2D (axis 1: 0)"));
  CHECK(contains(refused({2, -3, 8}), "(axis 1: -3)"));
  const std::int64_t large = std::int64_t{1} << 30;
  CHECK(contains(refused({large, large, large}), "more elements than an address space holds"));
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

TEST_CASE("flatten: a window with gaps, and reads and writes of rank 3, are refused by name (FE2)") {
  for (const OpInfo* info : {&ops::slice, &ops::read, &ops::write}) {
    Recording k;
    const ValueId x = k.tensor("x", f32, {2, 8, 8});
    const ValueId t = k.load(x, {2, 8, 8}, {k.index(0), k.index(0), k.index(0)});
    std::vector<ValueId> operands{t, k.index(0), k.index(0), k.index(0)};
    if (info == &ops::write) operands.insert(operands.begin() + 1, k.constant(f32, 1.0));
    static_cast<void>(k.op(*info, operands, {}, shaped_type(f32, {2, 4, 8}, Vec)));
    k.returns();
    const std::string text = thrown<UserError>([&] { static_cast<void>(flatten_tile_nd_to_2d.run(k.f(), a3)); });
    if (info == &ops::slice) {
      CHECK(contains(text, "k.cpp:2: error: slice: the window of a tile of rank above 2 is not one band of rows (tile<f32[2,4,8]@Vec> of tile<f32[2,8,8]@Vec>)"));
      continue;
    }
    CHECK(contains(text, "k.cpp:2: error: " + std::string(info->name) + ": not supported on tiles of rank above 2 (rank 3)"));
    CHECK(contains(text, "reshape the tile to 2-D first"));
  }
}

TEST_CASE("flatten: the ranks and offsets of assemble are asked for when it is recorded (FE3, F21)") {
  Recording k;
  const ValueId acc = k.create(f32, {4, 8, 16}, Vec), page = k.op(ops::full, {k.constant(f32, 1.0)}, {}, shaped_type(f32, {1, 8, 16}, Vec));
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(k.op(ops::assemble, {acc, page, k.index(2), k.index(0)})); }), "assemble: "));
  Recording two;
  const ValueId x = two.create(f32, {32, 16}, Vec), part = two.op(ops::full, {two.constant(f32, 1.0)}, {}, shaped_type(f32, {8, 16}, Vec));
  two.store(two.op(ops::assemble, {x, part, two.index(16), two.index(0)}), two.tensor("o", f32, {32, 16}, Direction::inout), {two.index(0), two.index(0)});
  two.returns();
  CHECK(print(flatten_tile_nd_to_2d.run(two.f(), a3)) == print(two.f()));
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
