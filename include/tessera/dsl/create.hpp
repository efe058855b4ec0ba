// Values that come from no operand: full, arange, and storage of undefined content.
#pragma once

#include "functions.hpp"

namespace tessera {

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

namespace detail {
/// An argument that every other candidate would take before.
struct any_argument {
  any_argument();
  template <class X>
  any_argument(X&&);  // NOLINT: converts by design
};
}  // namespace detail
// A shape is a type and an element type is a value: what else stands there is refused by name. Declared only.
#define TESSERA_ELEMENTS_OF(NAME, OP)                      \
  template <class S, class D, auto... M, class... X>       \
  broken::element_type_is_a_cpp_type<&ops::OP> NAME(X&&...); \
  template <auto N, auto... More, class... X>              \
  broken::shape_is_given_as_numbers<&ops::OP> NAME(X&&...);  \
  template <class S>                                       \
  broken::element_type_is_missing<&ops::OP> NAME(detail::any_argument = {}, detail::any_argument = {});
TESSERA_ELEMENTS_OF(full, full)
TESSERA_ELEMENTS_OF(arange, arange)
TESSERA_ELEMENTS_OF(create, create)
TESSERA_ELEMENTS_OF(tile, create)
#undef TESSERA_ELEMENTS_OF
template <class S, DType D, MemorySpace M = Gm>
broken::operand_is_missing<&ops::full> full();
template <class S, DType D, MemorySpace M = Gm>
broken::operand_is_missing<&ops::arange> arange();

}  // namespace tessera
