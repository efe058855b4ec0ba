// What each example kernel has to compute, in double precision and written independently of the library's operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace demo {

/// A tensor argument or result as doubles, row-major; of rank 0: a number.
struct Numbers {
  std::vector<std::int64_t> dims;
  std::vector<double> values;

  [[nodiscard]] std::size_t dim(std::size_t axis) const { return static_cast<std::size_t>(dims[axis]); }
};

/// Sizes of run-time dims, and scalar arguments, by name.
using Setting = std::map<std::string, double>;

struct Reference {
  /// Written parameters and results, in this order, from the arguments.
  std::function<std::vector<Numbers>(const std::vector<Numbers>&)> compute;
  /// Largest allowed |got - wanted| / max(1, |wanted|).
  double allowed = 0;
  std::string why;
  /// One run for each.
  std::vector<Setting> runs{{}};
};

/// The reference of a kernel; null when there is none.
const Reference* find_reference(const std::string& kernel);

}  // namespace demo
