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

template <class X>
concept operand_or_number = recorded<X> || literal_number<X>;
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

/// A second argument of an operation that takes one: refused by name.
#define TESSERA_ONE_OPERAND(NAME)                                \
  template <recorded X, detail::operand_or_number Y, class... More> \
  broken::argument_is_not_taken<&ops::NAME> NAME(X&&, Y&&, More&&...);

/// A shape is a type: numbers in its place are refused by name, as is none. These macros and TESSERA_PAIR are undefined at the end of kernel.hpp.
#define TESSERA_SHAPE_OF(NAME)                   \
  template <auto N, auto... More, class... X>    \
  broken::shape_is_given_as_numbers<&ops::NAME> NAME(X&&...); \
  template <recorded X, class... More>           \
  broken::shape_is_missing<&ops::NAME> NAME(X&&, More&&...);

#define TESSERA_UNARY(NAME)                                                                   \
  template <class X>                                                                          \
    requires detail::lawful_call<ops::NAME, void, X>                                          \
  [[nodiscard]] auto NAME(X&& x, std::source_location at = std::source_location::current()) { \
    return detail::make_call<ops::NAME, void>(at, TESSERA_FORWARD(x));                        \
  }                                                                                           \
  template <class X>                                                                          \
    requires detail::unlawful_call<ops::NAME, void, X>                                        \
  auto NAME(X&& x)->decltype(detail::unwrap(detail::broken_type<detail::verdict_on<ops::NAME, void, X>>())); \
  TESSERA_ONE_OPERAND(NAME)

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
/// x [..,M] and y [..,N] side by side: [..,M+N].
TESSERA_PAIR(concat)
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
// An element type is a value: what else stands there is refused by name. Declared only.
template <class D, class X>
broken::element_type_is_a_cpp_type<&ops::cast> cast(X&&, Rounding = Rounding::round);
template <recorded X, class... More>
broken::element_type_is_missing<&ops::cast> cast(X&&, More&&...);
template <DType D, class X>
  requires(!recorded<X>)
broken::value_is_not_recorded<&ops::cast> cast(X&&, Rounding = Rounding::round);

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
