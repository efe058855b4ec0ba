// Access to elements by positions, on recorded values: gathers along an axis or by a pattern, and scatters.
#pragma once

#include "create.hpp"

namespace tessera {
namespace detail {

/// What the front end calls an operation.
template <const OpInfo& Op>
inline constexpr const OpInfo* written_as = &Op;
template <>
inline constexpr const OpInfo* written_as<ops::gather_mask> = &ops::gather;
template <>
inline constexpr const OpInfo* written_as<ops::scatter_mask> = &ops::scatter;

/// The verdict on an operation with one attribute.
template <const OpInfo& Op, AttrKey Key, std::int64_t N, class Requested, class... X>
struct verdict_with {
  static constexpr const OpInfo* op = written_as<Op>;
  static constexpr Verdict make() {
    const OperandInfo operands[sizeof...(X)] = {OperandInfo{type_of<value_of<X>>}...};
    const Attr attrs[1] = {int_attr(Key, N)};
    InferInput in{operands, sizeof...(X), {}, attrs, 1};
    if constexpr (!std::is_void_v<Requested>) in.requested = type_of<Requested>;
    return judge(Op, in);
  }
  static constexpr Verdict value = make();
};
template <const OpInfo& Op, AttrKey Key, std::int64_t N, class Requested, class... X>
TESSERA_INLINE auto make_with(const std::source_location& at, X&&... x) {
  using V = result_t<verdict_with<Op, Key, N, Requested, X...>>;
  return expression<V, Op, 0, child_t<X>...>(at, int_attr(Key, N), make_child(at, TESSERA_FORWARD(x))...);
}
template <const OpInfo& Op, AttrKey Key, std::int64_t N, class Requested, class... X>
consteval auto broken_with() {
  if constexpr (!(recorded<X> && ...)) return type_is<broken::value_is_not_recorded<written_as<Op>>>{};
  else return broken_type<verdict_with<Op, Key, N, Requested, X...>>();
}
template <const OpInfo& Op, AttrKey Key, std::int64_t N, class Requested, class... X>
concept lawful_with = (recorded<X> && ...) && verdict_with<Op, Key, N, Requested, X...>::value.lawful();
template <const OpInfo& Op, AttrKey Key, std::int64_t N, class Requested, class... X>
concept unlawful_with = !(recorded<X> && ...) || !verdict_with<Op, Key, N, Requested, X...>::value.lawful();
template <DType D>
using only_dtype = Scalar<D>;

/// The verdict on the places of `Places` matches in each row.
template <Compare By, std::int64_t Places, class X, class K>
struct match_verdict {
  static constexpr const OpInfo* op = &ops::find_positions;
  static constexpr Type x = type_of_operand<X>();
  static constexpr Attr attr = int_attr(AttrKey::compare, static_cast<int>(By));
  static constexpr Verdict make() {
    if constexpr (!shaped<X>) return breaks(rule::operand_is_not_shaped, arg_op);
    else return judge_matches();
  }
  static constexpr Verdict judge_matches() {
    const Verdict number = judge_number<value_of<X>, K>();
    if (!number.lawful()) return number;
    const OperandInfo operands[3] = {{x}, {scalar_type(x.dtype)}, {scalar_type(i32)}};
    return judge(ops::find_positions, {operands, 3, with_dim(x, x.rank - 1, Places), &attr, 1});
  }
  static constexpr Verdict value = make();
};
template <class X>
struct count_type {
  static constexpr Type x = type_of<value_of<X>>;
  static constexpr std::int64_t dims[2] = {1, x.dims[0]};
  static constexpr Type value = with_dtype(with_shape(x, dims, 2), i32);
};

}  // namespace detail

/// Elements of a tensor x along its last axis: result [i, j] is x[i, index[i, j]].
TESSERA_PAIR(gather)
/// Elements of a tile x by their row-major positions.
TESSERA_PAIR(gather_flat)

/// Elements along an axis: `gather<0>(x, index)` [i, j] is x[index[i, j], j].
template <int Axis, class X, class Y>
  requires detail::lawful_with<ops::gather, AttrKey::axis, Axis, void, X, Y>
[[nodiscard]] auto gather(X&& x, Y&& index, std::source_location at = std::source_location::current()) {
  return detail::make_with<ops::gather, AttrKey::axis, Axis, void>(at, TESSERA_FORWARD(x), TESSERA_FORWARD(index));
}
template <int Axis, class X, class Y>
  requires detail::unlawful_with<ops::gather, AttrKey::axis, Axis, void, X, Y>
auto gather(X&& x, Y&& index) -> decltype(detail::unwrap(detail::broken_with<ops::gather, AttrKey::axis, Axis, void, X, Y>()));

/// One element of every two or four neighbours: `gather<MaskPattern::P0101>(x)` [i, j] is x[i, 2 * j].
template <MaskPattern P, class X>
  requires detail::lawful_with<ops::gather_mask, AttrKey::pattern, static_cast<int>(P), void, X>
[[nodiscard]] auto gather(X&& x, std::source_location at = std::source_location::current()) {
  return detail::make_with<ops::gather_mask, AttrKey::pattern, static_cast<int>(P), void>(at, TESSERA_FORWARD(x));
}
template <MaskPattern P, class X>
  requires detail::unlawful_with<ops::gather_mask, AttrKey::pattern, static_cast<int>(P), void, X>
auto gather(X&& x) -> decltype(detail::unwrap(detail::broken_with<ops::gather_mask, AttrKey::pattern, static_cast<int>(P), void, X>()));
/// The same bits as elements of type D, which is as wide: `gather<MaskPattern::P1010, i32>(pairs)`.
template <MaskPattern P, DType D, class X>
  requires detail::lawful_with<ops::gather_mask, AttrKey::pattern, static_cast<int>(P), detail::only_dtype<D>, X>
[[nodiscard]] auto gather(X&& x, std::source_location at = std::source_location::current()) {
  return detail::make_with<ops::gather_mask, AttrKey::pattern, static_cast<int>(P), detail::only_dtype<D>>(at, TESSERA_FORWARD(x));
}
template <MaskPattern P, DType D, class X>
  requires detail::unlawful_with<ops::gather_mask, AttrKey::pattern, static_cast<int>(P), detail::only_dtype<D>, X>
auto gather(X&& x) -> decltype(detail::unwrap(detail::broken_with<ops::gather_mask, AttrKey::pattern, static_cast<int>(P), detail::only_dtype<D>, X>()));

/// Which elements compare with a number: `auto [positions, counts] = gather_compare<Compare::gt, 32>(x, 0.5f);`.
template <class Positions, class Counts>
struct Matches {
  Positions positions;  ///< [M,places]: of each row the first ones, row-major in x; what stands behind them is undefined
  Counts counts;        ///< [1,M]
};
/// Of each row of x [M,N] where elements are equal to (eq) or above (gt) k: `i * N + j + offset`, in order, and how many there are.
/// A row has at most `Places` of them. What is used of the two is one instruction each.
template <Compare By, std::int64_t Places, class X, class K>
  requires shaped<X> && (detail::match_verdict<By, Places, X, K>::value.lawful())
[[nodiscard]] auto gather_compare(X&& x, K&& k, std::int32_t offset = 0, std::source_location at = std::source_location::current()) {
  using V = detail::match_verdict<By, Places, X, K>;
  using Number = detail::scalar_like_t<value_of<X>>;
  using of_x = detail::leaf<value_of<X>>;
  using of_k = detail::leaf<Number>;
  using of_offset = detail::literal<Scalar<i32>>;
  const ValueId source = detail::record_operand(at, TESSERA_FORWARD(x)), number = detail::record_now<Number>(TESSERA_FORWARD(k), at);
  using Positions = expression<detail::result_t<V>, ops::find_positions, 0, of_x, of_k, of_offset>;
  using Counts = expression<detail::value_type_t<detail::count_type<X>>, ops::count_matches, 0, of_x, of_k, of_offset>;
  return Matches<Positions, Counts>{Positions(at, V::attr, of_x{source}, of_k{number}, of_offset{offset}),
                                    Counts(at, V::attr, of_x{source}, of_k{number}, of_offset{offset})};
}
template <Compare By, std::int64_t Places, class X, class K>
  requires(!detail::match_verdict<By, Places, X, K>::value.lawful())
auto gather_compare(X&& x, K&& k, std::int32_t offset = 0) -> decltype(detail::unwrap(detail::broken_type<detail::match_verdict<By, Places, X, K>>()));

/// x with the elements of `source` at every second or fourth column: the other way of gather<P>.
template <MaskPattern P, class X, class Y>
  requires detail::lawful_with<ops::scatter_mask, AttrKey::pattern, static_cast<int>(P), void, X, Y>
[[nodiscard]] auto scatter(X&& x, Y&& source, std::source_location at = std::source_location::current()) {
  return detail::make_with<ops::scatter_mask, AttrKey::pattern, static_cast<int>(P), void>(at, TESSERA_FORWARD(x), TESSERA_FORWARD(source));
}
template <MaskPattern P, class X, class Y>
  requires detail::unlawful_with<ops::scatter_mask, AttrKey::pattern, static_cast<int>(P), void, X, Y>
auto scatter(X&& x, Y&& source) -> decltype(detail::unwrap(detail::broken_with<ops::scatter_mask, AttrKey::pattern, static_cast<int>(P), void, X, Y>()));
/// On tiles, one instruction: zeros, shaped as target, with the elements of `source` at those columns.
template <MaskPattern P, class X, class Y>
  requires detail::lawful_with<ops::scatter_strided, AttrKey::pattern, static_cast<int>(P), void, X, Y>
[[nodiscard]] auto scatter_strided(X&& target, Y&& source, std::source_location at = std::source_location::current()) {
  return detail::make_with<ops::scatter_strided, AttrKey::pattern, static_cast<int>(P), void>(at, TESSERA_FORWARD(target), TESSERA_FORWARD(source));
}
template <MaskPattern P, class X, class Y>
  requires detail::unlawful_with<ops::scatter_strided, AttrKey::pattern, static_cast<int>(P), void, X, Y>
auto scatter_strided(X&& target, Y&& source) -> decltype(detail::unwrap(detail::broken_with<ops::scatter_strided, AttrKey::pattern, static_cast<int>(P), void, X, Y>()));

#define TESSERA_THREE(NAME)                                                                                            \
  template <class X, class Y, class Z>                                                                                 \
    requires detail::lawful_call<ops::NAME, void, X, Y, Z>                                                             \
  [[nodiscard]] auto NAME(X&& x, Y&& y, Z&& z, std::source_location at = std::source_location::current()) {            \
    return detail::make_call<ops::NAME, void>(at, TESSERA_FORWARD(x), TESSERA_FORWARD(y), TESSERA_FORWARD(z));         \
  }                                                                                                                    \
  template <class X, class... Y>                                                                                       \
    requires detail::refused_operands<ops::NAME, 3, X, Y...>                                                           \
  auto NAME(X&& x, Y&&... y)->decltype(detail::unwrap(detail::broken_operands<ops::NAME, 3, X, Y...>()));

/// `scatter(x, index, source)`: x with source[i, j] at [i, index[i, j]]. Where an index names a place twice, it is not defined
/// which element stays.
TESSERA_THREE(scatter)
/// `scatter_update(x, index, source)`: x with row k of the source at row index[k], the index [B, S] counted row by row. Where an
/// index names a row twice, it is not defined which row stays.
TESSERA_THREE(scatter_update)
/// On tiles, one instruction: `scatter_flat(target, source, index)` is zeros, shaped as target, with the elements of the source
/// at the row-major positions that the index has for them.
TESSERA_THREE(scatter_flat)
#undef TESSERA_THREE

}  // namespace tessera
