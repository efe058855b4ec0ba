// Random tile kernels with loops, branches, in-place writes, views and columns: every stage of lowering computes the same.
#include "support/lowering.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

class RandomKernel {
 public:
  explicit RandomKernel(std::uint32_t seed) : state_(seed * 2654435761u + 1u) {
    x_ = k.tensor("x", f32, {8, 8});
    o_ = k.tensor("o", f32, {8, 8}, Direction::out);
    n_ = k.scalar("n", index_type);
    std::vector<ValueId> tiles;
    for (int i = 0; i < 3; ++i)
      tiles.push_back(i == 2 ? k.op(ops::neg, {tiles[0]}) : k.load(x_, {8, 8}, {k.index(0), k.index(0)}));
    statements(tiles, 3, n_);
    ValueId sum = tiles[0];
    for (std::size_t i = 1; i < tiles.size(); ++i) sum = k.op(ops::add, {clipped(sum), clipped(tiles[i])});
    k.store(sum, o_, {k.index(0), k.index(0)});
    k.returns();
  }
  Recording k;

 private:
  std::uint32_t below(std::uint32_t n) {
    state_ = state_ * 1664525u + 1013904223u;
    return (state_ >> 16) % n;
  }
  ValueId any(const std::vector<ValueId>& tiles) { return tiles[below(static_cast<std::uint32_t>(tiles.size()))]; }
  // Values stay small whole numbers, exact in any order.
  ValueId clipped(ValueId v) {
    return k.op(ops::maximums, {k.op(ops::minimums, {v, k.constant(f32, 50.0)}), k.constant(f32, -50.0)});
  }
  std::vector<ValueId> pick(const std::vector<ValueId>& tiles, std::uint32_t n) {
    std::vector<ValueId> list;
    for (std::uint32_t i = 0; i < n; ++i) list.push_back(any(tiles));
    return list;
  }

  ValueId simple(const std::vector<ValueId>& tiles) {
    const ValueId a = any(tiles), b = any(tiles), zero = k.index(0);
    switch (below(8)) {
      case 0:
        return clipped(k.op(ops::add, {a, b}));
      case 1:
        return k.op(ops::neg, {a});
      case 2:
        return k.op(ops::write, {a, k.constant(f32, 7.0), k.index(below(8)), k.index(below(8))});
      case 3:
        return k.op(ops::transpose, {a, k.create(f32, {8, 8}, Vec)});
      case 4:
        return k.op(ops::assemble, {a, k.slice(b, {4, 8}, {k.index(4), zero}), zero, zero});
      case 5:
        return k.op(
            ops::row_expand_sub,
            {k.op(ops::minimums, {a, k.constant(f32, 9.0)}),
             k.op(ops::maximums, {k.op(ops::row_max, {b, k.create(f32, {8, 8}, Vec)}), k.constant(f32, -9.0)})});
      case 6:
        return k.op(ops::move, {a}, {}, k.f().type(a));
      default:
        return k.op(ops::maximum, {k.reshape(k.reshape(a, {1, 64}), {8, 8}), b});
    }
  }
  void statements(std::vector<ValueId>& tiles, int depth, ValueId counter) {
    const std::uint32_t count = 1 + below(4);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t what = depth > 0 ? below(5) : 0;
      if (what == 3) loop(tiles, depth);
      else if (what == 4) branch(tiles, depth, counter);
      else tiles.push_back(simple(tiles));
    }
  }
  void loop(std::vector<ValueId>& tiles, int depth) {
    const std::uint32_t carried = 1 + below(3);
    const auto results = k.loop(below(2) != 0 ? n_ : k.index(2), pick(tiles, carried), [&](ValueId i, const auto& c) {
      std::vector<ValueId> inner = tiles;
      for (int twice = 0; twice < 2; ++twice) inner.insert(inner.end(), c.begin(), c.end());
      statements(inner, depth - 1, i);
      return last(inner, carried);
    });
    tiles.insert(tiles.end(), results.begin(), results.end());
  }
  void branch(std::vector<ValueId>& tiles, int depth, ValueId counter) {
    const std::uint32_t count = 1 + below(2);
    const ValueId c = k.op(ops::scalar_compare, {counter, k.index(1)}, {int_attr(AttrKey::compare, 0)});
    const auto block = [&] {
      std::vector<ValueId> inner = tiles;
      statements(inner, depth - 1, counter);
      return last(inner, count);
    };
    const auto results = k.branch(c, std::vector<Type>(count, shaped_type(f32, {8, 8}, Vec)), block, block);
    tiles.insert(tiles.end(), results.begin(), results.end());
  }
  // Mostly what was made last, so that much is carried on.
  std::vector<ValueId> last(const std::vector<ValueId>& tiles, std::uint32_t n) {
    std::vector<ValueId> list;
    for (std::uint32_t i = 0; i < n; ++i)
      list.push_back(below(3) == 0 ? any(tiles) : tiles[tiles.size() - 1 - below(3)]);
    return list;
  }

  ValueId x_, o_, n_;
  std::uint32_t state_;
};

}  // namespace

TEST_CASE("random kernels: every stage computes the same") {
  const std::uint32_t count = TESSERA_LONG_TESTS ? 3000 : 150;
  for (std::uint32_t seed = 1; seed <= count; ++seed) {
    INFO("seed " << seed);
    RandomKernel r(seed);
    INFO(print(r.k.f()));
    for (const std::int64_t n : {0, 1, 3}) static_cast<void>(lower_tiles(r.k.f(), Arch::a3, 8, n));
  }
}
