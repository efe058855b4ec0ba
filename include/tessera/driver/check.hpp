// `check`: verifies, lowers, emits and simulates kernels on random data; the lowered kernel must give what the recorded one
// means.
#pragma once

#include <fmt/format.h>

#include "../compile.hpp"
#include "../simulate.hpp"
#include "random_arguments.hpp"
#include "session.hpp"

namespace tessera::driver {

struct CheckCommand {
  Arch arch = Arch::a3;
  std::uint64_t seed = 1;
  Settings settings;
  std::vector<std::string> kernels;  ///< none: all
};

/// One line for each kernel on `out`; errors on `err`.
inline ExitCode check(const Environment& env, const CheckCommand& command) {
  Errors errors(env.err);
  const std::size_t known = env.kernels.errors().size();
  check_registry(env.kernels, errors);
  SourceFiles sources;
  std::size_t count = 0, good = 0;
  Selection(env, command.kernels).for_each([&](const KernelEntry& kernel) {
    Statistics done;
    ++count;
    const bool ok = errors.attempt(&kernel, [&] {
      require_file_name(kernel);
      const Function meaning = trace(kernel, sources);
      const Function lowered = lower(meaning, {.arch = command.arch});
      static_cast<void>(emit_pto_mlir(lowered, {.arch = command.arch}));
      const RandomArguments arguments(meaning, command.seed, command.settings);
      SimulateOptions options;
      options.arch = command.arch;
      options.statistics = &done;
      static_cast<void>(simulate_lowered(meaning, lowered, arguments.list(), options));
    });
    if (ok) {
      ++good;
      env.out << fmt::format("ok      {}: {} instructions, {} bytes read, {} written\n", kernel.name(), done.instructions, done.gm_bytes_read, done.gm_bytes_written);
    } else {
      env.out << "FAILED  " << kernel.name() << '\n';
    }
  });
  if (env.kernels.errors().size() > known) check_registry(env.kernels, errors, known);
  if (count > 0) env.out << fmt::format("{} of {} kernels agree with their meaning on {}\n", good, count, name(command.arch));
  return errors.code();
}

}  // namespace tessera::driver
