// Batched products become one product per page, in straight-line code, loops and branches.
#include "support/lowering.hpp"

#include <tessera/ir/properties.hpp>
#include <tessera/ir/verifier.hpp>
#include <tessera/passes/assign_buffers.hpp>
#include <tessera/passes/flatten_tile_nd_to_2d.hpp>
#include <tessera/passes/infer_memory_space.hpp>
#include <tessera/passes/legalize.hpp>
#include <tessera/passes/pass.hpp>

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
  const ValueId a = k.tensor("a", f16, {2, 1, 16, 128}), b = k.tensor("b", f16, {1, 3, 128, 64}),
                o = k.tensor("o", f32, {2, 3, 16, 64}, Direction::out);
  const ValueId l = k.load(a, {2, 1, 16, 128}, zeros(k, 4), Mat), r = k.load(b, {1, 3, 128, 64}, zeros(k, 4), Mat);
  k.store(k.matmul(l, r), o, zeros(k, 4));
  k.returns();
  const Lowered done = lower_tiles(k.f());
  // Both factors fit Mat: each is one load, of the tensor as a matrix. A page is sliced once and stored where it belongs.
  CHECK(print(done.flat).starts_with(golden(R"(
kernel @k(%a: in f16[2,1,16,128], %b: in f16[1,3,128,64], %o: out f32[2,3,16,64]) {
  %0 = tensor.view(%a) : f16[32,128]
  %1 = tile.load(%0, 0, 0) : tile<f16[32,128]@Mat>
  %2 = tensor.view(%b) : f16[384,64]
  %3 = tile.load(%2, 0, 0) : tile<f16[384,64]@Mat>
  %4 = tile.slice(%1, 0, 0) : tile<f16[16,128]@Mat>
  %5 = tile.slice(%3, 0, 0) : tile<f16[128,64]@Mat>
  %6 = tile.matmul(%4, %5) : tile<f32[16,64]@Acc>
  tile.store(%6, %o, 0, 0, 0, 0) {window = [1, 1, 16, 64]}
  %7 = tile.slice(%3, 128, 0) : tile<f16[128,64]@Mat>
  %8 = tile.matmul(%4, %7) : tile<f32[16,64]@Acc>
  tile.store(%8, %o, 0, 1, 0, 0) {window = [1, 1, 16, 64]}
)")));
  const Function& f = done.flat;
  CHECK(count_op(f, ops::slice) == 5);
  CHECK(count_op(f, ops::matmul) == 6);
  CHECK(offsets_of(f, find_op(f, ops::store, 5)) == "1,2,0,0");
  CHECK(count_op(done.placed, ops::move) == 5);  // each page once
}

TEST_CASE("flatten: operations of products keep the user's lines (F59..F63)") {
  Recording k;
  const ValueId a = k.tensor("a", f16, {2, 16, 32}), b = k.tensor("b", f16, {2, 32, 16}), o = k.tensor("o", f32, {2, 16, 16}, Direction::out);
  k.store(k.matmul(k.load(a, {2, 16, 32}, zeros(k, 3), Mat), k.load(b, {2, 32, 16}, zeros(k, 3), Mat)), o, zeros(k, 3));
  k.returns();
  const Function f = flatten_tile_nd_to_2d.run(k.f(), {});
  const std::uint32_t load = f[find_op(f, ops::load)].location.line, other = f[find_op(f, ops::load, 1)].location.line;
  CHECK(f[find_op(f, ops::view)].location.line == load);
  CHECK(f[find_op(f, ops::view, 1)].location.line == other);
  CHECK(load + other == 3);  // lines 1 and 2: operands are recorded in any order
  for (int i = 0; i < 2; ++i) {
    CHECK(f[find_op(f, ops::matmul, i)].location.line == 3);
    CHECK(f[find_op(f, ops::slice, i)].location.line == 3);
    CHECK(f[find_op(f, ops::store, i)].location.line == 4);
  }
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

TEST_CASE("flatten: transposed operands, as views and as attributes, are columns of one view (F38, F39)") {
  for (const bool attribute : {false, true}) {
    Recording k;
    const ValueId a = k.tensor("a", f16, {2, 128, 16}), b = k.tensor("b", f16, {2, 64, 128}),
                  o = k.tensor("o", f32, {2, 16, 64}, Direction::out);
    const ValueId l = k.load(a, {2, 128, 16}, zeros(k, 3), Mat), r = k.load(b, {2, 64, 128}, zeros(k, 3), Mat);
    if (attribute) {
      k.store(k.matmul(l, r, true, true), o, zeros(k, 3));
    } else {
      const ValueId lv = k.op(ops::transpose_view, {l});
      k.store(k.matmul(lv, k.op(ops::transpose_view, {r})), o, zeros(k, 3));
    }
    k.returns();
    const Lowered done = lower_tiles(k.f());
    const Function& f = done.flat;
    CHECK(op_names(f) == (attribute ? "view load view load transpose_view slice transpose_view slice matmul store slice slice matmul store"
                                    : "view load view load transpose_view transpose_view slice slice matmul store slice slice matmul store"));
    CHECK(type_text(f, ops::load) == "f16[256,16]@Mat");
    CHECK(type_text(f, ops::transpose_view) == "f16[16,256]@Mat:zn");
    CHECK(type_text(f, ops::transpose_view, 1) == "f16[128,128]@Mat:zn");
    CHECK(contains(type_text(f, ops::slice), "f16[16,128]@Mat"));
    const OpId left = find_op(f, ops::slice, 2), right = find_op(f, ops::slice, 3);
    CHECK(f.is_integer_constant(f.operand(left, 1), 0));
    CHECK(f.is_integer_constant(f.operand(left, 2), 128));
    CHECK(f.is_integer_constant(f.operand(right, 2), 64));
    CHECK(count_op(done.legal, ops::load) == 2);
    CHECK(count_op(done.placed, ops::transpose) == 0);
  }
}

TEST_CASE("flatten: pages that start inside a box, or that do not fit Mat together, are loaded one by one (S14)") {
  Recording k;
  const ValueId a = k.tensor("a", f32, {2, 5, 24}), b = k.tensor("b", f32, {2, 20, 24}), o = k.tensor("o", f32, {2, 5, 20}, Direction::out);
  const ValueId r = k.load(b, {2, 20, 24}, zeros(k, 3), Mat);
  k.store(k.matmul(k.load(a, {2, 5, 24}, zeros(k, 3), Mat), k.op(ops::transpose_view, {r})), o, zeros(k, 3));
  k.returns();
  const Function f = lower_tiles(k.f()).flat;
  CHECK(op_names(f) == "view load view load transpose_view matmul store load load transpose_view matmul store");
  CHECK(f.is_integer_constant(f.operand(find_op(f, ops::load, 2), 1), 5));

  Recording large;
  const ValueId x = large.tensor("x", f32, {4, 64, 128}), y = large.tensor("y", f32, {4, 128, 512}),
                z = large.tensor("z", f32, {4, 64, 512}, Direction::out);
  const ValueId lx = large.load(x, {4, 64, 128}, zeros(large, 3), Mat), ly = large.load(y, {4, 128, 512}, zeros(large, 3), Mat);
  large.store(large.matmul(lx, ly), z, zeros(large, 3));
  large.returns();
  const Function g = flatten_tile_nd_to_2d.run(large.f(), {});
  verify(g, {Property::tile_ops, Property::tiles_2d});
  CHECK(op_names(g) == "view load view load matmul store load load matmul store load load matmul store load load matmul store");
  CHECK(type_text(g, ops::load, 1) == "f32[128,512]@Mat");
}

TEST_CASE("flatten: a window that cuts the rows of each matrix is loaded page by page, through views (S10)") {
  for (const bool turned : {false, true}) {
    Recording k;
    const ValueId a = k.tensor("a", f16, {16, 32}), b = k.tensor("b", f16, {2, 64, 48}), o = k.tensor("o", f32, {2, 16, turned ? 16 : 32}, Direction::out);
    const ValueId l = k.load(a, {16, 32}, zeros(k, 2), Mat);
    const ValueId r = turned ? k.load(b, {2, 16, 32}, {k.index(0), k.index(32), k.index(16)}, Mat)
                             : k.load(b, {2, 32, 32}, {k.index(0), k.index(32), k.index(16)}, Mat);
    k.store(k.matmul(l, turned ? k.op(ops::transpose_view, {r}) : r), o, zeros(k, 3));
    k.returns();
    const Function f = lower_tiles(k.f()).flat;
    CHECK(op_names(f) == (turned ? "load view load transpose_view matmul store load transpose_view matmul store" : "load view load matmul store load matmul store"));
    CHECK(f.is_integer_constant(f.operand(find_op(f, ops::load, 2), 1), 96));
    CHECK(f.is_integer_constant(f.operand(find_op(f, ops::load, 2), 2), 16));
  }
}

TEST_CASE("flatten: a factor that one product reads whole is not loaded again for another one") {
  Recording k;
  const ValueId a = k.tensor("a", f16, {2, 16, 32}), b = k.tensor("b", f16, {2, 32, 16}), c = k.tensor("c", f16, {2, 5, 32}),
                o = k.tensor("o", f32, {2, 16, 16}, Direction::out), p = k.tensor("p", f32, {2, 5, 16}, Direction::out);
  const ValueId r = k.load(b, {2, 32, 16}, zeros(k, 3), Mat);
  k.store(k.matmul(k.load(a, {2, 16, 32}, zeros(k, 3), Mat), r), o, zeros(k, 3));
  k.store(k.matmul(k.load(c, {2, 5, 32}, zeros(k, 3), Mat), r), p, zeros(k, 3));
  k.returns();
  const Function f = lower_tiles(k.f()).flat;
  CHECK(count_op(f, ops::load) == 4);
}

TEST_CASE("flatten: what nothing reads is not loaded to Mat, and no part of it refused") {
  Recording k;
  const ValueId a = k.tensor("a", f16, {2, 64, 32});
  const ValueId t = k.load(a, {2, 16, 32}, zeros(k, 3), Mat);
  static_cast<void>(k.op(ops::transpose_view, {t}));
  k.returns();
  CHECK(op_names(flatten_tile_nd_to_2d.run(k.f(), {})).empty());
}

TEST_CASE("flatten: a tensor with a run-time dim keeps its window") {
  Recording k;
  const ValueId a = k.tensor("a", f16, {dyn<"B">, 16, 32}), b = k.tensor("b", f16, {32, 16}), o = k.tensor("o", f32, {2, 16, 16}, Direction::out);
  const ValueId l = k.load(a, {2, 16, 32}, zeros(k, 3), Mat, {k.index(2), k.index(16), k.index(32)});
  k.store(k.matmul(l, k.load(b, {32, 16}, zeros(k, 2), Mat)), o, zeros(k, 3));
  k.returns();
  const Function f = lower_tiles(k.f()).flat;
  CHECK(op_names(f) == "load load slice matmul store slice matmul store");
  CHECK(f.attr_list(find_op(f, ops::load), AttrKey::window).size() == 3);
}

TEST_CASE("flatten: what comes from Vec goes to Mat whole, and is turned before (S11); a5 only") {
  for (const bool turned : {false, true})
    for (const bool attribute : {false, true}) {
      if (attribute && !turned) continue;
      Recording k;
      const ValueId a = k.tensor("a", f16, {2, 16, 32}), b = k.tensor("b", f16, turned ? List<std::int64_t>{2, 48, 32} : List<std::int64_t>{2, 32, 48}),
                    o = k.tensor("o", f32, {2, 16, 48}, Direction::out);
      const ValueId x = turned ? k.load(b, {2, 48, 32}, zeros(k, 3)) : k.load(b, {2, 32, 48}, zeros(k, 3));
      const ValueId sum = k.op(ops::add, {x, x});
      const ValueId m = k.op(ops::move, {sum}, {}, with_space(k.f().type(sum), Mat));
      const ValueId l = k.load(a, {2, 16, 32}, zeros(k, 3), Mat);
      const ValueId r = turned && !attribute ? k.op(ops::transpose_view, {m}) : m;
      k.store(k.matmul(l, r, false, attribute), o, zeros(k, 3));
      k.returns();
      const Function f = lower_tiles(k.f(), Arch::a5).flat;
      CHECK(op_names(f) == (turned ? "load add view load slice slice create transpose move matmul store slice slice create transpose move matmul store"
                                   : "load add move view load slice slice matmul store slice slice matmul store"));
      CHECK(contains(thrown<UserError>([&] { static_cast<void>(lower_tiles(k.f(), Arch::a3)); }), "no instruction moves"));
    }
}

TEST_CASE("flatten: one matrix that comes from Vec is turned before, too (C50)") {
  Recording k;
  const ValueId a = k.tensor("a", f16, {16, 32}), b = k.tensor("b", f16, {48, 32}), o = k.tensor("o", f32, {16, 48}, Direction::out);
  const ValueId x = k.load(b, {48, 32}, zeros(k, 2));
  const ValueId m = k.op(ops::move, {x}, {}, shaped_type(f16, {48, 32}, Mat)), r = k.op(ops::transpose_view, {m});
  k.store(k.matmul(k.load(a, {16, 32}, zeros(k, 2), Mat), r), o, zeros(k, 2));
  k.returns();
  CHECK(op_names(lower_tiles(k.f(), Arch::a5).flat) == "load create transpose move load matmul store");
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(lower_tiles(k.f(), Arch::a3)); }),
                 "k.cpp:3: error: transpose_view: what is made on chip cannot be read transposed on a3"));
}

TEST_CASE("flatten: a transpose in Vec that only products read is made page by page, and twice is none; a5 only") {
  for (const bool twice : {false, true}) {
    Recording k;
    const ValueId a = k.tensor("a", f16, {2, 16, 32}), b = k.tensor("b", f16, twice ? List<std::int64_t>{2, 32, 48} : List<std::int64_t>{2, 48, 32}),
                  o = k.tensor("o", f32, {2, 16, 48}, Direction::out);
    const ValueId x = twice ? k.load(b, {2, 32, 48}, zeros(k, 3)) : k.load(b, {2, 48, 32}, zeros(k, 3));
    const ValueId t = k.op(ops::transpose, {x}), m = k.op(ops::move, {t}, {}, with_space(k.f().type(t), Mat));
    const ValueId l = k.load(a, {2, 16, 32}, zeros(k, 3), Mat);
    k.store(k.matmul(l, m, false, twice), o, zeros(k, 3));
    k.returns();
    CHECK(op_names(lower_tiles(k.f(), Arch::a5).flat) ==
          (twice ? "load view load slice slice move matmul store slice slice move matmul store"
                 : "load view load slice slice create transpose move matmul store slice slice create transpose move matmul store"));
  }
}

TEST_CASE("flatten: one matrix with a batch of one (F48, F49)") {
  Recording k;
  const ValueId a = k.tensor("a", bf16, {16, 256}), b = k.tensor("b", bf16, {1, 64, 256}), o = k.tensor("o", f32, {1, 16, 64}, Direction::out);
  const auto factors = [&] {
    const ValueId l = k.load(a, {16, 256}, zeros(k, 2), Mat), r = k.load(b, {1, 64, 256}, zeros(k, 3), Mat);
    return std::pair{l, k.op(ops::transpose_view, {r})};
  };
  const auto [l, r] = factors();
  const ValueId first = k.matmul(l, r);
  const auto [m, s] = factors();
  k.store(k.matmul_acc(first, m, s), o, zeros(k, 3));
  k.returns();
  const Function f = lower_tiles(k.f()).flat;
  CHECK(op_names(f) == "load view load transpose_view matmul load load transpose_view matmul_acc store");
  CHECK(type_text(f, ops::matmul_acc) == "f32[16,64]@Acc");
}

TEST_CASE("flatten: a product of products, page by page") {
  Recording k;
  const ValueId a = k.tensor("a", f16, {2, 16, 32}), b = k.tensor("b", f16, {2, 32, 16}), c = k.tensor("c", f32, {2, 16, 32}),
                o = k.tensor("o", f32, {2, 16, 32}, Direction::out);
  const ValueId r = k.load(b, {2, 32, 16}, zeros(k, 3), Mat);
  const ValueId m = k.matmul(k.load(a, {2, 16, 32}, zeros(k, 3), Mat), r);
  const ValueId l = k.op(ops::move, {m}, {}, with_space(k.f().type(m), Mat));
  k.store(k.matmul(l, k.load(c, {2, 16, 32}, zeros(k, 3), Mat)), o, zeros(k, 3));
  k.returns();
  const Function f = lower_tiles(k.f()).flat;
  CHECK(op_names(f) == "view load view load slice slice matmul slice slice matmul view load move slice matmul store move slice matmul store");
}

TEST_CASE("flatten: other looks at a batch of products stay in Acc, page by page (H9)") {
  Recording k;
  const ValueId a = k.tensor("a", f16, {4, 16, 32}), b = k.tensor("b", f16, {4, 32, 16}), o = k.tensor("o", f32, {2, 2, 16, 16}, Direction::out);
  const ValueId m = k.matmul(k.load(a, {4, 16, 32}, zeros(k, 3), Mat), k.load(b, {4, 32, 16}, zeros(k, 3), Mat));
  k.store(k.reshape(m, {2, 2, 16, 16}), o, zeros(k, 4));
  k.returns();
  const Lowered done = lower_tiles(k.f());
  CHECK(count_op(done.flat, ops::reshape) + count_op(done.flat, ops::assemble) == 0);
  CHECK(offsets_of(done.flat, find_op(done.flat, ops::store, 3)) == "1,1,0,0");

  Recording carried;
  const ValueId x = carried.tensor("x", f16, {2, 16, 32}), y = carried.tensor("y", f16, {2, 32, 16});
  const ValueId p = carried.matmul(carried.load(x, {2, 16, 32}, zeros(carried, 3), Mat), carried.load(y, {2, 32, 16}, zeros(carried, 3), Mat));
  carried.loop(carried.index(2), {carried.reshape(p, {32, 16})}, [&](ValueId, const auto& c) { return std::vector<ValueId>{c[0]}; });
  carried.returns();
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(flatten_tile_nd_to_2d.run(carried.f(), {})); }),
                 "for: a batch of products that is reshaped leaves its place and cannot be carried (Acc, now in Vec)"));
}

TEST_CASE("a right factor that is valid in some batches is refused by name") {
  Recording k;
  const ValueId n = k.scalar("n", index_type);
  const std::vector<ValueId> zeros(3, k.index(0));
  const ValueId a = k.tensor("a", f16, {3, 16, 32}), b = k.slice(k.tensor("b", f16, {3, 32, 16}), {3, 32, 16}, zeros, {n, k.index(32), k.index(16)});
  CHECK(thrown<UserError>([&] { static_cast<void>(k.matmul(a, b)); }) ==
        "dir/k.cpp:2: error: matmul: the right factor is valid in part along a batch dim (axis -3)\n"
        "  hint: loop over that dim with factors of one matrix, or give the left factor the extent");
}
TEST_CASE("flatten: products that cannot be made are refused by name (FE8, FE9, FE10)") {
  Recording k;
  const ValueId a = k.load(k.tensor("a", f16, {2, 16, 32}), {2, 16, 32}, zeros(k, 3), Mat), b = k.load(k.tensor("b", f16, {3, 32, 16}), {3, 32, 16}, zeros(k, 3), Mat),
                c = k.load(k.tensor("c", f16, {2, 32, 16}), {2, 32, 16}, zeros(k, 3), Mat);
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(k.matmul(a, b)); }), "matmul: the batch dims do not broadcast (2, 3)"));
  const ValueId m = k.matmul(a, c);
  CHECK(contains(thrown<UserError>([&] { k.store(m, k.tensor("o", f32, {2, 16, 16}, Direction::out), zeros(k, 2)); }), "(2, 3)"));
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(k.matmul_acc(k.create(f32, {2, 16, 32}, Acc), a, c)); }), "matmul_acc: the accumulator"));
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(k.matmul_acc(k.create(f32, {32, 16}, Acc), a, c)); }), "matmul_acc: "));
  static_cast<void>(k.matmul_acc(k.load(k.tensor("s", f32, {2, 16, 16}), {2, 16, 16}, zeros(k, 3)), a, c));
  k.returns();
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(flatten_tile_nd_to_2d.run(k.f(), {})); }),
                 "matmul_acc: the accumulator of a batch is a part of another tile (rank 3)"));
}

TEST_CASE("flatten: pages that are kept while their tensor is written must fit Mat") {
  Recording k;
  const ValueId a = k.tensor("a", f32, {4, 64, 128}), b = k.tensor("b", f32, {4, 128, 512}, Direction::inout), o = k.tensor("o", f32, {4, 64, 512}, Direction::out);
  const ValueId r = k.load(b, {4, 128, 512}, zeros(k, 3), Mat);
  k.store(k.op(ops::full, {k.constant(f32, 1.0)}, {}, shaped_type(f32, {1, 8, 512}, Vec)), b, zeros(k, 3));
  k.store(k.matmul(k.load(a, {4, 64, 128}, zeros(k, 3), Mat), r), o, zeros(k, 3));
  k.returns();
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(flatten_tile_nd_to_2d.run(k.f(), {})); }),
                 "k.cpp:1: error: load: the matrices do not fit Mat together, and the tensor is written before they are multiplied (1048576 of 524288 bytes)"));
}

TEST_CASE("flatten: moves to Left and Right are made page by page") {
  Recording k;
  const ValueId a = k.tensor("a", f16, {2, 16, 32}), b = k.tensor("b", f16, {32, 16}),
                o = k.tensor("o", f32, {2, 16, 16}, Direction::out);
  const ValueId l = k.op(ops::move, {k.load(a, {2, 16, 32}, zeros(k, 3), Mat)}, {}, shaped_type(f16, {2, 16, 32}, Left));
  const ValueId r = k.op(ops::move, {k.load(b, {32, 16}, zeros(k, 2), Mat)}, {}, shaped_type(f16, {32, 16}, Right));
  k.store(k.matmul(l, r), o, zeros(k, 3));
  k.returns();
  CHECK(op_names(lower_tiles(k.f()).flat) == "view load load move slice move matmul store slice move matmul store");
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
  CHECK(op_names(lower_tiles(k.f()).flat) == "view load view load full store slice matmul store slice matmul store");
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
      "view load view load compare if{slice slice matmul store slice slice matmul store yield}{transpose_view slice slice matmul"));
  // Read in two ways: loaded for each of them, once.
  CHECK(count_op(done.legal, ops::load) == 3);
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
  CHECK(op_names(f) == "view load load matmul store");
  CHECK(type_text(f, ops::view) == "f16[32,32]@Gm");
  CHECK(type_text(f, ops::load) == "f16[16,32]@Mat");
  CHECK(f.is_integer_constant(f.operand(find_op(f, ops::load), 1), 16));
}
