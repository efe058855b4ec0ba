// What names the parts of a function: 32-bit handles that stay valid while it grows, and lists of them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "../core/pool.hpp"

namespace tessera {

inline constexpr std::uint32_t no_index = ~std::uint32_t{0};

struct ValueId {
  std::uint32_t index = no_index;
  explicit constexpr operator bool() const { return index != no_index; }
  friend constexpr bool operator==(ValueId, ValueId) = default;
};
struct OpId {
  std::uint32_t index = no_index;
  explicit constexpr operator bool() const { return index != no_index; }
  friend constexpr bool operator==(OpId, OpId) = default;
};
struct BlockId {
  std::uint32_t index = no_index;
  explicit constexpr operator bool() const { return index != no_index; }
  friend constexpr bool operator==(BlockId, BlockId) = default;
};

/// A view of a sequence: what functions take where a caller has an array, a vector or a braced list.
template <class T>
class List {
 public:
  TESSERA_INLINE constexpr List() = default;
  TESSERA_INLINE constexpr List(const T* first, std::size_t size) : first_(first), size_(size) {}
  TESSERA_INLINE constexpr List(std::initializer_list<T> l) : size_(l.size()) {  // NOLINT: a parameter type, so the array lives on
    first_ = l.begin();
  }
  TESSERA_INLINE List(const Pool<T>& p) : first_(p.data()), size_(p.size()) {}                       // NOLINT: a parameter type
  TESSERA_INLINE List(const std::vector<T>& v) : first_(v.data()), size_(v.size()) {}                // NOLINT: a parameter type
  [[nodiscard]] TESSERA_INLINE constexpr const T* begin() const { return first_; }
  [[nodiscard]] TESSERA_INLINE constexpr const T* end() const { return first_ + size_; }
  [[nodiscard]] TESSERA_INLINE constexpr std::size_t size() const { return size_; }
  [[nodiscard]] TESSERA_INLINE constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] TESSERA_INLINE constexpr const T& operator[](std::size_t i) const { return first_[i]; }

 private:
  const T* first_ = nullptr;
  std::size_t size_ = 0;
};

/// Who writes a parameter.
enum class Direction : std::uint8_t { in, out, inout };

/// What a function is for. A kernel computes on chip, a simt kernel does with one number at a time in each of many threads, a
/// tileop is an operation of the user's that kernels call; the others run on the host and call: an orchestration freely, a
/// wrapper (spmd, group) hands its parameters on to one call.
enum class FunctionKind : std::uint8_t { kernel, orchestration, spmd, group, tileop, simt };
[[nodiscard]] constexpr const char* name(FunctionKind k) {
  constexpr const char* names[] = {"kernel", "orchestration", "spmd", "group", "tileop", "simt"};
  return names[static_cast<int>(k)];
}
[[nodiscard]] constexpr bool runs_on_chip(FunctionKind k) { return k == FunctionKind::kernel || k == FunctionKind::tileop || k == FunctionKind::simt; }
/// Whether a function is emitted as a module of its own.
[[nodiscard]] constexpr bool is_kernel(FunctionKind k) { return k == FunctionKind::kernel || k == FunctionKind::simt; }
[[nodiscard]] constexpr bool is_wrapper(FunctionKind k) { return k == FunctionKind::spmd || k == FunctionKind::group; }


/// How many threads run a simt kernel, along the axes x, y and z.
struct Threads {
  std::int64_t extents[3] = {1, 1, 1};
  [[nodiscard]] constexpr std::int64_t operator[](int axis) const { return extents[axis]; }
  [[nodiscard]] constexpr std::int64_t total() const { return extents[0] * extents[1] * extents[2]; }
  friend constexpr bool operator==(const Threads&, const Threads&) = default;
};
/// As many threads as one launch has.
inline constexpr std::int64_t max_threads = 2048;

}  // namespace tessera
