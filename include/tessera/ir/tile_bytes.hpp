// Which bytes of its buffer a tile stands in, in a function with addresses: for a window of a row-major tile, its rows. Where
// that is not known it is the whole buffer.
#pragma once

#include "../ops/all.hpp"
#include "function.hpp"

namespace tessera {

/// `count` runs of bytes, their starts `pitch` apart.
struct TileBytes {
  std::int64_t begin = 0, run = 0, pitch = 0, count = 1;

  /// Calls visit(begin, end) for each run.
  template <class Visit>
  void for_each_run(Visit&& visit) const {
    for (std::int64_t i = 0; i < count; ++i) visit(begin + i * pitch, begin + i * pitch + run);
  }
  friend constexpr bool operator==(const TileBytes&, const TileBytes&) = default;
};

/// The bytes of the tiles of a function while it runs, or while one walks over it. Views are told in the order in which they are
/// made; the others follow from the addresses.
class TileViews {
 public:
  explicit TileViews(const Function& f) : f_(f), windows_(f.value_count()) {}

  [[nodiscard]] TileBytes of(ValueId tile) const {
    const OpId by = f_.definition(tile);
    if (!by || f_.info(by).level == Level::control) return whole_buffer(tile);  // perhaps a window that is handed on
    const OpInfo& info = f_.info(by);
    if (info.is_view) return windows_[tile.index];
    if (info.in_place >= 0) return of(f_.operand(by, info.in_place));
    const std::int64_t bytes = stored_bytes(f_.type(tile), planned_arch(f_));
    return {byte_range(f_, tile).begin, bytes, bytes, 1};
  }
  /// A view of a tile is made; number(value) gives its offsets, or nothing where they are not known.
  template <class Number>
  void make(OpId view, Number&& number) {
    const ValueId source = f_.operand(view, 0), result = f_.result(view);
    TileBytes& bytes = windows_[result.index];
    bytes = f_[source].buffer == f_[result].buffer ? of(source) : whole_buffer(result);
    if (!shows_part(f_, view)) return;
    std::int64_t offsets[max_rank] = {};
    const Type& whole = f_.type(source);
    bool known = whole.layout == Layout::nd && whole.rank <= 2 && whole.dtype != boolean && f_.type(result).rank == whole.rank;
    for (int i = 0; known && i < whole.rank; ++i) {
      const auto n = number(f_.operand(view, 1 + i));
      known = static_cast<bool>(n);
      if (known) offsets[i] = *n;
    }
    if (known) bytes = window(bytes, whole, f_.type(result), offsets);
  }

 private:
  [[nodiscard]] TileBytes whole_buffer(ValueId tile) const {
    const ByteRange r = byte_range(f_, tile);
    return {r.begin, r.bytes(), r.bytes(), 1};
  }
  [[nodiscard]] static TileBytes window(const TileBytes& source, const Type& whole, const Type& part, const std::int64_t* offsets) {
    const std::int64_t rows = whole.rank == 2 ? whole.dims[0] : 1;
    if (source.count > 1 && source.count != rows) return source;  // rows of another shape
    const std::int64_t pitch = source.count > 1 ? source.pitch : bytes_of(whole.dtype, stored(whole).last());
    const std::int64_t row = whole.rank == 2 ? offsets[0] : 0, left = bytes_of(whole.dtype, offsets[whole.rank - 1]);
    const std::int64_t width = align_up(bytes_of(whole.dtype, part.last()), block_bytes), room = pitch - left;
    TileBytes bytes{source.begin + row * pitch + left, width < room ? width : room, pitch, part.rank == 2 ? part.dims[0] : 1};
    if (bytes.run == pitch) bytes = {bytes.begin, pitch * bytes.count, pitch * bytes.count, 1};
    return bytes;
  }

  const Function& f_;
  std::vector<TileBytes> windows_;  // of views
};

}  // namespace tessera
