// The callers of converted kernels: created tensors in front of calls, wrappers that mirror outputs, directions.
#include <tessera/passes/convert_tensor_to_tile_ops.hpp>
#include <tessera/simulate.hpp>

#include "support/programs.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

using X = Tensor<Shape<16, 64>, f32>;
using Y = Tensor<Shape<16, 64>, bf16>;

inline const auto twice = kernel("twice", params("x"), [](X x) { return x + x; });
inline const auto scaled = kernel("scaled", params("x", "s", "o"), [](X x, Scalar<f32> s, Out<X> o) { o = x * s; });
inline const auto add_to = kernel("add_to", params("x", "sum"), [](X x, InOut<X> sum) { sum = sum + x; });
inline const auto pair_of = kernel("pair_of", params("x"), [](X x) {
  auto low = cast<bf16>(x);
  return results(exp(x), low);
});
inline const auto branchy = kernel("branchy", params("x", "n"), [](X x, Index n) {
  Var r = tile<Shape<16, 64>, f32>();
  auto t = load<Shape<16, 64>>(x, at(0, 0));
  if_(n == 0, [&] { r = t + t; }, [&] { r = t * t; });
  return r;
});
/// At tile level, with its output stated: nothing is added to it.
inline const auto copy = kernel("copy", params("x", "o"), [](X x, Out<X> o) { store(load<Shape<16, 64>>(x, at(0, 0)), o, at(0, 0)); });
inline const auto marked = kernel("marked", params("o"), [](Out<X> o) { write(o, at(0, 0), 1.0f); });

}  // namespace

TEST_CASE("a caller creates the tensor that a kernel writes") {
  const auto main = orchestration("main_1", params("x"), [](X x) {
    auto y = twice(x);
    return y;
  });
  const Program p = main.trace();
  CHECK(callers(p) == golden(R"(
orchestration @main_1(%x: in f32[16,64]) {
  %0 = call @twice(%x) : f32[16,64]
  return %0
}
)"));
  const Program c = converted_program(p);
  CHECK(callers(c) == golden(R"(
orchestration @main_1(%x: in f32[16,64]) {
  %0 = tensor.create() : f32[16,64]
  call @twice(%x, %0)
  return %0
}
)"));
  CHECK(c.functions[0].parameters.size() == 2);
  CHECK(c.functions[0].parameters[1].direction == Direction::out);
}

TEST_CASE("H14: the result of a call that is returned at once") {
  const auto main = orchestration("main_2", params("x"), [](X x) { return twice(twice(x)); });
  CHECK(callers(converted_program(main.trace())) == golden(R"(
orchestration @main_2(%x: in f32[16,64]) {
  %0 = tensor.create() : f32[16,64]
  call @twice(%x, %0)
  %1 = tensor.create() : f32[16,64]
  call @twice(%0, %1)
  return %1
}
)"));
}

TEST_CASE("several results, one created tensor for each") {
  const auto main = orchestration("main_3", params("x"), [](X x) {
    auto [a, b] = pair_of(x);
    return results(b, a);
  });
  const Program p = main.trace();
  CHECK(callers(p) == golden(R"(
orchestration @main_3(%x: in f32[16,64]) {
  %0, %1 = call @pair_of(%x) : f32[16,64], bf16[16,64]
  return %1, %0
}
)"));
  CHECK(callers(converted_program(p)) == golden(R"(
orchestration @main_3(%x: in f32[16,64]) {
  %0 = tensor.create() : f32[16,64]
  %1 = tensor.create() : bf16[16,64]
  call @pair_of(%x, %0, %1)
  return %1, %0
}
)"));
}

TEST_CASE("C66: in a loop the tensor is created in front of the call, inside") {
  const auto main = orchestration("main_4", params("x", "n"), [](X x, Index n) {
    Var h = twice(x);
    for (Index i : range(n)) h = twice(h);
    return h;
  });
  CHECK(callers(converted_program(main.trace())) == golden(R"(
orchestration @main_4(%x: in f32[16,64], %n: index) {
  %0 = tensor.create() : f32[16,64]
  call @twice(%x, %0)
  %1 = for %2 = 0 to %n step 1 carry(%3 = %0) : f32[16,64] {
    %4 = tensor.create() : f32[16,64]
    call @twice(%3, %4)
    yield %4
  }
  return %1
}
)"));
}

TEST_CASE("C67: a branch in the kernel, loop and branch in the caller") {
  const auto main = orchestration("main_5", params("x", "n"), [](X x, Index n) {
    Var h = branchy(x, 0);
    for (Index i : range(2))
      if_(i == n, [&] { h = branchy(h, i + 1); }, [&] { h = twice(h); });
    return h;
  });
  CHECK(callers(converted_program(main.trace())) == golden(R"(
orchestration @main_5(%x: in f32[16,64], %n: index) {
  %0 = tensor.create() : f32[16,64]
  call @branchy(%x, 0, %0)
  %1 = for %2 = 0 to 2 step 1 carry(%3 = %0) : f32[16,64] {
    %4 = scalar.compare(%2, %n) {compare = eq} : boolean
    %5 = if %4 : f32[16,64] {
      %6 = scalar.add(%2, 1) : index
      %7 = tensor.create() : f32[16,64]
      call @branchy(%3, %6, %7)
      yield %7
    } else {
      %8 = tensor.create() : f32[16,64]
      call @twice(%3, %8)
      yield %8
    }
    yield %5
  }
  return %1
}
)"));
}

TEST_CASE("while, with the test on a number that the host reads") {
  const auto main = orchestration("main_6", params("x"), [](X x) {
    Var h = twice(x);
    while_([&] { return read(h, at(0, 0)) < 100.0f; }, [&] { h = twice(h); });
    return h;
  });
  CHECK(callers(converted_program(main.trace())) == golden(R"(
orchestration @main_6(%x: in f32[16,64]) {
  %0 = tensor.create() : f32[16,64]
  call @twice(%x, %0)
  %1 = while carry(%2 = %0) : f32[16,64] {
    %3 = tensor.read(%2, 0, 0) : f32
    %4 = scalar.compare(%3, 100.0:f32) {compare = lt} : boolean
    condition %4, %2
  } do(%5) {
    %6 = tensor.create() : f32[16,64]
    call @twice(%5, %6)
    yield %6
  }
  return %1
}
)"));
}

TEST_CASE("C92, C94: outputs that the caller passes stay as they are") {
  const auto main = orchestration("main_7", params("x", "o"), [](X x, Out<X> o) {
    auto t = create<Shape<16, 64>, f32>();
    copy(x, t);
    scaled(t, 2.0f, o);
  });
  const Program p = main.trace();
  const std::string text = golden(R"(
orchestration @main_7(%x: in f32[16,64], %o: out f32[16,64]) {
  %0 = tensor.create() : f32[16,64]
  call @copy(%x, %0)
  call @scaled(%0, 2.0:f32, %o)
  return
}
)");
  CHECK(callers(p) == text);
  CHECK(callers(converted_program(p)) == text);
}

TEST_CASE("C114: an spmd wrapper mirrors the output and hands it on") {
  const auto wide = spmd("wide_1", 4, params("x"), [](X x) { return twice(x); });
  const auto main = orchestration("main_8", params("x"), [wide](X x) { return wide(x); });
  const Program p = main.trace();
  CHECK(callers(p) == golden(R"(
spmd 4 @wide_1(%x: in f32[16,64]) {
  %0 = call @twice(%x) : f32[16,64]
  return %0
}

orchestration @main_8(%x: in f32[16,64]) {
  %0 = call @wide_1(%x) : f32[16,64]
  return %0
}
)"));
  CHECK(callers(converted_program(p)) == golden(R"(
spmd 4 @wide_1(%x: in f32[16,64], %out: out f32[16,64]) {
  call @twice(%x, %out)
  return
}

orchestration @main_8(%x: in f32[16,64]) {
  %0 = tensor.create() : f32[16,64]
  call @wide_1(%x, %0)
  return %0
}
)"));
}

TEST_CASE("C115, H11: wrappers around wrappers, with parameters in another order and names that are taken") {
  const auto inner = group("inner_1", params("out", "s"), [](X x, Scalar<f32> s) {
    (void)s;
    return pair_of(x);
  });
  const auto outer = spmd("outer_1", 2, params("s", "low"), [inner](Scalar<f32> s, X x) { return inner(x, s); });
  const auto main = orchestration("main_9", params("x"), [outer](X x) {
    auto [a, b] = outer(0.5f, x);
    return results(a, b);
  });
  CHECK(callers(converted_program(main.trace())) == golden(R"(
group @inner_1(%out: in f32[16,64], %s: f32, %out1: out f32[16,64], %out11: out bf16[16,64]) {
  call @pair_of(%out, %out1, %out11)
  return
}

spmd 2 @outer_1(%s: f32, %low: in f32[16,64], %out1: out f32[16,64], %out11: out bf16[16,64]) {
  call @inner_1(%low, %s, %out1, %out11)
  return
}

orchestration @main_9(%x: in f32[16,64]) {
  %0 = tensor.create() : f32[16,64]
  %1 = tensor.create() : bf16[16,64]
  call @outer_1(0.5:f32, %x, %0, %1)
  return %0, %1
}
)"));
}

TEST_CASE("C116: a wrapper around a kernel at tile level stays") {
  const auto wide = spmd("wide_2", 8, params("x", "o"), [](X x, Out<X> o) { copy(x, o); });
  const Program p = wide.trace();
  const std::string text = golden(R"(
spmd 8 @wide_2(%x: in f32[16,64], %o: out f32[16,64]) {
  call @copy(%x, %o)
  return
}
)");
  CHECK(callers(p) == text);
  CHECK(callers(converted_program(p)) == text);
}

TEST_CASE("an orchestration keeps what it returns, for its own callers, too") {
  const auto inner = orchestration("inner_2", params("x"), [](X x) { return twice(x); });
  const auto main = orchestration("main_10", params("x"), [inner](X x) { return twice(inner(inner(x))); });
  const Program c = converted_program(main.trace());
  CHECK(callers(c) == golden(R"(
orchestration @inner_2(%x: in f32[16,64]) {
  %0 = tensor.create() : f32[16,64]
  call @twice(%x, %0)
  return %0
}

orchestration @main_10(%x: in f32[16,64]) {
  %0 = call @inner_2(%x) : f32[16,64]
  %1 = call @inner_2(%0) : f32[16,64]
  %2 = tensor.create() : f32[16,64]
  call @twice(%1, %2)
  return %2
}
)"));
}

TEST_CASE("the directions of a caller's own parameters follow what it passes them to") {
  const auto main = orchestration("main_11", params("a", "b", "c", "d"), [](X a, X b, X c, X d) {
    scaled(a, 1.0f, b);  // b is written alone
    scaled(b, 1.0f, c);  // ... and read
    add_to(a, d);
    copy(a, c);
  });
  CHECK(callers(main.trace()).substr(0, 90) == "orchestration @main_11(%a: in f32[16,64], %b: inout f32[16,64], %c: out f32[16,64], %d: in");
  const auto wrapped = group("wrapped", params("a", "b"), [](X a, X b) { scaled(a, 1.0f, b); });
  const auto outer = orchestration("main_12", params("x", "y", "z", "n"), [wrapped](X x, X y, X z, Index n) {
    Var v = y;  // y or z is written
    if_(n == 0, [&] { v = z; });
    wrapped(x, v);
  });
  CHECK(callers(outer.trace()) == golden(R"(
group @wrapped(%a: in f32[16,64], %b: out f32[16,64]) {
  call @scaled(%a, 1.0:f32, %b)
  return
}

orchestration @main_12(%x: in f32[16,64], %y: out f32[16,64], %z: out f32[16,64], %n: index) {
  %0 = scalar.compare(%n, 0) {compare = eq} : boolean
  %1 = if %0 : f32[16,64] {
    yield %z
  } else {
    yield %y
  }
  call @wrapped(%x, %1)
  return
}
)"));
}

namespace {

/// @k writes its parameter `dst`, which is declared an input; `caller` hands its own parameter on.
Program hand_built(FunctionKind kind) {
  Program p;
  Recording k;
  const ValueId dst = k.tensor("dst", f32, {4});
  k.effect(ops::write, {dst, k.constant(f32, 1.0), k.index(0)});
  p.functions.push_back(k.returns());
  Recording caller("caller");
  const ValueId own = caller.tensor("own", f32, {4});
  caller.f().kind = kind;
  caller.b().control(ops::call, {own}, {}, 0, {int_attr(AttrKey::callee, 0)});
  p.functions.push_back(caller.returns());
  return p;
}

}  // namespace

TEST_CASE("C79: a parameter that the kernel turns out to write is written in every caller") {
  for (const FunctionKind kind : {FunctionKind::orchestration, FunctionKind::group}) {
    const Program c = converted_program(hand_built(kind));
    CHECK(c.functions[0].parameters[0].direction == Direction::out);
    CHECK(c.functions[1].parameters[0].direction == Direction::out);
  }
}

TEST_CASE("C54: attributes of a call stay, lists too, in wrappers and elsewhere") {
  for (const FunctionKind kind : {FunctionKind::orchestration, FunctionKind::group}) {
    Program p;
    Recording k;
    const ValueId x = k.tensor("x", f32, {64});
    p.functions.push_back(k.returns({k.op(ops::add, {x, x})}));
    Recording caller("caller");
    const ValueId own = caller.tensor("x", f32, {64});
    caller.f().kind = kind;
    const Attr list = caller.f().list_attr(AttrKey::window, {std::int64_t{3}, std::int64_t{1}});
    const OpId call = caller.b().control(ops::call, {own}, {shaped_type(f32, {64})}, 0, {int_attr(AttrKey::callee, 0), list});
    p.functions.push_back(caller.returns({caller.f().result(call)}));
    const std::string text = callers(converted_program(p));
    INFO(text);
    CHECK(contains(text, kind == FunctionKind::group ? "call @k(%x, %out) {window = [3, 1]}" : "call @k(%x, %0) {window = [3, 1]}"));
  }
}

TEST_CASE("C78: scalars that a function returns stay results of the call") {
  Program p;
  Recording k;
  const ValueId x = k.tensor("x", f32, {64});
  const ValueId sum = k.op(ops::add, {x, x}), first = k.op(ops::read, {x, k.index(0)});
  p.functions.push_back(k.returns({sum, first}));
  Recording caller("caller");
  const ValueId own = caller.tensor("x", f32, {64});
  caller.f().kind = FunctionKind::orchestration;
  const OpId call = caller.b().control(ops::call, {own}, {shaped_type(f32, {64}), scalar_type(f32)}, 0, {int_attr(AttrKey::callee, 0)});
  p.functions.push_back(caller.returns({caller.f().result(call, 1), caller.f().result(call, 0)}));
  CHECK(callers(converted_program(p)) == golden(R"(
orchestration @caller(%x: in f32[64]) {
  %0 = tensor.create() : f32[64]
  %1 = call @k(%x, %0) : f32
  return %1, %0
}
)"));
}

TEST_CASE("C7: what is no kernel is not converted") {
  Program p;
  Recording k("host");
  const ValueId x = k.tensor("x", f32, {64});
  k.f().kind = FunctionKind::orchestration;
  p.functions.push_back(k.returns({k.op(ops::add, {x, x})}));
  const Pass* const passes[] = {&convert_tensor_to_tile_ops};
  CHECK(print(run_passes(p, {passes, 1}, {Arch::a5})) == print(p));
}

TEST_CASE("a kernel that is called often is converted once, and named dims are those of the caller") {
  using S = Tensor<Shape<dyn<"S">, 64>, f32>;
  using T = Tensor<Shape<dyn<"T">, 64>, f32>;
  const auto step = kernel("step_1", params("x", "o"), [](S x, Out<S> o) {
    for (Index i : range(0, dim(x, 0), 16)) {
      auto t = load<Shape<16, 64>>(x, at(i, 0), valid(min(16, dim(x, 0) - i), 64));
      store(t + 1.0f, o, at(i, 0));
    }
  });
  const auto main = orchestration("main_13", params("x", "o"), [step](T x, Out<T> o) {
    auto t = create<Shape<dyn<"T">, 64>, f32>();
    step(x, t);
    step(t, o);
  });
  const Program c = converted_program(main.trace());
  CHECK(c.functions.size() == 2);
  CHECK(callers(c) == golden(R"(
orchestration @main_13(%x: in f32[T,64], %o: out f32[T,64]) {
  %0 = tensor.create() : f32[T,64]
  call @step_1(%x, %0)
  call @step_1(%0, %o)
  return
}
)"));
  const auto x = random<Tensor<Shape<40, 64>, f32>>(1);
  auto o = zeros<Tensor<Shape<40, 64>, f32>>();
  simulate(main, x, o);
  CHECK(max_abs_diff(x, o) > 1.9);
}
