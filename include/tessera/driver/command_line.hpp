// The command line of a kernel generator: list, emit, lower, check.
#pragma once

#include <CLI/CLI.hpp>

#include <charconv>

#include "../emit/pto_mlir/text.hpp"
#include "check.hpp"
#include "emit.hpp"
#include "lower.hpp"

namespace tessera::driver {

namespace detail {
/// What a function is that is no kernel: "  (spmd, 8 blocks)".
[[nodiscard]] inline std::string kind_text(const KernelEntry& k) {
  if (k.kind() == FunctionKind::kernel) return {};
  if (k.kind() == FunctionKind::spmd) return fmt::format("  (spmd, {} block{})", k.blocks(), k.blocks() == 1 ? "" : "s");
  if (k.kind() == FunctionKind::simt) return fmt::format("  (simt, {} thread{})", tessera::detail::threads_text(k.threads()), k.threads().total() == 1 ? "" : "s");
  return fmt::format("  ({})", name(k.kind()));
}
}  // namespace detail

/// `list`: the kernels and where they are written; nothing is traced.
inline ExitCode run_list(const Environment& env) {
  Errors errors(env.err);
  check_registry(env.kernels, errors);
  std::size_t width = 0;
  Selection(env, {}).for_each([&](const KernelEntry& k) { width = std::max(width, name_of(k).size()); });
  Selection(env, {}).for_each([&](const KernelEntry& k) {
    env.out << fmt::format("{:<{}}  {}:{}{}\n", name_of(k), width, k.location().file, k.location().line, detail::kind_text(k));
  });
  return errors.code();
}

namespace detail {

inline constexpr std::string_view command_names[] = {"list", "emit", "lower", "check"};

inline Arch arch_of(const std::string& text, const Environment& env) {
  const std::optional<Arch> built_for = env.target();
  if (text.empty()) return built_for.value_or(Arch::a3);
  if (text != "a3" && text != "a5")
    throw UsageError{"--arch: there is no target of this name (" + text + ")", "targets: a3, a5"};
  const Arch wanted = text == "a3" ? Arch::a3 : Arch::a5;
  if (built_for && *built_for != wanted)
    throw UsageError{"--arch: this generator is built for one target only (" + std::string(name(*built_for)) +
                         ", not " + text + ")",
                     "build a second generator: tessera_add_kernels(... ARCH " + text + ")"};
  return wanted;
}
inline void require_command(const std::vector<std::string>& arguments) {
  const std::string known = "commands: " + joined(command_names, [](std::string_view n) { return std::string(n); });
  if (arguments.empty()) throw UsageError{"command: none is given", known};
  if (arguments[0].substr(0, 1) == "-" && arguments[0] != "-h" && arguments[0] != "--help")
    throw UsageError{"command: there is none in front of the options (" + arguments[0] + ")", known};
  if (arguments[0].substr(0, 1) != "-" &&
      std::find(std::begin(command_names), std::end(command_names), arguments[0]) == std::end(command_names))
    throw UsageError{"command: there is none of this name (" + arguments[0] + ")", known};
}
/// `forms`: a list with commas.
inline Forms forms_of(const std::string& forms) {
  Forms chosen{false, false};
  for (std::size_t begin = 0; begin <= forms.size();) {
    const std::string form = forms.substr(begin, forms.find(',', begin) - begin);
    begin += form.size() + 1;
    if (form != "pto" && form != "cpp") throw UsageError{"--emit: there is no form of this name (" + form + ")", "forms: pto, cpp"};
    (form == "pto" ? chosen.pto : chosen.cpp) = true;
  }
  return chosen;
}
inline Assembler assembler_of(const std::string& version) {
  for (std::size_t i = 0; i < std::size(pto::dialects); ++i)
    if (pto::dialects[i].version == version) return static_cast<Assembler>(i);
  throw UsageError{"--assembler: this version is not known (" + version + ")",
                   "versions: " + joined(pto::dialects, [](const pto::Dialect& d) { return std::string(d.version); })};
}
inline int level_of(const std::string& text) {
  if (text != "2" && text != "3") throw UsageError{"--level: there is no such level (" + text + ")", "levels: 2, 3"};
  return text == "2" ? 2 : 3;
}
inline TileopForm tileops_of(const std::string& text) {
  if (text != "inline" && text != "call") throw UsageError{"--tileop: there is no form of this name (" + text + ")", "forms: inline, call"};
  return text == "call" ? TileopForm::called : TileopForm::inlined;
}
inline Settings settings_of(const std::vector<std::string>& texts) {
  Settings settings;
  for (const std::string& t : texts) {
    const std::size_t sign = t.find('=');
    char* end = nullptr;
    const double number = sign != std::string::npos ? std::strtod(t.c_str() + sign + 1, &end) : 0;
    if (sign == 0 || sign == std::string::npos || end == t.c_str() + sign + 1 || *end != 0)
      throw UsageError{"--set: not a name and a number (" + t + ")", "--set S=40"};
    if (!settings.emplace(t.substr(0, sign), number).second)
      throw UsageError{"--set: the name is given twice (" + t.substr(0, sign) + ")", "give each name one number"};
  }
  return settings;
}
/// A whole number without a sign.
template <class Integer>
[[nodiscard]] Integer count_of(const char* option, const std::string& text, const char* hint) {
  Integer n = 0;
  const char* const end = text.data() + text.size();
  const auto [last, fault] = std::from_chars(text.data(), end, n);
  if (fault != std::errc() || last != end || text[0] == '-')
    throw UsageError{fault == std::errc::result_out_of_range ? fmt::format("{}: the number is too large ({})", option, text)
                                                             : fmt::format("{}: not a whole number without a sign ({})", option, text),
                     hint};
  return n;
}
/// What the parser of the command line says, in words of ours: the option, what is wrong, and in brackets what was given.
[[nodiscard]] inline std::string fault_text(const CLI::ParseError& e) {
  const std::string text = e.what();
  const std::size_t colon = text.find(": ");
  if (dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr && colon != std::string::npos)
    return "command line: there is no such option or argument (" + text.substr(colon + 2) + ")";
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&e) == nullptr) return text;
  if (colon == std::string::npos) {
    const std::string option = text.substr(0, text.find(' '));
    return (option[0] == '-' ? option : "--" + option) + ": it takes no value";
  }
  return text.substr(0, colon) + (text.find(" missing") != std::string::npos ? ": its value is missing" : ": it is given twice");
}

/// Integers that a timeline takes run-time dims and parameters to be.
inline std::vector<std::pair<std::string, std::int64_t>> integers_of(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::int64_t>> list;
  for (const auto& [name, number] : settings_of(texts)) {
    if (!(std::abs(number) <= largest_setting) || number != std::trunc(number))
      throw UsageError{fmt::format("--set: a timeline takes integers ({}={})", name, number), "--set S=40"};
    list.emplace_back(name, static_cast<std::int64_t>(number));
  }
  return list;
}
/// What only a timeline uses is given with one.
inline void require_timeline(const LowerCommand& command, bool with_values, bool with_trips) {
  const bool drawn = !command.svg.empty() && !command.memory_map;
  if ((with_values || with_trips) && !command.timeline && !drawn)
    throw UsageError{with_trips ? "--trips: there is no timeline that uses it" : "--set: there is no timeline that uses it", "with --timeline"};
  if (command.trace.trips < 1)
    throw UsageError{fmt::format("--trips: loops take one turn at least ({})", command.trace.trips), "--trips 4"};
}

/// What CLI11 fills in.
struct Parsed {
  std::string arch, assembler = "0.60", level = "2", forms = "pto", tileops = "inline", seed = "1", trips = "4";
  std::vector<std::string> settings, values;
  bool no_pipelining = false;
  EmitCommand emit;
  LowerCommand lower;
  CheckCommand check;
};
// An option that is given once for each value: the words behind its value are no further ones.
inline void repeatable(CLI::App* command, const char* name, std::vector<std::string>& values, const std::string& help) {
  command->add_option_function<std::string>(name, [&values](const std::string& v) { values.push_back(v); }, help)
      ->trigger_on_parse();
}
inline void describe(CLI::App& app, Parsed& p, const Environment& env) {
  app.require_subcommand(1);
  const std::optional<Arch> built_for = env.target();
  const std::string arches = built_for ? "target: " + std::string(name(*built_for)) + ", the only one of this generator"
                                       : std::string("target: a3 or a5 (default: a3)");
  const auto arch = [&](CLI::App* c) { c->add_option("--arch", p.arch, arches); };
  const auto flag = [](CLI::App* c, const char* name, bool& set, const std::string& help) { c->add_flag(name, set, help)->disable_flag_override(); };
  const auto pipelining = [&](CLI::App* c, const std::string& where) {
    flag(c, "--no-pipelining", p.no_pipelining, "leave loops as they are written: no buffers for several turns" + where);
  };
  const auto tileops = [&](CLI::App* c) {
    c->add_option("--tileop", p.tileops, "what becomes of tile operations: inline, their bodies in place of calls, or call, functions (default: " + p.tileops + ")");
  };
  app.add_subcommand("list", "names the kernels and where they are written");

  CLI::App* const emit = app.add_subcommand("emit", "writes <kernel>.pto or <kernel>.cpp for each kernel, and manifest.json");
  arch(emit);
  emit->add_option("--emit", p.forms, "forms to write: pto, cpp, or both with a comma (default: " + p.forms + ")");
  emit->add_option("--assembler", p.assembler,
                   "version of the PTO assembler that reads it: 0.60 or 0.27 (default: " + p.assembler + ")");
  emit->add_option("--level", p.level,
                   "level of the PTO assembler: at 2 it plans memory, at 3 tiles have addresses (default: " + p.level + ")");
  pipelining(emit, ", which they get at level 3 only");
  tileops(emit);
  emit->add_option("--out", p.emit.directory, "directory for the files (default: the current one)");
  emit->add_option("kernels", p.emit.kernels, "names of kernels (default: all)");

  CLI::App* const lower =
      app.add_subcommand("lower", "prints the IR of a kernel, fully lowered unless passes are named");
  lower->add_option("kernel", p.lower.kernel, "name of the kernel")->required();
  arch(lower);
  repeatable(lower, "--print-before", p.lower.print_before, "a pass before which the IR is printed; may be repeated");
  repeatable(lower, "--print-after", p.lower.print_after, "a pass after which the IR is printed; may be repeated");
  flag(lower, "--print-before-all", p.lower.print_before_all, "print before every pass");
  flag(lower, "--print-after-all", p.lower.print_after_all, "print the recorded IR and that after every pass");
  flag(lower, "--memory-map", p.lower.memory_map, "print where each tile stands in memory, and when, in place of the IR");
  pipelining(lower, "");
  tileops(lower);
  flag(lower, "--timeline", p.lower.timeline, "print when the pipes run which instructions, modelled, in place of the IR");
  lower->add_option("--svg", p.lower.svg, "a file for drawings of what is asked for of memory map and timeline, or of both");
  lower->add_option("--trips", p.trips, "of the timeline: turns of loops that end at run time (default: " + p.trips + ")");
  repeatable(lower, "--set", p.values, "of the timeline: a run-time dim or an integer parameter, S=40; may be repeated");
  flag(lower, "--timing", p.lower.timing, "time of each pass, on standard error");
  flag(lower, "--locations", p.lower.locations, "source lines behind the operations");

  CLI::App* const check =
      app.add_subcommand("check", "lowers kernels and runs them on random data against their tensor-level meaning");
  arch(check);
  pipelining(check, "");
  tileops(check);
  check->add_option("--seed", p.seed, "of the random data (default: " + p.seed + ")");
  repeatable(check, "--set", p.settings, "size of a run-time dim or value of a scalar parameter: S=40; may be repeated");
  check->add_option("kernels", p.check.kernels, "names of kernels (default: all)");
}

inline ExitCode dispatch(const Environment& env, std::vector<std::string> arguments, const std::string& program) {
  CLI::App app("Kernels in, PTO code out.", program);
  Parsed p;
  describe(app, p, env);
  require_command(arguments);
  try {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e, env.out, env.err), success;
  } catch (const CLI::CallForAllHelp& e) {
    return app.exit(e, env.out, env.err), success;
  } catch (const CLI::ParseError& e) { throw UsageError{fault_text(e), "see " + program + " --help"}; }
  if (app.got_subcommand("list")) return run_list(env);
  const Arch arch = arch_of(p.arch, env);
  if (app.got_subcommand("emit")) {
    p.emit.forms = forms_of(p.forms);
    p.emit.arch = arch;
    p.emit.generator = program;
    p.emit.assembler = assembler_of(p.assembler);
    p.emit.level = level_of(p.level);
    p.emit.pipelining = !p.no_pipelining;
    p.emit.tileops = tileops_of(p.tileops);
    return run_emit(env, p.emit);
  }
  if (app.got_subcommand("lower")) {
    p.lower.arch = arch;
    p.lower.pipelining = !p.no_pipelining;
    p.lower.tileops = tileops_of(p.tileops);
    p.lower.trace.values = integers_of(p.values);
    p.lower.trace.trips = count_of<std::int64_t>("--trips", p.trips, "--trips 4");
    require_timeline(p.lower, !p.values.empty(), app.get_subcommand("lower")->count("--trips") > 0);
    return run_lower(env, p.lower);
  }
  p.check.arch = arch;
  p.check.pipelining = !p.no_pipelining;
  p.check.tileops = tileops_of(p.tileops);
  p.check.seed = count_of<std::uint64_t>("--seed", p.seed, "--seed 2");
  p.check.settings = settings_of(p.settings);
  return run_check(env, p.check);
}

}  // namespace detail

/// Runs one command line (without the program's name). Never throws.
[[nodiscard]] inline ExitCode run(const Environment& env, std::vector<std::string> arguments,
                                  const std::string& program = "generator") noexcept {
  try {
    const ExitCode code = detail::dispatch(env, std::move(arguments), program);
    env.out.flush();
    if (env.out.good()) return code;
    env.err << "error: the output cannot be written\n  hint: check the space and the permissions of where it goes\n";
    return usage_error;
  } catch (const UsageError& e) {
    env.err << "error: " << e.message << "\n  hint: " << e.hint << '\n';
    return usage_error;
  } catch (const std::exception& e) { env.err << "internal error: " << e.what() << '\n'; } catch (...) {
    env.err << "internal error: an exception of an unknown type\n";
  }
  return internal_error;
}

}  // namespace tessera::driver
