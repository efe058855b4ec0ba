// Lowering and emission: what a generator needs besides the kernels, with the passes and the printer. Files that are compiled with
// TESSERA_COMPILED see declarations of what takes long to compile; tessera::compiled defines it.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dsl/simt.hpp"
#include "dsl/trace.hpp"
#include "emit/options.hpp"
#include "ir/printer.hpp"
#include "passes/pipeline.hpp"

namespace tessera {

namespace detail {
// Defined in emit/lower_and_emit.hpp. Functions and programs that are given up are moved from.
template <class FunctionOrProgram>
[[nodiscard]] std::remove_cvref_t<FunctionOrProgram> run_default_passes(FunctionOrProgram&& recorded, const CompileOptions& options);
template <class FunctionOrProgram>
[[nodiscard]] std::vector<KernelText> pto_texts(FunctionOrProgram recorded, const CompileOptions& options);
template <class FunctionOrProgram>
[[nodiscard]] std::vector<KernelText> cpp_texts(FunctionOrProgram recorded, const CompileOptions& options);
}  // namespace detail

/// Runs the default passes over a recorded function. Throws UserError where the program asks for what the target
/// cannot do, and where its source is compiled for another target.
[[nodiscard]] inline Function lower(const Function& recorded, const CompileOptions& options = {}) { return detail::run_default_passes(recorded, options); }
/// As above, for a program: its kernels are lowered, and its callers follow.
[[nodiscard]] inline Program lower(const Program& recorded, const CompileOptions& options = {}) { return detail::run_default_passes(recorded, options); }
/// As the first, in less memory: the recorded function is given up.
[[nodiscard]] inline Function lower(Function&& recorded, const CompileOptions& options = {}) { return detail::run_default_passes(std::move(recorded), options); }
/// As above, for a program.
[[nodiscard]] inline Program lower(Program&& recorded, const CompileOptions& options = {}) { return detail::run_default_passes(std::move(recorded), options); }

/// The `.pto` module of a kernel, as its generator writes it: `emit_pto(softmax, {.arch = Arch::a5})`. Throws UserError.
template <class F>
[[nodiscard]] std::string emit_pto(const Kernel<F>& kernel, const CompileOptions& options = {}) { return std::move(detail::pto_texts(kernel.trace(), options).front().text); }
template <class F>
[[nodiscard]] std::string emit_pto(const Simt<F>& kernel, const CompileOptions& options = {}) { return std::move(detail::pto_texts(kernel.trace(), options).front().text); }
/// The `.pto` modules of the kernels that an orchestration or wrapper reaches, callees first; what calls them is the host's.
template <class F>
[[nodiscard]] std::vector<KernelText> emit_pto(const Caller<F>& caller, const CompileOptions& options = {}) { return detail::pto_texts(caller.trace(), options); }

/// A kernel as C++ that calls the PTO tile library: `emit_cpp(softmax, {.arch = Arch::a5})`. Throws UserError, also for simt
/// kernels, which the library has nothing for.
template <class F>
[[nodiscard]] std::string emit_cpp(const Kernel<F>& kernel, const CompileOptions& options = {}) { return std::move(detail::cpp_texts(kernel.trace(), options).front().text); }
template <class F>
[[nodiscard]] std::string emit_cpp(const Simt<F>& kernel, const CompileOptions& options = {}) { return std::move(detail::cpp_texts(kernel.trace(), options).front().text); }
/// The kernels that an orchestration or wrapper reaches as C++, callees first; what calls them is the host's.
template <class F>
[[nodiscard]] std::vector<KernelText> emit_cpp(const Caller<F>& caller, const CompileOptions& options = {}) { return detail::cpp_texts(caller.trace(), options); }

}  // namespace tessera

#ifndef TESSERA_COMPILED
#include "emit/lower_and_emit.hpp"
#endif
