// What a target needs: rows for columns, cast chains, padded tiles, columns of row-major tensors, scratch, refusals by name.
#include "support/lowering.hpp"
#include "tessera/passes/convert_tensor_to_tile_ops.hpp"
#include "tessera/passes/legalize.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

std::vector<ValueId> zeros(Recording& k, std::size_t n) { return std::vector<ValueId>(n, k.index(0)); }
ValueId row_sum(Recording& k, ValueId x) { return k.op(ops::row_sum, {x, k.op(ops::create, {}, {}, k.f().type(x))}); }

}  // namespace

TEST_CASE("legalize: tiles of rank 1 become one row") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {64}), o = k.tensor("o", f32, {64}, Direction::out),
                n = k.scalar("n", index_type);
  const ValueId t = k.load(x, {16}, {k.index(8)}, Vec, {k.b().min(n, k.index(16))});
  const ValueId part = k.slice(k.op(ops::neg, {t}), {8}, {k.index(0)});
  k.store(part, o, {k.index(32)});
  k.returns();
  for (const std::int64_t valid : {1, 5, 8, 16}) {
    const Function f = lower_tiles(k.f(), Arch::a3, 8, valid).legal;
    CHECK(type_text(f, ops::neg) == "f32[1,16]@Vec");
    CHECK(type_text(f, ops::slice) == "f32[1,8]@Vec");
  }
}

TEST_CASE("legalize: elements of rank-1 tiles") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {16}), o = k.tensor("o", f32, {16}, Direction::out);
  const ValueId t = k.load(x, {16}, {k.index(0)});
  const ValueId e = k.op(ops::read, {t, k.index(3)});
  k.store(k.op(ops::write, {t, e, k.index(5)}), o, {k.index(0)});
  k.returns();
  const Function f = lower_tiles(k.f()).legal;
  CHECK(f.operand_count(find_op(f, ops::read)) == 3);
  CHECK(f.operand_count(find_op(f, ops::write)) == 4);
}

TEST_CASE("legalize: a chain on a column is computed on its row; the reshapes in between are gone") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {16, 64}), o = k.tensor("o", f32, {16, 64}, Direction::out);
  const ValueId t = k.load(x, {16, 64}, zeros(k, 2));
  const ValueId s =
      k.op(ops::adds, {k.op(ops::muls, {k.op(ops::abs, {row_sum(k, t)}), k.constant(f32, 2.0)}), k.constant(f32, 1.0)});
  k.store(k.op(ops::row_expand_mul, {t, s}), o, zeros(k, 2));
  k.returns();
  const Function f = lower_tiles(k.f()).legal;
  CHECK(op_names(f) == "load create row_sum reshape abs muls adds reshape row_expand_mul store");
  CHECK(type_text(f, ops::abs) == "f32[1,16]@Vec");
  CHECK(type_text(f, ops::reshape, 1) == "f32[16,1]@Vec:dn");
}

TEST_CASE("legalize: columns of four rows, partial columns, full and casts of columns") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {dyn<"S">, 64}), o = k.tensor("o", f32, {dyn<"S">, 1}, Direction::out),
                p = k.tensor("p", f16, {4, 1}, Direction::out);
  const ValueId n = k.b().min(k.f().symbol(dyn<"S">), k.index(4));
  const ValueId t = k.load(x, {4, 64}, zeros(k, 2), Vec, {n, k.index(64)});
  const ValueId ones = k.op(ops::full, {k.constant(f32, 1.0)}, {}, shaped_type(f32, {4, 1}, Vec));
  k.store(k.op(ops::add, {row_sum(k, t), ones}), o, zeros(k, 2));
  k.store(k.cast(ones, f16), p, zeros(k, 2));
  k.returns();
  for (const std::int64_t s : {1, 3, 4}) {
    const Function f = lower_tiles(k.f(), Arch::a3, s).legal;
    CHECK(op_names(f) == "min load full create row_sum reshape set_valid_shape add reshape store cast reshape store");
  }
}

TEST_CASE("legalize: reductions and transposes of columns") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {16, 1}), o = k.tensor("o", f32, {1, 1}, Direction::out),
                p = k.tensor("p", f32, {1, 16}, Direction::out);
  const ValueId t = k.load(x, {16, 1}, zeros(k, 2));
  k.store(k.op(ops::col_sum, {t}), o, zeros(k, 2));
  k.store(k.op(ops::transpose, {t}), p, zeros(k, 2));
  k.returns();
  CHECK(op_names(lower_tiles(k.f()).legal) == "load reshape create row_sum store create reshape store");
}

TEST_CASE("legalize: the products of columns, and fused differences of columns") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {16, 1}), o = k.tensor("o", f32, {1, 1}, Direction::out),
                p = k.tensor("p", f32, {16, 1}, Direction::out), q = k.tensor("q", f32, {16, 1}, Direction::out);
  const ValueId t = k.load(x, {16, 1}, zeros(k, 2));
  k.store(k.op(ops::col_prod, {t}), o, zeros(k, 2));
  k.store(k.op(ops::row_expand_expdif, {t, k.op(ops::neg, {t})}), p, zeros(k, 2));
  k.store(k.op(ops::col_expand_expdif, {t, k.op(ops::col_max, {t})}), q, zeros(k, 2));
  k.returns();
  CHECK(op_names(lower_tiles(k.f()).legal) ==
        "load reshape create row_prod store reshape neg reshape sub exp reshape store reshape create row_max reshape reshape "
        "row_expand_expdif reshape store");
}

TEST_CASE("legalize: a scalar fills a tile where the target lacks the form with a scalar") {
  for (const auto& [with_scalar, plain] :
       {std::pair{&ops::bit_ands, "bit_and"}, {&ops::bit_ors, "bit_or"}, {&ops::bit_xors, "create bit_xor"}})
    for (const std::vector<std::int64_t>& dims : {std::vector<std::int64_t>{32}, {4, 32}, {2, 3, 16}, {16, 1}}) {
      Recording k;
      const ValueId x = k.tensor("x", i32, dims), o = k.tensor("o", i32, dims, Direction::out);
      k.store(k.op(*with_scalar, {k.load(x, dims, zeros(k, dims.size())), k.constant(i32, 6)}), o, zeros(k, dims.size()));
      k.returns();
      const bool column = dims.back() == 1;
      const Function on_a3 = convert_tensor_to_tile_ops.run(k.f(), {Arch::a3});
      const std::string names = op_names(lower_tiles(on_a3, Arch::a3).legal);
      CHECK(names.find(std::string(column ? "reshape " : "") + "full " + plain + (column ? " reshape" : "") + " store") !=
            std::string::npos);
      const std::string other = op_names(lower_tiles(on_a3, Arch::a5).legal);
      CHECK(other.find(with_scalar->name) != std::string::npos);
      CHECK(other.find("full") == std::string::npos);
    }
}

TEST_CASE("legalize: the scratch of an exclusive or is valid as its result") {
  Recording k;
  const ValueId x = k.tensor("x", i16, {16, 32}), o = k.tensor("o", i16, {16, 32}, Direction::out),
                n = k.scalar("n", index_type);
  const ValueId a = k.load(x, {16, 32}, zeros(k, 2), Vec, {k.index(8), n}), b = k.load(x, {16, 32}, zeros(k, 2));
  k.store(k.op(ops::bit_xor, {a, b}), o, zeros(k, 2));
  k.store(k.op(ops::bit_xors, {a, k.constant(i16, 3)}), o, zeros(k, 2));
  k.returns();
  const Function f = lower_tiles(convert_tensor_to_tile_ops.run(k.f(), {})).legal;
  for (const OpInfo* op : {&ops::bit_xor, &ops::bit_xors}) {
    const OpId xor_op = find_op(f, *op);
    for (const int operand : {0, 2}) {
      CHECK(f.valid(f.operand(xor_op, operand), 0) == Extent{8, {}});
      CHECK(f.valid(f.operand(xor_op, operand), 1) == f.valid(f.result(xor_op), 1));
    }
  }
}

TEST_CASE("legalize: a3 does not complement 32 bits") {
  Recording k;
  const ValueId x = k.tensor("x", i32, {1, 32}), o = k.tensor("o", i32, {1, 32}, Direction::out);
  k.store(k.op(ops::bit_not, {k.load(x, {1, 32}, zeros(k, 2))}), o, zeros(k, 2));
  k.returns();
  CHECK_THROWS_AS(lower_tiles(k.f(), Arch::a3), UserError);
  CHECK(op_names(lower_tiles(k.f(), Arch::a5).legal) == "load bit_not store");
}

TEST_CASE("legalize: positions in a column") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {16, 8}), w = k.tensor("w", i32, {16, 1}),
                o = k.tensor("o", f32, {16, 1}, Direction::out);
  const ValueId positions = k.op(ops::maximum, {k.load(w, {16, 1}, zeros(k, 2)),
                                                k.op(ops::full, {k.constant(i32, 0)}, {}, shaped_type(i32, {16, 1}, Vec))});
  k.store(k.op(ops::gather_flat, {k.load(x, {16, 8}, zeros(k, 2)), positions}), o, zeros(k, 2));
  k.returns();
  const Function f = lower_tiles(convert_tensor_to_tile_ops.run(k.f(), {})).legal;
  CHECK(type_text(f, ops::gather_flat) == "f32[1,16]@Vec");
}

TEST_CASE("legalize: a column of a row-major tensor (S17) and into one") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {16, 8}), w = k.tensor("w", f32, {16, 64}),
                o = k.tensor("o", f32, {16, 64}, Direction::out), p = k.tensor("p", f32, {16, 8}, Direction::inout);
  const ValueId s = k.load(x, {16, 1}, {k.index(0), k.index(3)});
  k.store(k.op(ops::row_expand_mul, {k.load(w, {16, 64}, zeros(k, 2)), s}), o, zeros(k, 2));
  k.store(s, p, {k.index(0), k.index(5)});
  k.returns();
  const Function f = lower_tiles(k.f()).legal;
  CHECK(op_names(f) == "load create transpose reshape load row_expand_mul store create transpose store");
  CHECK(f.type(f.result(find_op(f, ops::load))).layout == Layout::nd);
  CHECK(stored(f.type(f.result(find_op(f, ops::load)))).dims[1] == 8);
}

TEST_CASE("legalize: single elements of a column tensor") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {16, 1}), o = k.tensor("o", f32, {16, 1}, Direction::out);
  const auto none = k.loop(k.index(16), {}, [&](ValueId i, const auto&) {
    k.store(k.op(ops::neg, {k.load(x, {1, 1}, {i, k.index(0)})}), o, {i, k.index(0)});
    return std::vector<ValueId>{};
  });
  CHECK(none.empty());
  k.returns();
  CHECK(op_names(lower_tiles(k.f()).legal) == "for{load reshape neg reshape store yield}");
}

TEST_CASE("legalize: a column of a tile") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {16, 8}), o = k.tensor("o", f32, {16, 1}, Direction::out);
  k.store(k.slice(k.load(x, {16, 8}, zeros(k, 2)), {16, 1}, {k.index(0), k.index(5)}), o, zeros(k, 2));
  k.returns();
  CHECK(op_names(lower_tiles(k.f()).legal) == "load create transpose slice reshape store");
}

TEST_CASE("legalize: a gather takes rows without padding") {
  for (const std::int64_t n : {8, 7}) {
    Recording k;
    const ValueId x = k.tensor("x", f32, {1, 40}), i = k.tensor("i", i32, {1, n}),
                  o = k.tensor("o", f32, {1, n}, Direction::out);
    k.store(k.op(ops::gather_flat, {k.load(x, {1, 40}, zeros(k, 2)), k.load(i, {1, n}, zeros(k, 2))}), o, zeros(k, 2));
    k.returns();
    CHECK(op_names(legalize.run(k.f(), {Arch::a5})) ==
          (n == 8 ? "load load create gather_flat store" : "load load full assemble create gather_flat slice store"));
  }
  Recording k;
  const ValueId x = k.tensor("x", f32, {5, 13}), i = k.tensor("i", i32, {5, 8}),
                o = k.tensor("o", f32, {5, 8}, Direction::out);
  k.store(k.op(ops::gather_flat, {k.load(x, {5, 13}, zeros(k, 2)), k.load(i, {5, 8}, zeros(k, 2))}), o, zeros(k, 2));
  k.returns();
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(legalize.run(k.f(), {Arch::a5})); }),
                 "gather_flat: the positions do not count the padding of rows ([5,13] of f32)"));
}

TEST_CASE("legalize: only f32 to f16 rounds to odd") {
  const auto lowered = [](DType from, DType to) {
    Recording k;
    const ValueId x = k.tensor("x", from, {16, 16}), o = k.tensor("o", to, {16, 16}, Direction::out);
    const Attr odd = int_attr(AttrKey::rounding, static_cast<std::int64_t>(Rounding::odd));
    k.store(k.op(ops::cast, {k.load(x, {16, 16}, zeros(k, 2))}, {odd}, shaped_type(to, {16, 16}, Vec)), o, zeros(k, 2));
    k.returns();
    return op_names(lower_tiles(k.f()).legal);
  };
  CHECK(lowered(f32, f16) == "load cast store");
  CHECK(lowered(bf16, f16) == "load cast cast store");
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(lowered(f32, i32)); }),
                 "cast: no instruction rounds this to odd (f32, i32)"));
}

std::vector<DType> chain_of(DType from, DType to, Arch arch) {
  const detail::CastChain chain = detail::cast_chain(from, to, arch);
  return {chain.begin(), chain.end()};
}

TEST_CASE("legalize: casts that are no instruction become chains") {
  CHECK(chain_of(f32, f16, Arch::a3) == std::vector<DType>{f16});
  CHECK(chain_of(bf16, f16, Arch::a3) == std::vector<DType>{f32, f16});
  CHECK(chain_of(bf16, f16, Arch::a5) == std::vector<DType>{f16});
  CHECK(chain_of(i32, bf16, Arch::a3) == std::vector<DType>{f32, bf16});
  CHECK(chain_of(i8, f32, Arch::a3) == std::vector<DType>{f16, f32});
  CHECK(chain_of(boolean, f32, Arch::a3).empty());
  // Rounded once: 3.4999 is 3, which f16 would make 3.5 and then 4.
  const detail::CastChain narrow = detail::cast_chain(f32, i8, Arch::a3);
  CHECK(narrow[0] != f16);
  CHECK(is_integer(narrow[detail::rounding_step(f32, narrow)]));
  // Numbers that fit stay what they are: -2 as u8 is 254, and 254 no i8.
  CHECK(chain_of(i32, i8, Arch::a5) == std::vector<DType>{i16, f16, i8});
  CHECK(chain_of(i16, u16, Arch::a5) == std::vector<DType>{i32, u16});
  // Floating numbers are clamped to the goal's range, which no step between integers does.
  CHECK(chain_of(f32, u8, Arch::a5) == std::vector<DType>{i16, f16, u8});
  CHECK(chain_of(bf16, i64, Arch::a3) == std::vector<DType>{f32, i64});
  CHECK(chain_of(f32, u16, Arch::a5).empty());
  CHECK(chain_of(u32, f32, Arch::a5).empty());

  Recording k;
  const ValueId x = k.tensor("x", i32, {16, 16}), o = k.tensor("o", bf16, {16, 16}, Direction::out);
  k.store(k.cast(k.load(x, {16, 16}, zeros(k, 2)), bf16), o, zeros(k, 2));
  k.returns();
  CHECK(op_names(lower_tiles(k.f()).legal) == "load cast cast store");
}

TEST_CASE("legalize: every pair of element types has a chain whose steps are instructions") {
  for (const Arch arch : {Arch::a3, Arch::a5})
    for (const DType from : {f32, f16, bf16, i8, u8, i16, i32, i64})
      for (const DType to : {f32, f16, bf16, i8, u8, i16, i32, i64}) {
        if (from == to) continue;
        INFO(name(arch) << ": " << name(from) << " to " << name(to));
        DType before = from;
        const detail::CastChain chain = detail::cast_chain(from, to, arch);
        REQUIRE_FALSE(chain.empty());
        for (const DType d : chain) {
          CHECK(detail::conversions[static_cast<int>(arch)].to[before].contains(d));
          before = d;
        }
        CHECK(before == to);
      }
}

TEST_CASE("stored: rows of 32 bytes, boxes of the cube unit") {
  STATIC_REQUIRE(stored(with_space(Type{TypeKind::tensor, f32, Gm, Layout::nd, 2, {4, 4}}, Vec)).dims[1] == 8);
  const auto dims = [](DType d, List<std::int64_t> s, MemorySpace m) {
    const Type t = stored(shaped_type(d, s, m));
    return std::vector<std::int64_t>{t.dims[0], t.dims[1]};
  };
  using Dims = std::vector<std::int64_t>;
  CHECK(dims(f32, {4, 1}, Vec) == Dims{8, 1});
  CHECK(dims(i8, {4, 1}, Vec) == Dims{32, 1});
  CHECK(dims(f16, {1, 5}, Vec) == Dims{1, 16});
  CHECK(dims(f16, {5, 64}, Mat) == Dims{16, 64});
  CHECK(dims(f32, {17, 5}, Acc) == Dims{32, 16});
  CHECK(dims(i8, {5, 64}, Left) == Dims{32, 64});
  CHECK(dims(i32, {5, 64}, Acc) == Dims{32, 64});
}

TEST_CASE("legalize: rows that are padded load, compute and store (reports 16, 69); another shape is refused") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {4, 4}), o = k.tensor("o", f32, {4, 4}, Direction::out);
  const ValueId t = k.load(x, {4, 4}, zeros(k, 2));
  k.store(k.op(ops::row_expand_sub, {t, row_sum(k, t)}), o, zeros(k, 2));
  k.returns();
  CHECK(op_names(lower_tiles(k.f()).legal) == "load create row_sum row_expand_sub store");

  Recording r;
  static_cast<void>(r.reshape(r.load(r.tensor("x", f32, {4, 4}), {4, 4}, zeros(r, 2)), {2, 8}));
  r.returns();
  const std::string text = thrown<UserError>([&] { static_cast<void>(legalize.run(r.f(), {Arch::a3})); });
  CHECK(contains(text, "k.cpp:2: error: reshape: the rows are padded to 32 bytes"));
}

TEST_CASE("legalize: scratch is added, and one that is too small is refused (report 69)") {
  Recording k;
  const ValueId t = k.load(k.tensor("x", f32, {16, 64}), {16, 64}, zeros(k, 2));
  static_cast<void>(k.op(ops::row_max, {t}));
  static_cast<void>(k.op(ops::row_max, {t, k.create(f32, {16, 1}, Vec)}));
  k.returns();
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(legalize.run(k.f(), {Arch::a3})); }),
                 "k.cpp:4: error: row_max: the scratch tile is smaller"));
}

TEST_CASE("legalize: windows start at blocks of 32 bytes (report 20)") {
  Recording k;
  const ValueId t = k.load(k.tensor("x", f32, {16, 64}), {16, 64}, zeros(k, 2));
  static_cast<void>(k.slice(t, {16, 8}, {k.index(0), k.index(4)}));
  k.returns();
  const std::string text = thrown<UserError>([&] { static_cast<void>(legalize.run(k.f(), {Arch::a3})); });
  CHECK(contains(text, "k.cpp:2: error: slice: a window starts inside a block of 32 bytes (column 4"));
  CHECK(contains(text, "multiple of 8 elements"));
}

TEST_CASE("legalize: what the target does not have, with the user's line") {
  Recording k;
  const ValueId t = k.load(k.tensor("x", bf16, {16, 64}), {16, 64}, zeros(k, 2));
  static_cast<void>(k.op(ops::add, {t, t}));
  k.returns();
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(legalize.run(k.f(), {Arch::a3})); }),
                 "k.cpp:2: error: add: a3 does not have this operation"));
  static_cast<void>(legalize.run(k.f(), {Arch::a5}));

  Recording big;
  static_cast<void>(big.load(big.tensor("x", f32, {64, 752}), {64, 752}, zeros(big, 2)));
  big.returns();
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(legalize.run(big.f(), {Arch::a3})); }),
                 "(Vec, 192512, 188416)"));
}

TEST_CASE("legalize: products of any M and N; K is whole blocks (report 21)") {
  for (const std::int64_t m : {1, 5, 17, 40})
    for (const std::int64_t n : {5, 17, 64}) {
      Recording k;
      const ValueId a = k.tensor("a", f16, {m, 32}), b = k.tensor("b", f16, {n, 32}),
                    o = k.tensor("o", f32, {m, n}, Direction::out);
      const ValueId l = k.load(a, {m, 32}, zeros(k, 2), Mat), r = k.load(b, {n, 32}, zeros(k, 2), Mat);
      k.store(k.matmul(l, k.op(ops::transpose_view, {r})), o, zeros(k, 2));
      k.returns();
      CHECK(op_names(lower_tiles(k.f()).placed) == "load load transpose_view move move matmul store");
    }
  Recording k;
  const ValueId a = k.tensor("a", f16, {16, 100}), b = k.tensor("b", f16, {100, 16});
  const ValueId l = k.load(a, {16, 100}, zeros(k, 2), Mat), r = k.load(b, {100, 16}, zeros(k, 2), Mat);
  static_cast<void>(k.matmul(l, r));
  k.returns();
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(legalize.run(k.f(), {Arch::a3})); }),
                 "k.cpp:3: error: matmul: the inner dimension is not a whole number"));
}

TEST_CASE("legalize: the target of a scatter is one row where the source is a longer one") {
  const auto scatter = [](Recording& k, std::vector<std::int64_t> target, std::vector<std::int64_t> source) {
    const ValueId y = k.tensor("y", f32, source), i = k.tensor("i", i32, source), o = k.tensor("o", f32, target, Direction::out);
    const ValueId s = k.load(y, source, zeros(k, 2)), where = k.load(i, source, zeros(k, 2));
    k.store(k.op(ops::scatter_flat, {k.create(f32, target, Vec), s, where}), o, zeros(k, 2));
    k.returns();
  };
  const auto refused = [&](std::vector<std::int64_t> target, std::vector<std::int64_t> source) {
    Recording k;
    scatter(k, target, source);
    return thrown<UserError>([&] { static_cast<void>(legalize.run(k.f(), PassContext{Arch::a3})); });
  };
  Recording k;
  scatter(k, {4, 8}, {1, 16});
  CHECK(op_names(legalize.run(k.f(), PassContext{Arch::a3})) == "load load create reshape scatter_flat reshape store");
  CHECK(contains(refused({4, 8}, {5, 8}), "scatter_flat: the source has more rows or columns than the target ([5,8] of f32 to [4,8] of f32)"));
  CHECK(contains(refused({4, 13}, {1, 8}), "scatter_flat: the positions do not count the padding of rows ([4,13] of f32)"));
}
