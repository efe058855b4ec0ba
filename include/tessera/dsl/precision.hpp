// Slower instructions that are exact to the last bits, where targets have them: `rsqrt(x, high_precision)`.
#pragma once

#include "functions.hpp"

namespace tessera {

/// As the last argument of div, exp, log, sqrt, rsqrt and recip: the exact instruction, not the fast one.
struct high_precision_t {};
inline constexpr high_precision_t high_precision{};

#define TESSERA_PRECISE(NAME)                                                                                         \
  template <class X>                                                                                                  \
    requires detail::lawful_call<ops::NAME, void, X>                                                                  \
  [[nodiscard]] auto NAME(X&& x, high_precision_t, std::source_location at = std::source_location::current()) {       \
    return detail::make_call_with<ops::NAME, void>(at, int_attr(AttrKey::high_precision, 1), TESSERA_FORWARD(x));     \
  }                                                                                                                   \
  template <class X>                                                                                                  \
    requires detail::unlawful_call<ops::NAME, void, X>                                                                \
  auto NAME(X&& x, high_precision_t)->decltype(detail::unwrap(detail::broken_type<detail::verdict_on<ops::NAME, void, X>>()));
TESSERA_PRECISE(exp)
TESSERA_PRECISE(log)
TESSERA_PRECISE(sqrt)
TESSERA_PRECISE(rsqrt)
TESSERA_PRECISE(recip)
#undef TESSERA_PRECISE

namespace detail {
/// x / y of floats; where the shapes differ, what is narrow is repeated first.
template <class A, class B>
struct precise_quotient {
  static constexpr BinaryPlan make() {
    constexpr Type a = type_of<value_of<A>>, b = type_of<value_of<B>>;
    constexpr binary_forms forms = {&ops::div, nullptr, nullptr, nullptr, nullptr, false, false, false, false};
    BinaryPlan p = plan_shaped(forms, a, b);
    if (p.verdict.lawful() && !is_float(a.dtype)) p.verdict = breaks(rule::high_precision_is_for_floats, arg_op, arg(a.dtype));
    return p;
  }
  static constexpr BinaryPlan plan = make();
  static constexpr Verdict value = plan.verdict;
  static constexpr const OpInfo* op = &ops::div;
};
}  // namespace detail
template <class X, class Y>
  requires recorded<X> && recorded<Y> && (detail::precise_quotient<X, Y>::value.lawful())
[[nodiscard]] auto div(X&& x, Y&& y, high_precision_t, std::source_location at = std::source_location::current()) {
  using P = detail::precise_quotient<X, Y>;
  using V = detail::result_t<P>;
  const Attr precise = int_attr(AttrKey::high_precision, 1);
  if constexpr (P::plan.plan == detail::Plan::plain) return detail::make_call_with<ops::div, void>(at, precise, TESSERA_FORWARD(x), TESSERA_FORWARD(y));
  else return detail::make_repeated<P, V>(at, detail::make_child(at, TESSERA_FORWARD(x)), detail::make_child(at, TESSERA_FORWARD(y)), precise);
}
template <class X, class Y>
  requires recorded<X> && recorded<Y> && (!detail::precise_quotient<X, Y>::value.lawful())
auto div(X&& x, Y&& y, high_precision_t) -> decltype(detail::unwrap(detail::broken_type<detail::precise_quotient<X, Y>>()));

}  // namespace tessera
