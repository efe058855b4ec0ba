// Lowering and emission: what a generator needs besides the kernels.
#pragma once

#include "dsl/kernel.hpp"
#include "emit/pto_mlir.hpp"
#include "ir/source_names.hpp"
#include "passes/pipeline.hpp"

namespace tessera {

struct CompileOptions {
  Arch arch = Arch::a3;
  bool verify = true;  ///< after every pass
  Assembler assembler = Assembler::v0_60;  ///< whose spelling is written
};

/// Runs the default passes over a recorded function. Throws UserError where the program asks for what the target cannot do.
[[nodiscard]] inline Function lower(const Function& recorded, const CompileOptions& options = {}) {
  PassOptions passes;
  passes.verify = options.verify;
  return run_passes(recorded, default_pipeline(), {options.arch}, passes);
}

/// The `.pto` module of a kernel, as its generator writes it: `emit_pto(softmax, {.arch = Arch::a5})`. Throws UserError.
template <class F>
[[nodiscard]] std::string emit_pto(const Kernel<F>& kernel, const CompileOptions& options = {}) {
  Function f = kernel.trace();
  name_from_source(f);
  return emit_pto_mlir(lower(f, options), {.arch = options.arch, .assembler = options.assembler});
}

}  // namespace tessera
