// The outside of an emitted function, which emitters and the manifest must see alike: which names are identifiers, and the
// order of the named dims among the arguments.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "function.hpp"

namespace tessera {
namespace detail {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_'; }

}  // namespace detail

/// Letters, digits and '_', and no digit in front.
[[nodiscard]] constexpr bool is_identifier(std::string_view text) {
  for (const char c : text)
    if (!detail::is_word(c)) return false;
  return !text.empty() && !detail::is_digit(text[0]);
}

/// The named dims in the order in which the emitted function takes them, behind its tensors and scalars: as the parameters
/// name them first, then those that only the body names.
[[nodiscard]] inline std::vector<std::int64_t> argument_dims(const Function& f) {
  std::vector<std::int64_t> dims;
  const auto add = [&](std::int64_t d) {
    if (is_dynamic(d) && std::find(dims.begin(), dims.end(), d) == dims.end()) dims.push_back(d);
  };
  for (const Parameter& p : f.parameters)
    for (int i = 0; i < f.type(p.value).rank; ++i) add(f.type(p.value).dims[i]);
  for (const ValueId v : f.symbols()) add(f[v].integer);
  return dims;
}

}  // namespace tessera
