// Running kernels without hardware: `auto y = simulate(softmax, x);` lowers the kernel, runs it on the CPU with every check on
// and compares it with its tensor-level meaning. Arrays are made by random, zeros, filled and from_values.
#pragma once

#include "compile.hpp"
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

namespace detail {
// One level of a kernel or program, on copies of the arguments.
template <class FunctionOrProgram>
void simulate_level(std::string_view level, const FunctionOrProgram& meaning, const FunctionOrProgram& f,
                    const std::vector<Argument>& arguments, const SimulateOptions& options) {
  std::vector<HostTensor> copies;
  copies.reserve(arguments.size());
  std::vector<Argument> own;
  for (const Argument& a : arguments) {
    if (a.writable() == nullptr) own.push_back(a);
    else own.push_back(copies.emplace_back(*a.writable()));
  }
  SimulateOptions without_pipes = options;
  without_pipes.pipes = nullptr;
  try {
    static_cast<void>(simulate_lowered(meaning, f, own, without_pipes));
  } catch (const InternalError& e) { throw InternalError("after " + std::string(level) + ": " + e.text()); }
}
}  // namespace detail

/// Runs a recorded function and what it is after each pass, and compares each of them with the recorded one. Arguments stay as
/// they are. Throws as simulate does, with the pass's name in front.
inline void simulate_every_level(const Function& meaning, const std::vector<Argument>& arguments,
                                 const SimulateOptions& options = {}) {
  PassOptions passes;
  passes.verify = true;
  passes.after = [&](const Pass& pass, const Function& f) { detail::simulate_level(pass.name, meaning, f, arguments, options); };
  static_cast<void>(run_passes(meaning, full_pipeline(), {target_of(meaning, options.arch), true, options.tileops}, passes));
}
/// As above, for the last function of a program.
inline void simulate_every_level(const Program& meaning, const std::vector<Argument>& arguments, const SimulateOptions& options = {}) {
  PassOptions passes;
  passes.verify = true;
  passes.after_program = [&](const Pass& pass, const Program& p) { detail::simulate_level(pass.name, meaning, p, arguments, options); };
  static_cast<void>(run_passes(meaning, full_pipeline(), {target_of(meaning, options.arch), true, options.tileops}, passes));
}

}  // namespace tessera
