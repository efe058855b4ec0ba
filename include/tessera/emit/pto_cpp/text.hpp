// C++ text in its smallest parts: element types, numbers, types of tiles, and index expressions that fold constants.
#pragma once

#include <string>
#include <string_view>

#include "../pto_mlir/text.hpp"

namespace tessera::cpp {

using pto::TileKey;

/// The library's name of an element type.
[[nodiscard]] constexpr std::string_view type_name(DType d) {
  constexpr std::string_view names[dtype_count] = {
      "float",    "half",     "bfloat16_t", "int8_t", "uint8_t", "int16_t",        "uint16_t",       "int32_t",        "uint32_t",
      "int64_t",  "uint64_t", "bool",       "int64_t", "float8_e4m3_t", "float8_e5m2_t", "float8_e8m0_t", "hifloat8_t", "float4_e2m1x2_t"};
  return names[d];
}
/// The unsigned integer of the same width, in which sums and products wrap.
[[nodiscard]] constexpr std::string_view unsigned_name(DType d) { return info(d).bits == 64 ? "uint64_t" : "uint32_t"; }

inline std::string float_literal(DType d, double x) {
  std::string text;
  if (std::isnan(x)) text = "__builtin_nanf(\"\")";
  else if (pto::is_special(x, d)) text = std::signbit(x) ? "-__builtin_inff()" : "__builtin_inff()";
  else pto::append_float(text, x), text.push_back('f');
  return d == f32 ? text : std::string(type_name(d)).append("(").append(text).append(")");
}
inline std::string integer_literal(DType d, std::int64_t n) {
  if (d == boolean) return n != 0 ? "true" : "false";
  if (d == u64) return std::to_string(static_cast<std::uint64_t>(n)).append("ull");
  if (d == u32) return std::to_string(static_cast<std::uint32_t>(n)).append("u");
  if (n == INT64_MIN) return "INT64_MIN";
  if (n == INT32_MIN) return "INT32_MIN";
  const bool is_int = n > INT32_MIN && n <= INT32_MAX;
  return std::to_string(n).append(is_int ? "" : "ll");
}

/// A number of type int64_t in the text.
struct Expr {
  enum class Kind : std::uint8_t { atom, product, sum };
  std::string text = "0";
  std::int64_t constant = 0;
  bool is_constant = true;
  Kind kind = Kind::atom;
  [[nodiscard]] bool is(std::int64_t n) const { return is_constant && constant == n; }
};
[[nodiscard]] inline Expr number(std::int64_t n) { return {integer_literal(i64, n), n, true, n < 0 ? Expr::Kind::sum : Expr::Kind::atom}; }
[[nodiscard]] inline Expr named(std::string name) { return {std::move(name), 0, false, Expr::Kind::atom}; }
[[nodiscard]] inline std::string factor(const Expr& e) { return e.kind == Expr::Kind::sum ? "(" + e.text + ")" : e.text; }
[[nodiscard]] inline Expr add(const Expr& a, const Expr& b) {
  if (a.is_constant && b.is_constant) return number(a.constant + b.constant);
  if (a.is(0) || b.is(0)) return a.is(0) ? b : a;
  return {a.text + " + " + (b.is_constant && b.constant < 0 ? "(" + b.text + ")" : b.text), 0, false, Expr::Kind::sum};
}
[[nodiscard]] inline Expr mul(const Expr& a, const Expr& b) {
  if (a.is_constant && b.is_constant) return number(a.constant * b.constant);
  if (a.is(0) || b.is(0)) return number(0);
  if (a.is(1) || b.is(1)) return a.is(1) ? b : a;
  // A product with a quotient in it is one from the left: a / 2 * 3, never 3 * a / 2.
  return {factor(a) + " * " + (b.kind == Expr::Kind::atom ? b.text : "(" + b.text + ")"), 0, false, Expr::Kind::product};
}
[[nodiscard]] inline Expr div(const Expr& a, std::int64_t n) {
  if (a.is_constant) return number(a.constant / n);
  return n == 1 ? a : Expr{factor(a) + " / " + std::to_string(n), 0, false, Expr::Kind::product};
}

[[nodiscard]] constexpr std::string_view space_name(MemorySpace s) {
  constexpr std::string_view names[space_count] = {"", "Vec", "Mat", "Left", "Right", "Acc", "Bias", "ScaleLeft", "ScaleRight"};
  return names[s];
}
[[nodiscard]] inline std::string extent_text(std::int64_t n) { return n < 0 ? "DYNAMIC" : std::to_string(n); }

/// Whether the library has a name for a tile type that knows the layout of its space.
[[nodiscard]] constexpr bool has_short_name(const TileKey& k) {
  if (k.pad != Pad::null) return false;
  return (k.space == Left && k.layout == Layout::nz) || (k.space == Right && k.layout == Layout::zn) || (k.space == Acc && k.layout == Layout::nz);
}
/// `Tile<TileType::Vec, float, 64, 128>`, with what differs from the default behind the shape.
[[nodiscard]] inline std::string tile_type(const TileKey& k) {
  std::string out = has_short_name(k) ? "Tile" + std::string(space_name(k.space)) + "<" : "Tile<TileType::" + std::string(space_name(k.space)) + ", ";
  out.append(type_name(k.dtype)).append(", ").append(std::to_string(k.rows)).append(", ").append(std::to_string(k.cols));
  const bool partial = k.valid_rows != k.rows || k.valid_cols != k.cols, boxes = k.layout == Layout::nz || k.layout == Layout::zn;
  const std::string valid = ", " + extent_text(k.valid_rows) + ", " + extent_text(k.valid_cols);
  if (has_short_name(k)) return out.append(partial ? valid : "").append(">");
  const bool padded = k.pad != Pad::null, by_columns = k.layout == Layout::dn || k.layout == Layout::nz;
  if (partial || boxes || padded || by_columns) out.append(by_columns ? ", BLayout::ColMajor" : ", BLayout::RowMajor");
  if (partial || boxes || padded) out.append(valid);
  if (boxes) out.append(k.layout == Layout::nz ? ", SLayout::RowMajor" : ", SLayout::ColMajor");
  if (padded) {
    constexpr std::string_view words[] = {"Null", "Zero", "Max", "Min"};
    out.append(boxes ? "" : ", SLayout::NoneBox").append(", ").append(k.space == Acc ? "1024" : "512").append(", PadValue::");
    out.append(words[static_cast<std::size_t>(k.pad)]);
  }
  return out.append(">");
}

}  // namespace tessera::cpp
