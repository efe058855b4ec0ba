// Access to elements by positions: gathers by an index, every second or fourth element of rows, and elements written where an
// index says.
#pragma once

#include "memory.hpp"

namespace tessera {

namespace detail {

/// How many positions an i16 index tells apart.
inline constexpr std::int64_t most_i16_positions = 32768;
/// Whether positions fit the index. `most` is for operations that make positions of i32 and narrow them.
constexpr Verdict check_positions(DType index, std::int64_t positions, std::int64_t most = most_i16_positions) {
  return index == i16 && positions > most ? breaks(rule::positions_do_not_fit_i16, arg_op, arg(positions), arg(most)) : lawful();
}
constexpr Verdict check_gather(const Type& x, const Type& index) {
  if (!x.is_shaped() || !index.is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  if (x.kind != index.kind) return breaks(rule::tensor_and_tile_mixed, arg_op);
  const bool narrow = index.dtype == i16 && info(x.dtype).bits <= 16;
  if (index.dtype != i32 && !narrow) return breaks(rule::gather_index_dtype, arg(index.dtype), arg(x.dtype));
  if (x.rank != index.rank) return breaks(rule::ranks_differ, arg_op, arg(std::int64_t{x.rank}), arg(std::int64_t{index.rank}));
  return lawful(with_dtype(index, x.dtype));
}
constexpr Verdict infer_gather(const OpInfo&, const InferInput& in) {
  const Verdict v = check_gather(in.type(0), in.type(1));
  if (!v.lawful()) return v;
  const std::int64_t rank = in.type(0).rank, given = in.attr(AttrKey::axis, -1), axis = counted_from_front(given, in.type(0).rank);
  if (axis < 0 || axis >= rank) return breaks(rule::axis_out_of_range, arg_op, arg(given), arg(rank));
  if (axis != rank - 1 && rank > 3) return breaks(rule::gather_axis_has_no_instruction, arg(axis), arg(rank));
  for (int i = 0; i < rank; ++i)
    if (i != axis && in.type(0).dims[i] != in.type(1).dims[i])
      return breaks(rule::dim_beside_the_axis_differs, arg_op, arg(std::int64_t{i}), arg_dim(in.type(0).dims[i]), arg_dim(in.type(1).dims[i]));
  return v;
}
constexpr Verdict infer_gather_flat(const OpInfo&, const InferInput& in) { return check_gather(in.type(0), in.type(1)); }
/// Whether the target gathers by indices of this element type.
[[nodiscard]] constexpr bool takes_indices(DType index, Arch arch) { return arch != Arch::a3 || index == i32; }
constexpr Verdict gather_on_target(const InferInput& in, const Type&, Arch arch) {
  return takes_indices(in.type(1).dtype, arch) ? lawful() : breaks(rule::gather_index_dtype_on_a3, arg_op, arg(in.type(1).dtype));
}

[[nodiscard]] constexpr MaskPattern pattern_of(const InferInput& in) {
  return static_cast<MaskPattern>(in.attr(AttrKey::pattern, static_cast<std::int64_t>(MaskPattern::P1111)));
}

constexpr Verdict infer_gather_mask(const OpInfo&, const InferInput& in) {
  const Type& x = in.type(0);
  if (!x.is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  const DType d = in.requested.kind == TypeKind::none ? x.dtype : in.requested.dtype;
  if (info(d).bits != info(x.dtype).bits) return breaks(rule::gathered_width_differs, arg(d), arg(x.dtype));
  if (is_dynamic(x.last())) return breaks(rule::tile_dim_is_dynamic, arg_op, arg_dim(x.last()));
  const std::int64_t length = pattern_length(pattern_of(in));
  if (x.last() % length != 0) return breaks(rule::pattern_does_not_divide, arg_op, arg(x.last()), arg(length));
  return lawful(with_dtype(with_dim(x, x.rank - 1, x.last() / length), d));
}

/// What every scatter needs of its target and of what is written: matrices of one element type.
constexpr Verdict check_scatter(const Type& x, const Type& source) {
  const Verdict pair = check_pair(x, source);
  if (!pair.lawful()) return pair;
  for (const Type* t : {&x, &source}) {
    if (t->rank != 2) return breaks(rule::scatter_is_not_2d, arg_op, arg(std::int64_t{t->rank}));
    for (int i = 0; i < 2; ++i)
      if (is_dynamic(t->dims[i])) return breaks(rule::tile_dim_is_dynamic, arg_op, arg_dim(t->dims[i]));
  }
  return lawful(x);
}
/// The element type of positions in a tile of `d`.
[[nodiscard]] constexpr DType position_dtype(DType d) { return info(d).bits == 32 ? i32 : i16; }
/// Positions of a matrix count the padding of its rows; those of short elements are i16.
constexpr Verdict check_scattered_positions(const Type& x, std::int64_t most = most_i16_positions) {
  const std::int64_t positions = x.dims[0] == 1 || x.dims[1] == 1 ? x.elements() : x.dims[0] * padded_to_blocks(x.dtype, x.dims[1]);
  const Verdict v = check_positions(position_dtype(x.dtype), positions, most);
  return v.lawful() ? lawful(x) : v;
}
constexpr Verdict check_index(const Type& x, const Type& index) {
  if (!index.is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  if (index.kind != x.kind) return breaks(rule::tensor_and_tile_mixed, arg_op);
  if (index.dtype != position_dtype(x.dtype)) return breaks(rule::scatter_index_dtype, arg_op, arg(index.dtype), arg(x.dtype));
  return lawful(x);
}
constexpr Verdict check_same_shape(const Type& a, const Type& b) {
  if (a.rank != b.rank) return breaks(rule::ranks_differ, arg_op, arg(std::int64_t{a.rank}), arg(std::int64_t{b.rank}));
  for (int i = 0; i < a.rank; ++i)
    if (a.dims[i] != b.dims[i]) return breaks(rule::shapes_differ, arg_op, arg_dim(a.dims[i]), arg_dim(b.dims[i]));
  return lawful(a);
}

/// Operands: x, index, source.
constexpr Verdict infer_scatter(const OpInfo&, const InferInput& in) {
  const Type &x = in.type(0), &index = in.type(1), &source = in.type(2);
  for (const Verdict& v : {check_scatter(x, source), check_index(x, index), check_same_shape(index, source)})
    if (!v.lawful()) return v;
  for (int i = 0; i < 2; ++i)
    if (source.dims[i] > x.dims[i]) return breaks(rule::scatter_source_is_larger, arg_op, arg(source.dims[i]), arg(x.dims[i]));
  return check_scattered_positions(x);
}
/// Operands: x, source.
constexpr Verdict infer_scatter_mask(const OpInfo&, const InferInput& in) {
  const Type &x = in.type(0), &source = in.type(1);
  const Verdict v = check_scatter(x, source);
  if (!v.lawful()) return v;
  const std::int64_t length = pattern_length(pattern_of(in));
  if (x.dims[0] != source.dims[0]) return breaks(rule::dim_beside_the_axis_differs, arg_op, arg(std::int64_t{0}), arg(x.dims[0]), arg(source.dims[0]));
  if (x.dims[1] != source.dims[1] * length)
    return breaks(rule::pattern_does_not_fill_the_row, arg_op, arg(x.dims[1]), arg(source.dims[1]), arg(length));
  return lawful(x);
}
/// Operands: x, index, source.
constexpr Verdict infer_scatter_update(const OpInfo&, const InferInput& in) {
  const Type &x = in.type(0), &index = in.type(1), &source = in.type(2);
  const Verdict v = check_scatter(x, source);
  if (!v.lawful()) return v;
  if (!index.is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  if (index.kind != x.kind) return breaks(rule::tensor_and_tile_mixed, arg_op);
  if (index.rank != 2) return breaks(rule::scatter_is_not_2d, arg_op, arg(std::int64_t{index.rank}));
  if (index.dtype != i32) return breaks(rule::row_index_is_not_i32, arg_op, arg(index.dtype));
  for (int i = 0; i < 2; ++i)
    if (is_dynamic(index.dims[i])) return breaks(rule::tile_dim_is_dynamic, arg_op, arg_dim(index.dims[i]));
  if (source.dims[0] != index.elements()) return breaks(rule::scatter_update_row_count_differs, arg(source.dims[0]), arg(index.elements()));
  if (source.dims[1] != x.dims[1]) return breaks(rule::dim_beside_the_axis_differs, arg_op, arg(std::int64_t{1}), arg(x.dims[1]), arg(source.dims[1]));
  if (source.dims[0] > x.dims[0]) return breaks(rule::scatter_source_is_larger, arg_op, arg(source.dims[0]), arg(x.dims[0]));
  return check_scattered_positions(x, most_i16_positions - 1);
}

/// On tiles. Operands: target, source, index.
constexpr Verdict infer_scatter_flat(const OpInfo&, const InferInput& in) {
  if (in.type(0).is_tensor()) return breaks(rule::operand_is_not_a_tile, arg_op);
  const Verdict pair = check_pair(in.type(0), in.type(1));
  if (!pair.lawful()) return pair;
  const Verdict index = check_index(in.type(0), in.type(2));
  if (!index.lawful()) return index;
  const Verdict same = check_same_shape(in.type(1), in.type(2));
  return same.lawful() ? lawful(in.type(0)) : same;
}
/// On tiles. Operands: target, source.
constexpr Verdict infer_scatter_strided(const OpInfo& op, const InferInput& in) {
  return in.type(0).is_tensor() ? breaks(rule::operand_is_not_a_tile, arg_op) : infer_scatter_mask(op, in);
}

/// Operands: x, a number, the offset; behind legalize scratch, and storage for what the instruction gives besides the result.
constexpr Verdict check_matches(const InferInput& in) {
  const Type &x = in.type(0), &k = in.type(1), &offset = in.type(2);
  if (!x.is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  for (int i = 0; i < x.rank; ++i)
    if (is_dynamic(x.dims[i])) return breaks(rule::tile_dim_is_dynamic, arg_op, arg_dim(x.dims[i]));
  // a5 counts positions by whole runs of 64 elements, whatever the width of the rows.
  if (x.rank != 2 || x.last() % 64 != 0) return breaks(rule::matches_are_of_rows_of_64, arg_op, arg(std::int64_t{x.rank}), arg(x.last()));
  if (!k.is_scalar()) return breaks(rule::operand_is_not_a_number, arg_op);
  if (k.dtype != x.dtype) return breaks(rule::scalar_dtype_differs, arg_op, arg(x.dtype), arg(k.dtype));
  const OperandInfo& start = in.operands[2];
  if (!offset.is_scalar() || offset.dtype != i32 || (in.at_run_time && (!start.is_constant || start.constant < 0)))
    return breaks(rule::match_offset, arg_op);
  const auto by = static_cast<Compare>(in.attr(AttrKey::compare, 0));
  return by == Compare::eq || by == Compare::gt ? lawful(with_dtype(x, i32)) : breaks(rule::matches_are_by_eq_or_gt, arg_op);
}
constexpr Verdict infer_find_positions(const OpInfo&, const InferInput& in) {
  const Verdict v = check_matches(in);
  if (!v.lawful()) return v;
  const std::int64_t places = in.requested.rank == 2 ? in.requested.dims[1] : 0, columns = in.type(0).last();
  if (places < 8 || places % 8 != 0 || places > columns) return breaks(rule::match_places, arg(places), arg(columns));
  return lawful(with_dim(v.result, 1, places));
}
constexpr Verdict infer_count_matches(const OpInfo&, const InferInput& in) {
  const Verdict v = check_matches(in);
  const std::int64_t dims[2] = {1, v.result.dims[0]};
  return v.lawful() ? lawful(with_shape(v.result, dims, 2)) : v;
}
constexpr Verdict matches_on_target(const InferInput& in, const Type&, Arch arch) {
  const bool by_gt = static_cast<Compare>(in.attr(AttrKey::compare, 0)) == Compare::gt;
  return arch == Arch::a3 && by_gt && is_integer(in.type(0).dtype) ? breaks(rule::matches_by_gt_on_a3, arg_op) : lawful();
}
constexpr OpInfo matches(std::string_view name, std::string_view summary, Verdict (*infer)(const OpInfo&, const InferInput&), ValidRule valid) {
  return {.name = name, .summary = summary, .infer = infer, .on_target = matches_on_target, .valid = valid,
          .dtypes = {floats | dtypes(i32), floats | dtypes(i32)}, .pto = "tgather", .form = PtoForm::matches,
          .operand_spaces = {spaces(Vec), spaces(Vec), spaces(Vec)}, .may_alias = false};
}
inline constexpr DTypeSet scattered_a3 = dtypes(i16, i32, f16, bf16, f32), scattered_a5 = scattered_a3 | dtypes(i8);

// What the elements of an index name.
constexpr PositionRange positions_on_axis(const InferInput& in, int operand) {
  const Type& x = in.type(0);
  return {operand == 1 ? x.dims[counted_from_front(in.attr(AttrKey::axis, -1), x.rank)] : 0};
}
constexpr PositionRange positions_in_all(const InferInput& in, int operand) { return {operand == 1 ? in.type(0).elements() : 0}; }
constexpr PositionRange places_in_all(const InferInput& in, int operand) { return {operand == 2 ? in.type(0).elements() : 0, true}; }
constexpr PositionRange places_in_row(const InferInput& in, int operand) { return {operand == 1 ? in.type(0).last() : 0, true}; }
constexpr PositionRange places_of_rows(const InferInput& in, int operand) { return {operand == 1 ? in.type(0).dims[0] : 0, true}; }

}  // namespace detail

namespace ops {

inline constexpr OpInfo gather = {
    .name = "gather", .summary = "x[.., index[..,j]] along the last axis, or another one; attribute: axis", .level = Level::tensor, .infer = infer_gather,
    .valid = ValidRule::indexed, .dtypes = {words, words_a5}, .form = PtoForm::expanded, .self_loading = true, .positions = positions_on_axis};
inline constexpr OpInfo gather_flat = {
    .name = "gather_flat", .summary = "elements of x at row-major positions index", .level = Level::tile,
    .infer = infer_gather_flat, .on_target = gather_on_target, .valid = ValidRule::second, .dtypes = {words, words_a5}, .pto = "tgather",
    .operand_spaces = {spaces(Vec), spaces(Vec), spaces(Vec)},
    .scratch = ScratchRule::like_second, .packed = 0b11, .may_alias = false, .positions = positions_in_all};

inline constexpr OpInfo gather_mask = {
    .name = "gather_mask", .summary = "[..,N] -> [..,N/2], [..,N/4]: of every two or four neighbours one, as another element type of equal width perhaps; attribute: pattern",
    .infer = infer_gather_mask, .valid = ValidRule::pattern, .dtypes = {words | dtypes(bf16), every_word}, .pto = "tgather",
    .form = PtoForm::pattern, .operand_spaces = {spaces(Vec), {}, {}}, .may_alias = false};
inline constexpr OpInfo scatter = {
    .name = "scatter", .summary = "x[M,N] with source[i,j] at [i, index[i,j]]", .level = Level::tensor, .infer = infer_scatter,
    .valid = ValidRule::first, .dtypes = {scattered_a3, scattered_a5}, .form = PtoForm::expanded, .positions = places_in_row};
inline constexpr OpInfo scatter_mask = {
    .name = "scatter_mask", .summary = "x[M,N] with the elements of source[M,N/2] or [M,N/4] at every second or fourth column; attribute: pattern",
    .level = Level::tensor, .infer = infer_scatter_mask, .valid = ValidRule::first, .dtypes = {scattered_a3, scattered_a5}, .form = PtoForm::expanded};
inline constexpr OpInfo scatter_update = {
    .name = "scatter_update", .summary = "x[M,N] with row source[k] at row index[k], index[B,S] row by row", .level = Level::tensor,
    .infer = infer_scatter_update, .valid = ValidRule::first, .dtypes = {scattered_a3, scattered_a5}, .form = PtoForm::expanded, .positions = places_of_rows};
inline constexpr OpInfo scatter_flat = {
    .name = "scatter_flat", .summary = "a tile like target: the elements of source at row-major positions index, elsewhere 0; operands: target, source, index",
    .level = Level::tile, .infer = infer_scatter_flat, .valid = ValidRule::first, .dtypes = {every_word, every_word}, .pto = "tscatter", .form = PtoForm::scatter,
    .operand_spaces = {spaces(Vec), spaces(Vec), spaces(Vec)}, .in_place = 0, .may_alias = false, .positions = places_in_all};
inline constexpr OpInfo scatter_strided = {
    .name = "scatter_strided", .summary = "a tile like target: the elements of source at every second or fourth column, elsewhere 0; attribute: pattern",
    .level = Level::tile, .infer = infer_scatter_strided, .valid = ValidRule::first, .dtypes = {every_word, every_word}, .pto = "tscatter", .form = PtoForm::scatter,
    .operand_spaces = {spaces(Vec), spaces(Vec), {}}, .in_place = 0, .may_alias = false};

inline constexpr OpInfo find_positions = matches("find_positions",
    "[M,N] -> [M,places]: where elements compare with a number, row-major in x, plus the offset; operands: x, number, offset; attribute: compare",
    infer_find_positions, ValidRule::whole_rows);
inline constexpr OpInfo count_matches = matches("count_matches",
    "[M,N] -> [1,M]: how many elements of each row do; operands: x, number, offset; attribute: compare", infer_count_matches, ValidRule::row_counts);

inline constexpr const OpInfo* indexed_family[] = {&gather, &gather_flat, &gather_mask, &find_positions, &count_matches, &scatter, &scatter_mask, &scatter_update, &scatter_flat, &scatter_strided};

}  // namespace ops
}  // namespace tessera
