// What crosses the border of a split region, in which the two vector cores beside a cube core work on one half of a matrix
// each: halves of a product come in, whole matrices go out.
#pragma once

#include "elementwise.hpp"

namespace tessera {
namespace detail {

constexpr Split split_of(const InferInput& in) { return static_cast<Split>(in.attr(AttrKey::split, 1)); }
constexpr Verdict check_lane(const InferInput& in, int matrix, int lane) {
  const Type& m = in.type(matrix);
  if (!m.is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  if (m.rank != 2) return breaks(rule::split_matrix_is_not_2d, arg_op, arg(std::int64_t{m.rank}));
  const std::int64_t extent = m.dims[axis_of(split_of(in))];
  if (is_dynamic(extent) || extent % 2 != 0)
    return breaks(rule::split_axis_has_no_halves, arg_op, arg(std::int64_t{axis_of(split_of(in))}), arg_dim(extent));
  if (!in.type(lane).is_index()) return breaks(rule::operand_is_not_an_integer, arg_op, arg(std::int64_t{lane}));
  return lawful();
}
constexpr Type half_of(const Type& matrix, Split s) {
  const int axis = axis_of(s);
  return with_dim(matrix, axis, matrix.dims[axis] / 2);
}
constexpr Verdict infer_shard(const OpInfo&, const InferInput& in) {
  const Verdict v = check_lane(in, 0, 1);
  return v.lawful() ? lawful(half_of(in.type(0), split_of(in))) : v;
}
constexpr Verdict infer_lane_gather(const OpInfo&, const InferInput& in) {
  const Verdict v = check_lane(in, 0, 2);
  if (!v.lawful()) return v;
  const Verdict pair = check_pair(in.type(0), in.type(1));
  if (!pair.lawful()) return pair;
  const Type half = half_of(in.type(0), split_of(in));
  if (in.type(1).rank != 2) return breaks(rule::split_matrix_is_not_2d, arg_op, arg(std::int64_t{in.type(1).rank}));
  for (int i = 0; i < 2; ++i)
    if (in.type(1).dims[i] != half.dims[i])
      return breaks(rule::gathered_half_has_another_shape, arg_dim(in.type(1).dims[i]), arg_dim(half.dims[i]));
  return lawful(in.type(0));
}

}  // namespace detail

namespace ops {

inline constexpr OpInfo aiv_shard = {
    .name = "aiv_shard", .summary = "[M,N] -> [M/2,N] or [M,N/2], the half of a lane; operands: matrix, lane; attribute: split",
    .infer = infer_shard, .valid = ValidRule::lane_half, .form = PtoForm::none, .pipe = Pipe::fix,
    .operand_spaces = {spaces(Acc), {}, {}}, .may_alias = false};
inline constexpr OpInfo aic_gather = {
    .name = "aic_gather", .summary = "the matrix with the half of a lane written into it; operands: matrix, half, lane; attribute: split",
    .infer = infer_lane_gather, .valid = ValidRule::first, .form = PtoForm::none, .pipe = Pipe::mte3,
    .operand_spaces = {spaces(Mat), spaces(Vec), {}}, .result_spaces = spaces(Mat), .in_place = 0, .may_alias = false};

inline constexpr const OpInfo* split_family[] = {&aiv_shard, &aic_gather};

}  // namespace ops
}  // namespace tessera
