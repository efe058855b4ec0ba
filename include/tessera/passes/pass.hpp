// Passes and what runs them: properties are checked between passes, every pass can be verified, observed and timed.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "../ir/printer.hpp"
#include "../ir/program_verifier.hpp"
#include "../ir/properties.hpp"
#include "../ir/target.hpp"

namespace tessera {

/// What a pass may know besides the function.
struct PassContext {
  Arch arch = Arch::a3;
  bool pipelining = false;  ///< for output with addresses: loops get buffers for several turns, and buffers share bytes only where there is no room
  TileopForm tileops = TileopForm::inlined;
};

/// A pass reads one function and builds another. Properties that are neither produced nor invalidated are kept.
struct Pass {
  std::string_view name;
  Properties required = {};
  Properties produced = {};
  Properties invalidated = {};
  Function (*run)(const Function&, const PassContext&) = nullptr;
  /// Rewrites function number `index` of `before`, one that calls: those in front of it stand in `after`. Null: callers stay.
  Function (*run_caller)(const Program& before, const Program& after, std::size_t index) = nullptr;
  /// Whether a function has anything for it; others stay as they are, and no hook sees them. Null: every kernel has.
  bool (*applies)(const Function&) = nullptr;
  bool of_tileops = false;  ///< rewrites a tile operation that stands alone, too
};

struct PassTime {
  std::string_view pass;
  std::chrono::nanoseconds time{};
};

/// How a list of passes is run and observed. All of it is optional.
struct PassOptions {
  bool verify = false;                   ///< the input and the result of every pass
  Properties properties = {};            ///< what the input has
  std::function<void(const Pass&, const Function&)> before, after;  ///< of a function: the one that is given, or each kernel of a program
  std::function<void(const Pass&, const Program&)> before_program, after_program;  ///< of a program; not when a single function is given
  std::vector<PassTime>* times = nullptr;  ///< receives one entry per pass, verification excluded
};

/// The pass of that name. Throws UserError that lists the known ones.
[[nodiscard]] inline const Pass& find_pass(List<const Pass*> passes, std::string_view wanted) {
  std::string known;
  for (const Pass* p : passes) {
    if (p->name == wanted) return *p;
    known.append(known.empty() ? "" : ", ").append(p->name);
  }
  fail({}, "passes: there is no pass of this name (" + std::string(wanted) + ")", "known passes: " + known);
}

/// An `after` or `before` hook that hands the printed function or program to `write`: for the named passes, or for all when there are none.
template <class Write>
[[nodiscard]] auto printing_hook(List<const Pass*> passes, const std::vector<std::string>& wanted, PrintOptions options,
                                 Write write) {
  std::vector<const Pass*> chosen;
  for (const std::string& w : wanted) chosen.push_back(&find_pass(passes, w));
  return [chosen = std::move(chosen), options, write = std::move(write)](const Pass& pass, const auto& f) {
    if (chosen.empty() || std::find(chosen.begin(), chosen.end(), &pass) != chosen.end())
      write(pass, print(f, options));
  };
}

namespace detail {
template <class FunctionOrProgram>
void verify_after(std::string_view pass, const FunctionOrProgram& f, Properties promised) {
  try {
    verify(f, promised);
  } catch (const InternalError& e) {
    throw InternalError("after " + std::string(pass) + ": " + e.text());
  }
}

inline void require_properties(const Pass& pass, Properties have) {
  if (!have.contains(pass.required))
    throw InternalError(std::string(pass.name) + " requires what the function does not have: " + names(pass.required - have));
}
// What the runner does with a function, and with a program.
inline void require_input(const Function& f, Arch arch, const PassOptions& options) {
  require_kernel(f);
  require_target(f, arch);
  if (options.before_program || options.after_program) throw InternalError("passes: a hook for programs, but a single function is given (" + std::string(f.name.c_str()) + ")");
}
inline void require_input(const Program& p, Arch arch, const PassOptions&) {
  for (const Function& f : p.functions) require_target(f, arch);
}
// Simt kernels hold numbers only, and stay as they are recorded.
[[nodiscard]] inline bool applies(const Pass& pass, const Function& f) { return f.kind != FunctionKind::simt && (pass.applies == nullptr || pass.applies(f)); }
[[nodiscard]] inline bool applies(const Pass& pass, const Program& p) {
  return std::any_of(p.functions.begin(), p.functions.end(), [&](const Function& f) { return applies(pass, f); });
}
[[nodiscard]] inline Function run_pass(const Pass& pass, const Function& f, const PassContext& context) { return pass.run(f, context); }
[[nodiscard]] inline Program run_pass(const Pass& pass, const Program& p, const PassContext& context) {
  Program made;
  made.functions.reserve(p.functions.size());
  for (std::size_t i = 0; i < p.functions.size(); ++i) {
    const Function& f = p.functions[i];
    const bool treated = f.kind == FunctionKind::kernel || (f.kind == FunctionKind::tileop && pass.of_tileops);
    if (treated && applies(pass, f)) made.functions.push_back(pass.run(f, context));
    else if (!runs_on_chip(f.kind) && pass.run_caller != nullptr) made.functions.push_back(pass.run_caller(p, made, i));
    else made.functions.push_back(f);
  }
  return made;
}
using FunctionHook = std::function<void(const Pass&, const Function&)>;
using ProgramHook = std::function<void(const Pass&, const Program&)>;
inline void observe(const FunctionHook& each, const ProgramHook&, const Pass& pass, const Function& f) {
  if (each) each(pass, f);
}
inline void observe(const FunctionHook& each, const ProgramHook& whole, const Pass& pass, const Program& p) {
  for (const Function& f : p.functions)
    if (f.kind == FunctionKind::kernel) observe(each, {}, pass, f);
  if (whole) whole(pass, p);
}

// Frees what `spent` points to once the first pass has read it.
template <class FunctionOrProgram>
[[nodiscard]] FunctionOrProgram run_passes(const FunctionOrProgram& input, FunctionOrProgram* spent, List<const Pass*> passes, const PassContext& context,
                                           const PassOptions& options) {
  require_input(input, context.arch, options);
  Properties have = options.properties;
  if (options.verify) verify_after("recording", input, have);
  FunctionOrProgram current;
  const FunctionOrProgram* now = &input;
  for (const Pass* pass : passes) {
    require_properties(*pass, have);
    const bool has_work = applies(*pass, *now);
    if (has_work) observe(options.before, options.before_program, *pass, *now);
    const auto start = std::chrono::steady_clock::now();
    if (has_work) current = run_pass(*pass, *now, context);
    if (options.times != nullptr)
      options.times->push_back(
          {pass->name, std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start)});
    if (has_work) {
      now = &current;
      if (spent != nullptr) *spent = FunctionOrProgram();
      spent = nullptr;
    }
    have = (have - pass->invalidated) | pass->produced;
    if (!has_work) continue;
    if (options.verify) verify_after(pass->name, *now, have);
    observe(options.after, options.after_program, *pass, *now);
  }
  if (now == &input) return input;
  return current;
}
}  // namespace detail

/// Runs the passes in order. Throws UserError when the source is compiled for another target, InternalError when a pass
/// does not find the properties that it requires or, with `verify`, when its result breaks a rule or a promise.
[[nodiscard]] inline Function run_passes(const Function& input, List<const Pass*> passes, const PassContext& context,
                                         const PassOptions& options = {}) {
  return detail::run_passes<Function>(input, nullptr, passes, context, options);
}
/// As above; the input's memory is free again after the first pass.
[[nodiscard]] inline Function run_passes(Function&& input, List<const Pass*> passes, const PassContext& context,
                                         const PassOptions& options = {}) {
  return detail::run_passes<Function>(input, &input, passes, context, options);
}
/// Runs the passes over the kernels of a program; those that have a part for callers adapt the calls. Throws as above.
[[nodiscard]] inline Program run_passes(const Program& input, List<const Pass*> passes, const PassContext& context,
                                        const PassOptions& options = {}) {
  return detail::run_passes<Program>(input, nullptr, passes, context, options);
}
/// As above; the input's memory is free again after the first pass.
[[nodiscard]] inline Program run_passes(Program&& input, List<const Pass*> passes, const PassContext& context,
                                        const PassOptions& options = {}) {
  return detail::run_passes<Program>(input, &input, passes, context, options);
}

}  // namespace tessera
