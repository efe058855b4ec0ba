// Integers of a function as far as they are known without running it: constants, what the caller states, loop counters, and what
// follows from these. Not known is whatever leaves its type, and every float.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "../ops/all.hpp"
#include "../ir/function.hpp"

namespace tessera::detail {

using KnownInteger = std::optional<std::int64_t>;

[[nodiscard]] constexpr bool fits(DType d, std::int64_t n) {
  if (d == boolean) return n == 0 || n == 1;
  const int bits = info(d).bits;
  if (info(d).kind == DTypeKind::unsigned_integer) return n >= 0 && (bits >= 64 || n < std::int64_t{1} << bits);
  return bits >= 64 || (n >= -(std::int64_t{1} << (bits - 1)) && n < std::int64_t{1} << (bits - 1));
}

struct ScalarRule {
  const OpInfo* op = nullptr;
  KnownInteger (*known)(std::int64_t a, std::int64_t b) = nullptr;
};
inline constexpr ScalarRule scalar_rules[] = {
    {&ops::scalar_add, [](std::int64_t a, std::int64_t b) -> KnownInteger {
       std::int64_t r = 0;
       return __builtin_add_overflow(a, b, &r) ? KnownInteger() : r;
     }},
    {&ops::scalar_sub, [](std::int64_t a, std::int64_t b) -> KnownInteger {
       std::int64_t r = 0;
       return __builtin_sub_overflow(a, b, &r) ? KnownInteger() : r;
     }},
    {&ops::scalar_mul, [](std::int64_t a, std::int64_t b) -> KnownInteger {
       std::int64_t r = 0;
       return __builtin_mul_overflow(a, b, &r) ? KnownInteger() : r;
     }},
    {&ops::scalar_div, [](std::int64_t a, std::int64_t b) -> KnownInteger { return b == 0 || b == -1 ? KnownInteger() : a / b; }},
    {&ops::scalar_rem, [](std::int64_t a, std::int64_t b) -> KnownInteger { return b == 0 || b == -1 ? KnownInteger() : a % b; }},
    {&ops::scalar_min, [](std::int64_t a, std::int64_t b) -> KnownInteger { return a < b ? a : b; }},
    {&ops::scalar_max, [](std::int64_t a, std::int64_t b) -> KnownInteger { return a > b ? a : b; }},
    {&ops::scalar_and, [](std::int64_t a, std::int64_t b) -> KnownInteger { return a & b; }},
    {&ops::scalar_or, [](std::int64_t a, std::int64_t b) -> KnownInteger { return a | b; }},
    {&ops::scalar_xor, [](std::int64_t a, std::int64_t b) -> KnownInteger { return a ^ b; }},
    {&ops::scalar_shl, [](std::int64_t a, std::int64_t b) -> KnownInteger {
       return b < 0 || b > 31 || a < 0 || a >> (62 - b) != 0 ? KnownInteger() : a << b;
     }},
    {&ops::scalar_shr, [](std::int64_t a, std::int64_t b) -> KnownInteger { return b < 0 || b > 62 ? KnownInteger() : a >> b; }}};

/// The value of each integer where it is known at this point of the walk.
class KnownScalars {
 public:
  explicit KnownScalars(const Function& f) : f_(f), known_(f.value_count()) {}

  void set(ValueId v, KnownInteger n) { known_[v.index] = n && fits(f_.type(v).dtype, *n) ? n : KnownInteger(); }
  [[nodiscard]] KnownInteger get(ValueId v) const {
    if (!f_.is_constant(v)) return known_[v.index];
    return is_float(f_.type(v).dtype) ? KnownInteger() : KnownInteger(f_[v].integer);
  }
  /// States the results of a scalar operation.
  void run(OpId op) {
    if (f_.result_count(op) == 1) set(f_.result(op), value_of(op));
  }

 private:
  [[nodiscard]] KnownInteger operand(OpId op, int i) const {
    return i < f_.operand_count(op) ? get(f_.operand(op, i)) : KnownInteger();
  }
  [[nodiscard]] KnownInteger value_of(OpId op) const {
    const OpInfo& info = f_.info(op);
    if (is_float(f_.type(f_.result(op)).dtype)) return {};
    const KnownInteger a = operand(op, 0), b = operand(op, 1);
    if (&info == &ops::block_index || &info == &ops::subblock_index) return 0;
    if (&info == &ops::scalar_select) return !a ? KnownInteger() : *a != 0 ? b : operand(op, 2);
    if (!a) return {};
    if (&info == &ops::scalar_cast) return a;
    if (&info == &ops::scalar_not) return *a == 0;
    if (&info == &ops::scalar_neg) return *a == INT64_MIN ? KnownInteger() : -*a;
    if (!b) return {};
    if (&info == &ops::scalar_compare) return compares(static_cast<Compare>(f_.attr(op, AttrKey::compare)), *a, *b);
    for (const ScalarRule& r : scalar_rules)
      if (r.op == &info) return r.known(*a, *b);
    return {};
  }

  const Function& f_;
  std::vector<KnownInteger> known_;  // by value
};

}  // namespace tessera::detail
