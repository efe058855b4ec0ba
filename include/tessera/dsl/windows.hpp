// Windows: load, store, slice, assemble, read, write and valid extents. Offsets are `at(i, 0)`, extents `valid(m, n)`; an
// integral constant (`0_c`) is checked against the shape by the C++ compiler.
#pragma once

#include <boost/hana/integral_constant.hpp>
#include <boost/hana/negate.hpp>  // -1_c

#include "indexed.hpp"

namespace tessera {

using boost::hana::literals::operator""_c;

namespace detail {

template <class X>
concept integer_operand = (scalar_operand<X> && is_integer_or_index(type_of<value_of<X>>.dtype)) ||
                          (literal_number<X> && !recorded<X> && !is_floating_number<X>());
template <class X>
concept constant_operand = !recorded<X> && !std::is_arithmetic_v<std::remove_cvref_t<X>> && literal_number<X>;

/// One offset, index or extent: an Index expression or a number.
template <class X>
auto index_child(const std::source_location& at, X&& x) {
  if constexpr (recorded<X>) return to_index(at, make_child(at, std::forward<X>(x)));
  else return make_literal<Index>(x);
}
template <class X>
constexpr OperandInfo index_info() {
  if constexpr (constant_operand<X>) return {index_scalar, true, std::remove_cvref_t<X>::value, nullptr};
  else return {index_scalar, false, 0, nullptr};
}

template <std::size_t I, class K>
struct slot {
  K kid;
};
template <class Seq, class... K>
struct slots;
template <std::size_t... I, class... K>
struct slots<std::index_sequence<I...>, K...> : slot<I, K>... {
  // Left to right, whatever order the compiler made the arguments in.
  void record(Recorder& r, const Location& at, ValueId* v) const { ((v[I] = static_cast<const slot<I, K>&>(*this).kid.record(r, at)), ...); }
};

/// A list of indices, recorded by the operation that takes it. X are the types that the user wrote.
template <class Tag, class... X>
struct index_list {
  static constexpr int size = sizeof...(X);
  static constexpr OperandInfo infos[sizeof...(X) + 1] = {index_info<X>()...};
  slots<std::make_index_sequence<sizeof...(X)>, decltype(index_child(std::source_location(), std::declval<X>()))...> kids;
};
struct offset_tag {};
struct valid_tag {};

template <class L>
concept offset_list = requires(L l) { []<class... X>(const index_list<offset_tag, X...>&) {}(l); };
/// Asks for the extents that stay inside the source.
struct clamped_tag {};
template <class L>
concept valid_list = requires(L l) { []<class... X>(const index_list<valid_tag, X...>&) {}(l); } ||
                     std::is_same_v<std::remove_cvref_t<L>, clamped_tag>;
struct no_valid {
  static constexpr int size = 0;
};

/// The extents of a window of shape S at the offsets O in a source of type T, as far as they stay inside.
template <Type T, class S, class O>
struct clamped_extents {
  static constexpr Type window = type_of<Tensor<S, f32>>;
  static constexpr int size = window.rank;
  struct list {
    OperandInfo items[max_rank];
  };
  static constexpr list make() {
    list l = {};
    for (int i = 0; i < size; ++i) {
      l.items[i].type = index_scalar;
      if (i >= O::size || i >= T.rank || !O::infos[i].is_constant || is_dynamic(T.dims[i])) continue;
      const std::int64_t left = T.dims[i] - O::infos[i].constant;
      l.items[i].is_constant = true;
      l.items[i].constant = left < 0 ? 0 : left < window.dims[i] ? left : window.dims[i];
    }
    return l;
  }
  static constexpr list known = make();
  static constexpr const OperandInfo (&infos)[max_rank] = known.items;
  struct recorded_kids {
    // `v` follows the source and the offsets among the operands.
    void record(Recorder& r, const Location&, ValueId* v) const { r.clamp(v - size - 1, window, v); }
  } kids;
};
template <class E, class X, class S, class O>
struct extents_of_window {
  using type = std::remove_cvref_t<E>;
};
template <class X, class S, class O>
struct extents_of_window<clamped_tag, X, S, O> {
  using type = clamped_extents<type_of<value_of<X>>, S, std::remove_cvref_t<O>>;
};
/// The list of extents that E stands for: itself, or what `clamped` means here.
template <class E, class X, class S, class O>
using extents_t = typename extents_of_window<std::remove_cvref_t<E>, X, S, O>::type;
template <class List>
inline constexpr List computed_extents{};
template <class List, class E>
const List& extents_list(const E& e) {
  if constexpr (std::is_same_v<E, clamped_tag>) return computed_extents<List>;
  else return e;
}

}  // namespace detail

/// In place of valid(...): the extents with which a window stays inside its source.
inline constexpr detail::clamped_tag clamped{};

/// Offsets or indices, one for each dim.
template <class... X>
  requires(detail::integer_operand<X> && ...)
[[nodiscard]] auto at(X&&... x) {
  return detail::index_list<detail::offset_tag, X...>{{{detail::index_child(std::source_location(), std::forward<X>(x))}...}};
}
template <class... X>
  requires(!(detail::integer_operand<X> && ...))
broken::operand_is_not_an_integer<> at(X&&... x);
/// Valid extents, one for each dim.
template <class... X>
  requires(detail::integer_operand<X> && ...)
[[nodiscard]] auto valid(X&&... x) {
  return detail::index_list<detail::valid_tag, X...>{{{detail::index_child(std::source_location(), std::forward<X>(x))}...}};
}
template <class... X>
  requires(!(detail::integer_operand<X> && ...))
broken::operand_is_not_an_integer<> valid(X&&... x);

namespace detail {
inline namespace TESSERA_TARGET_NAMESPACE {

/// The verdict on a window operation: shaped operands V, then the lists.
template <const OpInfo& Op, class Requested, class Offsets, class Valid, class... V>
struct window_verdict {
  static constexpr const OpInfo* op = &Op;
  static constexpr Verdict make() {
    if constexpr (!requires { Offsets::infos; } || !requires { Valid::size; }) return breaks(rule::window_arguments_differ, arg_op);
    else return judge_lists();
  }
  static constexpr Verdict judge_lists() {
    constexpr int shaped_count = sizeof...(V), offset_count = Offsets::size, valid_count = Valid::size;
    OperandInfo operands[shaped_count + offset_count + valid_count + 1] = {OperandInfo{type_of<V>}...};
    for (int i = 0; i < offset_count; ++i) operands[shaped_count + i] = Offsets::infos[i];
    if constexpr (valid_count > 0)
      for (int i = 0; i < valid_count; ++i) operands[shaped_count + offset_count + i] = Valid::infos[i];
    const Attr attr = int_attr(AttrKey::has_valid, 1);
    InferInput in{operands, shaped_count + offset_count + valid_count, {}, &attr, valid_count > 0 ? 1 : 0};
    if constexpr (!std::is_void_v<Requested>) in.requested = type_of<Requested>;
    // Offsets and extents are counted apart first: together they could add up by chance.
    constexpr int rank = std::is_void_v<Requested> ? -1 : type_of<std::conditional_t<std::is_void_v<Requested>, Index, Requested>>.rank;
    if (rank >= 0 && valid_count > 0 && offset_count != rank)
      return breaks(rule::offset_count_differs, arg_op, arg(std::int64_t{offset_count}), arg(std::int64_t{rank}));
    return judge(Op, in);
  }
  static constexpr Verdict value = make();
};

}  // namespace TESSERA_TARGET_NAMESPACE

// The lists are recorded in the order of the source, behind the leading operands: one tensor or tile, or two operands.
template <class Offsets, class Valid>
ValueId emit_window(const OpInfo& op, List<ValueId> leading, const Offsets& offsets, const Valid& extents, const Type& requested,
                    const std::source_location& at, List<Attr> attrs = {}) {
  Recorder& r = Recorder::current(at);
  const Location where = location_of(at);
  r.go_here(where);
  ValueId operands[2 + Offsets::size + Valid::size];
  std::size_t n = 0;
  for (const ValueId v : leading) operands[n++] = v;
  offsets.kids.record(r, where, operands + n);
  n += Offsets::size;
  const Attr has_valid = int_attr(AttrKey::has_valid, 1);
  if constexpr (Valid::size > 0) {
    extents.kids.record(r, where, operands + n);
    n += Valid::size;
    attrs = {&has_valid, 1};
  }
  r.set_location(where);
  return r.emit(op, {operands, n}, attrs, requested);
}

}  // namespace detail

namespace detail {
template <class S, class X>
using view_verdict = verdict_on<ops::view, Tensor<S, f32>, X>;
template <class X>
concept tensor_parameter = recorded<X> && (output<X> || std::is_same_v<std::remove_cvref_t<X>, value_of<X>>);
template <class S, class X>
struct view_of {
  using type = Tensor<S, type_of<value_of<X>>.dtype>;
};
template <class S, class T>
struct view_of<S, Out<T>> {
  using type = Out<Tensor<S, T::dtype>>;
};
template <class S, class T>
struct view_of<S, InOut<T>> {
  using type = InOut<Tensor<S, T::dtype>>;
};
}  // namespace detail

/// A tensor parameter with the dims S: the same memory, to load from, and to store to where the parameter is an output.
template <class S, class X>
  requires detail::tensor_parameter<X> && (detail::view_verdict<S, X>::value.lawful())
[[nodiscard]] auto view(X&& x, std::source_location at = std::source_location::current()) {
  Recorder& r = Recorder::current(at);
  r.go_here(detail::location_of(at));
  return typename detail::view_of<S, std::remove_cvref_t<X>>::type(r, r.emit(ops::view, {x.resolve(at)}, {}, type_of<Tensor<S, type_of<value_of<X>>.dtype>>));
}
template <class S, class X>
  requires detail::tensor_parameter<X> && (!detail::view_verdict<S, X>::value.lawful())
auto view(X&& x) -> decltype(detail::unwrap(detail::broken_type<detail::view_verdict<S, X>>()));
template <class S, class X>
  requires shaped<X> && (!detail::tensor_parameter<X>)
broken::view_of_a_value<> view(X&& x);

#define TESSERA_EXTENTS detail::extents_t<E, X, S, O>
#define TESSERA_LOAD_VERDICT(VALID) \
  detail::window_verdict<ops::load, Tile<S, type_of<value_of<X>>.dtype, M>, std::remove_cvref_t<O>, VALID, value_of<X>>

/// A window of shape S of a tensor, as a tile in Vec or Mat: `load<Shape<16, 64>>(x, at(i, 0))`. With valid extents only
/// those elements are read; the others are undefined.
template <class S, MemorySpace M = Vec, class X, class O>
  requires shaped<X> && detail::offset_list<O> && (TESSERA_LOAD_VERDICT(detail::no_valid)::value.lawful())
[[nodiscard]] auto load(X&& x, O&& offsets, std::source_location at = std::source_location::current()) {
  using T = Tile<S, type_of<value_of<X>>.dtype, M>;
  return T(Recorder::current(at), detail::emit_window(ops::load, {detail::record_operand(at, std::forward<X>(x))}, offsets, detail::no_valid{}, type_of<T>, at));
}
template <class S, MemorySpace M = Vec, class X, class O>
  requires shaped<X> && detail::offset_list<O> && (!TESSERA_LOAD_VERDICT(detail::no_valid)::value.lawful())
auto load(X&& x, O&& offsets) -> decltype(detail::unwrap(detail::broken_type<TESSERA_LOAD_VERDICT(detail::no_valid)>()));
template <class S, MemorySpace M = Vec, class X, class O, class E>
  requires shaped<X> && detail::offset_list<O> && detail::valid_list<E> && (TESSERA_LOAD_VERDICT(TESSERA_EXTENTS)::value.lawful())
[[nodiscard]] auto load(X&& x, O&& offsets, E&& extents, std::source_location at = std::source_location::current()) {
  using T = Tile<S, type_of<value_of<X>>.dtype, M>;
  return T(Recorder::current(at), detail::emit_window(ops::load, {detail::record_operand(at, std::forward<X>(x))}, offsets, detail::extents_list<TESSERA_EXTENTS>(extents), type_of<T>, at));
}
template <class S, MemorySpace M = Vec, class X, class O, class E>
  requires shaped<X> && detail::offset_list<O> && detail::valid_list<E> && (!TESSERA_LOAD_VERDICT(TESSERA_EXTENTS)::value.lawful())
auto load(X&& x, O&& offsets, E&& extents) -> decltype(detail::unwrap(detail::broken_type<TESSERA_LOAD_VERDICT(TESSERA_EXTENTS)>()));
#undef TESSERA_LOAD_VERDICT

namespace detail {
template <class S, class X>
using sliced = std::conditional_t<type_of<value_of<X>>.is_tensor(), Tensor<S, type_of<value_of<X>>.dtype>,
                                  shaped_type_t<S, type_of<value_of<X>>.dtype, type_of<value_of<X>>.space>>;
}  // namespace detail

#define TESSERA_SLICE_VERDICT(VALID) \
  detail::window_verdict<ops::slice, detail::sliced<S, X>, std::remove_cvref_t<O>, VALID, value_of<X>>

/// A window of shape S of a tensor or tile, as a value of the same kind.
template <class S, class X, class O>
  requires shaped<X> && detail::offset_list<O> && (TESSERA_SLICE_VERDICT(detail::no_valid)::value.lawful())
[[nodiscard]] auto slice(X&& x, O&& offsets, std::source_location at = std::source_location::current()) {
  using T = detail::sliced<S, X>;
  return T(Recorder::current(at), detail::emit_window(ops::slice, {detail::record_operand(at, std::forward<X>(x))}, offsets, detail::no_valid{}, type_of<T>, at));
}
template <class S, class X, class O>
  requires shaped<X> && detail::offset_list<O> && (!TESSERA_SLICE_VERDICT(detail::no_valid)::value.lawful())
auto slice(X&& x, O&& offsets) -> decltype(detail::unwrap(detail::broken_type<TESSERA_SLICE_VERDICT(detail::no_valid)>()));
template <class S, class X, class O, class E>
  requires shaped<X> && detail::offset_list<O> && detail::valid_list<E> && (TESSERA_SLICE_VERDICT(TESSERA_EXTENTS)::value.lawful())
[[nodiscard]] auto slice(X&& x, O&& offsets, E&& extents, std::source_location at = std::source_location::current()) {
  using T = detail::sliced<S, X>;
  return T(Recorder::current(at), detail::emit_window(ops::slice, {detail::record_operand(at, std::forward<X>(x))}, offsets, detail::extents_list<TESSERA_EXTENTS>(extents), type_of<T>, at));
}
template <class S, class X, class O, class E>
  requires shaped<X> && detail::offset_list<O> && detail::valid_list<E> && (!TESSERA_SLICE_VERDICT(TESSERA_EXTENTS)::value.lawful())
auto slice(X&& x, O&& offsets, E&& extents) -> decltype(detail::unwrap(detail::broken_type<TESSERA_SLICE_VERDICT(TESSERA_EXTENTS)>()));
/// As above, with what is not valid filled: the result is fully valid.
template <class S, class X, class O, class E>
  requires shaped<X> && detail::offset_list<O> && detail::valid_list<E> && (TESSERA_SLICE_VERDICT(TESSERA_EXTENTS)::value.lawful()) &&
           detail::lawful_call<ops::fillpad, void, detail::sliced<S, X>>
[[nodiscard]] auto slice(X&& x, O&& offsets, E&& extents, Pad pad, std::source_location at = std::source_location::current()) {
  return fillpad(slice<S>(TESSERA_FORWARD(x), TESSERA_FORWARD(offsets), TESSERA_FORWARD(extents), at), pad, at);
}
template <class S, class X, class O, class E>
  requires shaped<X> && detail::offset_list<O> && detail::valid_list<E> && (!TESSERA_SLICE_VERDICT(TESSERA_EXTENTS)::value.lawful())
auto slice(X&& x, O&& offsets, E&& extents, Pad pad) -> decltype(detail::unwrap(detail::broken_type<TESSERA_SLICE_VERDICT(TESSERA_EXTENTS)>()));
template <class S, class X, class O, class E>
  requires shaped<X> && detail::offset_list<O> && detail::valid_list<E> && detail::unlawful_call<ops::fillpad, void, detail::sliced<S, X>>
auto slice(X&& x, O&& offsets, E&& extents, Pad pad)
    -> decltype(detail::unwrap(detail::broken_type<detail::verdict_on<ops::fillpad, void, detail::sliced<S, X>>>()));
#undef TESSERA_SLICE_VERDICT
#undef TESSERA_EXTENTS

// Numbers in place of a Shape or of at(...), and whatever else is no list. Declared only.
TESSERA_SHAPE_OF(load)
TESSERA_SHAPE_OF(slice)
TESSERA_SHAPE_OF(view)
template <class S, auto... M, class X, class... More>
broken::window_arguments_differ<&ops::load> load(X&&, More&&...);
template <class S, class X, class... More>
broken::window_arguments_differ<&ops::slice> slice(X&&, More&&...);

namespace detail {
template <class X, class T, class O>
using store_verdict = window_verdict<ops::store, void, std::remove_cvref_t<O>, no_valid, value_of<X>, value_of<T>>;
template <class X, class T, class O>
using assemble_verdict = window_verdict<ops::assemble, void, std::remove_cvref_t<O>, no_valid, value_of<T>, value_of<X>>;
}  // namespace detail

/// Writes the valid part of a tile or tensor value to an output tensor at the offsets; Atomic::add adds it to what is there.
template <class X, class T, class O>
  requires shaped<X> && output<T> && detail::offset_list<O> && (detail::store_verdict<X, T, O>::value.lawful())
void store(X&& x, T&& target, O&& offsets, Atomic atomic = Atomic::none, std::source_location at = std::source_location::current()) {
  const ValueId source = detail::record_operand(at, std::forward<X>(x));
  const Attr add = int_attr(AttrKey::atomic_add, 1);
  detail::emit_window(ops::store, {source, target.resolve(at)}, offsets, detail::no_valid{}, {}, at,
                      {&add, atomic == Atomic::add ? std::size_t{1} : std::size_t{0}});
}
template <class X, class T, class O>
  requires shaped<X> && output<T> && detail::offset_list<O> && (!detail::store_verdict<X, T, O>::value.lawful())
auto store(X&& x, T&& target, O&& offsets, Atomic atomic = Atomic::none) -> decltype(detail::unwrap(detail::broken_type<detail::store_verdict<X, T, O>>()));
template <class X, class T, class O>
  requires shaped<X> && shaped<T> && (!output<T>) && detail::offset_list<O>
broken::not_an_output<&ops::store> store(X&& x, T&& target, O&& offsets, Atomic atomic = Atomic::none);
template <recorded X, class... More>
broken::window_arguments_differ<&ops::store> store(X&&, More&&...);

/// `target` with `x` written at the offsets, as a new value.
template <class T, class X, class O>
  requires shaped<X> && shaped<T> && detail::offset_list<O> && (detail::assemble_verdict<X, T, O>::value.lawful())
[[nodiscard]] value_of<T> assemble(T&& target, X&& x, O&& offsets, std::source_location at = std::source_location::current()) {
  const ValueId into = target.resolve(at);
  return {Recorder::current(at), detail::emit_window(ops::assemble, {into, detail::record_operand(at, std::forward<X>(x))}, offsets, detail::no_valid{}, {}, at)};
}
template <class T, class X, class O>
  requires shaped<X> && shaped<T> && detail::offset_list<O> && (!detail::assemble_verdict<X, T, O>::value.lawful())
auto assemble(T&& target, X&& x, O&& offsets) -> decltype(detail::unwrap(detail::broken_type<detail::assemble_verdict<X, T, O>>()));
template <recorded T, class... More>
broken::window_arguments_differ<&ops::assemble> assemble(T&&, More&&...);

namespace detail {
template <class X, class O>
using read_verdict = window_verdict<ops::read, void, std::remove_cvref_t<O>, no_valid, value_of<X>>;
template <class X, class O, class N>
struct write_verdict {
  static constexpr const OpInfo* op = &ops::write;
  static constexpr Verdict make() {
    const Verdict number = judge_number<value_of<X>, N>();
    if (!number.lawful()) return number;
    return window_verdict<ops::write, void, std::remove_cvref_t<O>, no_valid, value_of<X>, scalar_like_t<value_of<X>>>::value;
  }
  static constexpr Verdict value = make();
};
template <class X, class E>
using set_valid_verdict = window_verdict<ops::set_valid_shape, void, std::remove_cvref_t<E>, no_valid, value_of<X>>;
}  // namespace detail

/// One element of a tensor or tile.
template <class X, class O>
  requires shaped<X> && detail::offset_list<O> && (detail::read_verdict<X, O>::value.lawful())
[[nodiscard]] auto read(X&& x, O&& indices, std::source_location at = std::source_location::current()) {
  return detail::scalar_like_t<value_of<X>>(Recorder::current(at),
                                            detail::emit_window(ops::read, {detail::record_operand(at, std::forward<X>(x))}, indices, detail::no_valid{}, {}, at));
}
template <class X, class O>
  requires shaped<X> && detail::offset_list<O> && (!detail::read_verdict<X, O>::value.lawful())
auto read(X&& x, O&& indices) -> decltype(detail::unwrap(detail::broken_type<detail::read_verdict<X, O>>()));
template <recorded X, class... More>
broken::window_arguments_differ<&ops::read> read(X&&, More&&...);
/// Sets one element of an output tensor.
template <class T, class O, class N>
  requires output<T> && detail::offset_list<O> && (detail::write_verdict<T, O, N>::value.lawful())
void write(T&& target, O&& indices, N&& value, std::source_location at = std::source_location::current()) {
  const ValueId into = target.resolve(at);
  const ValueId number = detail::record_now<detail::scalar_like_t<value_of<T>>>(std::forward<N>(value), at);
  detail::emit_window(ops::write, {into, number}, indices, detail::no_valid{}, {}, at);
}
template <class T, class O, class N>
  requires shaped<T> && (output<T> || type_of<value_of<T>>.is_tile()) && detail::offset_list<O> &&
           (!detail::write_verdict<T, O, N>::value.lawful())
auto write(T&& target, O&& indices, N&& value) -> decltype(detail::unwrap(detail::broken_type<detail::write_verdict<T, O, N>>()));
/// A tile or tensor value with one element set, as a new value.
template <class T, class O, class N>
  requires shaped<T> && (!output<T>) && (type_of<value_of<T>>.is_tile()) && detail::offset_list<O> &&
           (detail::write_verdict<T, O, N>::value.lawful())
[[nodiscard]] value_of<T> write(T&& target, O&& indices, N&& value, std::source_location at = std::source_location::current()) {
  const ValueId into = target.resolve(at);
  const ValueId number = detail::record_now<detail::scalar_like_t<value_of<T>>>(std::forward<N>(value), at);
  return {Recorder::current(at), detail::emit_window(ops::write, {into, number}, indices, detail::no_valid{}, {}, at)};
}
template <class T, class O, class N>
  requires shaped<T> && (!output<T>) && (type_of<value_of<T>>.is_tensor()) && detail::offset_list<O>
broken::not_an_output<&ops::write> write(T&& target, O&& indices, N&& value);
template <recorded T, class... More>
broken::window_arguments_differ<&ops::write> write(T&&, More&&...);

/// The same data with other valid extents: `set_valid_shape(t, valid(m, n))`.
template <class X, class E>
  requires shaped<X> && detail::valid_list<E> && (detail::set_valid_verdict<X, E>::value.lawful())
[[nodiscard]] value_of<X> set_valid_shape(X&& x, E&& extents, std::source_location at = std::source_location::current()) {
  return {Recorder::current(at), detail::emit_window(ops::set_valid_shape, {detail::record_operand(at, std::forward<X>(x))}, extents, detail::no_valid{}, {}, at)};
}
template <class X, class E>
  requires shaped<X> && detail::valid_list<E> && (!detail::set_valid_verdict<X, E>::value.lawful())
auto set_valid_shape(X&& x, E&& extents) -> decltype(detail::unwrap(detail::broken_type<detail::set_valid_verdict<X, E>>()));
template <recorded X, class... More>
broken::window_arguments_differ<&ops::set_valid_shape> set_valid_shape(X&&, More&&...);

}  // namespace tessera
