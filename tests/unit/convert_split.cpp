// Split regions: halves of products come in, whole matrices go out; what stands on which side of the border.
#include <tessera/compile.hpp>
#include <tessera/ir/printer.hpp>
#include <tessera/passes/convert_tensor_to_tile_ops.hpp>
#include <tessera/passes/pass.hpp>
#include <tessera/simulate.hpp>

#include "support/catch.hpp"

using namespace tessera;

namespace {

template <class K>
std::string converted(const K& k) {
  const Pass* const passes[] = {&convert_tensor_to_tile_ops};
  PassOptions options;
  options.verify = true;
  return "\n" + print(run_passes(k.trace(), {passes, 1}, {Arch::a5}, options));
}
template <class F>
std::string refusal(F f) {
  static int count = 0;
  const auto k = Kernel<F>("refused" + std::to_string(count++), std::move(f), nullptr, std::source_location::current());
  try {
    return "no error:\n" + converted(k);
  } catch (const UserError& e) {
    const Diagnostic d = e.diagnostic();
    return d.message + " | " + d.hint;
  }
}

using X = Tensor<Shape<32, 64>, f32>;
using Product = Tensor<Shape<32, 32>, f32>;

template <Split S>
auto attention() {
  return kernel(S == Split::up_down ? "attention_rows" : "attention_columns", params("q", "k", "v"), [](X q, X k, X v) {
    auto scores = matmul(q, transpose(k));
    Var weights = create<Shape<32, 32>, f32>();
    for (auto lane : split_aiv<S>()) {
      auto half = aiv_shard(scores, lane);
      weights = aic_gather(weights, exp(half * 0.125f), lane);
    }
    return matmul(weights, v);
  });
}

}  // namespace

TEST_CASE("a product is shared by rows, and gathered for the next product") {
  CHECK(converted(attention<Split::up_down>()) == R"(
kernel @attention_rows(%q: in f32[32,64], %k: in f32[32,64], %v: in f32[32,64], %out: out f32[32,64]) {
  %q_mat = tile.load(%q, 0, 0) : tile<f32[32,64]@Mat>
  %k_mat = tile.load(%k, 0, 0) : tile<f32[32,64]@Mat>
  %0 = tile.transpose_view(%k_mat) : tile<f32[64,32]@Mat, zn>
  %1 = tile.matmul(%q_mat, %0) : tile<f32[32,32]@Acc>
  %2 = tile.create() : tile<f32[32,32]@Mat>
  %3 = for %4 = 0 to 2 step 1 carry(%5 = %2) {split = up_down} : tile<f32[32,32]@Mat> {
    %6 = tile.aiv_shard(%1, %4) {split = up_down} : tile<f32[16,32]@Vec>
    %7 = tile.muls(%6, 0.125:f32) : tile<f32[16,32]@Vec>
    %8 = tile.exp(%7) : tile<f32[16,32]@Vec>
    %9 = tile.aic_gather(%5, %8, %4) {split = up_down} : tile<f32[32,32]@Mat>
    yield %9
  }
  %v_mat = tile.load(%v, 0, 0) : tile<f32[32,64]@Mat>
  %10 = tile.matmul(%3, %v_mat) : tile<f32[32,64]@Acc>
  tile.store(%10, %out, 0, 0)
  return
}
)");
}
TEST_CASE("a product is shared by columns") {
  const std::string text = converted(attention<Split::left_right>());
  CHECK(text.find("= tile.aiv_shard(%1, %4) {split = left_right} : tile<f32[32,16]@Vec>") != std::string::npos);
  CHECK(text.find("= tile.aic_gather(%5, %8, %4) {split = left_right} : tile<f32[32,32]@Mat>") != std::string::npos);
}
TEST_CASE("both ways to share keep the meaning at every level") {
  const auto q = random<X>(1), k = random<X>(2), v = random<X>(3);
  const auto by_rows = attention<Split::up_down>();
  const auto by_columns = attention<Split::left_right>();
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    simulate_every_level(by_rows.trace(), {Argument(q), Argument(k), Argument(v)}, {.arch = arch});
    simulate_every_level(by_columns.trace(), {Argument(q), Argument(k), Argument(v)}, {.arch = arch});
    CHECK(max_abs_diff(simulate(by_rows, q, k, v), simulate(by_columns, q, k, v)) == 0);
  }
}
TEST_CASE("each lane stores its half") {
  const auto rows = kernel("halves", [](X a, X b, Out<Product> out) {
    auto product = matmul(a, transpose(b));
    for (auto lane : split_aiv<Split::up_down>()) {
      auto half = aiv_shard(product, lane);
      store(half - row_max(half), out, at(lane * 16, 0));
    }
  });
  const auto plain = kernel("whole", [](X a, X b) {
    auto product = matmul(a, transpose(b));
    return product - row_max(product);
  });
  const auto a = random<X>(1), b = random<X>(2);
  auto out = zeros<Product>();
  simulate(rows, a, b, out);
  CHECK(max_abs_diff(out, simulate(plain, a, b)) == 0);
}
TEST_CASE("a lane has what is valid of its half") {
  const auto k = kernel("tail", [](X a, X b, Index n, Out<Product> out) {
    auto product = matmul(set_valid_shape(a, valid(n, 64)), transpose(b));
    for (auto lane : split_aiv<Split::up_down>()) store(relu(aiv_shard(product, lane)), out, at(lane * 16, 0));
  });
  const auto a = random<X>(1), b = random<X>(2);
  for (const std::int64_t n : {0, 5, 16, 20, 32}) {
    auto out = filled<Product>(-1);
    simulate(k, a, b, n, out);
    for (std::int64_t i = 0; i < 32; ++i) CHECK((out(i, 0) >= 0) == (i < n));
  }
}

TEST_CASE("what stands on the wrong side of the border is refused") {
  CHECK(refusal([](X a, X b, Out<Product> out) {
          auto product = matmul(a, transpose(b));
          for (auto lane : split_aiv<Split::up_down>()) store(aiv_shard(product, lane), out, at(lane * 16, 0));
          out = exp(product);
        }) == "exp: vector work stands outside of the split region | a kernel with a split region does its vector work in it: move this line into the region");
  CHECK(refusal([](X a, X b, Out<Product> out) {
          for (auto lane : split_aiv<Split::up_down>()) store(aiv_shard(matmul(a, transpose(b)), lane), out, at(lane * 16, 0));
        }) == "matmul: cube work stands inside a split region | compute the product in front of the region, and take the half of each lane by aiv_shard");
  CHECK(refusal([](Product a, Out<Product> out) {
          for (auto lane : split_aiv<Split::up_down>()) store(aiv_shard(a, lane), out, at(lane * 16, 0));
        }) == "aiv_shard: the operand does not stand in Acc (Vec) | shard what a product makes, outside of the region");
}
TEST_CASE("lanes share nothing but what is gathered") {
  CHECK(refusal([](X a, X b) {
          auto product = matmul(a, transpose(b));
          Var sum = create<Shape<16, 32>, f32>();
          for (auto lane : split_aiv<Split::up_down>()) sum = aiv_shard(product, lane);
          return sum;
        }) == "for: a variable is carried from one lane to the other | the lanes run side by side: only what aic_gather collects leaves the region; store the rest at the lane's offset");
  CHECK(refusal([](X a, X b, Out<Product> out) {
          auto product = matmul(a, transpose(b));
          for (auto outer : split_aiv<Split::up_down>())
            for (auto lane : split_aiv<Split::up_down>()) store(aiv_shard(product, outer), out, at(lane * 16, 0));
        }) == "for: a split region stands inside another one | close the outer region first");
  CHECK(refusal([](X a, X b, Out<Product> out) {
          auto product = matmul(a, transpose(b));
          Lane<Split::up_down> kept = *split_aiv<Split::up_down>().begin();
          store(aiv_shard(product, kept), out, at(0, 0));
        }).find("the loop is left by break") != std::string::npos);
}
TEST_CASE("what stands where it must not is told before what is carried") {
  const char* const nested = "for: a split region stands inside another one | close the outer region first";
  CHECK(refusal([](X a, X b) {
          auto product = matmul(a, transpose(b));
          Var sum = create<Shape<32, 32>, f32>();
          for (auto outer : split_aiv<Split::up_down>()) {
            (void)outer;
            for (auto lane : split_aiv<Split::up_down>()) sum = aic_gather(sum, exp(aiv_shard(product, lane)), lane);
          }
          return matmul(sum, b);
        }) == nested);
  CHECK(refusal([](X a, X b, Index n) {
          auto product = matmul(a, transpose(b));
          Var sum = create<Shape<32, 32>, f32>();
          for (auto outer : split_aiv<Split::up_down>()) {
            (void)outer;
            if_(n == 0, [&] {
              for (auto lane : split_aiv<Split::up_down>()) sum = aic_gather(sum, exp(aiv_shard(product, lane)), lane);
            });
          }
          return matmul(sum, b);
        }) == nested);
  CHECK(refusal([](X a, X b, Index n) {
          auto product = matmul(a, transpose(b));
          Var sum = create<Shape<32, 32>, f32>();
          for (auto lane : split_aiv<Split::up_down>()) {
            auto half = exp(aiv_shard(product, lane));
            if_(n == 0, [&] { sum = aic_gather(sum, half, lane); });
          }
          return matmul(sum, b);
        }) == "aic_gather: it stands in a branch or loop of the split region | gather once, in the body of the region itself: the branch or loop may choose what is gathered");
}
TEST_CASE("no text is made of a split region") {
  try {
    static_cast<void>(emit_pto(attention<Split::up_down>(), {.arch = Arch::a5}));
    FAIL("emitted");
  } catch (const UserError& e) {
    CHECK(e.diagnostic().message == "for: a split region has no text: its two cores need a function each");
    CHECK(e.diagnostic().hint == "write one kernel for the cube core and one for the vector cores, with a tensor between them");
  }
}
