// Named operations on recorded values. Each stands on one line: its descriptor says the rest. An unlawful call selects a
// declared-only twin whose return type names the broken rule.
#pragma once

#include "handles.hpp"

namespace tessera {
namespace detail {

template <const OpInfo& Op, class Requested, class... X>
using verdict_on = verdict_of<Op, 0, Requested, value_of<X>...>;
template <const OpInfo& Op, class Requested, class... X>
concept lawful_call = (recorded<X> && ...) && verdict_on<Op, Requested, X...>::value.lawful();
template <const OpInfo& Op, class Requested, class... X>
concept unlawful_call = (recorded<X> && ...) && !verdict_on<Op, Requested, X...>::value.lawful();

/// Some operands are values of the kernel and some are not.
template <class... X>
concept unrecorded_call = (recorded<X> || ...) && !(recorded<X> && ...);
/// Of what cannot be another function's call: a template argument says which operation it is.
template <const OpInfo& Op, class Requested, class... X>
concept refused_call = !(recorded<X> && ...) || unlawful_call<Op, Requested, X...>;
template <const OpInfo& Op, class Requested, class... X>
consteval auto broken_call() {
  if constexpr (!(recorded<X> && ...)) return type_is<broken::value_is_not_recorded<&Op>>{};
  else return broken_type<verdict_on<Op, Requested, X...>>();
}

/// Of an operation on N operands: they break a rule, or some are missing.
template <const OpInfo& Op, int N, class... X>
concept refused_operands = (sizeof...(X) < N && (recorded<X> && ...)) ||
                           (sizeof...(X) == N && (unlawful_call<Op, void, X...> || unrecorded_call<X...>));
template <const OpInfo& Op, int N, class... X>
consteval auto broken_operands() {
  if constexpr (sizeof...(X) > N) return type_is<nothing_broken>{};
  else if constexpr (sizeof...(X) < N) return type_is<broken::operand_is_missing<&Op>>{};
  else return broken_call<Op, void, X...>();
}

template <const OpInfo& Op, class Requested, class... X>
TESSERA_INLINE auto make_call(const std::source_location& at, X&&... x) {
  return node<Op, result_t<verdict_on<Op, Requested, X...>>>(at, make_child(at, TESSERA_FORWARD(x))...);
}
template <const OpInfo& Op, class Requested, class... X>
TESSERA_INLINE auto make_call_with(const std::source_location& at, const Attr& attr, X&&... x) {
  using V = result_t<verdict_on<Op, Requested, X...>>;
  return expression<V, Op, 0, child_t<X>...>(at, attr, make_child(at, TESSERA_FORWARD(x))...);
}

template <class V, DType D>
struct with_dtype_of {
  static constexpr Type value = with_dtype(type_of<V>, D);
};
template <class S, DType D, MemorySpace M>
struct shaped_type {
  using type = Tile<S, D, M>;
};
template <class S, DType D>
struct shaped_type<S, D, Gm> {
  using type = Tensor<S, D>;
};

}  // namespace detail

#define TESSERA_UNARY(NAME)                                                                   \
  template <class X>                                                                          \
    requires detail::lawful_call<ops::NAME, void, X>                                          \
  [[nodiscard]] auto NAME(X&& x, std::source_location at = std::source_location::current()) { \
    return detail::make_call<ops::NAME, void>(at, TESSERA_FORWARD(x));                        \
  }                                                                                           \
  template <class X>                                                                          \
    requires detail::unlawful_call<ops::NAME, void, X>                                        \
  auto NAME(X&& x)->decltype(detail::unwrap(detail::broken_type<detail::verdict_on<ops::NAME, void, X>>()));

/// Elementwise: `exp(x)` of a tensor or tile has its shape and element type. rsqrt is 1 / sqrt(x), recip 1 / x, relu max(x, 0).
TESSERA_UNARY(abs)
TESSERA_UNARY(exp)
TESSERA_UNARY(log)
TESSERA_UNARY(sqrt)
TESSERA_UNARY(rsqrt)
TESSERA_UNARY(recip)
TESSERA_UNARY(relu)
TESSERA_UNARY(neg)
/// Of f32, in radians: within 2e-7 for |x| <= 10000.
TESSERA_UNARY(sin)
TESSERA_UNARY(cos)
/// Each row reduced to one element: [..,M,N] -> [..,M,1].
TESSERA_UNARY(row_sum)
TESSERA_UNARY(row_max)
TESSERA_UNARY(row_min)
TESSERA_UNARY(row_prod)
/// Each column reduced to one element: [..,M,N] -> [..,1,N].
TESSERA_UNARY(col_sum)
TESSERA_UNARY(col_max)
TESSERA_UNARY(col_min)
TESSERA_UNARY(col_prod)
/// Where the largest or smallest element of each row or column stands, in i32; among equal ones the first. NaN counts as larger
/// than all (argmax) or as smaller than all (argmin).
TESSERA_UNARY(row_argmax)
TESSERA_UNARY(row_argmin)
TESSERA_UNARY(col_argmax)
TESSERA_UNARY(col_argmin)
#undef TESSERA_UNARY

#define TESSERA_PAIR(NAME)                                                                            \
  template <class X, class Y>                                                                         \
    requires detail::lawful_call<ops::NAME, void, X, Y>                                               \
  [[nodiscard]] auto NAME(X&& x, Y&& y, std::source_location at = std::source_location::current()) {  \
    return detail::make_call<ops::NAME, void>(at, TESSERA_FORWARD(x), TESSERA_FORWARD(y));            \
  }                                                                                                   \
  template <class X, class... Y>                                                                      \
    requires detail::refused_operands<ops::NAME, 2, X, Y...>                                          \
  auto NAME(X&& x, Y&&... y)->decltype(detail::unwrap(detail::broken_operands<ops::NAME, 2, X, Y...>()));

/// x [..,M,N] with one number for each row, y [..,M,1]: `row_expand_sub(x, y)` is x - y. The operators choose these forms.
TESSERA_PAIR(row_expand_add)
TESSERA_PAIR(row_expand_sub)
TESSERA_PAIR(row_expand_mul)
TESSERA_PAIR(row_expand_div)
TESSERA_PAIR(row_expand_max)
TESSERA_PAIR(row_expand_min)
/// exp(x - y) in one instruction.
TESSERA_PAIR(row_expand_expdif)
/// x [..,M,N] with one number for each column, y [1,..,1,N]. The operators choose these forms.
TESSERA_PAIR(col_expand_add)
TESSERA_PAIR(col_expand_sub)
TESSERA_PAIR(col_expand_mul)
TESSERA_PAIR(col_expand_div)
TESSERA_PAIR(col_expand_max)
TESSERA_PAIR(col_expand_min)
TESSERA_PAIR(col_expand_expdif)
/// x + y and the like where both are valid, and elsewhere the one that is. One of the two has the larger valid extents.
TESSERA_PAIR(part_add)
TESSERA_PAIR(part_mul)
TESSERA_PAIR(part_max)
TESSERA_PAIR(part_min)
/// Elements of a tensor x along its last axis: result [i, j] is x[i, index[i, j]].
TESSERA_PAIR(gather)
/// Elements of a tile x by their row-major positions.
TESSERA_PAIR(gather_flat)
/// x [..,M] and y [..,N] side by side: [..,M+N].
TESSERA_PAIR(concat)
/// Blocks of 32 elements of each row of x in descending order, each element with its index (u32, of x's shape or one row): pairs
/// of 8 bytes, so that [..,N] becomes [..,2N] of f32 or [..,4N] of f16. merge_sort makes longer sorted blocks of them.
TESSERA_PAIR(sort32)
#undef TESSERA_PAIR
template <class X, class Y, class Z, class... More>
  requires(recorded<X> && recorded<Y> && recorded<Z> && (recorded<More> && ...))
[[nodiscard]] auto concat(X&& x, Y&& y, Z&& z, More&&... more) {
  return concat(concat(TESSERA_FORWARD(x), TESSERA_FORWARD(y)), TESSERA_FORWARD(z), TESSERA_FORWARD(more)...);
}

/// The binary operators' forms under a name: maximum and minimum of tensors and tiles, and what remains of x / y with the sign
/// of x; x / y; min and max of scalars.
#define TESSERA_BINARY_FUNCTION(NAME, FORMS, ON, OTHERWISE)                                                      \
  template <class X, class Y>                                                                                   \
    requires(ON<X> || ON<Y>) && (detail::lawful_binary<FORMS, X, Y> || detail::lawful_with_literal<FORMS, X, Y> || \
                                 detail::lawful_literal_with<FORMS, X, Y>)                                      \
  [[nodiscard]] auto NAME(X&& x, Y&& y, std::source_location at = std::source_location::current()) {            \
    if constexpr (recorded<X> && recorded<Y>) return detail::make_binary_of<FORMS>(at, TESSERA_FORWARD(x), TESSERA_FORWARD(y)); \
    else if constexpr (recorded<X>) return detail::make_with_literal<FORMS>(at, detail::make_child(at, TESSERA_FORWARD(x)), y);         \
    else return detail::make_literal_with<FORMS>(at, x, detail::make_child(at, TESSERA_FORWARD(y)));                                    \
  }                                                                                                             \
  template <class X, class Y>                                                                                   \
    requires(ON<X> || ON<Y>) && detail::unlawful_binary<FORMS, X, Y>                                            \
  auto NAME(X&& x, Y&& y)->decltype(detail::unwrap(detail::broken_binary<FORMS, X, Y>()));                      \
  template <class X, class Y>                                                                                   \
    requires(recorded<X> || recorded<Y>) && (!ON<X> && !ON<Y>)                                                  \
  broken::OTHERWISE NAME(X&& x, Y&& y);

TESSERA_BINARY_FUNCTION(maximum, detail::forms_max, shaped, operand_is_not_shaped<&ops::maximum>)
TESSERA_BINARY_FUNCTION(minimum, detail::forms_min, shaped, operand_is_not_shaped<&ops::minimum>)
TESSERA_BINARY_FUNCTION(fmod, detail::forms_fmod, shaped, operand_is_not_shaped<&ops::fmod>)
TESSERA_BINARY_FUNCTION(div, detail::forms_div, recorded, value_is_not_recorded<&ops::div>)
TESSERA_BINARY_FUNCTION(max, detail::forms_max, scalar_operand, operand_is_shaped_use_maximum_or_minimum<>)
TESSERA_BINARY_FUNCTION(min, detail::forms_min, scalar_operand, operand_is_shaped_use_maximum_or_minimum<>)
#undef TESSERA_BINARY_FUNCTION
// Like std::max and std::min but more constrained: chosen where a user's `using namespace std;` would make those the better
// match, for two constants of one type. They have no room for the user's line.
template <class X>
  requires scalar_operand<X>
[[nodiscard]] auto max(const X& x, const X& y) {
  return detail::make_binary_of<detail::forms_max>(std::source_location(), x, y);
}
template <class X>
  requires scalar_operand<X>
[[nodiscard]] auto min(const X& x, const X& y) {
  return detail::make_binary_of<detail::forms_min>(std::source_location(), x, y);
}

namespace detail {
template <class X, class N>
struct slope_plan {
  static constexpr const OpInfo* op = &ops::lrelu;
  static constexpr Verdict make() {
    if constexpr (recorded<N>) return judge_pair(ops::lrelu, type_of<value_of<X>>, type_of<value_of<N>>);
    else if constexpr (literal_number<N>) return judge_pair(ops::lrelu, type_of<value_of<X>>, scalar_type(f32));
    else return breaks(rule::operand_is_not_a_number, arg_op);
  }
  static constexpr Verdict value = make();
};
}  // namespace detail
/// x where it is positive, elsewhere x * slope. The slope is an f32 beside f16 elements, too.
template <class X, class N>
  requires recorded<X> && (detail::slope_plan<X, N>::value.lawful())
[[nodiscard]] auto lrelu(X&& x, N&& slope, std::source_location at = std::source_location::current()) {
  using V = detail::result_t<detail::slope_plan<X, N>>;
  return detail::node<ops::lrelu, V>(at, detail::make_child(at, TESSERA_FORWARD(x)), detail::scalar_operand_child<Scalar<f32>>(at, TESSERA_FORWARD(slope)));
}
template <class X, class N>
  requires recorded<X> && (!detail::slope_plan<X, N>::value.lawful())
auto lrelu(X&& x, N&& slope) -> decltype(detail::unwrap(detail::broken_type<detail::slope_plan<X, N>>()));

/// x in element type D: `cast<bf16>(x)`, `cast<i32>(x, Rounding::floor)`. Floats round to nearest, ties away from zero, by default.
template <DType D, class X>
  requires shaped<X> && detail::lawful_call<ops::cast, detail::value_type_t<detail::with_dtype_of<value_of<X>, D>>, X>
[[nodiscard]] auto cast(X&& x, Rounding rounding = Rounding::round, std::source_location at = std::source_location::current()) {
  using R = detail::value_type_t<detail::with_dtype_of<value_of<X>, D>>;
  return detail::make_call_with<ops::cast, R>(at, int_attr(AttrKey::rounding, static_cast<int>(rounding)), TESSERA_FORWARD(x));
}
template <DType D, class X>
  requires shaped<X> && detail::unlawful_call<ops::cast, detail::value_type_t<detail::with_dtype_of<value_of<X>, D>>, X>
auto cast(X&& x) -> decltype(detail::unwrap(
    detail::broken_type<detail::verdict_on<ops::cast, detail::value_type_t<detail::with_dtype_of<value_of<X>, D>>, X>>()));
/// A scalar in element type D.
template <DType D, class X>
  requires scalar_operand<X>
[[nodiscard]] auto cast(X&& x, std::source_location at = std::source_location::current()) {
  return detail::node<ops::scalar_cast, Scalar<D>>(at, detail::make_child(at, TESSERA_FORWARD(x)));
}

namespace detail {
// c ? a : b: one of the two may be a number; an integer Scalar and an Index meet as Index.
template <class C, class A, class B>
struct select_plan {
  static constexpr const OpInfo* op = &ops::scalar_select;
  static constexpr Type common() {
    if constexpr (recorded<A> && recorded<B>) {
      constexpr Type a = type_of<value_of<A>>, b = type_of<value_of<B>>;
      return b.is_index() && is_integer(a.dtype) ? b : a;
    } else if constexpr (recorded<A>) {
      return type_of<value_of<A>>;
    } else if constexpr (recorded<B>) {
      return type_of<value_of<B>>;
    } else {
      return {};
    }
  }
  template <class X>
  static constexpr Type side() {
    if constexpr (!recorded<X>) return common();
    else return common().is_index() && is_integer(type_of<value_of<X>>.dtype) ? common() : type_of<value_of<X>>;
  }
  static constexpr Verdict make() {
    if constexpr (!recorded<C>) return breaks(rule::condition_is_not_boolean, arg_op);
    else if constexpr (shaped<A> || shaped<B>) return breaks(rule::select_condition_is_one_number);
    else if constexpr ((recorded<A> || recorded<B>) && (recorded<A> || literal_number<A>) && (recorded<B> || literal_number<B>)) {
      if (((!recorded<A> && is_floating_number<A>()) || (!recorded<B> && is_floating_number<B>())) && !is_float(common().dtype))
        return breaks(rule::floating_literal_with_integers, arg_op, arg(common().dtype));
      const OperandInfo operands[3] = {{type_of<value_of<C>>}, {side<A>()}, {side<B>()}};
      return judge(ops::scalar_select, {operands, 3});
    } else {
      return breaks(rule::value_is_not_recorded, arg_op);
    }
  }
  static constexpr Verdict value = make();
};
// mask ? a : b of tensors or tiles: one of the two may be a scalar or a number, which fills a tensor or tile.
template <class C, class A, class B>
struct mask_plan {
  static constexpr const OpInfo* op = &ops::select;
  static constexpr Type shape() {
    if constexpr (shaped<A>) return type_of<value_of<A>>;
    else if constexpr (shaped<B>) return type_of<value_of<B>>;
    else return {};
  }
  template <class X>
  static constexpr Verdict side() {
    const Type t = shape();
    if constexpr (shaped<X>) {
      const Type x = type_of<value_of<X>>;
      return is_mask(x) ? breaks(rule::mask_is_for_select_only, arg_op) : lawful(x);
    } else {
      Type s = scalar_type(t.dtype);
      if constexpr (recorded<X>) s = type_of<value_of<X>>;
      else if (is_floating_number<X>() && !is_float(t.dtype)) return breaks(rule::floating_literal_with_integers, arg_op, arg(t.dtype));
      const OperandInfo operand[1] = {{s}};
      return judge(ops::full, {operand, 1, t});
    }
  }
  static constexpr Verdict make() {
    if constexpr (!(recorded<A> || literal_number<A>) || !(recorded<B> || literal_number<B>)) {
      return breaks(rule::value_is_not_recorded, arg_op);
    } else {
      if (!shape().is_shaped()) return breaks(rule::select_sides_are_numbers);
      const Verdict a = side<A>(), b = side<B>();
      if (!a.lawful() || !b.lawful()) return a.lawful() ? b : a;
      const OperandInfo operands[3] = {{type_of<value_of<C>>}, {a.result}, {b.result}};
      return judge(ops::select, {operands, 3});
    }
  }
  static constexpr Verdict value = make();
};
template <class C>
concept mask_operand = recorded<C> && is_mask(type_of<value_of<C>>);
template <class C, class A, class B>
struct plan_of_select {
  using type = select_plan<C, A, B>;
};
template <mask_operand C, class A, class B>
struct plan_of_select<C, A, B> {
  using type = mask_plan<C, A, B>;
};
template <class C, class A, class B>
using plan_of_select_t = typename plan_of_select<C, A, B>::type;

template <class V, class X>
auto shaped_child(const std::source_location& at, X&& x) {
  if constexpr (shaped<X>) return make_child(at, TESSERA_FORWARD(x));
  else if constexpr (recorded<X>) return node<ops::full, V>(at, make_child(at, TESSERA_FORWARD(x)));
  else return node<ops::full, V>(at, make_literal<scalar_like_t<V>>(x));
}
template <class V, class X>
auto scalar_child(const std::source_location& at, X&& x) {
  if constexpr (!recorded<X>) return make_literal<V>(x);
  else if constexpr (type_of<V>.is_index()) return to_index(at, make_child(at, TESSERA_FORWARD(x)));
  else return make_child(at, TESSERA_FORWARD(x));
}
}  // namespace detail

/// c ? a : b: of scalars, or element by element where c is a comparison of tensors or tiles, as in `select(x > 0, x, y)`.
/// Both sides are evaluated.
template <class C, class A, class B>
  requires(recorded<C> || recorded<A> || recorded<B>) && (detail::plan_of_select_t<C, A, B>::value.lawful())
[[nodiscard]] auto select(C&& c, A&& a, B&& b, std::source_location at = std::source_location::current()) {
  using V = detail::result_t<detail::plan_of_select_t<C, A, B>>;
  if constexpr (detail::mask_operand<C>)
    return detail::node<ops::select, V>(at, detail::make_child(at, TESSERA_FORWARD(c)), detail::shaped_child<V>(at, TESSERA_FORWARD(a)),
                                        detail::shaped_child<V>(at, TESSERA_FORWARD(b)));
  else return detail::node<ops::scalar_select, V>(at, detail::make_child(at, TESSERA_FORWARD(c)), detail::scalar_child<V>(at, TESSERA_FORWARD(a)),
                                             detail::scalar_child<V>(at, TESSERA_FORWARD(b)));
}
template <class C, class A, class B>
  requires(recorded<C> || recorded<A> || recorded<B>) && (!detail::plan_of_select_t<C, A, B>::value.lawful())
auto select(C&& c, A&& a, B&& b) -> decltype(detail::unwrap(detail::broken_type<detail::plan_of_select_t<C, A, B>>()));

/// The last two axes exchanged. As an operand of matmul no data moves.
template <class X>
  requires shaped<X> && (type_of<value_of<X>>.rank >= 2) && detail::lawful_call<ops::transpose, void, X>
[[nodiscard]] auto transpose(X&& x, std::source_location at = std::source_location::current()) {
  return detail::make_call<ops::transpose, void>(at, TESSERA_FORWARD(x));
}
template <class X>
  requires detail::unlawful_call<ops::transpose, void, X>
auto transpose(X&& x) -> decltype(detail::unwrap(detail::broken_type<detail::verdict_on<ops::transpose, void, X>>()));

namespace detail {

template <class K>
struct transpose_of {
  static constexpr bool value = false;
};
template <class V, class K>
struct transpose_of<expression<V, ops::transpose, 0, K>> {
  static constexpr bool value = true;
  using child = K;
};
// On tensors, and only unnamed: a named transpose is a value of its own.
template <class X>
concept transposed_operand = transpose_of<child_t<X>>::value && type_of<value_of<X>>.is_tensor();

template <class X>
TESSERA_INLINE auto matrix_child(const std::source_location& at, X&& x) {
  if constexpr (transposed_operand<X>) {
    auto k = make_child(at, TESSERA_FORWARD(x));
    return std::move(k.operands().a);
  } else {
    return make_child(at, TESSERA_FORWARD(x));
  }
}
template <class A, class B>
inline constexpr int matmul_variant = (transposed_operand<A> ? transposes_lhs : 0) | (transposed_operand<B> ? transposes_rhs : 0);

}  // namespace detail

/// [..,M,K] x [..,K,N] -> [..,M,N] in f32, or i32 for integers. `matmul(a, transpose(b))` reads b transposed.
template <class A, class B>
  requires detail::lawful_call<ops::matmul, void, A, B>
[[nodiscard]] auto matmul(A&& a, B&& b, std::source_location at = std::source_location::current()) {
  using V = detail::result_t<detail::verdict_on<ops::matmul, void, A, B>>;
  auto ka = detail::matrix_child(at, TESSERA_FORWARD(a));
  auto kb = detail::matrix_child(at, TESSERA_FORWARD(b));
  return expression<V, ops::matmul, detail::matmul_variant<A, B>, decltype(ka), decltype(kb)>(at, std::move(ka), std::move(kb));
}
template <class A, class... B>
  requires detail::refused_operands<ops::matmul, 2, A, B...>
auto matmul(A&& a, B&&... b) -> decltype(detail::unwrap(detail::broken_operands<ops::matmul, 2, A, B...>()));
/// acc + lhs x rhs, in the accumulator's storage.
template <class C, class A, class B>
  requires detail::lawful_call<ops::matmul_acc, void, C, A, B>
[[nodiscard]] auto matmul_acc(C&& c, A&& a, B&& b, std::source_location at = std::source_location::current()) {
  using V = detail::result_t<detail::verdict_on<ops::matmul_acc, void, C, A, B>>;
  auto kc = detail::make_child(at, TESSERA_FORWARD(c));
  auto ka = detail::matrix_child(at, TESSERA_FORWARD(a));
  auto kb = detail::matrix_child(at, TESSERA_FORWARD(b));
  return expression<V, ops::matmul_acc, detail::matmul_variant<A, B>, decltype(kc), decltype(ka), decltype(kb)>(
      at, std::move(kc), std::move(ka), std::move(kb));
}
template <class C, class... A>
  requires detail::refused_operands<ops::matmul_acc, 3, C, A...>
auto matmul_acc(C&& c, A&&... a) -> decltype(detail::unwrap(detail::broken_operands<ops::matmul_acc, 3, C, A...>()));

/// The tile in memory space M.
template <MemorySpace M, class X>
  requires shaped<X> && detail::lawful_call<ops::move, Tile<Shape<1>, f32, M>, X>
[[nodiscard]] auto move(X&& x, std::source_location at = std::source_location::current()) {
  return detail::make_call<ops::move, Tile<Shape<1>, f32, M>>(at, TESSERA_FORWARD(x));
}
template <MemorySpace M, class X>
  requires detail::refused_call<ops::move, Tile<Shape<1>, f32, M>, X>
auto move(X&& x) -> decltype(detail::unwrap(detail::broken_call<ops::move, Tile<Shape<1>, f32, M>, X>()));

/// The same elements in shape S.
template <class S, class X>
  requires shaped<X> && detail::lawful_call<ops::reshape, Tensor<S, f32>, X>
[[nodiscard]] auto reshape(X&& x, std::source_location at = std::source_location::current()) {
  return detail::make_call<ops::reshape, Tensor<S, f32>>(at, TESSERA_FORWARD(x));
}
template <class S, class X>
  requires detail::refused_call<ops::reshape, Tensor<S, f32>, X>
auto reshape(X&& x) -> decltype(detail::unwrap(detail::broken_call<ops::reshape, Tensor<S, f32>, X>()));

/// The same bytes as elements of type D: `reinterpret<i16>(x)` scales the last dim, `reinterpret<i16, Shape<8, 32>>(x)` states
/// the shape.
template <DType D, class X>
  requires shaped<X> && detail::lawful_call<ops::reinterpret, Scalar<D>, X>
[[nodiscard]] auto reinterpret(X&& x, std::source_location at = std::source_location::current()) {
  return detail::make_call<ops::reinterpret, Scalar<D>>(at, TESSERA_FORWARD(x));
}
template <DType D, class X>
  requires detail::refused_call<ops::reinterpret, Scalar<D>, X>
auto reinterpret(X&& x) -> decltype(detail::unwrap(detail::broken_call<ops::reinterpret, Scalar<D>, X>()));
template <DType D, class S, class X>
  requires shaped<X> && detail::lawful_call<ops::reinterpret, Tensor<S, D>, X>
[[nodiscard]] auto reinterpret(X&& x, std::source_location at = std::source_location::current()) {
  return detail::make_call<ops::reinterpret, Tensor<S, D>>(at, TESSERA_FORWARD(x));
}
template <DType D, class S, class X>
  requires detail::refused_call<ops::reinterpret, Tensor<S, D>, X>
auto reinterpret(X&& x) -> decltype(detail::unwrap(detail::broken_call<ops::reinterpret, Tensor<S, D>, X>()));

/// A column [..,M,1] repeated to shape S; col_expand repeats a row.
template <class S, class X>
  requires shaped<X> && detail::lawful_call<ops::row_expand, Tensor<S, f32>, X>
[[nodiscard]] auto row_expand(X&& x, std::source_location at = std::source_location::current()) {
  return detail::make_call<ops::row_expand, Tensor<S, f32>>(at, TESSERA_FORWARD(x));
}
template <class S, class X>
  requires detail::refused_call<ops::row_expand, Tensor<S, f32>, X>
auto row_expand(X&& x) -> decltype(detail::unwrap(detail::broken_call<ops::row_expand, Tensor<S, f32>, X>()));
template <class S, class X>
  requires shaped<X> && detail::lawful_call<ops::col_expand, Tensor<S, f32>, X>
[[nodiscard]] auto col_expand(X&& x, std::source_location at = std::source_location::current()) {
  return detail::make_call<ops::col_expand, Tensor<S, f32>>(at, TESSERA_FORWARD(x));
}
template <class S, class X>
  requires detail::refused_call<ops::col_expand, Tensor<S, f32>, X>
auto col_expand(X&& x) -> decltype(detail::unwrap(detail::broken_call<ops::col_expand, Tensor<S, f32>, X>()));

/// x repeated to shape S, as in numpy: each dim of x, counted from the last, is 1 or that of S. The operators do it by themselves.
template <class S, class X>
  requires shaped<X> && detail::lawful_call<ops::broadcast_to, Tensor<S, f32>, X>
[[nodiscard]] auto broadcast_to(X&& x, std::source_location at = std::source_location::current()) {
  constexpr const OpInfo* op = detail::repetition(type_of<value_of<X>>, type_of<Tensor<S, f32>>);
  return detail::make_call<*op, Tensor<S, f32>>(at, TESSERA_FORWARD(x));
}
template <class S, class X>
  requires detail::refused_call<ops::broadcast_to, Tensor<S, f32>, X>
auto broadcast_to(X&& x) -> decltype(detail::unwrap(detail::broken_call<ops::broadcast_to, Tensor<S, f32>, X>()));

/// The elements outside of the valid extents filled; the result is fully valid.
template <class X>
  requires detail::lawful_call<ops::fillpad, void, X>
[[nodiscard]] auto fillpad(X&& x, Pad pad = Pad::zero, std::source_location at = std::source_location::current()) {
  return detail::make_call_with<ops::fillpad, void>(at, int_attr(AttrKey::pad, static_cast<int>(pad)), TESSERA_FORWARD(x));
}
template <class X>
  requires detail::unlawful_call<ops::fillpad, void, X>
auto fillpad(X&& x) -> decltype(detail::unwrap(detail::broken_type<detail::verdict_on<ops::fillpad, void, X>>()));

/// x in the corner of shape S, everything else filled; the result is fully valid. The last two dims may grow.
template <class S, class X>
  requires detail::lawful_call<ops::fillpad_expand, Tensor<S, f32>, X>
[[nodiscard]] auto fillpad_expand(X&& x, Pad pad = Pad::zero, std::source_location at = std::source_location::current()) {
  return detail::make_call_with<ops::fillpad_expand, Tensor<S, f32>>(at, int_attr(AttrKey::pad, static_cast<int>(pad)), TESSERA_FORWARD(x));
}
template <class S, class X>
  requires detail::refused_call<ops::fillpad_expand, Tensor<S, f32>, X>
auto fillpad_expand(X&& x, Pad pad = Pad::zero) -> decltype(detail::unwrap(detail::broken_call<ops::fillpad_expand, Tensor<S, f32>, X>()));

/// Infinity for fills and comparisons; it takes the partner's element type.
inline constexpr double infinity = __builtin_inf();

namespace detail {
/// Whether N may stand for one element of V.
template <class V, class N>
concept fill_number = assignable_to<N, scalar_like_t<V>>;
template <class V, class N>
constexpr Verdict judge_number() {
  if constexpr (fill_number<V, N>) return lawful();
  else if constexpr (scalar_operand<N>) return breaks(rule::scalar_dtype_differs, arg_op, arg(type_of<V>.dtype), arg(type_of<value_of<N>>.dtype));
  else if constexpr (!recorded<N> && is_floating_number<N>()) return breaks(rule::floating_literal_with_integers, arg_op, arg(type_of<V>.dtype));
  else return breaks(rule::operand_is_not_a_number, arg_op);
}
template <const OpInfo& Op, class V, class N>
struct verdict_of_fill {
  static constexpr const OpInfo* op = &Op;
  static constexpr Verdict make() {
    const Verdict number = judge_number<V, N>();
    if (!number.lawful()) return number;
    if (type_of<V>.is_tile() && !Op.result_spaces.contains(type_of<V>.space))
      return breaks(rule::result_is_in_the_wrong_space, arg_op, arg(type_of<V>.space));
    const OperandInfo operand[1] = {{scalar_type(type_of<V>.dtype)}};
    return judge(Op, {operand, 1, type_of<V>});
  }
  static constexpr Verdict value = make();
};
template <class V, TypeKind K>
struct verdict_of_create {
  static constexpr const OpInfo* op = &ops::create;
  static constexpr Verdict make() {
    if (type_of<V>.kind != K) return breaks(rule::result_is_in_the_wrong_space, arg_op, arg(type_of<V>.space));
    return judge(ops::create, {nullptr, 0, type_of<V>});
  }
  static constexpr Verdict value = make();
};
template <class S, DType D, MemorySpace M>
using shaped_type_t = typename shaped_type<S, D, M>::type;
}  // namespace detail

/// Every element equal to `value`: a tensor value, or a tile when a space is given.
template <class S, DType D, MemorySpace M = Gm, class N>
  requires(detail::verdict_of_fill<ops::full, detail::shaped_type_t<S, D, M>, N>::value.lawful())
[[nodiscard]] auto full(N&& value, std::source_location at = std::source_location::current()) {
  using V = detail::shaped_type_t<S, D, M>;
  return detail::node<ops::full, V>(at, detail::scalar_operand_child<V>(at, TESSERA_FORWARD(value)));
}
template <class S, DType D, MemorySpace M = Gm, class N>
  requires(!detail::verdict_of_fill<ops::full, detail::shaped_type_t<S, D, M>, N>::value.lawful())
auto full(N&& value) -> decltype(detail::unwrap(detail::broken_type<detail::verdict_of_fill<ops::full, detail::shaped_type_t<S, D, M>, N>>()));
/// start, start + 1, ... in one row; with Order::descending start, start - 1, ...
template <class S, DType D, MemorySpace M = Gm, class N>
  requires(detail::verdict_of_fill<ops::arange, detail::shaped_type_t<S, D, M>, N>::value.lawful())
[[nodiscard]] auto arange(N&& start, Order order = Order::ascending, std::source_location at = std::source_location::current()) {
  using V = detail::shaped_type_t<S, D, M>;
  auto first = detail::scalar_operand_child<V>(at, TESSERA_FORWARD(start));
  using E = expression<V, ops::arange, 0, decltype(first)>;
  if (order == Order::descending) return E(at, int_attr(AttrKey::descending, 1), std::move(first));
  return E(at, std::move(first));
}
template <class S, DType D, MemorySpace M = Gm, class N>
  requires(!detail::verdict_of_fill<ops::arange, detail::shaped_type_t<S, D, M>, N>::value.lawful())
auto arange(N&& start, Order order = Order::ascending) -> decltype(detail::unwrap(detail::broken_type<detail::verdict_of_fill<ops::arange, detail::shaped_type_t<S, D, M>, N>>()));

/// A tensor value of undefined content; tile makes a tile.
template <class S, DType D>
  requires(detail::verdict_of_create<Tensor<S, D>, TypeKind::tensor>::value.lawful())
[[nodiscard]] auto create(std::source_location at = std::source_location::current()) {
  return expression<Tensor<S, D>, ops::create, 0>(at);
}
template <class S, DType D>
  requires(!detail::verdict_of_create<Tensor<S, D>, TypeKind::tensor>::value.lawful())
auto create() -> decltype(detail::unwrap(detail::broken_type<detail::verdict_of_create<Tensor<S, D>, TypeKind::tensor>>()));
template <class S, DType D, MemorySpace M = Vec>
  requires(detail::verdict_of_create<Tile<S, D, M>, TypeKind::tile>::value.lawful())
[[nodiscard]] auto tile(std::source_location at = std::source_location::current()) {
  return expression<Tile<S, D, M>, ops::create, 0>(at);
}
template <class S, DType D, MemorySpace M = Vec>
  requires(!detail::verdict_of_create<Tile<S, D, M>, TypeKind::tile>::value.lawful())
auto tile() -> decltype(detail::unwrap(detail::broken_type<detail::verdict_of_create<Tile<S, D, M>, TypeKind::tile>>()));

// A shape is a type and an element type is a value: what else stands there is refused by name. Declared only.
#define TESSERA_SHAPE_OF(NAME)                   \
  template <auto N, auto... More, class... X>    \
  broken::shape_is_given_as_numbers<&ops::NAME> NAME(X&&...);
#define TESSERA_ELEMENTS_OF(NAME, OP)                      \
  template <class S, class D, auto... M, class... X>       \
  broken::element_type_is_a_cpp_type<&ops::OP> NAME(X&&...); \
  template <auto N, auto... More, class... X>              \
  broken::shape_is_given_as_numbers<&ops::OP> NAME(X&&...);
TESSERA_SHAPE_OF(reshape)
TESSERA_SHAPE_OF(row_expand)
TESSERA_SHAPE_OF(col_expand)
TESSERA_SHAPE_OF(broadcast_to)
TESSERA_SHAPE_OF(fillpad_expand)
TESSERA_ELEMENTS_OF(full, full)
TESSERA_ELEMENTS_OF(arange, arange)
TESSERA_ELEMENTS_OF(create, create)
TESSERA_ELEMENTS_OF(tile, create)
#undef TESSERA_ELEMENTS_OF
template <class D, class X>
broken::element_type_is_a_cpp_type<&ops::cast> cast(X&&, Rounding = Rounding::round);
template <DType D, class X>
  requires(!recorded<X>)
broken::value_is_not_recorded<&ops::cast> cast(X&&, Rounding = Rounding::round);
template <class D, class... S, class X>
broken::element_type_is_a_cpp_type<&ops::reinterpret> reinterpret(X&&);
template <DType D, auto N, auto... More, class X>
broken::shape_is_given_as_numbers<&ops::reinterpret> reinterpret(X&&);

/// Which block of the launch runs, and how many there are.
[[nodiscard]] inline auto block_index(std::source_location at = std::source_location::current()) {
  return expression<Index, ops::block_index, 0>(at);
}
[[nodiscard]] inline auto block_count(std::source_location at = std::source_location::current()) {
  return expression<Index, ops::block_count, 0>(at);
}
/// Which of the vector cores of its block runs this kernel, and how many there are.
[[nodiscard]] inline auto subblock_index(std::source_location at = std::source_location::current()) {
  return expression<Index, ops::subblock_index, 0>(at);
}
[[nodiscard]] inline auto subblock_count(std::source_location at = std::source_location::current()) {
  return expression<Index, ops::subblock_count, 0>(at);
}

/// A dim of a tensor or tile: a constant, or the run-time value of its symbol.
template <class X>
  requires shaped<X>
[[nodiscard]] Index dim(const X&, int axis, std::source_location at = std::source_location::current()) {
  Recorder& r = Recorder::current(at);
  return {r, r.dim_value(type_of<value_of<X>>, axis, detail::location_of(at))};
}

/// Names a value in dumps and in emitted code.
template <class X>
  requires recorded<X>
[[nodiscard]] value_of<X> named(const char* name, X&& x, std::source_location at = std::source_location::current()) {
  Recorder& r = Recorder::current(at);
  const ValueId v = detail::record_operand(at, TESSERA_FORWARD(x));
  r.set_name(v, name);
  return {r, v};
}

}  // namespace tessera
