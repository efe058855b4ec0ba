// sin and cos of f32 in steps that targets have instructions for: the one definition for legalize and for the simulator.
//
// x = k * pi + r with a whole k (for cos with a half one), so that sin(x) = (-1)^k * sin(r). pi stands in three parts of 8, 11
// and 11 bits: their products with k are exact up to |k| = 2^13, so r is as exact as an f32 can be. The polynomial is
// r + r^3 * P(r^2), P of degree 3, with the least largest error on [-pi/2, pi/2] (5e-9). Together the result is within 2e-7 of
// the true one for |x| <= 10000; beyond |x| = 25000 accuracy is lost bit by bit, and an infinity gives an infinity.
#pragma once

namespace tessera::detail {

inline constexpr double pi_parts[] = {0x1.92p+1, 0x1.fb4p-11, 0x1.444p-23};
inline constexpr double one_over_pi = 0.31830988618379067;
inline constexpr double sine_polynomial[] = {-0.16666657081354416, 0.008333016917386023, -0.0001980658797565683, 2.599994173650773e-06};

/// sin(x), or cos(x), in f32. `Steps` has times and plus (with a number), sum, difference, product, and the whole numbers to
/// nearest and below.
template <class Value, class Steps>
[[nodiscard]] constexpr Value sine(Value x, bool cosine, Steps&& f) {
  Value turns = f.times(x, one_over_pi);
  if (cosine) turns = f.plus(turns, 0.5);
  const Value k = f.nearest(turns);
  // 1 for an even k, -1 for an odd one: half of k has a rest of 0 or of 1/2.
  const Value half = f.times(k, 0.5);
  const Value rest = f.difference(half, f.below(half));
  const Value sign = f.plus(f.times(rest, -4), 1);
  const Value periods = cosine ? f.plus(k, -0.5) : k;
  Value r = x;
  for (const double part : pi_parts) r = f.difference(r, f.times(periods, part));
  const Value square = f.product(r, r);
  Value p = f.times(square, sine_polynomial[3]);
  for (int i = 2; i >= 0; --i) p = f.product(f.plus(p, sine_polynomial[i]), square);
  return f.product(f.sum(f.product(p, r), r), sign);
}

}  // namespace tessera::detail
