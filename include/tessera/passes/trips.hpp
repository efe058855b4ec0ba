// What is known about the bounds of a loop: how often it turns, and whether arithmetic near its bounds may overflow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "../ops/all.hpp"
#include "../ir/function.hpp"

namespace tessera::detail {

/// The bits that the magnitude of an integer takes, at most; 63: nothing is known. No dim of a tensor in memory takes more than 40.
[[nodiscard]] inline int magnitude_bits(const Function& f, ValueId v, int depth = 0) {
  constexpr int unknown = 63, of_a_dim = 40, deepest = 16;
  const Value& value = f[v];
  if (value.kind == ValueKind::symbol) return of_a_dim;
  if (value.kind == ValueKind::constant) {
    int bits = 0;
    for (std::int64_t n = value.integer < 0 ? -(value.integer + 1) : value.integer; n > 0; n /= 2) ++bits;
    return bits;
  }
  if (is_float(value.type.dtype)) return unknown;
  if (value.type.dtype != index_type) return std::min<int>(info(value.type.dtype).bits, unknown);
  if (value.kind == ValueKind::argument) {  // a counter lies between the bounds
    const OpId loop = f[BlockId{value.owner}].owner;
    const bool counts = loop && f.is(loop, ops::for_loop) && value.position == 0 && depth < deepest;
    return counts ? std::max(magnitude_bits(f, f.operand(loop, 0), depth + 1), magnitude_bits(f, f.operand(loop, 1), depth + 1)) : unknown;
  }
  const OpId op{value.owner};
  if (f.info(op).form == PtoForm::block_index) return 16;
  if (depth == deepest || f.info(op).level != Level::scalar || f.operand_count(op) == 0) return unknown;
  const int a = magnitude_bits(f, f.operand(op, 0), depth + 1);
  if (f.is(op, ops::scalar_cast)) return a;
  if (f.operand_count(op) != 2) return unknown;
  const int b = magnitude_bits(f, f.operand(op, 1), depth + 1);
  if (f.is(op, ops::scalar_add) || f.is(op, ops::scalar_sub)) return std::min(std::max(a, b) + 1, unknown);
  if (f.is(op, ops::scalar_mul)) return std::min(a + b, unknown);
  if (f.is(op, ops::scalar_div)) return a;
  if (f.is(op, ops::scalar_rem)) return std::min(a, b);
  if (f.is(op, ops::scalar_min) || f.is(op, ops::scalar_max)) return std::max(a, b);
  return unknown;
}
/// Whether no sum of a bound of the loop and some of its steps overflows.
[[nodiscard]] inline bool has_small_bounds(const Function& f, OpId loop) {
  constexpr int enough = 60;
  return magnitude_bits(f, f.operand(loop, 0)) <= enough && magnitude_bits(f, f.operand(loop, 1)) <= enough;
}

inline constexpr std::int64_t unknown_trips = -1;
/// Larger steps make turns of several steps that overflow; with them and a bound of has_small_bounds no sum does.
inline constexpr int largest_step_bits = 59;
inline constexpr std::int64_t largest_step = std::int64_t{1} << 40;
static_assert((std::int64_t{1} << largest_step_bits) <= (INT64_MAX - (std::int64_t{1} << 60)) / most_pipelined);

/// How often a loop turns for which trip_fault has nothing to say.
[[nodiscard]] inline std::int64_t known_trips(const Function& f, OpId loop) {
  const ValueId start = f.operand(loop, 0), stop = f.operand(loop, 1);
  if (!f.is_constant(f.operand(loop, 2))) return unknown_trips;
  const std::int64_t step = f[f.operand(loop, 2)].integer;
  std::int64_t length = 0;
  if (f.is_constant(start) && f.is_constant(stop)) {
    if (f[stop].integer <= f[start].integer) return 0;
    if (!has_small_bounds(f, loop)) return unknown_trips;
    length = f[stop].integer - f[start].integer;
  } else {
    // range(first, first + length)
    const OpId sum = f.definition(stop);
    if (!sum || !f.is(sum, ops::scalar_add) || !has_small_bounds(f, loop)) return unknown_trips;
    const int other = f.operand(sum, 0) == start ? 1 : f.operand(sum, 1) == start ? 0 : -1;
    if (other < 0 || !f.is_constant(f.operand(sum, other))) return unknown_trips;
    length = f[f.operand(sum, other)].integer;
  }
  return length <= 0 ? 0 : (length - 1) / step + 1;
}
/// Why a loop's turns cannot be counted several at a time; empty: they can. A step that is no constant is positive, or the loop is an
/// error of its program.
[[nodiscard]] inline std::string trip_fault(const Function& f, OpId loop) {
  const ValueId step = f.operand(loop, 2);
  if (!f.is_constant(step)) return magnitude_bits(f, step) > largest_step_bits ? "its step is no constant, and perhaps large" : "";
  if (f[step].integer <= 0) return "its step is not positive";
  if (f[step].integer > largest_step) return "its step is too large";
  return {};
}

}  // namespace tessera::detail
