// Slower instructions that are exact to the last bits, where targets have them: `rsqrt(x, high_precision)`.
#pragma once

#include "select.hpp"

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
    requires detail::refused_call<ops::NAME, void, X>                                                                 \
  auto NAME(X&& x, high_precision_t)->decltype(detail::unwrap(detail::broken_call<ops::NAME, void, X>()));
TESSERA_PRECISE(exp)
TESSERA_PRECISE(log)
TESSERA_PRECISE(sqrt)
TESSERA_PRECISE(rsqrt)
TESSERA_PRECISE(recip)
#undef TESSERA_PRECISE

// The others have one instruction only. Declared only.
#define TESSERA_NOT_PRECISE(NAME) \
  template <recorded X>           \
  broken::operation_has_no_precise_form<&ops::NAME> NAME(X&&, high_precision_t);
TESSERA_NOT_PRECISE(abs)
TESSERA_NOT_PRECISE(relu)
TESSERA_NOT_PRECISE(neg)
TESSERA_NOT_PRECISE(sin)
TESSERA_NOT_PRECISE(cos)
#undef TESSERA_NOT_PRECISE

namespace detail {
/// x / y of floats; where the shapes differ, what is narrow is repeated first, and a number fills a tile.
template <class A, class B>
struct precise_quotient {
  static constexpr const OpInfo* op = &ops::div;
  static constexpr Type a = type_of_operand<A>(), b = type_of_operand<B>(), shape = a.is_shaped() ? a : b;
  static constexpr Verdict side(const Type& t, bool known) {
    if (t.is_shaped()) return lawful(t);
    if (!known) return breaks(rule::operand_is_not_a_number, arg_op);
    const OperandInfo operand[1] = {{t.is_scalar() ? t : scalar_type(shape.dtype)}};
    return judge(ops::full, {operand, 1, shape});
  }
  static constexpr BinaryPlan make() {
    if (!shape.is_shaped()) return {Plan::broken, op, nullptr, nullptr, breaks(rule::operand_is_not_shaped, arg_op), {}};
    const Verdict left = side(a, recorded<A> || literal_number<A>), right = side(b, recorded<B> || literal_number<B>);
    if (!left.lawful() || !right.lawful()) return {Plan::broken, op, nullptr, nullptr, left.lawful() ? right : left, {}};
    constexpr binary_forms forms = {&ops::div, nullptr, nullptr, nullptr, nullptr, false, false, false, false};
    BinaryPlan p = plan_shaped(forms, left.result, right.result);
    if (p.verdict.lawful() && !is_float(shape.dtype)) p.verdict = breaks(rule::high_precision_is_for_floats, arg_op, arg(shape.dtype));
    return p;
  }
  static constexpr BinaryPlan plan = make();
  static constexpr Verdict value = plan.verdict;
};
template <class P>
struct shape_of_quotient {
  static constexpr Type value = P::shape;
};
}  // namespace detail
template <class X, class Y>
  requires(recorded<X> || recorded<Y>) && (detail::precise_quotient<X, Y>::value.lawful())
[[nodiscard]] auto div(X&& x, Y&& y, high_precision_t, std::source_location at = std::source_location::current()) {
  using P = detail::precise_quotient<X, Y>;
  using V = detail::result_t<P>;
  using W = detail::value_type_t<detail::shape_of_quotient<P>>;
  const Attr precise = int_attr(AttrKey::high_precision, 1);
  auto kx = detail::shaped_child<W>(at, TESSERA_FORWARD(x));
  auto ky = detail::shaped_child<W>(at, TESSERA_FORWARD(y));
  if constexpr (P::plan.plan == detail::Plan::plain) return expression<V, ops::div, 0, decltype(kx), decltype(ky)>(at, precise, std::move(kx), std::move(ky));
  else return detail::make_repeated<P, V>(at, std::move(kx), std::move(ky), precise);
}
template <class X, class Y>
  requires(recorded<X> || recorded<Y>) && (!detail::precise_quotient<X, Y>::value.lawful())
auto div(X&& x, Y&& y, high_precision_t) -> decltype(detail::unwrap(detail::broken_type<detail::precise_quotient<X, Y>>()));

}  // namespace tessera
