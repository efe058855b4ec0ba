// random: published answers of Philox 4x32, the order of elements on a5, what the passes make of it, and what is refused.
#include "support/convert.hpp"
#include "support/lowering.hpp"

#include <tessera/emit/pto_mlir.hpp>
#include <tessera/simulate.hpp>

using namespace tessera;

namespace random_numbers {

const SimulateOptions on_a5{.arch = Arch::a5};

template <std::int64_t M, std::int64_t N>
inline const auto bits = kernel("bits", params("key0", "key1", "c0", "c1", "c2", "c3"),
  [](Scalar<i32> k0, Scalar<i32> k1, Scalar<i32> c0, Scalar<i32> c1, Scalar<i32> c2, Scalar<i32> c3) {
    return random<Shape<M, N>, u32>(philox_key(k0, k1), philox_counter(c0, c1, c2, c3));
  });
inline const auto zeros_10 = kernel("zeros_10", [] { return random<Shape<1, 8>, u32>(philox_key(0, 0), philox_counter(0, 0, 0, 0)); });
inline const auto zeros_7 = kernel("zeros_7", [] { return random<Shape<1, 8>, i32>(philox_key(0, 0), philox_counter(0, 0, 0, 0), 7); });
inline const auto ones = kernel("ones", [] {
  return random<Shape<1, 8>, u32>(philox_key(-1, 0xFFFFFFFFu), philox_counter(-1, -1, 0xFFFFFFFFu, -1));
});
inline const auto digits_of_pi = kernel("digits_of_pi", [] {
  return random<Shape<1, 8>, u32>(philox_key(0xA4093822u, 0x299F31D0u), philox_counter(0x243F6A88u, 0x85A308D3u, 0x13198A2Eu, 0x03707344u));
});
inline const auto uniform = kernel("uniform", params("out"), [](Out<Tensor<Shape<32, 100>, f32>> out) {
  for (Index i : range(0, 32, 8)) {
    auto r = random<Shape<8, 100>, i32, Vec>(philox_key(3, 5), philox_counter(cast<i32>(i), 0, 0, 0));
    store(cast<f32>(r & 0xFFFF) * (1.0f / 65536.0f), out, at(i, 0));
  }
});
inline const auto in_three_rounds = kernel("in_three_rounds", [] { return random<Shape<1, 8>, u32>(philox_key(0, 0), philox_counter(0, 0, 0, 0), 3); });

template <class R>
std::vector<std::int64_t> first(const R& r, int count) {
  std::vector<std::int64_t> list;
  for (int i = 0; i < count; ++i) list.push_back(r.integer(i));
  return list;
}
using Words = std::vector<std::int64_t>;

}  // namespace random_numbers

using namespace random_numbers;

TEST_CASE("the answers published with the algorithm") {
  CHECK(first(simulate(zeros_10, on_a5), 4) == Words{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8});
  CHECK(first(simulate(ones, on_a5), 4) == Words{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD});
  CHECK(first(simulate(digits_of_pi, on_a5), 4) == Words{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1});
  CHECK(first(simulate(zeros_7, on_a5), 4) == Words{0x5F6FB709, 0x0D893F64, 0x4F121F81, 0x4F730A48});
}

TEST_CASE("a row has the blocks of 64 places at a time, in order") {
  // Row 0 of 512 columns: 128 blocks of four words from place 7 on; row 1 goes on behind them.
  const auto wide = simulate(bits<2, 512>, on_a5, 11, 12, 7, 0, 0, 0);
  for (const int place : {0, 1, 63, 64, 127}) {
    const auto one = simulate(bits<1, 4>, on_a5, 11, 12, 7 + place, 0, 0, 0);
    for (int w = 0; w < 4; ++w) CHECK(wide(0, 4 * place + w) == one(0, w));
    const auto below = simulate(bits<1, 4>, on_a5, 11, 12, 7 + 128 + place, 0, 0, 0);
    for (int w = 0; w < 4; ++w) CHECK(wide(1, 4 * place + w) == below(0, w));
  }
}

TEST_CASE("behind the end of a row the counter goes on by the elements in its last 64") {
  const auto check = [](const auto& rows, int step) {
    const auto next = simulate(bits<1, 4>, on_a5, 1, 2, step, 0, 0, 0);
    for (int w = 0; w < 4; ++w) CHECK(rows(1, w) == next(0, w));
  };
  check(simulate(bits<2, 256>, on_a5, 1, 2, 0, 0, 0, 0), 64);
  check(simulate(bits<2, 64>, on_a5, 1, 2, 0, 0, 0, 0), 64);
  check(simulate(bits<2, 8>, on_a5, 1, 2, 0, 0, 0, 0), 8);
  check(simulate(bits<2, 100>, on_a5, 1, 2, 0, 0, 0, 0), 36);
  check(simulate(bits<2, 130>, on_a5, 1, 2, 0, 0, 0, 0), 2);  // so that rows share numbers
  check(simulate(bits<2, 257>, on_a5, 1, 2, 0, 0, 0, 0), 65);
}

TEST_CASE("the counter carries through all words") {
  const auto r = simulate(bits<1, 8>, on_a5, 1, 2, -1, -1, -1, 4), next = simulate(bits<1, 8>, on_a5, 1, 2, 0, 0, 0, 5);
  for (int w = 0; w < 4; ++w) CHECK(r(0, 4 + w) == next(0, w));
}

TEST_CASE("numbers from 0 to 1, in tiles of a loop") {
  auto out = zeros<Tensor<Shape<32, 100>, f32>>();
  simulate(uniform, on_a5, out);
  double sum = 0;
  for (const double x : out.values()) {
    CHECK((x >= 0 && x < 1));
    sum += x;
  }
  CHECK(sum / 3200 == Approx(0.5).margin(0.02));
}

TEST_CASE("random keeps its name, its words and its rounds", "[convert]") {
  test::Recording k;
  std::vector<ValueId> words;
  for (const int w : {1, 2, 3, 4, 5, 6}) words.push_back(k.constant(i32, w));
  k.returns({k.op(ops::random, words, {int_attr(AttrKey::rounds, 7)}, test::shaped_type(u32, {4, 256}))});
  CHECK(test::converted(k, Arch::a5) == test::golden(R"(
kernel @k(%out: out u32[4,256]) {
  %0 = tile.random(1:i32, 2:i32, 3:i32, 4:i32, 5:i32, 6:i32) {rounds = 7} : tile<u32[4,256]@Vec>
  tile.store(%0, %out, 0, 0)
  return
}
)"));
}

TEST_CASE("one instruction of a5") {
  for (const Assembler version : {Assembler::v0_27, Assembler::v0_60}) {
    const CompileOptions options{.arch = Arch::a5, .assembler = version};
    CHECK(test::contains(emit_pto(zeros_10, options), " : i32, i32, i32, i32, i32, i32) outs("));
    CHECK_FALSE(test::contains(emit_pto(zeros_10, options), "rounds"));
    CHECK(test::contains(emit_pto(zeros_7, options), " {rounds = 7 : i32} : i32, i32, i32, i32, i32, i32) outs("));
  }
}

TEST_CASE("a3 has no random numbers, and rounds are 7 or 10") {
  const std::string refused = test::thrown<UserError>([] { static_cast<void>(emit_pto(zeros_10, {.arch = Arch::a3})); });
  CHECK(test::contains(refused, "random_numbers.cpp"));
  CHECK(test::contains(refused, "error: random: a3 does not have this operation"));
  CHECK(test::contains(refused, "hint: only a5 has the instruction"));
  const std::string rounds = test::thrown<UserError>([] { static_cast<void>(simulate(in_three_rounds, on_a5)); });
  CHECK(test::contains(rounds, "error: random: the count of rounds is neither 7 nor 10 (3)"));
}
