// `emit`: writes <kernel>.pto for each kernel, and manifest.json.
#pragma once

#include <fmt/format.h>

#include "../compile.hpp"
#include "environment.hpp"
#include "manifest.hpp"
#include "output.hpp"

namespace tessera::driver {

struct EmitCommand {
  Arch arch = Arch::a3;
  Assembler assembler = Assembler::v0_60;
  std::string directory = ".";
  std::vector<std::string> kernels;  ///< none: all
};

/// Nothing is written when a kernel fails; all that fail are reported.
inline ExitCode run_emit(const Environment& env, const EmitCommand& command) {
  Errors errors(env.err);
  const std::size_t known = env.kernels.errors().size();
  check_registry(env.kernels, errors);
  if (env.kernels.size() == 0) return errors.code();
  SourceFiles sources;
  OutputFiles files(command.directory);
  std::vector<nlohmann::ordered_json> manifest;
  Selection(env, command.kernels).for_each([&](const KernelEntry& kernel) {
    errors.attempt(&kernel, [&] {
      require_file_name(kernel);
      const Function lowered = lower(trace(kernel, sources), {.arch = command.arch});
      const std::string file = name_of(kernel) + ".pto";
      files.add(file, emit_pto_mlir(lowered, {.arch = command.arch, .assembler = command.assembler}));
      manifest.push_back(kernel_json(lowered, file, command.arch));
    });
  });
  if (env.kernels.errors().size() > known) check_registry(env.kernels, errors, known);
  if (errors.any()) return errors.code();
  std::sort(manifest.begin(), manifest.end(), [](const auto& a, const auto& b) { return a["name"] < b["name"]; });
  files.add("manifest.json", manifest_text(manifest));
  errors.attempt(nullptr, [&] {
    const std::size_t changed = files.commit();
    env.out << fmt::format("{} kernel{} for {} in {}, {} file{} changed\n", manifest.size(),
                           manifest.size() == 1 ? "" : "s", name(command.arch), command.directory, changed,
                           changed == 1 ? "" : "s");
  });
  return errors.code();
}

}  // namespace tessera::driver
