// Runs one function on host tensors: binds arguments and named dims, and gives back results, statistics and the elements that
// nobody wrote. Works at every level of lowering.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "../ir/program.hpp"
#include "host_tensor.hpp"
#include "options.hpp"

namespace tessera {

/// What a function is called with: a tensor that lives as long as the call, or a number.
class Argument {
 public:
  /// Written when the parameter is Out or InOut.
  Argument(HostTensor& t) : tensor_(&t), writable_(&t) {}  // NOLINT(google-explicit-constructor): an argument list
  Argument(const HostTensor& t) : tensor_(&t) {}  // NOLINT
  template <class N>
    requires std::is_arithmetic_v<N>
  Argument(N n)
      : is_integer_(std::is_integral_v<N>),
        integer_(static_cast<std::int64_t>(n)),
        real_(static_cast<double>(n)) {  // NOLINT
  }
  [[nodiscard]] const HostTensor* tensor() const { return tensor_; }
  [[nodiscard]] HostTensor* writable() const { return writable_; }
  [[nodiscard]] bool is_integer() const { return is_integer_; }
  [[nodiscard]] std::int64_t integer() const { return integer_; }
  [[nodiscard]] double real() const { return real_; }

 private:
  const HostTensor* tensor_ = nullptr;
  HostTensor* writable_ = nullptr;
  bool is_integer_ = false;
  std::int64_t integer_ = 0;
  double real_ = 0;
};

/// Elements of an Out parameter that no store reached.
struct Unwritten {
  std::int64_t count = 0;
  std::vector<std::int64_t> first;  ///< index of the first one; empty when there is none
};

struct SimulationResult;
namespace simulator {
// Defined in run_function.hpp.
template <class FunctionOrProgram>
SimulationResult run(const FunctionOrProgram& f, const std::vector<Argument>& arguments, const SimulateOptions& options);
}  // namespace simulator

struct SimulationResult {
  /// What the function returned, in order; scalars have rank 0. Elements outside valid extents are zero.
  std::vector<HostTensor> results;
  Statistics statistics;

  [[nodiscard]] const Unwritten& unwritten(std::size_t parameter) const { return unwritten_.at(parameter); }

 private:
  template <class FunctionOrProgram>
  friend SimulationResult simulator::run(const FunctionOrProgram&, const std::vector<Argument>&, const SimulateOptions&);
  std::vector<Unwritten> unwritten_;  ///< by parameter
};

/// Runs a function with one argument per parameter, in order. Written tensors receive the elements that were stored. Throws
/// UserError for what the program or the caller does wrong, InternalError for a wrong lowering.
inline SimulationResult simulate(const Function& f, const std::vector<Argument>& arguments,
                                 const SimulateOptions& options = {}) {
  return simulator::run(f, arguments, options);
}
/// Runs a program with the arguments of its last function.
inline SimulationResult simulate(const Program& p, const std::vector<Argument>& arguments, const SimulateOptions& options = {}) {
  return simulator::run(p, arguments, options);
}

}  // namespace tessera

#ifndef TESSERA_COMPILED
#include "run_function.hpp"
#endif
