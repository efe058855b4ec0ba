// Operators of recorded values. For each one the compiler picks the instruction: scalar forms, column and row broadcasts,
// multiply-accumulate. The friends take their left operand through a wrapper made by implicit conversion, whose defaulted
// source_location is the user's line and whose two kinds tell named from unnamed operands.
#pragma once

#include "expression.hpp"
#include "../ops/all.hpp"

namespace tessera {
namespace detail {

template <class D>
struct named_operand {
  const D* node;
  std::source_location at;
  template <class T>
    requires(std::is_same_v<std::remove_cvref_t<T>, D> && (std::is_lvalue_reference_v<T> || std::is_const_v<T>))
  TESSERA_INLINE named_operand(T&& t, std::source_location l = std::source_location::current())  // NOLINT: converts by design
      : node(__builtin_addressof(t)), at(l) {}
  [[nodiscard]] TESSERA_INLINE const D& get() const { return *node; }
};
template <class D>
struct unnamed_operand {
  D* node;
  std::source_location at;
  template <class T>
    requires std::is_same_v<T, D>
  TESSERA_INLINE unnamed_operand(T&& t, std::source_location l = std::source_location::current())  // NOLINT: converts by design
      : node(__builtin_addressof(t)), at(l) {}
  [[nodiscard]] TESSERA_INLINE D&& get() const { return static_cast<D&&>(*node); }
};

/// The descriptors behind one operator or function: what it becomes for equal shapes, with a scalar, with a column, a row.
struct binary_forms {
  const OpInfo* plain;
  const OpInfo* scalar;      ///< null: expand the scalar
  const OpInfo* column;
  const OpInfo* row;
  const OpInfo* on_scalars;
  bool commutes;
  bool accumulates = false;  ///< with a matrix product it becomes matmul_acc
};
inline constexpr binary_forms forms_add = {&ops::add, &ops::adds, &ops::row_expand_add, &ops::col_expand_add, &ops::scalar_add, true, true};
inline constexpr binary_forms forms_sub = {&ops::sub, &ops::subs, &ops::row_expand_sub, &ops::col_expand_sub, &ops::scalar_sub, false};
inline constexpr binary_forms forms_mul = {&ops::mul, &ops::muls, &ops::row_expand_mul, &ops::col_expand_mul, &ops::scalar_mul, true};
inline constexpr binary_forms forms_div = {&ops::div, &ops::divs, &ops::row_expand_div, &ops::col_expand_div, &ops::scalar_div, false};
inline constexpr binary_forms forms_max = {&ops::maximum, &ops::maximums, &ops::row_expand_max, &ops::col_expand_max, &ops::scalar_max, true};
inline constexpr binary_forms forms_min = {&ops::minimum, &ops::minimums, &ops::row_expand_min, &ops::col_expand_min, &ops::scalar_min, true};

/// How a binary operation on two value types is done.
enum class Plan : unsigned char {
  plain, plain_scalars, scalar_right, scalar_left_swapped, scalar_left_expanded, scalar_left_negated,
  scalar_left_reciprocal, narrow_right, narrow_left_swapped, narrow_left_expanded, both_narrow, accumulate_right,
  accumulate_left, broken
};

struct BinaryPlan {
  Plan plan = Plan::broken;
  const OpInfo* op = nullptr;      ///< of the root
  const OpInfo* expand = nullptr;  ///< fills a wide operand from a narrow one
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

// The numpy result of two shapes, rank 0 where they do not broadcast.
constexpr Type broadcast(const Type& a, const Type& b) {
  Type r = a.rank >= b.rank ? a : b;
  for (int i = 0; i < r.rank; ++i) {
    const std::int64_t x = i < a.rank ? a.last(i) : 1, y = i < b.rank ? b.last(i) : 1;
    if (x != y && x != 1 && y != 1) return {};
    r.dims[r.rank - 1 - i] = x == 1 ? y : x;
  }
  return with_shape(r, r.dims, r.rank);
}

constexpr BinaryPlan plan_shaped(const binary_forms& f, const Type& a, const Type& b) {
  const auto with = [&](Plan p, const OpInfo* op, const Type& x, const Type& y, const OpInfo* expand = nullptr) {
    BinaryPlan plan{p, op, expand, judge_pair(*op, x, y), x};
    // g++ with -fsanitize=undefined knows no comparison of addresses in constant expressions.
    if ((p == Plan::narrow_left_expanded || p == Plan::both_narrow) && plan.verdict.lawful()) {
      const OperandInfo narrow[1] = {{a}};
      const Verdict filled = judge(*expand, {narrow, 1, x});
      if (!filled.lawful()) plan.verdict = filled;
    }
    return plan;
  };
  if (a.kind != b.kind || a.dtype != b.dtype || a.same_shape(b)) return with(Plan::plain, f.plain, a, b);
  const Type wide = broadcast(a, b);
  if (wide.rank == 0) return with(Plan::plain, f.plain, a, b);
  if (wide.same_shape(a)) {
    if (is_column_of(b, a)) return with(Plan::narrow_right, f.column, a, b);
    if (is_row_of(b, a)) return with(Plan::narrow_right, f.row, a, b);
  }
  if (wide.same_shape(b) && (is_column_of(a, b) || is_row_of(a, b))) {
    const bool column = is_column_of(a, b);
    if (f.commutes) return with(Plan::narrow_left_swapped, column ? f.column : f.row, b, a);
    return with(Plan::narrow_left_expanded, f.plain, b, b, column ? &ops::row_expand : &ops::col_expand);
  }
  if (is_column_of(a, wide) && is_row_of(b, wide)) return with(Plan::both_narrow, f.row, wide, b, &ops::row_expand);
  if (is_row_of(a, wide) && is_column_of(b, wide)) return with(Plan::both_narrow, f.column, wide, b, &ops::col_expand);
  return {Plan::broken, f.plain, nullptr, breaks(rule::broadcast_has_no_instruction, arg_op, arg_dim(a.last()), arg_dim(b.last())), {}};
}

/// Two recorded values of types a and b. Left or right is a matrix product written in place: it may accumulate.
constexpr BinaryPlan plan_binary(const binary_forms& f, const Type& a, const Type& b, bool a_is_product, bool b_is_product) {
  if (a.is_scalar() && b.is_scalar()) {
    // An integer Scalar is accepted wherever an Index is: it is converted.
    const bool mixed = a.dtype != b.dtype && (a.is_index() ? is_integer(b.dtype) : b.is_index() && is_integer(a.dtype));
    const Type common = mixed ? index_scalar : a;
    return {Plan::plain_scalars, f.on_scalars, nullptr, judge_pair(*f.on_scalars, common, mixed ? index_scalar : b), common};
  }
  if (a.is_shaped() && b.is_scalar()) return {Plan::scalar_right, f.scalar, nullptr, judge_pair(*f.scalar, a, b), a};
  if (a.is_scalar() && b.is_shaped()) {
    if (f.commutes) return {Plan::scalar_left_swapped, f.scalar, nullptr, judge_pair(*f.scalar, b, a), b};
    return {Plan::scalar_left_expanded, f.plain, &ops::full, judge_expanded(f, a, b), b};
  }
  if (f.accumulates && a.same_shape(b) && a.dtype == b.dtype && a.kind == b.kind) {
    if (b_is_product && (a.space == Acc || a_is_product)) return {Plan::accumulate_right, &ops::matmul_acc, nullptr, lawful(a), a};
    if (a_is_product && b.space == Acc) return {Plan::accumulate_left, &ops::matmul_acc, nullptr, lawful(a), a};
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
template <const binary_forms& F, class A, class B>
using plan_for = binary_plan<F, value_of<A>, value_of<B>, product_of<child_t<A>>::value, product_of<child_t<B>>::value>;

template <class P>
struct wide_of {
  static constexpr Type value = P::plan.wide;
};

template <const OpInfo& Op, class V, class... K>
TESSERA_INLINE auto node(const std::source_location& at, K&&... k) {
  return expression<V, Op, 0, std::remove_cvref_t<K>...>(at, std::forward<K>(k)...);
}

/// Converts an integer scalar child to Index.
template <class K>
TESSERA_INLINE auto to_index(const std::source_location& at, K&& k) {
  using V = typename std::remove_cvref_t<K>::value_type;
  if constexpr (type_of<V>.is_index()) return std::forward<K>(k);
  else return node<ops::scalar_cast, Index>(at, std::forward<K>(k));
}

template <const binary_forms& F, class A, class B>
TESSERA_INLINE auto make_binary(const std::source_location& at, A&& a, B&& b) {
  using P = plan_for<F, A, B>;
  constexpr BinaryPlan p = P::plan;
  using V = value_type_t<result_of<P>>;
  auto ka = make_child(at, std::forward<A>(a));
  auto kb = make_child(at, std::forward<B>(b));
  if constexpr (p.plan == Plan::plain || p.plan == Plan::scalar_right || p.plan == Plan::narrow_right)
    return node<*p.op, V>(at, std::move(ka), std::move(kb));
  else if constexpr (p.plan == Plan::plain_scalars) {
    if constexpr (p.wide.is_index()) return node<*p.op, V>(at, to_index(at, std::move(ka)), to_index(at, std::move(kb)));
    else return node<*p.op, V>(at, std::move(ka), std::move(kb));
  } else if constexpr (p.plan == Plan::scalar_left_swapped || p.plan == Plan::narrow_left_swapped)
    return node<*p.op, V>(at, std::move(kb), std::move(ka));
  else if constexpr (p.plan == Plan::scalar_left_expanded)
    return node<*p.op, V>(at, node<ops::full, V>(at, std::move(ka)), std::move(kb));
  else if constexpr (p.plan == Plan::narrow_left_expanded || p.plan == Plan::both_narrow) {
    using W = value_type_t<wide_of<P>>;
    return node<*p.op, V>(at, node<*p.expand, W>(at, std::move(ka)), std::move(kb));
  } else if constexpr (p.plan == Plan::accumulate_right) {
    using M = product_of<decltype(kb)>;
    auto& m = kb.operands();
    return expression<V, ops::matmul_acc, M::variant, decltype(ka), typename M::left, typename M::right>(
        at, std::move(ka), std::move(m.a), std::move(m.b));
  } else {
    using M = product_of<decltype(ka)>;
    auto& m = ka.operands();
    return expression<V, ops::matmul_acc, M::variant, decltype(kb), typename M::left, typename M::right>(
        at, std::move(kb), std::move(m.a), std::move(m.b));
  }
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
  static constexpr const OpInfo* op = type_of<V>.is_scalar() ? F.on_scalars : expanded ? F.plain : F.scalar;
  static constexpr Verdict make() {
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

template <const binary_forms& F, class A, class N>
TESSERA_INLINE auto make_with_literal(const std::source_location& at, A&& a, const N& n) {
  using V = value_of<A>;
  using P = literal_plan<F, V, N, false>;
  return node<*P::op, value_type_t<result_of<P>>>(at, make_child(at, std::forward<A>(a)), make_literal<scalar_like_t<V>>(n));
}
template <const binary_forms& F, class N, class B>
TESSERA_INLINE auto make_literal_with(const std::source_location& at, const N& n, B&& b) {
  using V = value_of<B>;
  using P = literal_plan<F, V, N, true>;
  using R = value_type_t<result_of<P>>;
  auto l = make_literal<scalar_like_t<V>>(n);
  auto k = make_child(at, std::forward<B>(b));
  if constexpr (type_of<V>.is_scalar()) return node<*P::op, R>(at, l, std::move(k));
  else if constexpr (F.commutes) return node<*P::op, R>(at, std::move(k), l);
  else return node<*F.plain, R>(at, node<ops::full, R>(at, l), std::move(k));
}

template <const binary_forms& F, class A, class B>
concept lawful_binary = recorded<A> && recorded<B> && plan_for<F, A, B>::value.lawful();
template <const binary_forms& F, class A, class N>
concept lawful_with_literal = recorded<A> && literal_number<N> && literal_plan<F, value_of<A>, N, false>::value.lawful();
template <const binary_forms& F, class N, class B>
concept lawful_literal_with = recorded<B> && !recorded<N> && literal_number<N> && literal_plan<F, value_of<B>, N, true>::value.lawful();

// The twin's verdict, for any pair of which one is recorded.
template <const binary_forms& F, class A, class B>
consteval auto broken_binary() {
  if constexpr (!recorded<A> && !recorded<B>) {
    return type_is<nothing_broken>{};
  } else if constexpr (recorded<A> && recorded<B>) {
    if constexpr (!plan_for<F, A, B>::value.lawful()) return broken_type<plan_for<F, A, B>>();
  } else if constexpr (recorded<A> && literal_number<B>) {
    if constexpr (!literal_plan<F, value_of<A>, B, false>::value.lawful()) return broken_type<literal_plan<F, value_of<A>, B, false>>();
  } else if constexpr (literal_number<A> && recorded<B>) {
    if constexpr (!literal_plan<F, value_of<B>, A, true>::value.lawful()) return broken_type<literal_plan<F, value_of<B>, A, true>>();
  } else if constexpr (recorded<A> || recorded<B>) {
    return type_is<broken::value_is_not_recorded<F.plain>>{};
  }
}
template <const binary_forms& F, class A, class B>
concept unlawful_binary = (recorded<A> && recorded<B> && !plan_for<F, A, B>::value.lawful()) ||
                          (recorded<A> && literal_number<B> && !recorded<B> && !lawful_with_literal<F, A, B>) ||
                          (recorded<B> && literal_number<A> && !recorded<A> && !lawful_literal_with<F, A, B>) ||
                          (recorded<A> && !recorded<B> && !literal_number<B>) || (recorded<B> && !recorded<A> && !literal_number<A>);

// --- scalars only: remainder, comparisons, logic ---
template <const OpInfo& Op, class A, class B>
TESSERA_INLINE auto make_scalar(const std::source_location& at, A&& a, B&& b, int compare) {
  const Attr attr{AttrKey::compare, false, false, 0, compare, 0};
  const auto finish = [&](auto&& ka, auto&& kb) {
    using V = value_type_t<result_of<verdict_of<Op, 0, void, typename std::remove_cvref_t<decltype(ka)>::value_type,
                                               typename std::remove_cvref_t<decltype(kb)>::value_type>>>;
    using E = expression<V, Op, 0, std::remove_cvref_t<decltype(ka)>, std::remove_cvref_t<decltype(kb)>>;
    if (compare < 0) return E(at, std::move(ka), std::move(kb));
    return E(at, attr, std::move(ka), std::move(kb));
  };
  if constexpr (!recorded<A>) {
    auto kb = make_child(at, std::forward<B>(b));
    return finish(make_literal<scalar_like_t<value_of<B>>>(a), std::move(kb));
  } else if constexpr (!recorded<B>) {
    auto ka = make_child(at, std::forward<A>(a));
    return finish(std::move(ka), make_literal<scalar_like_t<value_of<A>>>(b));
  } else {
    auto ka = make_child(at, std::forward<A>(a));
    auto kb = make_child(at, std::forward<B>(b));
    if constexpr (type_of<value_of<A>>.dtype == type_of<value_of<B>>.dtype) return finish(std::move(ka), std::move(kb));
    else return finish(to_index(at, std::move(ka)), to_index(at, std::move(kb)));
  }
}
/// The verdict on a scalar operation; an integer Scalar and an Index meet as Index.
template <const OpInfo& Op, class A, class B>
struct scalar_plan {
  static constexpr const OpInfo* op = &Op;
  static constexpr Verdict with_literal(const Type& t, bool floating) {
    if (!t.is_scalar()) return breaks(rule::operand_is_not_a_number, arg_op);
    if (floating && !is_float(t.dtype)) return breaks(rule::floating_literal_with_integers, arg_op, arg(t.dtype));
    return judge_pair(Op, t, t);
  }
  static constexpr Verdict make() {
    if constexpr (!recorded<A> && !recorded<B>) {
      return lawful();  // clang asks before it looks at the constraints
    } else if constexpr (recorded<A> && recorded<B>) {
      constexpr Type a = type_of<value_of<A>>, b = type_of<value_of<B>>;
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

/// The operators, as hidden friends of each value and node class. The left operand's wrapper carries the user's line.
#define TESSERA_BINARY(SIGN, FORMS)                                                                              \
  template <class R>                                                                                             \
    requires detail::lawful_binary<FORMS, const Derived&, R> || detail::lawful_with_literal<FORMS, const Derived&, R> \
  friend auto operator SIGN(detail::named_operand<Derived> l, R&& r) {                                           \
    if constexpr (recorded<R>) return detail::make_binary<FORMS>(l.at, l.get(), std::forward<R>(r));              \
    else return detail::make_with_literal<FORMS>(l.at, l.get(), r);                                              \
  }                                                                                                              \
  template <class R>                                                                                             \
    requires detail::lawful_binary<FORMS, Derived, R> || detail::lawful_with_literal<FORMS, Derived, R>           \
  friend auto operator SIGN(detail::unnamed_operand<Derived> l, R&& r) {                                         \
    if constexpr (recorded<R>) return detail::make_binary<FORMS>(l.at, l.get(), std::forward<R>(r));              \
    else return detail::make_with_literal<FORMS>(l.at, l.get(), r);                                              \
  }                                                                                                              \
  template <class L>                                                                                             \
    requires detail::lawful_literal_with<FORMS, L, const Derived&>                                               \
  friend auto operator SIGN(const L& l, detail::named_operand<Derived> r) {                                      \
    return detail::make_literal_with<FORMS>(r.at, l, r.get());                                                   \
  }                                                                                                              \
  template <class L>                                                                                             \
    requires detail::lawful_literal_with<FORMS, L, Derived>                                                      \
  friend auto operator SIGN(const L& l, detail::unnamed_operand<Derived> r) {                                    \
    return detail::make_literal_with<FORMS>(r.at, l, r.get());                                                   \
  }

#define TESSERA_SCALAR_BINARY(SIGN, OP, COMPARE)                                                     \
  template <class R>                                                                                 \
    requires detail::scalar_pair<OP, const Derived&, R>                                                  \
  friend auto operator SIGN(detail::named_operand<Derived> l, R&& r) {                               \
    return detail::make_scalar<OP>(l.at, l.get(), std::forward<R>(r), COMPARE);                      \
  }                                                                                                  \
  template <class R>                                                                                 \
    requires detail::scalar_pair<OP, Derived, R>                                                         \
  friend auto operator SIGN(detail::unnamed_operand<Derived> l, R&& r) {                             \
    return detail::make_scalar<OP>(l.at, l.get(), std::forward<R>(r), COMPARE);                      \
  }                                                                                                  \
  template <class L>                                                                                 \
    requires(!recorded<L>) && detail::scalar_pair<OP, L, const Derived&>                                 \
  friend auto operator SIGN(const L& l, detail::named_operand<Derived> r) {                          \
    return detail::make_scalar<OP>(r.at, l, r.get(), COMPARE);                                       \
  }                                                                                                  \
  template <class L>                                                                                 \
    requires(!recorded<L>) && detail::scalar_pair<OP, L, Derived>                                        \
  friend auto operator SIGN(const L& l, detail::unnamed_operand<Derived> r) {                        \
    return detail::make_scalar<OP>(r.at, l, r.get(), COMPARE);                                       \
  }

namespace detail {

template <class Derived, class Value>
struct scalar_operators {
  TESSERA_SCALAR_BINARY(%, ops::scalar_rem, -1)
  TESSERA_SCALAR_BINARY(&, ops::scalar_and, -1)
  TESSERA_SCALAR_BINARY(|, ops::scalar_or, -1)
  TESSERA_SCALAR_BINARY(<, ops::scalar_compare, static_cast<int>(Compare::lt))
  TESSERA_SCALAR_BINARY(<=, ops::scalar_compare, static_cast<int>(Compare::le))
  TESSERA_SCALAR_BINARY(>, ops::scalar_compare, static_cast<int>(Compare::gt))
  TESSERA_SCALAR_BINARY(>=, ops::scalar_compare, static_cast<int>(Compare::ge))
};
template <class Derived, class Value>
struct no_scalar_operators {};

template <class V>
struct negation {
  static constexpr const OpInfo* op = type_of<V>.is_scalar() ? &ops::scalar_neg : &ops::neg;
  static constexpr Verdict make() {
    const OperandInfo operand[1] = {{type_of<V>}};
    return judge(*op, {operand, 1});
  }
  static constexpr Verdict value = make();
};

}  // namespace detail

template <class Derived, class Value>
struct operators : recorded_value,
                   std::conditional_t<type_of<Value>.is_scalar(), detail::scalar_operators<Derived, Value>,
                                      detail::no_scalar_operators<Derived, Value>> {
  TESSERA_BINARY(+, detail::forms_add)
  TESSERA_BINARY(-, detail::forms_sub)
  TESSERA_BINARY(*, detail::forms_mul)
  TESSERA_BINARY(/, detail::forms_div)
  friend auto operator-(detail::named_operand<Derived> x)
    requires(detail::negation<Value>::value.lawful())
  {
    return detail::node<*detail::negation<Value>::op, Value>(x.at, detail::make_child(x.at, x.get()));
  }
  friend auto operator-(detail::unnamed_operand<Derived> x)
    requires(detail::negation<Value>::value.lawful())
  {
    return detail::node<*detail::negation<Value>::op, Value>(x.at, detail::make_child(x.at, x.get()));
  }
};
template <recorded X>
  requires(!detail::negation<value_of<X>>::value.lawful())
auto operator-(const X&) -> decltype(detail::unwrap(detail::broken_type<detail::negation<value_of<X>>>()));
#undef TESSERA_BINARY
#undef TESSERA_SCALAR_BINARY

// What an operator cannot do, by name. Declared only; the lawful cases are the friends.
#define TESSERA_BROKEN_BINARY(SIGN, FORMS)        \
  template <class A, class B>                     \
    requires detail::unlawful_binary<FORMS, A, B> \
  auto operator SIGN(A&&, B&&)->decltype(detail::unwrap(detail::broken_binary<FORMS, A, B>()));
TESSERA_BROKEN_BINARY(+, detail::forms_add)
TESSERA_BROKEN_BINARY(-, detail::forms_sub)
TESSERA_BROKEN_BINARY(*, detail::forms_mul)
TESSERA_BROKEN_BINARY(/, detail::forms_div)
#undef TESSERA_BROKEN_BINARY

// `==` and `!=` stand at namespace scope: as friends, the reversed candidates of C++20 would make them ambiguous. They take
// the line of the if_ or while_ around them.
template <class A, class B>
  requires detail::scalar_pair<ops::scalar_compare, A, B>
[[nodiscard]] auto operator==(A&& a, B&& b) {
  return detail::make_scalar<ops::scalar_compare>(std::source_location(), std::forward<A>(a), std::forward<B>(b), static_cast<int>(Compare::eq));
}
template <class A, class B>
  requires detail::scalar_pair<ops::scalar_compare, A, B>
[[nodiscard]] auto operator!=(A&& a, B&& b) {
  return detail::make_scalar<ops::scalar_compare>(std::source_location(), std::forward<A>(a), std::forward<B>(b), static_cast<int>(Compare::ne));
}

// As a friend it would be ambiguous with the built-in one, by way of the deleted conversion to bool.
template <scalar_operand X>
  requires(type_of<value_of<X>>.dtype == boolean)
[[nodiscard]] auto operator!(X&& x) {
  return detail::node<ops::scalar_not, value_of<X>>(std::source_location(), detail::make_child(std::source_location(), std::forward<X>(x)));
}

#define TESSERA_BROKEN_SCALAR_BINARY(SIGN, OP)      \
  template <class A, class B>                       \
    requires detail::unlawful_scalar_pair<OP, A, B> \
  auto operator SIGN(A&&, B&&)->decltype(detail::unwrap(detail::broken_type<detail::scalar_plan<OP, A, B>>()));
TESSERA_BROKEN_SCALAR_BINARY(%, ops::scalar_rem)
TESSERA_BROKEN_SCALAR_BINARY(&, ops::scalar_and)
TESSERA_BROKEN_SCALAR_BINARY(|, ops::scalar_or)
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
