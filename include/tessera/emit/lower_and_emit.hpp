// From recorded functions and programs to lowered ones, and to text; defines what <tessera/compile.hpp> declares.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../ir/source_names.hpp"
#include "../passes/pipeline.hpp"
#include "options.hpp"
#include "pto_cpp.hpp"
#include "pto_mlir.hpp"

namespace tessera::detail {

template <class FunctionOrProgram>
[[nodiscard]] std::remove_cvref_t<FunctionOrProgram> run_default_passes(FunctionOrProgram&& recorded, const CompileOptions& options) {
  PassOptions passes;
  passes.verify = options.verify;
  const PassContext context{target_of(recorded, options.arch), options.pipelining && (options.level == 3 || options.synchronise), options.tileops};
  return run_passes(static_cast<FunctionOrProgram&&>(recorded), options.synchronise ? full_pipeline() : default_pipeline(), context, passes);
}

// The text of a kernel, or of each kernel of a program.
template <class Emit>
[[nodiscard]] std::vector<KernelText> texts_of(const Function& f, Emit emit) {
  std::vector<KernelText> texts;
  texts.push_back({f.name.c_str(), emit(f)});
  return texts;
}
template <class Emit>
[[nodiscard]] std::vector<KernelText> texts_of(const Program& p, Emit emit) {
  std::vector<KernelText> texts;
  for (const Function& f : p.functions)
    if (is_kernel(f.kind)) texts.push_back({f.name.c_str(), emit(f)});
  return texts;
}
template <class FunctionOrProgram>
[[nodiscard]] std::vector<KernelText> pto_texts(FunctionOrProgram recorded, const CompileOptions& options) {
  name_from_source(recorded);
  const Arch arch = target_of(recorded, options.arch);
  return texts_of(detail::run_default_passes(std::move(recorded), options), [&](const Function& f) {
    return emit_pto_mlir(f, {.arch = arch, .assembler = options.assembler, .level = options.level});
  });
}
template <class FunctionOrProgram>
[[nodiscard]] std::vector<KernelText> cpp_texts(FunctionOrProgram recorded, const CompileOptions& options) {
  name_from_source(recorded);
  const Arch arch = target_of(recorded, options.arch);
  CompileOptions with_flags = options;
  with_flags.synchronise = true;
  return texts_of(detail::run_default_passes(std::move(recorded), with_flags), [&](const Function& f) { return emit_pto_cpp(f, {.arch = arch}); });
}

}  // namespace tessera::detail
