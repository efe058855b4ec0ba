// A random program through the pipeline: after every pass it is verified and computes what was recorded, and it can be
// emitted. A pass may refuse a program, in the words of a rule or with a hint.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <tessera/simulate/run.hpp>

#include "catch.hpp"
#include "random_program.hpp"

namespace tessera::test {

/// How a program fared on one target: it went through, was refused in these words, or shows a fault.
struct Fate {
  std::string refusal, fault, module;
  bool nonsense = false;  ///< the program itself is wrong: a fault of the generator
};

/// Runs what a pass made of a program, and throws InternalError where it gives another thing than `expected` and `meaning`, which are of
/// the program as recorded.
void require_same_run(const RandomProgram& p, const RandomProgram::Run& expected, const SimulationResult& meaning, const Function& f);
[[nodiscard]] Fate pass_through(RandomProgram& p, Arch arch);

/// Of a seed and a budget of operations.
using MakeProgram = std::function<std::shared_ptr<RandomProgram>(std::uint64_t seed, int operations)>;
/// Runs random programs, and fails with the smallest one that shows a fault of its seed, or when too few go through.
void run_programs(int count, int operations, int least_share, const MakeProgram& make);

}  // namespace tessera::test
