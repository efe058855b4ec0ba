// Memory spaces, targets and their limits.
#pragma once

#include <cstdint>
#include <string_view>

namespace tessera {

/// Where a value lives. `Gm` holds tensors; the others are on chip and hold tiles.
enum MemorySpace : std::uint8_t { Gm, Vec, Mat, Left, Right, Acc, Bias, LeftScale, RightScale };
inline constexpr int space_count = RightScale + 1;

/// Target family: a3 is Ascend 910B (A2/A3), a5 is Ascend 950.
enum class Arch : std::uint8_t { a3, a5 };
inline constexpr int arch_count = 2;
[[nodiscard]] constexpr std::string_view name(Arch a) { return a == Arch::a3 ? "a3" : "a5"; }

struct SpaceInfo {
  std::string_view name;            ///< as written in C++
  std::string_view pto_name;        ///< `loc` in `.pto` text
  std::int64_t capacity[arch_count];  ///< bytes that are safe to use, per target (0: the target has no such space)
  std::int64_t alignment;           ///< of a tile's address: a block in Vec, a box in the cube unit's spaces
};

// Vec keeps its top 8 KiB free: hardware corrupts it.
inline constexpr SpaceInfo space_table[space_count] = {
    {"Gm", "gm", {INT64_MAX, INT64_MAX}, 32},
    {"Vec", "vec", {188416, 245760}, 32},
    {"Mat", "mat", {524288, 524288}, 512},
    {"Left", "left", {65536, 65536}, 512},
    {"Right", "right", {65536, 65536}, 512},
    {"Acc", "acc", {131072, 262144}, 512},
    {"Bias", "bias", {1024, 4096}, 64},
    {"LeftScale", "scaling", {0, 4096}, 32},
    {"RightScale", "scaling", {0, 4096}, 32},
};

[[nodiscard]] constexpr const SpaceInfo& info(MemorySpace s) { return space_table[s]; }
[[nodiscard]] constexpr std::string_view name(MemorySpace s) { return info(s).name; }
[[nodiscard]] constexpr std::int64_t capacity(MemorySpace s, Arch a) { return info(s).capacity[static_cast<int>(a)]; }

/// A set of memory spaces, as descriptors state them. Empty: any.
struct SpaceSet {
  std::uint16_t bits = 0;
  [[nodiscard]] constexpr bool any() const { return bits == 0; }
  [[nodiscard]] constexpr bool contains(MemorySpace s) const { return bits == 0 || ((bits >> s) & 1u) != 0; }
  /// The space a value is moved to when it is in none of the set.
  [[nodiscard]] constexpr MemorySpace first() const {
    for (int s = 0; s < space_count; ++s)
      if (((bits >> s) & 1u) != 0) return static_cast<MemorySpace>(s);
    return Vec;
  }
  friend constexpr bool operator==(SpaceSet, SpaceSet) = default;
};
template <class... S>
[[nodiscard]] constexpr SpaceSet spaces(S... s) {
  return {static_cast<std::uint16_t>(((1u << s) | ... | 0u))};
}

/// The unit that runs an instruction; each runs its own instructions in order.
enum class Pipe : std::uint8_t { none, scalar, vector, cube, mte1, mte2, mte3, fix };
inline constexpr int pipe_count = static_cast<int>(Pipe::fix) + 1;
/// Of a set of pipes.
[[nodiscard]] constexpr std::uint32_t pipe_bit(Pipe p) { return std::uint32_t{1} << static_cast<unsigned>(p); }
/// As the instruction set calls it; none: all of them.
[[nodiscard]] constexpr std::string_view name(Pipe p) {
  constexpr std::string_view names[pipe_count] = {"ALL", "S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX"};
  return names[static_cast<int>(p)];
}
/// Whether an instruction of a pipe may start while an earlier one of the same pipe is still at work on what it needs.
[[nodiscard]] constexpr bool overlaps_itself(Pipe p, Arch a) { return p == Pipe::vector && a == Arch::a3; }

}  // namespace tessera
