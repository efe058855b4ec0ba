// Text of `.pto` modules in its smallest parts: numbers, element types, tile types. One buffer, appended to.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../options.hpp"
#include "../shapes.hpp"

namespace tessera {

namespace pto {

/// What the assembler's versions spell or accept differently.
struct Dialect {
  std::string_view version;
  std::string_view subview;       ///< a window of a tile
  bool subview_states_valid;      ///< it takes valid extents and states its result type
  bool inserts_in_vec;            ///< tinsert between tiles in Vec, on every target
  bool sequence_descends;         ///< tci counts down
  bool scratch_is_optional;       ///< instructions without their scratch operand
  bool integers_are_carried;      ///< loops carry integers that are not `index`
  bool has_newer_dtypes;          ///< the element types OpInfo::since_0_60
  bool states_precision;          ///< attributes that ask for more exact instructions
  bool scratch_is_larger;         ///< than the valid part of the operand, for tcolargmax and the like
  bool fillpad_grows;             ///< tfillpad into a larger tile
  bool patterns_have_axis;        ///< mask patterns state their axis, and tscatter takes them
  bool sequence_has_scratch;      ///< tci takes scratch, which a3 needs where the assembler adds none
  bool has_simt;                  ///< functions that threads run
  bool has_many_regions;          ///< more than one reserve_buffer in a function
  bool calls_tileops;             ///< a function can be marked as a tile operation, whose calls are ordered by its summary
};
inline constexpr Dialect dialects[] = {
    {"0.60", "pto.subview", true, true, true, true, true, true, true, true, true, true, true, true, true, true},
    {"0.27", "pto.subset", false, false, false, false, false, false, false, false, false, false, false, false, false, false},
};
[[nodiscard]] constexpr const Dialect& dialect(Assembler a) { return dialects[static_cast<int>(a)]; }

/// Element type of scalar values: arithmetic is on signless integers, the operation knows the sign.
[[nodiscard]] constexpr std::string_view signless(DType d) {
  switch (d) {
    case u8:
      return "i8";
    case u16:
      return "i16";
    case u32:
      return "i32";
    case u64:
      return "i64";
    default:
      return info(d).pto_name;
  }
}
[[nodiscard]] constexpr bool is_unsigned(DType d) { return info(d).kind == DTypeKind::unsigned_integer; }

inline void append(std::string& out, std::string_view text) { out.append(text); }
inline void append(std::string& out, char c) { out.push_back(c); }
template <class Integer>
  requires(std::is_integral_v<Integer> && sizeof(Integer) > 1)
void append(std::string& out, Integer n) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, n).ptr);
}

/// Whether a number is none that its type has finite, with NaN among them.
[[nodiscard]] inline bool is_special(double d, DType type) {
  const double limit = type == f16 ? 65520.0 : type == bf16 ? 0x1.FFp127 : 0x1.FFFFFFp127;  // rounds to infinity
  return !(std::abs(d) < limit);
}
/// The bits of an infinity or NaN.
[[nodiscard]] inline std::int64_t special_bits(double d, DType type) {
  const std::uint32_t sign = std::signbit(d) ? 1u : 0u, nan = std::isnan(d) ? 1u : 0u;
  if (type == f16) return static_cast<std::int16_t>(sign << 15 | 0x7C00u | nan << 9);
  if (type == bf16) return static_cast<std::int16_t>(sign << 15 | 0x7F80u | nan << 6);
  return static_cast<std::int32_t>(sign << 31 | 0x7F800000u | nan << 22);
}

/// A finite floating literal: the shortest decimal that reads back as the same f32.
inline void append_float(std::string& out, double d) {
  char digits[40];
  const std::string_view text(
      digits,
      static_cast<std::size_t>(std::to_chars(digits, digits + sizeof digits, static_cast<float>(d)).ptr - digits));
  const std::size_t exponent = text.find('e');
  out.append(text.substr(0, exponent));
  if (text.find('.') == std::string_view::npos) out.append(".0");
  if (exponent != std::string_view::npos) out.append(text.substr(exponent));
}

inline void append_extent(std::string& out, std::int64_t n) {
  if (n < 0) out.push_back('?');
  else append(out, n);
}

/// Block layout, layout in a block and block size. The left operand's blocks are ordered by rows on a3, by columns on a5.
inline void append_layout(std::string& out, const TileKey& k, Arch arch) {
  switch (k.layout) {
    case Layout::nd:
      break;
    case Layout::dn:
      out.append(", blayout=col_major");
      break;
    case Layout::nz:
      out.append(k.space == Left && arch == Arch::a3 ? ", blayout=row_major, slayout=row_major"
                                                     : ", blayout=col_major, slayout=row_major");
      break;
    case Layout::zn:
      out.append(", blayout=row_major, slayout=col_major");
      break;
  }
  if (k.space == Acc) out.append(", fractal=1024");
}

/// The short spelling: `!pto.tile_buf<vec, 32x64xf32>`, with what differs from the default behind the shape.
inline void append_tile_type(std::string& out, const TileKey& k, Arch arch) {
  out.append("!pto.tile_buf<").append(info(k.space).pto_name).append(", ");
  append(out, k.rows);
  out.push_back('x');
  append(out, k.cols);
  out.push_back('x');
  out.append(info(k.dtype).pto_name);
  if (k.valid_rows != k.rows || k.valid_cols != k.cols) {
    out.append(", valid=");
    append_extent(out, k.valid_rows);
    out.push_back('x');
    append_extent(out, k.valid_cols);
  }
  append_layout(out, k, arch);
  if (k.pad != Pad::null) {
    out.append(", pad=");
    append(out, static_cast<int>(k.pad));
  }
  out.push_back('>');
}

/// The texts of the tile types of a module, each made once.
class TileTypes {
 public:
  explicit TileTypes(Arch arch) : arch_(arch), slots_(64, 0) {}

  std::uint32_t find(const TileKey& key) {
    if ((texts_.size() + 1) * 2 > slots_.size()) grow();
    std::uint32_t& slot = slots_[position(key)];
    if (slot == 0) {
      keys_.push_back(key);
      append_tile_type(texts_.emplace_back(), key, arch_);
      slot = static_cast<std::uint32_t>(texts_.size());
    }
    return slot - 1;
  }
  [[nodiscard]] std::string_view text(std::uint32_t id) const { return texts_[id]; }
  [[nodiscard]] const TileKey& key(std::uint32_t id) const { return keys_[id]; }

 private:
  [[nodiscard]] std::size_t position(const TileKey& k) const {
    std::uint64_t h = std::uint64_t{k.dtype} | std::uint64_t{k.space} << 8 |
                      static_cast<std::uint64_t>(k.layout) << 16 | static_cast<std::uint64_t>(k.pad) << 24;
    for (const std::int64_t n : {k.rows, k.cols, k.valid_rows, k.valid_cols})
      h = (h ^ static_cast<std::uint64_t>(n)) * 0x9E3779B97F4A7C15u;
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = static_cast<std::size_t>(h >> 32) & mask;
    while (slots_[i] != 0 && !(keys_[slots_[i] - 1] == k)) i = (i + 1) & mask;
    return i;
  }
  void grow() {
    slots_.assign(slots_.size() * 2, 0);
    for (std::size_t i = 0; i < keys_.size(); ++i) slots_[position(keys_[i])] = static_cast<std::uint32_t>(i + 1);
  }

  Arch arch_;
  std::vector<TileKey> keys_;
  std::vector<std::string> texts_;
  std::vector<std::uint32_t> slots_;
};

}  // namespace pto
}  // namespace tessera
