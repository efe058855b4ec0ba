// Planned memory in tests: addresses by tile, and how near a plan is to what no plan can do without.
#pragma once

#include <map>
#include <string>

#include <tessera/passes/memory/demand.hpp>
#include <tessera/passes/plan_memory.hpp>

#include "lowering.hpp"

namespace tessera::test {

/// The bytes from 0 to the end of the highest buffer of a space.
[[nodiscard]] inline std::int64_t peak_of(const Function& planned, MemorySpace space) {
  std::int64_t peak = 0;
  for (std::uint32_t v = 0; v < planned.value_count(); ++v)
    if (planned.type({v}).is_tile() && planned[ValueId{v}].buffer == v && planned.type({v}).space == space)
      peak = std::max(peak, byte_range(planned, {v}).end);
  return peak;
}
/// What is needed at the same time, at least; buffers that are kept apart in a loop as long as that.
[[nodiscard]] inline std::int64_t least_of(const Function& planned, MemorySpace space) {
  return detail::Demand(planned, detail::Lifetimes(planned, detail::Apart::all), space, planned_arch(planned)).least();
}

/// The first byte of the tile of that name.
[[nodiscard]] inline std::int64_t address(const Function& planned, std::string_view name) {
  for (std::uint32_t v = 0; v < planned.value_count(); ++v)
    if (planned.type({v}).is_tile() && std::string_view(planned.name_of({v})) == name) return byte_range(planned, {v}).begin;
  FAIL("no tile of this name: " << name << "\n" << print(planned));
  return -1;
}
/// "a 0, b 16384".
[[nodiscard]] inline std::string addresses(const Function& planned, List<std::string_view> names) {
  std::string text;
  for (const std::string_view n : names)
    text.append(text.empty() ? "" : ", ").append(n).append(" ").append(std::to_string(address(planned, n)));
  return text;
}

/// Peak against what is needed at least, over all spaces of many functions.
struct Tightness {
  int functions = 0, spaces = 0, exact = 0;
  double worst = 1, sum = 0;
  void add(const Function& planned) {
    ++functions;
    for (int s = Vec; s < space_count; ++s) {
      const auto space = static_cast<MemorySpace>(s);
      const std::int64_t least = least_of(planned, space);
      if (least == 0) continue;
      const double ratio = static_cast<double>(peak_of(planned, space)) / static_cast<double>(least);
      ++spaces;
      exact += ratio == 1 ? 1 : 0;
      sum += ratio;
      worst = std::max(worst, ratio);
    }
  }
  [[nodiscard]] std::string text() const {
    return std::to_string(functions) + " functions, " + std::to_string(spaces) + " spaces: peak / least at most " + std::to_string(worst) +
           ", mean " + std::to_string(spaces > 0 ? sum / spaces : 1) + ", equal in " + std::to_string(exact);
  }
};

}  // namespace tessera::test
