// Conversions of element types: which pairs are one instruction on a target, and the shortest chain for the others that
// rounds only once.
#pragma once

#include <cstddef>

#include "descriptor.hpp"

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

/// Whether integers of type `narrow` are numbers of type `wide`.
[[nodiscard]] constexpr bool holds(DType wide, DType narrow) {
  const bool wide_signed = info(wide).kind == DTypeKind::signed_integer;
  const bool narrow_signed = info(narrow).kind == DTypeKind::signed_integer;
  if (wide_signed == narrow_signed) return info(wide).bits >= info(narrow).bits;
  return wide_signed && info(wide).bits > info(narrow).bits;
}
/// Whether a floating type holds the integers of a type exactly.
[[nodiscard]] constexpr bool is_exact(DType floating, DType integer) {
  const int precision = floating == f32 ? 24 : floating == f16 ? 11 : floating == bf16 ? 8 : 0;
  return info(integer).bits - (info(integer).kind == DTypeKind::signed_integer ? 1 : 0) <= precision;
}
/// Whether `a` to `b` may be a step of a cast from `from` to `goal`. A floating number stays as precise as it is until the step
/// that rounds it; an integral one that fits the goal stays what it is. What does not fit must not come to fit on the way: a
/// floating number is clamped to more than the goal's range before it is clamped to that.
[[nodiscard]] constexpr bool keeps_value(DType from, DType a, DType b, DType goal) {
  const bool to_goal = b == goal;
  if (is_float(a) && is_float(b)) return to_goal || info(b).bits > info(a).bits;
  if (is_float(a)) return to_goal || (is_integer(goal) && holds(b, goal));
  if (is_float(b)) return to_goal || is_exact(b, a) || (is_integer(goal) ? is_exact(b, goal) : b == f32);
  if (is_float(from) || is_float(goal)) return holds(b, a);
  return to_goal || holds(b, goal) || holds(b, a);
}

/// The element types after each step of a cast; empty where no chain exists.
struct CastChain {
  DType steps[dtype_count] = {};
  std::size_t count = 0;
  [[nodiscard]] constexpr const DType* begin() const { return steps; }
  [[nodiscard]] constexpr const DType* end() const { return steps + count; }
  [[nodiscard]] constexpr bool empty() const { return count == 0; }
  [[nodiscard]] constexpr std::size_t size() const { return count; }
  [[nodiscard]] constexpr DType operator[](std::size_t i) const { return steps[i]; }
};

/// The shortest chain from `from` to `to`.
[[nodiscard]] constexpr CastChain cast_chain(DType from, DType to, Arch arch) {
  const Conversions& known = conversions[static_cast<int>(arch)];
  int before[dtype_count] = {};
  for (int& b : before) b = -1;
  before[from] = from;
  DType queue[dtype_count] = {from};
  for (int i = 0, count = 1; i < count && before[to] < 0; ++i)
    for (int d = 0; d < dtype_count; ++d) {
      const auto next = static_cast<DType>(d);
      if (!known.to[queue[i]].contains(next) || before[d] >= 0 || !keeps_value(from, queue[i], next, to)) continue;
      before[d] = queue[i];
      queue[count++] = next;
    }
  CastChain chain;
  if (before[to] < 0) return chain;
  for (DType d = to; d != from; d = static_cast<DType>(before[d])) ++chain.count;
  std::size_t i = chain.count;
  for (DType d = to; d != from; d = static_cast<DType>(before[d])) chain.steps[--i] = d;
  return chain;
}
/// Whether the target has a chain.
[[nodiscard]] constexpr bool can_cast(DType from, DType to, Arch arch) {
  return conversions[static_cast<int>(arch)].to[from].contains(to) || !cast_chain(from, to, arch).empty();
}

/// The step of a chain that rounds as the user asked: the one that leaves the floating types, otherwise the last.
[[nodiscard]] constexpr std::size_t rounding_step(DType from, const CastChain& chain) {
  DType before = from;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (is_float(before) && is_integer(chain[i])) return i;
    before = chain[i];
  }
  return chain.size() - 1;
}

}  // namespace tessera::detail
