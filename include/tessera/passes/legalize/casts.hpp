// Conversions of element types: which pairs are one instruction on a target, and the shortest chain for the others that
// rounds only once.
#pragma once

#include <cstdint>
#include <vector>

#include "../../core/dtype.hpp"
#include "../../core/space.hpp"

namespace tessera::detail {

struct Conversions {
  DTypeSet to[dtype_count] = {};
};
constexpr Conversions conversions_a3() {
  Conversions c;
  c.to[f32] = dtypes(f16, bf16, i16, i32, i64);
  c.to[f16] = dtypes(f32, i32, i16, i8, u8);
  c.to[bf16] = dtypes(f32, i32);
  c.to[i16] = dtypes(f16, f32);
  c.to[i32] = dtypes(f32, i16, i64, f16);
  c.to[i64] = dtypes(f32, i32);
  c.to[u8] = dtypes(f16);
  c.to[i8] = dtypes(f16);
  return c;
}
constexpr Conversions conversions_a5() {
  Conversions c;
  c.to[f32] = dtypes(f16, bf16, i16, i32, i64, f8e4m3, f8e5m2, hif8);
  c.to[f16] = dtypes(f32, i32, i16, i8, u8, hif8);
  c.to[bf16] = dtypes(f32, i32, f16, f4e2m1);
  c.to[i16] = dtypes(f16, f32, u8, u32, i32);
  c.to[i32] = dtypes(f32, i16, i64, u16, u8);
  c.to[i64] = dtypes(f32, i32);
  c.to[u8] = dtypes(f16, u16);
  c.to[i8] = dtypes(f16, i16, i32);
  c.to[u32] = dtypes(u8, u16, i16);
  for (const DType d : {f8e4m3, f8e5m2, hif8}) c.to[d] = dtypes(f32);
  c.to[f4e2m1] = dtypes(bf16);
  return c;
}
/// By target: the pairs that are one instruction.
inline constexpr Conversions conversions[arch_count] = {conversions_a3(), conversions_a5()};

/// Whether `a` to `b` may be a step on the way to `goal`. A floating source stays as precise as it is until the step that
/// rounds it: to the goal, or to an integer (which then fits the goal or does not).
[[nodiscard]] constexpr bool keeps_value(DType a, DType b, DType goal) {
  if (b == goal || !is_float(a)) return true;
  return is_float(b) ? info(b).bits > info(a).bits : is_integer(goal);
}

/// The element types after each step from `from` to `to`; empty where no chain exists.
[[nodiscard]] inline std::vector<DType> cast_chain(DType from, DType to, Arch arch) {
  const Conversions& known = conversions[static_cast<int>(arch)];
  int before[dtype_count];
  for (int& b : before) b = -1;
  before[from] = from;
  std::vector<DType> queue{from};
  for (std::size_t i = 0; i < queue.size() && before[to] < 0; ++i)
    for (int d = 0; d < dtype_count; ++d) {
      const auto next = static_cast<DType>(d);
      if (!known.to[queue[i]].contains(next) || before[d] >= 0 || !keeps_value(queue[i], next, to)) continue;
      before[d] = queue[i];
      queue.push_back(next);
    }
  std::vector<DType> chain;
  if (before[to] < 0) return chain;
  for (DType d = to; d != from; d = static_cast<DType>(before[d])) chain.insert(chain.begin(), d);
  return chain;
}

/// The step of a chain that rounds as the user asked: the one that leaves the floating types, otherwise the last.
[[nodiscard]] inline std::size_t rounding_step(DType from, const std::vector<DType>& chain) {
  DType before = from;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (is_float(before) && is_integer(chain[i])) return i;
    before = chain[i];
  }
  return chain.size() - 1;
}

}  // namespace tessera::detail
