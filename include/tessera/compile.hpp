// Lowering and emission: what a generator needs besides the kernels.
#pragma once

#include "dsl/simt.hpp"
#include "dsl/trace.hpp"
#include "emit/pto_cpp.hpp"
#include "emit/pto_mlir.hpp"
#include "ir/source_names.hpp"
#include "passes/pipeline.hpp"

namespace tessera {

struct CompileOptions {
  std::optional<Arch> arch = {};  ///< none: the target that the kernel is compiled for; a3 when it is compiled for any
  bool verify = true;  ///< after every pass
  Assembler assembler = Assembler::v0_60;  ///< whose spelling is written
  int level = 2;     ///< of the assembler: 2, where it plans memory, or 3, with planned addresses
  bool pipelining = true;  ///< at level 3 and in C++: loops that stream have buffers for several turns, bytes are reused where no pipe waits
  TileopForm tileops = TileopForm::inlined;  ///< whether calls of tile operations stay calls
  bool synchronise = false;  ///< flags and barriers between the pipes, as C++ has them (the assembler sets its own); text with them is for level 3
};

namespace detail {
// The passes that the options ask for. Functions and programs that are given up are moved from.
template <class FunctionOrProgram>
[[nodiscard]] auto lower(FunctionOrProgram&& recorded, const CompileOptions& options) {
  PassOptions passes;
  passes.verify = options.verify;
  const PassContext context{target_of(recorded, options.arch), options.pipelining && (options.level == 3 || options.synchronise), options.tileops};
  return run_passes(static_cast<FunctionOrProgram&&>(recorded), options.synchronise ? full_pipeline() : default_pipeline(), context, passes);
}
}  // namespace detail

/// Runs the default passes over a recorded function. Throws UserError where the program asks for what the target
/// cannot do, and where its source is compiled for another target.
[[nodiscard]] inline Function lower(const Function& recorded, const CompileOptions& options = {}) { return detail::lower(recorded, options); }
/// As above, for a program: its kernels are lowered, and its callers follow.
[[nodiscard]] inline Program lower(const Program& recorded, const CompileOptions& options = {}) { return detail::lower(recorded, options); }
/// As the first, in less memory: the recorded function is given up.
[[nodiscard]] inline Function lower(Function&& recorded, const CompileOptions& options = {}) { return detail::lower(std::move(recorded), options); }
/// As above, for a program.
[[nodiscard]] inline Program lower(Program&& recorded, const CompileOptions& options = {}) { return detail::lower(std::move(recorded), options); }

namespace detail {
[[nodiscard]] inline std::string emit_pto(Function&& f, const CompileOptions& options) {
  name_from_source(f);
  const Arch arch = target_of(f, options.arch);
  return emit_pto_mlir(tessera::lower(std::move(f), options), {.arch = arch, .assembler = options.assembler, .level = options.level});
}
[[nodiscard]] inline std::string emit_cpp(Function&& f, CompileOptions options) {
  name_from_source(f);
  const Arch arch = target_of(f, options.arch);
  options.synchronise = true;
  return emit_pto_cpp(tessera::lower(std::move(f), options), {.arch = arch});
}
}  // namespace detail

/// The `.pto` module of a kernel, as its generator writes it: `emit_pto(softmax, {.arch = Arch::a5})`. Throws UserError.
template <class F>
[[nodiscard]] std::string emit_pto(const Kernel<F>& kernel, const CompileOptions& options = {}) { return detail::emit_pto(kernel.trace(), options); }
template <class F>
[[nodiscard]] std::string emit_pto(const Simt<F>& kernel, const CompileOptions& options = {}) { return detail::emit_pto(kernel.trace(), options); }

/// The module of one kernel of a program.
struct KernelText {
  std::string kernel, text;
};
/// The `.pto` modules of the kernels that an orchestration or wrapper reaches, callees first; what calls them is the host's.
template <class F>
[[nodiscard]] std::vector<KernelText> emit_pto(const Caller<F>& caller, const CompileOptions& options = {}) {
  Program p = caller.trace();
  name_from_source(p);
  const Arch arch = target_of(p, options.arch);
  const Program lowered = lower(std::move(p), options);
  std::vector<KernelText> texts;
  for (const Function& f : lowered.functions)
    if (is_kernel(f.kind)) texts.push_back({f.name.c_str(), emit_pto_mlir(f, {.arch = arch, .assembler = options.assembler, .level = options.level})});
  return texts;
}

/// A kernel as C++ that calls the PTO tile library: `emit_cpp(softmax, {.arch = Arch::a5})`. Throws UserError, also for simt
/// kernels, which the library has nothing for.
template <class F>
[[nodiscard]] std::string emit_cpp(const Kernel<F>& kernel, const CompileOptions& options = {}) { return detail::emit_cpp(kernel.trace(), options); }
template <class F>
[[nodiscard]] std::string emit_cpp(const Simt<F>& kernel, const CompileOptions& options = {}) { return detail::emit_cpp(kernel.trace(), options); }
/// The kernels that an orchestration or wrapper reaches as C++, callees first; what calls them is the host's.
template <class F>
[[nodiscard]] std::vector<KernelText> emit_cpp(const Caller<F>& caller, CompileOptions options = {}) {
  Program p = caller.trace();
  name_from_source(p);
  const Arch arch = target_of(p, options.arch);
  options.synchronise = true;
  const Program lowered = lower(std::move(p), options);
  std::vector<KernelText> texts;
  for (const Function& f : lowered.functions)
    if (is_kernel(f.kind)) texts.push_back({f.name.c_str(), emit_pto_cpp(f, {.arch = arch})});
  return texts;
}

}  // namespace tessera
