// Running kernels without hardware: `auto y = simulate(softmax, x);` lowers the kernel, runs it on the CPU with every check on
// and compares it with its tensor-level meaning. Arrays are made by random, zeros, filled and from_values.
#pragma once

#include "compile.hpp"
#include "ir/pipe_trace.hpp"
#include "kernel.hpp"
#include "simulate/kernel.hpp"

namespace tessera {

/// Runs a kernel, with flags and barriers that are proven and tried in random orders of the pipes. Arguments: arrays for tensors
/// (Out and InOut ones are written), numbers for scalars. Gives the kernel's result as an array, several as a tuple, nothing for
/// a kernel without results. Throws UserError for what the program does wrong, InternalError when its lowering is wrong.
template <class K, class... A>
  requires simulates_with<K, A&&...>
auto simulate(const K& kernel, const SimulateOptions& options, A&&... arguments) {
  const auto meaning = kernel.trace();
  const auto lowered = lower(meaning, {.arch = options.arch, .tileops = options.tileops, .synchronise = options.pipe_checks != PipeChecks::off});
  std::vector<HostTensor> results = simulate_lowered(meaning, lowered, std::vector<Argument>{Argument(arguments)...}, options);
  return detail::result_arrays<typename K::result_type>::take(results);
}
template <class K, class... A>
  requires simulates_with<K, A&&...>
auto simulate(const K& kernel, A&&... arguments) {
  return simulate(kernel, SimulateOptions(), std::forward<A>(arguments)...);
}

template <class K, class... A>
  requires simulates_not_with<K, A&&...>
auto simulate(const K&, const SimulateOptions&, A&&...)
    -> decltype(detail::unwrap(detail::broken_type<detail::argument_check<typename K::parameter_types, A&&...>>()));
template <class K, class... A>
  requires simulates_not_with<K, A&&...>
auto simulate(const K&, A&&...)
    -> decltype(detail::unwrap(detail::broken_type<detail::argument_check<typename K::parameter_types, A&&...>>()));

namespace simulator {
// Defined in every_level.hpp.
template <class FunctionOrProgram>
void run_every_level(const FunctionOrProgram& meaning, const std::vector<Argument>& arguments, const SimulateOptions& options);
}  // namespace simulator

/// Runs a recorded function and what it is after each pass, and compares each of them with the recorded one. Arguments stay as
/// they are. Throws as simulate does, with the pass's name in front.
inline void simulate_every_level(const Function& meaning, const std::vector<Argument>& arguments, const SimulateOptions& options = {}) {
  simulator::run_every_level(meaning, arguments, options);
}
/// As above, for the last function of a program.
inline void simulate_every_level(const Program& meaning, const std::vector<Argument>& arguments, const SimulateOptions& options = {}) {
  simulator::run_every_level(meaning, arguments, options);
}

}  // namespace tessera

#ifndef TESSERA_COMPILED
#include "simulate/every_level.hpp"
#endif
