// `lower`: prints a kernel's IR, as recorded, before and after passes, or fully lowered.
#pragma once

#include <fmt/format.h>

#include "../compile.hpp"
#include "session.hpp"

namespace tessera::driver {

struct LowerCommand {
  std::string kernel;
  Arch arch = Arch::a3;
  std::vector<std::string> print_before, print_after;  ///< names of passes
  bool print_before_all = false, print_after_all = false;
  bool timing = false;
  bool locations = false;
};

namespace detail {

inline void require_passes(const std::vector<std::string>& wanted) {
  const auto text = [](const Pass* p) { return std::string(p->name); };
  for (const std::string& w : wanted)
    if (std::none_of(default_pipeline().begin(), default_pipeline().end(), [&](const Pass* p) { return p->name == w; }))
      throw UsageError{"there is no pass of this name (" + w + ")", "passes: " + joined(default_pipeline(), text)};
}
inline bool chosen(const Pass& pass, const std::vector<std::string>& names, bool all) {
  return all || std::find(names.begin(), names.end(), pass.name) != names.end();
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

/// IR goes to `out`, times to `err`. Without a choice of passes the lowered function is printed. Throws UsageError.
inline ExitCode run_lower(const Environment& env, const LowerCommand& command) {
  detail::require_passes(command.print_before);
  detail::require_passes(command.print_after);
  Errors errors(env.err);
  check_registry(env.kernels, errors);
  if (errors.any()) return errors.code();
  SourceFiles sources;
  Selection(env, {command.kernel}).for_each([&](const KernelEntry& kernel) {
    errors.attempt(&kernel, [&] {
      const auto show = [&](std::string_view when, std::string_view pass, const Function& f) {
        env.out << "// " << name_of(kernel) << ": " << when << ' ' << pass << '\n'
                << print(f, PrintOptions{command.locations}) << '\n';
      };
      PassOptions options;
      std::vector<PassTime> times;
      options.verify = true;
      options.times = &times;
      options.before = [&](const Pass& p, const Function& f) {
        if (detail::chosen(p, command.print_before, command.print_before_all)) show("before", p.name, f);
      };
      options.after = [&](const Pass& p, const Function& f) {
        if (detail::chosen(p, command.print_after, command.print_after_all)) show("after", p.name, f);
      };
      const Function recorded = trace(kernel, sources);
      if (command.print_after_all && !command.print_before_all) show("as", "recorded", recorded);
      const Function lowered = run_passes(recorded, default_pipeline(), {command.arch}, options);
      const bool any = command.print_before_all || command.print_after_all || !command.print_before.empty() ||
                       !command.print_after.empty();
      if (!any) env.out << print(lowered, PrintOptions{command.locations});
      if (command.timing) detail::print_times(env.err, times);
    });
  });
  return errors.code();
}

}  // namespace tessera::driver
