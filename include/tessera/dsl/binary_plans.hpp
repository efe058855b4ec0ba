// How a binary operation on two recorded values, or on one and a number, is done: in a scalar form, with a column or a row, with
// an operand that is repeated or filled first, or as an accumulation; and the node that it makes.
#pragma once

#include "expression.hpp"
#include "../ops/forms.hpp"

namespace tessera {
namespace detail {

/// How a binary operation on two value types is done.
enum class Plan : unsigned char {
  plain, plain_scalars, scalar_right, scalar_left_swapped, scalar_left_expanded,
  narrow_right, narrow_left_swapped, left_repeated, right_repeated, right_repeated_swapped, both_repeated,
  accumulate_right, accumulate_left, broken
};

struct BinaryPlan {
  Plan plan = Plan::broken;
  const OpInfo* op = nullptr;      ///< of the root
  const OpInfo* left = nullptr;   ///< repeats the left operand, or fills a wide one from it
  const OpInfo* right = nullptr;  ///< repeats the right operand
  Verdict verdict = {};
  Type wide = {};                  ///< the broadcast shape
};

constexpr Verdict judge_pair(const OpInfo& op, const Type& a, const Type& b, const Type& requested = {}) {
  const OperandInfo operands[2] = {{a}, {b}};
  return judge(op, {operands, 2, requested, nullptr, 0});
}

// `s op x` where no instruction has the scalar on the left: the scalar fills a wide operand.
constexpr Verdict judge_expanded(const binary_forms& f, const Type& s, const Type& x) {
  const OperandInfo operand[1] = {{s}};
  const Verdict fill = judge(ops::full, {operand, 1, x});
  return fill.lawful() ? judge_pair(*f.plain, x, x) : fill;
}

/// What repeats an operand to a shape.
constexpr const OpInfo* repetition(const Type& x, const Type& wide) {
  if (x.same_shape(wide)) return &ops::broadcast_to;
  return is_column_of(x, wide) ? &ops::row_expand : is_row_of(x, wide) ? &ops::col_expand : &ops::broadcast_to;
}
constexpr Verdict judge_repeated(const OpInfo& repeat, const Type& x, const Type& wide) {
  const OperandInfo operand[1] = {{x}};
  return judge(repeat, {operand, 1, wide});
}

/// An operation on operands of which one or both are repeated first.
constexpr BinaryPlan plan_repeated(Plan p, const OpInfo* op, const Type& a, const Type& b, const Type& wide) {
  const bool left = p == Plan::left_repeated || p == Plan::both_repeated, right = p != Plan::left_repeated;
  BinaryPlan plan{p, op, left ? repetition(a, wide) : nullptr, right ? repetition(b, wide) : nullptr, {}, wide};
  const Type &x = left ? wide : a, &y = right ? wide : b;
  plan.verdict = p == Plan::right_repeated_swapped ? judge_pair(*op, y, x) : judge_pair(*op, x, y);
  if (left && plan.verdict.lawful())
    if (const Verdict v = judge_repeated(*plan.left, a, wide); !v.lawful()) plan.verdict = v;
  if (right && plan.verdict.lawful())
    if (const Verdict v = judge_repeated(*plan.right, b, wide); !v.lawful()) plan.verdict = v;
  return plan;
}
/// In the form for equal shapes.
constexpr BinaryPlan plan_all_repeated(const binary_forms& f, const Type& a, const Type& b, const Type& wide) {
  const Plan p = wide.same_shape(a) ? Plan::right_repeated : wide.same_shape(b) ? Plan::left_repeated : Plan::both_repeated;
  return plan_repeated(p, f.plain, a, b, wide);
}
/// In a form with a column or a row where there is one.
constexpr BinaryPlan plan_with_form(const binary_forms& f, const Type& a, const Type& b, const Type& wide) {
  const bool a_column = is_column_of(a, wide), b_column = is_column_of(b, wide);
  const bool a_narrow = (a_column || is_row_of(a, wide)) && !a.same_shape(wide), b_narrow = (b_column || is_row_of(b, wide)) && !b.same_shape(wide);
  const OpInfo* const with_a = a_column ? f.column : f.row;
  const OpInfo* const with_b = b_column ? f.column : f.row;
  if (b_narrow) {
    if (wide.same_shape(a)) return {Plan::narrow_right, with_b, nullptr, nullptr, judge_pair(*with_b, a, b), wide};
    return plan_repeated(Plan::left_repeated, with_b, a, b, wide);
  }
  if (f.commutes && a_narrow) {
    if (wide.same_shape(b)) return {Plan::narrow_left_swapped, with_a, nullptr, nullptr, judge_pair(*with_a, b, a), wide};
    return plan_repeated(Plan::right_repeated_swapped, with_a, a, b, wide);
  }
  return plan_all_repeated(f, a, b, wide);
}
constexpr BinaryPlan plan_shaped(const binary_forms& f, const Type& a, const Type& b) {
  const Type wide = a.kind != b.kind || a.dtype != b.dtype ? Type{} : broadcast_shape(a, b);
  if (wide.rank == 0 || a.same_shape(b)) return {Plan::plain, f.plain, nullptr, nullptr, judge_pair(*f.plain, a, b), a};
  if (!f.broadcasts) return plan_all_repeated(f, a, b, wide);
  // A form may lack an element type that the operation on equal shapes has.
  const BinaryPlan with_form = plan_with_form(f, a, b, wide);
  if (with_form.verdict.lawful()) return with_form;
  const BinaryPlan repeated = plan_all_repeated(f, a, b, wide);
  return repeated.verdict.lawful() ? repeated : with_form;
}

/// Two recorded values of types a and b. Left or right is a matrix product written in place: it may accumulate.
constexpr BinaryPlan plan_binary(const binary_forms& f, const Type& a, const Type& b, bool a_is_product, bool b_is_product) {
  if (a.is_scalar() && b.is_scalar()) {
    if (!f.for_scalars) return {Plan::broken, f.plain, nullptr, nullptr, breaks(rule::operand_is_not_shaped, arg_op), {}};
    // An integer Scalar is accepted wherever an Index is: it is converted.
    const bool mixed = a.dtype != b.dtype && (a.is_index() ? is_integer(b.dtype) : b.is_index() && is_integer(a.dtype));
    const Type common = mixed ? index_scalar : a;
    return {Plan::plain_scalars, f.on_scalars, nullptr, nullptr, judge_pair(*f.on_scalars, common, mixed ? index_scalar : b), common};
  }
  if (a.is_shaped() && b.is_scalar()) return {Plan::scalar_right, f.scalar, nullptr, nullptr, judge_pair(*f.scalar, a, b), a};
  if (a.is_scalar() && b.is_shaped()) {
    if (f.commutes) return {Plan::scalar_left_swapped, f.scalar, nullptr, nullptr, judge_pair(*f.scalar, b, a), b};
    return {Plan::scalar_left_expanded, f.plain, &ops::full, nullptr, judge_expanded(f, a, b), b};
  }
  if (f.accumulates && a.same_shape(b) && a.dtype == b.dtype && a.kind == b.kind) {
    if (b_is_product && (a.space == Acc || a_is_product)) return {Plan::accumulate_right, &ops::matmul_acc, nullptr, nullptr, lawful(a), a};
    if (a_is_product && b.space == Acc) return {Plan::accumulate_left, &ops::matmul_acc, nullptr, nullptr, lawful(a), a};
  }
  return plan_shaped(f, a, b);
}

template <class K>
struct product_of {
  static constexpr bool value = false;
};
template <class V, int Variant, class A, class B>
struct product_of<expression<V, ops::matmul, Variant, A, B>> {
  static constexpr bool value = true;
  static constexpr int variant = Variant;
  using left = A;
  using right = B;
};

/// The plan for child types (leaf, node) KA and KB.
template <const binary_forms& F, class VA, class VB, bool PA, bool PB>
struct binary_plan {
  static constexpr BinaryPlan plan = plan_binary(F, type_of<VA>, type_of<VB>, PA, PB);
  static constexpr Verdict value = plan.verdict;
  static constexpr const OpInfo* op = plan.op;
};
template <const binary_forms& F, class KA, class KB>
using plan_of_children = binary_plan<F, typename KA::value_type, typename KB::value_type, product_of<KA>::value, product_of<KB>::value>;
template <const binary_forms& F, class A, class B>
using plan_for = binary_plan<F, value_of<A>, value_of<B>, product_of<child_t<A>>::value, product_of<child_t<B>>::value>;

template <class P>
struct wide_of {
  static constexpr Type value = P::plan.wide;
};

template <const OpInfo& Op, class V, class... K>
TESSERA_INLINE auto node(const std::source_location& at, K&&... k) {
  return expression<V, Op, 0, std::remove_cvref_t<K>...>(at, TESSERA_FORWARD(k)...);
}

/// Converts an integer scalar child to Index.
template <class K>
TESSERA_INLINE auto to_index(const std::source_location& at, K&& k) {
  using V = typename std::remove_cvref_t<K>::value_type;
  if constexpr (type_of<V>.is_index()) return TESSERA_FORWARD(k);
  else return node<ops::scalar_cast, Index>(at, TESSERA_FORWARD(k));
}

/// An operation on operands of which one or both are repeated first; in a comparison `attr` tells which one.
template <class P, class V, class KA, class KB, class... A>
TESSERA_INLINE auto make_repeated(const std::source_location& at, KA&& ka, KB&& kb, const A&... attr) {
  constexpr BinaryPlan p = P::plan;
  using W = value_type_t<wide_of<P>>;
  const auto make = [&](auto&& x, auto&& y) {
    return expression<V, *p.op, 0, std::remove_cvref_t<decltype(x)>, std::remove_cvref_t<decltype(y)>>(at, attr..., TESSERA_FORWARD(x), TESSERA_FORWARD(y));
  };
  if constexpr (p.plan == Plan::left_repeated) return make(node<*p.left, W>(at, static_cast<KA&&>(ka)), static_cast<KB&&>(kb));
  else if constexpr (p.plan == Plan::right_repeated) return make(static_cast<KA&&>(ka), node<*p.right, W>(at, static_cast<KB&&>(kb)));
  else if constexpr (p.plan == Plan::right_repeated_swapped) return make(node<*p.right, W>(at, static_cast<KB&&>(kb)), static_cast<KA&&>(ka));
  else return make(node<*p.left, W>(at, static_cast<KA&&>(ka)), node<*p.right, W>(at, static_cast<KB&&>(kb)));
}

/// The node for two children.
template <const binary_forms& F, class KA, class KB>
TESSERA_INLINE auto make_binary(const std::source_location& at, KA&& ka, KB&& kb) {
  using P = plan_of_children<F, KA, KB>;
  constexpr BinaryPlan p = P::plan;
  using V = value_type_t<result_of<P>>;
  if constexpr (p.plan == Plan::plain || p.plan == Plan::scalar_right || p.plan == Plan::narrow_right)
    return node<*p.op, V>(at, static_cast<KA&&>(ka), static_cast<KB&&>(kb));
  else if constexpr (p.plan == Plan::plain_scalars) {
    if constexpr (p.wide.is_index()) return node<*p.op, V>(at, to_index(at, static_cast<KA&&>(ka)), to_index(at, static_cast<KB&&>(kb)));
    else return node<*p.op, V>(at, static_cast<KA&&>(ka), static_cast<KB&&>(kb));
  } else if constexpr (p.plan == Plan::scalar_left_swapped || p.plan == Plan::narrow_left_swapped)
    return node<*p.op, V>(at, static_cast<KB&&>(kb), static_cast<KA&&>(ka));
  else if constexpr (p.plan == Plan::scalar_left_expanded)
    return node<*p.op, V>(at, node<ops::full, V>(at, static_cast<KA&&>(ka)), static_cast<KB&&>(kb));
  else if constexpr (p.plan == Plan::left_repeated || p.plan == Plan::right_repeated || p.plan == Plan::right_repeated_swapped || p.plan == Plan::both_repeated)
    return make_repeated<P, V>(at, static_cast<KA&&>(ka), static_cast<KB&&>(kb));
  else if constexpr (p.plan == Plan::accumulate_right) {
    using M = product_of<KB>;
    auto& m = kb.operands();
    return expression<V, ops::matmul_acc, M::variant, KA, typename M::left, typename M::right>(
        at, static_cast<KA&&>(ka), TESSERA_FORWARD(m.a), TESSERA_FORWARD(m.b));
  } else {
    using M = product_of<KA>;
    auto& m = ka.operands();
    return expression<V, ops::matmul_acc, M::variant, KB, typename M::left, typename M::right>(
        at, static_cast<KB&&>(kb), TESSERA_FORWARD(m.a), TESSERA_FORWARD(m.b));
  }
}

/// The node for two operands, recorded left to right.
template <const binary_forms& F, class A, class B>
TESSERA_INLINE auto make_binary_of(const std::source_location& at, A&& a, B&& b) {
  child_t<A> ka = make_child(at, TESSERA_FORWARD(a));
  return make_binary<F>(at, TESSERA_FORWARD(ka), make_child(at, TESSERA_FORWARD(b)));
}

// --- with a number ---
/// A floating number with integer elements is refused; everything else takes the element type of the partner.
template <class N>
constexpr bool is_floating_number() {
  if constexpr (std::is_arithmetic_v<std::remove_cvref_t<N>>) return std::is_floating_point_v<std::remove_cvref_t<N>>;
  else return false;
}
template <const binary_forms& F, class V, class N, bool Left>
struct literal_plan {
  static constexpr bool expanded = Left && type_of<V>.is_shaped() && !F.commutes;
  static constexpr bool no_form = type_of<V>.is_scalar() && !F.for_scalars;
  static constexpr const OpInfo* op = expanded || no_form ? F.plain : type_of<V>.is_scalar() ? F.on_scalars : F.scalar;
  static constexpr Verdict make() {
    if (no_form) return breaks(rule::operand_is_not_shaped, arg_op);
    if (is_floating_number<N>() && !is_float(type_of<V>.dtype))
      return breaks(rule::floating_literal_with_integers, arg_op, arg(type_of<V>.dtype));
    if (expanded) return judge_expanded(F, scalar_type(type_of<V>.dtype), type_of<V>);
    return judge_pair(*op, type_of<V>, scalar_type(type_of<V>.dtype));
  }
  static constexpr Verdict value = make();
};
template <class V>
struct scalar_like {
  static constexpr Type value = scalar_type(type_of<V>.dtype);
};
template <class V>
using scalar_like_t = value_type_t<scalar_like<V>>;

template <const binary_forms& F, class K, class N>
TESSERA_INLINE auto make_with_literal(const std::source_location& at, K&& k, const N& n) {
  using V = typename K::value_type;
  using P = literal_plan<F, V, N, false>;
  return node<*P::op, value_type_t<result_of<P>>>(at, static_cast<K&&>(k), make_literal<scalar_like_t<V>>(n));
}
template <const binary_forms& F, class N, class K>
TESSERA_INLINE auto make_literal_with(const std::source_location& at, const N& n, K&& k) {
  using V = typename K::value_type;
  using P = literal_plan<F, V, N, true>;
  using R = value_type_t<result_of<P>>;
  if constexpr (type_of<V>.is_scalar()) return node<*P::op, R>(at, make_literal<scalar_like_t<V>>(n), static_cast<K&&>(k));
  else if constexpr (F.commutes) return node<*P::op, R>(at, static_cast<K&&>(k), make_literal<scalar_like_t<V>>(n));
  else return node<*F.plain, R>(at, node<ops::full, R>(at, make_literal<scalar_like_t<V>>(n)), static_cast<K&&>(k));
}

/// The node for a child and the operand on its right, a recorded value or a number.
template <const binary_forms& F, class K, class R>
TESSERA_INLINE auto make_with_right(const std::source_location& at, K&& k, R&& r) {
  if constexpr (recorded<R>) return make_binary<F>(at, static_cast<K&&>(k), make_child(at, TESSERA_FORWARD(r)));
  else return make_with_literal<F>(at, static_cast<K&&>(k), r);
}

template <const binary_forms& F, class A, class B>
concept lawful_binary = recorded<A> && recorded<B> && plan_for<F, A, B>::value.lawful();
template <const binary_forms& F, class A, class N>
concept lawful_with_literal = recorded<A> && literal_number<N> && literal_plan<F, value_of<A>, std::remove_cvref_t<N>, false>::value.lawful();
template <const binary_forms& F, class N, class B>
concept lawful_literal_with = recorded<B> && !recorded<N> && literal_number<N> && literal_plan<F, value_of<B>, std::remove_cvref_t<N>, true>::value.lawful();

// The twin's verdict, for any pair of which one is recorded.
template <const binary_forms& F, class A, class B>
consteval auto broken_binary() {
  if constexpr (!recorded<A> && !recorded<B>) {
    return type_is<nothing_broken>{};
  } else if constexpr (recorded<A> && recorded<B>) {
    if constexpr (!plan_for<F, A, B>::value.lawful()) return broken_type<plan_for<F, A, B>>();
  } else if constexpr (recorded<A> && literal_number<B>) {
    if constexpr (!literal_plan<F, value_of<A>, std::remove_cvref_t<B>, false>::value.lawful()) return broken_type<literal_plan<F, value_of<A>, std::remove_cvref_t<B>, false>>();
  } else if constexpr (literal_number<A> && recorded<B>) {
    if constexpr (!literal_plan<F, value_of<B>, std::remove_cvref_t<A>, true>::value.lawful()) return broken_type<literal_plan<F, value_of<B>, std::remove_cvref_t<A>, true>>();
  } else if constexpr (recorded<A> || recorded<B>) {
    return type_is<broken::value_is_not_recorded<F.plain>>{};
  }
}
template <const binary_forms& F, class A, class B>
concept unlawful_binary = (recorded<A> && recorded<B> && !plan_for<F, A, B>::value.lawful()) ||
                          (recorded<A> && literal_number<B> && !recorded<B> && !lawful_with_literal<F, A, B>) ||
                          (recorded<B> && literal_number<A> && !recorded<A> && !lawful_literal_with<F, A, B>) ||
                          (recorded<A> && !recorded<B> && !literal_number<B>) || (recorded<B> && !recorded<A> && !literal_number<A>);

}  // namespace detail
}  // namespace tessera
