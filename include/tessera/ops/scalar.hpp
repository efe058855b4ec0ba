// Scalar operations on Index and Scalar values: arithmetic, comparison, logic, conversion. `/` and `%` truncate, as in C++.
#pragma once

#include "descriptor.hpp"

namespace tessera {
namespace detail {

constexpr Verdict infer_scalar_binary(const OpInfo& op, const InferInput& in) {
  for (int i = 0; i < 2; ++i)
    if (!in.type(i).is_scalar()) return breaks(rule::operand_is_not_a_number, arg_op);
  if (in.type(0).dtype != in.type(1).dtype)
    return breaks(rule::operand_dtypes_differ, arg_op, arg(in.type(0).dtype), arg(in.type(1).dtype));
  const DTypeSet set = op.dtypes[0];
  if (set.bits != 0 && !set.contains(in.type(0).dtype)) return breaks(rule::dtype_not_supported, arg_op, arg(in.type(0).dtype));
  return lawful(in.type(0));
}
/// A constant amount is a position of a bit.
constexpr Verdict infer_scalar_shift(const OpInfo& op, const InferInput& in) {
  const Verdict v = infer_scalar_binary(op, in);
  const std::int64_t n = in.operands[1].constant;
  if (v.lawful() && in.operands[1].is_constant && (n < 0 || n >= info(in.type(0).dtype).bits))
    return breaks(rule::shift_out_of_range, arg_op, arg(n), arg(in.type(0).dtype));
  return v;
}
constexpr Verdict infer_scalar_unary(const OpInfo& op, const InferInput& in) {
  if (!in.type(0).is_scalar()) return breaks(rule::operand_is_not_a_number, arg_op);
  const DTypeSet set = op.dtypes[0];
  if (set.bits != 0 && !set.contains(in.type(0).dtype)) return breaks(rule::dtype_not_supported, arg_op, arg(in.type(0).dtype));
  return lawful(in.type(0));
}
constexpr Verdict infer_compare(const OpInfo& op, const InferInput& in) {
  const Verdict v = infer_scalar_binary(op, in);
  return v.lawful() ? lawful(scalar_type(boolean)) : v;
}
constexpr Verdict infer_select(const OpInfo& op, const InferInput& in) {
  if (!in.type(0).is_scalar() || in.type(0).dtype != boolean) return breaks(rule::condition_is_not_boolean, arg_op);
  if (!in.type(1).is_scalar() || !in.type(2).is_scalar()) return breaks(rule::operand_is_not_a_number, arg_op);
  if (!op.dtypes[0].contains(in.type(1).dtype)) return breaks(rule::dtype_not_supported, arg_op, arg(in.type(1).dtype));
  if (in.type(1).dtype != in.type(2).dtype)
    return breaks(rule::operand_dtypes_differ, arg_op, arg(in.type(1).dtype), arg(in.type(2).dtype));
  return lawful(in.type(1));
}
constexpr Verdict infer_scalar_cast(const OpInfo& op, const InferInput& in) {
  if (!in.type(0).is_scalar()) return breaks(rule::operand_is_not_a_number, arg_op);
  for (const DType d : {in.type(0).dtype, in.requested.dtype})
    if (!op.dtypes[0].contains(d)) return breaks(rule::dtype_not_supported, arg_op, arg(d));
  return lawful(scalar_type(in.requested.dtype));
}
constexpr Verdict infer_block_index(const OpInfo&, const InferInput&) { return lawful(index_scalar); }

inline constexpr DTypeSet integers = dtypes(i8, u8, i16, u16, i32, u32, i64, u64, index_type);
inline constexpr DTypeSet logical = integers | dtypes(boolean);
inline constexpr DTypeSet numbers = integers | dtypes(f32, f16, bf16);  // without the storage formats of 8 and fewer bits
constexpr OpInfo scalar_op(std::string_view name, std::string_view pto, std::string_view summary,
                           Verdict (*infer)(const OpInfo&, const InferInput&), DTypeSet accepted = numbers) {
  return {.name = name, .summary = summary, .level = Level::scalar, .infer = infer, .dtypes = {accepted, accepted},
          .pto = pto, .form = PtoForm::arith, .pipe = Pipe::scalar, .result_spaces = {}};
}

}  // namespace detail

namespace ops {

inline constexpr OpInfo scalar_add = scalar_op("add", "add", "a + b", infer_scalar_binary);
inline constexpr OpInfo scalar_sub = scalar_op("sub", "sub", "a - b", infer_scalar_binary);
inline constexpr OpInfo scalar_mul = scalar_op("mul", "mul", "a * b", infer_scalar_binary);
inline constexpr OpInfo scalar_div = dividing(scalar_op("div", "div", "a / b; integers truncate toward zero", infer_scalar_binary));
inline constexpr OpInfo scalar_rem = dividing(scalar_op("rem", "rem", "a % b, with the sign of a", infer_scalar_binary, integers));
inline constexpr OpInfo scalar_min = scalar_op("min", "min", "the smaller of a and b", infer_scalar_binary);
inline constexpr OpInfo scalar_max = scalar_op("max", "max", "the larger of a and b", infer_scalar_binary);
inline constexpr OpInfo scalar_and = scalar_op("and", "and", "a & b", infer_scalar_binary, logical);
inline constexpr OpInfo scalar_or = scalar_op("or", "or", "a | b", infer_scalar_binary, logical);
inline constexpr OpInfo scalar_xor = scalar_op("xor", "xor", "a ^ b", infer_scalar_binary, logical);
inline constexpr OpInfo scalar_shl = scalar_op("shl", "shl", "a << b; b from 0 to below the count of bits", infer_scalar_shift, integers);
inline constexpr OpInfo scalar_shr =
    scalar_op("shr", "shr", "a >> b, of signed types with copies of the sign; b from 0 to below the count of bits", infer_scalar_shift, integers);
inline constexpr OpInfo scalar_neg = scalar_op("neg", "neg", "-a", infer_scalar_unary);
inline constexpr OpInfo scalar_not = scalar_op("not", "not", "!a", infer_scalar_unary, dtypes(boolean));
inline constexpr OpInfo scalar_compare = scalar_op("compare", "cmp", "a < b and the like; attribute: compare", infer_compare, numbers | dtypes(boolean));
inline constexpr OpInfo scalar_select = scalar_op("select", "select", "c ? a : b", infer_select, numbers | dtypes(boolean));
inline constexpr OpInfo scalar_cast = scalar_op("cast", "cast", "a in another element type", infer_scalar_cast, numbers | dtypes(boolean));
inline constexpr OpInfo block_index = {
    .name = "block_index", .summary = "which block of the launch runs", .level = Level::scalar, .infer = infer_block_index,
    .pto = "get_block_idx", .form = PtoForm::block_index, .pipe = Pipe::scalar, .result_spaces = {}};
inline constexpr OpInfo block_count = {
    .name = "block_count", .summary = "how many blocks the launch has", .level = Level::scalar, .infer = infer_block_index,
    .pto = "get_block_num", .form = PtoForm::block_index, .pipe = Pipe::scalar, .result_spaces = {}};
inline constexpr OpInfo subblock_index = {
    .name = "subblock_index", .summary = "which vector core of its block runs", .level = Level::scalar, .infer = infer_block_index,
    .pto = "get_subblock_idx", .form = PtoForm::block_index, .pipe = Pipe::scalar, .result_spaces = {}};
inline constexpr OpInfo subblock_count = {
    .name = "subblock_count", .summary = "how many vector cores a block has", .level = Level::scalar, .infer = infer_block_index,
    .pto = "get_subblock_num", .form = PtoForm::block_index, .pipe = Pipe::scalar, .result_spaces = {}};

inline constexpr const OpInfo* scalar_family[] = {&scalar_add, &scalar_sub, &scalar_mul, &scalar_div, &scalar_rem, &scalar_min,
    &scalar_max, &scalar_and, &scalar_or, &scalar_xor, &scalar_shl, &scalar_shr, &scalar_neg, &scalar_not, &scalar_compare, &scalar_select, &scalar_cast,
    &block_index, &block_count, &subblock_index, &subblock_count};

}  // namespace ops
}  // namespace tessera
