// Properties of a function that passes require and promise, as a set. The verifier checks each of them on its own.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tessera {

enum class Property : std::uint8_t {
  split_regions_valid,  ///< the lanes of split regions share nothing, and what crosses their border says so
  tile_ops,         ///< no tensor-level operation: tensors are parameters that are loaded, stored, read and written
  tiles_2d,         ///< no tile of rank > 2; transposes have their scratch
  legal,            ///< operations on tiles have an instruction, which finds the element types, layouts and scratch that it needs
  spaces_inferred,  ///< every tile stands where the instructions that use it can read it
  buffers_assigned,  ///< every tile has a buffer that holds it
  addresses_planned,  ///< every buffer has an address within its space's limit; what is needed at the same time does not overlap
  synchronised  ///< flags and barriers order whatever two pipes do to the same bytes; flags are balanced
};
inline constexpr std::string_view property_names[] = {"split_regions_valid", "tile_ops", "tiles_2d", "legal", "spaces_inferred",
                                                      "buffers_assigned", "addresses_planned", "synchronised"};
inline constexpr int property_count = static_cast<int>(sizeof property_names / sizeof property_names[0]);

[[nodiscard]] constexpr std::string_view name(Property p) { return property_names[static_cast<int>(p)]; }

class Properties {
 public:
  constexpr Properties() = default;
  constexpr Properties(std::initializer_list<Property> list) {
    for (const Property p : list) bits_ |= bit(p);
  }
  [[nodiscard]] constexpr bool contains(Property p) const { return (bits_ & bit(p)) != 0; }
  [[nodiscard]] constexpr bool contains(Properties p) const { return (bits_ & p.bits_) == p.bits_; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  [[nodiscard]] friend constexpr Properties operator|(Properties a, Properties b) {
    return Properties(a.bits_ | b.bits_);
  }
  /// What is in `a` and not in `b`.
  [[nodiscard]] friend constexpr Properties operator-(Properties a, Properties b) {
    return Properties(a.bits_ & ~b.bits_);
  }
  friend constexpr bool operator==(Properties, Properties) = default;

 private:
  constexpr explicit Properties(std::uint32_t bits) : bits_(bits) {}
  static constexpr std::uint32_t bit(Property p) { return 1u << static_cast<unsigned>(p); }
  std::uint32_t bits_ = 0;
};

/// "tile_ops, legal"
[[nodiscard]] inline std::string names(Properties set) {
  std::string out;
  for (int i = 0; i < property_count; ++i)
    if (set.contains(static_cast<Property>(i))) out.append(out.empty() ? "" : ", ").append(property_names[i]);
  return out;
}

}  // namespace tessera
