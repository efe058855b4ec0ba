// Operations that make, place, move or re-shape data. `requested` is the type that the user states.
#pragma once

#include "elementwise.hpp"
#include "window.hpp"

namespace tessera {
namespace detail {

constexpr Verdict infer_load(const OpInfo&, const InferInput& in) {
  const Type &t = in.type(0), &tile = in.requested;
  if (!t.is_tensor()) return breaks(rule::operand_is_not_a_tensor, arg_op);
  if (tile.space != Vec && tile.space != Mat) return breaks(rule::load_reaches_vec_or_mat_only, arg(tile.space));
  for (int i = 0; i < tile.rank; ++i)
    if (is_dynamic(tile.dims[i])) return breaks(rule::tile_dim_is_dynamic, arg_op, arg_dim(tile.dims[i]));
  if (t.dtype != tile.dtype) return breaks(rule::window_dtype_differs, arg_op, arg(tile.dtype), arg(t.dtype));
  // After flattening the tile is 2-D, and the attribute `window` tells the box; it was checked with the unflattened tile.
  const bool flat = in.attr(AttrKey::window, -1) >= 0;
  const Verdict window = flat ? lawful() : check_window(in, t, tile, 1);
  return window.lawful() ? lawful(tile) : window;
}

constexpr Verdict infer_slice(const OpInfo&, const InferInput& in) {
  if (!in.type(0).is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  const Type result = with_shape(in.type(0), in.requested.dims, in.requested.rank);
  for (int i = 0; i < result.rank; ++i)
    if (is_dynamic(result.dims[i])) return breaks(rule::tile_dim_is_dynamic, arg_op, arg_dim(result.dims[i]));
  const Verdict window = check_window(in, in.type(0), result, 1);
  return window.lawful() ? lawful(result) : window;
}

constexpr Verdict infer_store(const OpInfo&, const InferInput& in) {
  const Type &tile = in.type(0), &t = in.type(1);
  if (!tile.is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  if (!t.is_tensor()) return breaks(rule::operand_is_not_a_tensor, arg_op);
  // The accumulator narrows on its way out.
  const bool narrows = tile.space == Acc && tile.dtype == f32 && (t.dtype == f16 || t.dtype == bf16);
  if (t.dtype != tile.dtype && !narrows) return breaks(rule::window_dtype_differs, arg_op, arg(tile.dtype), arg(t.dtype));
  if (in.attr(AttrKey::atomic_add, 0) != 0 && !dtypes(i8, i16, i32, f16, bf16, f32).contains(t.dtype))
    return breaks(rule::atomic_dtype_not_supported, arg(t.dtype));
  if (in.count - 2 != t.rank)
    return breaks(rule::offset_count_differs, arg_op, arg(std::int64_t{in.count - 2}), arg(std::int64_t{t.rank}));
  if (in.attr(AttrKey::window, -1) >= 0) return lawful();
  if (tile.rank > t.rank) return breaks(rule::window_rank_differs, arg_op, arg(std::int64_t{tile.rank}), arg(std::int64_t{t.rank}));
  for (int axis = 0; axis < t.rank; ++axis) {
    const OperandInfo& offset = in.operands[2 + axis];
    if (!offset.type.is_scalar() || !is_integer_or_index(offset.type.dtype))
      return breaks(rule::operand_is_not_an_integer, arg_op, arg(std::int64_t{axis}));
    if (offset.is_constant && offset.constant < 0) return breaks(rule::window_offset_is_negative, arg_op, arg(offset.constant));
    const int own = axis - (t.rank - tile.rank);
    // Valid extents belong to the value: before run time only a bare offset can be judged.
    std::int64_t reach = 1;
    if (own >= 0 && in.at_run_time) reach = in.operands[0].valid != nullptr ? in.operands[0].valid[own] : tile.dims[own];
    if (reach < 0 || is_dynamic(t.dims[axis])) continue;
    const std::int64_t start = offset.is_constant ? offset.constant : 0;
    if (reach > t.dims[axis] || start > t.dims[axis] - reach) return breaks(rule::window_out_of_bounds, arg_op, arg(start), arg(reach), arg(t.dims[axis]));
  }
  return lawful();
}

constexpr Verdict store_on_target(const InferInput& in, const Type&, Arch arch) {
  if (in.attr(AttrKey::atomic_add, 0) != 0 && in.type(1).dtype == bf16 && arch != Arch::a3)
    return breaks(rule::atomic_dtype_not_supported, arg(bf16));
  return lawful();
}
constexpr Verdict infer_assemble(const OpInfo&, const InferInput& in) {
  const Verdict pair = check_pair(in.type(0), in.type(1));
  if (!pair.lawful()) return pair;
  // The source's own extents tell how much is written.
  const std::int64_t rank = in.type(0).rank, given = in.count - 2;
  if (in.attr(AttrKey::has_valid, 0) != 0) return breaks(rule::offset_count_differs, arg_op, arg(given), arg(rank));
  const Verdict window = check_window(in, in.type(0), in.type(1), 2);
  return window.lawful() ? lawful(in.type(0)) : window;
}

/// Whether one instruction of some target moves a tile between the spaces.
[[nodiscard]] constexpr bool can_move(MemorySpace from, MemorySpace to) {
  if (from == Mat) return to == Left || to == Right || to == Bias;
  if (from == Acc) return to == Vec || to == Mat;
  return from == Vec && (to == Vec || to == Mat);
}
/// Whether one instruction of the target does.
[[nodiscard]] constexpr bool can_move(MemorySpace from, MemorySpace to, Arch arch) {
  return can_move(from, to) && !(arch == Arch::a3 && from == Vec && to == Mat);
}
constexpr Verdict move_on_target(const InferInput& in, const Type& result, Arch arch) {
  const Type& x = in.type(0);
  if (!can_move(x.space, result.space, arch)) return breaks(rule::move_has_no_path, arg(x.space), arg(result.space));
  // On a3 a tile leaves Acc for Vec with all of its boxes, so both must be allocated alike.
  if (arch == Arch::a3 && x.space == Acc && result.space == Vec && !stored(x).same_shape(stored(result)))
    return breaks(rule::accumulator_is_not_whole_boxes, arg_op, arg(x.last(1)), arg(x.last()));
  return lawful();
}
constexpr Verdict infer_move(const OpInfo&, const InferInput& in) {
  if (!in.type(0).is_tile()) return breaks(rule::operand_is_not_a_tile, arg_op);
  if (!can_move(in.type(0).space, in.requested.space))
    return breaks(rule::move_has_no_path, arg(in.type(0).space), arg(in.requested.space));
  Type result = with_space(in.type(0), in.requested.space);
  return lawful(result);
}

/// Shaped values that are made on chip, and every tile, have a static shape.
constexpr Verdict check_made(const OpInfo& op, const InferInput& in) {
  if (!accepted_dtypes(op).contains(in.requested.dtype)) return breaks(rule::dtype_not_supported, arg_op, arg(in.requested.dtype));
  for (int i = 0; i < in.requested.rank; ++i)
    if (is_dynamic(in.requested.dims[i])) return breaks(rule::tile_dim_is_dynamic, arg_op, arg_dim(in.requested.dims[i]));
  const bool transposed = in.attr(AttrKey::transposed, 0) != 0 || in.requested.layout == Layout::zn;
  const auto space = in.requested.is_tile() ? in.requested.space : static_cast<MemorySpace>(in.attr(AttrKey::space, Gm));
  if (transposed && space != Mat && space != Right) return breaks(rule::transposed_form_is_for_mat, arg_op, arg(space));
  return lawful(in.requested);
}
constexpr Verdict infer_create(const OpInfo& op, const InferInput& in) {
  const Verdict made = check_made(op, in);
  // A tensor between kernels may have run-time dims.
  return made.broken == rule::tile_dim_is_dynamic && in.requested.is_tensor() ? lawful(in.requested) : made;
}
constexpr Verdict infer_full(const OpInfo& op, const InferInput& in) {
  if (!in.type(0).is_scalar()) return breaks(rule::operand_is_not_a_number, arg_op);
  const Verdict made = check_made(op, in);
  if (!made.lawful()) return made;
  if (in.type(0).dtype != in.requested.dtype)
    return breaks(rule::scalar_dtype_differs, arg_op, arg(in.requested.dtype), arg(in.type(0).dtype));
  return made;
}
constexpr Verdict infer_arange(const OpInfo& op, const InferInput& in) {
  const Type& r = in.requested;
  for (int i = 0; i + 1 < r.rank; ++i)
    if (r.dims[i] != 1) return breaks(rule::sequence_is_not_one_row, arg_dim(r.dims[i]));
  if (r.last() == 1) return breaks(rule::sequence_is_not_one_row, arg_dim(1));
  return infer_full(op, in);
}

constexpr Verdict infer_reshape(const OpInfo&, const InferInput& in) {
  const Type& x = in.type(0);
  if (!x.is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  Type result = with_shape(x, in.requested.dims, in.requested.rank);
  // One element is a row unless a column is asked for (legalize, for windows of [..,M,1] tensors).
  if (result.is_tile() && result.rank == 2 && result.last() == 1 && in.requested.layout == Layout::dn) result.layout = Layout::dn;
  if (!x.has_static_shape() || !result.has_static_shape()) {
    for (int i = 0; i < x.rank; ++i)
      if (is_dynamic(x.dims[i])) return breaks(rule::tile_dim_is_dynamic, arg_op, arg_dim(x.dims[i]));
    for (int i = 0; i < result.rank; ++i)
      if (is_dynamic(result.dims[i])) return breaks(rule::tile_dim_is_dynamic, arg_op, arg_dim(result.dims[i]));
  }
  if (x.elements() != result.elements())
    return breaks(rule::reshape_changes_the_element_count, arg(x.elements()), arg(result.elements()));
  return lawful(result);
}

/// A tensor parameter with other dims: the same elements in row-major order.
constexpr Verdict infer_view(const OpInfo&, const InferInput& in) {
  const Type& x = in.type(0);
  if (!x.is_tensor()) return breaks(rule::operand_is_not_a_tensor, arg_op);
  const Type result = with_shape(x, in.requested.dims, in.requested.rank);
  std::int64_t before = 1, after = 1;
  int next = 0;
  bool equal = true;
  for (int i = 0; i < x.rank; ++i) {
    if (!is_dynamic(x.dims[i])) {
      before = capped_product(before, x.dims[i]);
      continue;
    }
    while (next < result.rank && !is_dynamic(result.dims[next])) ++next;
    equal = equal && next < result.rank && result.dims[next] == x.dims[i];
    ++next;
  }
  for (; next < result.rank; ++next) equal = equal && !is_dynamic(result.dims[next]);
  for (int i = 0; i < result.rank; ++i)
    if (!is_dynamic(result.dims[i])) after = capped_product(after, result.dims[i]);
  if (!equal || before != after) return breaks(rule::view_changes_the_elements, arg(before), arg(after));
  return lawful(result);
}

constexpr Verdict check_static(const Type& a, const Type& b) {
  for (int i = 0; i < a.rank; ++i)
    if (is_dynamic(a.dims[i])) return breaks(rule::tile_dim_is_dynamic, arg_op, arg_dim(a.dims[i]));
  for (int i = 0; i < b.rank; ++i)
    if (is_dynamic(b.dims[i])) return breaks(rule::tile_dim_is_dynamic, arg_op, arg_dim(b.dims[i]));
  return lawful();
}
/// The same bytes as other elements, in the requested shape, or with the last dim scaled where there is none.
constexpr Verdict infer_reinterpret(const OpInfo& op, const InferInput& in) {
  const Type& x = in.type(0);
  const DType to = in.requested.dtype;
  if (!x.is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  if (to == x.dtype) return breaks(rule::reinterpret_to_the_same_dtype, arg(to));
  if (!accepted_dtypes(op).contains(to)) return breaks(rule::dtype_not_supported, arg_op, arg(to));
  Type result = with_dtype(x, to);
  if (in.requested.rank > 0) {
    result = with_shape(result, in.requested.dims, in.requested.rank);
    const Verdict known = check_static(x, result);
    if (!known.lawful()) return known;
    if (x.bytes() != result.bytes()) return breaks(rule::reinterpret_changes_the_byte_count, arg(x.bytes()), arg(result.bytes()));
  } else {
    if (is_dynamic(x.last())) return breaks(rule::tile_dim_is_dynamic, arg_op, arg_dim(x.last()));
    const std::int64_t bytes = bytes_of(x.dtype, x.last()), bits = info(to).bits;
    if (bytes * 8 % bits != 0) return breaks(rule::reinterpret_row_does_not_divide, arg(bytes), arg(bits));
    result = with_dim(result, x.rank - 1, bytes * 8 / bits);
  }
  if (x.layout != Layout::nd || result.layout != Layout::nd) return breaks(rule::reinterpret_needs_rows, arg(x.space));
  return lawful(result);
}

constexpr Verdict infer_fillpad_expand(const OpInfo&, const InferInput& in) {
  const Type& x = in.type(0);
  if (!x.is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  const Type result = with_shape(x, in.requested.dims, in.requested.rank);
  if (x.rank != result.rank) return breaks(rule::ranks_differ, arg_op, arg(std::int64_t{x.rank}), arg(std::int64_t{result.rank}));
  const Verdict known = check_static(x, result);
  if (!known.lawful()) return known;
  for (int i = 0; i < x.rank; ++i) {
    if (result.dims[i] < x.dims[i]) return breaks(rule::padded_shape_is_smaller, arg(result.dims[i]), arg(x.dims[i]));
    if (i + 2 < x.rank && result.dims[i] != x.dims[i])
      return breaks(rule::padded_leading_dims_differ, arg(x.dims[i]), arg(result.dims[i]));
  }
  return lawful(result);
}

constexpr Verdict infer_transpose(const OpInfo&, const InferInput& in) {
  const Type& x = in.type(0);
  if (!x.is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  const std::int64_t axes[2] = {in.attr(AttrKey::axis, -2), in.attr(AttrKey::other_axis, -1)};
  for (const std::int64_t axis : axes)
    if (axis < -x.rank || axis >= x.rank) return breaks(rule::axis_out_of_range, arg_op, arg(axis), arg(std::int64_t{x.rank}));
  Type result = x;
  const int a = counted_from_front(axes[0], x.rank), b = counted_from_front(axes[1], x.rank);
  result.dims[a] = x.dims[b];
  result.dims[b] = x.dims[a];
  result = with_shape(result, result.dims, result.rank);
  // A column may be asked for in row-major storage (legalize, in front of a store to a row-major tensor).
  if (in.requested.is_tile() && in.requested.rank == 2 && in.requested.last() == 1 && result.space == Vec) result.layout = in.requested.layout;
  return lawful(result);
}
constexpr Verdict infer_transpose_view(const OpInfo&, const InferInput& in) {
  const Type& x = in.type(0);
  if (!x.is_tile()) return breaks(rule::operand_is_not_a_tile, arg_op);
  if (x.rank < 2) return breaks(rule::rank_too_small, arg_op, arg(std::int64_t{x.rank}), arg(std::int64_t{2}));
  Type result = x;
  result.dims[x.rank - 1] = x.last(1);
  result.dims[x.rank - 2] = x.last(0);
  result.layout = x.layout == Layout::nz ? Layout::zn : x.layout == Layout::zn ? Layout::nz : x.layout;
  return lawful(result);
}

constexpr Verdict infer_set_valid(const OpInfo&, const InferInput& in) {
  const Type& x = in.type(0);
  if (!x.is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  if (in.count - 1 != x.rank)
    return breaks(rule::valid_count_differs, arg_op, arg(std::int64_t{in.count - 1}), arg(std::int64_t{x.rank}));
  for (int i = 1; i < in.count; ++i) {
    if (!in.type(i).is_scalar() || !is_integer_or_index(in.type(i).dtype))
      return breaks(rule::operand_is_not_an_integer, arg_op, arg(std::int64_t{i - 1}));
    if (!in.operands[i].is_constant) continue;
    if (in.operands[i].constant < 0) return breaks(rule::valid_is_negative, arg_op, arg(in.operands[i].constant));
    if (in.operands[i].constant > x.dims[i - 1])
      return breaks(rule::valid_exceeds_window, arg_op, arg(in.operands[i].constant), arg_dim(x.dims[i - 1]));
  }
  return lawful(x);
}

constexpr Verdict infer_place(const OpInfo&, const InferInput& in) {
  return in.type(0).is_tile() ? lawful(in.type(0)) : breaks(rule::operand_is_not_a_tile, arg_op);
}

constexpr Verdict infer_read(const OpInfo&, const InferInput& in) {
  if (!in.type(0).is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  const Verdict indices = check_indices(in, in.type(0), 1, in.count);
  return indices.lawful() ? lawful(scalar_type(in.type(0).dtype)) : indices;
}
/// Operands: target, value, indices.
constexpr Verdict infer_write(const OpInfo&, const InferInput& in) {
  if (!in.type(0).is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  if (!in.type(1).is_scalar()) return breaks(rule::operand_is_not_a_number, arg_op);
  if (in.type(0).dtype != in.type(1).dtype)
    return breaks(rule::scalar_dtype_differs, arg_op, arg(in.type(0).dtype), arg(in.type(1).dtype));
  const Verdict indices = check_indices(in, in.type(0), 2, in.count);
  if (!indices.lawful()) return indices;
  return lawful(in.type(0).is_tile() ? in.type(0) : Type{});  // a write to GM is an effect, to a tile a new value
}

constexpr Verdict infer_concat(const OpInfo&, const InferInput& in) {
  const Type &a = in.type(0), &b = in.type(1);
  const Verdict pair = check_pair(a, b);
  if (!pair.lawful()) return pair;
  if (a.rank != b.rank) return breaks(rule::ranks_differ, arg_op, arg(std::int64_t{a.rank}), arg(std::int64_t{b.rank}));
  for (int i = 0; i + 1 < a.rank; ++i)
    if (a.dims[i] != b.dims[i]) return breaks(rule::dim_beside_the_axis_differs, arg_op, arg(std::int64_t{i}), arg_dim(a.dims[i]), arg_dim(b.dims[i]));
  for (const Type* t : {&a, &b})
    if (is_dynamic(t->last())) return breaks(rule::tile_dim_is_dynamic, arg_op, arg_dim(t->last()));
  // As in assemble, a window starts at a whole block.
  if (!is_whole_blocks(a.dtype, a.last())) return breaks(rule::concat_starts_inside_a_block, arg(a.last()));
  return lawful(with_dim(a, a.rank - 1, a.last() + b.last()));
}

}  // namespace detail

namespace ops {

inline constexpr OpInfo load = {
    .name = "load", .summary = "a window of a tensor as a tile in Vec or Mat; operands: tensor, offsets, optional valid extents",
    .infer = infer_load, .valid = ValidRule::window, .dtypes = {stored_a3, stored_a5}, .pto = "tload", .form = PtoForm::load, .pipe = Pipe::mte2,
    .result_spaces = spaces(Vec, Mat), .effect = Effect::reads_first, .pure = false};
inline constexpr OpInfo store = {
    .name = "store", .summary = "writes the valid part of a tile (or a tensor value) to a tensor, or adds it; operands: source, tensor, offsets",
    .infer = infer_store, .on_target = store_on_target, .dtypes = {stored_a3, stored_a5}, .pto = "tstore", .form = PtoForm::store, .pipe = Pipe::mte3,
    .operand_spaces = {spaces(Vec, Acc), {}, {}}, .result_spaces = {}, .space_rules = {rule::store_from_this_space_is_impossible, {}, {}},
    .effect = Effect::writes_second, .pure = false};
inline constexpr OpInfo move = {
    .name = "move", .summary = "a tile in another memory space", .level = Level::tile, .infer = infer_move, .on_target = move_on_target,
    .valid = ValidRule::first, .pto = "tmov", .form = PtoForm::move, .pipe = Pipe::mte1,
    .operand_spaces = {spaces(Vec, Mat, Acc), {}, {}}, .result_spaces = {}, .may_alias = false};
inline constexpr OpInfo create = {
    .name = "create", .summary = "storage of undefined content", .infer = infer_create, .dtypes = {stored_a3, stored_a5}, .form = PtoForm::none,
    .pipe = Pipe::none, .result_spaces = {}};
inline constexpr OpInfo full = {
    .name = "full", .summary = "every element equal to a scalar", .infer = infer_full,
    .dtypes = {dtypes(i16, i32, f16, bf16, f32), dtypes(i8, i16, i32, f16, bf16, f32)},
    .since_0_60 = {dtypes(bf16), dtypes(bf16)}, .pto = "texpands",
    .form = PtoForm::fill};
inline constexpr OpInfo arange = {
    .name = "arange", .summary = "[1,..,1,N]: start, start + 1, ..., or downwards", .infer = infer_arange,
    .dtypes = {dtypes(i16, u16, i32, u32), dtypes(i16, u16, i32, u32)}, .pto = "tci", .form = PtoForm::sequence};
inline constexpr OpInfo slice = {
    .name = "slice", .summary = "a window of a tensor or tile; operands: source, offsets, optional valid extents",
    .infer = infer_slice, .valid = ValidRule::window, .dtypes = {stored_a3, stored_a5}, .pto = "subview", .form = PtoForm::subview, .pipe = Pipe::none,
    .result_spaces = {}, .effect = Effect::reads_first, .is_view = true, .self_loading = true};
inline constexpr OpInfo assemble = {
    .name = "assemble", .summary = "target with source written at the offsets; operands: target, source, offsets",
    .infer = infer_assemble, .valid = ValidRule::first, .pto = "tinsert", .form = PtoForm::insert,
    .operand_spaces = {spaces(Vec), spaces(Vec), {}}, .in_place = 0, .may_alias = false, .self_loading = true};
inline constexpr OpInfo concat = {
    .name = "concat", .summary = "[..,M], [..,N] -> [..,M+N], the second behind the first along the last axis", .infer = infer_concat,
    .valid = ValidRule::concat, .dtypes = {every_word, every_word},
    .since_0_60 = {dtypes(u8, u16, u32), dtypes(u8, u16, u32)}, .pto = "tconcat",
    .operand_spaces = {spaces(Vec), spaces(Vec), {}}, .row_major = true, .may_alias = false};
inline constexpr OpInfo reshape = {
    .name = "reshape", .summary = "the same elements in another shape of equal product", .infer = infer_reshape,
    .valid = ValidRule::reshape, .pto = "treshape", .form = PtoForm::reshape, .pipe = Pipe::none, .result_spaces = {},
    .is_view = true};
inline constexpr OpInfo view = {
    .name = "view", .summary = "a tensor parameter with other dims, as memory: the same elements in row-major order", .level = Level::tensor,
    .infer = infer_view, .form = PtoForm::memory_view, .pipe = Pipe::none, .result_spaces = {}, .is_view = true, .self_loading = true};
inline constexpr OpInfo reinterpret = {
    .name = "reinterpret", .summary = "the same bytes as elements of another type; without a shape the last dim is scaled",
    .infer = infer_reinterpret, .valid = ValidRule::reinterpret, .dtypes = {stored_a3, stored_a3}, .pto = "treshape", .form = PtoForm::reshape,
    .pipe = Pipe::none, .operand_spaces = {spaces(Vec), {}, {}}, .is_view = true};
inline constexpr OpInfo transpose = {
    .name = "transpose", .summary = "the last two axes exchanged; attributes: axis, other_axis, of which passes lower no other pair",
    .infer = infer_transpose, .valid = ValidRule::swap_axes, .dtypes = {every_word, every_word}, .pto = "ttrans",
    .operand_spaces = {spaces(Vec), spaces(Vec), {}}, .scratch = ScratchRule::like_first, .may_alias = false};
inline constexpr OpInfo transpose_view = {
    .name = "transpose_view", .summary = "a Mat tile read with its last two axes exchanged; no data moves",
    .level = Level::tile, .infer = infer_transpose_view, .valid = ValidRule::swap_axes, .form = PtoForm::transposed_view,
    .pipe = Pipe::none, .operand_spaces = {spaces(Mat), {}, {}}, .result_spaces = spaces(Mat), .is_view = true,
    .made_by_passes = true};
inline constexpr OpInfo set_valid_shape = {
    .name = "set_valid_shape", .summary = "the same storage with other valid extents; operands: x, one extent per dim",
    .infer = infer_set_valid, .valid = ValidRule::stated, .pto = "set_validshape", .form = PtoForm::set_valid,
    .pipe = Pipe::none, .result_spaces = {}, .is_view = true};
inline constexpr OpInfo place = {
    .name = "place", .summary = "a tile in a buffer that the kernel declares; attributes: buffer, slot", .level = Level::tile,
    .infer = infer_place, .valid = ValidRule::first, .form = PtoForm::none, .pipe = Pipe::none, .result_spaces = {}, .pure = false, .is_view = true};
inline constexpr OpInfo fillpad = {
    .name = "fillpad", .summary = "the elements outside the valid extents filled; the result is fully valid; attribute: pad",
    .infer = infer_unary, .valid = ValidRule::full, .dtypes = {every_word, every_word}, .pto = "tfillpad",
    .form = PtoForm::fill_pad, .operand_spaces = {spaces(Vec), {}, {}}, .packed = 0b01};
inline constexpr OpInfo fillpad_expand = {
    .name = "fillpad_expand", .summary = "the operand in the corner of a larger shape, what is not valid in it filled; attribute: pad",
    .infer = infer_fillpad_expand, .valid = ValidRule::full, .dtypes = {every_word, every_word}, .pto = "tfillpad",
    .form = PtoForm::fill_pad, .operand_spaces = {spaces(Vec), {}, {}}, .packed = 0b01, .may_alias = false};
inline constexpr OpInfo read = {
    .name = "read", .summary = "one element as a scalar; operands: x, indices", .infer = infer_read, .dtypes = {stored_a3, stored_a5}, .pto = "tgetval",
    .form = PtoForm::read, .pipe = Pipe::scalar, .operand_spaces = {spaces(Vec), {}, {}},
    .result_spaces = {}, .effect = Effect::reads_first, .pure = false, .self_loading = true};
inline constexpr OpInfo write = {
    .name = "write", .summary = "one element set: of a tensor in place, of a tile as a new value; operands: x, value, indices",
    .infer = infer_write, .valid = ValidRule::first, .dtypes = {stored_a3, stored_a5}, .pto = "tsetval", .form = PtoForm::write, .pipe = Pipe::scalar,
    .operand_spaces = {spaces(Vec), {}, {}}, .effect = Effect::writes_first, .pure = false, .in_place = 0,
    .self_loading = true};
inline constexpr const OpInfo* memory_family[] = {&load, &store, &move, &create, &full, &arange, &slice, &assemble, &concat, &reshape,
    &view, &reinterpret, &transpose, &transpose_view, &set_valid_shape, &place, &fillpad, &fillpad_expand, &read, &write};

}  // namespace ops
}  // namespace tessera
