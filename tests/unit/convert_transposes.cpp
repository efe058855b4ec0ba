// A named transpose that only products read moves no data; one that is read otherwise stays a value.
#include <tessera/ir/walk.hpp>
#include <tessera/simulate.hpp>

#include "support/catch.hpp"

namespace {

using namespace tessera;

const auto shared = kernel("transposes_shared", [](Tensor<Shape<16, 64>, f16> x, Tensor<Shape<48, 64>, f16> v,
                                                       Tensor<Shape<32, 64>, f16> w) {
  auto t = transpose(w);
  return results(matmul(x, t), matmul(v, t));
});
const auto twice = kernel("transposes_twice", [](Tensor<Shape<16, 64>, f16> x, Tensor<Shape<64, 32>, f16> w) {
  auto t = transpose(w);
  return matmul(x, transpose(t));
});
const auto read_otherwise = kernel("transposes_read", [](Tensor<Shape<32, 32>, f32> w) {
  auto t = transpose(w);
  return t + 1.0f;
});

int count(const Function& f, const OpInfo& info) {
  int n = 0;
  for (const OpId op : all_operations(f)) n += f.is(op, info) ? 1 : 0;
  return n;
}

}  // namespace

TEST_CASE("products absorb a named transpose") {
  const Function tiles = lower(shared.trace());
  CHECK(count(tiles, ops::transpose) == 0);
  CHECK(count(tiles, ops::matmul) == 2);
  auto x = random<Tensor<Shape<16, 64>, f16>>(1);
  auto v = random<Tensor<Shape<48, 64>, f16>>(3);
  auto w = random<Tensor<Shape<32, 64>, f16>>(2);
  auto [y, z] = simulate(shared, x, v, w);
  double of_x = 0, of_v = 0;
  for (int k = 0; k < 64; ++k) {
    of_x += double(x(3, k)) * double(w(5, k));
    of_v += double(v(40, k)) * double(w(31, k));
  }
  CHECK(std::abs(double(y(3, 5)) - of_x) < 1e-3);
  CHECK(std::abs(double(z(40, 31)) - of_v) < 1e-3);
}

TEST_CASE("two transposes cancel") {
  CHECK(count(lower(twice.trace()), ops::transpose) == 0);
  auto x = random<Tensor<Shape<16, 64>, f16>>(1);
  auto w = random<Tensor<Shape<64, 32>, f16>>(2);
  auto y = simulate(twice, x, w);
  double sum = 0;
  for (int k = 0; k < 64; ++k) sum += double(x(2, k)) * double(w(k, 9));
  CHECK(std::abs(double(y(2, 9)) - sum) < 1e-3);
}

TEST_CASE("a transpose that is read otherwise stays") {
  CHECK(count(lower(read_otherwise.trace()), ops::transpose) == 1);
}
