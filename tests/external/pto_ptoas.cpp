// The real assembler takes what the emitter writes.
#include "support/catch.hpp"
#include "support/nd_programs.hpp"
#include "support/pto_kernels.hpp"
#include "support/ptoas.hpp"
#include "support/valid_extents.hpp"
#include "tessera/dsl/trace.hpp"
#include "tessera/emit/pto_mlir.hpp"
#include "tessera/kernel.hpp"
#include "tessera/passes/pipeline.hpp"
#include "tessera/passes/plan_memory.hpp"

using namespace programs;
using ::test::assemble;
using ::test::Assembled;

namespace {

// What only the newer assembler takes is refused by the emitter with its version's name.
bool refused_for_version(const UserError& e) {
  return ::test::assembler_version() == Assembler::v0_27 && e.diagnostic().message.find("0.27") != std::string::npos;
}

}  // namespace

TEST_CASE("the assembler takes whole kernels") {
  if (::test::assembler_is_absent()) return;
  for (const Arch arch : {Arch::a3, Arch::a5})
    for (const int level : {2, 3})
      for (const NamedKernel& k : kernels) {
        const Function f = plan_memory.run(k.make()->f, {arch});
        std::string text;
        try {
          text = emit_pto_mlir(f, {.arch = arch, .assembler = ::test::assembler_version(), .level = level, .locations = true});
        } catch (const UserError& e) {
          if (refused_for_version(e)) continue;
          throw;
        }
        const Assembled answer = assemble(text, arch, level);
        INFO(k.name << " " << name(arch) << " level " << level << "\n" << answer.words << text);
        CHECK(answer.accepted);
      }
}

TEST_CASE("the assembler takes kernels that were recorded on tiles of rank above 2") {
  if (::test::assembler_is_absent()) return;
  for (const Arch arch : {Arch::a3, Arch::a5})
    for (const tessera::test::NdProgram& p : tessera::test::nd_programs) {
      if (arch == Arch::a3 && !p.on_a3) continue;
      tessera::test::Recording k(p.name);
      p.record(k);
      const std::string text = emit_pto_mlir(run_passes(k.f(), default_pipeline(), {arch}), {.arch = arch, .assembler = ::test::assembler_version()});
      const Assembled answer = assemble(text, arch);
      INFO(p.name << " " << name(arch) << "\n" << answer.words << text);
      CHECK(answer.accepted);
    }
}

namespace {
template <DType D>
inline const auto copied = simt("copied_" + std::string(name(D)), threads(64), params("x", "y", "s"), [](Tensor<Shape<dyn<"N">, 8>, D> x, Out<Tensor<Shape<dyn<"N">, 8>, D>> y, Scalar<D> s) {
  for (Index k : range(thread_index(), dim(x, 0), thread_count())) {
    auto v = read(x, at(k, 3));
    write(y, at(k, 5), select(v < s, v, s));
  }
});
template <DType D>
inline const auto summed = simt("summed_" + std::string(name(D)), threads(8, 4, 2), params("x", "y", "first"), [](Tensor<Shape<64>, D> x, InOut<Tensor<Shape<4>, D>> y, Scalar<i32> first) {
  auto t = thread_index() + 8 * thread_index<1>() + 32 * thread_index<2>();
  sync_threads();
  Var v = read(x, at(t));
  Var n = first;
  while_([&] { return n > 0; }, [&] {
    v = v + v * 3 - 1;
    n = n / 2;
  });
  if_((block_index() == 0) | (block_count() > thread_count<1>()), [&] { atomic_add(y, at(t % 4), v); });
});
using Words = Tensor<Shape<64>, u32>;
inline const auto simt_launcher = kernel("simt_launcher", params("x", "y", "f", "g", "n"), [](Words x, InOut<Tensor<Shape<4>, u32>> y, Tensor<Shape<dyn<"N">, 8>, f32> f, Out<Tensor<Shape<dyn<"N">, 8>, f32>> g, Index n) {
  for (Index i : range(n)) {
    if_(read(x, at(i)) > 3u, [&] { summed<u32>(x, y, cast<i32>(i)); });
  }
  copied<f32>(f, g, 0.5f);
});
inline const auto simt_and_tiles = kernel("simt_and_tiles", params("x", "y", "a"), [](Words x, InOut<Tensor<Shape<4>, u32>> y, Tensor<Shape<16, 64>, f32> a) {
  summed<u32>(x, y, 3);
  return exp(a) / row_sum(a);
});
void check_simt(const KernelEntry& kernel, const std::string& as) {
  for (const int level : {2, 3}) {
    const Function f = run_passes(trace_kernel(kernel), default_pipeline(), {Arch::a5});
    const std::string text = emit_pto_mlir(f, {.arch = Arch::a5, .level = level, .locations = true});
    const Assembled answer = assemble(text, Arch::a5, level, as);
    INFO(f.name.c_str() << " level " << level << "\n" << answer.words << text);
    CHECK(answer.accepted);
  }
}
}  // namespace

TEST_CASE("the assembler takes simt kernels of every element type, and kernels that launch them") {
  if (::test::assembler_is_absent() || ::test::assembler_version() == Assembler::v0_27) return;
  // As far as threads go in every build of it; what makes objects of them is a part of the compiler for hardware.
  for (const KernelEntry* k : {&copied<f32>.entry(), &copied<f16>.entry(), &copied<bf16>.entry(), &copied<i8>.entry(), &copied<u8>.entry(), &copied<i16>.entry(),
                               &copied<u16>.entry(), &copied<i32>.entry(), &copied<u32>.entry(), &copied<i64>.entry(), &copied<u64>.entry(), &summed<f32>.entry(),
                               &summed<f16>.entry(), &summed<bf16>.entry(), &summed<i32>.entry(), &summed<u32>.entry(), &summed<i64>.entry(), &summed<u64>.entry(),
                               &simt_launcher.entry()})
    check_simt(*k, "--emit-vpto");
  // Tiles beside threads need templates that not every build has: the text is read and checked, for the backend without them.
  const Function f = run_passes(trace_kernel(simt_and_tiles.entry()), default_pipeline(), {Arch::a5});
  const std::string text = emit_pto_mlir(f, {.arch = Arch::a5});
  const Assembled answer = assemble(text, Arch::a5, 2, "--emit-pto-ir --pto-backend=emitc");
  INFO(answer.words << text);
  CHECK(answer.accepted);
}

namespace {
// One operation, where rules and emitter allow it (unit tests look at what they refuse).
void check_operation(const OpInfo& op, DType d, Arch arch, bool scratch, bool windows, int level = 2) {
  Lowered l("k");
  l.windows = windows;
  std::string text;
  try {
    const ValueId v = call(l, op, d, scratch);
    if (!v) return;
    sink(l, v);
    const Function f = level == 3 ? plan_memory.run(l.f, {arch}) : l.f;
    text = emit_pto_mlir(f, {.arch = arch, .assembler = ::test::assembler_version(), .level = level});
  } catch (const UserError&) { return; }
  const Assembled answer = assemble(text, arch, level);
  INFO(op.name << " " << name(d) << " " << name(arch) << (windows ? ", windows" : "") << ", level " << level << "\n" << answer.words << text);
  CHECK(answer.accepted);
}
}  // namespace

TEST_CASE("the assembler takes every operation for the element types of its table, with and without scratch") {
  if (::test::assembler_is_absent()) return;
  for (const Arch arch : {Arch::a3, Arch::a5})
    for (const ops::Family& family : ops::families)
      for (const OpInfo* op : family)
        for (const DType d : all_dtypes) {
          if (op->level == Level::control || !accepts_on(*op, d, arch)) continue;
          const bool optional_scratch = op->scratch != ScratchRule::none && op != &ops::gather_flat;
          check_operation(*op, d, arch, false, false);
          if (optional_scratch) check_operation(*op, d, arch, true, false);
          // At level 3 the assembler adds no scratch.
          check_operation(*op, d, arch, optional_scratch, false, 3);
          const bool look_at_windows = op->level != Level::scalar && (d == f32 || d == i16);
          if (look_at_windows) check_operation(*op, d, arch, optional_scratch, true);
          if (look_at_windows) check_operation(*op, d, arch, optional_scratch, true, 3);
        }
}

TEST_CASE("the assembler takes every operation on what is valid in part, by constants and at run time") {
  if (::test::assembler_is_absent() || ::test::assembler_version() == Assembler::v0_27) return;
  for (const valid_extents::Row& row : valid_extents::table())
    for (const OpInfo* op : row.ops)
      for (std::size_t i = 0; i < row.examples.size(); ++i)
        for (const Arch arch : {Arch::a3, Arch::a5})
          for (const bool run_time : {false, true}) {
            const valid_extents::Example& example = row.examples[i];
            valid_extents::Case c(*op, arch, run_time);
            if (!example.lowered || !example.refused.empty() || !valid_extents::is_available(c)) continue;
            valid_extents::finish(c, example.build(c));
            const std::string text = emit_pto_mlir(run_passes(c.k.f(), default_pipeline(), {arch}), {.arch = arch});
            const Assembled answer = assemble(text, arch);
            INFO(c.op.name << ", example " << i << " " << name(arch) << (run_time ? ", at run time" : "") << "\n" << answer.words << text);
            CHECK(answer.accepted);
          }
}

TEST_CASE("the tables leave out no element type of a tile operation that the assembler takes for its operands") {
  if (::test::assembler_is_absent() || ::test::assembler_version() == Assembler::v0_27) return;
  // Element types that a table leaves out on one target and states on the other: the assembler refuses them too.
  for (const ops::Family& family : ops::families)
    for (const OpInfo* op : family)
      for (const Arch arch : {Arch::a3, Arch::a5})
        for (const DType d : all_dtypes) {
          if (op->level != Level::shaped || !accepted_dtypes(*op).contains(d) || accepts_on(*op, d, arch)) continue;
          // The instruction library of a3 does not take them, or works on their bits as on those of floats.
          if (op->form == PtoForm::compare && (d == u32 || d == i16)) continue;
          if (op->form == PtoForm::arg_reduce) continue;
          Lowered l("k");
          std::string text;
          try {
            const ValueId v = call(l, *op, d);
            if (!v) continue;
            sink(l, v);
            text = emit_pto_mlir(l.f, {.arch = arch});
          } catch (const UserError&) { continue; }
          INFO(op->name << " " << name(d) << " " << name(arch) << "\n" << text);
          CHECK_FALSE(assemble(text, arch).accepted);
        }
}
