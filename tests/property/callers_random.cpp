// Random orchestrations: calls of kernels, wrappers and other orchestrations in nested loops and branches. Every level of the
// program gives the same numbers, with undefined elements in what is created; what fails as recorded fails lowered, too.
#include <tessera/simulate.hpp>

#include <cstdlib>
#include <iostream>

#include "support/programs.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

using X = Tensor<Shape<8, 32>, f32>;

inline const auto twice = kernel("twice", params("x"), [](X x) { return minimum(x + x, 8.0f); });
inline const auto mean = kernel("mean", params("x", "y"), [](X x, X y) { return (x + y) * 0.5f; });
inline const auto parts = kernel("parts", params("x"), [](X x) { return results(maximum(x, 0.0f), minimum(x, 0.0f)); });
inline const auto scaled = kernel("scaled", params("x", "s", "o"), [](X x, Scalar<f32> s, Out<X> o) { o = x * s; });
inline const auto add_to = kernel("add_to", params("x", "sum"), [](X x, InOut<X> sum) { sum = minimum(sum + x, 16.0f); });
/// Writes its block's share of the rows: all of them only where blocks divide them.
inline const auto rows = kernel("rows", params("x", "o"), [](X x, Out<X> o) {
  Index share = 8 / block_count();
  for (Index i : range(share)) store(load<Shape<1, 32>>(x, at(block_index() * share + i, 0)), o, at(block_index() * share + i, 0));
});
inline const auto twice_group = group("twice_group", params("x"), [](X x) { return twice(x); });
inline const auto mean_blocks = spmd("mean_blocks", 2, params("y", "x"), [](X y, X x) { return mean(x, y); });
inline const auto mean_nested = group("mean_nested", params("x", "y"), [](X x, X y) { return mean_blocks(x, y); });
inline const auto parts_group = group("parts_group", params("x"), [](X x) { return parts(x); });
inline const auto rows_of_4 = spmd("rows_of_4", 4, params("x", "o"), [](X x, Out<X> o) { rows(x, o); });
inline const auto rows_of_3 = spmd("rows_of_3", 3, params("x", "o"), [](X x, Out<X> o) { rows(x, o); });  // leaves two rows
inline const auto inner = orchestration("inner", params("x", "sum", "n"), [](X x, InOut<X> sum, Index n) {
  Var h = twice(x);
  for (Index i : range(n)) if_(i == 0, [&] { h = mean_nested(h, x); }, [&] { h = twice_group(h); });
  add_to(h, sum);
  return h;
});

class RandomCaller {
 public:
  RandomCaller(std::uint64_t seed, int statements) : state_(seed * 0x9E3779B97F4A7C15u + 1), left_(statements) {}

  auto operator()(X x, X y, X z, Index n, Out<X> o) {
    Scope scope{{x, y, z}, {}};
    scope.made.push_back(twice(x));
    statements(scope, n, 0);
    scaled(any(scope), 0.5f, o);
    const X first = made(scope), second = made(scope);
    return results(first, second);
  }

 private:
  /// Tensors by where they come from: a parameter can be passed on, but not returned.
  struct Scope {
    std::vector<X> given, made;
  };
  std::uint64_t pick(std::uint64_t below) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return (state_ >> 11) % below;
  }
  X made(const Scope& s) { return s.made[pick(s.made.size())]; }
  X any(const Scope& s) {
    const std::uint64_t i = pick(s.given.size() + s.made.size());
    return i < s.given.size() ? s.given[i] : s.made[i - s.given.size()];
  }
  void statements(Scope& scope, const Index& n, int depth) {
    for (int i = 0, count = 2 + static_cast<int>(pick(4)); i < count && left_ > 0; ++i, --left_) statement(scope, n, depth);
  }
  void statement(Scope& s, const Index& n, int depth) {
    switch (pick(depth < 3 ? 13 : 10)) {
      case 0: return s.made.push_back(twice(any(s)));
      case 1: return s.made.push_back(mean(any(s), any(s)));
      case 2: return s.made.push_back(twice_group(any(s)));
      case 3: return s.made.push_back(mean_nested(any(s), any(s)));
      case 4: {
        auto [a, b] = pick(2) == 0 ? parts(any(s)) : parts_group(any(s));
        s.made.push_back(a);
        return s.made.push_back(b);
      }
      case 5: {
        const X t = buffer();
        scaled(any(s), static_cast<float>(pick(3)) - 1.0f, t);
        return s.made.push_back(t);
      }
      case 6: {
        const X t = buffer();
        if (pick(12) == 0) rows_of_3(any(s), t);
        else rows_of_4(any(s), t);
        return s.made.push_back(t);
      }
      case 7: return add_to(any(s), pick(8) == 0 ? any(s) : made(s));
      case 8: return s.made.push_back(inner(any(s), made(s), n + static_cast<int>(pick(2))));
      case 9: return add_to(twice(any(s)), made(s));
      case 10: return loop(s, n, depth);
      case 11: return branch(s, n, depth);
      default: return loop_while(s, n, depth);
    }
  }
  static X buffer() { return create<Shape<8, 32>, f32>(); }
  void loop(Scope& s, const Index& n, int depth) {
    Var h = made(s);
    Var k = any(s);
    for (Index i : pick(2) == 0 ? range(n) : range(static_cast<int>(pick(3)))) {
      Scope body = s;
      body.made.push_back(h);
      body.given.push_back(k);
      statements(body, i, depth + 1);
      h = made(body);
      if (pick(2) == 0) k = any(body);
    }
    s.made.push_back(h);
    s.given.push_back(k);
  }
  void branch(Scope& s, const Index& n, int depth) {
    Var h = made(s);
    const auto side = [&] {
      Scope body = s;
      statements(body, n, depth + 1);
      if (pick(3) != 0) h = made(body);
    };
    if_(n == static_cast<int>(pick(2)), side, side);
    s.made.push_back(h);
  }
  void loop_while(Scope& s, const Index& n, int depth) {
    Var h = made(s);
    Var i = 0;
    while_([&] { return (i < 2) & (read(h, at(0, 3)) < 3.0f); }, [&] {
      Scope body = s;
      body.made.push_back(h);
      statements(body, n, depth + 1);
      h = made(body);
      i = i + 1;
    });
    s.made.push_back(h);
  }

  std::uint64_t state_;
  int left_;
};

enum class Fate { good, fails_alike, refused };

Fate run(std::uint64_t seed, int budget, Arch arch) {
  Program p;
  try {
    p = traced(FunctionKind::orchestration,
               [seed, budget](X x, X y, X z, Index n, Out<X> o) { return RandomCaller(seed, budget)(x, y, z, n, o); });
  } catch (const UserError& e) {
    if (e.diagnostic().hint.empty()) throw;
    return Fate::refused;
  }
  auto x = random<X>(seed), y = random<X>(seed + 1), z = random<X>(seed + 2), o = zeros<X>();
  const std::vector<Argument> arguments = {x, y, z, static_cast<std::int64_t>(seed % 3), o};
  SimulateOptions options;
  options.arch = arch;
  options.agreement = Agreement::exact;
  try {
    simulate_every_level(p, arguments, options);
    return Fate::good;
  } catch (const UserError&) {
    // As recorded; lowered it must fail, too.
    options.agreement = Agreement::off;
    const Program lowered = lower(p, {.arch = arch});
    try {
      static_cast<void>(simulate_lowered(p, lowered, arguments, options));
    } catch (const UserError&) { return Fate::fails_alike; }
    throw InternalError("the lowered program hides an error\n" + print(p));
  } catch (const InternalError& e) { throw InternalError(std::string(e.what()) + "\n" + print(p)); }
}

}  // namespace

TEST_CASE("random orchestrations keep their meaning") {
  const char* const only = std::getenv("TESSERA_SEED");
  const std::uint64_t first = only != nullptr ? std::strtoull(only, nullptr, 10) : 1;
  const std::uint64_t count = only != nullptr ? 1 : TESSERA_LONG_TESTS ? 20000 : 1000;
  int fates[3] = {};
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    INFO("TESSERA_SEED=" << seed);
    CHECK_NOTHROW(++fates[static_cast<int>(run(seed, 24, seed % 2 == 0 ? Arch::a3 : Arch::a5))]);
  }
  std::cout << fates[0] << " of " << count << " programs go through, " << fates[1] << " read what is undefined or write one tensor twice, " << fates[2]
            << " are refused\n";
  if (only == nullptr) CHECK(static_cast<std::uint64_t>(fates[0]) * 2 > count);
}
