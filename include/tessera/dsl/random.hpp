// random: tensors and tiles of random bits, from a key and a counter.
#pragma once

#include "../ops/random.hpp"
#include "windows.hpp"

namespace tessera {
namespace detail {

template <class X>
constexpr Type word_type() {
  if constexpr (recorded<X>) return type_of<value_of<X>>;
  else return scalar_type(std::is_arithmetic_v<std::remove_cvref_t<X>> && std::is_unsigned_v<std::remove_cvref_t<X>> ? u32 : i32);
}
template <class X>
concept random_word = (recorded<X> || (literal_number<X> && !is_floating_number<X>())) && is_random_word(word_type<X>());
template <random_word X>
auto word_child(const std::source_location& at, X&& x) {
  if constexpr (recorded<X>) return make_child(at, TESSERA_FORWARD(x));
  else if constexpr (word_type<X>().dtype == u32) return make_literal<Scalar<u32>>(x);
  else return make_literal<Scalar<i32>>(x);
}

/// Words that the operation records.
template <class Tag, class... X>
struct word_list {
  slots<std::make_index_sequence<sizeof...(X)>, decltype(word_child(std::source_location(), std::declval<X>()))...> kids;
};
struct key_tag {};
struct counter_tag {};
template <class L>
concept key_words = requires(L l) { []<class... X>(const word_list<key_tag, X...>&) {}(l); };
template <class L>
concept counter_words = requires(L l) { []<class... X>(const word_list<counter_tag, X...>&) {}(l); };

template <class V>
struct random_verdict {
  static constexpr const OpInfo* op = &ops::random;
  static constexpr Verdict make() {
    if (type_of<V>.is_tile() && !ops::random.result_spaces.contains(type_of<V>.space))
      return breaks(rule::result_is_in_the_wrong_space, arg_op, arg(type_of<V>.space));
    OperandInfo operands[random_words];
    for (OperandInfo& o : operands) o.type = scalar_type(i32);
    return judge(ops::random, {operands, random_words, type_of<V>});
  }
  static constexpr Verdict value = make();
};

}  // namespace detail

/// The key of random numbers, two words of i32 or u32: another key gives other numbers.
template <class A, class B>
  requires detail::random_word<A> && detail::random_word<B>
[[nodiscard]] auto philox_key(A&& a, B&& b) {
  constexpr std::source_location at;
  return detail::word_list<detail::key_tag, A, B>{{{detail::word_child(at, TESSERA_FORWARD(a))}, {detail::word_child(at, TESSERA_FORWARD(b))}}};
}
template <class A, class B>
  requires(!detail::random_word<A> || !detail::random_word<B>)
broken::random_word_is_not_i32<> philox_key(A&& a, B&& b);
/// Where in the key's sequence random numbers begin: four words of i32 or u32, the lowest one first.
template <class A, class B, class C, class D>
  requires detail::random_word<A> && detail::random_word<B> && detail::random_word<C> && detail::random_word<D>
[[nodiscard]] auto philox_counter(A&& a, B&& b, C&& c, D&& d) {
  constexpr std::source_location at;
  return detail::word_list<detail::counter_tag, A, B, C, D>{{{detail::word_child(at, TESSERA_FORWARD(a))}, {detail::word_child(at, TESSERA_FORWARD(b))},
                                                             {detail::word_child(at, TESSERA_FORWARD(c))}, {detail::word_child(at, TESSERA_FORWARD(d))}}};
}
template <class A, class B, class C, class D>
  requires(!detail::random_word<A> || !detail::random_word<B> || !detail::random_word<C> || !detail::random_word<D>)
broken::random_word_is_not_i32<> philox_counter(A&& a, B&& b, C&& c, D&& d);

/// [M,N] of random bits: `random<Shape<4, 256>, u32>(philox_key(1, 2), philox_counter(i, 0, 0, 0))`, in 10 rounds or in 7. A tensor
/// value, or a tile when a space is given. On a5 only.
template <class S, DType D, MemorySpace M = Gm, class K, class C>
  requires detail::key_words<K> && detail::counter_words<C> && (detail::random_verdict<detail::shaped_type_t<S, D, M>>::value.lawful())
[[nodiscard]] auto random(K&& key, C&& counter, int rounds = 10, std::source_location at = std::source_location::current()) {
  using V = detail::result_t<detail::random_verdict<detail::shaped_type_t<S, D, M>>>;
  Recorder& r = Recorder::current(at);
  const Location where = detail::location_of(at);
  r.go_here(where);
  ValueId operands[detail::random_words];
  key.kids.record(r, where, operands);
  counter.kids.record(r, where, operands + detail::random_key_words);
  const Attr attr = int_attr(AttrKey::rounds, rounds);
  r.set_location(where);
  return V(r, r.emit(ops::random, {operands, detail::random_words}, {&attr, rounds == 10 ? std::size_t{0} : std::size_t{1}}, type_of<V>));
}
template <class S, DType D, MemorySpace M = Gm, class K, class C>
  requires detail::key_words<K> && detail::counter_words<C> && (!detail::random_verdict<detail::shaped_type_t<S, D, M>>::value.lawful())
auto random(K&& key, C&& counter, int rounds = 10)
    -> decltype(detail::unwrap(detail::broken_type<detail::random_verdict<detail::shaped_type_t<S, D, M>>>()));
template <class S, class D, auto... M, class... X>
broken::element_type_is_a_cpp_type<&ops::random> random(X&&...);
TESSERA_SHAPE_OF(random)

}  // namespace tessera
