// Loads, stores and element accesses: a window of a tensor parameter is a GlobalTensor of its own.
#pragma once

#include "../../ops/gather_rows.hpp"
#include "tiles.hpp"

namespace tessera::cpp {

/// A window of a tensor: offsets into the parameter, sizes and strides of at most five dims.
struct Window {
  ValueId tensor;
  int rank = 0;
  Expr offset, sizes[max_rank], strides[max_rank];
  bool by_columns = false;  ///< the second-last dim is the one whose elements follow each other
};

[[nodiscard]] inline Expr product(const Expr* first, const Expr* last) {
  Expr p = number(1);
  for (; first != last; ++first) p = mul(p, *first);
  return p;
}

/// The strides of a tensor of these dims in row-major order.
inline void row_major_strides(const Expr* dims, int rank, Expr* strides) {
  for (int i = 0; i < rank; ++i) strides[i] = product(dims + i + 1, dims + rank);
}

inline std::string dims_text(std::string_view name, const Expr* list, int rank, std::string& at_run_time) {
  std::string text = std::string(name) + "<";
  for (int i = 0; i < 5; ++i) {
    const int own = i - (5 - rank);
    text.append(i == 0 ? "" : ", ");
    if (own < 0) text.append("1");
    else if (list[own].is_constant && list[own].constant > 0) text.append(list[own].text);
    else text.append("DYNAMIC"), at_run_time.append(at_run_time.empty() ? "" : ", ").append(list[own].text);
  }
  return text.append(">");
}
/// Declares the GlobalTensor of a window; gives its name.
inline std::string declare(Writer& w, const Window& window) {
  const ValueId parameter = parameter_of(w.f, window.tensor);
  std::string sizes, strides;
  std::string type = "GlobalTensor<" + std::string(type_name(w.f.type(parameter).dtype)) + ", " + dims_text("Shape", window.sizes, window.rank, sizes) +
                     ", " + dims_text("Stride", window.strides, window.rank, strides) + (window.by_columns ? ", Layout::DN>" : ">");
  const std::string memory = w.scalar(parameter), name = w.names.unique(memory + "_window");
  std::string arguments = window.offset.is(0) ? memory : memory + " + " + (window.offset.kind == Expr::Kind::sum ? "(" + window.offset.text + ")" : window.offset.text);
  if (!sizes.empty() || !strides.empty()) arguments.append(", {" + sizes + "}");
  if (!strides.empty()) arguments.append(", {" + strides + "}");
  w.line(type, " ", name, "(", arguments, ");");
  return name;
}

// How much of the box is data, by dim. Stated for loads; for stores it follows from the tile: its rows are those of the
// first dim of the box that is not 1.
inline void data_extents(const Writer& w, OpId o, ValueId tile, const Type& tensor, const std::int64_t* box, int first_stated, Expr* sizes) {
  const Function& f = w.f;
  const int rank = tensor.rank;
  for (int i = 0; i < rank; ++i) sizes[i] = first_stated >= 0 ? w.index(f.operand(o, first_stated + i)) : number(box[i]);
  if (first_stated >= 0 || f.fully_valid(tile)) return;
  sizes[rank - 1] = w.index(w.valid_cols(tile));
  int outer = 0;
  while (outer < rank - 2 && box[outer] == 1) ++outer;
  std::int64_t inner = 1;
  for (int i = outer + 1; i + 1 < rank; ++i) inner *= box[i];
  if (rank > 1) sizes[outer] = div(w.index(w.valid_rows(tile)), inner);
}

/// The window at the offsets in operand `first` on. `first_stated`: operand of the first valid extent, or -1.
inline Window window_of(const Writer& w, OpId o, ValueId tile, ValueId tensor, int first, int first_stated) {
  const Function& f = w.f;
  const Type &tile_type = f.type(tile), &t = f.type(tensor);
  if (!parameter_of(f, tensor)) contradict(w, o, "the tensor is not a parameter");
  pto::check_column(f, o, tile_type, t);
  std::int64_t box[max_rank];
  window_box(f, o, tile_type, t, box);
  const int merged = pto::merged_dims(tile_type, t);
  if (merged > 1) pto::check_band(f, o, t, box, merged);

  Expr dims[max_rank], strides[max_rank], sizes[max_rank];
  for (int i = 0; i < t.rank; ++i) dims[i] = w.dim(t.dims[i]);
  row_major_strides(dims, t.rank, strides);
  data_extents(w, o, tile, t, box, first_stated, sizes);
  Window window;
  window.tensor = tensor;
  window.by_columns = pto::is_column_of_tensor(t);
  for (int i = 0; i < t.rank; ++i) window.offset = add(window.offset, mul(w.index(f.operand(o, first + i)), strides[i]));
  // A rank above 5 and planes: leading dims stand as one.
  window.rank = t.rank - merged + 1;
  window.sizes[0] = product(sizes, sizes + merged);
  window.strides[0] = strides[merged - 1];
  for (int i = 1; i < window.rank; ++i) window.sizes[i] = sizes[merged - 1 + i], window.strides[i] = strides[merged - 1 + i];
  if (window.by_columns) window.strides[window.rank - 1] = product(dims, dims + t.rank - 1);
  return window;
}

inline void emit_load(Writer& w, OpId o) {
  const Function& f = w.f;
  const ValueId v = f.result(o), tensor = f.operand(o, 0);
  const bool stated = f.attr(o, AttrKey::has_valid) != 0;
  const Window window = window_of(w, o, v, tensor, 1, stated ? 1 + f.type(tensor).rank : -1);
  const TileVar t = destination(w, o, v, Pad::null, w.scalar(parameter_of(f, tensor)) + "_tile");
  const std::string source = declare(w, window);
  w.instruction(o, "TLOAD(", t.name, ", ", source, ");");
}

inline void emit_store(Writer& w, OpId o) {
  const Function& f = w.f;
  const ValueId v = f.operand(o, 0);
  if (!f.type(v).is_tile()) contradict(w, o, "the source is not a tile");
  const TileVar& t = operand(w, o, 0);
  const std::string target = declare(w, window_of(w, o, v, f.operand(o, 1), 2, -1));
  if (f.attr(o, AttrKey::atomic_add) == 0) return w.instruction(o, "TSTORE(", target, ", ", t.name, ");");
  w.instruction(o, "TSTORE<decltype(", t.name, "), decltype(", target, "), AtomicType::AtomicAdd>(", target, ", ", t.name, ");");
}

// Position of an element of a parameter in memory, row-major; of a tile in its storage.
inline Expr element(const Writer& w, ValueId x, OpId o, int first) {
  const Type& t = w.f.type(x);
  Expr at;
  for (int i = 0; i < t.rank; ++i) {
    const bool in_row = t.is_tile() && i == t.rank - 1 && i > 0;
    const Expr extent = !in_row ? w.dim(t.dims[i]) : number(t.layout == Layout::dn ? 1 : w.tile(x).key.cols);
    at = add(mul(at, extent), w.index(w.f.operand(o, first + i)));
  }
  return at;
}

inline void emit_read(Writer& w, OpId o) {
  const Function& f = w.f;
  const ValueId x = f.operand(o, 0), v = f.result(o);
  const std::string at = element(w, x, o, 1).text;
  const bool on_chip = f.type(x).is_tile();
  if (!on_chip && !parameter_of(f, x)) contradict(w, o, "the tensor is not a parameter");
  const std::string value = on_chip ? w.tile(x).name + ".GetValue(" + at + ")" : w.scalar(parameter_of(f, x)) + "[" + at + "]";
  const std::string& name = w.define(v);
  w.line(o, "const ", type_name(f.type(v).dtype), " ", name, " = ", value, ";");
}

inline void emit_write(Writer& w, OpId o) {
  const Function& f = w.f;
  const ValueId x = f.operand(o, 0);
  const std::string value = w.scalar(f.operand(o, 1));
  if (f.type(x).is_tile()) {
    const std::string at = element(w, x, o, 2).text;
    return w.line(o, destination(w, o, f.result(o)).name, ".SetValue(", at, ", ", value, ");");
  }
  if (!parameter_of(f, x)) contradict(w, o, "the tensor is not a parameter");
  w.line(o, w.scalar(parameter_of(f, x)), "[", element(w, x, o, 2).text, "] = ", value, ";");
}

/// A load into a window of the accumulator. In Mat a row of a box is where its offset says, in boxes and out of them: 32 bytes
/// behind the one before, also across boxes.
inline void emit_gather_row(Writer& w, OpId o) {
  const Function& f = w.f;
  const ValueId v = f.result(o), source = f.operand(o, 1);
  const Type &acc = f.type(v), &t = f.type(source);
  if (acc.layout == Layout::dn) contradict(w, o, "rows are gathered into a column");
  if (!parameter_of(f, source)) contradict(w, o, "the tensor is not a parameter");
  const bool transposed = f.attr(o, AttrKey::transposed) != 0, stated = f.attr(o, AttrKey::has_valid) != 0;
  std::int64_t box[2] = {f.attr(o, AttrKey::rows), f.attr(o, AttrKey::columns)};
  Expr to[2], from[2], sizes[2];
  for (int i = 0; i < 2; ++i) {
    to[i] = w.index(f.operand(o, ops::gather_row_offsets + i));
    from[i] = w.index(f.operand(o, ops::gather_row_source_offsets + i));
    sizes[i] = stated ? w.index(f.operand(o, ops::gather_row_valid + i)) : number(box[i]);
  }
  const Expr stride = w.dim(t.dims[1]);
  Window window{source, 2, add(mul(from[0], stride), from[1]), {sizes[0], sizes[1]}, {stride, number(1)}, false};
  if (transposed) {
    std::swap(window.sizes[0], window.sizes[1]);
    std::swap(window.strides[0], window.strides[1]);
    std::swap(box[0], box[1]);
    window.by_columns = true;
  }
  const TileVar whole = destination(w, o, v);
  const std::int64_t block = block_elements(acc.dtype), bytes = bytes_of(acc.dtype, 1);
  TileKey k = whole.key;
  k.valid_rows = window.sizes[0].is_constant ? window.sizes[0].constant : -1;
  k.valid_cols = window.sizes[1].is_constant ? window.sizes[1].constant : -1;
  Expr at;
  if (acc.space != Mat) {
    k.rows = box[0];
    at = mul(add(mul(to[0], number(k.cols)), to[1]), number(bytes));
  } else {
    // Blocks of a box along one dim follow each other; along the other there are as many boxes between as the tile is long.
    const bool by_rows = acc.layout == Layout::nz;
    const Expr &run = by_rows ? to[0] : to[1], &across = by_rows ? to[1] : to[0];
    at = add(mul(run, number(32)), mul(div(across, block), number((by_rows ? k.rows : k.cols) * 32)));
  }
  const TileVar part = declare(w, whole.name + "_rows", k, {window.sizes[0], window.sizes[1]}, add(whole.address, at), v, whole.columns);
  const std::string rows = declare(w, window);
  w.instruction(o, "TLOAD(", part.name, ", ", rows, ");");
}

}  // namespace tessera::cpp
