// gather_row: a load whose destination is a window of the accumulator. In Mat the window is made of whole boxes of the tile's
// order, of which only the extents that are stated hold data; in Vec it is the window itself, with rows of whole blocks.
#pragma once

#include "../../ops/gather_rows.hpp"
#include "memory.hpp"

namespace tessera::pto {

/// The type of a window of `rows` x `columns` in the accumulator, of which `valid` holds data.
inline TileKey gathered_window(const Type& acc, std::int64_t rows, std::int64_t columns, const Extents& valid) {
  const std::int64_t block = block_elements(acc.dtype), box = 16;
  const auto extent = [](const Extent& e) { return e.is_constant() ? e.constant : -1; };
  const bool boxes = acc.space == Mat, turned = acc.layout == Layout::zn;
  return {acc.dtype, acc.space, acc.layout, Pad::null, boxes ? align_up(rows, turned ? block : box) : rows, align_up(columns, turned ? box : block),
          extent(valid.rows), extent(valid.cols)};
}
/// A window of a tensor of rows; `transposed`: seen as columns.
inline Partition partition_of_rows(Module& m, OpId o, ValueId tensor, const Index* offsets, const Index* sizes, bool transposed) {
  const Type& t = m.f.type(tensor);
  if (!parameter_of(m.f, tensor)) contradict(m, o, "the tensor is not a parameter");
  if (t.last() == 1) contradict(m, o, "the tensor is a column");
  const Name of = m.view(tensor, 1, transposed).name;
  Name offset[2], size[2];
  Partition p{{}, "!pto.partition_tensor_view<"};
  for (int i = 0; i < 2; ++i) {
    const int axis = transposed ? 1 - i : i;
    offset[i] = m.name(offsets[axis]), size[i] = m.name(sizes[axis]);
    append_extent(p.type, sizes[axis].is_constant ? sizes[axis].constant : -1);
    p.type.push_back('x');
  }
  p.type.append(info(t.dtype).pto_name).push_back('>');
  p.name = m.fresh();
  m.line(p.name, " = pto.partition_view ", of, ", offsets = [", offset[0], ", ", offset[1], "], sizes = [", size[0], ", ", size[1], "] : ",
         Module::view_type(2, t.dtype), " -> ", p.type);
  return p;
}

inline void emit_gather_row(Module& m, OpId o) {
  const Function& f = m.f;
  const ValueId v = f.result(o), source = f.operand(o, 1);
  const Type& acc = f.type(v);
  if (acc.layout == Layout::dn) contradict(m, o, "rows are gathered into a column");
  if (!m.dialect.subview_states_valid)
    refuse(m, o, "assembler " + std::string(m.dialect.version) + " loads into no window of a tile", "emit for assembler 0.60");
  const bool transposed = f.attr(o, AttrKey::transposed) != 0, stated = f.attr(o, AttrKey::has_valid) != 0;
  std::int64_t window_rows = f.attr(o, AttrKey::rows), window_columns = f.attr(o, AttrKey::columns);
  Index to[2], from[2], sizes[2] = {{true, window_rows, {}}, {true, window_columns, {}}};
  Extent valid[2] = {{window_rows, {}}, {window_columns, {}}};
  for (int i = 0; i < 2; ++i) {
    to[i] = m.index(f.operand(o, ops::gather_row_offsets + i));
    from[i] = m.index(f.operand(o, ops::gather_row_source_offsets + i));
    if (!stated) continue;
    const ValueId e = f.operand(o, ops::gather_row_valid + i);
    sizes[i] = m.index(e);
    valid[i] = f.is_constant(e) ? Extent{f[e].integer, {}} : Extent{0, e};
  }
  if (transposed) std::swap(valid[0], valid[1]), std::swap(window_rows, window_columns);
  const Extents extents{valid[0], valid[1]};
  // A row of a box is where the offset says, in boxes and out of them; but a constant must be a whole number of boxes.
  Index& run = to[transposed ? 1 : 0];
  if (acc.space == Mat && run.is_constant && run.constant % 16 != 0) run = m.unfolded(run.constant);
  const Partition rows = partition_of_rows(m, o, source, from, sizes, transposed);
  const Tile acc_tile = destination(m, o, v);
  const Tile t = window(m, o, acc_tile, v, gathered_window(acc, window_rows, window_columns, extents), to[0], to[1], extents);
  m.line(o, "pto.tload ins(", rows.name, " : ", rows.type, ") outs(", t, " : ", m.type(t), ')');
}

}  // namespace tessera::pto
