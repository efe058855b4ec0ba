// Split regions: the two vector cores beside a cube core, each with half of a matrix.
#pragma once

#include "../ops/split.hpp"
#include "control.hpp"
#include "functions.hpp"

namespace tessera {

/// The number of a vector core, 0 or 1, in a split region that shares a matrix in the way S.
template <Split S>
class Lane : public Index {
 public:
  static constexpr Split split = S;
  using Index::Index;
};

namespace detail {

template <Split S>
class [[nodiscard]] split_loop : public range_loop {
 public:
  explicit split_loop(const std::source_location& at) : range_loop(S, at) {}
  class iterator : public range_loop::iterator {
   public:
    using range_loop::iterator::iterator;
    [[nodiscard]] Lane<S> operator*() const { return this->template as<Lane<S>>(); }
  };
  [[nodiscard]] iterator begin() {
    static_cast<void>(range_loop::begin());
    return iterator(*this);
  }
  template <class N>
  broken::split_region_is_not_pipelined<> pipelined(const N& turns) const;
};

template <class L>
inline constexpr bool is_lane = false;
template <Split S>
inline constexpr bool is_lane<Lane<S>> = true;

// The verdict on an operation that takes a lane behind its shaped operands.
template <const OpInfo& Op, class L, class... X>
struct lane_plan {
  static constexpr const OpInfo* op = &Op;
  static constexpr Verdict make() {
    if constexpr (!(recorded<X> && ...)) {
      return breaks(rule::value_is_not_recorded, arg_op);
    } else if constexpr (!is_lane<std::remove_cvref_t<L>>) {
      return breaks(rule::lane_is_not_of_a_split_region, arg_op);
    } else {
      const OperandInfo operands[] = {{type_of<value_of<X>>}..., {index_scalar}};
      const Attr attr = int_attr(AttrKey::split, static_cast<int>(std::remove_cvref_t<L>::split));
      return judge(Op, {operands, sizeof...(X) + 1, {}, &attr, 1});
    }
  }
  static constexpr Verdict value = make();
};
template <const OpInfo& Op, class L, class... X>
TESSERA_INLINE auto make_lane_call(const std::source_location& at, const L& lane, X&&... x) {
  using V = result_t<lane_plan<Op, L, X...>>;
  return expression<V, Op, 0, child_t<X>..., child_t<const L&>>(at, int_attr(AttrKey::split, static_cast<int>(L::split)),
                                                                make_child(at, TESSERA_FORWARD(x))..., make_child(at, lane));
}

}  // namespace detail

/// A region that both vector cores run, each as one lane: `for (auto lane : split_aiv<Split::up_down>()) { ... }`. Products come
/// in by aiv_shard, matrices for further products leave by aic_gather; vector work of the kernel stands inside, cube work outside.
template <Split S>
auto split_aiv(std::source_location at = std::source_location::current()) {
  return detail::split_loop<S>(at);
}

/// The half of a product [M,N] that belongs to a lane: [M/2,N] (up_down) or [M,N/2] (left_right), in Vec.
template <class X, class L>
  requires(detail::lane_plan<ops::aiv_shard, L, X>::value.lawful())
[[nodiscard]] auto aiv_shard(X&& x, const L& lane, std::source_location at = std::source_location::current()) {
  return detail::make_lane_call<ops::aiv_shard>(at, lane, TESSERA_FORWARD(x));
}
template <class X, class L>
  requires(recorded<X> || recorded<L>) && (!detail::lane_plan<ops::aiv_shard, L, X>::value.lawful())
auto aiv_shard(X&& x, const L& lane) -> decltype(detail::unwrap(detail::broken_type<detail::lane_plan<ops::aiv_shard, L, X>>()));
template <recorded X>
broken::lane_is_not_of_a_split_region<&ops::aiv_shard> aiv_shard(X&&);

/// The matrix, in Mat, with the half of a lane written into it: `full = aic_gather(full, half, lane)`, where full is a Var.
template <class M, class X, class L>
  requires(detail::lane_plan<ops::aic_gather, L, M, X>::value.lawful())
[[nodiscard]] auto aic_gather(M&& matrix, X&& half, const L& lane, std::source_location at = std::source_location::current()) {
  return detail::make_lane_call<ops::aic_gather>(at, lane, TESSERA_FORWARD(matrix), TESSERA_FORWARD(half));
}
template <class M, class X, class L>
  requires(recorded<M> || recorded<X> || recorded<L>) && (!detail::lane_plan<ops::aic_gather, L, M, X>::value.lawful())
auto aic_gather(M&& matrix, X&& half, const L& lane)
    -> decltype(detail::unwrap(detail::broken_type<detail::lane_plan<ops::aic_gather, L, M, X>>()));
template <recorded M, class X>
broken::lane_is_not_of_a_split_region<&ops::aic_gather> aic_gather(M&&, X&&);

}  // namespace tessera
