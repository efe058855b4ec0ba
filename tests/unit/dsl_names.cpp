// The library's names next to those of the C++ and C libraries: `using namespace tessera;` in a namespace of the user's,
// with <cmath>, <algorithm> and friends, and with `using namespace std;` in the same place.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <ranges>
#include <string>
#include <strings.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/trace.hpp"

using X = tessera::Tensor<tessera::Shape<16, 64>, tessera::f32>;

namespace with_tessera {
using namespace tessera;  // NOLINT: as users write
inline const auto everything = kernel("names_tessera", [](X x, Scalar<f32> s, Index i, Out<X> o) {
  auto a = exp(x) + log(x) + sqrt(x) + abs(x);
  auto m = maximum(a, 0.0f) * max(s, 1.0f);
  auto n = min(i, 3);
  auto t = load<Shape<1, 64>, Mat>(x, at(n, 0));
  auto moved = std::move(m);
  write(o, at(max(n, i), 0), read(x, at(0, 0)));
  (void)t;
  const double plain = std::exp(1.0) + exp(1.0) + std::max(1.0, 2.0) + abs(-1);
  o = moved + plain;
});
}  // namespace with_tessera

namespace with_both {
using namespace std;      // NOLINT: as some users write
using namespace tessera;  // NOLINT
inline const auto everything = kernel("names_both", [](X x, Scalar<f32> s, Index i, Out<X> o) {
  auto a = exp(x) + log(x) + sqrt(x) + abs(x);
  auto m = maximum(a, 0.0f) * max(s, 1.0f);
  auto n = min(i, 3);
  auto k = min(i + 1, i + 2);
  auto l = max(i, i);
  auto moved = std::move(m);
  for (Index j : range(4)) write(o, at(max(n, j), min(k, l)), read(x, at(0, 0)));
  const double plain = exp(1.0) + max(1.0, 2.0) + abs(-1);
  auto c = select(i == n, s, 0);
  o = moved + plain * c;
});
inline const auto constants = kernel("names_const", [](const X x, const Index i, const Index j, Out<X> o) {
  const Index k = min(i, j);
  const auto e = exp(x);
  const auto f = e + 1;
  write(o, at(max(k, j), 0), 1);
  o = f;
});
string unrelated(const vector<int>& v) { return to_string(accumulate(v.begin(), v.end(), 0)) + to_string(min(v[0], v[1])); }
}  // namespace with_both

TEST_CASE("names do not clash") {
  CHECK(with_tessera::everything.trace().parameters.size() == 4);
  CHECK(with_both::everything.trace().parameters.size() == 4);
  CHECK(with_both::constants.trace().parameters.size() == 4);
  CHECK(with_both::unrelated({1, 2}) == "31");
}
