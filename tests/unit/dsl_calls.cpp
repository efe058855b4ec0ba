// Functions that call kernels: what they record, and what is refused while they do.
#include "support/programs.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

using X = Tensor<Shape<16, 64>, f32>;
constexpr FunctionKind host = FunctionKind::orchestration;

inline const auto twice = kernel("twice", params("x"), [](X x) { return x + x; });
inline const auto scaled = kernel("scaled", params("x", "s", "n", "o"), [](X x, Scalar<f32> s, Index n, Out<X> o) {
  if_(n > 0, [&] { store(load<Shape<16, 64>>(x, at(0, 0)) * s, o, at(0, 0)); });
});
inline const auto accumulate = kernel("accumulate", params("x", "sum"), [](X x, InOut<X> sum) { sum = sum + x; });
inline const auto tiles = kernel("tiles", params("x"), [](X x) { return load<Shape<16, 64>>(x, at(0, 0)); });
inline const auto mean_of = kernel("mean_of", params("x"), [](X x) { return results(row_sum(x) * (1.0f / 64), x + 1.0f); });

X again(X x);
inline const auto endless = orchestration("endless", [](X x) { return again(x); });
inline const auto between = orchestration("between", [](X x) { return endless(x); });
X again(X x) { return between(x); }

std::string line_of(const UserError& e) { return std::to_string(e.location().line); }

}  // namespace

TEST_CASE("a call is recorded where it is written, its arguments from left to right") {
  const Program p = traced(host, [](X x, Scalar<i32> k, Out<X> o) {
    auto buffer = create<Shape<16, 64>, f32>();
    Scalar<f32> s = read(x, at(0, 1)) * 2;
    scaled(x, s + 1, k * 2 + 3, buffer);
    scaled(buffer, 2, 1, o);
    accumulate(twice(x), o);
    scaled(tiles(x), 0.5f, 4, create<Shape<16, 64>, f32>());
  });
  CHECK(p.functions.size() == 5);
  const std::string text = callers(p);
  CHECK(text.substr(text.find('(')) == golden(R"((%arg0: in f32[16,64], %arg1: i32, %arg2: out f32[16,64]) {
  %0 = tensor.create() : f32[16,64]
  %1 = tensor.read(%arg0, 0, 1) : f32
  %2 = scalar.mul(%1, 2.0:f32) : f32
  %3 = scalar.add(%2, 1.0:f32) : f32
  %4 = scalar.mul(%arg1, 2:i32) : i32
  %5 = scalar.add(%4, 3:i32) : i32
  %6 = scalar.cast(%5) : index
  call @scaled(%arg0, %3, %6, %0)
  call @scaled(%0, 2.0:f32, 1, %arg2)
  %7 = call @twice(%arg0) : f32[16,64]
  call @accumulate(%7, %arg2)
  %8 = call @tiles(%arg0) : f32[16,64]
  %9 = tensor.create() : f32[16,64]
  call @scaled(%8, 0.5:f32, 4, %9)
  return
}
)"));
}
TEST_CASE("each function is recorded once, callees in front") {
  const auto inner = orchestration("inner", [](X x) { return twice(twice(x)); });
  const Program p = traced(host, [inner](X x) { return inner(twice(inner(x))); });
  REQUIRE(p.functions.size() == 3);
  CHECK(std::string(p.functions[0].name.c_str()) == "twice");
  CHECK(std::string(p.functions[1].name.c_str()) == "inner");
  CHECK(p.functions[1].kind == FunctionKind::orchestration);
}
TEST_CASE("several results are taken apart") {
  const Program p = traced(host, [](X x) {
    auto [mean, next] = mean_of(x);
    static_assert(std::is_same_v<decltype(mean), Tensor<Shape<16, 1>, f32>>);
    return results(next, mean);
  });
  CHECK(contains(callers(p), "%0, %1 = call @mean_of(%arg0) : f32[16,1], f32[16,64]\n  return %1, %0"));
}
TEST_CASE("on the host an output is the same tensor under every name") {
  const Program p = traced(host, [](X x, Out<X> o, Index n) {
    Var t = o;
    if_(n == 0, [&] { t = create<Shape<16, 64>, f32>(); });
    X u = o;
    scaled(x, 1.0f, 1, u);
    accumulate(x, t);
  });
  CHECK(contains(callers(p), "  call @scaled(%arg0, 1.0:f32, 1, %arg1)\n  call @accumulate(%arg0, %1)\n"));
}
TEST_CASE("wrappers know their blocks") {
  const auto wide = spmd("wide", 4, params("x"), [](X x) { return twice(x); });
  const auto cluster = group("cluster", params("x"), [wide](X x) { return wide(x); });
  const Program p = cluster.trace();
  REQUIRE(p.functions.size() == 3);
  CHECK(p.functions[1].kind == FunctionKind::spmd);
  CHECK(p.functions[1].blocks == 4);
  CHECK(p.functions[2].kind == FunctionKind::group);
  CHECK(launches_blocks(p, p.entry()));
}
TEST_CASE("a program of a kernel is the kernel") {
  const Program p = trace_program(twice.entry());
  REQUIRE(p.functions.size() == 1);
  CHECK(print(p) == print(twice.trace()));
}

TEST_CASE("kernels call nothing") {
  const auto outer = kernel("outer", [](X x) { return twice(x); });
  const std::uint32_t line = __LINE__ - 1;
  for (const bool alone : {true, false}) try {
      if (alone) static_cast<void>(outer.trace());
      else static_cast<void>(trace_program(outer.entry()));
      FAIL("no error");
    } catch (const UserError& e) {
      CHECK(line_of(e) == std::to_string(line));
      CHECK(e.message() == "call: a kernel calls a function (twice)");
      CHECK(e.diagnostic().hint == "what runs on chip calls tile operations only: call both from an orchestration");
    }
}
TEST_CASE("computation on tensors belongs into kernels") {
  const std::string hint = "\n  hint: put the computation into a kernel and call that";
  const auto text = [&](auto f) {
    const std::string message = refusal(host, f);
    return message.substr(0, message.find(" (orchestration")) + message.substr(message.find('\n'));
  };
  CHECK(text([](X x) { return twice(exp(x)); }) == "exp: only kernels compute on tensors" + hint);
  CHECK(text([](X x) { return twice(x + x); }) == "add: only kernels compute on tensors" + hint);
  CHECK(text([](X x) { (void)x; return twice(full<Shape<16, 64>, f32>(0.0f)); }) == "full: only kernels compute on tensors" + hint);
  CHECK(text([](X x) { (void)load<Shape<16, 64>>(x, at(0, 0)); return twice(x); }) == "load: only kernels compute on tensors" + hint);
  CHECK(text([](X x) { (void)named("t", tile<Shape<16, 64>, f32>()); return twice(x); }) == "create: only kernels compute on tensors" + hint);
  const std::string write_hint = "\n  hint: pass the tensor to a kernel that has an Out parameter, or return what a call gives";
  CHECK(text([](X x, Out<X> o) { o = twice(x); }) == "store: only kernels write to tensors" + write_hint);
  CHECK(text([](X x, Out<X> o) { write(o, at(0, 0), 1.0f); (void)twice(x); }) == "write: only kernels write to tensors" + write_hint);
  CHECK(refusal(host, [](X x, Out<X> o) { scaled(x, 1.0f, block_index(), o); }) ==
        "block_index: only kernels run in blocks\n  hint: call it in the kernel, and wrap the kernel in spmd(...)");
}
TEST_CASE("a split region belongs into a kernel") {
  CHECK(refusal(host, [](X x) {
          for (auto lane : split_aiv<Split::up_down>()) (void)(lane + 1);
          return twice(x);
        }).find(": a split region stands outside of a kernel\n  hint: the lanes share the work of a kernel: write the region there") != std::string::npos);
}
TEST_CASE("a buffer's run-time dims are those of a parameter, and kernels make none") {
  using S = Tensor<Shape<dyn<"S">, 64>, f32>;
  const auto fill = kernel("fill", [](Out<S> o) { write(o, at(0, 0), 1.0f); });
  CHECK(refusal(host, [fill](S) { fill(create<Shape<dyn<"T">, 64>, f32>()); }) ==
        "create: no parameter has the named dim (T)\n  hint: use a named dim of a tensor parameter");
  CHECK(contains(print(traced(host, [fill](S) { fill(create<Shape<dyn<"S">, 64>, f32>()); })), "%0 = tensor.create() : f32[S,64]\n  call @fill(%0)"));
  const auto bad = kernel("bad", [](S x) { (void)x; return create<Shape<dyn<"S">, 64>, f32>(); });
  CHECK(thrown<UserError>([&] { static_cast<void>(bad.trace()); }).find("create: a tile's shape must be static (S)") != std::string::npos);
}
TEST_CASE("a call binds any count of named dims") {
  static_assert([] {
    DimBinding binding;
    for (int i = 0; i < 100; ++i)
      if (!binding.bind(dyn<"A"> - i, 2 * i + 1)) return false;
    for (int i = 0; i < 100; ++i)
      if (binding(dyn<"A"> - i) != 2 * i + 1 || binding.bind(dyn<"A"> - i, 5000)) return false;
    return true;
  }());
  // Six parameters of rank 8: 48 names.
  Type wanted = shaped_type(f32, {1, 1, 1, 1, 1, 1, 1, 1}), given = wanted;
  DimBinding binding;
  for (int p = 0; p < 6; ++p) {
    for (int i = 0; i < 8; ++i) {
      wanted.dims[i] = dyn<"A"> - (p * 8 + i);
      given.dims[i] = p * 8 + i + 1;
    }
    CHECK(check_argument(binding, wanted, given, p).lawful());
  }
  CHECK(binding(wanted) == given);
  given.dims[7] = 3;
  CHECK(check_argument(binding, wanted, given, 6).broken == rule::call_dim_has_two_sizes);
}
TEST_CASE("a function does not call itself") {
  try {
    static_cast<void>(endless.trace());
    FAIL("no error");
  } catch (const UserError& e) {
    CHECK(e.message() == "call: a function calls itself (endless -> between -> endless)");
    CHECK(e.diagnostic().hint == "repeat calls by a loop: for (Index i : range(n)) { ... }");
    CHECK(short_file(e.location()) == "dsl_calls.cpp");
  }
}
TEST_CASE("an orchestration calls something, writes its outputs, and returns what is new") {
  CHECK(contains(refusal(host, [](X x) { (void)x; }), ": it calls nothing\n  hint: call a kernel, or make it a kernel"));
  CHECK(refusal(host, [](X x, Out<X> o) { (void)twice(x); (void)o; }) ==
        "orchestration: an output is never written (arg1)\n  hint: pass it to a kernel that has an Out parameter, or leave it out");
  CHECK(contains(refusal(host, [](X x) { (void)twice(x); return x; }), ": a parameter is returned (arg0)\n  hint: the caller has it: return what a call gives"));
  CHECK(contains(refusal(host, [](X x, Index n) {
                   Var h = twice(x);
                   if_(n == 0, [&] { h = x; });
                   return h;
                 }),
                 ": a parameter is returned (arg0)"));
}
TEST_CASE("no call is given one tensor twice when it writes it") {
  const std::string said = "call: one tensor is given for two parameters, and accumulate writes it (x, sum)\n  hint: parameters do not overlap: pass another buffer, or make it one InOut parameter";
  CHECK(refusal(host, [](InOut<X> o) { accumulate(o, o); }) == said);
  CHECK(refusal(host, [](X x) {
          Var h = twice(x);
          for (Index i : range(2)) {
            accumulate(h, h);
            (void)i;
          }
        }) == said);
}
TEST_CASE("wrappers hand on what they get") {
  constexpr FunctionKind wrapper = FunctionKind::group;
  CHECK(contains(refusal(wrapper, [](X) {}), ": the body is not one call (0 calls)\n  hint: a wrapper hands its parameters on to one kernel or wrapper; several calls make an orchestration"));
  CHECK(contains(refusal(FunctionKind::spmd, [](X x) { return twice(twice(x)); }, 2), ": the body is not one call (2 calls)"));
  CHECK(contains(refusal(wrapper, [](X x, Out<X> o, Index n) { scaled(x, 1.0f, n + 1, o); }),
                 ": an argument is not a parameter of the wrapper (position 2)\n  hint: compute it in the caller and pass it on"));
  CHECK(contains(refusal(wrapper, [](X x, Index n) {
                   Var h = create<Shape<16, 64>, f32>();
                   for (Index i : range(n)) {
                     h = twice(x);
                     (void)i;
                   }
                   return h;
                 }),
                 ": the body does more than one call (2 operations)\n  hint: a wrapper hands its parameters on; everything else belongs into its caller"));
  CHECK(contains(refusal(wrapper, [](X x) { (void)twice(x); }), ": it does not return what its call gives (0, 1)\n  hint: return the call's results, all of them and in their order"));
  CHECK(contains(refusal(wrapper, [](X x) {
                   auto [a, b] = mean_of(x);
                   return results(b, a);
                 }),
                 ": it returns what its call gives in another order (result 0 is result 1 of mean_of)\n  hint: return the call's results, all of them and in their order"));
  CHECK(refusal(FunctionKind::spmd, [](X x) { return twice(x); }, 0) == "spmd: the count of blocks is not positive (0)\n  hint: run it in one block at least");
  CHECK(refusal(FunctionKind::spmd, [](X x) { return twice(x); }, 65536) ==
        "spmd: there are more blocks than a launch has (blocks, most) (65536, 65535)\n  hint: let each block take every block_count()-th part in a loop");
  const auto inner = orchestration("inner_3", [](X x) { return twice(x); });
  CHECK(refusal(wrapper, [inner](X x) { return inner(x); }) ==
        "call: a wrapper calls an orchestration (inner_3)\n  hint: wrappers hand their parameters on to a kernel, or to another wrapper");
  const auto wide = spmd("wide_3", 4, [](X x) { return twice(x); });
  const auto cluster = group("cluster_3", [wide](X x) { return wide(x); });
  CHECK(contains(refusal(FunctionKind::spmd, [cluster](X x) { return cluster(x); }, 2),
                 ": what it calls is run in blocks already (cluster_3)\n  hint: one spmd wrapper says how many blocks run a kernel"));
}
TEST_CASE("functions of one program have names of their own") {
  const auto first = kernel("same", [](X x) { return x + 1.0f; });
  const auto second = kernel("same", [](X x) { return x + 2.0f; });
  CHECK(refusal(host, [=](X x) { return second(first(x)); }) ==
        "call: two functions of one program have the same name (same)\n  hint: give each one a name of its own");
}
TEST_CASE("what a kernel does wrong is told at its own line") {
  const auto wrong = kernel("wrong", [](X, Out<X>) {});
  const std::uint32_t line = __LINE__ - 1;
  const auto main = orchestration("calls_wrong", [wrong](X x, Out<X> o) {
    for (Index i : range(2)) {
      wrong(x, o);
      (void)i;
    }
  });
  try {
    static_cast<void>(main.trace());
    FAIL("no error");
  } catch (const UserError& e) {
    CHECK(line_of(e) == std::to_string(line));
    CHECK(e.message() == "kernel: an output is never written (arg1)");
  }
}
TEST_CASE("values of a caller are not those of its callees") {
  const auto outer = orchestration("outer_3", [](X x) {
    const auto inner = orchestration("inner_4", [x](X y) {
      (void)y;
      return twice(x);
    });
    return inner(x);
  });
  CHECK(thrown<UserError>([&] { static_cast<void>(outer.trace()); }).find("kernel: a value of another kernel is used") != std::string::npos);
}
