// Elementwise operations: unary, binary, with a scalar, on bits, on parts, and cast. Result: the shape of the operand.
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
  // The dims that are told are those that do not broadcast, where there are such.
  int differs = -1;
  for (int i = 0; i < a.rank && i < b.rank; ++i)
    if (a.last(i) != b.last(i) && (differs < 0 || ((a.last(differs) == 1 || b.last(differs) == 1) && a.last(i) != 1 && b.last(i) != 1))) differs = i;
  if (differs >= 0) {
    const RuleArg x = arg_dim(a.last(differs)), y = arg_dim(b.last(differs));
    return op.shape_rule == rule::shapes_differ ? breaks(op.shape_rule, arg_op, x, y) : breaks(op.shape_rule, x, y);
  }
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

/// A constant scalar is a position of a bit.
constexpr Verdict infer_shift(const OpInfo& op, const InferInput& in) {
  const Verdict v = infer_scalar_form(op, in);
  const std::int64_t bits = info(in.type(0).dtype).bits, n = in.operands[1].constant;
  if (v.lawful() && in.operands[1].is_constant && (n < 0 || n >= bits))
    return breaks(rule::shift_out_of_range, arg_op, arg(n), arg(in.type(0).dtype));
  return v;
}

/// The scalar is f32 beside every element type.
constexpr Verdict infer_slope(const OpInfo&, const InferInput& in) {
  if (!in.type(0).is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  if (!in.type(1).is_scalar()) return breaks(rule::operand_is_not_a_number, arg_op);
  if (in.type(1).dtype != f32) return breaks(rule::scalar_dtype_differs, arg_op, arg(f32), arg(in.type(1).dtype));
  return lawful(in.type(0));
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
// Equal shapes only: no instruction repeats a column or a row.
constexpr OpInfo binary_alike(std::string_view name, std::string_view pto, std::string_view summary, DTypeSet a3, DTypeSet a5,
                              bool may_alias = true) {
  OpInfo op = binary(name, pto, summary, rule::shapes_differ, a3, a5);
  op.may_alias = may_alias;
  return op;
}
constexpr OpInfo bits_of_two(std::string_view name, std::string_view pto, std::string_view summary) {
  OpInfo op = binary_alike(name, pto, summary, all_bits, all_bits);
  op.since_0_60[static_cast<int>(Arch::a3)] = long_bits;
  return op;
}
// The instructions read the operand again after the first write to the result.
constexpr OpInfo bits_with_scalar(std::string_view name, std::string_view pto, std::string_view summary) {
  OpInfo op = scalar_form(name, pto, summary, short_bits, all_bits);
  op.filled[static_cast<int>(Arch::a3)] = dtypes(i32);
  op.may_alias = false;
  return op;
}
constexpr OpInfo with_scratch(OpInfo op, ScratchRule scratch) {
  op.scratch = scratch;
  op.operand_spaces[2] = spaces(Vec);
  op.may_alias = false;
  return op;
}
constexpr OpInfo with_rule(OpInfo op, Verdict (*infer)(const OpInfo&, const InferInput&)) {
  op.infer = infer;
  return op;
}
constexpr OpInfo part(std::string_view name, std::string_view pto, std::string_view summary) {
  OpInfo op = binary_alike(name, pto, summary, words, words_bf16_a5, false);
  op.valid = ValidRule::larger;
  op.packed = 0b11;
  return op;
}
constexpr OpInfo with_precision(OpInfo op, std::string_view word, bool scratch = false) {
  op.precision = word;
  op.precision_scratch = scratch;
  return op;
}
constexpr OpInfo without_instruction(OpInfo op) {
  op.form = PtoForm::expanded;
  return op;
}
constexpr OpInfo unlike(OpInfo op) {
  op.may_alias = false;
  return op;
}
inline constexpr DTypeSet signed_a5 = signed_words | dtypes(i8, bf16);

}  // namespace detail

namespace ops {

inline constexpr OpInfo neg = unary("neg", "tneg", "-x", words, words_bf16_a5);
inline constexpr OpInfo abs = unary("abs", "tabs", "|x|", floats, floats);
inline constexpr OpInfo exp = with_precision(unary("exp", "texp", "e to the x", floats, floats), "exp_precision");
inline constexpr OpInfo log = with_precision(unary("log", "tlog", "natural logarithm", floats, floats), "log_precision");
inline constexpr OpInfo sqrt = with_precision(unary("sqrt", "tsqrt", "square root", floats, floats), "sqrt_precision");
inline constexpr OpInfo rsqrt = with_precision(unary("rsqrt", "trsqrt", "1 / sqrt(x)", floats, floats, false), "rsqrt_precision", true);
inline constexpr OpInfo recip = with_precision(unary("recip", "trecip", "1 / x", floats, floats, false), "recip_precision");
inline constexpr OpInfo relu = unary("relu", "trelu", "max(x, 0)", dtypes(i32, f16, f32), dtypes(i32, f16, f32));
// No target has an instruction: legalize makes them of others.
inline constexpr OpInfo sin = without_instruction(unary("sin", {}, "sine of x in radians", dtypes(f32), dtypes(f32)));
inline constexpr OpInfo cos = without_instruction(unary("cos", {}, "cosine of x in radians", dtypes(f32), dtypes(f32)));

inline constexpr OpInfo lrelu =
    with_rule(scalar_form("lrelu", "tlrelu", "x where it is positive, elsewhere x * s; s is an f32", floats, floats), infer_slope);

inline constexpr OpInfo add = binary("add", "tadd", "a + b", rule::add_shapes_do_not_broadcast, words, words_bf16_a5);
inline constexpr OpInfo sub = binary("sub", "tsub", "a - b", rule::sub_shapes_do_not_broadcast, words, words_a5);
inline constexpr OpInfo mul = binary("mul", "tmul", "a * b", rule::mul_shapes_do_not_broadcast, words, words);
inline constexpr OpInfo div =
    dividing(with_precision(binary("div", "tdiv", "a / b", rule::div_shapes_do_not_broadcast, floats, words), "div_precision"));
inline constexpr OpInfo maximum =
    binary("maximum", "tmax", "the larger of a and b", rule::maximum_shapes_do_not_broadcast, words, words_a5);
inline constexpr OpInfo minimum =
    binary("minimum", "tmin", "the smaller of a and b", rule::minimum_shapes_do_not_broadcast, words, words_a5);

inline constexpr OpInfo adds = scalar_form("adds", "tadds", "x + s", signed_words, signed_a5);
inline constexpr OpInfo subs = scalar_form("subs", "tsubs", "x - s", signed_words, signed_a5);
inline constexpr OpInfo muls = scalar_form("muls", "tmuls", "x * s", signed_words, signed_a5);
inline constexpr OpInfo divs =
    dividing(scalar_form("divs", "tdivs", "x / s", signed_words, signed_words | dtypes(i8)));
inline constexpr OpInfo maximums = scalar_form("maximums", "tmaxs", "the larger of x and s", floats, floats);
inline constexpr OpInfo minimums = scalar_form("minimums", "tmins", "the smaller of x and s", floats, floats);

inline constexpr OpInfo fmod =
    dividing(binary_alike("fmod", "tfmod", "the remainder of a / b, with the sign of a", words, words, false));
inline constexpr OpInfo fmods =
    dividing(unlike(scalar_form("fmods", "tfmods", "the remainder of x / s, with the sign of x", signed_words, signed_words)));

inline constexpr OpInfo bit_and = bits_of_two("bit_and", "tand", "a & b");
inline constexpr OpInfo bit_or = bits_of_two("bit_or", "tor", "a | b");
inline constexpr OpInfo bit_xor = with_scratch(bits_of_two("bit_xor", "txor", "a ^ b"), ScratchRule::like_result);
inline constexpr OpInfo shl = binary_alike("shl", "tshl", "a << b; b from 0 to below the count of bits", all_bits, all_bits);
inline constexpr OpInfo shr =
    binary_alike("shr", "tshr", "a >> b, of signed types with copies of the sign; b from 0 to below the count of bits", all_bits, all_bits);
inline constexpr OpInfo bit_ands = bits_with_scalar("bit_ands", "tands", "x & s");
inline constexpr OpInfo bit_ors = bits_with_scalar("bit_ors", "tors", "x | s");
inline constexpr OpInfo bit_xors = with_scratch(bits_with_scalar("bit_xors", "txors", "x ^ s"), ScratchRule::like_result);
inline constexpr OpInfo shls =
    with_rule(scalar_form("shls", "tshls", "x << s; s from 0 to below the count of bits", all_bits, all_bits), infer_shift);
inline constexpr OpInfo shrs =
    with_rule(scalar_form("shrs", "tshrs", "x >> s, of signed types with copies of the sign; s from 0 to below the count of bits",
                          dtypes(i16, u16, i32, u32), all_bits), infer_shift);
inline constexpr OpInfo bit_not = unary("bit_not", "tnot", "~x", dtypes(i16, u16), all_bits);

inline constexpr OpInfo part_add = part("part_add", "tpartadd", "a + b; where only one of them is valid, that one");
inline constexpr OpInfo part_mul = part("part_mul", "tpartmul", "a * b; where only one of them is valid, that one");
inline constexpr OpInfo part_max = part("part_max", "tpartmax", "the larger of a and b; where only one of them is valid, that one");
inline constexpr OpInfo part_min = part("part_min", "tpartmin", "the smaller of a and b; where only one of them is valid, that one");

inline constexpr OpInfo cast = {
    .name = "cast", .summary = "x in another element type; attribute: rounding", .infer = infer_cast,
    .on_target = cast_on_target, .valid = ValidRule::first, .pto = "tcvt", .form = PtoForm::cast, .operand_spaces = {spaces(Vec), {}, {}},
    .row_major = true, .may_alias = false};

inline constexpr const OpInfo* elementwise_family[] = {&neg, &abs, &exp, &log, &sqrt, &rsqrt, &recip, &relu, &sin, &cos, &lrelu, &add, &sub,
    &mul, &div, &maximum, &minimum, &adds, &subs, &muls, &divs, &maximums, &minimums, &fmod, &fmods,
    &bit_and, &bit_or, &bit_xor, &bit_not, &shl, &shr, &bit_ands, &bit_ors, &bit_xors, &shls, &shrs,
    &part_add, &part_mul, &part_max, &part_min, &cast};

}  // namespace ops
}  // namespace tessera
