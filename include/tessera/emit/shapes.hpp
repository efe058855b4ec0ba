// What the emitters know alike: how a tile is stored, and which windows of tensors have an instruction.
#pragma once

#include <string>

#include "../ir/tensor_window.hpp"

namespace tessera::pto {

[[noreturn]] inline void refuse(const Function& f, OpId o, const std::string& what, const std::string& hint) {
  fail(f[o].location, std::string(f.info(o).name) + ": " + what, hint);
}

/// What a tile type says; -1 stands for a valid extent that is known only at run time.
struct TileKey {
  DType dtype = f32;
  MemorySpace space = Vec;
  Layout layout = Layout::nd;
  Pad pad = Pad::null;
  std::int64_t rows = 0, cols = 0, valid_rows = 0, valid_cols = 0;
  friend bool operator==(const TileKey&, const TileKey&) = default;
};

[[nodiscard]] inline TileKey mask_key(const Type& t, const Extent& rows, Arch arch) {
  const std::int64_t cols = mask_row_bytes(t, arch);
  return {u8, t.space, t.layout, Pad::null, t.rank == 2 ? t.dims[0] : 1, cols, rows.is_constant() ? rows.constant : -1, cols};
}
/// Rows and columns of a tile as it is stored, padding included: of rank 1 it is one row, and a mask is bytes.
[[nodiscard]] inline TileKey tile_key(const Function& f, ValueId v, Arch arch, Pad pad = Pad::null) {
  const Type& t = f.type(v);
  if (t.rank == 0 || t.rank > 2) throw InternalError("emit: a tile of rank " + std::to_string(t.rank) + " is not flattened");
  const Extent r = t.rank == 2 ? f.valid(v, 0) : Extent{1, {}}, c = f.valid(v, t.rank - 1);
  if (t.dtype == boolean) return mask_key(t, r, arch);
  const Type s = stored(t);
  return {t.dtype,
          t.space,
          t.layout,
          pad,
          t.rank == 2 ? s.dims[0] : 1,
          s.last(),
          r.is_constant() ? r.constant : -1,
          c.is_constant() ? c.constant : -1};
}

/// Leading dims of the tensor that must stand as one: all but the last for cube spaces and columns, whose instructions take
/// two dims; and those above five, which no instruction takes.
[[nodiscard]] inline int merged_dims(const Type& tile, const Type& tensor) {
  const bool plane = tile.space == Mat || tile.layout == Layout::dn;
  if (plane && tensor.rank > 2) return tensor.rank - 1;
  return tensor.rank > 5 ? tensor.rank - 4 : 1;
}

/// Merged dims are one band of memory: behind the first dim of the box that is not 1, each must be covered whole.
inline void check_band(const Function& f, OpId o, const Type& tensor, const std::int64_t* box, int merged) {
  int i = 0;
  while (i < merged && box[i] == 1) ++i;
  for (++i; i < merged; ++i)
    if (box[i] != tensor.dims[i])
      refuse(f, o,
             "the window is not one band of the tensor (axis " + std::to_string(i) + ": " + std::to_string(box[i]) +
                 " of " + tessera::detail::dim_text(tensor.dims[i]) + ")",
             "cover the inner dims whole, or loop over the outer ones");
}

/// Whether a tensor is one column, whose elements follow each other: strides 1 and M.
[[nodiscard]] constexpr bool is_column_of_tensor(const Type& t) { return t.rank > 1 && t.last() == 1 && t.last(1) != 1; }
/// A column of a row-major tensor has no instruction.
inline void check_column(const Function& f, OpId o, const Type& tile, const Type& tensor) {
  if (tile.space == Vec && (tile.layout == Layout::dn) != is_column_of_tensor(tensor))
    refuse(f, o,
           "a column of a row-major tensor has no instruction (the tensor's last dim is " +
               tessera::detail::dim_text(tensor.last()) + ")",
           "use whole rows, or give the tensor the shape [.., M, 1]");
}

}  // namespace tessera::pto
