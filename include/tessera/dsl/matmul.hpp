// Matrix products. An operand that is a transpose written in place is read transposed.
#pragma once

#include "shapes.hpp"

namespace tessera {
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

}  // namespace tessera
