// Limits of the tensor-to-tile pass, and cases of it that keep valid extents: what is refused where it stands, with numbers and a
// hint, and what is right behind every pass.
#include <tessera/passes/flatten_tile_nd_to_2d.hpp>
#include <tessera/passes/legalize.hpp>
#include <tessera/passes/pass.hpp>
#include <tessera/passes/pipeline.hpp>
#include <tessera/simulate.hpp>

#include "support/convert.hpp"
#include "support/same_numbers.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

/// The text of the user error of the whole pipeline.
std::string refused(Recording& k, Arch arch = Arch::a3) {
  try {
    return "no error:\n" + print(run_passes(k.f(), default_pipeline(), {arch}));
  } catch (const UserError& e) {
    return e.diagnostic().text(true);
  }
}
Attr n(AttrKey key, std::int64_t value) { return int_attr(key, value); }
std::vector<Attr> window(std::int64_t rows, std::int64_t columns, bool flip = false) {
  std::vector<Attr> attrs{n(AttrKey::rows, rows), n(AttrKey::columns, columns)};
  if (flip) attrs.push_back(n(AttrKey::transposed, 1));
  return attrs;
}

using X = Tensor<Shape<16, 64>, f32>;
inline const auto inner_window = kernel("inner_window", params("x", "n", "i", "out"), [](X x, Index n, Index i, InOut<Tensor<Shape<8, 64>, f32>> out) {
  auto t = exp(load<Shape<16, 64>>(x, at(0, 0), valid(n, 40)));
  store(slice<Shape<8, 32>>(t, at(i, 16), clamped) + 1.0f, out, at(0, 0));
});
inline const auto outer_window = kernel("outer_window", params("x", "n", "i", "out"), [](X x, Index n, Index i, InOut<Tensor<Shape<8, 64>, f32>> out) {
  auto known = slice<Shape<16, 64>>(x, at(0, 0), valid(n, 40));
  store(slice<Shape<8, 32>>(abs(known), at(i, 16), clamped) * 2.0f, out, at(0, 0));
});

}  // namespace

TEST_CASE("CE11: a scatter of a tensor with a run-time dim is refused, whichever operand has it", "[convert]") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {16, 8}), i = k.tensor("i", i32, {1, 4}), y = k.tensor("y", f32, {4, 8}), e = k.tensor("e", i32, {4, 8});
  const ValueId rows = k.tensor("rows", f32, {dyn<"S">, 8}), columns = k.tensor("columns", f32, {16, dyn<"C">}), some = k.tensor("some", i32, {1, dyn<"N">}),
                sources = k.tensor("sources", f32, {dyn<"N">, 8}), all = k.tensor("all", i32, {dyn<"N">, 8});
  const auto says = [&](const OpInfo& op, std::vector<ValueId> operands, const std::string& dim) {
    const std::string text = thrown<UserError>([&] { k.op(op, operands); });
    INFO(op.name << ", " << dim << ": " << text);
    CHECK(contains(text, std::string(op.name) + ": a tile's shape must be static (" + dim + ")"));
    CHECK(contains(text, "hint: "));
  };
  says(ops::scatter_update, {rows, i, y}, "S");
  says(ops::scatter_update, {columns, i, y}, "C");
  says(ops::scatter_update, {x, some, y}, "N");
  says(ops::scatter_update, {x, i, sources}, "N");
  says(ops::scatter, {rows, e, y}, "S");
  says(ops::scatter, {columns, e, y}, "C");
  says(ops::scatter, {x, e, sources}, "N");
  CHECK(contains(thrown<UserError>([&] { k.op(ops::scatter, {x, all, y}); }), "scatter: the shapes differ in a dim (N, 4)"));
}

TEST_CASE("CE17: storage that is larger than its space is refused in every space, where it is created", "[convert]") {
  struct Limit {
    MemorySpace space;
    DType dtype;
  };
  for (const Limit& l : {Limit{Vec, f32}, Limit{Mat, f16}, Limit{Left, f16}, Limit{Right, f16}, Limit{Acc, f32}})
    for (const Arch arch : {Arch::a3, Arch::a5}) {
      const std::int64_t bytes = capacity(l.space, arch), columns = 64, rows = bytes / bytes_of(l.dtype, columns) / 32 * 32;
      INFO(name(l.space) << " " << name(arch));
      Recording k, fits;
      k.create(l.dtype, {rows + 32, columns}, l.space);
      k.returns();
      const std::string numbers = std::string(name(l.space)) + ", " + std::to_string(bytes_of(l.dtype, (rows + 32) * columns)) + ", " + std::to_string(bytes);
      const std::string text = refused(k, arch);
      CHECK(contains(text, "k.cpp:1: error: create: the tile is larger than its memory space (" + numbers + ")\n  hint: "));
      fits.create(l.dtype, {rows, columns}, l.space);
      fits.returns();
      CHECK(contains(refused(fits, arch), "no error"));
    }
}

TEST_CASE("CE18: a clamped window of a source that is valid in part at run time", "[convert]") {
  auto x = random<X>(1);
  for (const std::int64_t rows : {0, 1, 7, 8, 12, 16})
    for (const std::int64_t i : {0, 3, 8}) {
      INFO("valid rows " << rows << ", window at " << i);
      auto a = filled<Tensor<Shape<8, 64>, f32>>(-1), b = a;
      simulate(inner_window, x, rows, i, a);
      simulate(outer_window, x, rows, i, b);
      for (std::int64_t r = 0; r < 8; ++r)
        for (std::int64_t c = 0; c < 64; ++c) {
          const bool inside = i + r < rows && c < 24;
          CHECK((a(r, c) != -1) == inside);
          CHECK(b(r, c) == (inside ? 2 * std::abs(x(i + r, 16 + c)) : -1));
        }
      for (const Arch arch : {Arch::a3, Arch::a5}) {
        auto to = filled<Tensor<Shape<8, 64>, f32>>(-1);
        simulate_every_level(inner_window.trace(), {Argument(x), Argument(rows), Argument(i), Argument(to)}, {.arch = arch});
        simulate_every_level(outer_window.trace(), {Argument(x), Argument(rows), Argument(i), Argument(to)}, {.arch = arch});
      }
    }
}

TEST_CASE("CE20: more indices than rows, of a count that is known at run time, write nothing behind the end", "[convert]") {
  for (const bool turned : {false, true}) {
    Recording k;
    const ValueId pool = k.tensor("pool", f16, {256, 32}), index = k.tensor("index", i32, {dyn<"N">}), table = k.tensor("table", i32, {8});
    std::vector<Attr> attrs = window(16, 32, turned);
    attrs.push_back(n(AttrKey::space, Mat));
    attrs.push_back(n(AttrKey::block_size, 32));
    const ValueId rows = k.op(ops::paged_gather, {pool, index, table}, attrs);
    const ValueId eye = k.tensor("eye", f16, {32, 32});
    k.returns({turned ? k.matmul(eye, rows) : k.matmul(rows, eye)});
    const Function f = conversion(k, Arch::a3);
    const auto run = [&](std::int64_t count) {
      HostTensor p(f16, {256, 32}), i(i32, {count}), t(i32, {8}), e(f16, {32, 32}), out(f32, turned ? std::vector<std::int64_t>{32, 16} : std::vector<std::int64_t>{16, 32});
      for (std::int64_t a = 0; a < 256; ++a)
        for (std::int64_t b = 0; b < 32; ++b) p.set(a * 32 + b, static_cast<double>(a));
      for (std::int64_t a = 0; a < count; ++a) i.set(a, static_cast<double>(a * 7));
      for (std::int64_t a = 0; a < 8; ++a) t.set(a, static_cast<double>(7 - a));
      for (std::int64_t a = 0; a < 32; ++a) e.set(a * 33, 1);
      for (std::int64_t a = 0; a < out.size(); ++a) out.set(a, -1);
      static_cast<void>(simulate(f, {p, i, t, e, out}));
      return out;
    };
    for (const std::int64_t count : {1, 15, 16, 17, 30}) {
      const HostTensor out = run(count);
      INFO("indices " << count << (turned ? ", turned" : ""));
      // The last element of each row; those that no index names stay.
      for (std::int64_t row = 0; row < 16; ++row) {
        const double meant = row < count ? static_cast<double>((7 - row * 7 / 32) * 32 + row * 7 % 32) : -1;
        CHECK(out.get(turned ? 31 * 16 + row : row * 32 + 31) == meant);
      }
    }
  }
}

TEST_CASE("G6: rows gathered into Mat go through the whole pipeline, transposed and not", "[convert]") {
  for (const Arch arch : {Arch::a3, Arch::a5})
    for (const bool turned : {false, true}) {
      Recording k;
      const ValueId pool = k.tensor("pool", f16, {64, 32}), q = k.tensor("q", f16, {16, turned ? 32 : 16}), z = k.index(0);
      std::vector<Attr> stored{n(AttrKey::space, Mat)};
      if (turned) stored.push_back(n(AttrKey::transposed, 1));
      const ValueId acc = k.op(ops::create, {}, stored, shaped_type(f16, {turned ? 32 : 16, turned ? 16 : 32}));
      const auto rows = k.loop(k.index(16), {acc}, [&](ValueId i, const auto& carried) {
        const ValueId from = k.b().add(i, k.b().mul(i, k.index(2)));
        return std::vector<ValueId>{k.op(ops::gather_row, {carried[0], pool, turned ? z : i, turned ? i : z, from, z}, window(1, 32, turned))};
      });
      k.returns({k.matmul(q, rows[0])});
      const SameNumbers same(k, arch);
      INFO(same.module);
      CHECK(contains(same.module, "pto.tload"));
      CHECK(contains(same.module, turned ? "valid [%c32, %c1]" : "valid [%c1, %c32]"));
      CHECK(!contains(same.module, "<vec"));
    }
}

TEST_CASE("H8: a transpose keeps valid extents behind convert and legalize", "[convert]") {
  for (const bool at_run_time : {false, true}) {
    Recording k;
    const ValueId rows = at_run_time ? k.scalar("m", index_type) : k.index(5), x = k.tensor("x", f32, {8, 16});
    const ValueId t = k.op(ops::transpose, {k.slice(x, {8, 16}, {k.index(0), k.index(0)}, {rows, k.index(11)})});
    k.store(t, k.tensor("out", f32, {16, 8}, Direction::inout), {k.index(0), k.index(0)});
    k.returns();
    const std::string extents = at_run_time ? "valid[11,%m]" : "valid[11,5]";
    const Function tiles = conversion(k, Arch::a3);
    CHECK(contains(print(tiles), "= tile.transpose(%0) : tile<f32[16,8]@Vec> " + extents));
    const Function flat = flatten_tile_nd_to_2d.run(tiles, {Arch::a3}), legal = legalize.run(flat, {Arch::a3});
    INFO(print(legal));
    CHECK(contains(print(legal), ") : tile<f32[16,8]@Vec> " + extents));
    for (const Arch arch : {Arch::a3, Arch::a5}) SameNumbers(k, arch, 8, 5);
  }
}

TEST_CASE("rows are not gathered into a column, nor from one", "[convert]") {
  Recording k;
  const ValueId pool = k.tensor("pool", f16, {64, 32}), thin = k.tensor("thin", f16, {64, 1}), z = k.index(0);
  CHECK(contains(thrown<UserError>([&] { k.op(ops::gather_row, {k.create(f16, {16, 1}, Vec), pool, z, z, z, z}, window(1, 1)); }),
                 "k.cpp:2: error: gather_row: the accumulator is a column (rows) (16)"));
  CHECK(contains(thrown<UserError>([&] { k.op(ops::gather_row, {k.create(f16, {16, 16}, Vec), thin, z, z, z, z}, window(1, 1)); }),
                 "k.cpp:4: error: gather_row: the tensor is a column, which has no rows (rows) (64)"));
  // Storage of which the place is decided later.
  Recording placed;
  const ValueId source = placed.tensor("pool", f16, {64, 32}), zero = placed.index(0);
  const ValueId r = placed.op(ops::gather_row, {placed.create(f16, {16, 1}), source, zero, zero, zero, zero}, window(1, 1));
  placed.returns({placed.op(ops::exp, {r})});
  CHECK(refusal(placed) ==
        "k.cpp:2: error: gather_row: the accumulator is a column (rows) (16)\n  hint: rows are gathered into an accumulator of more than one column; "
        "gather into [1,M] instead");
}

TEST_CASE("windows of computed values of three dims: bands of rows are windows, others are refused", "[convert]") {
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    Recording k;
    const ValueId x = k.tensor("x", f32, {4, 3, 16}), i = k.scalar("i", index_type);
    const ValueId y = k.op(ops::exp, {x});
    const ValueId page = k.slice(y, {1, 3, 8}, {i, k.index(0), k.index(8)}), row = k.slice(y, {1, 1, 16}, {k.index(3), i, k.index(0)}),
                  rows = k.slice(y, {1, 2, 16}, {k.index(2), k.index(1), k.index(0)}),
                  tail = k.slice(y, {2, 3, 16}, {k.index(2), k.index(0), k.index(0)}, {i, k.index(3), k.index(9)});
    k.store(k.op(ops::neg, {tail}), k.tensor("out", f32, {2, 3, 16}, Direction::inout), {k.index(0), k.index(0), k.index(0)});
    k.returns({page, row, rows});
    SameNumbers(k, arch);
  }
  Recording k;
  const ValueId y = k.op(ops::exp, {k.tensor("x", f32, {4, 8, 16})});
  k.returns({k.op(ops::neg, {k.slice(y, {2, 4, 16}, {k.index(0), k.index(4), k.index(0)})})});
  CHECK(refused(k) ==
        "k.cpp:2: error: slice: the window of a tile of rank above 2 is not one band of rows (tile<f32[2,4,16]@Vec> of tile<f32[4,8,16]@Vec>)\n"
        "  hint: behind its first dim above 1 cover every dim but the last whole, or load the part that is needed from the tensor");
}

TEST_CASE("a window that is valid in part in a middle dim: right where it is one band of rows, else refused by name", "[convert]") {
  for (const Arch arch : {Arch::a3, Arch::a5})
    for (const bool at_run_time : {false, true}) {
      Recording k;
      const ValueId x = k.tensor("x", f32, {4, 8, 16}), n1 = at_run_time ? k.scalar("n", index_type) : k.index(5);
      const ValueId page = k.slice(x, {1, 8, 16}, {k.index(2), k.index(0), k.index(0)}, {k.index(1), n1, k.index(11)});
      k.store(k.op(ops::neg, {page}), k.tensor("out", f32, {1, 8, 16}, Direction::inout), {k.index(0), k.index(0), k.index(0)});
      k.returns();
      SameNumbers(k, arch, 8, 5);

      Recording gaps;
      const ValueId y = gaps.tensor("y", f32, {4, 8, 16}), n2 = at_run_time ? gaps.scalar("n", index_type) : gaps.index(5);
      gaps.returns({gaps.op(ops::neg, {gaps.slice(y, {2, 8, 16}, {gaps.index(0), gaps.index(0), gaps.index(0)}, {gaps.index(2), n2, gaps.index(16)})})});
      CHECK(refused(gaps, arch) == std::string("k.cpp:1: error: load: the valid part is not one band of rows when the tile becomes 2-D (axis 1: ") +
                                       (at_run_time ? "a run-time extent" : "5") +
                                       " of 8)\n  hint: only the first dim above 1 and the last one may be valid in part: loop over the outer dims and use [1,..,M,N] tiles, or fillpad(...) the operand first");
    }
}
