// Passes and what runs them: properties are checked between passes, every pass can be verified, observed and timed.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "../ir/printer.hpp"
#include "../ir/properties.hpp"
#include "../ir/target.hpp"
#include "../ir/verifier.hpp"

namespace tessera {

/// What a pass may know besides the function.
struct PassContext {
  Arch arch = Arch::a3;
};

/// A pass reads one function and builds another. Properties that are neither produced nor invalidated are kept.
struct Pass {
  std::string_view name;
  Properties required = {};
  Properties produced = {};
  Properties invalidated = {};
  Function (*run)(const Function&, const PassContext&) = nullptr;
};

struct PassTime {
  std::string_view pass;
  std::chrono::nanoseconds time{};
};

/// How a list of passes is run and observed. All of it is optional.
struct PassOptions {
  bool verify = false;                   ///< the input and the result of every pass
  Properties properties = {};            ///< what the input has
  std::function<void(const Pass&, const Function&)> before, after;
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

/// An `after` or `before` hook that hands the printed function to `write`: for the named passes, or for all when there are none.
template <class Write>
[[nodiscard]] auto printing_hook(List<const Pass*> passes, const std::vector<std::string>& wanted, PrintOptions options,
                                 Write write) {
  std::vector<const Pass*> chosen;
  for (const std::string& w : wanted) chosen.push_back(&find_pass(passes, w));
  return [chosen = std::move(chosen), options, write = std::move(write)](const Pass& pass, const Function& f) {
    if (chosen.empty() || std::find(chosen.begin(), chosen.end(), &pass) != chosen.end())
      write(pass, print(f, options));
  };
}

namespace detail {
inline void verify_after(std::string_view pass, const Function& f, Properties promised) {
  try {
    verify(f, promised);
  } catch (const InternalError& e) {
    throw InternalError("after " + std::string(pass) + ": " + e.text());
  }
}
}  // namespace detail

namespace detail {
// Frees what `spent` points to once the first pass has read it.
[[nodiscard]] inline Function run_passes(const Function& input, Function* spent, List<const Pass*> passes,
                                         const PassContext& context, const PassOptions& options) {
  require_target(input, context.arch);
  Properties have = options.properties;
  if (options.verify) verify_after("recording", input, have);
  Function current;
  const Function* f = &input;
  for (const Pass* pass : passes) {
    if (!have.contains(pass->required))
      throw InternalError(std::string(pass->name) +
                          " requires what the function does not have: " + names(pass->required - have));
    if (options.before) options.before(*pass, *f);
    const auto start = std::chrono::steady_clock::now();
    current = pass->run(*f, context);
    if (options.times != nullptr)
      options.times->push_back(
          {pass->name, std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start)});
    f = &current;
    if (spent != nullptr) *spent = Function();
    spent = nullptr;
    have = (have - pass->invalidated) | pass->produced;
    if (options.verify) verify_after(pass->name, *f, have);
    if (options.after) options.after(*pass, *f);
  }
  return passes.empty() ? input : std::move(current);
}
}  // namespace detail

/// Runs the passes in order. Throws UserError when the source is compiled for another target, InternalError when a pass
/// does not find the properties that it requires or, with `verify`, when its result breaks a rule or a promise.
[[nodiscard]] inline Function run_passes(const Function& input, List<const Pass*> passes, const PassContext& context,
                                         const PassOptions& options = {}) {
  return detail::run_passes(input, nullptr, passes, context, options);
}
/// As above; the input's memory is free again after the first pass.
[[nodiscard]] inline Function run_passes(Function&& input, List<const Pass*> passes, const PassContext& context,
                                         const PassOptions& options = {}) {
  return detail::run_passes(input, &input, passes, context, options);
}

}  // namespace tessera
