// Numbers in the formats of element types: rounding, wrapping and conversion, each with one rounding. Floats are held as
// float (exact for f32, f16 and bf16), integers as int64_t (u64 by its bits).
#pragma once

#include <Eigen/Core>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>

#include "../ops/descriptor.hpp"

namespace tessera::simulator {

[[nodiscard]] constexpr bool can_simulate(DType d) { return d <= index_type; }

[[nodiscard]] inline std::string list_text(const std::int64_t* numbers, int count) {
  std::string out = "[";
  for (int i = 0; i < count; ++i) out.append(i == 0 ? "" : ", ").append(std::to_string(numbers[i]));
  return out + "]";
}

/// An integer reduced to the width of its type.
[[nodiscard]] constexpr std::int64_t wrapped(DType d, std::int64_t x) {
  switch (d) {
    case i8:
      return static_cast<std::int8_t>(x);
    case u8:
      return static_cast<std::uint8_t>(x);
    case i16:
      return static_cast<std::int16_t>(x);
    case u16:
      return static_cast<std::uint16_t>(x);
    case i32:
      return static_cast<std::int32_t>(x);
    case u32:
      return static_cast<std::uint32_t>(x);
    case boolean:
      return x != 0;
    default:
      return x;
  }
}
[[nodiscard]] constexpr double to_double(DType d, std::int64_t x) {
  return d == u64 ? static_cast<double>(static_cast<std::uint64_t>(x)) : static_cast<double>(x);
}
[[nodiscard]] constexpr std::int64_t smallest_integer(DType d) {
  if (info(d).kind == DTypeKind::unsigned_integer || d == boolean) return 0;
  return std::numeric_limits<std::int64_t>::min() >> (64 - info(d).bits);
}
/// The largest value; for u64 by its bits.
[[nodiscard]] constexpr std::int64_t largest_integer(DType d) {
  if (d == boolean) return 1;
  const int bits = info(d).kind == DTypeKind::unsigned_integer ? info(d).bits : info(d).bits - 1;
  return static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - bits));
}

// To float, rounded to odd: a second rounding to 16 bits is then the same as one from the double.
[[nodiscard]] inline float to_odd_float(double x) {
  const float f = static_cast<float>(x);
  if (static_cast<double>(f) == x || std::isnan(x)) return f;
  if ((std::bit_cast<std::uint32_t>(f) & 1u) != 0) return f;
  return std::nextafter(
      f, x > static_cast<double>(f) ? std::numeric_limits<float>::infinity() : -std::numeric_limits<float>::infinity());
}

/// A number rounded once to a floating type, to nearest even.
[[nodiscard]] inline float rounded(DType d, double x) {
  if (d == f16) return static_cast<float>(Eigen::half(to_odd_float(x)));
  if (d == bf16) return static_cast<float>(Eigen::bfloat16(to_odd_float(x)));
  return static_cast<float>(x);
}

// The bits of a floating number that its type holds exactly; magnitudes grow with them. Those of a NaN stay as they are, since
// they may be an index (sort32).
[[nodiscard]] inline std::uint32_t bits_of(DType d, float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if (d == f16 && std::isnan(x) && (bits & 0x7FE000u) != 0) return (bits >> 16 & 0x8000u) | 0x7C00u | (bits >> 13 & 0x3FFu);
  if (d == f16) return std::bit_cast<std::uint16_t>(Eigen::half(x));
  return d == bf16 ? bits >> 16 : bits;
}
[[nodiscard]] inline float from_bits(DType d, std::uint32_t bits) {
  if (d == f16 && (bits & 0x7C00u) == 0x7C00u) return std::bit_cast<float>((bits & 0x8000u) << 16 | 0x7F800000u | (bits & 0x3FFu) << 13);
  if (d == f16) return static_cast<float>(std::bit_cast<Eigen::half>(static_cast<std::uint16_t>(bits)));
  return std::bit_cast<float>(d == bf16 ? bits << 16 : bits);
}

/// A number rounded once to a floating type, in a mode (none: as rint, to nearest even).
[[nodiscard]] inline float rounded(DType d, double x, Rounding mode) {
  const float nearest = rounded(d, x);
  if (mode == Rounding::none || mode == Rounding::rint || static_cast<double>(nearest) == x || !std::isfinite(x))
    return nearest;
  // x lies strictly between two neighbours: the one toward zero and the one away from it.
  std::uint32_t bits = bits_of(d, nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(x)) --bits;
  const float inner = from_bits(d, bits), outer = from_bits(d, bits + 1);
  switch (mode) {
    case Rounding::floor:
      return x < 0 ? outer : inner;
    case Rounding::ceil:
      return x > 0 ? outer : inner;
    case Rounding::trunc:
      return inner;
    case Rounding::odd:
      return (bits & 1u) != 0 ? inner : outer;
    default:
      break;
  }
  const double below = std::abs(x) - std::abs(static_cast<double>(inner));
  double above = std::abs(static_cast<double>(outer)) - std::abs(x);
  // Past the largest number the outer neighbour would be one more step of the same size.
  if (std::isinf(outer))
    above =
        2 * std::abs(static_cast<double>(inner)) - std::abs(static_cast<double>(from_bits(d, bits - 1))) - std::abs(x);
  return below >= above ? outer : inner;
}

/// A number rounded to an integral one.
[[nodiscard]] inline double rounded_to_integral(double x, Rounding mode) {
  switch (mode) {
    case Rounding::round:
      return std::round(x);
    case Rounding::floor:
      return std::floor(x);
    case Rounding::ceil:
      return std::ceil(x);
    case Rounding::trunc:
      return std::trunc(x);
    case Rounding::odd: {
      const double t = std::trunc(x);
      return t == x || std::fmod(t, 2) != 0 ? t : t + (x < 0 ? -1 : 1);
    }
    default:
      return std::nearbyint(x);
  }
}

/// A floating number as an integer: rounded in the mode, then clamped to the type's range; NaN becomes 0.
[[nodiscard]] inline std::int64_t to_integer(DType d, double x, Rounding mode) {
  if (std::isnan(x)) return 0;
  if (d == boolean) return x != 0;
  const double r = rounded_to_integral(x, mode);
  if (r <= static_cast<double>(smallest_integer(d))) return smallest_integer(d);
  if (r >= to_double(d, largest_integer(d))) return largest_integer(d);
  return d == u64 ? static_cast<std::int64_t>(static_cast<std::uint64_t>(r)) : static_cast<std::int64_t>(r);
}

[[nodiscard]] inline float float_from_bytes(DType d, const std::byte* p) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, p, static_cast<std::size_t>(bytes_of(d, 1)));
  return from_bits(d, bits);
}
inline void float_to_bytes(DType d, float x, std::byte* p) {
  const std::uint32_t bits = bits_of(d, x);
  std::memcpy(p, &bits, static_cast<std::size_t>(bytes_of(d, 1)));
}

/// A scalar value while a program runs: `real` of floating types, `integer` of all others.
struct Number {
  DType dtype = index_type;
  std::int64_t integer = 0;
  double real = 0;
};
[[nodiscard]] inline Number make_number(DType d, double x) { return {d, 0, static_cast<double>(rounded(d, x))}; }
[[nodiscard]] inline Number make_number(DType d, std::int64_t x) { return {d, wrapped(d, x), 0}; }

}  // namespace tessera::simulator
