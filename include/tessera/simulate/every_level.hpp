// Runs what a function or program is after each pass; defines what <tessera/simulate.hpp> declares.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../passes/pipeline.hpp"
#include "run_both.hpp"

namespace tessera::simulator {

// One level of a kernel or program, on copies of the arguments.
template <class FunctionOrProgram>
void simulate_level(std::string_view level, const FunctionOrProgram& meaning, const FunctionOrProgram& f,
                    const std::vector<Argument>& arguments, const SimulateOptions& options) {
  const ArgumentCopies own(arguments);
  SimulateOptions without_pipes = options;
  without_pipes.pipes = nullptr;
  try {
    static_cast<void>(simulate_lowered(meaning, f, own.list(), without_pipes));
  } catch (const InternalError& e) { throw InternalError("after " + std::string(level) + ": " + e.text()); }
}
template <class FunctionOrProgram>
void run_every_level(const FunctionOrProgram& meaning, const std::vector<Argument>& arguments, const SimulateOptions& options) {
  PassOptions passes;
  passes.verify = true;
  const auto run = [&](const Pass& pass, const FunctionOrProgram& f) { simulate_level(pass.name, meaning, f, arguments, options); };
  if constexpr (std::is_same_v<FunctionOrProgram, Program>) passes.after_program = run;
  else passes.after = run;
  static_cast<void>(run_passes(meaning, full_pipeline(), {target_of(meaning, options.arch), true, options.tileops}, passes));
}

}  // namespace tessera::simulator
