// `check`: verifies, lowers, emits and simulates kernels on random data; the lowered kernel must give what the recorded
// one means.
#pragma once

#include <fmt/format.h>

#include "../compile.hpp"
#include "../simulate.hpp"
#include "environment.hpp"
#include "random_arguments.hpp"

namespace tessera::driver {

struct CheckCommand {
  Arch arch = Arch::a3;
  std::uint64_t seed = 1;
  Settings settings;
  std::vector<std::string> kernels;  ///< none: all
};

namespace detail {
inline void require_settings(const Settings& settings, const std::vector<std::string>& known) {
  for (const auto& [name, number] : settings)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw UsageError{
          "--set: no kernel has a run-time dim or a scalar parameter of this name (" + name + ")",
          known.empty() ? "leave it out" : "names: " + joined(known, [](const std::string& n) { return n; })};
}
}  // namespace detail

/// One line for each kernel on `out`; errors on `err`. Throws UsageError.
inline ExitCode run_check(const Environment& env, const CheckCommand& command) {
  Errors errors(env.err);
  const std::size_t known = env.kernels.errors().size();
  check_registry(env.kernels, errors);
  if (env.kernels.size() == 0) return errors.code();
  SourceFiles sources;
  std::size_t count = 0, good = 0;
  std::vector<std::string> known_settings;
  Selection(env, command.kernels).for_each([&](const KernelEntry& kernel) {
    Statistics done;
    ++count;
    const bool ok = errors.attempt(&kernel, [&] {
      require_file_name(kernel);
      const Function meaning = trace(kernel, sources);
      for (std::string& n : setting_names(meaning)) known_settings.push_back(std::move(n));
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
      env.out << fmt::format("ok      {}: {} instructions, {} bytes read, {} written\n", name_of(kernel),
                             done.instructions, done.gm_bytes_read, done.gm_bytes_written);
    } else {
      env.out << "FAILED  " << name_of(kernel) << '\n';
    }
  });
  if (env.kernels.errors().size() > known) check_registry(env.kernels, errors, known);
  if (count > 0)
    env.out << fmt::format("{} of {} kernels agree with their meaning on {}\n", good, count, name(command.arch));
  if (!errors.any()) detail::require_settings(command.settings, known_settings);
  return errors.code();
}

}  // namespace tessera::driver
