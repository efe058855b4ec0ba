// Operators of recorded values. For each one the compiler picks the instruction (binary_plans.hpp). One template serves all types:
// an operator takes an operand as its base class, found by deduction, and the constructor that makes that base from the operand
// has the user's line as a default argument.
#pragma once

#include "binary_plans.hpp"

namespace tessera {
namespace detail {

// --- scalars only: remainder, logic; and comparisons, also of tensors and tiles ---
template <const OpInfo& Op>
inline constexpr bool compares_shaped = false;
template <>
inline constexpr bool compares_shaped<ops::scalar_compare> = true;

/// The comparison of a tensor or tile with another one or with a scalar; the result is a mask.
constexpr Verdict judge_comparison(const Type& a, const Type& b) {
  if (a.is_shaped() && b.is_shaped()) return plan_shaped(forms_compare, a, b).verdict;
  return a.is_shaped() ? judge_pair(ops::compares, a, b) : judge_pair(ops::compares, b, a);
}
/// What `a < b` is as `b > a`.
constexpr int mirrored(int compare) {
  constexpr Compare swapped[] = {Compare::eq, Compare::ne, Compare::gt, Compare::ge, Compare::lt, Compare::le};
  return static_cast<int>(swapped[compare]);
}
template <class VA, class VB>
struct comparison_plan {
  static constexpr BinaryPlan plan = plan_shaped(forms_compare, type_of<VA>, type_of<VB>);
  static constexpr Verdict value = plan.verdict;
  static constexpr const OpInfo* op = plan.op;
};
template <class KA, class KB>
TESSERA_INLINE auto make_comparison(const std::source_location& at, KA&& ka, KB&& kb, int compare) {
  constexpr Type a = type_of<typename KA::value_type>, b = type_of<typename KB::value_type>;
  constexpr const OpInfo* op = a.is_shaped() && b.is_shaped() ? &ops::compare : &ops::compares;
  if constexpr (a.is_shaped() && b.is_shaped() && !a.same_shape(b)) {
    using P = comparison_plan<typename KA::value_type, typename KB::value_type>;
    return make_repeated<P, value_type_t<result_of<P>>>(at, static_cast<KA&&>(ka), static_cast<KB&&>(kb), int_attr(AttrKey::compare, compare));
  } else if constexpr (a.is_shaped()) {
    using V = value_type_t<result_of<verdict_of<*op, 0, void, typename KA::value_type, typename KB::value_type>>>;
    return expression<V, *op, 0, KA, KB>(at, int_attr(AttrKey::compare, compare), static_cast<KA&&>(ka), static_cast<KB&&>(kb));
  } else {
    return make_comparison(at, static_cast<KB&&>(kb), static_cast<KA&&>(ka), mirrored(compare));
  }
}
template <const OpInfo& Op, class KA, class KB>
TESSERA_INLINE auto finish_scalar(const std::source_location& at, KA&& ka, KB&& kb, int compare) {
  using V = value_type_t<result_of<verdict_of<Op, 0, void, typename KA::value_type, typename KB::value_type>>>;
  using E = expression<V, Op, 0, KA, KB>;
  if (compare < 0) return E(at, static_cast<KA&&>(ka), static_cast<KB&&>(kb));
  return E(at, int_attr(AttrKey::compare, compare), static_cast<KA&&>(ka), static_cast<KB&&>(kb));
}
template <const OpInfo& Op, class KA, class KB>
TESSERA_INLINE auto make_scalar(const std::source_location& at, KA&& ka, KB&& kb, int compare) {
  if constexpr (type_of<typename KA::value_type>.is_shaped() || type_of<typename KB::value_type>.is_shaped())
    return make_comparison(at, static_cast<KA&&>(ka), static_cast<KB&&>(kb), compare);
  else if constexpr (type_of<typename KA::value_type>.dtype == type_of<typename KB::value_type>.dtype)
    return finish_scalar<Op>(at, static_cast<KA&&>(ka), static_cast<KB&&>(kb), compare);
  else return finish_scalar<Op>(at, to_index(at, static_cast<KA&&>(ka)), to_index(at, static_cast<KB&&>(kb)), compare);
}
/// A child, or a number in the element type of the other operand.
template <class Other, class X>
TESSERA_INLINE auto scalar_operand_child(const std::source_location& at, X&& x) {
  if constexpr (recorded<X>) return make_child(at, TESSERA_FORWARD(x));
  else return make_literal<scalar_like_t<Other>>(x);
}
/// The verdict on a scalar operation; an integer Scalar and an Index meet as Index.
template <const OpInfo& Op, class A, class B>
struct scalar_plan {
  template <class X>
  static constexpr bool has_shape() {
    if constexpr (recorded<X>) return type_of<value_of<X>>.is_shaped();
    else return false;
  }
  static constexpr const OpInfo* op = compares_shaped<Op> && (has_shape<A>() || has_shape<B>()) ? &ops::compare : &Op;
  static constexpr Verdict with_literal(const Type& t, bool floating) {
    if (is_mask(t)) return breaks(rule::mask_is_for_select_only, arg_op);
    if (!t.is_scalar() && !compares_shaped<Op>) return breaks(rule::operand_is_not_a_number, arg_op);
    if (floating && !is_float(t.dtype)) return breaks(rule::floating_literal_with_integers, arg_op, arg(t.dtype));
    return t.is_scalar() ? judge_pair(Op, t, t) : judge_comparison(t, scalar_type(t.dtype));
  }
  static constexpr Verdict make() {
    if constexpr (!recorded<A> && !recorded<B>) {
      return lawful();  // clang asks before it looks at the constraints
    } else if constexpr (recorded<A> && recorded<B>) {
      constexpr Type a = type_of<value_of<A>>, b = type_of<value_of<B>>;
      if (is_mask(a) || is_mask(b)) return breaks(rule::mask_is_for_select_only, arg_op);
      if (compares_shaped<Op> && (a.is_shaped() || b.is_shaped())) return judge_comparison(a, b);
      const bool mixed = a.is_scalar() && b.is_scalar() && (a.is_index() ? is_integer(b.dtype) : b.is_index() && is_integer(a.dtype));
      return mixed ? judge_pair(Op, index_scalar, index_scalar) : judge_pair(Op, a, b);
    } else if constexpr (recorded<A> && literal_number<B>) {
      return with_literal(type_of<value_of<A>>, is_floating_number<B>());
    } else if constexpr (literal_number<A>) {
      return with_literal(type_of<value_of<B>>, is_floating_number<A>());
    } else {
      return breaks(rule::value_is_not_recorded, arg_op);
    }
  }
  static constexpr Verdict value = make();
};
template <const OpInfo& Op, class A, class B>
concept scalar_pair = (recorded<A> || recorded<B>) && scalar_plan<Op, A, B>::value.lawful();
template <const OpInfo& Op, class A, class B>
concept unlawful_scalar_pair = (recorded<A> || recorded<B>) && !scalar_plan<Op, A, B>::value.lawful();

}  // namespace detail

namespace detail {
template <class V, const OpInfo& OnScalars, const OpInfo& OnShaped>
struct prefix_plan {
  static constexpr const OpInfo* op = type_of<V>.is_scalar() ? &OnScalars : &OnShaped;
  static constexpr Verdict make() {
    const OperandInfo operand[1] = {{type_of<V>}};
    return judge(*op, {operand, 1});
  }
  static constexpr Verdict value = make();
};
template <class V>
using negation = prefix_plan<V, ops::scalar_neg, ops::neg>;
/// ~x; of a scalar it is x ^ -1.
template <class V>
struct complement {
  static constexpr const OpInfo* op = type_of<V>.is_scalar() ? &ops::scalar_xor : &ops::bit_not;
  static constexpr Verdict make() {
    constexpr Type t = type_of<V>;
    if (t.is_scalar() && (t.dtype == boolean || t.dtype == u64)) return breaks(rule::dtype_not_supported, arg_op, arg(t.dtype));
    const OperandInfo operands[2] = {{t}, {t}};
    return judge(*op, {operands, t.is_scalar() ? 2 : 1});
  }
  static constexpr Verdict value = make();
};
constexpr std::int64_t all_ones(DType d) { return info(d).kind == DTypeKind::unsigned_integer ? (std::int64_t{1} << info(d).bits) - 1 : -1; }
template <class V, class K>
TESSERA_INLINE auto make_complement(const std::source_location& at, K&& k) {
  if constexpr (type_of<V>.is_scalar()) return node<ops::scalar_xor, V>(at, static_cast<K&&>(k), make_literal<scalar_like_t<V>>(all_ones(type_of<V>.dtype)));
  else return node<ops::bit_not, V>(at, static_cast<K&&>(k));
}
}  // namespace detail

// Each operator comes for a named and an unnamed operand: binding an rvalue node to its unnamed_operand is the better
// conversion, being nearer to the node's class than the named_operand. Namespace scope, and not friends of each value type and
// node: compilers compare every new friend with all before it.
#define TESSERA_BINARY(SIGN, FORMS)                                                                           \
  template <class V, class R>                                                                                 \
    requires detail::lawful_binary<FORMS, const V&, R> || detail::lawful_with_literal<FORMS, V, R>            \
  auto operator SIGN(detail::named_operand<V> l, R&& r) {                                                     \
    return detail::make_with_right<FORMS>(l.where, l.get(), TESSERA_FORWARD(r));                                 \
  }                                                                                                           \
  template <class D, class V, class R>                                                                        \
    requires detail::lawful_binary<FORMS, D, R> || detail::lawful_with_literal<FORMS, D, R>                   \
  auto operator SIGN(detail::unnamed_operand<D, V>&& l, R&& r) {                                              \
    return detail::make_with_right<FORMS>(l.where, l.get(), TESSERA_FORWARD(r));                                 \
  }                                                                                                           \
  template <class L, class V>                                                                                 \
    requires detail::lawful_literal_with<FORMS, L, V>                                                         \
  auto operator SIGN(const L& l, detail::named_operand<V> r) {                                                \
    return detail::make_literal_with<FORMS>(r.where, l, r.get());                                                \
  }                                                                                                           \
  template <class L, class D, class V>                                                                        \
    requires detail::lawful_literal_with<FORMS, L, D>                                                         \
  auto operator SIGN(const L& l, detail::unnamed_operand<D, V>&& r) {                                         \
    return detail::make_literal_with<FORMS>(r.where, l, r.get());                                                \
  }
TESSERA_BINARY(+, detail::forms_add)
TESSERA_BINARY(-, detail::forms_sub)
TESSERA_BINARY(*, detail::forms_mul)
TESSERA_BINARY(/, detail::forms_div)
TESSERA_BINARY(&, detail::forms_and)
TESSERA_BINARY(|, detail::forms_or)
TESSERA_BINARY(^, detail::forms_xor)
TESSERA_BINARY(<<, detail::forms_shl)
TESSERA_BINARY(>>, detail::forms_shr)
#undef TESSERA_BINARY

#define TESSERA_SCALAR_BINARY(SIGN, OP, COMPARE)                                                              \
  template <class V, class R>                                                                                 \
    requires detail::scalar_pair<OP, const V&, R>                                                             \
  auto operator SIGN(detail::named_operand<V> l, R&& r) {                                                     \
    return detail::make_scalar<OP>(l.where, l.get(), detail::scalar_operand_child<V>(l.where, TESSERA_FORWARD(r)), COMPARE); \
  }                                                                                                           \
  template <class D, class V, class R>                                                                        \
    requires detail::scalar_pair<OP, D, R>                                                                    \
  auto operator SIGN(detail::unnamed_operand<D, V>&& l, R&& r) {                                              \
    return detail::make_scalar<OP>(l.where, l.get(), detail::scalar_operand_child<V>(l.where, TESSERA_FORWARD(r)), COMPARE); \
  }                                                                                                           \
  template <class L, class V>                                                                                 \
    requires(!recorded<L>) && detail::scalar_pair<OP, L, const V&>                                            \
  auto operator SIGN(const L& l, detail::named_operand<V> r) {                                                \
    return detail::make_scalar<OP>(r.where, detail::make_literal<detail::scalar_like_t<V>>(l), r.get(), COMPARE); \
  }                                                                                                           \
  template <class L, class D, class V>                                                                        \
    requires(!recorded<L>) && detail::scalar_pair<OP, L, D>                                                   \
  auto operator SIGN(const L& l, detail::unnamed_operand<D, V>&& r) {                                         \
    return detail::make_scalar<OP>(r.where, detail::make_literal<detail::scalar_like_t<V>>(l), r.get(), COMPARE); \
  }
TESSERA_SCALAR_BINARY(%, ops::scalar_rem, -1)
TESSERA_SCALAR_BINARY(<, ops::scalar_compare, static_cast<int>(Compare::lt))
TESSERA_SCALAR_BINARY(<=, ops::scalar_compare, static_cast<int>(Compare::le))
TESSERA_SCALAR_BINARY(>, ops::scalar_compare, static_cast<int>(Compare::gt))
TESSERA_SCALAR_BINARY(>=, ops::scalar_compare, static_cast<int>(Compare::ge))
#undef TESSERA_SCALAR_BINARY

template <class V>
  requires(detail::negation<V>::value.lawful())
auto operator-(detail::named_operand<V> x) {
  return detail::node<*detail::negation<V>::op, V>(x.where, x.get());
}
template <class D, class V>
  requires(detail::negation<V>::value.lawful())
auto operator-(detail::unnamed_operand<D, V>&& x) {
  return detail::node<*detail::negation<V>::op, V>(x.where, x.get());
}
template <recorded X>
  requires(!detail::negation<value_of<X>>::value.lawful())
auto operator-(const X&) -> decltype(detail::unwrap(detail::broken_type<detail::negation<value_of<X>>>()));
template <class V>
  requires(detail::complement<V>::value.lawful())
[[nodiscard]] auto operator~(detail::named_operand<V> x) {
  return detail::make_complement<V>(x.where, x.get());
}
template <class D, class V>
  requires(detail::complement<V>::value.lawful())
[[nodiscard]] auto operator~(detail::unnamed_operand<D, V>&& x) {
  return detail::make_complement<V>(x.where, x.get());
}
template <recorded X>
  requires(!detail::complement<value_of<X>>::value.lawful())
auto operator~(const X&) -> decltype(detail::unwrap(detail::broken_type<detail::complement<value_of<X>>>()));
template <class V>
  requires(type_of<V>.dtype == boolean && type_of<V>.is_scalar())
[[nodiscard]] auto operator!(detail::named_operand<V> x) {
  return detail::node<ops::scalar_not, V>(x.where, x.get());
}
template <class D, class V>
  requires(type_of<V>.dtype == boolean && type_of<V>.is_scalar())
[[nodiscard]] auto operator!(detail::unnamed_operand<D, V>&& x) {
  return detail::node<ops::scalar_not, V>(x.where, x.get());
}
template <recorded X>
  requires(is_mask(type_of<value_of<X>>))
broken::mask_is_for_select_only<&ops::scalar_not> operator!(const X&);

// What an operator cannot do, by name. Declared only.
#define TESSERA_BROKEN_BINARY(SIGN, FORMS)        \
  template <class A, class B>                     \
    requires detail::unlawful_binary<FORMS, A, B> \
  auto operator SIGN(A&&, B&&)->decltype(detail::unwrap(detail::broken_binary<FORMS, A, B>()));
TESSERA_BROKEN_BINARY(+, detail::forms_add)
TESSERA_BROKEN_BINARY(-, detail::forms_sub)
TESSERA_BROKEN_BINARY(*, detail::forms_mul)
TESSERA_BROKEN_BINARY(/, detail::forms_div)
TESSERA_BROKEN_BINARY(&, detail::forms_and)
TESSERA_BROKEN_BINARY(|, detail::forms_or)
TESSERA_BROKEN_BINARY(^, detail::forms_xor)
#undef TESSERA_BROKEN_BINARY
// Not with a stream or whatever else has its own `<<`.
#define TESSERA_BROKEN_SHIFT(SIGN, FORMS)                                                                \
  template <class A, class B>                                                                            \
    requires detail::unlawful_binary<FORMS, A, B> && (recorded<A> || literal_number<A>) && (recorded<B> || literal_number<B>) \
  auto operator SIGN(A&&, B&&)->decltype(detail::unwrap(detail::broken_binary<FORMS, A, B>()));
TESSERA_BROKEN_SHIFT(<<, detail::forms_shl)
TESSERA_BROKEN_SHIFT(>>, detail::forms_shr)
#undef TESSERA_BROKEN_SHIFT

namespace detail {
template <class A, class B>
TESSERA_INLINE auto compare_operands(const std::source_location& at, A&& a, B&& b, Compare compare) {
  if constexpr (!recorded<A>) {
    return make_scalar<ops::scalar_compare>(at, scalar_operand_child<value_of<B>>(at, a), make_child(at, TESSERA_FORWARD(b)), static_cast<int>(compare));
  } else {
    child_t<A> ka = make_child(at, TESSERA_FORWARD(a));
    return make_scalar<ops::scalar_compare>(at, TESSERA_FORWARD(ka), scalar_operand_child<value_of<A>>(at, TESSERA_FORWARD(b)), static_cast<int>(compare));
  }
}
}  // namespace detail

// `==` and `!=` take both operands alike, or the reversed candidates of C++20 would make them ambiguous. They take the line of
// the if_ or while_ around them.
template <class A, class B>
  requires detail::scalar_pair<ops::scalar_compare, A, B>
[[nodiscard]] auto operator==(A&& a, B&& b) {
  return detail::compare_operands(std::source_location(), TESSERA_FORWARD(a), TESSERA_FORWARD(b), Compare::eq);
}
template <class A, class B>
  requires detail::scalar_pair<ops::scalar_compare, A, B>
[[nodiscard]] auto operator!=(A&& a, B&& b) {
  return detail::compare_operands(std::source_location(), TESSERA_FORWARD(a), TESSERA_FORWARD(b), Compare::ne);
}

#define TESSERA_BROKEN_SCALAR_BINARY(SIGN, OP)      \
  template <class A, class B>                       \
    requires detail::unlawful_scalar_pair<OP, A, B> \
  auto operator SIGN(A&&, B&&)->decltype(detail::unwrap(detail::broken_type<detail::scalar_plan<OP, A, B>>()));
TESSERA_BROKEN_SCALAR_BINARY(%, ops::scalar_rem)
TESSERA_BROKEN_SCALAR_BINARY(<, ops::scalar_compare)
TESSERA_BROKEN_SCALAR_BINARY(<=, ops::scalar_compare)
TESSERA_BROKEN_SCALAR_BINARY(>, ops::scalar_compare)
TESSERA_BROKEN_SCALAR_BINARY(>=, ops::scalar_compare)
TESSERA_BROKEN_SCALAR_BINARY(==, ops::scalar_compare)
TESSERA_BROKEN_SCALAR_BINARY(!=, ops::scalar_compare)
#undef TESSERA_BROKEN_SCALAR_BINARY

template <class A, class B>
  requires recorded<A> || recorded<B>
broken::logical_operator_on_recorded_values<> operator&&(const A&, const B&);
template <class A, class B>
  requires recorded<A> || recorded<B>
broken::logical_operator_on_recorded_values<> operator||(const A&, const B&);

}  // namespace tessera
