// Which literals an element type holds.
#pragma once

#include "recorder.hpp"

namespace tessera::detail {

/// The largest finite number; a literal above it would become infinity.
[[nodiscard]] constexpr double largest_number(DType d) {
  switch (d) {
    case f16: return 65504;
    case f32: return 3.4028234663852886e38;
    case bf16: return 3.3895313892515355e38;
    case f8e4m3: return 448;
    case f8e5m2: return 57344;
    case hif8: return 32768;
    case f4e2m1: return 6;
    default: return 1.7014118346046923e38;  // f8e8m0: 2^127
  }
}
[[nodiscard]] inline bool fits(DType d, const any_literal& l) {
  if (is_float(d)) {
    const double n = l.floating ? l.number : static_cast<double>(l.integer);
    return n - n != 0 || (n < 0 ? -n : n) <= largest_number(d);  // infinity is written as such
  }
  if (l.floating) return false;
  if (d == boolean) return l.integer == 0 || l.integer == 1;
  const int bits = info(d).bits;
  const bool is_signed = info(d).kind == DTypeKind::signed_integer || d == index_type;
  if (!is_signed && l.integer < 0) return false;
  if (bits >= 64) return true;
  const std::int64_t end = std::int64_t{1} << (is_signed ? bits - 1 : bits);
  return l.integer < end && l.integer >= -end;
}
[[noreturn]] inline void refuse_literal(DType d, const any_literal& l, const Location& at) {
  Text text("kernel: a literal is out of range for ");
  text.append(name(d));
  // Without the fraction: printing doubles costs more to include than it is worth here.
  const std::int64_t whole = !l.floating ? l.integer : l.number > -9e18 && l.number < 9e18 ? static_cast<std::int64_t>(l.number) : 0;
  if (!l.floating || whole != 0) text.append(" (").append(whole).append(")");
  fail(at, text, "use a number that the element type holds, or cast the operand to a wider type");
}

}  // namespace tessera::detail
