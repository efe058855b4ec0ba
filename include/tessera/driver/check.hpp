// `check`: verifies, lowers, emits and simulates kernels on random data; the lowered kernel must give what the recorded
// one means. It must have a module at level 2; that it has none at level 3, no C++, or no text at all because of a split
// region, is noted.
#pragma once

#include <fmt/format.h>

#include <cmath>

#include "../compile.hpp"
#include "../emit/pto_cpp.hpp"
#include "../emit/pto_mlir.hpp"
#include "../passes/pipeline.hpp"
#include "../simulate.hpp"
#include "environment.hpp"
#include "random_arguments.hpp"

namespace tessera::driver {

struct CheckCommand {
  Arch arch = Arch::a3;
  bool pipelining = true;  ///< as at level 3
  TileopForm tileops = TileopForm::inlined;
  std::uint64_t seed = 1;
  Settings settings;
  std::vector<std::string> kernels;  ///< none: all
};

namespace detail {

/// A kernel that is to be checked; no function when recording it failed.
struct CheckedKernel {
  const KernelEntry* kernel = nullptr;
  std::optional<Program> meaning;
};

/// What a tile operation is, for those that no kernel runs on its own.
[[nodiscard]] inline std::string summary_text(const TileOpSummary& s) {
  std::string pipes;
  for (int i = 0; i < pipe_count; ++i)
    if (const auto p = static_cast<Pipe>(i); s.uses(p)) pipes.append(pipes.empty() ? "" : ", ").append(name(p));
  return fmt::format("a {} operation on {}", name(s.kind), pipes);
}

/// Throws UsageError where a setting has a name that no kernel knows, or a number that one of them cannot take.
inline void require_settings(const Settings& settings, const std::vector<CheckedKernel>& kernels) {
  std::vector<std::string> known;
  bool all_recorded = true;
  for (const CheckedKernel& k : kernels) {
    all_recorded = all_recorded && k.meaning;
    if (!k.meaning) continue;
    for (const SettingName& n : setting_names(k.meaning->entry(), &*k.meaning)) {
      if (std::find(known.begin(), known.end(), n.name) == known.end()) known.push_back(n.name);
      const auto set = settings.find(n.name);
      if (set == settings.end()) continue;
      if (const std::string fault = fault_of(n, set->second); !fault.empty())
        throw UsageError{fmt::format("--set: {} ({}={})", fault, n.name, set->second),
                         "it is one of kernel " + name_of(*k.kernel)};
    }
  }
  for (const auto& [name, number] : settings)
    if (all_recorded && std::find(known.begin(), known.end(), name) == known.end())
      throw UsageError{
          "--set: no kernel has a run-time dim or a scalar parameter of this name (" + name + ")",
          known.empty() ? "leave it out" : "names: " + joined(known, [](const std::string& n) { return n; })};
}
inline std::vector<CheckedKernel> record(const Environment& env, const CheckCommand& command, Errors& errors) {
  SourceFiles sources;
  std::vector<CheckedKernel> list;
  Selection(env, command.kernels).for_each([&](const KernelEntry& kernel) {
    if (kernel.kind() == FunctionKind::tileop) {
      const bool good = errors.attempt(&kernel, [&] {
        env.out << fmt::format("ok      {}: {}\n", name_of(kernel), summary_text(*summarised(kernel, sources, command.arch).summary));
      });
      if (!good) env.out << "FAILED  " << name_of(kernel) << '\n';
      return;
    }
    list.push_back({&kernel, {}});
    errors.attempt(&kernel, [&] {
      list.back().meaning = trace_all(kernel, sources);
    });
  });
  return list;
}
/// Calls emit(kernel) for the kernels of a program.
template <class Emit>
void emit_kernels(const Program& lowered, Emit emit) {
  for (const Function& f : lowered.functions)
    if (is_kernel(f.kind)) static_cast<void>(emit(f));
}
/// As above, and whether all have text of this form. That a kernel has none is noted only: perhaps nobody asks for it.
template <class Emit>
bool try_form(Errors& errors, const KernelEntry& kernel, std::string_view form, const Program& lowered, Emit emit) {
  bool all = true;
  emit_kernels(lowered, [&](const Function& f) {
    try {
      static_cast<void>(emit(f));
    } catch (const UserError& e) {
      Diagnostic d = e.diagnostic();
      d.message.insert(0, fmt::format("not {}: ", form));
      errors.note(d, kernel);
      all = false;
    }
    return all;
  });
  return all;
}
/// NaN agrees with NaN, whatever was computed: says how much of the results that is.
inline void note_nan(Errors& errors, const KernelEntry& kernel, const Function& f, const std::vector<HostTensor>& results, const std::vector<Argument>& arguments) {
  std::int64_t count = 0, nan = 0;
  const auto look = [&](const HostTensor& t) {
    if (!is_float(t.dtype())) return;
    count += t.size();
    for (std::int64_t i = 0; i < t.size(); ++i) nan += std::isnan(t.get(i)) ? 1 : 0;
  };
  for (const HostTensor& t : results) look(t);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (f.parameters[i].direction != Direction::in && arguments[i].writable() != nullptr) look(*arguments[i].writable());
  if (nan > 0)
    errors.note({kernel.location(), fmt::format("check: {} of {} results are NaN, which agree with any NaN", nan, count),
                 "draw other numbers with --seed, or state those of scalars: --set eps=0.001"},
                kernel);
}
/// Lowers, emits and runs one kernel. Throws.
inline Statistics run_once(Errors& errors, const KernelEntry& kernel, const Program& meaning, const CheckCommand& command, const Settings& settings) {
  const Arch arch = command.arch;
  // A split region has no text of any form.
  const auto unless_split = [](auto emit) { return [emit](const Function& f) { return has_split_region(f) ? std::string() : emit(f); }; };
  const auto text = unless_split([arch](const Function& f) { return emit_pto_mlir(f, {.arch = arch, .level = pto::needs_addresses(f) != nullptr ? 3 : 2}); });
  const auto text_3 = unless_split([arch](const Function& f) { return emit_pto_mlir(f, {.arch = arch, .level = 3}); });
  const auto cpp = unless_split([arch](const Function& f) { return emit_pto_cpp(f, {.arch = arch}); });
  const Program for_text = lower(meaning, {.arch = arch, .tileops = command.tileops});
  const Program lowered = lower(meaning, {.arch = arch, .level = 3, .pipelining = command.pipelining, .tileops = command.tileops, .synchronise = true});
  try_form(errors, kernel, "emitted", for_text, [arch](const Function& f) { return has_split_region(f) ? emit_pto_mlir(f, {.arch = arch}) : std::string(); });
  // Calls that text does not take must have C++.
  bool has_text = true;
  if (command.tileops == TileopForm::called) has_text = try_form(errors, kernel, "as .pto text", for_text, text);
  else emit_kernels(for_text, text);
  if (!has_text) {
    emit_kernels(lowered, cpp);
  } else {
    try_form(errors, kernel, "at level 3", lowered, text_3);
    try_form(errors, kernel, "as C++", lowered, cpp);
  }
  const RandomArguments arguments(meaning, command.seed, settings);
  Statistics done;
  SimulateOptions options;
  options.arch = command.arch;
  options.statistics = &done;
  note_nan(errors, kernel, meaning.entry(), simulate_lowered(meaning, lowered, arguments.list(), options), arguments.list());
  return done;
}

}  // namespace detail

/// One line for each kernel on `out`, with the numbers that its run used; errors and notes on `err`. Throws UsageError, before
/// anything runs.
inline ExitCode run_check(const Environment& env, const CheckCommand& command) {
  Errors errors(env.err);
  const std::size_t known = env.kernels.errors().size();
  check_registry(env.kernels, errors);
  if (env.kernels.size() == 0) return errors.code();
  const std::vector<detail::CheckedKernel> kernels = detail::record(env, command, errors);
  detail::require_settings(command.settings, kernels);
  std::size_t good = 0;
  for (const auto& [kernel, meaning] : kernels) {
    Statistics done;
    const Settings settings = meaning ? complete(meaning->entry(), command.seed, command.settings, &*meaning) : Settings();
    const std::string used = settings.empty() ? "" : "; " + text(settings);
    const bool ok = meaning && errors.attempt(kernel, [&, &recorded = *meaning] {
      done = detail::run_once(errors, *kernel, recorded, command, settings);
    });
    if (ok) {
      ++good;
      env.out << fmt::format("ok      {}: {} instructions, {} bytes read, {} written{}\n", name_of(*kernel),
                             done.instructions, done.gm_bytes_read, done.gm_bytes_written, used);
    } else {
      env.out << "FAILED  " << name_of(*kernel) << used << '\n';
    }
  }
  if (env.kernels.errors().size() > known) check_registry(env.kernels, errors, known);
  if (!kernels.empty())
    env.out << fmt::format("{} of {} kernels agree with their meaning on {}\n", good, kernels.size(), name(command.arch));
  return errors.code();
}

}  // namespace tessera::driver
