// Loads, stores and element accesses: windows of tensor parameters, and what addresses them.
#pragma once

#include "tiles.hpp"

namespace tessera::pto {

/// A window of a tensor parameter as a `partition_view`: its name and type.
struct Partition {
  Name name;
  std::string type;
};

// How much of the box is data, by dim. Stated for loads; for stores it follows from the tile: its rows are those of the
// first dim of the box that is not 1.
inline void data_extents(Module& m, OpId o, ValueId tile, const Type& tensor, const std::int64_t* box, int first_stated,
                         Index* sizes) {
  const Function& f = m.f;
  const int rank = tensor.rank;
  if (first_stated >= 0) {
    for (int i = 0; i < rank; ++i) sizes[i] = m.index(f.operand(o, first_stated + i));
    return;
  }
  for (int i = 0; i < rank; ++i) sizes[i] = {true, box[i], {}};
  if (f.fully_valid(tile)) return;
  sizes[rank - 1] = m.index(m.valid_cols(tile));
  int outer = 0;
  while (outer < rank - 2 && box[outer] == 1) ++outer;
  std::int64_t inner = 1;
  for (int i = outer + 1; i + 1 < rank; ++i) inner *= box[i];
  if (rank > 1) sizes[outer] = m.div(m.index(m.valid_rows(tile)), inner);
}

/// `partition_view` of the window at `offsets` (operand `first` on). `first_stated`: operand of the first valid extent, or -1.
inline Partition partition(Module& m, OpId o, ValueId tile, ValueId tensor, int first, int first_stated,
                           bool transposed) {
  const Function& f = m.f;
  const Type &tile_type = f.type(tile), &t = f.type(tensor);
  if (!parameter_of(f, tensor)) contradict(m, o, "the tensor is not a parameter");
  const int rank = t.rank;
  check_column(f, o, tile_type, t);
  std::int64_t box[max_rank];
  window_box(f, o, tile_type, t, box);
  const int merged = merged_dims(tile_type, t);
  if (merged > 1) check_band(f, o, t, box, merged);

  Index sizes[max_rank], at[max_rank];
  data_extents(m, o, tile, t, box, first_stated, sizes);
  int dims = 0;
  if (rank == 1) {  // a row
    at[0] = {};
    sizes[1] = sizes[0];
    sizes[0] = {true, 1, {}};
    at[1] = m.index(f.operand(o, first));
    dims = 2;
  } else {
    Index offset, size{true, 1, {}};
    for (int i = 0; i < merged; ++i) {
      offset = m.add(m.mul(offset, m.dim(t.dims[i])), m.index(f.operand(o, first + i)));
      size = m.mul(size, sizes[i]);
    }
    at[0] = offset;
    sizes[0] = size;
    dims = rank - merged + 1;
    for (int i = 1; i < dims; ++i) {
      at[i] = m.index(f.operand(o, first + merged - 1 + i));
      sizes[i] = sizes[merged - 1 + i];
    }
  }
  if (transposed) std::swap(at[dims - 1], at[dims - 2]), std::swap(sizes[dims - 1], sizes[dims - 2]);

  const View& view = m.view(tensor, merged, transposed);
  const Name of = view.name;
  Name offset_names[max_rank], size_names[max_rank];
  for (int i = 0; i < dims; ++i) offset_names[i] = m.name(at[i]), size_names[i] = m.name(sizes[i]);
  Partition p{m.fresh(), "!pto.partition_tensor_view<"};
  for (int i = 0; i < dims; ++i) {
    append_extent(p.type, sizes[i].is_constant ? sizes[i].constant : -1);
    p.type.push_back('x');
  }
  p.type.append(info(t.dtype).pto_name).push_back('>');
  m.begin();
  m.put(p.name, " = pto.partition_view ", of, ", offsets = [");
  for (int i = 0; i < dims; ++i) m.put(i == 0 ? "" : ", ", offset_names[i]);
  m.put("], sizes = [");
  for (int i = 0; i < dims; ++i) m.put(i == 0 ? "" : ", ", size_names[i]);
  m.put("] : ", Module::view_type(dims, t.dtype), " -> ", p.type);
  m.end();
  return p;
}

// A Mat tile that is only read transposed is loaded transposed: the assembler's level 2 cannot look at it in two ways.
inline bool only_read_transposed(const Module& m, ValueId v) {
  bool only = m.f.has_uses(v);
  m.f.for_each_use(v, [&](OpId user, int) { only = only && m.f.info(user).form == PtoForm::transposed_view; });
  return only;
}

inline void emit_load(Module& m, OpId o) {
  const Function& f = m.f;
  const ValueId v = f.result(o), tensor = f.operand(o, 0);
  const bool stated = f.attr(o, AttrKey::has_valid) != 0, turned = f.type(v).space == Mat && only_read_transposed(m, v);
  const int rank = f.type(tensor).rank;
  const Partition p = partition(m, o, v, tensor, 1, stated ? 1 + rank : -1, turned);
  Tile t;
  if (turned) {
    // The storage has the type of the transposed value.
    OpId user;
    f.for_each_use(v, [&](OpId u, int) { user = u; });
    const ValueId seen = f.result(user);
    t = allocate_buffer(m, o, m.key(seen), extents_of(m, seen), seen);
    m.bind(v, t);
  } else {
    t = destination(m, o, v);
  }
  m.line(o, "pto.tload ins(", p.name, " : ", p.type, ") outs(", t, " : ", m.type(t), ')');
}

inline void emit_store(Module& m, OpId o) {
  const Function& f = m.f;
  const ValueId v = f.operand(o, 0), tensor = f.operand(o, 1);
  if (!f.type(v).is_tile()) contradict(m, o, "the source is not a tile");
  const Partition p = partition(m, o, v, tensor, 2, -1, false);
  const Tile t = m.tile(v);
  m.line(o, "pto.tstore ins(", t, " : ", m.type(t), ") outs(", p.name, " : ", p.type, ')',
         f.attr(o, AttrKey::atomic_add) != 0 ? " {atomicType = #pto<atomic_type atomic_add>}" : "");
}

// Position of an element of a parameter in memory, row-major; of a tile in its storage.
inline Index element(Module& m, OpId o, ValueId x, int first) {
  const Type& t = m.f.type(x);
  Index at;
  for (int i = 0; i < t.rank; ++i) {
    const bool stride = t.is_tile() && i == t.rank - 1 && i > 0;
    const Index extent =
        !stride ? m.dim(t.dims[i]) : Index{true, t.layout == Layout::dn ? 1 : m.tile(x).row_stride, {}};
    at = m.add(m.mul(at, extent), m.index(m.f.operand(o, first + i)));
  }
  return at;
}
inline void check_element(const Module& m, OpId o, ValueId x) {
  const Type& t = m.f.type(x);
  if (t.is_tensor() && !parameter_of(m.f, x)) contradict(m, o, "the tensor is not a parameter");
  if (t.is_tile() && is_unsigned(t.dtype))
    refuse(m, o, "elements of a tile of unsigned integers cannot be accessed (" + std::string(info(t.dtype).name) + ")",
           "use a signed element type");
}

// Scalars are signless in the text, memory is not.
inline void emit_read(Module& m, OpId o) {
  const ValueId x = m.f.operand(o, 0), v = m.f.result(o);
  check_element(m, o, x);
  const Name at = m.name(element(m, o, x, 1));
  const DType d = m.f.type(x).dtype;
  if (m.f.type(x).is_tile()) {
    const Tile t = m.tile(x);
    m.note_value_of_section();
    m.line(o, m.define(v), " = pto.tgetval ins(", t, ", ", at, " : ", m.type(t), ", index) outs : ", info(d).pto_name);
    return;
  }
  const bool converted = is_unsigned(d) && !m.in_threads();
  const Name read = converted ? m.fresh() : m.define(v);
  m.line(o, read, m.in_threads() ? " = pto.load " : " = pto.load_scalar ", m.scalar(parameter_of(m.f, x)), '[', at, "] : !pto.ptr<", m.in_memory(d),
         "> -> ", m.in_memory(d));
  if (converted)
    m.line(m.define(v), " = builtin.unrealized_conversion_cast ", read, " : ", info(d).pto_name, " to ", signless(d));
}

/// A scalar with the sign that memory and instructions have.
inline Name with_sign(Module& m, ValueId v) {
  const DType d = m.f.type(v).dtype;
  const Name n = m.scalar(v);
  if (!is_unsigned(d) || m.in_threads()) return n;
  const Name made = m.fresh();
  m.line(made, " = builtin.unrealized_conversion_cast ", n, " : ", signless(d), " to ", info(d).pto_name);
  return made;
}

inline void emit_write(Module& m, OpId o) {
  const ValueId x = m.f.operand(o, 0);
  check_element(m, o, x);
  const Name at = m.name(element(m, o, x, 2)), value = with_sign(m, m.f.operand(o, 1));
  const std::string_view d = m.in_memory(m.f.type(x).dtype);
  if (!m.f.type(x).is_tile()) {
    m.line(o, m.in_threads() ? "pto.store " : "pto.store_scalar ", value, ", ", m.scalar(parameter_of(m.f, x)), '[', at, "] : !pto.ptr<", d, ">, ", d);
    return;
  }
  const Tile t = destination(m, o, m.f.result(o));
  m.line(o, "pto.tsetval ins(", at, ", ", value, " : index, ", d, ") outs(", t, " : ", m.type(t), ')');
}

}  // namespace tessera::pto
