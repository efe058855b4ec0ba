// Reductions over the last axis (rows) and over the second-last axis (columns); the reduced dim stays, as 1.
#pragma once

#include "descriptor.hpp"

namespace tessera {
namespace detail {

constexpr Verdict infer_row_reduce(const OpInfo&, const InferInput& in) {
  const Type& x = in.type(0);
  if (!x.is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  return lawful(with_dim(x, x.rank - 1, 1));
}
constexpr Verdict infer_col_reduce(const OpInfo&, const InferInput& in) {
  const Type& x = in.type(0);
  if (!x.is_shaped()) return breaks(rule::operand_is_not_shaped, arg_op);
  if (x.rank < 2) return breaks(rule::rank_too_small, arg_op, arg(std::int64_t{x.rank}), arg(std::int64_t{2}));
  return lawful(with_dim(x, x.rank - 2, 1));
}
constexpr OpInfo row_reduce(std::string_view name, std::string_view pto, std::string_view summary) {
  return {.name = name, .summary = summary, .infer = infer_row_reduce, .valid = ValidRule::row_reduce,
          .dtypes = {words, words}, .pto = pto, .operand_spaces = {spaces(Vec), spaces(Vec), {}},
          .scratch = ScratchRule::wide_rows, .may_alias = false};
}
constexpr OpInfo col_reduce(std::string_view name, std::string_view pto, std::string_view summary,
                            DTypeSet a5 = words_bf16_a5) {
  return {.name = name, .summary = summary, .infer = infer_col_reduce, .valid = ValidRule::col_reduce,
          .dtypes = {words, a5}, .pto = pto, .operand_spaces = {spaces(Vec), {}, {}}, .may_alias = false};
}

// The results are positions along the reduced axis.
constexpr Verdict infer_row_arg(const OpInfo& op, const InferInput& in) {
  const Verdict v = infer_row_reduce(op, in);
  return v.lawful() ? lawful(with_dtype(v.result, i32)) : v;
}
constexpr Verdict infer_col_arg(const OpInfo& op, const InferInput& in) {
  const Verdict v = infer_col_reduce(op, in);
  return v.lawful() ? lawful(with_dtype(v.result, i32)) : v;
}
// The instruction makes positions of f16 numbers.
constexpr Verdict col_arg_on_target(const InferInput& in, const Type&, Arch arch) {
  const Type& x = in.type(0);
  if (arch == Arch::a3 && x.dtype == f16 && x.rank >= 2 && x.last(1) > 2048) return breaks(rule::arg_reduction_has_too_many_rows, arg_op, arg(x.last(1)));
  return lawful();
}
constexpr OpInfo row_arg(std::string_view name, std::string_view pto, std::string_view summary) {
  return {.name = name, .summary = summary, .infer = infer_row_arg, .valid = ValidRule::row_reduce, .dtypes = {signed_words, words},
          .pto = pto, .form = PtoForm::arg_reduce, .operand_spaces = {spaces(Vec), spaces(Vec), {}}, .scratch = ScratchRule::two_blocks,
          .may_alias = false};
}
constexpr OpInfo col_arg(std::string_view name, std::string_view pto, std::string_view summary) {
  return {.name = name, .summary = summary, .infer = infer_col_arg, .on_target = col_arg_on_target, .valid = ValidRule::col_reduce,
          .dtypes = {floats, words_a5}, .since_0_60 = {{}, all_bits}, .pto = pto, .form = PtoForm::arg_reduce, .operand_spaces = {spaces(Vec), spaces(Vec), {}},
          .scratch = ScratchRule::two_blocks, .may_alias = false};
}

}  // namespace detail

namespace ops {

inline constexpr OpInfo row_sum = row_reduce("row_sum", "trowsum", "[..,M,N] -> [..,M,1], the sum of each row");
inline constexpr OpInfo row_max = row_reduce("row_max", "trowmax", "[..,M,N] -> [..,M,1], the largest of each row");
inline constexpr OpInfo row_min = row_reduce("row_min", "trowmin", "[..,M,N] -> [..,M,1], the smallest of each row");
inline constexpr OpInfo row_prod = row_reduce("row_prod", "trowprod", "[..,M,N] -> [..,M,1], the product of each row");
inline constexpr OpInfo col_sum = col_reduce("col_sum", "tcolsum", "[..,M,N] -> [..,1,N], the sum of each column");
inline constexpr OpInfo col_max = col_reduce("col_max", "tcolmax", "[..,M,N] -> [..,1,N], the largest of each column");
inline constexpr OpInfo col_min = col_reduce("col_min", "tcolmin", "[..,M,N] -> [..,1,N], the smallest of each column");
inline constexpr OpInfo col_prod =
    col_reduce("col_prod", "tcolprod", "[..,M,N] -> [..,1,N], the product of each column", words | dtypes(bf16));
inline constexpr OpInfo row_argmax = row_arg("row_argmax", "trowargmax", "[..,M,N] -> [..,M,1] of i32, where the largest of each row stands");
inline constexpr OpInfo row_argmin = row_arg("row_argmin", "trowargmin", "[..,M,N] -> [..,M,1] of i32, where the smallest of each row stands");
inline constexpr OpInfo col_argmax = col_arg("col_argmax", "tcolargmax", "[..,M,N] -> [..,1,N] of i32, where the largest of each column stands");
inline constexpr OpInfo col_argmin = col_arg("col_argmin", "tcolargmin", "[..,M,N] -> [..,1,N] of i32, where the smallest of each column stands");

inline constexpr const OpInfo* reduce_family[] = {&row_sum,    &row_max,    &row_min,    &row_prod,   &col_sum,    &col_max,
                                                  &col_min,    &col_prod,   &row_argmax, &row_argmin, &col_argmax, &col_argmin};

}  // namespace ops
}  // namespace tessera
