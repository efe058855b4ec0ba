// Storage in Mat for tensor values, and rows that are gathered into it: create<.., Mat>, gather_row, paged_gather.
#pragma once

#include "windows.hpp"

namespace tessera {
namespace detail {

/// The verdict on storage V that is stated to stand in M, in form F.
template <class V, MemorySpace M, Form F>
struct verdict_of_storage {
  static constexpr const OpInfo* op = &ops::create;
  static constexpr Verdict make() {
    if (type_of<V>.is_tensor() && M != Mat && M != Vec) return breaks(rule::result_is_in_the_wrong_space, arg_op, arg(M));
    const Attr attrs[2] = {int_attr(AttrKey::space, M), int_attr(AttrKey::transposed, F == Form::transposed ? 1 : 0)};
    return judge(ops::create, {nullptr, 0, type_of<V>, attrs, 2});
  }
  static constexpr Verdict value = make();
};
template <MemorySpace M, Form F>
ValueId emit_storage(Type t, const std::source_location& at) {
  Recorder& r = Recorder::current(at);
  r.go_here(location_of(at));
  r.set_location(location_of(at));
  const Attr attrs[2] = {int_attr(AttrKey::space, M), int_attr(AttrKey::transposed, 1)};
  if (t.is_tensor()) return r.emit(ops::create, {}, {attrs, F == Form::transposed ? std::size_t{2} : std::size_t{1}}, t);
  if (F == Form::transposed) t.layout = Layout::zn;
  return r.emit(ops::create, {}, {}, t);
}

}  // namespace detail

/// A tensor value of undefined content that stands in Mat or Vec: storage for gather_row. In form transposed it is a right factor
/// whose columns are gathered.
template <class S, DType D, MemorySpace M, Form F = Form::plain>
  requires(detail::verdict_of_storage<Tensor<S, D>, M, F>::value.lawful())
[[nodiscard]] auto create(std::source_location at = std::source_location::current()) {
  return Tensor<S, D>(Recorder::current(at), detail::emit_storage<M, F>(type_of<Tensor<S, D>>, at));
}
template <class S, DType D, MemorySpace M, Form F = Form::plain>
  requires(!detail::verdict_of_storage<Tensor<S, D>, M, F>::value.lawful())
auto create() -> decltype(detail::unwrap(detail::broken_type<detail::verdict_of_storage<Tensor<S, D>, M, F>>()));
/// A tile of undefined content in another form than the plain one.
template <class S, DType D, MemorySpace M, Form F>
  requires(detail::verdict_of_storage<Tile<S, D, M>, M, F>::value.lawful())
[[nodiscard]] auto tile(std::source_location at = std::source_location::current()) {
  return Tile<S, D, M>(Recorder::current(at), detail::emit_storage<M, F>(type_of<Tile<S, D, M>>, at));
}
template <class S, DType D, MemorySpace M, Form F>
  requires(!detail::verdict_of_storage<Tile<S, D, M>, M, F>::value.lawful())
auto tile() -> decltype(detail::unwrap(detail::broken_type<detail::verdict_of_storage<Tile<S, D, M>, M, F>>()));

namespace detail {

template <class S, Form F, class Acc, class Source, class To, class From, class Valid>
struct gather_row_verdict {
  static constexpr const OpInfo* op = &ops::gather_row;
  static constexpr std::size_t count = 2 + To::size + From::size + Valid::size;
  static constexpr Attr attrs[4] = {int_attr(AttrKey::rows, S::dims[0]), int_attr(AttrKey::columns, S::dims[S::rank - 1]),
                                    int_attr(AttrKey::has_valid, Valid::size > 0 ? 1 : 0),
                                    int_attr(AttrKey::transposed, F == Form::transposed ? 1 : 0)};
  static constexpr Verdict make() {
    if constexpr (!requires { To::infos; From::infos; Valid::size; }) return breaks(rule::window_arguments_differ, arg_op);
    else return judge_lists();
  }
  static constexpr Verdict judge_lists() {
    if (S::rank != 2) return breaks(rule::gather_row_is_for_matrices, arg_op, arg(std::int64_t{S::rank}));
    if (To::size != 2 || From::size != 2)
      return breaks(rule::offset_count_differs, arg_op, arg(std::int64_t{To::size != 2 ? To::size : From::size}), arg(std::int64_t{2}));
    if (Valid::size != 0 && Valid::size != 2) return breaks(rule::valid_count_differs, arg_op, arg(std::int64_t{Valid::size}), arg(std::int64_t{2}));
    OperandInfo operands[count] = {{type_of<Acc>}, {type_of<Source>}};
    for (int i = 0; i < To::size; ++i) operands[2 + i] = To::infos[i];
    for (int i = 0; i < From::size; ++i) operands[2 + To::size + i] = From::infos[i];
    if constexpr (Valid::size > 0)
      for (int i = 0; i < Valid::size; ++i) operands[2 + To::size + From::size + i] = Valid::infos[i];
    return judge(ops::gather_row, {operands, count, {}, attrs, 4});
  }
  static constexpr Verdict value = make();
};
template <class V, class To, class From, class Valid>
ValueId emit_gather_row(ValueId acc, ValueId source, const To& to, const From& from, const Valid& extents, const std::source_location& at) {
  Recorder& r = Recorder::current(at);
  const Location where = location_of(at);
  r.go_here(where);
  ValueId operands[V::count] = {acc, source};
  to.kids.record(r, where, operands + 2);
  from.kids.record(r, where, operands + 4);
  if constexpr (Valid::size > 0) extents.kids.record(r, where, operands + 6);
  Attr attrs[4];
  std::size_t n = 0;
  for (const Attr& a : V::attrs)
    if (a.integer != 0) attrs[n++] = a;
  r.set_location(where);
  return r.emit(ops::gather_row, {operands, V::count}, {attrs, n}, {});
}

}  // namespace detail

#define TESSERA_GATHER_ROW(VALID) \
  detail::gather_row_verdict<S, F, value_of<A>, value_of<X>, std::remove_cvref_t<D>, std::remove_cvref_t<O>, VALID>

/// `acc` with a window of shape S of the tensor at `from` loaded to the offsets `to`: `acc = gather_row<Shape<1, 64>>(acc, x, at(i, 0),
/// at(row, 0))`. In form transposed rows become columns. With valid extents only those elements are loaded, and the window may
/// reach past the end of `acc` and of the tensor; extents are run-time values, the window is not.
template <class S, Form F = Form::plain, class A, class X, class D, class O>
  requires shaped<A> && shaped<X> && detail::offset_list<D> && detail::offset_list<O> && (TESSERA_GATHER_ROW(detail::no_valid)::value.lawful())
[[nodiscard]] value_of<A> gather_row(A&& acc, X&& x, D&& to, O&& from, std::source_location at = std::source_location::current()) {
  const ValueId into = detail::record_operand(at, std::forward<A>(acc));
  return {Recorder::current(at), detail::emit_gather_row<TESSERA_GATHER_ROW(detail::no_valid)>(into, detail::record_operand(at, std::forward<X>(x)), to, from, detail::no_valid{}, at)};
}
template <class S, Form F = Form::plain, class A, class X, class D, class O>
  requires shaped<A> && shaped<X> && detail::offset_list<D> && detail::offset_list<O> && (!TESSERA_GATHER_ROW(detail::no_valid)::value.lawful())
auto gather_row(A&& acc, X&& x, D&& to, O&& from) -> decltype(detail::unwrap(detail::broken_type<TESSERA_GATHER_ROW(detail::no_valid)>()));
template <class S, Form F = Form::plain, class A, class X, class D, class O, class E>
  requires shaped<A> && shaped<X> && detail::offset_list<D> && detail::offset_list<O> && detail::valid_list<E> &&
           (TESSERA_GATHER_ROW(std::remove_cvref_t<E>)::value.lawful())
[[nodiscard]] value_of<A> gather_row(A&& acc, X&& x, D&& to, O&& from, E&& extents, std::source_location at = std::source_location::current()) {
  const ValueId into = detail::record_operand(at, std::forward<A>(acc));
  return {Recorder::current(at), detail::emit_gather_row<TESSERA_GATHER_ROW(std::remove_cvref_t<E>)>(into, detail::record_operand(at, std::forward<X>(x)), to, from, extents, at)};
}
template <class S, Form F = Form::plain, class A, class X, class D, class O, class E>
  requires shaped<A> && shaped<X> && detail::offset_list<D> && detail::offset_list<O> && detail::valid_list<E> &&
           (!TESSERA_GATHER_ROW(std::remove_cvref_t<E>)::value.lawful())
auto gather_row(A&& acc, X&& x, D&& to, O&& from, E&& extents) -> decltype(detail::unwrap(detail::broken_type<TESSERA_GATHER_ROW(std::remove_cvref_t<E>)>()));
#undef TESSERA_GATHER_ROW
TESSERA_SHAPE_OF(gather_row)
template <class S, auto... F, class A, class... More>
broken::window_arguments_differ<&ops::gather_row> gather_row(A&&, More&&...);

/// What paged_gather is told: rows in a block, elements of a row from `column` on, and the most rows there may be.
struct PagedGather {
  std::int64_t block_size = 0, size = 0, max_indices = 0, column = 0;
  Form form = Form::plain;
  MemorySpace space = Mat;
};

namespace detail {

template <PagedGather P, class X, class I, class B>
struct paged_gather_verdict {
  static constexpr const OpInfo* op = &ops::paged_gather;
  static constexpr Attr attrs[6] = {int_attr(AttrKey::space, P.space),          int_attr(AttrKey::rows, P.max_indices),
                                    int_attr(AttrKey::columns, P.size),         int_attr(AttrKey::block_size, P.block_size),
                                    int_attr(AttrKey::column, P.column),        int_attr(AttrKey::transposed, P.form == Form::transposed ? 1 : 0)};
  static constexpr Verdict make() {
    const OperandInfo operands[3] = {{type_of<X>}, {type_of<I>}, {type_of<B>}};
    return judge(ops::paged_gather, {operands, 3, {}, attrs, 6});
  }
  static constexpr Verdict value = make();
};

}  // namespace detail

/// Rows of a pool of blocks: row i is row `table[indices[i] / block_size] * block_size + indices[i] % block_size` of x. The result
/// [max_indices, size], or [size, max_indices] in form transposed, is valid as far as there are indices.
template <PagedGather P, class X, class I, class B>
  requires shaped<X> && shaped<I> && shaped<B> && (detail::paged_gather_verdict<P, value_of<X>, value_of<I>, value_of<B>>::value.lawful())
[[nodiscard]] auto paged_gather(X&& x, I&& indices, B&& table, std::source_location at = std::source_location::current()) {
  using V = detail::paged_gather_verdict<P, value_of<X>, value_of<I>, value_of<B>>;
  Recorder& r = Recorder::current(at);
  const ValueId source = detail::record_operand(at, std::forward<X>(x)), index = detail::record_operand(at, std::forward<I>(indices)),
                blocks = detail::record_operand(at, std::forward<B>(table));
  r.go_here(detail::location_of(at));
  Attr attrs[6];
  std::size_t n = 0;
  for (const Attr& a : V::attrs)
    if (a.integer != 0) attrs[n++] = a;
  r.set_location(detail::location_of(at));
  const ValueId operands[3] = {source, index, blocks};
  return detail::result_t<V>(r, r.emit(ops::paged_gather, {operands, 3}, {attrs, n}, {}));
}
template <PagedGather P, class X, class I, class B>
  requires shaped<X> && shaped<I> && shaped<B> && (!detail::paged_gather_verdict<P, value_of<X>, value_of<I>, value_of<B>>::value.lawful())
auto paged_gather(X&& x, I&& indices, B&& table)
    -> decltype(detail::unwrap(detail::broken_type<detail::paged_gather_verdict<P, value_of<X>, value_of<I>, value_of<B>>>()));
template <PagedGather P, class... X>
broken::operand_is_not_a_tensor<&ops::paged_gather> paged_gather(X&&...);
template <PagedGather P, class... X>
  requires(sizeof...(X) < 3)
broken::operand_is_missing<&ops::paged_gather> paged_gather(X&&...);

}  // namespace tessera
