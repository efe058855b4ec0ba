// Broken rules: the enumeration, the texts, and the verdict that an inference function returns.
#pragma once

#include <cstdint>
#include <string_view>

#include "type.hpp"

namespace tessera {

enum class rule : std::uint16_t {
  none,
#define TESSERA_RULE(name, text, hint) name,
#include "rules.def"
#undef TESSERA_RULE
};

struct RuleInfo {
  const char* name;  // not string_view: to measure each text would cost every includer
  const char* text;
  const char* hint;
};

inline constexpr RuleInfo rule_table[] = {
    {"none", "", ""},
#define TESSERA_RULE(name, text, hint) {#name, text, hint},
#include "rules.def"
#undef TESSERA_RULE
};

[[nodiscard]] constexpr const RuleInfo& info(rule r) { return rule_table[static_cast<int>(r)]; }

/// One number of a broken rule, with the way it is printed.
struct RuleArg {
  enum Kind : std::uint8_t { number, dim, dtype, space, op };
  Kind kind = number;
  std::int64_t value = 0;
};
[[nodiscard]] constexpr RuleArg arg(std::int64_t n) { return {RuleArg::number, n}; }
[[nodiscard]] constexpr RuleArg arg_dim(std::int64_t d) { return {RuleArg::dim, d}; }
[[nodiscard]] constexpr RuleArg arg(DType d) { return {RuleArg::dtype, d}; }
[[nodiscard]] constexpr RuleArg arg(MemorySpace s) { return {RuleArg::space, s}; }
/// Prints as the operation that was asked.
inline constexpr RuleArg arg_op{RuleArg::op, 0};

/// What an inference rule says of operand types: the result type, or the rule that is broken with its numbers.
struct Verdict {
  rule broken = rule::none;
  std::uint8_t arg_count = 0;
  RuleArg args[4] = {};
  Type result = {};

  [[nodiscard]] constexpr bool lawful() const { return broken == rule::none; }
};
[[nodiscard]] constexpr Verdict lawful(const Type& result = {}) { return {rule::none, 0, {}, result}; }
template <class... A>
[[nodiscard]] constexpr Verdict breaks(rule r, A... args) {
  return {r, sizeof...(A), {args...}, {}};
}

}  // namespace tessera
