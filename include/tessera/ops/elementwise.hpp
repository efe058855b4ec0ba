// Elementwise operations: unary, binary, with a scalar, and cast. Result: the shape of the operand.
#pragma once

#include "casts.hpp"

namespace tessera {
namespace detail {

constexpr Verdict infer_unary(const OpInfo&, const InferInput& in) {
  if (!in.type(0).is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  return lawful(in.type(0));
}

/// Operands of one kind and one element type: what every operation on two tiles or two tensors needs.
constexpr Verdict check_pair(const Type& a, const Type& b) {
  if (!a.is_shaped() || !b.is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  if (a.kind != b.kind) return breaks(rule::tensor_and_tile_mixed, arg_op);
  if (a.dtype != b.dtype) return breaks(rule::operand_dtypes_differ, arg_op, arg(a.dtype), arg(b.dtype));
  return lawful(a);
}

constexpr Verdict infer_binary(const OpInfo& op, const InferInput& in) {
  const Type &a = in.type(0), &b = in.type(1);
  const Verdict pair = check_pair(a, b);
  if (!pair.lawful()) return pair;
  for (int i = 0; i < a.rank && i < b.rank; ++i)
    if (a.last(i) != b.last(i)) return breaks(op.shape_rule, arg_dim(a.last(i)), arg_dim(b.last(i)));
  if (a.rank != b.rank) return breaks(rule::ranks_differ, arg_op, arg(std::int64_t{a.rank}), arg(std::int64_t{b.rank}));
  return lawful(a);
}

constexpr Verdict infer_scalar_form(const OpInfo&, const InferInput& in) {
  const Type &a = in.type(0), &s = in.type(1);
  if (!a.is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  if (!s.is_scalar()) return breaks(rule::operand_is_not_a_number, arg_op);
  if (a.dtype != s.dtype) return breaks(rule::scalar_dtype_differs, arg_op, arg(a.dtype), arg(s.dtype));
  return lawful(a);
}

constexpr Verdict infer_cast(const OpInfo&, const InferInput& in) {
  if (!in.type(0).is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  if (in.type(0).dtype == in.requested.dtype) return breaks(rule::cast_to_the_same_dtype, arg(in.requested.dtype));
  const DType from = in.type(0).dtype, to = in.requested.dtype;
  if (!can_cast(from, to, Arch::a3) && !can_cast(from, to, Arch::a5)) return breaks(rule::cast_has_no_path, arg(from), arg(to));
  return lawful(with_dtype(in.type(0), to));
}
constexpr Verdict cast_on_target(const InferInput& in, const Type& result, Arch arch) {
  const DType from = in.type(0).dtype, to = result.dtype;
  return can_cast(from, to, arch) ? lawful() : breaks(rule::cast_has_no_path, arg(from), arg(to));
}

constexpr OpInfo unary(std::string_view name, std::string_view pto, std::string_view summary, DTypeSet a3, DTypeSet a5,
                       bool may_alias = true) {
  return {.name = name, .summary = summary, .infer = infer_unary, .valid = ValidRule::first, .dtypes = {a3, a5},
          .pto = pto, .operand_spaces = {spaces(Vec), {}, {}}, .row_major = true, .may_alias = may_alias};
}
constexpr OpInfo binary(std::string_view name, std::string_view pto, std::string_view summary, rule shape_rule,
                        DTypeSet a3, DTypeSet a5) {
  return {.name = name, .summary = summary, .infer = infer_binary, .valid = ValidRule::intersection,
          .dtypes = {a3, a5}, .shape_rule = shape_rule, .pto = pto,
          .operand_spaces = {spaces(Vec), spaces(Vec), {}}, .row_major = true};
}
constexpr OpInfo scalar_form(std::string_view name, std::string_view pto, std::string_view summary, DTypeSet a3,
                             DTypeSet a5) {
  return {.name = name, .summary = summary, .infer = infer_scalar_form, .valid = ValidRule::first, .dtypes = {a3, a5},
          .pto = pto, .operand_spaces = {spaces(Vec), {}, {}}, .row_major = true};
}
inline constexpr DTypeSet signed_a5 = signed_words | dtypes(i8, bf16);

}  // namespace detail

namespace ops {

inline constexpr OpInfo neg = unary("neg", "tneg", "-x", words, words_bf16_a5);
inline constexpr OpInfo abs = unary("abs", "tabs", "|x|", floats, floats);
inline constexpr OpInfo exp = unary("exp", "texp", "e to the x", floats, floats);
inline constexpr OpInfo log = unary("log", "tlog", "natural logarithm", floats, floats);
inline constexpr OpInfo sqrt = unary("sqrt", "tsqrt", "square root", floats, floats);
inline constexpr OpInfo rsqrt = unary("rsqrt", "trsqrt", "1 / sqrt(x)", floats, floats, false);
inline constexpr OpInfo recip = unary("recip", "trecip", "1 / x", floats, floats, false);
inline constexpr OpInfo relu = unary("relu", "trelu", "max(x, 0)", dtypes(i32, f16, f32), dtypes(i32, f16, f32));

inline constexpr OpInfo add = binary("add", "tadd", "a + b", rule::add_shapes_do_not_broadcast, words, words_bf16_a5);
inline constexpr OpInfo sub = binary("sub", "tsub", "a - b", rule::sub_shapes_do_not_broadcast, words, words_a5);
inline constexpr OpInfo mul = binary("mul", "tmul", "a * b", rule::mul_shapes_do_not_broadcast, words, words);
inline constexpr OpInfo div = binary("div", "tdiv", "a / b", rule::div_shapes_do_not_broadcast, floats, words);
inline constexpr OpInfo maximum =
    binary("maximum", "tmax", "the larger of a and b", rule::maximum_shapes_do_not_broadcast, words, words_a5);
inline constexpr OpInfo minimum =
    binary("minimum", "tmin", "the smaller of a and b", rule::minimum_shapes_do_not_broadcast, words, words_a5);

inline constexpr OpInfo adds = scalar_form("adds", "tadds", "x + s", signed_words, signed_a5);
inline constexpr OpInfo subs = scalar_form("subs", "tsubs", "x - s", signed_words, signed_a5);
inline constexpr OpInfo muls = scalar_form("muls", "tmuls", "x * s", signed_words, signed_a5);
inline constexpr OpInfo divs = scalar_form("divs", "tdivs", "x / s", signed_words, signed_words | dtypes(i8));
inline constexpr OpInfo maximums = scalar_form("maximums", "tmaxs", "the larger of x and s", floats, floats);
inline constexpr OpInfo minimums = scalar_form("minimums", "tmins", "the smaller of x and s", floats, floats);

inline constexpr OpInfo cast = {
    .name = "cast", .summary = "x in another element type; attribute: rounding", .infer = infer_cast,
    .on_target = cast_on_target, .valid = ValidRule::first, .pto = "tcvt", .form = PtoForm::cast, .operand_spaces = {spaces(Vec), {}, {}},
    .row_major = true, .may_alias = false};

inline constexpr const OpInfo* elementwise_family[] = {&neg, &abs, &exp, &log, &sqrt, &rsqrt, &recip, &relu, &add, &sub,
    &mul, &div, &maximum, &minimum, &adds, &subs, &muls, &divs, &maximums, &minimums, &cast};

}  // namespace ops
}  // namespace tessera
