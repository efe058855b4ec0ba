// The same elements elsewhere or in another shape: transpose, move, reshape, reinterpret, repetitions, fills of what is not valid.
#pragma once

#include "functions.hpp"

namespace tessera {

/// The last two axes exchanged. As an operand of matmul no data moves.
template <class X>
  requires shaped<X> && (type_of<value_of<X>>.rank >= 2) && detail::lawful_call<ops::transpose, void, X>
[[nodiscard]] auto transpose(X&& x, std::source_location at = std::source_location::current()) {
  return detail::make_call<ops::transpose, void>(at, TESSERA_FORWARD(x));
}
template <class X>
  requires detail::unlawful_call<ops::transpose, void, X>
auto transpose(X&& x) -> decltype(detail::unwrap(detail::broken_type<detail::verdict_on<ops::transpose, void, X>>()));
TESSERA_ONE_OPERAND(transpose)

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

// A shape is a type and an element type is a value: what else stands there is refused by name. Declared only.
TESSERA_SHAPE_OF(reshape)
TESSERA_SHAPE_OF(row_expand)
TESSERA_SHAPE_OF(col_expand)
TESSERA_SHAPE_OF(broadcast_to)
TESSERA_SHAPE_OF(fillpad_expand)
template <recorded X>
broken::space_is_missing<> move(X&&);
template <recorded X, detail::operand_or_number N>
broken::fill_is_not_a_pad<&ops::fillpad> fillpad(X&&, N&&);
template <class S, recorded X, detail::operand_or_number N>
broken::fill_is_not_a_pad<&ops::fillpad_expand> fillpad_expand(X&&, N&&);
template <class D, class... S, class X>
broken::element_type_is_a_cpp_type<&ops::reinterpret> reinterpret(X&&);
template <recorded X, class... More>
broken::element_type_is_missing<&ops::reinterpret> reinterpret(X&&, More&&...);
template <DType D, auto N, auto... More, class X>
broken::shape_is_given_as_numbers<&ops::reinterpret> reinterpret(X&&);

}  // namespace tessera
