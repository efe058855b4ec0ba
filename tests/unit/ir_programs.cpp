// Programs: what the verifier refuses of the calls between functions, and what text shows of them.
#include <tessera/emit/pto_mlir.hpp>
#include <tessera/passes/assign_buffers.hpp>
#include <tessera/passes/convert_tensor_to_tile_ops.hpp>
#include <tessera/passes/pipeline.hpp>

#include "support/programs.hpp"

#include <tessera/compile.hpp>

using namespace tessera;
using namespace tessera::test;

namespace {

/// @k(x: in, o: out) -> f32[64], and @main that calls it; `change` spoils something.
template <class Change>
std::string fault(Change&& change, FunctionKind kind = FunctionKind::orchestration, Properties properties = {}) {
  Program p;
  Recording k;
  const ValueId x = k.tensor("x", f32, {64}), o = k.tensor("o", f32, {64}, Direction::out);
  k.store(x, o, {k.index(0)});
  p.functions.push_back(k.returns({k.op(ops::add, {x, x})}));
  Recording caller("main");
  const ValueId a = caller.tensor("a", f32, {64}), b = caller.tensor("b", f32, {64}, Direction::out);
  caller.f().kind = kind;
  const OpId call = caller.b().control(ops::call, {a, b}, {shaped_type(f32, {64})}, 0, {int_attr(AttrKey::callee, 0)});
  caller.returns({caller.f().result(call)});
  p.functions.push_back(std::move(caller.f()));
  change(p, p.functions[1], call);
  try {
    verify(p, properties);
    return "";
  } catch (const InternalError& e) { return e.text(); }
}

}  // namespace

TEST_CASE("a lawful program passes the verifier") {
  CHECK(fault([](Program&, Function&, OpId) {}) == "");
  CHECK(fault([](Program&, Function&, OpId) {}, FunctionKind::group) == "");
}
TEST_CASE("the verifier refuses wrong calls") {
  using F = Function;
  const auto refused = [](auto change, std::string_view text, FunctionKind kind = FunctionKind::orchestration) {
    const std::string found = fault(change, kind);
    INFO(found);
    CHECK(contains(found, text));
  };
  refused([](Program&, F& f, OpId c) { f.set_operands(c, {f.operand(c, 0)}); }, "call: the count of arguments is not that of the function's parameters (1, 2)");
  refused([](Program&, F& f, OpId c) { f.set_operand(c, 0, f.index(3)); }, "call: the argument is not a tensor (position) (0)");
  refused([](Program& p, F&, OpId) { p.functions[0][p.functions[0].parameters[0].value].type.dims[0] = 32; }, "the recorded type");
  refused([](Program& p, F&, OpId) { p.functions[0].parameters[0].direction = Direction::inout; }, "the call writes an input parameter");
  refused([](Program& p, F&, OpId) { std::swap(p.functions[0], p.functions[1]); }, "the callee does not stand before its caller");
  refused([](Program&, F& f, OpId) { f.kind = FunctionKind::kernel; }, "the kernel does not hold the tile operation that it calls");
  refused([](Program& p, F&, OpId) { p.functions.clear(); }, "the program has no function");
  refused([](Program& p, F&, OpId) { p.functions[0][p.functions[0].terminator(p.functions[0].body())].operand_count = 0; }, "the count of results is not what the callee returns");
  refused([](Program&, F& f, OpId c) { f[f.result(c)].type.dims[0] = 32; }, "a result has another type than the callee returns");
  refused([](Program& p, F&, OpId) { p.functions[0].kind = FunctionKind::orchestration; }, "the operation does not run on the host");
  refused([](Program&, F& f, OpId) { f[f.terminator(f.body())].operand_count = 0; }, "a wrapper does not return what its call gives", FunctionKind::group);
  refused([](Program&, F& f, OpId) { f.blocks = 0; }, "the count of blocks is not positive", FunctionKind::spmd);
  refused([](Program&, F& f, OpId c) {
    Builder b(f);
    b.to_before(c);
    b.value(ops::create, {}, {}, shaped_type(f32, {64}));
  }, "a wrapper does not hold one call alone", FunctionKind::spmd);
}
TEST_CASE("behind the first pass kernels give no tensors") {
  const auto k = kernel("k_1", params("x"), [](Tensor<Shape<16, 64>, f32> x) { return x + 1.0f; });
  const Program p = traced(FunctionKind::orchestration, [k](Tensor<Shape<16, 64>, f32> x) { return k(x); });
  Program half = converted_program(p);
  half.functions[1] = p.functions[1];
  CHECK(contains(thrown<InternalError>([&] { verify(half, {Property::tile_ops}); }), "call: the count of arguments is not that of the function's parameters (1, 2)"));
}
TEST_CASE("a program is printed with callees in front, and their names") {
  const auto k = kernel("k_2", params("x"), [](Tensor<Shape<16, 64>, f32> x) { return x + 1.0f; });
  const auto wide = spmd("wide", 2, params("x"), [k](Tensor<Shape<16, 64>, f32> x) { return k(x); });
  const Program p = wide.trace();
  CHECK(print(p) == golden(R"(
kernel @k_2(%x: in f32[16,64]) {
  %0 = tensor.adds(%x, 1.0:f32) : f32[16,64]
  return %0
}

spmd 2 @wide(%x: in f32[16,64]) {
  %0 = call @k_2(%x) : f32[16,64]
  return %0
}
)"));
  CHECK(contains(print(p.entry()), "call @0(%x)"));
}
TEST_CASE("passes over a program are observed as a whole") {
  const auto k = kernel("k_3", params("x"), [](Tensor<Shape<16, 64>, f32> x) { return x + 1.0f; });
  const Program p = traced(FunctionKind::orchestration, [k](Tensor<Shape<16, 64>, f32> x) { return k(x); });
  std::vector<PassTime> times;
  std::string seen;
  PassOptions options;
  options.verify = true;
  options.times = &times;
  options.before_program = [&](const Pass& pass, const Program& q) { seen.append(pass.name).append(std::to_string(q.functions.size())).append(" "); };
  const Program lowered = run_passes(p, default_pipeline(), {Arch::a3}, options);
  CHECK(times.size() == default_pipeline().size());
  CHECK(seen.substr(0, 29) == "convert_tensor_to_tile_ops2 f");
  // Hooks of functions see each kernel, in front of those of the whole.
  PassOptions each;
  std::string order;
  each.before = [&](const Pass&, const Function& f) { order.append("<").append(f.name.c_str()); };
  each.after = [&](const Pass&, const Function& f) { order.append(">").append(f.name.c_str()); };
  each.after_program = [&](const Pass&, const Program&) { order.append("."); };
  const Pass* const once[] = {&convert_tensor_to_tile_ops};
  static_cast<void>(run_passes(p, {once, 1}, {Arch::a3}, each));
  CHECK(order == "<k_3>k_3.");
  // A program that is given up gives the same.
  Program spent = p;
  CHECK(print(run_passes(std::move(spent), default_pipeline(), {Arch::a3}, options)) == print(lowered));
  CHECK(print(lower(p.functions[0])) == print(lowered.functions[0]));
  CHECK(print(lower(Program(p))) == print(lowered));
  const Pass* const late[] = {&assign_buffers};
  CHECK(contains(thrown<InternalError>([&] { static_cast<void>(run_passes(p, {late, 1}, {Arch::a3})); }), "requires what the function does not have"));
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(run_passes(p.entry(), default_pipeline(), {Arch::a3})); }), "kernel: a function that calls kernels is no kernel (orchestration f"));
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(emit_pto_mlir(lowered.entry())); }), "emit the kernels of that"));
  Program other = p;
  other.functions[0].target = static_cast<int>(Arch::a5);
  CHECK(contains(thrown<UserError>([&] { static_cast<void>(run_passes(other, default_pipeline(), {Arch::a3})); }), "compiled for another target"));
}

TEST_CASE("a reference to a type or an operation lasts while a function grows") {
  Function f;
  Builder b(f);
  const ValueId first = b.index(1000);
  const Type* const type = &f.type(first);
  const OpId op = f.definition(b.value(ops::create, {}, {}, shaped_type(f32, {8, 64}, Vec)));
  const Operation* const operation = &f[op];
  for (std::int64_t i = 0; i < 1000; ++i) static_cast<void>(b.value(ops::muls, {b.value(ops::create, {}, {}, shaped_type(f32, {8, 64}, Vec)), f.constant(f32, static_cast<double>(i))}));
  CHECK(&f.type(first) == type);
  CHECK(&f[op] == operation);
  const Function copy = f;
  CHECK(copy.operation_count() == f.operation_count());
  CHECK(copy.type(first) == *type);
  CHECK(&copy.type(first) != type);
}
