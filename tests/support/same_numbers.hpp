// Hand-built kernels through the pipeline: behind every pass they compute what was recorded, and the assembler's text is made.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include <tessera/ir/printer.hpp>
#include <tessera/simulate/run.hpp>

#include "catch.hpp"
#include "ir.hpp"

namespace tessera::test {

/// Element number i of the argument of a tensor parameter.
using Fill = std::function<double(const Parameter&, std::int64_t i)>;

/// Arguments for a function: small whole numbers for tensors, `scalar` for scalars, `dynamic` for named dims.
struct Inputs {
  std::deque<HostTensor> tensors;
  std::vector<Argument> arguments;

  explicit Inputs(const Function& f, std::int64_t dynamic = 8, std::int64_t scalar = 1, const Fill& fill = {});
};

/// Lowers on one target and compares after every pass; gives what convert_tensor_to_tile_ops made and the module's text.
struct SameNumbers {
  Function converted;
  std::string module;
  Inputs meant;  ///< with what was stored to them

  explicit SameNumbers(Recording& k, Arch arch = Arch::a5, std::int64_t dynamic = 8, std::int64_t scalar = 1, const Fill& fill = {});
};

}  // namespace tessera::test
