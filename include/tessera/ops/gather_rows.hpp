// Rows of a tensor that are loaded, window by window, into a tile in Mat or Vec: gather_row, and paged_gather, which finds the
// rows by indices and a block table.
#pragma once

#include "memory.hpp"

namespace tessera {
namespace detail {

/// Operands of gather_row: accumulator, tensor, two offsets in the accumulator, two in the tensor, perhaps two valid extents.
inline constexpr int gather_row_offsets = 2, gather_row_source_offsets = 4, gather_row_valid = 6;

/// The window [rows, columns] of the tensor; transposed, it stands in the accumulator as [columns, rows].
constexpr Verdict infer_gather_row(const OpInfo&, const InferInput& in) {
  const Type &acc = in.type(0), &source = in.type(1);
  if (!acc.is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  if (!source.is_tensor()) return breaks(rule::operand_is_not_a_tensor, arg_op);
  if (acc.is_tile() && acc.layout == Layout::dn) return breaks(rule::rows_are_gathered_into_a_column, arg_op, arg(acc.dims[0]));
  for (const Type* t : {&acc, &source})
    if (t->rank != 2) return breaks(rule::gather_row_is_for_matrices, arg_op, arg(std::int64_t{t->rank}));
  if (acc.dtype != source.dtype) return breaks(rule::window_dtype_differs, arg_op, arg(acc.dtype), arg(source.dtype));
  if (source.last() == 1) return breaks(rule::rows_are_gathered_from_a_column, arg_op, arg_dim(source.dims[0]));
  const std::int64_t extents[2] = {in.attr(AttrKey::rows, 0), in.attr(AttrKey::columns, 0)};
  for (const std::int64_t n : extents) {
    if (is_dynamic(n)) return breaks(rule::tile_dim_is_dynamic, arg_op, arg_dim(n));
    if (n <= 0) return breaks(rule::window_extent_is_not_positive, arg_op, arg(n));
  }
  for (int i = 0; i < acc.rank; ++i)
    if (is_dynamic(acc.dims[i])) return breaks(rule::tile_dim_is_dynamic, arg_op, arg_dim(acc.dims[i]));
  const bool has_valid = in.attr(AttrKey::has_valid, 0) != 0, transposed = in.attr(AttrKey::transposed, 0) != 0;
  if (transposed && has_valid) return breaks(rule::gather_row_transposed_has_valid);
  if (transposed && acc.is_tile() && acc.space != Mat) return breaks(rule::transposed_form_is_for_mat, arg_op, arg(acc.space));
  if (in.at_run_time && acc.is_tile() && acc.space == Mat && transposed != (acc.layout == Layout::zn))
    return breaks(rule::gather_row_form_differs);
  const int expected = has_valid ? gather_row_valid + 2 : gather_row_valid;
  if (in.count != expected)
    return breaks(rule::offset_count_differs, arg_op, arg(std::int64_t{in.count - gather_row_offsets}), arg(std::int64_t{expected - gather_row_offsets}));
  // What is written must lie in the accumulator: with run-time extents the window may reach past its end.
  for (int side = 0; side < 2; ++side) {
    OperandInfo operands[4];
    for (int i = 0; i < 2; ++i) {
      operands[i] = in.operands[(side == 0 ? gather_row_offsets : gather_row_source_offsets) + i];
      if (has_valid) operands[2 + i] = in.operands[gather_row_valid + i];
    }
    const bool turned = side == 0 && transposed;
    const std::int64_t window[2] = {extents[turned ? 1 : 0], extents[turned ? 0 : 1]};
    for (int i = 0; i < 2; ++i)
      if (side == 0 && window[i] > acc.dims[i])
        return breaks(rule::window_out_of_bounds, arg_op, arg(std::int64_t{0}), arg(window[i]), arg(acc.dims[i]));
    const InferInput part{operands, has_valid ? 4 : 2, {}, in.attrs, in.attr_count};
    const Verdict v = check_window(part, side == 0 ? acc : source, with_shape(acc, window, 2), 0);
    if (!v.lawful()) return v;
  }
  const OperandInfo& start = in.operands[gather_row_offsets + (transposed ? 0 : 1)];
  if (start.is_constant && !is_whole_blocks(acc.dtype, start.constant))
    return breaks(rule::gather_row_starts_inside_a_block, arg(start.constant));
  return lawful(acc);
}

constexpr Verdict check_page_indices(const Type& t) {
  if (!t.is_tensor()) return breaks(rule::operand_is_not_a_tensor, arg_op);
  if (t.dtype != i32) return breaks(rule::paged_gather_index_dtype, arg(t.dtype));
  for (int i = 0; i + 1 < t.rank; ++i)
    if (t.dims[i] != 1) return breaks(rule::paged_gather_index_is_not_one_row, arg_dim(t.dims[i]));
  return lawful();
}
/// Operands: source, indices, block table.
constexpr Verdict infer_paged_gather(const OpInfo&, const InferInput& in) {
  const Type& source = in.type(0);
  if (!source.is_tensor()) return breaks(rule::operand_is_not_a_tensor, arg_op);
  if (source.rank != 2) return breaks(rule::paged_gather_source_is_not_a_matrix, arg(std::int64_t{source.rank}));
  for (int i = 1; i < 3; ++i)
    if (const Verdict v = check_page_indices(in.type(i)); !v.lawful()) return v;
  const std::int64_t block = in.attr(AttrKey::block_size, 0), size = in.attr(AttrKey::columns, 0), most = in.attr(AttrKey::rows, 0);
  if (block <= 0 || size <= 0 || most <= 0) return breaks(rule::paged_gather_sizes, arg(block), arg(size), arg(most));
  const auto space = static_cast<MemorySpace>(in.attr(AttrKey::space, Mat));
  const bool transposed = in.attr(AttrKey::transposed, 0) != 0;
  if (space != Mat && space != Vec) return breaks(rule::paged_gather_place, arg(space));
  if (transposed && space != Mat) return breaks(rule::transposed_form_is_for_mat, arg_op, arg(space));
  const std::int64_t count = in.type(1).last(), column = in.attr(AttrKey::column, 0);
  if (!is_dynamic(count) && count > most) return breaks(rule::paged_gather_has_too_many_indices, arg(count), arg(most));
  if (column < 0) return breaks(rule::window_offset_is_negative, arg_op, arg(column));
  if (!is_dynamic(source.last()) && (size > source.last() || column > source.last() - size))
    return breaks(rule::window_out_of_bounds, arg_op, arg(column), arg(size), arg(source.last()));
  if (source.last() == 1) return breaks(rule::rows_are_gathered_from_a_column, arg_op, arg_dim(source.dims[0]));
  if (size == 1 && space == Vec) return breaks(rule::rows_are_gathered_into_a_column, arg_op, arg(most));
  const std::int64_t dims[2] = {transposed ? size : most, transposed ? most : size};
  return lawful(with_shape(source, dims, 2));
}

/// Indices are rows as the pages count them; the table holds pages of the source.
constexpr PositionRange paged_positions(const InferInput& in, int operand) {
  const std::int64_t block = in.attr(AttrKey::block_size, 1), pages = in.type(0).dims[0] / block;
  if (operand == 1) return {block * in.type(2).last()};
  return {operand == 2 ? (pages > 0 ? pages : 1) : 0};
}

}  // namespace detail

namespace ops {

inline constexpr OpInfo gather_row = {
    .name = "gather_row", .summary = "a window of a tensor loaded into a window of the accumulator; operands: accumulator, tensor, offsets in both, optional valid extents",
    .infer = infer_gather_row, .valid = ValidRule::first, .dtypes = {stored_a3, stored_a5}, .pto = "tload", .form = PtoForm::gather_row,
    .pipe = Pipe::mte2, .operand_spaces = {spaces(Vec, Mat), {}, {}}, .result_spaces = {}, .effect = Effect::reads_second, .pure = false,
    .in_place = 0, .may_alias = false, .self_loading = true};
inline constexpr OpInfo paged_gather = {
    .name = "paged_gather", .summary = "row i is row table[index[i] / block_size] * block_size + index[i] % block_size of the source; operands: source, indices, block table",
    .level = Level::tensor, .infer = infer_paged_gather, .valid = ValidRule::gathered,
    .dtypes = {dtypes(i8, f16, bf16, f32), dtypes(i8, f16, bf16, f32)}, .form = PtoForm::expanded, .effect = Effect::reads_all, .pure = false,
    .self_loading = true, .positions = detail::paged_positions};

inline constexpr const OpInfo* gather_rows_family[] = {&gather_row, &paged_gather};

}  // namespace ops
}  // namespace tessera
