// Tile operations of the user's: what calls with tiles and with tensors record, and that they compute the same at every level.
#include "support/catch.hpp"
#include "support/ir.hpp"
#include "tessera/ir/printer.hpp"
#include "tessera/ir/properties.hpp"
#include "tessera/ir/verifier.hpp"
#include "tessera/ir/walk.hpp"
#include "tessera/passes/convert_tensor_to_tile_ops.hpp"
#include "tessera/passes/inline_tileops.hpp"
#include "tessera/passes/pass.hpp"
#include "tessera/passes/pipeline.hpp"
#include "tessera/simulate.hpp"

using namespace tessera;
using tessera::test::contains;
using tessera::test::golden;

namespace {

using T = Tile<Shape<16, 64>, f32, Vec>;
using X = Tensor<Shape<16, 64>, f32>;
using S = Tensor<Shape<dyn<"S">, 64>, f32>;

inline const auto softmax_rows = tileop("softmax_rows", params("x"), [](T x) {
  auto e = exp(x - row_max(x));
  return e / row_sum(e);
});
inline const auto add_to = tileop("add_to", params("y", "x"), [](InOut<T> y, T x) { y = y + x; });
inline const auto scale_into = tileop("scale_into", params("y", "x", "s"), [](Out<T> y, T x, Scalar<f32> s) { y = x * s; });
inline const auto lower_half = tileop("lower_half", params("x"), [](T x) { return slice<Shape<8, 64>>(x, at(8, 0)) + 1.0f; });
inline const auto moments = tileop("moments", params("x"), [](T x) { return results(row_sum(x), row_sum(x * x)); });
inline const auto repeated = tileop("repeated", params("x", "n"), [](T x, Index n) {
  Var s = x;
  for (Index i : range(n)) s = s + x * cast<f32>(i);
  if_(n > 2, [&] { s = s * 2.0f; });
  return s;
});
inline const auto nested = tileop("nested", params("y", "x"), [](Out<T> y, T x) { scale_into(y, softmax_rows(x), 4.0f); });
inline const auto rows_of = tileop("rows_of", params("x", "i", "out"), [](S x, Index i, Out<S> out) {
  auto t = load<Shape<16, 64>>(x, at(i, 0), clamped);
  store(t - row_max(t), out, at(i, 0));
});
inline const auto product = tileop("product", params("a", "b"), [](Tile<Shape<16, 64>, f16, Left> a, Tile<Shape<64, 32>, f16, Right> b) { return matmul(a, b); });
inline const auto product_on = tileop("product_on", params("c", "a", "b"), [](InOut<Tile<Shape<16, 32>, f32, Acc>> c, Tile<Shape<16, 64>, f16, Left> a, Tile<Shape<64, 32>, f16, Right> b) {
  c = matmul_acc(c, a, b);
});

template <class F>
Function traced(F f, const std::source_location& at = std::source_location::current()) {
  static int count = 0;
  return Kernel<F>("tileop_user" + std::to_string(count++), std::move(f), nullptr, at).trace();
}
template <class F>
std::string refusal(F f, const std::source_location& at = std::source_location::current()) {
  try {
    return "no error:\n" + print(traced(std::move(f), at));
  } catch (const UserError& e) { return e.diagnostic().text(true); }
}
/// The kernel alone, without the definitions in front of it.
std::string kernel_text(const Function& f) {
  const std::string text = print(f);
  return text.substr(text.find('(', text.find("kernel @")));
}
Function inlined(const Function& f) {
  const Pass* const passes[] = {&inline_tileops};
  PassOptions options;
  options.verify = true;
  return run_passes(f, {passes, 1}, {Arch::a3}, options);
}

/// Runs a kernel at every level on both targets; gives what it wrote and returned.
std::vector<HostTensor> run(const Function& f, std::int64_t dynamic = 40, std::int64_t scalar = 3) {
  std::vector<HostTensor> tensors;
  std::vector<Argument> arguments;
  tensors.reserve(f.parameters.size());
  for (const Parameter& p : f.parameters) {
    const Type& t = f.type(p.value);
    if (t.is_scalar()) {
      arguments.emplace_back(scalar);
      continue;
    }
    std::vector<std::int64_t> dims(t.dims, t.dims + t.rank);
    for (std::int64_t& d : dims) d = is_dynamic(d) ? dynamic : d;
    HostTensor& x = tensors.emplace_back(t.dtype, dims);
    for (std::int64_t i = 0; i < x.size(); ++i) x.set(i, static_cast<double>(i * 7 % 13) / 4 - 1);
    arguments.emplace_back(x);
  }
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    for (const TileopForm form : {TileopForm::inlined, TileopForm::called}) {
      SimulateOptions options;
      options.arch = arch;
      options.tileops = form;
      simulate_every_level(f, arguments, options);
    }
  }
  std::vector<HostTensor> out = simulate(f, arguments).results;
  for (std::size_t i = 0, k = 0; i < f.parameters.size(); ++i) {
    if (f.type(f.parameters[i].value).is_scalar()) continue;
    if (f.parameters[i].direction != Direction::in) out.push_back(tensors[k]);
    ++k;
  }
  return out;
}
/// What a tile operation gives is what its lambda gives where it is written out.
template <class A, class B>
void same(A called, B written, std::int64_t dynamic = 40, std::int64_t scalar = 3) {
  const std::vector<HostTensor> a = run(traced(called), dynamic, scalar), b = run(traced(written), dynamic, scalar);
  REQUIRE(a.size() == b.size());
  REQUIRE_FALSE(a.empty());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == b[i]);
}

}  // namespace

TEST_CASE("with tensors a tile operation is one of the tensor level: one definition, two calls") {
  const Function f = traced([](X x) { return softmax_rows(softmax_rows(x)); });
  CHECK(f.tileops.size() == 1);
  CHECK(print(f).substr(0, print(f).find("kernel @")) == golden(R"(tileop @softmax_rows(%x: in tile<f32[16,64]@Vec>) {
  %0 = tile.row_max(%x) : tile<f32[16,1]@Vec>
  %1 = tile.row_expand_sub(%x, %0) : tile<f32[16,64]@Vec>
  %2 = tile.exp(%1) : tile<f32[16,64]@Vec>
  %3 = tile.row_sum(%2) : tile<f32[16,1]@Vec>
  %4 = tile.row_expand_div(%2, %3) : tile<f32[16,64]@Vec>
  return %4
}

)"));
  CHECK(kernel_text(f) == golden(R"((%arg0: in f32[16,64]) {
  %0 = tensor.to_tile(%arg0) : tile<f32[16,64]@Vec>
  %1 = call @softmax_rows(%0) : tile<f32[16,64]@Vec>
  %2 = tensor.to_tensor(%1) : f32[16,64]
  %3 = tensor.to_tile(%2) : tile<f32[16,64]@Vec>
  %4 = call @softmax_rows(%3) : tile<f32[16,64]@Vec>
  %5 = tensor.to_tensor(%4) : f32[16,64]
  return %5
}
)"));
  same([](X x) { return softmax_rows(softmax_rows(x) + x); }, [](X x) {
    auto e = exp(x - row_max(x));
    auto y = e / row_sum(e) + x;
    auto g = exp(y - row_max(y));
    return g / row_sum(g);
  });
}
TEST_CASE("inlined, the body stands in place of the call, with its own lines") {
  CHECK(kernel_text(inlined(traced([](X x) { return softmax_rows(x); }))) == golden(R"((%arg0: in f32[16,64]) {
  %0 = tensor.to_tile(%arg0) : tile<f32[16,64]@Vec>
  %1 = tile.row_max(%0) : tile<f32[16,1]@Vec>
  %2 = tile.row_expand_sub(%0, %1) : tile<f32[16,64]@Vec>
  %3 = tile.exp(%2) : tile<f32[16,64]@Vec>
  %4 = tile.row_sum(%3) : tile<f32[16,1]@Vec>
  %5 = tile.row_expand_div(%3, %4) : tile<f32[16,64]@Vec>
  %6 = tensor.to_tensor(%5) : f32[16,64]
  return %6
}
)"));
}
TEST_CASE("run-time valid extents of the arguments reach the body") {
  const auto called = [](S x, Out<S> out) {
    for (Index i : range(0, dim(x, 0), 16)) {
      auto t = load<Shape<16, 64>>(x, at(i, 0), clamped);
      store(softmax_rows(t), out, at(i, 0));
    }
  };
  const Function f = traced(called);
  CHECK(contains(print(f), "call @softmax_rows(%4) : tile<f32[16,64]@Vec> valid[%3,64]"));
  CHECK(contains(print(inlined(f)), "tile.row_max(%4) : tile<f32[16,1]@Vec> valid[%3,1]"));
  same(called, [](S x, Out<S> out) {
    for (Index i : range(0, dim(x, 0), 16)) {
      auto t = load<Shape<16, 64>>(x, at(i, 0), clamped);
      auto e = exp(t - row_max(t));
      store(e / row_sum(e), out, at(i, 0));
    }
  });
}
TEST_CASE("those of tensor values do, too") {
  same([](S x, Out<S> out) { for (Index i : range(0, dim(x, 0), 16)) store(softmax_rows(slice<Shape<16, 64>>(x, at(i, 0), clamped)), out, at(i, 0)); },
       [](S x, Out<S> out) {
         for (Index i : range(0, dim(x, 0), 16)) {
           auto t = slice<Shape<16, 64>>(x, at(i, 0), clamped);
           auto e = exp(t - row_max(t));
           store(e / row_sum(e), out, at(i, 0));
         }
       });
}
TEST_CASE("what the body computes of the extents is recorded in front of the call") {
  const auto called = [](S x, Out<S> out) {
    for (Index i : range(0, dim(x, 0), 16)) store(lower_half(load<Shape<16, 64>>(x, at(i, 0), clamped)), out, at(i, 0));
  };
  const std::string text = print(traced(called));
  CHECK(contains(text, R"(    %5 = scalar.max(%3, 8) : index
    %6 = scalar.sub(%5, 8) : index
    %7 = scalar.min(%6, 8) : index
    %8 = call @lower_half(%4) : tile<f32[8,64]@Vec> valid[%7,64])"));
  same(called, [](S x, Out<S> out) {
    for (Index i : range(0, dim(x, 0), 16)) {
      auto t = load<Shape<16, 64>>(x, at(i, 0), clamped);
      store(slice<Shape<8, 64>>(t, at(8, 0)) + 1.0f, out, at(i, 0));
    }
  }, 43);
}
TEST_CASE("outputs are variables of the caller, and calls keep their order") {
  const auto called = [](X x, Out<X> out) {
    auto t = load<Shape<16, 64>>(x, at(0, 0));
    Var y = t;
    add_to(y, t);
    add_to(y, t);
    Var z = tile<Shape<16, 64>, f32, Vec>();
    scale_into(z, y, 0.5f);
    scale_into(z, z, 3.0f);
    store(z, out, at(0, 0));
  };
  CHECK(contains(print(traced(called)), R"(  %1 = call @add_to(%0, %0) : tile<f32[16,64]@Vec>
  %2 = call @add_to(%1, %0) : tile<f32[16,64]@Vec>
  %3 = tile.create() : tile<f32[16,64]@Vec>
  %4 = call @scale_into(%3, %2, 0.5:f32) : tile<f32[16,64]@Vec>
  %5 = call @scale_into(%4, %4, 3.0:f32) : tile<f32[16,64]@Vec>
  tile.store(%5, %arg1, 0, 0)
)"));
  same(called, [](X x, Out<X> out) { out = (x + x + x) * 0.5f * 3.0f; });
}
TEST_CASE("a variable is given for one parameter that is written") {
  const auto swap = tileop("swap_rows", [](InOut<Tile<Shape<16, 64>, f32, Vec>> a, InOut<Tile<Shape<16, 64>, f32, Vec>> b) {
    Var t = a + 0.0f;
    a = b * 1.0f;
    b = t;
  });
  const auto k = kernel("swapped", [&](Tensor<Shape<16, 64>, f32> x, Out<Tensor<Shape<16, 64>, f32>> out) {
    Var y = load<Shape<16, 64>>(x, at(0, 0));
    swap(y, y);
    store(y, out, at(0, 0));
  });
  const std::string said = test::thrown<UserError>([&] { (void)k.trace(); });
  CHECK(said.find("error: call: one variable is given for two parameters that the tile operation writes (1 and 2)\n  hint: give each of them a variable of its own") != std::string::npos);
}

TEST_CASE("with tensors, outputs are variables or outputs of the kernel") {
  same(
      [](X x, Out<X> out, InOut<X> sum) {
        Var y = x;
        add_to(y, x);
        nested(out, y);
        add_to(sum, y);
      },
      [](X x, Out<X> out, InOut<X> sum) {
        auto y = x + x;
        auto e = exp(y - row_max(y));
        out = e / row_sum(e) * 4.0f;
        sum = sum + y;
      });
}
TEST_CASE("several results, behind the outputs") {
  same(
      [](X x) {
        auto [sum, squares] = moments(x);
        return results(squares, sum);
      },
      [](X x) { return results(row_sum(x * x), row_sum(x)); });
  const auto both = tileop("both_outputs", [](Out<T> a, T x, Out<T> b) {
    b = x + 2.0f;
    a = x + 1.0f;
    return x * 3.0f;
  });
  same(
      [both](X x, Out<X> out) {
        auto t = load<Shape<16, 64>>(x, at(0, 0));
        Var a = t, b = t;
        auto r = both(a, t, b);
        store(r + a * b, out, at(0, 0));
      },
      [](X x, Out<X> out) { out = x * 3.0f + (x + 1.0f) * (x + 2.0f); });
}
TEST_CASE("loops and branches in the body, and around the call") {
  const auto called = [](S x, Index n, Out<S> out) {
    for (Index i : range(0, dim(x, 0), 16)) {
      Var t = load<Shape<16, 64>>(x, at(i, 0), clamped);
      for (Index k : range(2)) {
        t = repeated(t, n + k);
        if_(k == 0, [&] { add_to(t, t); }, [&] { t = softmax_rows(t); });
      }
      store(t, out, at(i, 0));
    }
  };
  const auto written = [](S x, Index n, Out<S> out) {
    for (Index i : range(0, dim(x, 0), 16)) {
      Var t = load<Shape<16, 64>>(x, at(i, 0), clamped);
      for (Index k : range(2)) {
        Index m = n + k;
        Var s = t;
        for (Index j : range(m)) s = s + t * cast<f32>(j);
        if_(m > 2, [&] { s = s * 2.0f; });
        t = s;
        if_(k == 0, [&] { t = t + t; }, [&] {
          auto e = exp(t - row_max(t));
          t = e / row_sum(e);
        });
      }
      store(t, out, at(i, 0));
    }
  };
  same(called, written, 40, 1);
  same(called, written, 21, 2);
}
TEST_CASE("tensor parameters are windows of the caller's memory, with run-time dims of any name") {
  same(
      [](Tensor<Shape<dyn<"N">, 64>, f32> x, Out<Tensor<Shape<dyn<"N">, 64>, f32>> out) {
        for (Index i : range(0, dim(x, 0), 16)) rows_of(x, i, out);
      },
      [](Tensor<Shape<dyn<"N">, 64>, f32> x, Out<Tensor<Shape<dyn<"N">, 64>, f32>> out) {
        for (Index i : range(0, dim(x, 0), 16)) {
          auto t = load<Shape<16, 64>>(x, at(i, 0), clamped);
          store(t - row_max(t), out, at(i, 0));
        }
      }, 43);
  same([](Tensor<Shape<40, 64>, f32> x, Out<Tensor<Shape<40, 64>, f32>> out) { for (Index i : range(0, 40, 16)) rows_of(x, i, out); },
       [](Tensor<Shape<40, 64>, f32> x, Out<Tensor<Shape<40, 64>, f32>> out) { out = x - row_max(x); });
}
TEST_CASE("products: called with tiles and with tensors") {
  using A = Tensor<Shape<16, 128>, f16>;
  using B = Tensor<Shape<128, 32>, f16>;
  same(
      [](A a, B b, Out<Tensor<Shape<16, 32>, f32>> out) {
        Var c = product(move<Left>(load<Shape<16, 64>, Mat>(a, at(0, 0))), move<Right>(load<Shape<64, 32>, Mat>(b, at(0, 0))));
        product_on(c, move<Left>(load<Shape<16, 64>, Mat>(a, at(0, 64))), move<Right>(load<Shape<64, 32>, Mat>(b, at(64, 0))));
        store(c, out, at(0, 0));
      },
      [](A a, B b, Out<Tensor<Shape<16, 32>, f32>> out) {
        out = matmul_acc(matmul(slice<Shape<16, 64>>(a, at(0, 0)), slice<Shape<64, 32>>(b, at(0, 0))), slice<Shape<16, 64>>(a, at(0, 64)), slice<Shape<64, 32>>(b, at(64, 0)));
      });
  same([](Tensor<Shape<16, 64>, f16> a, Tensor<Shape<64, 32>, f16> b) { return product(a, b); },
       [](Tensor<Shape<16, 64>, f16> a, Tensor<Shape<64, 32>, f16> b) { return matmul(a, b); });
}
TEST_CASE("a program holds a definition once, whoever calls it") {
  const auto first = kernel("first_user", [](X x) { return softmax_rows(x); });
  const auto second = kernel("second_user", [](X x) { return softmax_rows(x) + 1.0f; });
  const auto layer = orchestration("tileop_layer", [first, second](X x) { return second(first(x)); });
  const Program p = layer.trace();
  REQUIRE(p.functions.size() == 3);
  CHECK(p.functions[0].tileops[0] == p.functions[1].tileops[0]);
  const std::string text = print(p);
  CHECK(text.find("tileop @softmax_rows") == text.rfind("tileop @softmax_rows"));
  PassOptions options;
  options.verify = true;
  CHECK_FALSE(contains(print(run_passes(p, default_pipeline(), {Arch::a3}, options)), "call @softmax_rows"));
  HostTensor x(f32, {16, 64});
  simulate_every_level(p, {Argument(x)});
}
TEST_CASE("the verifier looks at calls and at what they call") {
  Function f = traced([](X x, Out<X> out) { store(softmax_rows(load<Shape<16, 64>>(x, at(0, 0))), out, at(0, 0)); });
  CHECK_NOTHROW(verify(f));
  const auto wrong = [&](const auto& change) {
    Function g = f;
    change(g);
    return test::thrown<InternalError>([&] { verify(g); });
  };
  const auto call_of = [](const Function& g) {
    for (const OpId o : all_operations(g))
      if (g.is(o, ops::call)) return o;
    return OpId{};
  };
  CHECK(contains(wrong([&](Function& g) { g.tileops.clear(); }), "the kernel does not hold the tile operation that it calls"));
  CHECK(contains(wrong([&](Function& g) { g.tileops[0] = std::make_shared<Function>(traced([](X x) { return x + 1.0f; })); }), "holds a tile operation that is none"));
  CHECK(contains(wrong([&](Function& g) { g[g.result(call_of(g))].type.dims[0] = 8; }), "a result has another type than the tile operation returns"));
  CHECK(contains(wrong([&](Function& g) { g.set_operand(call_of(g), 0, g.index(0)); }), "call: the argument is neither a tile nor a tensor (position) (0)"));
  CHECK(contains(test::thrown<InternalError>([&] { verify(f, {Property::tile_ops}); }), "tile_ops: a call of a tile operation is left"));
  CHECK(contains(test::thrown<InternalError>([&] { static_cast<void>(convert_tensor_to_tile_ops.run(f, {})); }), "calls tile operations, which inline_tileops writes out"));
}
