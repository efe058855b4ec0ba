// Element types: one enumerator each, with its width, kind and names.
#pragma once

#include <cstdint>
#include <string_view>

namespace tessera {

/// Element type of a tensor, tile or scalar. An enumerator is what a user writes: `Tensor<Shape<64>, f32>`.
enum DType : std::uint8_t {
  f32, f16, bf16, i8, u8, i16, u16, i32, u32, i64, u64, boolean, index_type, f8e4m3, f8e5m2, f8e8m0, hif8, f4e2m1
};
inline constexpr int dtype_count = f4e2m1 + 1;

enum class DTypeKind : std::uint8_t { floating, signed_integer, unsigned_integer, boolean, index };

struct DTypeInfo {
  std::string_view name;      ///< as written in C++ and in printed IR
  std::string_view pto_name;  ///< as written in `.pto` text
  std::uint8_t bits;
  DTypeKind kind;
};

inline constexpr DTypeInfo dtype_table[dtype_count] = {
    {"f32", "f32", 32, DTypeKind::floating},        {"f16", "f16", 16, DTypeKind::floating},
    {"bf16", "bf16", 16, DTypeKind::floating},      {"i8", "i8", 8, DTypeKind::signed_integer},
    {"u8", "ui8", 8, DTypeKind::unsigned_integer},  {"i16", "i16", 16, DTypeKind::signed_integer},
    {"u16", "ui16", 16, DTypeKind::unsigned_integer}, {"i32", "i32", 32, DTypeKind::signed_integer},
    {"u32", "ui32", 32, DTypeKind::unsigned_integer}, {"i64", "i64", 64, DTypeKind::signed_integer},
    {"u64", "ui64", 64, DTypeKind::unsigned_integer}, {"boolean", "i1", 1, DTypeKind::boolean},
    {"index", "index", 64, DTypeKind::index},       {"f8e4m3", "f8E4M3FN", 8, DTypeKind::floating},
    {"f8e5m2", "f8E5M2", 8, DTypeKind::floating},   {"f8e8m0", "!pto.f8E8M0", 8, DTypeKind::floating},
    {"hif8", "!pto.hif8", 8, DTypeKind::floating},  {"f4e2m1", "!pto.f4E2M1x2", 4, DTypeKind::floating},
};

[[nodiscard]] constexpr const DTypeInfo& info(DType d) { return dtype_table[d]; }
[[nodiscard]] constexpr std::string_view name(DType d) { return info(d).name; }
[[nodiscard]] constexpr bool is_float(DType d) { return info(d).kind == DTypeKind::floating; }
[[nodiscard]] constexpr bool is_integer(DType d) {
  return info(d).kind == DTypeKind::signed_integer || info(d).kind == DTypeKind::unsigned_integer;
}
[[nodiscard]] constexpr bool is_integer_or_index(DType d) { return is_integer(d) || d == index_type; }

/// The least multiple of `unit` that is not less than `n`.
[[nodiscard]] constexpr std::int64_t align_up(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }
/// What transfers move and rows of tiles are padded to; instructions write whole ones.
inline constexpr std::int64_t block_bytes = 32;

/// Bytes of `count` elements; sub-byte types are packed and rounded up.
[[nodiscard]] constexpr std::int64_t bytes_of(DType d, std::int64_t count) { return (count * info(d).bits + 7) / 8; }
/// Elements in a block of 32 bytes.
[[nodiscard]] constexpr std::int64_t block_elements(DType d) { return 8 * block_bytes / info(d).bits; }
[[nodiscard]] constexpr bool is_whole_blocks(DType d, std::int64_t count) { return bytes_of(d, count) % block_bytes == 0; }
/// A count of elements, rounded up to whole blocks.
[[nodiscard]] constexpr std::int64_t padded_to_blocks(DType d, std::int64_t count) { return align_up(count, block_elements(d)); }

/// A set of element types, as descriptors state them.
struct DTypeSet {
  std::uint32_t bits = 0;
  [[nodiscard]] constexpr bool contains(DType d) const { return ((bits >> d) & 1u) != 0; }
  [[nodiscard]] friend constexpr DTypeSet operator|(DTypeSet a, DTypeSet b) { return {a.bits | b.bits}; }
};
template <class... D>
[[nodiscard]] constexpr DTypeSet dtypes(D... d) {
  return {((1u << d) | ... | 0u)};
}

}  // namespace tessera
