// Runs a function at two levels, and compares what they give; defines what kernel.hpp declares.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernel.hpp"
#include "run_function.hpp"

namespace tessera::simulator {

/// Whether two elements agree. Integers agree when they are equal.
inline bool agrees(const HostTensor& a, const HostTensor& b, std::int64_t i, Agreement how) {
  if (!is_float(a.dtype())) return a.integer(i) == b.integer(i);
  const double x = a.get(i), y = b.get(i);
  if (x == y || (std::isnan(x) && std::isnan(y))) return true;
  if (how == Agreement::exact || !std::isfinite(x) || !std::isfinite(y)) return false;
  const std::int64_t p = bits_of(a.dtype(), static_cast<float>(std::abs(x))),
                     q = bits_of(a.dtype(), static_cast<float>(std::abs(y)));
  return (x < 0) == (y < 0) ? std::abs(p - q) <= 1 : p + q <= 1;
}
/// Throws InternalError at the first element in which a lowered result is not what the tensor level gives.
inline void require_agreement(const std::string& kernel, const std::string& what, const HostTensor& meaning,
                              const HostTensor& lowered, Agreement how) {
  if (meaning.dims() != lowered.dims())
    throw InternalError("simulate: " + kernel + ": the lowered " + what + " has another shape");
  for (std::int64_t i = 0; i < meaning.size(); ++i) {
    if (agrees(meaning, lowered, i, how)) continue;
    throw InternalError("simulate: " + kernel + ": the lowered kernel gives another " + what +
                        " than its tensor-level meaning (element " + index_of(box_of(meaning.dims()), i).text() + ": " +
                        std::to_string(lowered.get(i)) + " instead of " + std::to_string(meaning.get(i)) + ")");
  }
}
/// The dims of a result, whose run-time dims are those of the arguments.
inline std::vector<std::int64_t> result_dims(const Function& f, const Type& result,
                                             const std::vector<Argument>& arguments) {
  std::vector<std::int64_t> dims(result.dims, result.dims + result.rank);
  for (std::int64_t& d : dims)
    for (std::size_t p = 0; is_dynamic(d) && p < arguments.size(); ++p) {
      const Type& type = f.type(f.parameters[p].value);
      for (int i = 0;
           is_dynamic(d) && arguments[p].tensor() != nullptr && i < type.rank && i < arguments[p].tensor()->rank(); ++i)
        if (type.dims[i] == d) d = arguments[p].tensor()->dim(i);
    }
  return dims;
}
[[nodiscard]] inline const Function& entry_of(const Function& f) { return f; }
[[nodiscard]] inline const Function& entry_of(const Program& p) { return p.entry(); }
/// Runs a lowered function whose meaning ran without an error: one that it has on its own is the lowering's.
template <class FunctionOrProgram>
SimulationResult run_lowered(const FunctionOrProgram& lowered, const std::vector<Argument>& arguments, const SimulateOptions& options) {
  if (options.agreement == Agreement::off) return simulate(lowered, arguments, options);
  try {
    return simulate(lowered, arguments, options);
  } catch (const UserError& e) {
    throw InternalError("simulate: " + std::string(entry_of(lowered).name.c_str()) +
                        ": the lowered kernel fails where its tensor-level meaning does not: " + e.what());
  }
}

/// Arguments for a run that leaves those of the caller as they are: copies stand for the tensors that may be written.
class ArgumentCopies {
 public:
  explicit ArgumentCopies(const std::vector<Argument>& arguments) {
    tensors_.reserve(arguments.size());  // the list points into it
    for (const Argument& a : arguments) {
      if (a.writable() == nullptr) list_.push_back(a);
      else list_.push_back(tensors_.emplace_back(*a.writable()));
    }
  }
  ArgumentCopies(const ArgumentCopies&) = delete;
  ArgumentCopies& operator=(const ArgumentCopies&) = delete;
  [[nodiscard]] const std::vector<Argument>& list() const { return list_; }

 private:
  std::vector<HostTensor> tensors_;
  std::vector<Argument> list_;
};

template <class FunctionOrProgram>
std::vector<HostTensor> run_both(const FunctionOrProgram& meaning, const FunctionOrProgram& lowered,
                                 std::vector<Argument> arguments, const SimulateOptions& options) {
  check_overlaps(entry_of(meaning), arguments);
  const std::string kernel = entry_of(meaning).name.c_str();
  const Function& entry = entry_of(lowered);
  std::optional<ArgumentCopies> copies;
  SimulationResult reference;
  if (options.agreement != Agreement::off) {
    copies.emplace(arguments);
    SimulateOptions without_pipes = options;
    without_pipes.pipes = nullptr;
    reference = simulate(meaning, copies->list(), without_pipes);
  }
  const std::size_t given = arguments.size();
  std::vector<HostTensor> results;
  results.reserve(entry.parameters.size());
  for (std::size_t i = given; i < entry.parameters.size(); ++i) {
    const Type& t = entry.type(entry.parameters[i].value);
    arguments.push_back(results.emplace_back(t.dtype, result_dims(entry, t, arguments)));
  }
  SimulationResult run = run_lowered(lowered, arguments, options);
  // What an orchestration returns are tensors still.
  for (HostTensor& r : run.results)
    if (r.rank() > 0) results.push_back(std::move(r));
  if (options.agreement != Agreement::off) {
    std::size_t next = 0;
    for (const HostTensor& r : reference.results)
      if (r.rank() > 0 && next < results.size()) {
        require_agreement(kernel, "result " + std::to_string(next), r, results[next], options.agreement);
        ++next;
      }
    for (std::size_t i = 0; i < given; ++i)
      if (arguments[i].writable() != nullptr)
        require_agreement(kernel, "argument " + std::to_string(i), *copies->list()[i].tensor(), *arguments[i].writable(), options.agreement);
  }
  if (options.statistics != nullptr) *options.statistics = std::move(run.statistics);
  return results;
}

}  // namespace tessera::simulator
