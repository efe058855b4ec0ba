// Where tiles and tensor values meet: a tile operation of the user's that is called with tensors works on tiles, and what it
// gives is a tensor value. Neither moves data by itself; convert_tensor_to_tile_ops loads what is in GM.
#pragma once

#include "elementwise.hpp"

namespace tessera {
namespace detail {

constexpr Verdict infer_to_tile(const OpInfo&, const InferInput& in) {
  const Type &x = in.type(0), &r = in.requested;
  if (!x.is_tensor()) return breaks(rule::operand_is_not_a_tensor, arg_op);
  if (!x.same_shape(r)) return breaks(rule::shapes_differ, arg_op, arg_dim(x.last()), arg_dim(r.last()));
  if (x.dtype != r.dtype) return breaks(rule::operand_dtypes_differ, arg_op, arg(x.dtype), arg(r.dtype));
  return lawful(r);
}
constexpr Verdict infer_to_tensor(const OpInfo&, const InferInput& in) {
  if (!in.type(0).is_tile()) return breaks(rule::operand_is_not_a_tile, arg_op);
  return lawful(with_space(in.type(0), Gm));
}

}  // namespace detail

namespace ops {

inline constexpr OpInfo to_tile = {
    .name = "to_tile", .summary = "a tensor as the argument of a user's tile operation: the tile that holds it", .level = Level::tensor,
    .infer = infer_to_tile, .valid = ValidRule::first, .form = PtoForm::expanded, .pipe = Pipe::none, .result_spaces = {}};
inline constexpr OpInfo to_tensor = {
    .name = "to_tensor", .summary = "what a user's tile operation gives, as a value of the tensor level", .level = Level::tensor,
    .infer = infer_to_tensor, .valid = ValidRule::first, .form = PtoForm::expanded, .pipe = Pipe::none, .result_spaces = {}};

inline constexpr const OpInfo* tileop_family[] = {&to_tile, &to_tensor};

}  // namespace ops
}  // namespace tessera
