// Matrix products. On tensors of rank > 2 the leading dims are batch dims that broadcast.
#pragma once

#include "descriptor.hpp"

namespace tessera {
namespace detail {

/// Element type of the accumulator: f32 for floats, i32 for integers.
[[nodiscard]] constexpr DType accumulator_dtype(DType operand) { return is_float(operand) ? f32 : i32; }

constexpr Verdict infer_product(const InferInput& in, int lhs) {
  const Type &a = in.type(lhs), &b = in.type(lhs + 1);
  if (!a.is_shaped() || !b.is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  if (a.kind != b.kind) return breaks(rule::tensor_and_tile_mixed, arg_op);
  if (a.rank < 2 || b.rank < 2)
    return breaks(rule::matmul_operand_is_not_a_matrix, arg(std::int64_t{a.rank}), arg(std::int64_t{b.rank}));
  if (a.dtype != b.dtype) return breaks(rule::operand_dtypes_differ, arg_op, arg(a.dtype), arg(b.dtype));
  const bool ta = in.attr(AttrKey::transpose_lhs, 0) != 0, tb = in.attr(AttrKey::transpose_rhs, 0) != 0;
  const std::int64_t m = a.last(ta ? 0 : 1), k = a.last(ta ? 1 : 0);
  const std::int64_t kb = b.last(tb ? 0 : 1), n = b.last(tb ? 1 : 0);
  if (k != kb) return breaks(rule::matmul_inner_dimensions_differ, arg_dim(k), arg_dim(kb));
  const int rank = a.rank > b.rank ? a.rank : b.rank;
  std::int64_t dims[max_rank] = {};
  dims[rank - 2] = m;
  dims[rank - 1] = n;
  for (int i = 2; i < rank; ++i) {
    const std::int64_t da = i < a.rank ? a.last(i) : 1, db = i < b.rank ? b.last(i) : 1;
    if (da != db && da != 1 && db != 1) return breaks(rule::matmul_batch_dims_do_not_broadcast, arg_dim(da), arg_dim(db));
    dims[rank - 1 - i] = da == 1 ? db : da;
  }
  const Type like = a.is_tile() ? with_space(a, Acc) : a;
  return lawful(with_shape(with_dtype(like, accumulator_dtype(a.dtype)), dims, rank));
}
constexpr Verdict infer_matmul(const OpInfo&, const InferInput& in) { return infer_product(in, 0); }
}  // namespace detail

namespace ops {

inline constexpr OpInfo matmul = {
    .name = "matmul", .summary = "[..,M,K] x [..,K,N] -> [..,M,N] in f32 or i32, K in whole blocks of 32 bytes; batch dims broadcast; attributes: transpose_lhs, transpose_rhs",
    .infer = infer_matmul, .valid = ValidRule::matmul,
    .dtypes = {dtypes(f16, bf16, f32, i8), dtypes(f16, bf16, f32, i8)}, .pto = "tmatmul", .form = PtoForm::matmul, .pipe = Pipe::cube,
    .operand_spaces = {spaces(Left), spaces(Right), {}}, .result_spaces = spaces(Acc),
    .space_rules = {rule::matmul_left_operand_is_not_in_left, rule::matmul_right_operand_is_not_in_right, rule::none},
    .first_factor = 0, .may_alias = false, .tensor_spaces = {spaces(Mat), spaces(Mat), {}}};
}  // namespace ops

namespace detail {

constexpr Verdict infer_matmul_acc(const OpInfo&, const InferInput& in) {
  const Verdict product = infer_product(in, 1);
  if (!product.lawful()) return product;
  if (!accepted_dtypes(ops::matmul).contains(in.type(1).dtype)) return breaks(rule::dtype_not_supported, arg_op, arg(in.type(1).dtype));
  const Type &acc = in.type(0), &r = product.result;
  if (acc.kind != r.kind) return breaks(rule::tensor_and_tile_mixed, arg_op);
  if (acc.dtype != r.dtype) return breaks(rule::matmul_accumulator_differs, arg(acc.dtype), arg(r.dtype));
  if (acc.rank != r.rank) return breaks(rule::ranks_differ, arg_op, arg(std::int64_t{acc.rank}), arg(std::int64_t{r.rank}));
  for (int i = 0; i < r.rank; ++i)
    if (acc.dims[i] != r.dims[i]) return breaks(rule::matmul_accumulator_differs, arg_dim(acc.dims[i]), arg_dim(r.dims[i]));
  return lawful(acc);
}
constexpr Verdict matmul_acc_on_target(const InferInput& in, const Type&, Arch arch) {
  const DType factor = in.type(1).dtype;
  return accepts_on(ops::matmul, factor, arch) ? lawful() : breaks(dtype_rule(arch), arg_op, arg(factor));
}

}  // namespace detail

namespace ops {

inline constexpr OpInfo matmul_acc = {
    .name = "matmul_acc", .summary = "acc + lhs x rhs, in the accumulator's storage",
    .infer = infer_matmul_acc, .on_target = matmul_acc_on_target, .valid = ValidRule::first,
    .dtypes = {dtypes(f32, i32), dtypes(f32, i32)}, .pto = "tmatmul.acc", .form = PtoForm::matmul_acc, .pipe = Pipe::cube,
    .operand_spaces = {spaces(Acc), spaces(Left), spaces(Right)}, .result_spaces = spaces(Acc),
    .space_rules = {rule::matmul_accumulator_is_not_in_acc, rule::matmul_left_operand_is_not_in_left, rule::matmul_right_operand_is_not_in_right},
    .first_factor = 1, .in_place = 0, .may_alias = false, .tensor_spaces = {{}, spaces(Mat), spaces(Mat)}};

inline constexpr const OpInfo* matmul_family[] = {&matmul, &matmul_acc};

}  // namespace ops
}  // namespace tessera
