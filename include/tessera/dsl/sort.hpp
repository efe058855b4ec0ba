// Sorts: sort32 makes sorted blocks of rows, merge_sort merges blocks of one row, or two to four rows.
#pragma once

#include "functions.hpp"

namespace tessera {
namespace detail {

template <class N>
concept integral_literal = literal_number<N> && !recorded<N> && !is_floating_number<N>();
template <class X, class N>
struct merge_plan {
  static constexpr const OpInfo* op = &ops::merge_sort;
  static constexpr Verdict make() {
    if constexpr (!integral_literal<N>) {
      return breaks(rule::merge_block_is_not_constant);
    } else {
      OperandInfo operands[2] = {{type_of<value_of<X>>}, {scalar_type(i32)}};
      if constexpr (!std::is_arithmetic_v<std::remove_cvref_t<N>>) {
        operands[1].is_constant = true;
        operands[1].constant = std::remove_cvref_t<N>::value;
      }
      return judge(ops::merge_sort, {operands, 2});
    }
  }
  static constexpr Verdict value = make();
};

}  // namespace detail

/// Blocks of 32 elements of each row of x in descending order, each element with its index (u32, of x's shape or one row): pairs
/// of 8 bytes, so that [..,N] becomes [..,2N] of f32 or [..,4N] of f16. merge_sort makes longer sorted blocks of them.
TESSERA_PAIR(sort32)

/// One row of pairs (sort32) whose blocks of `block` elements are sorted: each four of them become one sorted block, as do two or
/// three that are the whole row. A `64_c` is checked by the compiler.
template <class X, class N>
  requires shaped<X> && (!shaped<N>) && (detail::merge_plan<X, N>::value.lawful())
[[nodiscard]] auto merge_sort(X&& x, N&& block, std::source_location at = std::source_location::current()) {
  using V = detail::result_t<detail::merge_plan<X, N>>;
  return detail::node<ops::merge_sort, V>(at, detail::make_child(at, TESSERA_FORWARD(x)), detail::make_literal<Scalar<i32>>(block));
}
template <class X, class N>
  requires recorded<X> && (!shaped<N>) && (!detail::merge_plan<X, N>::value.lawful())
auto merge_sort(X&& x, N&& block) -> decltype(detail::unwrap(detail::broken_type<detail::merge_plan<X, N>>()));
template <recorded X>
broken::merge_block_is_not_constant<> merge_sort(X&&);
/// Two to four sorted rows of pairs become one, as wide as all of them.
template <class A, class B>
  requires shaped<A> && shaped<B> && detail::lawful_call<ops::merge_sort2, void, A, B>
[[nodiscard]] auto merge_sort(A&& a, B&& b, std::source_location at = std::source_location::current()) {
  return detail::make_call<ops::merge_sort2, void>(at, TESSERA_FORWARD(a), TESSERA_FORWARD(b));
}
template <class A, class B>
  requires shaped<A> && shaped<B> && detail::unlawful_call<ops::merge_sort2, void, A, B>
auto merge_sort(A&& a, B&& b) -> decltype(detail::unwrap(detail::broken_type<detail::verdict_on<ops::merge_sort2, void, A, B>>()));
template <class A, class B, class C>
  requires shaped<A> && shaped<B> && shaped<C> && detail::lawful_call<ops::merge_sort3, void, A, B, C>
[[nodiscard]] auto merge_sort(A&& a, B&& b, C&& c, std::source_location at = std::source_location::current()) {
  return detail::make_call<ops::merge_sort3, void>(at, TESSERA_FORWARD(a), TESSERA_FORWARD(b), TESSERA_FORWARD(c));
}
template <class A, class B, class C>
  requires shaped<A> && shaped<B> && shaped<C> && detail::unlawful_call<ops::merge_sort3, void, A, B, C>
auto merge_sort(A&& a, B&& b, C&& c) -> decltype(detail::unwrap(detail::broken_type<detail::verdict_on<ops::merge_sort3, void, A, B, C>>()));
template <class A, class B, class C, class D>
  requires shaped<A> && shaped<B> && shaped<C> && shaped<D> && detail::lawful_call<ops::merge_sort4, void, A, B, C, D>
[[nodiscard]] auto merge_sort(A&& a, B&& b, C&& c, D&& d, std::source_location at = std::source_location::current()) {
  return detail::make_call<ops::merge_sort4, void>(at, TESSERA_FORWARD(a), TESSERA_FORWARD(b), TESSERA_FORWARD(c), TESSERA_FORWARD(d));
}
template <class A, class B, class C, class D>
  requires shaped<A> && shaped<B> && shaped<C> && shaped<D> && detail::unlawful_call<ops::merge_sort4, void, A, B, C, D>
auto merge_sort(A&& a, B&& b, C&& c, D&& d) -> decltype(detail::unwrap(detail::broken_type<detail::verdict_on<ops::merge_sort4, void, A, B, C, D>>()));

}  // namespace tessera
