// Packing alone: random blocks over time, against what no packing can do without; and the few where order matters.
#include <iostream>

#include <tessera/passes/memory/packing.hpp>

#include "support/catch.hpp"

using namespace tessera::detail;

namespace {

struct Random {
  std::uint32_t state;
  std::uint32_t below(std::uint32_t n) {
    state = state * 1664525u + 1013904223u;
    return (state >> 10) % n;
  }
};

// Blocks from `begin` for `length` moments; those with a common moment exclude each other.
PackingProblem problem(const std::vector<std::int64_t>& bytes, const std::vector<std::uint32_t>& begin, const std::vector<std::uint32_t>& length) {
  PackingProblem p{bytes, begin, length, {}, 0};
  for (std::uint32_t a = 0; a < bytes.size(); ++a) {
    std::int64_t sum = 0;
    for (std::uint32_t b = 0; b < bytes.size(); ++b) {
      const bool meet = begin[a] < begin[b] + length[b] && begin[b] < begin[a] + length[a];
      if (meet && a < b) p.pairs.push_back({a, b, false});
      if (begin[b] <= begin[a] && begin[a] < begin[b] + length[b]) sum += bytes[b];
    }
    p.least = std::max(p.least, sum);
  }
  return p;
}
void check_apart(const PackingProblem& p, const Packing& packing) {
  std::int64_t top = 0;
  for (std::uint32_t a = 0; a < p.size(); ++a) {
    top = std::max(top, packing[a] + p.bytes[a]);
    REQUIRE(packing[a] >= 0);
  }
  for (const auto& [a, b, may_coincide] : p.pairs) {
    const bool apart = packing[a] + p.bytes[a] <= packing[b] || packing[b] + p.bytes[b] <= packing[a];
    REQUIRE((apart || (may_coincide && packing[a] == packing[b])));
  }
  CHECK(top == packing.peak());
  CHECK(packing.peak() >= p.least);
}
PackingProblem random_problem(std::uint32_t seed, std::uint32_t blocks, std::uint32_t longest) {
  Random r{seed * 2654435761u + 7};
  std::vector<std::int64_t> bytes;
  std::vector<std::uint32_t> begin, length;
  for (std::uint32_t i = 0; i < blocks; ++i) {
    bytes.push_back(32 * (1 + (r.below(3) == 0 ? r.below(400) : 16 * r.below(8))));
    begin.push_back(r.below(2 * blocks));
    length.push_back(1 + r.below(longest));
  }
  return problem(bytes, begin, length);
}

}  // namespace

TEST_CASE("no blocks, one block") {
  CHECK(Packing(PackingProblem{}).peak() <= 0);
  const Packing one(problem({96}, {0}, {1}));
  CHECK(one.peak() == 96);
}

TEST_CASE("blocks that begin at the same byte may exclude each other otherwise") {
  PackingProblem p = problem({64, 64}, {0, 1}, {1, 1});
  p.pairs.push_back({0, 1, true});
  const Packing packing(p);
  check_apart(p, packing);
  CHECK(packing.peak() == 64);
  p.pairs.push_back({1, 0, false});
  CHECK(Packing(p).peak() == 128);
  // Beside a third one that keeps them from it.
  PackingProblem q = problem({64, 32, 32}, {0, 0, 1}, {1, 2, 1});
  q.pairs.push_back({0, 2, true});
  const Packing beside(q);
  check_apart(q, beside);
  CHECK(beside.peak() == 96);
}

TEST_CASE("few blocks are packed as well as it goes, whatever the order of size or time says") {
  // a and c keep their places for long; between them b and d come and go.
  const PackingProblem p = problem({1, 2, 1, 2, 1}, {0, 0, 1, 2, 3}, {2, 1, 3, 2, 1});
  const Packing packing(p);
  check_apart(p, packing);
  CHECK(packing.peak() == p.least);
}

TEST_CASE("blocks that have their places keep them, and the others stand around those") {
  PackingProblem p = problem({64, 32, 64, 32}, {0, 0, 0, 0}, {1, 1, 1, 1});
  p.fixed = {-1, 32, -1, -1};
  p.least = 192;
  const Packing packing(p);
  check_apart(p, packing);
  CHECK(packing[1] == 32);
  CHECK(packing[3] == 0);
  CHECK(packing.peak() == 192);
  // Above all others: the room below it is used.
  p.fixed = {-1, -1, 1024, -1};
  p.least = 1088;
  const Packing high(p);
  check_apart(p, high);
  CHECK(high[2] == 1024);
  CHECK(high.peak() == 1088);
  // Nothing is left to be placed.
  p.fixed = {0, 64, 96, 160};
  CHECK(Packing(p).peak() == 192);
}

TEST_CASE("random blocks stay near what is needed at least") {
  double worst = 1, sum = 0;
  int count = 0, exact = 0;
  for (std::uint32_t seed = 1; seed <= (TESSERA_LONG_TESTS ? 2000u : 150u); ++seed) {
    const std::uint32_t blocks = 2 + seed % 60, longest = 1 + (seed / 3) % 40;
    const PackingProblem p = random_problem(seed, blocks, longest);
    const Packing packing(p), again(p);
    check_apart(p, packing);
    for (std::uint32_t b = 0; b < p.size(); ++b) REQUIRE(packing[b] == again[b]);
    const double ratio = static_cast<double>(packing.peak()) / static_cast<double>(p.least);
    worst = std::max(worst, ratio);
    sum += ratio;
    ++count;
    exact += ratio == 1 ? 1 : 0;
  }
  std::cout << "packing: " << count << " problems, peak / least at most " << worst << ", mean " << sum / count << ", equal in " << exact << "\n";
  CHECK(worst < 1.05);
}
