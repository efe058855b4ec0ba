// sin and cos of f32, in the steps that legalize takes: a kernel has the same numbers on every level.
#pragma once

#include "number.hpp"
#include "../ops/trigonometry.hpp"

namespace tessera::simulator {

/// Arithmetic with one rounding to f32 each.
struct SinglePrecision {
  [[nodiscard]] static double times(double a, double s) { return rounded(f32, a * constant(s)); }
  [[nodiscard]] static double plus(double a, double s) { return rounded(f32, a + constant(s)); }
  [[nodiscard]] static double sum(double a, double b) { return rounded(f32, a + b); }
  [[nodiscard]] static double difference(double a, double b) { return rounded(f32, a - b); }
  [[nodiscard]] static double product(double a, double b) { return rounded(f32, a * b); }
  [[nodiscard]] static double nearest(double a) { return whole(a, Rounding::rint); }
  [[nodiscard]] static double below(double a) { return whole(a, Rounding::floor); }

 private:
  static double constant(double s) { return rounded(f32, s); }
  static double whole(double a, Rounding r) { return rounded(f32, to_double(i32, to_integer(i32, a, r))); }
};
[[nodiscard]] inline double sine(double x) { return detail::sine(x, false, SinglePrecision{}); }
[[nodiscard]] inline double cosine(double x) { return detail::sine(x, true, SinglePrecision{}); }

}  // namespace tessera::simulator
