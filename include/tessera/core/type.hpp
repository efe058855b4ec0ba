// The type of an IR value: a small structural value, the same at compile time and at run time.
#pragma once

#include <cstdint>

#include "dim.hpp"
#include "dtype.hpp"
#include "space.hpp"

namespace tessera {

enum class TypeKind : std::uint8_t { none, tensor, tile, scalar };

/// Element order. nd: rows; dn: columns; nz, zn: fractal boxes of the cube unit (block order, then order in a block).
enum class Layout : std::uint8_t { nd, dn, nz, zn };

/// No address space holds more; the count of bits still fits into 64 bits.
inline constexpr std::int64_t max_elements = std::int64_t{1} << 56;
[[nodiscard]] constexpr std::int64_t capped_product(std::int64_t a, std::int64_t b) {
  return b != 0 && a > max_elements / b ? max_elements : a * b;
}

/// Shape, element type, place and layout of a value. Scalars (Index among them) have rank 0.
struct Type {
  TypeKind kind = TypeKind::none;
  DType dtype = f32;
  MemorySpace space = Gm;
  Layout layout = Layout::nd;
  std::uint8_t rank = 0;
  std::int64_t dims[max_rank] = {};

  [[nodiscard]] constexpr std::int64_t operator[](int axis) const { return dims[axis]; }
  /// axis counted from the end: last(0) is the last dim.
  [[nodiscard]] constexpr std::int64_t last(int from_end = 0) const { return dims[rank - 1 - from_end]; }
  [[nodiscard]] constexpr bool is_tensor() const { return kind == TypeKind::tensor; }
  [[nodiscard]] constexpr bool is_tile() const { return kind == TypeKind::tile; }
  [[nodiscard]] constexpr bool is_scalar() const { return kind == TypeKind::scalar; }
  [[nodiscard]] constexpr bool is_index() const { return is_scalar() && dtype == index_type; }
  [[nodiscard]] constexpr bool is_shaped() const { return is_tensor() || is_tile(); }
  [[nodiscard]] constexpr bool has_static_shape() const {
    for (int i = 0; i < rank; ++i)
      if (is_dynamic(dims[i])) return false;
    return true;
  }
  /// Element count of a static shape; max_elements for anything larger.
  [[nodiscard]] constexpr std::int64_t elements() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n = capped_product(n, dims[i]);
    return n;
  }
  [[nodiscard]] constexpr std::int64_t bytes() const { return bytes_of(dtype, elements()); }
  [[nodiscard]] constexpr bool same_shape(const Type& o) const {
    if (rank != o.rank) return false;
    for (int i = 0; i < rank; ++i)
      if (dims[i] != o.dims[i]) return false;
    return true;
  }
  friend constexpr bool operator==(const Type&, const Type&) = default;
};

/// The layout that a tile has in its space unless an operation says otherwise.
[[nodiscard]] constexpr Layout implied_layout(MemorySpace space, const Type& shape) {
  switch (space) {
    case Mat: case Left: case Acc: return Layout::nz;
    case Right: return Layout::zn;
    case Vec: return shape.rank >= 2 && shape.last() == 1 && shape.last(1) != 1 ? Layout::dn : Layout::nd;
    default: return Layout::nd;
  }
}

/// An axis; negative ones count from the end.
[[nodiscard]] constexpr int counted_from_front(std::int64_t axis, int rank) { return static_cast<int>(axis < 0 ? axis + rank : axis); }
[[nodiscard]] constexpr Type scalar_type(DType d) { return {TypeKind::scalar, d, Gm, Layout::nd, 0, {}}; }
inline constexpr Type index_scalar = scalar_type(index_type);

/// A type of the same kind and place with another shape; the layout follows the space.
[[nodiscard]] constexpr Type with_shape(Type t, const std::int64_t* dims, int rank) {
  t.rank = static_cast<std::uint8_t>(rank);
  for (int i = 0; i < max_rank; ++i) t.dims[i] = i < rank ? dims[i] : 0;
  t.layout = t.is_tile() ? implied_layout(t.space, t) : Layout::nd;
  return t;
}
[[nodiscard]] constexpr Type with_dim(Type t, int axis, std::int64_t dim) {
  t.dims[axis] = dim;
  t.layout = t.is_tile() ? implied_layout(t.space, t) : Layout::nd;
  return t;
}
[[nodiscard]] constexpr Type with_dtype(Type t, DType d) { t.dtype = d; return t; }
[[nodiscard]] constexpr Type with_space(Type t, MemorySpace s) {
  t.kind = s == Gm ? TypeKind::tensor : TypeKind::tile;
  t.space = s;
  t.layout = t.is_tile() ? implied_layout(s, t) : Layout::nd;
  return t;
}

/// The tile that a tensor becomes when it is loaded whole: same shape and dtype, in `space`.
[[nodiscard]] constexpr Type lowered(const Type& tensor, MemorySpace space = Vec) {
  return tensor.is_tensor() ? with_space(tensor, space) : tensor;
}

/// The 2-D tile that a tile of rank > 2 becomes: leading dims merged into rows. Rank 1 and 2 stay as they are.
[[nodiscard]] constexpr Type flattened(const Type& tile) {
  if (!tile.is_tile() || tile.rank <= 2) return tile;
  std::int64_t merged[2] = {1, tile.last()};
  for (int i = 0; i + 1 < tile.rank; ++i) merged[0] = capped_product(merged[0], tile.dims[i]);
  const Layout layout = tile.layout;
  Type flat = with_shape(tile, merged, 2);
  if (tile.space != Vec) flat.layout = layout;
  return flat;
}

/// The tile that is allocated for a 2-D tile: rows (columns in dn) are whole blocks of 32 bytes, tiles of the cube unit
/// are whole boxes of 16 x 16 (32 x 32 for i8 operands and their i32 accumulators). What is beyond the tile's own dims is
/// padding: it is never valid.
[[nodiscard]] constexpr Type stored(const Type& tile) {
  if (!tile.is_tile() || tile.rank == 0 || tile.rank > 2) return tile;
  const std::int64_t block = block_elements(tile.dtype);
  Type t = tile;
  if (t.layout == Layout::nd || t.layout == Layout::dn) {
    std::int64_t& run = t.dims[t.layout == Layout::dn && t.rank == 2 ? 0 : t.rank - 1];
    run = align_up(run, block);
    return t;
  }
  const std::int64_t box = t.space == Acc ? (t.dtype == i32 ? 32 : 16) : block > 16 ? block : 16;
  for (int i = 0; i < t.rank; ++i) t.dims[i] = align_up(t.dims[i], box);
  return t;
}

/// Whether each element of the one 2-D tile stands where the same element of the other does, from the start of their storage.
[[nodiscard]] constexpr bool same_places(const Type& a, const Type& b) {
  return a.space == b.space && a.layout == b.layout && info(a.dtype).bits == info(b.dtype).bits && stored(a).same_shape(stored(b));
}
/// Bytes of a row of a mask, which has one bit for each element, in whole blocks. On a5 a mask has the shape of what was
/// compared, so that most of a row is unused.
[[nodiscard]] constexpr std::int64_t mask_row_bytes(const Type& mask, Arch arch) {
  const std::int64_t bytes = arch == Arch::a3 ? (mask.last() + 7) / 8 : mask.last();
  return align_up(bytes, block_bytes);
}
/// Bytes that are allocated for a tile of at most two dims.
[[nodiscard]] constexpr std::int64_t stored_bytes(const Type& tile, Arch arch) {
  if (tile.dtype != boolean) return stored(tile).bytes();
  return (tile.rank == 2 ? tile.dims[0] : 1) * mask_row_bytes(tile, arch);
}

}  // namespace tessera
