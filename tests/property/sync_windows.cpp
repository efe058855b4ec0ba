// Random kernels that read and write windows of one tensor in nested loops, branches and while loops: whatever may meet is ordered.
#include <random>

#include <tessera/ir/sync_check.hpp>
#include <tessera/ir/walk.hpp>
#include <tessera/passes/pipeline.hpp>

#include "support/catch.hpp"
#include "support/ir.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

class RandomWindows {
 public:
  explicit RandomWindows(std::uint32_t seed) : random_(seed) {
    n_ = k.scalar("n", index_type);
    x_ = k.tensor("x", f32, {1024, 16}, Direction::inout);
    block(1 + below(3));
    k.returns();
  }
  Recording k;

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  // Some of the counters in scope, times a few rows, and a constant.
  ValueId row() {
    ValueId sum = k.index(4 * below(3));
    for (const ValueId c : counters_)
      if (below(3) > 0) sum = k.op(ops::scalar_add, {k.op(ops::scalar_mul, {c, k.index(below(4) == 0 ? 2 : 4 << below(3))}), sum});
    return below(4) == 0 ? k.op(ops::scalar_add, {sum, n_}) : sum;
  }
  void block(int depth) {
    for (int statements = 1 + below(3); statements > 0; --statements) statement(depth);
  }
  void statement(int depth) {
    const int kind = depth > 0 ? below(8) : 0;
    if (kind >= 5) return loop(depth);
    if (kind == 4) return while_below(depth);
    if (kind == 3) return branch(depth);
    const ValueId tile = tiles_.empty() || below(2) == 0 ? k.load(x_, {4, 16}, {row(), k.index(0)}) : tiles_[static_cast<std::size_t>(below(static_cast<int>(tiles_.size())))];
    tiles_.push_back(tile);
    if (below(4) > 0) k.store(k.op(ops::muls, {tile, k.constant(f32, 2.0)}), x_, {row(), k.index(0)});
  }
  template <class F>
  void inside(F&& f) {
    const std::size_t tiles = tiles_.size(), counters = counters_.size();
    f();
    tiles_.resize(tiles);
    counters_.resize(counters);
  }
  void loop(int depth) {
    const auto body = [&](ValueId counter, const auto&) {
      inside([&] { counters_.push_back(counter), block(depth - 1); });
      return std::vector<ValueId>{};
    };
    const ValueId stop = below(3) == 0 ? n_ : k.index(1 + below(3));
    if (below(4) > 0) return static_cast<void>(k.loop(stop, {}, body));
    // Every block takes every block_count()-th turn, or group of turns.
    const ValueId group = k.index(1 + below(2));
    const ValueId start = k.op(ops::scalar_mul, {k.op(ops::block_index, {}), group}), step = k.op(ops::scalar_mul, {k.op(ops::block_count, {}), group});
    static_cast<void>(k.loop(start, stop, step, {}, body));
  }
  void while_below(int depth) {
    const auto condition = [&](const std::vector<ValueId>& carried) {
      inside([&] {
        if (below(2) == 0) statement(0);
      });
      return std::vector<ValueId>{k.op(ops::scalar_compare, {carried[0], k.index(2)}, {int_attr(AttrKey::compare, static_cast<int>(Compare::lt))}), carried[0]};
    };
    const auto body = [&](const std::vector<ValueId>& carried) {
      inside([&] { counters_.push_back(carried[0]), block(depth - 1); });
      return std::vector<ValueId>{k.op(ops::scalar_add, {carried[0], k.index(1)})};
    };
    static_cast<void>(k.loop_while({k.index(0)}, condition, body));
  }
  void branch(int depth) {
    const ValueId by = counters_.empty() || below(2) == 0 ? n_ : counters_.back();
    const ValueId c = k.op(ops::scalar_compare, {by, k.index(below(3))}, {int_attr(AttrKey::compare, static_cast<int>(Compare::gt))});
    const auto way = [&] { return inside([&] { block(depth - 1); }), std::vector<ValueId>{}; };
    const auto nothing = [] { return std::vector<ValueId>{}; };
    if (below(2) == 0) static_cast<void>(k.branch(c, {}, way, way));
    else static_cast<void>(k.branch(c, {}, way, nothing));
  }

  std::mt19937 random_;
  ValueId n_, x_;
  std::vector<ValueId> counters_, tiles_;
};

void expect_order(std::uint32_t seed, int& flags) {
  RandomWindows p(seed);
  for (const Arch arch : {Arch::a3, Arch::a5})
    for (const bool pipelining : {false, true}) {
      const Function f = run_passes(p.k.f(), full_pipeline(), {arch, pipelining});
      const auto fault = sync_fault(f);
      INFO("seed " << seed << (pipelining ? ", pipelined, " : ", ") << name(arch) << "\n" << print(f));
      REQUIRE((fault ? fault->what : "") == "");
      for (const OpId op : all_operations(f)) flags += f.is(op, ops::set_flag);
    }
}

}  // namespace

TEST_CASE("windows that may meet are ordered, on every path") {
  int flags = 0;
  for (std::uint32_t seed = 1; seed <= (TESSERA_LONG_TESTS ? 5000 : 300); ++seed) expect_order(seed, flags);
  CHECK(flags > 1000);
}

TEST_CASE("flags that are lowered at one place tell nothing of each other, and are told apart by their numbers") {
  int flags = 0;
  for (const std::uint32_t seed : {421u, 428u, 470u, 549u, 758u, 840u, 1161u, 1442u, 1901u, 2946u}) expect_order(seed, flags);
  CHECK(flags > 100);
}
