// Elements written one by one: what becomes bulk, what stays, and what is refused because the scalar unit's cache and bulk
// transfers would not see each other's elements.
#include "support/catch.hpp"
#include "support/convert.hpp"
#include "support/same_numbers.hpp"

#include <tessera/ir/walk.hpp>

using namespace tessera;
using namespace tessera::test;

namespace {
const Attr equal = int_attr(AttrKey::compare, static_cast<std::int64_t>(Compare::eq));

struct Writer : Recording {
  void write(ValueId t, ValueId x, std::vector<ValueId> at) {
    at.insert(at.begin(), {t, x});
    effect(ops::write, at);
  }
  ValueId read(ValueId t, std::vector<ValueId> at) {
    at.insert(at.begin(), t);
    return op(ops::read, at);
  }
  void fill(ValueId t, int number) {
    const Type& type = f().type(t);
    const ValueId element = is_float(type.dtype) ? constant(type.dtype, double{1} * number) : constant(type.dtype, number);
    store(full(element, {type.dims, type.rank}), t, std::vector<ValueId>(type.rank, index(0)));
  }
  template <class Body>
  void repeat(std::int64_t rounds, Body&& body) {
    loop(index(rounds), {}, [&](ValueId i, const auto&) {
      body(i);
      return std::vector<ValueId>{};
    });
  }
  ValueId is_zero(ValueId n) { return op(ops::scalar_compare, {n, index(0)}, {equal}); }
};

const std::string mixed = "write: the tensor is written by store, too; bulk and scalar stores cannot be mixed (dst)\n"
                          "  hint: write the elements into a tile and store that, or write to another tensor";
}  // namespace

// --- a fill with corrections ---

TEST_CASE("elements of a tensor that was filled are written into the tile, which is stored once", "[convert]") {
  Writer k;
  const ValueId dst = k.tensor("dst", i32, {32}, Direction::out), n = k.scalar("n", i32);
  k.fill(dst, 0);
  k.write(dst, n, {k.index(3)});
  k.write(dst, k.constant(i32, 9), {k.index(4)});
  k.returns();
  CHECK(converted(k) == golden(R"(
kernel @k(%dst: out i32[32], %n: i32) {
  %0 = tile.full(0:i32) : tile<i32[32]@Vec>
  %1 = tile.write(%0, %n, 3) : tile<i32[32]@Vec>
  %2 = tile.write(%1, 9:i32, 4) : tile<i32[32]@Vec>
  tile.store(%2, %dst, 0)
  return
}
)"));
  SameNumbers a5(k), a3(k, Arch::a3);
}

TEST_CASE("two filled tensors are stored in their order; what a read of another tensor gives may be written", "[convert]") {
  Writer k;
  const ValueId a = k.tensor("a", i32, {32}), b = k.tensor("b", f32, {4, 16}), x = k.tensor("x", f32, {4, 16});
  k.fill(b, 1);
  k.fill(a, 0);
  k.write(a, k.constant(i32, 5), {k.index(0)});
  k.write(b, k.read(x, {k.index(1), k.index(2)}), {k.index(3), k.index(0)});
  k.returns({k.index(1)});
  CHECK(converted(k) == golden(R"(
kernel @k(%a: out i32[32], %b: out f32[4,16], %x: in f32[4,16]) {
  %0 = tile.full(1.0:f32) : tile<f32[4,16]@Vec>
  %1 = tile.full(0:i32) : tile<i32[32]@Vec>
  %2 = tile.write(%1, 5:i32, 0) : tile<i32[32]@Vec>
  %3 = tensor.read(%x, 1, 2) : f32
  %4 = tile.write(%0, %3, 3, 0) : tile<f32[4,16]@Vec>
  tile.store(%4, %b, 0, 0)
  tile.store(%2, %a, 0)
  return 1
}
)"));
}

TEST_CASE("a filled tensor that is returned is read when it is stored", "[convert]") {
  Writer k;
  const ValueId dst = k.tensor("dst", i32, {32}, Direction::out);
  k.fill(dst, 0);
  k.write(dst, k.constant(i32, 9), {k.index(4)});
  k.returns({dst});
  CHECK(contains(converted(k), R"(
  tile.store(%1, %dst, 0)
  %dst_tile = tile.load(%dst, 0) : tile<i32[32]@Vec>
  tile.store(%dst_tile, %out, 0)
)"));
  SameNumbers a5(k);
}

TEST_CASE("a fill stays, and its corrections are refused", "[convert]") {
  Writer k;
  const ValueId dst = k.tensor("dst", i32, {32}, Direction::out);
  std::string where = "k.cpp:";
  SECTION("in a loop") {
    k.fill(dst, 0);
    k.repeat(4, [&](ValueId i) { k.write(dst, k.constant(i32, 1), {i}); });
    where += "4";
  }
  SECTION("in a run of less than 32 bytes") {
    k.fill(dst, 0);
    k.repeat(4, [&](ValueId i) { k.write(dst, k.constant(i32, 1), {i}); });
    k.write(dst, k.constant(i32, 1), {k.index(0)});
    where += "4";
  }
  SECTION("in a branch") {
    const ValueId zero = k.is_zero(k.scalar("n", index_type));
    k.fill(dst, 0);
    k.branch(zero, {}, [&] { return k.write(dst, k.constant(i32, 1), {k.index(0)}), std::vector<ValueId>{}; },
             [&] { return std::vector<ValueId>{}; });
    where += "5";
  }
  SECTION("an element is read in between") {
    k.fill(dst, 0);
    k.write(dst, k.read(dst, {k.index(1)}), {k.index(0)});
    where += "4";
  }
  SECTION("it is loaded in between") {
    k.fill(dst, 0);
    k.slice(dst, {8}, {k.index(0)});
    k.write(dst, k.constant(i32, 1), {k.index(0)});
    where += "4";
  }
  SECTION("the fill is used elsewhere") {
    const ValueId fill = k.full(k.constant(i32, 0), {32});
    k.store(fill, dst, {k.index(0)});
    k.write(dst, k.read(fill, {k.index(1)}), {k.index(0)});
    where += "4";
  }
  SECTION("the fill does not cover the tensor") {
    k.store(k.full(k.constant(i32, 0), {16}), dst, {k.index(0)});
    k.write(dst, k.constant(i32, 1), {k.index(0)});
    where += "3";
  }
  SECTION("the fill is stored elsewhere") {
    k.store(k.full(k.constant(i32, 0), {32}), dst, {k.scalar("n", index_type)});
    k.write(dst, k.constant(i32, 1), {k.index(0)});
    where += "3";
  }
  SECTION("something stands between fill and store") {
    const ValueId fill = k.full(k.constant(i32, 0), {32});
    k.full(k.constant(i32, 0), {32});
    k.store(fill, dst, {k.index(0)});
    k.write(dst, k.constant(i32, 1), {k.index(0)});
    where += "4";
  }
  SECTION("the element comes first") {
    k.write(dst, k.constant(i32, 1), {k.index(0)});
    k.fill(dst, 0);
    where += "1";
  }
  SECTION("the tensor is stored twice") {
    k.fill(dst, 0);
    k.write(dst, k.constant(i32, 1), {k.index(0)});
    k.fill(dst, 2);
    where += "3";
  }
  SECTION("the store adds") {
    const ValueId fill = k.full(k.constant(i32, 0), {32});
    k.effect(ops::store, {fill, dst, k.index(0)}, {int_attr(AttrKey::atomic_add, 1)});
    k.write(dst, k.constant(i32, 1), {k.index(0)});
    where += "3";
  }
  k.returns();
  CHECK(refusal(k) == where + ": error: " + mixed);
}

// --- runs of a constant ---

TEST_CASE("a loop that writes a constant to a run of whole blocks becomes a store", "[convert]") {
  Writer k;
  const ValueId dst = k.tensor("dst", i32, {32}, Direction::out);
  k.fill(dst, 0);
  k.repeat(8, [&](ValueId i) { k.write(dst, k.constant(i32, 1), {i}); });
  k.returns();
  CHECK(converted(k) == golden(R"(
kernel @k(%dst: out i32[32]) {
  %0 = tile.full(0:i32) : tile<i32[32]@Vec>
  tile.store(%0, %dst, 0)
  %1 = tile.full(1:i32) : tile<i32[1,8]@Vec>
  %2 = tile.reshape(%1) : tile<i32[8]@Vec>
  tile.store(%2, %dst, 0)
  return
}
)"));
  SameNumbers a5(k), a3(k, Arch::a3);
}

TEST_CASE("a run starts where the index says, in any block; its index arithmetic stands in front", "[convert]") {
  Writer k;
  const ValueId dst = k.tensor("dst", f32, {4, 32}, Direction::out), n = k.scalar("n", index_type);
  const ValueId zero = k.is_zero(n);
  k.fill(dst, 3);
  k.repeat(2, [&](ValueId row) {
    k.branch(zero, {}, [&] { return std::vector<ValueId>{}; }, [&] {
      k.repeat(16, [&](ValueId i) {
        const ValueId start = k.b().mul(n, k.index(8));
        k.write(dst, k.constant(f32, 2.0), {row, k.b().add(start, i)});
        k.write(dst, k.constant(f32, 4.0), {row, k.f().operand(k.f()[k.b().block()].last, 3)});
      });
      return std::vector<ValueId>{};
    });
  });
  k.returns();
  CHECK(contains(converted(k), R"(
    } else {
      %3 = scalar.mul(%n, 8) : index
      %4 = tile.full(2.0:f32) : tile<f32[1,16]@Vec>
      tile.store(%4, %dst, %2, %3)
      %5 = tile.full(4.0:f32) : tile<f32[1,16]@Vec>
      tile.store(%5, %dst, %2, %3)
      yield
)"));
  SameNumbers a5(k), a3(k, Arch::a3);
}

TEST_CASE("a run may go down an axis when one element stands behind it", "[convert]") {
  Writer k;
  const ValueId dst = k.tensor("dst", f32, {2, 16, 1}, Direction::out);
  k.fill(dst, 3);
  k.repeat(8, [&](ValueId i) { k.write(dst, k.constant(f32, 2.0), {k.index(1), i, k.index(0)}); });
  k.returns();
  CHECK(contains(converted(k), R"(
  %1 = tile.full(2.0:f32) : tile<f32[1,8]@Vec>
  %2 = tile.reshape(%1) : tile<f32[1,8,1]@Vec>
  tile.store(%2, %dst, 1, 0, 0)
)"));
  SameNumbers a5(k), a3(k, Arch::a3);
}

TEST_CASE("other loops of writes stay as they are", "[convert]") {
  Writer k;
  const ValueId n = k.scalar("n", index_type), dst = k.tensor("dst", i16, {4, 32}, Direction::out),
                other = k.tensor("other", i32, {4, 32}, Direction::out), bytes = k.tensor("bytes", u8, {64}, Direction::out);
  const ValueId one = k.constant(i16, 1);
  SECTION("fewer than 32 bytes") { k.repeat(8, [&](ValueId i) { k.write(dst, one, {k.index(0), i}); }); }
  SECTION("no whole blocks") { k.repeat(20, [&](ValueId i) { k.write(dst, one, {k.index(0), i}); }); }
  SECTION("an unknown count") {
    k.loop(n, {}, [&](ValueId i, const auto&) { return k.write(dst, one, {k.index(0), i}), std::vector<ValueId>{}; });
  }
  SECTION("no count") { k.repeat(0, [&](ValueId i) { k.write(dst, one, {k.index(0), i}); }); }
  SECTION("something is carried") {
    k.loop(k.index(16), {n}, [&](ValueId i, const auto& c) { return k.write(dst, one, {k.index(0), i}), std::vector{c[0]}; });
  }
  SECTION("no constant") {
    const ValueId x = k.scalar("x", i16);
    k.repeat(16, [&](ValueId i) { k.write(dst, x, {k.index(0), i}); });
  }
  SECTION("rows follow") { k.repeat(4, [&](ValueId i) { k.write(dst, one, {i, k.index(0)}); }); }
  SECTION("two axes count") { k.repeat(16, [&](ValueId i) { k.write(dst, one, {i, i}); }); }
  SECTION("no axis counts") { k.repeat(16, [&](ValueId) { k.write(dst, one, {k.index(0), k.index(0)}); }); }
  SECTION("a stride") {
    k.repeat(16, [&](ValueId i) { k.write(dst, one, {k.index(0), k.b().mul(i, k.index(2))}); });
  }
  SECTION("twice the counter") {
    k.repeat(16, [&](ValueId i) { k.write(dst, one, {k.index(0), k.b().add(i, i)}); });
  }
  SECTION("different indices") {
    k.repeat(16, [&](ValueId i) {
      k.write(dst, one, {k.index(0), i});
      k.write(dst, one, {k.index(1), i});
    });
  }
  SECTION("different types") {
    k.repeat(16, [&](ValueId i) {
      k.write(dst, one, {k.index(0), i});
      k.write(other, k.constant(i32, 1), {k.index(0), i});
    });
  }
  SECTION("something else is done") {
    k.repeat(16, [&](ValueId i) {
      k.write(dst, one, {k.index(0), i});
      k.read(other, {k.index(0), i});
    });
  }
  SECTION("no fill has the element type") {
    k.repeat(32, [&](ValueId i) { k.write(bytes, k.constant(u8, 1), {i}); });
  }
  k.returns();
  CHECK(converted(k) == print(k.f()));
}

// --- one tensor, two ways ---

TEST_CASE("bulk transfers and elements of one tensor", "[convert]") {
  Writer k;
  const ValueId t = k.tensor("t", f32, {16}, Direction::inout), o = k.tensor("o", f32, {16}, Direction::out),
                n = k.scalar("n", index_type), zero = k.is_zero(n), number = k.constant(f32, 1.0);
  const auto load = [&] { k.store(k.op(ops::exp, {t}), o, {k.index(0)}); };
  const auto store = [&] { k.store(k.full(number, {8}), t, {k.index(8)}); };
  const std::string stale =
      ": error: exp: the tensor is written element by element before, and a load does not see what the scalar unit's cache "
      "holds (t)\n  hint: read the elements with read(...), or write them into a tile and store that";
  const std::string cached =
      ": error: read: the tensor is read before a store, too, and the scalar unit's cache may still hold what it held "
      "then (t)\n  hint: read the element from the tile that is stored";
  std::string expected = "accepted";
  SECTION("a load, then a write") {
    load();
    k.write(t, number, {n});
  }
  SECTION("a write, then a load") {
    k.write(t, number, {n});
    load();
    expected = "k.cpp:3" + stale;
  }
  SECTION("a write and a load in the two halves of a branch") {
    k.branch(zero, {}, [&] { return k.write(t, number, {n}), std::vector<ValueId>{}; },
             [&] { return load(), std::vector<ValueId>{}; });
  }
  SECTION("the same in a loop") {
    k.repeat(2, [&](ValueId) {
      k.branch(zero, {}, [&] { return k.write(t, number, {n}), std::vector<ValueId>{}; },
               [&] { return load(), std::vector<ValueId>{}; });
    });
    expected = "k.cpp:6" + stale;
  }
  SECTION("a load and a write in a loop") {
    k.repeat(2, [&](ValueId) {
      load();
      k.write(t, number, {n});
    });
    expected = "k.cpp:3" + stale;
  }
  SECTION("a write, then a read") {
    k.write(t, number, {n});
    k.write(o, k.read(t, {n}), {n});
  }
  SECTION("a store, then a read") {
    store();
    k.write(o, k.read(t, {n}), {n});
  }
  SECTION("a read, then a store") {
    k.write(o, k.read(t, {n}), {n});
    store();
  }
  SECTION("a read, a store, a read") {
    k.write(o, k.read(t, {n}), {n});
    store();
    k.write(o, k.read(t, {n}), {n});
    expected = "k.cpp:6" + cached;
  }
  SECTION("a store and a read in a loop") {
    k.repeat(2, [&](ValueId) {
      store();
      k.write(o, k.read(t, {n}), {n});
    });
    expected = "k.cpp:5" + cached;
  }
  SECTION("a store, then a load") {
    store();
    load();
  }
  k.returns();
  const std::string text = refusal(k);
  CHECK((text.substr(0, 9) == "no error:" ? "accepted" : text) == expected);
}

// --- directions ---

TEST_CASE("a part that is stored makes an input Out, what is read as well or added to InOut", "[convert]") {
  Writer k;
  const ValueId part = k.tensor("part", f32, {4, 16}), both = k.tensor("both", f32, {4, 16}),
                sum = k.tensor("sum", f32, {4, 16}), row = k.full(k.constant(f32, 1.0), {1, 16}),
                declared = k.tensor("declared", f32, {4, 16}, Direction::out),
                kept = k.tensor("kept", f32, {4, 16}, Direction::inout);
  k.repeat(2, [&](ValueId i) {
    k.store(row, part, {i, k.index(0)});
    k.store(k.op(ops::exp, {k.slice(both, {1, 16}, {i, k.index(0)})}), both, {i, k.index(0)});
    k.effect(ops::store, {row, sum, i, k.index(0)}, {int_attr(AttrKey::atomic_add, 1)});
    k.store(row, kept, {i, k.index(0)});
  });
  k.store(k.op(ops::exp, {declared}), declared, {k.index(0), k.index(0)});
  k.returns();
  const std::string text = converted(k);
  CHECK(text.substr(0, text.find(" {")) ==
        "kernel @k(%part: out f32[4,16], %both: inout f32[4,16], %sum: inout f32[4,16], %declared: out f32[4,16], "
        "%kept: inout f32[4,16])");
}

TEST_CASE("a parameter that starts a carried value is read, whatever the loop does with it", "[convert]") {
  Writer k;
  const ValueId t = k.tensor("t", f32, {16});
  const ValueId r = k.loop(k.index(3), {t}, [&](ValueId, const auto& c) { return std::vector{k.op(ops::exp, {c[0]})}; })[0];
  k.store(r, t, {k.index(0)});
  k.returns();
  CHECK(contains(converted(k), "kernel @k(%t: inout f32[16])"));
}

// --- places in the source ---

TEST_CASE("a load stands at its parameter's declaration, a store at the return, the rest at its own line", "[convert]") {
  Writer k;
  k.f().location = {"dir/k.cpp", 99, 1};
  const ValueId x = k.tensor("x", f32, {64}), y = k.tensor("y", f32, {64});
  const ValueId sum = k.op(ops::add, {x, y});
  k.returns({k.op(ops::exp, {sum})});
  const Function f = conversion(k);
  std::string lines;
  for (const OpId op : all_operations(f))
    lines.append(f.info(op).name).append(" ").append(std::to_string(f[op].location.line)).append("; ");
  CHECK(lines == "load 100; load 101; add 1; exp 2; store 3; return 3; ");
  CHECK(f.parameters[2].location.line == 3);
}

TEST_CASE("gathered rows are loads, the indices that find them are read element by element", "[convert]") {
  Writer k;
  const ValueId pool = k.tensor("pool", f16, {64, 32}, Direction::inout), index = k.tensor("index", i32, {16}, Direction::inout),
                table = k.tensor("table", i32, {8}), out = k.tensor("out", f16, {16, 32}, Direction::out), z = k.index(0);
  const ValueId number = k.constant(f16, 1.0), one = k.constant(i32, 1);
  const auto gather_row = [&] {
    const ValueId rows = k.op(ops::gather_row, {k.create(f16, {16, 32}), pool, z, z, k.index(3), z},
                              {int_attr(AttrKey::rows, 16), int_attr(AttrKey::columns, 32)});
    k.store(rows, out, {z, z});
  };
  const auto paged_gather = [&] {
    const ValueId rows = k.op(ops::paged_gather, {pool, index, table},
                              {int_attr(AttrKey::space, Vec), int_attr(AttrKey::rows, 16), int_attr(AttrKey::columns, 32),
                               int_attr(AttrKey::block_size, 8), int_attr(AttrKey::column, 0)});
    k.store(rows, out, {z, z});
  };
  const auto store = [&] { k.store(k.full(one, {16}), index, {z}); };
  std::string expected;
  SECTION("elements are read beside gathered rows") {
    k.repeat(2, [&](ValueId i) {
      k.read(pool, {i, z});
      gather_row();
    });
  }
  SECTION("an element is written, then rows are gathered") {
    k.write(pool, number, {z, z});
    gather_row();
    expected = "gather_row: the tensor is written element by element before";
  }
  SECTION("an index is written, then rows are gathered by it") {
    k.write(index, one, {z});
    paged_gather();
  }
  SECTION("an index is read, all are stored, then rows are gathered by them") {
    k.read(index, {z});
    store();
    paged_gather();
    expected = "paged_gather: the tensor is read before a store, too";
  }
  SECTION("indices are stored, then rows are gathered by them") {
    store();
    paged_gather();
  }
  k.returns();
  if (expected.empty()) CHECK_NOTHROW(converted(k));
  else CHECK(contains(refusal(k), expected));
}
