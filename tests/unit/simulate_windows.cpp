// Windows, valid extents, poison and bounds.
#include "support/run_function.hpp"

#include <tessera/ops/all.hpp>

using namespace tessera_test;

namespace {

const HostTensor matrix = host(f32, {3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
using V = std::vector<double>;

// Loads a [2, 2] window of a [3, 4] tensor at run-time offsets, with run-time extents if wanted, and stores it at [0, 0].
struct Window {
  TestFunction k;
  HostTensor out{f32, {3, 4}};
  bool has_valid;

  explicit Window(bool with_valid) : has_valid(with_valid) {
    const ValueId x = k.tensor(f32, {3, 4});
    std::vector<ValueId> operands;
    for (int i = 0; i < (with_valid ? 4 : 2); ++i) operands.push_back(k.scalar(index_type));
    const ValueId o = k.tensor(f32, {3, 4}, Direction::out);
    k.line(12);
    const ValueId t = k.load(x, operands, tile_type(f32, {2, 2}), with_valid);
    k.line(13);
    k.store(t, o);
  }
  SimulationResult run(std::int64_t i, std::int64_t j, std::int64_t m = 2, std::int64_t n = 2) {
    std::vector<Argument> arguments = {matrix, i, j};
    if (has_valid) arguments.insert(arguments.end(), {m, n});
    arguments.emplace_back(out);
    return simulate(k.f, arguments);
  }
  std::string error(std::int64_t i, std::int64_t j, std::int64_t m = 2, std::int64_t n = 2) {
    return error_of([&] { (void)run(i, j, m, n); });
  }
};

}  // namespace

TEST_CASE("a load and a store move a window") {
  Window w(false);
  const SimulationResult r = w.run(1, 2);
  CHECK(w.out.values() == V{7, 8, 0, 0, 11, 12, 0, 0, 0, 0, 0, 0});
  CHECK(r.unwritten(3).count == 8);
  CHECK(r.unwritten(3).first == std::vector<std::int64_t>{0, 2});
  CHECK(r.unwritten(0).count == 0);
  CHECK(r.statistics.gm_bytes_read == 16);
  CHECK(r.statistics.gm_bytes_written == 16);
}
TEST_CASE("only valid elements move") {
  Window w(true);
  const SimulationResult r = w.run(2, 3, 1, 1);
  CHECK(w.out.values() == V{12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(r.statistics.gm_bytes_read == 4);
  CHECK(r.statistics.gm_bytes_written == 4);
}
TEST_CASE("elements that are not stored keep what the host had") {
  Window w(true);
  w.out = matrix;
  CHECK(w.run(2, 2, 1, 2).unwritten(5).count == 10);
  CHECK(w.out.values() == V{11, 12, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
}
TEST_CASE("empty windows touch nothing") {
  Window w(true);
  CHECK(w.run(0, 0, 0, 2).unwritten(5).count == 12);
  CHECK(w.run(3, 4, 0, 0).statistics.gm_bytes_read == 0);
  CHECK(w.run(1000000, 0, 0, 2).statistics.gm_bytes_written == 0);
}
TEST_CASE("accesses outside a tensor are errors") {
  Window w(false), v(true);
  const std::string reaches = "  hint: use a smaller window, or give valid(...) extents that stay inside";
  CHECK(w.error(2, 0) ==
        "kernel.cpp:12: error: load: the window reaches past the end of the tensor (axis 0: offset 2 + extent 2 > dim "
        "3)\n" +
            reaches);
  CHECK(w.error(0, 3) ==
        "kernel.cpp:12: error: load: the window reaches past the end of the tensor (axis 1: offset 3 + extent 2 > dim "
        "4)\n" +
            reaches);
  CHECK(w.error(-1, 0) ==
        "kernel.cpp:12: error: load: an offset is negative (axis 0: offset -1)\n  hint: offsets count from the start "
        "of the tensor");
  CHECK(v.error(3, 0, 1, 1) ==
        "kernel.cpp:12: error: load: the window reaches past the end of the tensor (axis 0: offset 3 + extent 1 > dim "
        "3)\n" +
            reaches);
  CHECK(v.error(0, 0, -1, 1) ==
        "kernel.cpp:12: error: load: a valid extent is negative (axis 0: valid -1)\n  hint: valid extents lie in [0, "
        "window]");
  CHECK(v.error(0, 0, 1, 3) ==
        "kernel.cpp:12: error: load: a valid extent is larger than the window (axis 1: valid 3, window 2)\n  hint: "
        "valid extents lie in [0, window]");
  CHECK(v.error(-1, 0, 0, 0) ==
        "kernel.cpp:12: error: load: an offset is negative (axis 0: offset -1)\n  hint: offsets count from the start "
        "of the tensor");
  CHECK(w.error(std::numeric_limits<std::int64_t>::max(), 0) != "");
}
TEST_CASE("stores outside a tensor are errors") {
  TestFunction k;
  const ValueId i = k.scalar(index_type), o = k.tensor(f32, {3, 4}, Direction::out);
  const ValueId t = k.b.value(ops::full, {k.f.constant(f32, 1.0)}, {}, tile_type(f32, {2, 4}));
  k.line(14);
  k.store(t, o, {i, k.b.index(0)});
  HostTensor out(f32, {3, 4});
  CHECK(error_of([&] { (void)simulate(k.f, {2, out}); }) ==
        "kernel.cpp:14: error: store: the window reaches past the end of the tensor (axis 0: offset 2 + extent 2 > dim "
        "3)\n"
        "  hint: use a smaller window, or give valid(...) extents that stay inside");
  CHECK(error_of([&] { (void)simulate(k.f, {-1, out}); }) ==
        "kernel.cpp:14: error: store: an offset is negative (axis 0: offset -1)\n  hint: offsets count from the start "
        "of the tensor");
}

TEST_CASE("what was never written is poison") {
  const std::string hint =
      "\n  hint: load, compute or fill it first (fillpad fills what is not valid), or narrow the valid extents";
  HostTensor out(f32, {2, 2});
  SECTION("stored") {
    TestFunction k;
    const ValueId t = k.b.value(ops::create, {}, {}, tile_type(f32, {2, 2}));
    k.store(t, k.tensor(f32, {2, 2}, Direction::out));
    CHECK(error_of([&] { (void)simulate(k.f, {out}); }) ==
          "kernel.cpp:10: error: store: an uninitialised element is used (operand 0, element [0, 0] of [2, 2])" + hint);
  }
  SECTION("elementwise operations hand it on") {
    TestFunction k;
    const ValueId t = k.b.value(ops::create, {}, {}, tile_type(f32, {2, 2}));
    const ValueId u = k.b.value(ops::write, {t, k.f.constant(f32, 2.0), k.b.index(0), k.b.index(0)});
    const ValueId s = k.b.value(ops::add, {k.b.value(ops::exp, {u}), u});
    k.line(20);
    k.store(s, k.tensor(f32, {2, 2}, Direction::out));
    CHECK(error_of([&] { (void)simulate(k.f, {out}); }) ==
          "kernel.cpp:20: error: store: an uninitialised element is used (operand 0, element [0, 1] of [2, 2])" + hint);
  }
  SECTION("read as a scalar") {
    TestFunction k;
    const ValueId t = k.b.value(ops::create, {}, {}, tile_type(f32, {2, 2}));
    k.returns({k.b.value(ops::read, {t, k.b.index(1), k.b.index(0)})});
    CHECK(error_of([&] { (void)simulate(k.f, {}); }) ==
          "kernel.cpp:10: error: read: an uninitialised element is used (operand 0, element [1, 0] of [2, 2])" + hint);
  }
  SECTION("reduced") {
    TestFunction k;
    (void)k.b.value(ops::row_sum, {k.b.value(ops::create, {}, {}, tile_type(f32, {2, 2}))});
    CHECK(error_of([&] { (void)simulate(k.f, {}); }) ==
          "kernel.cpp:10: error: row_sum: an uninitialised element is used (operand 0, element [0, 0] of [2, 2])" +
              hint);
  }
  SECTION("multiplied") {
    TestFunction k;
    const ValueId a = k.b.value(ops::create, {}, {}, tile_type(f32, {2, 2}, Left));
    const ValueId b = k.b.value(ops::create, {}, {}, tile_type(f32, {2, 2}, Right));
    (void)k.b.value(ops::matmul, {a, b});
    CHECK(error_of([&] { (void)simulate(k.f, {}); }) ==
          "kernel.cpp:10: error: matmul: an uninitialised element is used (operand 0, element [0, 0] of [2, 2])" +
              hint);
  }
  SECTION("accumulated onto") {
    TestFunction k;
    const ValueId a = k.b.value(ops::full, {k.f.constant(f32, 1.0)}, {}, tile_type(f32, {2, 2}));
    const ValueId c = k.b.value(ops::create, {}, {}, tile_type(f32, {2, 2}, Acc));
    (void)k.b.value(ops::matmul_acc, {c, a, a});
    CHECK(error_of([&] { (void)simulate(k.f, {}); }) ==
          "kernel.cpp:10: error: matmul_acc: an uninitialised element is used (operand 0, element [0, 0] of [2, 2])" +
              hint);
  }
  SECTION("an Out parameter, before it is stored") {
    TestFunction k;
    const ValueId o = k.tensor(f32, {2, 2}, Direction::out);
    k.store(k.load_whole(o), o);
    CHECK(error_of([&] { (void)simulate(k.f, {out}); }) ==
          "kernel.cpp:10: error: store: an uninitialised element is used (operand 0, element [0, 0] of [2, 2])" + hint);
  }
  SECTION("returned") {
    TestFunction k;
    k.returns({k.b.value(ops::create, {}, {}, tensor_type(f32, {2, 2}))});
    CHECK(error_of([&] { (void)simulate(k.f, {}); }) ==
          "kernel.cpp:10: error: return: an uninitialised element is returned (result 0, element [0, 0] of [2, 2])\n  "
          "hint: give every element a value");
  }
  SECTION("an InOut parameter has the host's elements") {
    TestFunction k;
    const ValueId o = k.tensor(f32, {2, 2}, Direction::inout);
    const ValueId t = k.load_whole(o);
    k.store(k.b.value(ops::add, {t, t}), o);
    out = host(f32, {2, 2}, {1, 2, 3, 4});
    CHECK(simulate(k.f, {out}).unwritten(0).count == 0);
    CHECK(out.values() == V{2, 4, 6, 8});
  }
}
TEST_CASE("input parameters are not written") {
  TestFunction k;
  const ValueId x = k.tensor(f32, {2, 2});
  k.store(k.load_whole(x), x);
  const HostTensor t(f32, {2, 2});
  CHECK(error_of([&] { (void)simulate(k.f, {t}); }) ==
        "kernel.cpp:10: error: store: the tensor is neither an Out nor an InOut parameter of a kernel\n  hint: declare a parameter Out<Tensor<...>> or "
        "InOut<Tensor<...>>; a computed tensor has no memory: assemble(x, part, at(...)) gives a new value; on the host pass a tensor to a "
        "kernel that writes it");
}

TEST_CASE("valid extents follow every operation") {
  // [2, 3] tiles of which a run-time part is valid; what is stored is the part that the rule leaves.
  const auto stored = [](const OpInfo& op, std::int64_t m, std::int64_t n, std::int64_t operands_of_its_own) {
    TestFunction k;
    const ValueId x = k.tensor(f32, {2, 3}), a = k.scalar(index_type), b = k.scalar(index_type);
    const ValueId t = k.load(x, {k.b.index(0), k.b.index(0), a, b}, tile_type(f32, {2, 3}), true);
    std::vector<ValueId> operands = {t};
    if (operands_of_its_own == 2) operands.push_back(k.load_whole(x));
    const ValueId r = k.b.value(op, operands);
    Type o = with_space(k.f.type(r), Gm);
    k.store(r, k.parameter(o, Direction::out));
    HostTensor in = host(f32, {2, 3}, {1, 2, 3, 4, 5, 6}), out(f32, std::vector<std::int64_t>(o.dims, o.dims + o.rank));
    const SimulationResult done = simulate(k.f, {in, m, n, out});
    return std::pair(out.values(), done.unwritten(3).count);
  };
  CHECK(stored(ops::neg, 1, 2, 1) == std::pair(V{-1, -2, 0, 0, 0, 0}, std::int64_t{4}));
  CHECK(stored(ops::add, 2, 1, 2) == std::pair(V{2, 0, 0, 8, 0, 0}, std::int64_t{4}));
  CHECK(stored(ops::row_sum, 1, 2, 1) == std::pair(V{3, 0}, std::int64_t{1}));
  CHECK(stored(ops::row_max, 2, 2, 1) == std::pair(V{2, 5}, std::int64_t{0}));
  CHECK(stored(ops::col_sum, 1, 2, 1) == std::pair(V{1, 2, 0}, std::int64_t{1}));
  CHECK(stored(ops::col_min, 2, 3, 1) == std::pair(V{1, 2, 3}, std::int64_t{0}));
  CHECK(stored(ops::transpose, 1, 2, 1) == std::pair(V{1, 0, 2, 0, 0, 0}, std::int64_t{4}));
  CHECK(stored(ops::fillpad, 1, 2, 1) == std::pair(V{1, 2, 0, 0, 0, 0}, std::int64_t{0}));
}
TEST_CASE("valid extents follow the operations on bits") {
  TestFunction k;
  const ValueId x = k.tensor(i16, {2, 3}), m = k.scalar(index_type), n = k.scalar(index_type);
  const ValueId a = k.load(x, {k.b.index(0), k.b.index(0), m, k.b.index(3)}, tile_type(i16, {2, 3}), true);
  const ValueId b = k.load(x, {k.b.index(0), k.b.index(0), k.b.index(2), n}, tile_type(i16, {2, 3}), true);
  std::vector<ValueId> both, first;
  for (const OpInfo* op : {&ops::bit_and, &ops::bit_or, &ops::bit_xor, &ops::shl, &ops::shr, &ops::fmod})
    both.push_back(k.b.value(*op, {a, b}));
  for (const OpInfo* op : {&ops::bit_ands, &ops::bit_ors, &ops::bit_xors, &ops::shls, &ops::shrs, &ops::fmods})
    first.push_back(k.b.value(*op, {a, k.f.constant(i16, std::int64_t{1})}));
  first.push_back(k.b.value(ops::bit_not, {a}));
  for (const ValueId v : both) {
    CHECK(k.f.valid(v, 0) == Extent{0, m});
    CHECK(k.f.valid(v, 1) == Extent{0, n});
  }
  for (const ValueId v : first) {
    CHECK(k.f.valid(v, 0) == Extent{0, m});
    CHECK(k.f.valid(v, 1) == Extent{3, {}});
  }
  k.store(both[2], k.tensor(i16, {2, 3}, Direction::out));
  k.store(first[2], k.tensor(i16, {2, 3}, Direction::out));
  HostTensor in = host(i16, {2, 3}, {1, 2, 3, 4, 5, 6}), o(i16, {2, 3}), p(i16, {2, 3});
  const SimulationResult done = simulate(k.f, {in, 1, 2, o, p});
  CHECK(o.values() == V{0, 0, 0, 0, 0, 0});
  CHECK(done.unwritten(3).count == 4);
  CHECK(p.values() == V{0, 3, 2, 0, 0, 0});
  CHECK(done.unwritten(4).count == 3);
}
TEST_CASE("valid extents follow the fused differences and the products") {
  TestFunction k;
  const ValueId x = k.tensor(f32, {2, 3}), m = k.scalar(index_type), n = k.scalar(index_type);
  const ValueId t = k.load(x, {k.b.index(0), k.b.index(0), m, n}, tile_type(f32, {2, 3}), true);
  const ValueId column = k.b.value(ops::row_prod, {t}), row = k.b.value(ops::col_prod, {t});
  const ValueId by_row = k.b.value(ops::row_expand_expdif, {t, k.b.value(ops::row_max, {t})}),
                by_col = k.b.value(ops::col_expand_expdif, {t, k.b.value(ops::col_max, {t})});
  for (const ValueId v : {by_row, by_col}) CHECK((k.f.valid(v, 0) == Extent{0, m} && k.f.valid(v, 1) == Extent{0, n}));
  CHECK((k.f.valid(column, 0) == Extent{0, m} && k.f.valid(column, 1) == Extent{1, {}}));
  CHECK((k.f.valid(row, 0) == Extent{1, {}} && k.f.valid(row, 1) == Extent{0, n}));
  k.store(column, k.tensor(f32, {2, 1}, Direction::out));
  k.store(row, k.tensor(f32, {1, 3}, Direction::out));
  HostTensor in = host(f32, {2, 3}, {1, 2, 3, 4, 5, 6}), c(f32, {2, 1}), r(f32, {1, 3});
  const SimulationResult done = simulate(k.f, {in, 1, 2, c, r});
  CHECK(c.values() == V{2, 0});
  CHECK(r.values() == V{1, 2, 0});
  CHECK((done.unwritten(3).count == 1 && done.unwritten(4).count == 1));
}
TEST_CASE("parts are valid as the operand that is valid in more") {
  const auto box = [](TestFunction& k, ValueId x, ValueId m, ValueId n) {
    return k.load(x, {k.b.index(0), k.b.index(0), m, n}, tile_type(f32, {2, 3}), true);
  };
  const HostTensor in = host(f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  SECTION("either operand may be the smaller one") {
    for (const bool swapped : {false, true}) {
      TestFunction k;
      const ValueId x = k.tensor(f32, {2, 3});
      ValueId large = box(k, x, k.b.index(2), k.b.index(2)), small = box(k, x, k.b.index(1), k.b.index(2));
      if (swapped) std::swap(large, small);
      const ValueId r = k.b.value(ops::part_add, {large, small});
      CHECK((k.f.valid(r, 0) == Extent{2, {}} && k.f.valid(r, 1) == Extent{2, {}}));
      k.store(r, k.tensor(f32, {2, 3}, Direction::out));
      HostTensor out(f32, {2, 3});
      CHECK(simulate(k.f, {in, out}).unwritten(1).count == 2);
      CHECK(out.values() == V{2, 4, 0, 4, 5, 0});
    }
  }
  SECTION("a whole operand is the larger one at run time, too") {
    TestFunction k;
    const ValueId x = k.tensor(f32, {2, 3}), m = k.scalar(index_type), n = k.scalar(index_type);
    const ValueId r = k.b.value(ops::part_max, {box(k, x, m, n), k.b.value(ops::neg, {k.load_whole(x)})});
    CHECK(k.f.fully_valid(r));
    k.store(r, k.tensor(f32, {2, 3}, Direction::out));
    HostTensor out(f32, {2, 3});
    (void)simulate(k.f, {in, 1, 2, out});
    CHECK(out.values() == V{1, 2, -3, -4, -5, -6});
    (void)simulate(k.f, {in, 0, 2, out});
    CHECK(out.values() == V{-1, -2, -3, -4, -5, -6});
  }
  SECTION("of one extent at run time it is found then which is larger") {
    TestFunction k;
    const ValueId x = k.tensor(f32, {2, 3}), m = k.scalar(index_type), n = k.scalar(index_type);
    const ValueId a = box(k, x, k.b.index(2), m), b = box(k, x, k.b.index(2), n);
    k.store(k.b.value(ops::part_mul, {a, b}), k.tensor(f32, {2, 3}, Direction::out));
    HostTensor out(f32, {2, 3});
    for (const auto& [p, q] : {std::pair{1, 2}, {2, 1}}) {
      CHECK(simulate(k.f, {in, p, q, out}).unwritten(3).count == 2);
      CHECK(out.values() == V{1, 2, 0, 16, 5, 0});
    }
  }
  SECTION("what neither holds is refused") {
    const std::string words =
        "kernel.cpp:10: error: part_min: neither operand is known to be valid wherever the other one is\n  hint: let them "
        "differ in one extent only, or let one be fully valid: fillpad(x)";
    TestFunction k;
    const ValueId x = k.tensor(f32, {2, 3}), m = k.scalar(index_type), n = k.scalar(index_type);
    const ValueId wide = box(k, x, k.b.index(1), k.b.index(3)), tall = box(k, x, k.b.index(2), k.b.index(2));
    CHECK(error_of([&] { (void)k.b.value(ops::part_min, {wide, tall}); }) == words);
    const ValueId unknown = box(k, x, m, n);
    CHECK(error_of([&] { (void)k.b.value(ops::part_min, {unknown, wide}); }) == words);
    CHECK(error_of([&] { (void)k.b.value(ops::part_min, {unknown, box(k, x, m, k.b.index(2))}); }).empty());
  }
}
TEST_CASE("nothing to reduce gives poison") {
  TestFunction k;
  const ValueId x = k.tensor(f32, {2, 2}), n = k.scalar(index_type);
  const ValueId t = k.load(x, {k.b.index(0), k.b.index(0), k.b.index(2), n}, tile_type(f32, {2, 2}), true);
  k.store(k.b.value(ops::row_sum, {t}), k.tensor(f32, {2, 1}, Direction::out));
  HostTensor in = host(f32, {2, 2}, {1, 2, 3, 4}), out(f32, {2, 1});
  (void)simulate(k.f, {in, 1, out});
  CHECK(out.values() == V{1, 3});
  CHECK(error_of([&] { (void)simulate(k.f, {in, 0, out}); }).find("store: an uninitialised element") !=
        std::string::npos);
}
TEST_CASE("set_valid_shape narrows, and does not make elements known") {
  TestFunction k;
  const ValueId x = k.tensor(f32, {2, 2}), n = k.scalar(index_type);
  const ValueId t = k.load(x, {k.b.index(0), k.b.index(0), k.b.index(1), k.b.index(2)}, tile_type(f32, {2, 2}), true);
  k.line(15);
  const ValueId u = k.b.value(ops::set_valid_shape, {t, n, k.b.index(1)});
  k.store(u, k.tensor(f32, {2, 2}, Direction::out));
  HostTensor in = host(f32, {2, 2}, {1, 2, 3, 4}), out(f32, {2, 2});
  CHECK(simulate(k.f, {in, 1, out}).unwritten(2).count == 3);
  CHECK(error_of([&] {
    (void)simulate(k.f, {in, 2, out});
  }).find("store: an uninitialised element is used (operand 0, element [1, 0]") != std::string::npos);
  CHECK(error_of([&] { (void)simulate(k.f, {in, 3, out}); }) ==
        "kernel.cpp:15: error: set_valid_shape: a valid extent is larger than the window (axis 0: valid 3, window 2)\n "
        " hint: valid extents lie in [0, window]");
}

TEST_CASE("a padded product uses the valid rows, columns and inner extent") {
  TestFunction k;
  const ValueId x = k.tensor(f16, {2, 3}), w = k.tensor(f16, {3, 2});
  const auto zero = k.b.index(0), two = k.b.index(2), three = k.b.index(3);
  const ValueId a = k.load(x, {zero, zero, two, three}, tile_type(f16, {16, 16}, Mat), true);
  const ValueId b = k.load(w, {zero, zero, three, two}, tile_type(f16, {16, 16}, Mat), true);
  const ValueId c = k.b.value(ops::matmul, {k.b.value(ops::move, {a}, {}, tile_type(f16, {16, 16}, Left)),
                                            k.b.value(ops::move, {b}, {}, tile_type(f16, {16, 16}, Right))});
  k.store(c, k.tensor(f32, {2, 2}, Direction::out));
  HostTensor out(f32, {2, 2});
  CHECK(simulate(k.f, {host(f16, {2, 3}, {1, 2, 3, 4, 5, 6}), host(f16, {3, 2}, {1, -1, 2, 0, 0, 3}), out})
            .unwritten(2)
            .count == 0);
  CHECK(out.values() == V{5, 8, 14, 14});
}
TEST_CASE("a product of different inner extents is an error") {
  TestFunction k;
  const ValueId x = k.tensor(f16, {2, 2});
  const auto zero = k.b.index(0);
  const ValueId a = k.load(x, {zero, zero, k.b.index(2), k.b.index(1)}, tile_type(f16, {2, 2}, Mat), true);
  (void)k.b.value(ops::matmul, {a, k.load_whole(x, Mat)});
  CHECK(error_of([&] { (void)simulate(k.f, {HostTensor(f16, {2, 2})}); }) ==
        "kernel.cpp:10: error: matmul: the valid inner extents differ (1, 2)\n  hint: give both operands the same "
        "valid extent along k");
}

TEST_CASE("slices and assembles stay inside") {
  TestFunction k;
  const ValueId x = k.tensor(f32, {3, 4}), i = k.scalar(index_type), j = k.scalar(index_type);
  const ValueId t = k.load_whole(x);
  k.line(11);
  const ValueId s = k.b.value(ops::slice, {t, i, k.b.index(1)}, {}, tile_type(f32, {1, 2}));
  k.line(12);
  k.returns({k.b.value(ops::read, {k.b.value(ops::assemble, {t, s, j, k.b.index(0)}), j, k.b.index(1)})});
  CHECK(simulate(k.f, {matrix, 1, 2}).results[0].get(0) == 7);
  CHECK(error_of([&] { (void)simulate(k.f, {matrix, 3, 0}); })
            .find("kernel.cpp:11: error: slice: the window reaches past the end of the tensor (axis 0: offset 3 + "
                  "extent 1 > dim 3)") == 0);
  CHECK(error_of([&] { (void)simulate(k.f, {matrix, 0, 3}); })
            .find("kernel.cpp:12: error: assemble: the window reaches past the end of the tensor (axis 0: offset 3 + "
                  "extent 1 > dim 3)") == 0);
}
TEST_CASE("a slice of a partial tile is valid as far as the tile") {
  TestFunction k;
  const ValueId x = k.tensor(f32, {3, 4}), n = k.scalar(index_type);
  const ValueId t = k.load(x, {k.b.index(0), k.b.index(0), n, k.b.index(4)}, tile_type(f32, {3, 4}), true);
  k.store(k.b.value(ops::slice, {t, k.b.index(1), k.b.index(0)}, {}, tile_type(f32, {2, 4})),
          k.tensor(f32, {2, 4}, Direction::out));
  HostTensor out(f32, {2, 4});
  CHECK(simulate(k.f, {matrix, 2, out}).unwritten(2).count == 4);
  CHECK(out.values() == V{5, 6, 7, 8, 0, 0, 0, 0});
  CHECK(simulate(k.f, {matrix, 1, out}).unwritten(2).count == 8);
  CHECK(simulate(k.f, {matrix, 0, out}).unwritten(2).count == 8);
}
TEST_CASE("reads and writes of elements stay inside") {
  TestFunction k;
  const ValueId x = k.tensor(i32, {3}), i = k.scalar(i32), o = k.tensor(i32, {3}, Direction::out);
  k.line(21);
  const ValueId n = k.b.value(ops::read, {x, i});
  k.line(22);
  k.b.emit(ops::write, {o, k.b.value(ops::scalar_add, {n, n}), n});
  HostTensor in = host(i32, {3}, {2, 3, -1}), out(i32, {3});
  const SimulationResult r = simulate(k.f, {in, 0, out});
  CHECK(out.values() == V{0, 0, 4});
  CHECK(r.unwritten(2).count == 2);
  CHECK(r.statistics.gm_bytes_read == 4);
  CHECK(r.statistics.gm_bytes_written == 4);
  const std::string hint = "\n  hint: indices lie in [0, dim)";
  CHECK(error_of([&] { (void)simulate(k.f, {in, 1, out}); }) ==
        "kernel.cpp:22: error: write: an index is out of bounds (axis 0: index 3, dim 3)" + hint);
  CHECK(error_of([&] { (void)simulate(k.f, {in, 2, out}); }) ==
        "kernel.cpp:22: error: write: an index is out of bounds (axis 0: index -1, dim 3)" + hint);
  CHECK(error_of([&] { (void)simulate(k.f, {in, 3, out}); }) ==
        "kernel.cpp:21: error: read: an index is out of bounds (axis 0: index 3, dim 3)" + hint);
}
TEST_CASE("gathers stay inside") {
  TestFunction k;
  const ValueId x = k.tensor(f32, {3, 4}), i = k.tensor(i32, {3, 1});
  k.returns({k.b.value(ops::gather, {x, i})});
  CHECK(simulate(k.f, {matrix, host(i32, {3, 1}, {3, 0, 1})}).results[0].values() == V{4, 5, 10});
  CHECK(error_of([&] { (void)simulate(k.f, {matrix, host(i32, {3, 1}, {3, 4, 1})}); }) ==
        "kernel.cpp:10: error: gather: an index is out of bounds (element [1, 0]: index 4, dim 4)\n  hint: indices lie "
        "in [0, dim)");
}

TEST_CASE("flattened tiles cover a box of the tensor") {
  TestFunction k;
  const Type whole = tensor_type(f32, {2, dyn<"S">, 2});
  const ValueId x = k.parameter(whole), o = k.parameter(whole, Direction::out), s = k.scalar(index_type),
                n = k.scalar(index_type);
  const Attr window = k.f.list_attr(AttrKey::window, {1, 2, 2});
  const auto zero = k.b.index(0), one = k.b.index(1), two = k.b.index(2);
  const ValueId t = k.b.value(ops::load, {x, one, s, zero, one, n, two}, {window, attribute(AttrKey::has_valid, 1)},
                              tile_type(f32, {2, 2}));
  k.f.set_valid(t, {Extent{0, n}, Extent{2, {}}});
  k.line(30);
  k.b.emit(ops::store, {k.b.value(ops::neg, {t}), o, zero, s, zero}, {window});
  const HostTensor in = host(f32, {2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  HostTensor out(f32, {2, 3, 2});
  CHECK(simulate(k.f, {in, out, 1, 2}).unwritten(1).count == 8);
  CHECK(out.values() == V{0, 0, -9, -10, -11, -12, 0, 0, 0, 0, 0, 0});
  HostTensor tail(f32, {2, 3, 2});
  CHECK(simulate(k.f, {in, tail, 2, 1}).unwritten(1).count == 10);
  CHECK(tail.values() == V{0, 0, 0, 0, -11, -12, 0, 0, 0, 0, 0, 0});
  CHECK(simulate(k.f, {in, tail, 7, 0}).unwritten(1).count == 12);
  CHECK(error_of([&] {
    (void)simulate(k.f, {in, tail, 2, 2});
  }).find("load: the window reaches past the end of the tensor (axis 1: offset 2 + extent 2 > dim 3)") !=
        std::string::npos);
}
TEST_CASE("flattened stores are checked and cover several leading dims") {
  TestFunction k;
  const ValueId o = k.tensor(i32, {2, 3, 2}, Direction::out), i = k.scalar(index_type);
  const ValueId t = k.b.value(
      ops::reshape, {k.b.value(ops::arange, {k.f.constant(i32, std::int64_t{0})}, {}, tile_type(i32, {1, 8}))}, {},
      tile_type(i32, {4, 2}));
  k.b.emit(ops::store, {t, o, k.b.index(0), i, k.b.index(0)}, {k.f.list_attr(AttrKey::window, {2, 2, 2})});
  HostTensor out(i32, {2, 3, 2});
  CHECK(simulate(k.f, {out, 1}).unwritten(0).count == 4);
  CHECK(out.values() == V{0, 0, 0, 1, 2, 3, 0, 0, 4, 5, 6, 7});
  CHECK(error_of([&] {
    (void)simulate(k.f, {out, 2});
  }).find("store: the window reaches past the end of the tensor (axis 1: offset 2 + extent 2 > dim 3)") !=
        std::string::npos);
}
TEST_CASE("a tile of lower rank is stored into the last dims") {
  TestFunction k;
  const ValueId o = k.tensor(f32, {2, 2, 2}, Direction::out);
  const ValueId t = k.b.value(ops::full, {k.f.constant(f32, 7.0)}, {}, tile_type(f32, {1, 2}));
  k.store(t, o, {k.b.index(1), k.b.index(1), k.b.index(0)});
  HostTensor out(f32, {2, 2, 2});
  (void)simulate(k.f, {out});
  CHECK(out.values() == V{0, 0, 0, 0, 0, 0, 7, 7});
}
TEST_CASE("stores from Acc narrow, atomic stores add") {
  TestFunction k;
  const ValueId o = k.tensor(f16, {1, 2}, Direction::inout);
  const ValueId one = k.b.value(ops::full, {k.f.constant(f16, 1.0)}, {}, tile_type(f16, {1, 1}));
  const ValueId two = k.b.value(ops::full, {k.f.constant(f16, 2049.0)}, {}, tile_type(f16, {1, 2}));
  const ValueId c = k.b.value(ops::matmul, {one, two});
  const ValueId acc =
      k.b.value(ops::matmul_acc, {c, one, k.b.value(ops::full, {k.f.constant(f16, 1.0)}, {}, tile_type(f16, {1, 2}))});
  k.b.emit(ops::store, {acc, o, k.b.index(0), k.b.index(0)}, {attribute(AttrKey::atomic_add, 1)});
  HostTensor out = host(f16, {1, 2}, {0, 1});
  (void)simulate(k.f, {out});
  CHECK(out.values() == V{2048, 2048});  // 2049 in f32, narrowed, then added
}
