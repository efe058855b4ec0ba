// Random numbers from a key and a counter: the same ones in every run, and others for every key.
#pragma once

#include "memory.hpp"

namespace tessera {
namespace detail {

inline constexpr int random_key_words = 2, random_words = 6;  // the counter's four follow the key's
[[nodiscard]] constexpr bool is_random_word(const Type& t) { return t.is_scalar() && (t.dtype == i32 || t.dtype == u32); }

/// Operands: two words of the key, four of the counter, the lowest one first.
constexpr Verdict infer_random(const OpInfo& op, const InferInput& in) {
  const Type& r = in.requested;
  if (in.count != random_words) return breaks(rule::random_words_are_not_six, arg(std::int64_t{in.count}));
  for (int i = 0; i < in.count; ++i)
    if (!is_random_word(in.type(i))) return breaks(rule::random_word_is_not_i32, arg(in.type(i).dtype));
  const std::int64_t rounds = in.attr(AttrKey::rounds, 10);
  if (rounds != 7 && rounds != 10) return breaks(rule::random_rounds, arg(rounds));
  if (r.rank != 2 || r.last() == 1) return breaks(rule::random_is_not_rows, arg(std::int64_t{r.rank}), arg_dim(r.last()));
  return check_made(op, in);
}

}  // namespace detail

namespace ops {

inline constexpr OpInfo random = {
    .name = "random", .summary = "[M,N] of random bits; operands: two words of a key, four of a counter; attribute: rounds", .infer = infer_random,
    .dtypes = {{}, long_bits}, .pto = "trandom", .form = PtoForm::random, .row_major = true};

inline constexpr const OpInfo* random_family[] = {&random};

}  // namespace ops
}  // namespace tessera
