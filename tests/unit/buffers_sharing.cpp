// Buffers: what shares one, and where a copy keeps two contents apart. Every kernel also computes the same as before.
#include "support/lowering.hpp"

#include <tessera/passes/assign_buffers.hpp>
#include <tessera/passes/infer_memory_space.hpp>

using namespace tessera;
using namespace tessera::test;

namespace {

std::vector<ValueId> zeros(Recording& k, std::size_t n) { return std::vector<ValueId>(n, k.index(0)); }
const Attr equal = int_attr(AttrKey::compare, 0);

std::uint32_t buffer_of(const Function& f, const OpInfo& info, int n = 0) {
  return f[f.result(find_op(f, info, n))].buffer;
}

// Two tiles and two outputs.
struct Two {
  Two() {
    const ValueId x = k.tensor("x", f32, {8, 8}), y = k.tensor("y", f32, {8, 8});
    o = k.tensor("o", f32, {8, 8}, Direction::out);
    p = k.tensor("p", f32, {8, 8}, Direction::out);
    n = k.scalar("n", index_type);
    a = k.load(x, {8, 8}, zeros(k, 2));
    b = k.load(y, {8, 8}, zeros(k, 2));
  }
  void store(ValueId v, ValueId to) { k.store(v, to, zeros(k, 2)); }
  Function done(std::int64_t scalar = 1) {
    if (!ended) k.returns();
    ended = true;
    return lower_tiles(k.f(), Arch::a3, 8, scalar).buffered;
  }
  Recording k;
  ValueId o, p, n, a, b;
  bool ended = false;
};

}  // namespace

TEST_CASE("buffers: results have their own, views that of their source") {
  Two t;
  const ValueId s = t.k.slice(t.a, {4, 8}, {t.k.index(4), t.k.index(0)});
  t.store(t.k.op(ops::add, {t.a, t.b}), t.o);
  t.store(t.k.reshape(s, {4, 8}), t.p);
  t.k.store(t.k.reshape(t.k.op(ops::neg, {t.a}), {4, 16}), t.k.tensor("q", f32, {4, 16}, Direction::out),
            zeros(t.k, 2));
  const Function f = t.done();
  CHECK(buffer_of(f, ops::slice) == buffer_of(f, ops::load));
  CHECK(buffer_of(f, ops::add) == f.result(find_op(f, ops::add)).index);
  CHECK(buffer_of(f, ops::reshape) == buffer_of(f, ops::neg));
  CHECK(count_op(f, ops::move) == 0);
}

TEST_CASE("buffers: an in-place operation copies what is read later") {
  Two t;
  const ValueId w = t.k.op(ops::write, {t.a, t.k.constant(f32, 5.0), t.k.index(0), t.k.index(0)});
  const ValueId w2 = t.k.op(ops::write, {w, t.k.constant(f32, 6.0), t.k.index(0), t.k.index(1)});
  t.store(t.k.op(ops::add, {w2, t.a}), t.o);
  const Function f = t.done();
  CHECK(count_op(f, ops::move) == 1);
  CHECK(buffer_of(f, ops::write, 0) == buffer_of(f, ops::move));
  CHECK(buffer_of(f, ops::write, 1) == buffer_of(f, ops::move));
}

TEST_CASE("buffers: a view that is read later protects its source") {
  Two t;
  const ValueId s = t.k.slice(t.a, {4, 8}, {t.k.index(0), t.k.index(0)});
  t.store(t.k.op(ops::write, {t.a, t.k.constant(f32, 5.0), t.k.index(0), t.k.index(0)}), t.o);
  t.store(s, t.p);
  CHECK(count_op(t.done(), ops::move) == 1);
}

TEST_CASE("buffers: a tile from outside a loop is not overwritten in it (reports 36, 42)") {
  Two t;
  const auto sum = t.k.loop(t.k.index(3), {t.b}, [&](ValueId i, const auto& c) {
    const ValueId w = t.k.op(ops::write, {t.a, t.k.constant(f32, 5.0), i, i});
    return std::vector<ValueId>{t.k.op(ops::add, {c[0], w})};
  });
  t.store(sum[0], t.o);
  const Function f = t.done();
  CHECK(op_names(f) == "load load for{move write add yield} store");
  CHECK(buffer_of(f, ops::add) == buffer_of(f, ops::load, 1));
}

TEST_CASE("buffers: a swap of two carried tiles (report 37)") {
  for (const std::int64_t n : {0, 1, 2, 3}) {
    Two t;
    const auto r = t.k.loop(t.n, {t.a, t.b}, [&](ValueId, const auto& c) { return std::vector<ValueId>{c[1], c[0]}; });
    t.store(r[0], t.o);
    t.store(r[1], t.p);
    const Function f = t.done(n);
    CHECK(op_names(f) == "load load for{move move move yield} store store");
  }
}

TEST_CASE("buffers: three carried tiles in a circle, and one chain without a circle") {
  for (const bool circle : {true, false})
    for (const std::int64_t n : {1, 2, 4}) {
      Two t;
      const ValueId c = t.k.op(ops::neg, {t.a});
      const auto r = t.k.loop(t.n, {t.a, t.b, c}, [&](ValueId, const auto& v) {
        return std::vector<ValueId>{v[1], v[2], circle ? v[0] : t.k.op(ops::add, {v[0], v[1]})};
      });
      t.store(t.k.op(ops::sub, {r[0], r[1]}), t.o);
      t.store(r[2], t.p);
      const Function f = t.done(n);
      CHECK(count_op(f, ops::move) == (circle ? 4 : 3));
    }
}

TEST_CASE("buffers: an initial value that is read later, or starts two variables, is copied") {
  for (const std::int64_t n : {0, 1, 3}) {
    Two t;
    const auto r = t.k.loop(t.n, {t.a, t.a}, [&](ValueId, const auto& v) {
      return std::vector<ValueId>{t.k.op(ops::add, {v[0], t.b}), t.k.op(ops::neg, {v[1]})};
    });
    t.store(t.k.op(ops::add, {r[0], r[1]}), t.o);
    t.store(t.a, t.p);
    const Function f = t.done(n);
    CHECK(op_names(f) == "load load move move for{add neg yield} add store store");
  }
}

TEST_CASE("buffers: the same value yielded twice") {
  Two t;
  const auto r = t.k.loop(t.n, {t.a, t.b}, [&](ValueId, const auto& v) {
    const ValueId s = t.k.op(ops::add, {v[0], v[1]});
    return std::vector<ValueId>{s, s};
  });
  t.store(r[0], t.o);
  t.store(r[1], t.p);
  CHECK(op_names(t.done(3)) == "load load for{add move yield} store store");
}

TEST_CASE("buffers: a carried tile in every kind of operation (report 38)") {
  Two t;
  const auto r = t.k.loop(t.n, {t.a}, [&](ValueId, const auto& v) {
    const ValueId s = t.k.slice(v[0], {4, 8}, {t.k.index(4), t.k.index(0)});
    const ValueId twice = t.k.op(ops::add, {v[0], v[0]});
    return std::vector<ValueId>{t.k.op(ops::assemble, {twice, s, t.k.index(0), t.k.index(0)})};
  });
  t.store(r[0], t.o);
  const Function f = t.done(3);
  // The slice still shows the old content when the new one is made, so the new one is copied at the end.
  CHECK(op_names(f) == "load load for{slice add assemble move yield} store");
}

TEST_CASE("buffers: an expression of the carried value (report 70)") {
  Two t;
  const auto r = t.k.loop(t.n, {t.a}, [&](ValueId, const auto& v) {
    return std::vector<ValueId>{t.k.op(ops::add, {t.k.op(ops::muls, {v[0], t.k.constant(f32, 2.0)}), v[0]})};
  });
  t.store(r[0], t.o);
  const Function f = t.done(3);
  CHECK(op_names(f) == "load load for{muls add yield} store");
  CHECK(buffer_of(f, ops::add) == buffer_of(f, ops::load));
  CHECK(buffer_of(f, ops::muls) != buffer_of(f, ops::load));
}

TEST_CASE("buffers: an operation that may not alias keeps its own buffer (report 40)") {
  Two t;
  const auto r = t.k.loop(t.n, {t.a}, [&](ValueId, const auto& v) {
    return std::vector<ValueId>{t.k.op(ops::transpose, {v[0], t.k.create(f32, {8, 8}, Vec)})};
  });
  t.store(r[0], t.o);
  CHECK(op_names(t.done(3)) == "load load for{create transpose move yield} store");
}

TEST_CASE("buffers: both branches fill the storage in front of them (report 39)") {
  for (const std::int64_t n : {0, 1}) {
    Two t;
    const ValueId c = t.k.op(ops::scalar_compare, {t.n, t.k.index(0)}, {equal});
    const auto r = t.k.branch(c, {shaped_type(f32, {8, 8}, Vec)}, [&] {
      return std::vector<ValueId>{t.k.op(ops::mul, {t.a, t.a})};
    }, [&] { return std::vector<ValueId>{t.k.op(ops::add, {t.a, t.a})}; });
    t.store(r[0], t.o);
    t.store(t.a, t.p);
    const Function f = t.done(n);
    CHECK(op_names(f) == "load load compare create if{mul yield}{add yield} store store");
    const std::uint32_t storage = f.result(find_op(f, ops::create)).index;
    CHECK(buffer_of(f, ops::mul) == storage);
    CHECK(buffer_of(f, ops::add) == storage);
    CHECK(f[f.result(find_op(f, ops::if_else))].buffer == storage);
  }
}

TEST_CASE("buffers: a branch that yields a tile from outside") {
  for (const bool read_later : {true, false})
    for (const std::int64_t n : {0, 1}) {
      Two t;
      const ValueId c = t.k.op(ops::scalar_compare, {t.n, t.k.index(0)}, {equal});
      const auto r = t.k.branch(c, {shaped_type(f32, {8, 8}, Vec)}, [&] { return std::vector<ValueId>{t.a}; },
                                [&] { return std::vector<ValueId>{t.k.op(ops::add, {t.a, t.b})}; });
      t.store(r[0], t.o);
      if (read_later) t.store(t.a, t.p);
      else t.store(t.b, t.p);
      const Function f = t.done(n);
      CHECK(op_names(f) == (read_later ? "load load compare create if{move yield}{add yield} store store"
                                       : "load load compare if{yield}{add yield} store store"));
    }
}

TEST_CASE("buffers: branches that exchange two tiles") {
  for (const std::int64_t n : {0, 1}) {
    Two t;
    const ValueId c = t.k.op(ops::scalar_compare, {t.n, t.k.index(0)}, {equal});
    const Type tile = shaped_type(f32, {8, 8}, Vec);
    const auto r = t.k.branch(c, {tile, tile}, [&] { return std::vector<ValueId>{t.a, t.b}; },
                              [&] { return std::vector<ValueId>{t.b, t.a}; });
    t.store(r[0], t.o);
    t.store(r[1], t.p);
    CHECK(op_names(t.done(n)) == "load load compare if{yield}{move move move yield} store store");
  }
}

TEST_CASE("buffers: a branch in a loop, its result read after an outer loop (report 39)") {
  for (const std::int64_t n : {0, 1, 3}) {
    Two t;
    const auto outer = t.k.loop(t.n, {t.a}, [&](ValueId i, const auto& v) {
      const auto inner = t.k.loop(t.k.index(2), {v[0]}, [&](ValueId, const auto& w) {
        const ValueId c = t.k.op(ops::scalar_compare, {i, t.k.index(0)}, {equal});
        return t.k.branch(c, {shaped_type(f32, {8, 8}, Vec)}, [&] {
          return std::vector<ValueId>{t.k.op(ops::add, {w[0], t.b})};
        }, [&] { return std::vector<ValueId>{w[0]}; });
      });
      return std::vector<ValueId>{inner[0]};
    });
    t.store(outer[0], t.o);
    const Function f = t.done(n);
    CHECK(op_names(f) == "load load for{for{compare if{add yield}{yield} yield} yield} store");
    CHECK(buffer_of(f, ops::add) == buffer_of(f, ops::load));
  }
}

TEST_CASE("buffers: while loops") {
  for (const std::int64_t n : {0, 1, 4}) {
    Two t;
    const Attr less = int_attr(AttrKey::compare, static_cast<std::int64_t>(Compare::lt));
    const auto r = t.k.loop_while({t.k.index(0), t.a, t.b}, [&](const auto& c) {
      return std::vector<ValueId>{t.k.op(ops::scalar_compare, {c[0], t.n}, {less}), c[0], c[1], c[2]};
    }, [&](const auto& c) {
      return std::vector<ValueId>{t.k.op(ops::scalar_add, {c[0], t.k.index(1)}), c[2], t.k.op(ops::add, {c[1], c[2]})};
    });
    t.store(r[1], t.o);
    t.store(r[2], t.p);
    static_cast<void>(t.done(n));
  }
}

TEST_CASE("buffers: a carried column is computed on its row and stays in one buffer") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {16, 32}), o = k.tensor("o", f32, {16, 1}, Direction::out);
  const ValueId start = k.op(ops::full, {k.constant(f32, -100.0)}, {}, shaped_type(f32, {16, 1}, Vec));
  const auto m = k.loop(k.index(4), {start}, [&](ValueId i, const auto& v) {
    const ValueId t = k.load(x, {16, 8}, {k.index(0), k.b().mul(i, k.index(8))});
    return std::vector<ValueId>{k.op(ops::maximum, {v[0], k.op(ops::row_max, {t, k.create(f32, {16, 8}, Vec)})})};
  });
  k.store(m[0], o, zeros(k, 2));
  k.returns();
  const Function f = lower_tiles(k.f()).buffered;
  CHECK(count_op(f, ops::move) == 0);
  CHECK(buffer_of(f, ops::maximum) == buffer_of(f, ops::full));
}

TEST_CASE("buffers: an accumulator over K, first step by branch (report 43): no copies") {
  Recording k;
  const ValueId a = k.tensor("a", f16, {16, 64}), b = k.tensor("b", f16, {64, 16}),
                o = k.tensor("o", f32, {16, 16}, Direction::out);
  const auto body = [&](ValueId i, const std::vector<ValueId>& c) {
    const ValueId at = k.b().mul(i, k.index(16));
    const ValueId l = k.load(a, {16, 16}, {k.index(0), at}, Mat), r = k.load(b, {16, 16}, {at, k.index(0)}, Mat);
    const ValueId is_first = k.op(ops::scalar_compare, {i, k.index(0)}, {equal});
    return k.branch(is_first, {shaped_type(f32, {16, 16}, Acc)}, [&] { return std::vector<ValueId>{k.matmul(l, r)}; },
                    [&] { return std::vector<ValueId>{k.matmul_acc(c[0], l, r)}; });
  };
  for (int part = 0; part < 2; ++part)
    k.store(k.loop(k.index(4), {k.create(f32, {16, 16}, Acc)}, body)[0], o, zeros(k, 2));
  k.returns();
  const Function f = lower_tiles(k.f()).buffered;
  for (int i = 0; i < 2; ++i) {
    CHECK(buffer_of(f, ops::matmul, i) == buffer_of(f, ops::create, i));
    CHECK(buffer_of(f, ops::matmul_acc, i) == buffer_of(f, ops::create, i));
  }
  for (const OpId op : all_operations(f))
    if (f.is(op, ops::move)) CHECK(f.type(f.operand(op, 0)).space == Mat);
}

TEST_CASE("buffers: an accumulator that would have to be copied is refused with both lines") {
  Recording k;
  const ValueId a = k.load(k.tensor("a", f16, {16, 16}), {16, 16}, zeros(k, 2), Mat),
                b = k.load(k.tensor("b", f16, {16, 16}), {16, 16}, zeros(k, 2), Mat);
  const ValueId o = k.tensor("o", f32, {16, 16}, Direction::out);
  const ValueId m = k.matmul(a, b);
  k.store(k.matmul_acc(m, a, b), o, zeros(k, 2));
  k.store(m, o, zeros(k, 2));
  k.returns();
  const std::string text = thrown<UserError>(
      [&] { static_cast<void>(assign_buffers.run(infer_memory_space.run(k.f(), {Arch::a3}), {Arch::a3})); });
  CHECK(contains(text, "k.cpp:4: error: matmul_acc: a tile in Acc would have to be copied"));
  CHECK(contains(text, "k.cpp:4, k.cpp:6"));
}

TEST_CASE("buffers: storage without content is not copied but made anew") {
  Recording k;
  const ValueId x = k.tensor("x", f32, {8, 8}), o = k.tensor("o", f32, {8, 8}, Direction::out),
                p = k.tensor("p", f32, {8, 8}, Direction::out);
  const ValueId t = k.load(x, {8, 8}, zeros(k, 2)), c = k.create(f32, {8, 8}, Vec);
  k.store(k.op(ops::assemble, {c, t, k.index(0), k.index(0)}), o, zeros(k, 2));
  k.store(k.op(ops::assemble, {c, k.op(ops::neg, {t}), k.index(0), k.index(0)}), p, zeros(k, 2));
  k.returns();
  const Function f = lower_tiles(k.f()).buffered;
  CHECK(count_op(f, ops::move) == 0);
  CHECK(buffer_of(f, ops::assemble, 0) != buffer_of(f, ops::assemble, 1));
}
