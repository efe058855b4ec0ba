// What only level 3 has: addresses of the target, bytes for what the emitter adds, and errors where there are none.
#include <tessera/emit/pto_mlir.hpp>
#include <tessera/passes/insert_sync.hpp>
#include <tessera/passes/plan_memory.hpp>

#include "support/catch.hpp"
#include "support/ir.hpp"
#include "support/pto_kernels.hpp"

using namespace programs;
using tessera::test::contains;
using tessera::test::thrown;

namespace {

// An instruction that copies its operand, a window of wider rows, first; the whole is read again.
Function with_copy(std::int64_t rows, std::int64_t cols, Arch arch = Arch::a3) {
  Lowered l("k");
  const Type t = tensor_type(f32, {rows, cols});
  const ValueId x = l.load(l.parameter("x", t), tile_type(f32, {rows, cols}));
  const ValueId w = l.op(ops::slice, {x, l.index(0), l.index(8)}, {}, tile_type(f32, {rows, cols - 8}));
  const ValueId turned = l.op(ops::transpose, {w, l.op(ops::create, {}, {}, tile_type(f32, {rows, cols - 8}))});
  l.store(turned, l.parameter("turned", tensor_type(f32, {cols - 8, rows}), Direction::out));
  l.store(x, l.parameter("out", t, Direction::out));
  l.finish();
  return plan_memory.run(l.f, {arch});
}
std::string addr(std::int64_t address) { return "addr = %c" + std::to_string(address) + "_i64 : "; }

}  // namespace

TEST_CASE("a function needs addresses for the target; there is no other level") {
  const LoweredKernel l = softmax();
  CHECK(contains(thrown<InternalError>([&] { (void)emit_pto_mlir(l->f, {.level = 3}); }), "softmax has no addresses for a3, which level 3 needs"));
  const Function f = plan_memory.run(l->f, {Arch::a5});
  CHECK(contains(thrown<InternalError>([&] { (void)emit_pto_mlir(f, {.arch = Arch::a3, .level = 3}); }), "softmax has no addresses for a3"));
  CHECK(contains(emit_pto_mlir(f, {.arch = Arch::a5, .level = 3}), addr(0)));
  CHECK_FALSE(contains(emit_pto_mlir(f, {.arch = Arch::a5}), "addr"));
  CHECK(thrown<UserError>([&] { (void)emit_pto_mlir(f, {.arch = Arch::a5, .level = 1}); }) ==
        "error: emit: there is no such level (1)\n  hint: levels: 2, 3");
}

TEST_CASE("flags are for the addresses of the function, which level 2 does not write") {
  const Function planned = plan_memory.run(softmax()->f, {Arch::a3});
  const std::string refusal = "kernel.cpp:1: error: emit: the flags of a synchronised function are for its own addresses, and at level 2 the assembler plans others (softmax)\n"
                              "  hint: emit it at level 3; for level 2 lower it without synchronise: the assembler sets its own flags";
  const auto of_level_2 = [](const Function& f) { return thrown<UserError>([&] { (void)emit_pto_mlir(f); }); };
  Function f = insert_sync.run(planned, {Arch::a3});
  CHECK(of_level_2(f) == refusal);
  CHECK(contains(emit_pto_mlir(f, {.level = 3}), "pto.set_flag"));
  f.synchronised = false;  // flags that another pass has set
  CHECK(of_level_2(f) == refusal);
  CHECK_FALSE(contains(emit_pto_mlir(planned, {.level = 3}), "pto.set_flag"));
}

TEST_CASE("a copy stands where no buffer is needed meanwhile") {
  // x at 0, scratch and the result behind it; the copy takes what is left.
  const Function f = with_copy(16, 64);
  const std::string text = emit_pto_mlir(f, {.level = 3, .comments = false});
  INFO(text);
  CHECK(contains(text, " = pto.alloc_tile " + addr(0) + "!pto.tile_buf<vec, 16x64xf32>"));
  CHECK(contains(text, " = pto.alloc_tile " + addr(4096) + "!pto.tile_buf<vec, 16x56xf32>"));  // scratch
  CHECK(contains(text, " = pto.alloc_tile " + addr(7680) + "!pto.tile_buf<vec, 56x16xf32>"));  // the result
  CHECK(contains(text, " = pto.alloc_tile " + addr(11264) + "!pto.tile_buf<vec, 16x56xf32>"));  // the copy
}

TEST_CASE("a copy that has no room") {
  const Function f = with_copy(64, 192);
  CHECK(thrown<UserError>([&] { (void)emit_pto_mlir(f, {.level = 3}); }) ==
        "/home/user/kernel.cpp:4: error: transpose: the instruction needs storage beside its operands, and Vec has no room for it (47104 bytes)\n"
        "  hint: make tiles smaller; a window that is an operand may be copied first, a whole tile is not");
  CHECK_FALSE(emit_pto_mlir(with_copy(64, 192, Arch::a5), {.arch = Arch::a5, .level = 3}).empty());
}

TEST_CASE("a sequence has scratch on a3") {
  Lowered l("k");
  const ValueId s = l.op(ops::arange, {l.f.constant(i32, std::int64_t{0})}, {}, tile_type(i32, {1, 64}));
  l.store(s, l.parameter("out", tensor_type(i32, {1, 64}), Direction::out));
  l.finish();
  const std::string a3 = emit_pto_mlir(plan_memory.run(l.f, {Arch::a3}), {.level = 3});
  INFO(a3);
  CHECK(contains(a3, " = pto.alloc_tile " + addr(256) + "!pto.tile_buf<vec, 1x192xi32>"));
  CHECK(contains(a3, " : i32, !pto.tile_buf<vec, 1x192xi32>) outs("));
  CHECK_FALSE(contains(emit_pto_mlir(plan_memory.run(l.f, {Arch::a5}), {.arch = Arch::a5, .level = 3}), "1x192"));
}
