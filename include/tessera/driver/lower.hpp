// `lower`: prints a kernel's IR, as recorded, before and after passes, or fully lowered, its memory map and its modelled timeline;
// of a function that calls kernels the whole program.
#pragma once

#include <fmt/format.h>

#include "../compile.hpp"
#include "../cost/memory_map_svg.hpp"
#include "../cost/timeline_svg.hpp"
#include "../ir/source_names.hpp"
#include "../passes/pipeline.hpp"
#include "environment.hpp"
#include "output.hpp"

namespace tessera::driver {

struct LowerCommand {
  std::string kernel;
  Arch arch = Arch::a3;
  std::vector<std::string> print_before, print_after;  ///< names of passes
  bool print_before_all = false, print_after_all = false;
  bool memory_map = false;  ///< of the planned kernels; the IR is printed only where it is asked for, too
  bool pipelining = true;  ///< as at level 3
  TileopForm tileops = TileopForm::inlined;
  bool timeline = false;    ///< of the planned kernels; likewise
  std::string svg;          ///< a file for what is asked for of memory map and timeline, or for both; empty: none
  TraceOptions trace;       ///< what the timeline takes for granted
  bool timing = false;
  bool locations = false;
};

namespace detail {

inline void require_passes(const std::vector<std::string>& wanted) {
  try {
    for (const std::string& w : wanted) static_cast<void>(find_pass(full_pipeline(), w));
  } catch (const UserError& e) { throw UsageError{e.diagnostic().message, e.diagnostic().hint}; }
}
inline void print_memory_maps(std::ostream& out, const Program& lowered) {
  for (const Function& f : lowered.functions)
    if (f.kind == FunctionKind::kernel) out << memory_map(f);
}
/// The kernel's part of what is stated for a program. A name that no kernel has stays, and is refused with the kernel's own.
inline TraceOptions options_of(const Program& lowered, const Function& kernel, TraceOptions options) {
  const auto knows = [](const Function& f, const std::string& name) {
    const std::vector<std::string> names = stated_names(f);
    return f.kind == FunctionKind::kernel && std::find(names.begin(), names.end(), name) != names.end();
  };
  std::erase_if(options.values, [&](const auto& value) {
    const auto has_it = [&](const Function& f) { return knows(f, value.first); };
    return !knows(kernel, value.first) && std::any_of(lowered.functions.begin(), lowered.functions.end(), has_it);
  });
  return options;
}
inline void print_timelines(std::ostream& out, const Program& lowered, const TraceOptions& options) {
  std::string_view between;
  for (const Function& f : lowered.functions) {
    if (f.kind != FunctionKind::kernel) continue;
    out << std::exchange(between, "\n") << timeline_text(f, options_of(lowered, f, options));
  }
}
/// Throws UserError where the file cannot be written.
inline void write_drawings(const LowerCommand& command, const Program& lowered) {
  const bool both = !command.timeline && !command.memory_map;
  std::vector<svg::Drawing> drawings;
  for (const Function& f : lowered.functions) {
    if (f.kind != FunctionKind::kernel) continue;
    if (both || command.timeline) drawings.push_back(timeline_drawing(f, timeline_of(f, options_of(lowered, f, command.trace))));
    if (both || command.memory_map) drawings.push_back(memory_map_drawing(f));
  }
  const std::filesystem::path path(command.svg);
  OutputFiles files(path.has_parent_path() ? path.parent_path() : std::filesystem::path("."), "give a file that can be written with --svg");
  files.add(path.filename().string(), svg::page(drawings));
  files.commit();
}
inline void print_times(std::ostream& err, const std::vector<PassTime>& times) {
  double total = 0;
  for (const PassTime& t : times) {
    const double microseconds = static_cast<double>(t.time.count()) / 1e3;
    total += microseconds;
    err << fmt::format("{:<28} {:>10.1f} us\n", t.pass, microseconds);
  }
  err << fmt::format("{:<28} {:>10.1f} us\n", "total", total);
}

}  // namespace detail

/// IR goes to `out`, times to `err`. Without a choice of passes the lowered function is printed, or its memory map and timeline. Throws
/// UsageError.
inline ExitCode run_lower(const Environment& env, const LowerCommand& command) {
  detail::require_passes(command.print_before);
  detail::require_passes(command.print_after);
  Errors errors(env.err);
  check_registry(env.kernels, errors);
  if (errors.any()) return errors.code();
  SourceFiles sources;
  Selection(env, {command.kernel}).for_each([&](const KernelEntry& kernel) {
    errors.attempt(&kernel, [&] {
      const PrintOptions printing{command.locations};
      const auto show = [&](std::string_view when, std::string_view what, const std::string& ir) {
        env.out << "// " << name_of(kernel) << ": " << when << ' ' << what << '\n' << ir << '\n';
      };
      const auto hook = [&](std::string_view when, bool all, const std::vector<std::string>& names) {
        return printing_hook(full_pipeline(), all ? std::vector<std::string>() : names, printing,
                             [=](const Pass& pass, const std::string& ir) { show(when, pass.name, ir); });
      };
      const bool before = command.print_before_all || !command.print_before.empty();
      const bool after = command.print_after_all || !command.print_after.empty();
      PassOptions options;
      std::vector<PassTime> times;
      options.verify = true;
      options.times = &times;
      if (before) options.before_program = hook("before", command.print_before_all, command.print_before);
      if (after) options.after_program = hook("after", command.print_after_all, command.print_after);
      Program recorded = trace_all(kernel, sources);
      if (command.print_after_all && !command.print_before_all) show("as", "recorded", print(recorded, printing));
      const Program lowered = run_passes(std::move(recorded), full_pipeline(), {command.arch, command.pipelining, command.tileops}, options);
      const bool shown = command.memory_map || command.timeline || !command.svg.empty();
      if (shown && kernel.kind() == FunctionKind::simt)
        fail(kernel.location(), fmt::format("lower: a simt kernel has no memory map and no timeline ({})", name_of(kernel)), "print its IR: leave out --memory-map, --timeline and --svg");
      if (shown && kernel.kind() == FunctionKind::tileop)
        fail(kernel.location(), fmt::format("lower: a tile operation has no memory map and no timeline of its own ({})", name_of(kernel)), "ask for those of a kernel that calls it");
      if (!before && !after && !shown) env.out << print(lowered, printing);
      if (command.memory_map) detail::print_memory_maps(env.out, lowered);
      if (command.memory_map && command.timeline) env.out << '\n';
      if (command.timeline) detail::print_timelines(env.out, lowered, command.trace);
      if (!command.svg.empty()) detail::write_drawings(command, lowered);
      if (command.timing) detail::print_times(env.err, times);
    });
  });
  return errors.code();
}

}  // namespace tessera::driver
