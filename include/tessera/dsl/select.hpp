// select: of scalars by a condition, of tensors and tiles element by element by a mask.
#pragma once

#include "functions.hpp"

namespace tessera {
namespace detail {
// c ? a : b: one of the two may be a number; an integer Scalar and an Index meet as Index.
template <class C, class A, class B>
struct select_plan {
  static constexpr const OpInfo* op = &ops::scalar_select;
  static constexpr Type common() {
    if constexpr (recorded<A> && recorded<B>) {
      constexpr Type a = type_of<value_of<A>>, b = type_of<value_of<B>>;
      return b.is_index() && is_integer(a.dtype) ? b : a;
    } else if constexpr (recorded<A>) {
      return type_of<value_of<A>>;
    } else if constexpr (recorded<B>) {
      return type_of<value_of<B>>;
    } else {
      return {};
    }
  }
  template <class X>
  static constexpr Type side() {
    if constexpr (!recorded<X>) return common();
    else return common().is_index() && is_integer(type_of<value_of<X>>.dtype) ? common() : type_of<value_of<X>>;
  }
  static constexpr Verdict make() {
    if constexpr (!recorded<C>) return breaks(rule::condition_is_not_boolean, arg_op);
    else if constexpr (shaped<C>) return breaks(rule::select_condition_is_no_comparison);
    else if constexpr (shaped<A> || shaped<B>) return breaks(rule::select_condition_is_one_number);
    else if constexpr ((recorded<A> || recorded<B>) && (recorded<A> || literal_number<A>) && (recorded<B> || literal_number<B>)) {
      if (((!recorded<A> && is_floating_number<A>()) || (!recorded<B> && is_floating_number<B>())) && !is_float(common().dtype))
        return breaks(rule::floating_literal_with_integers, arg_op, arg(common().dtype));
      const OperandInfo operands[3] = {{type_of<value_of<C>>}, {side<A>()}, {side<B>()}};
      return judge(ops::scalar_select, {operands, 3});
    } else {
      return breaks(rule::value_is_not_recorded, arg_op);
    }
  }
  static constexpr Verdict value = make();
};
// mask ? a : b of tensors or tiles: one of the two may be a scalar or a number, which fills a tensor or tile.
template <class C, class A, class B>
struct mask_plan {
  static constexpr const OpInfo* op = &ops::select;
  static constexpr Type shape() {
    if constexpr (shaped<A>) return type_of<value_of<A>>;
    else if constexpr (shaped<B>) return type_of<value_of<B>>;
    else return {};
  }
  template <class X>
  static constexpr Verdict side() {
    const Type t = shape();
    if constexpr (shaped<X>) {
      const Type x = type_of<value_of<X>>;
      return is_mask(x) ? breaks(rule::mask_is_for_select_only, arg_op) : lawful(x);
    } else {
      Type s = scalar_type(t.dtype);
      if constexpr (recorded<X>) s = type_of<value_of<X>>;
      else if (is_floating_number<X>() && !is_float(t.dtype)) return breaks(rule::floating_literal_with_integers, arg_op, arg(t.dtype));
      const OperandInfo operand[1] = {{s}};
      return judge(ops::full, {operand, 1, t});
    }
  }
  static constexpr Verdict make() {
    if constexpr (!(recorded<A> || literal_number<A>) || !(recorded<B> || literal_number<B>)) {
      return breaks(rule::value_is_not_recorded, arg_op);
    } else {
      if (!shape().is_shaped()) return breaks(rule::select_sides_are_numbers);
      const Verdict a = side<A>(), b = side<B>();
      if (!a.lawful() || !b.lawful()) return a.lawful() ? b : a;
      const OperandInfo operands[3] = {{type_of<value_of<C>>}, {a.result}, {b.result}};
      return judge(ops::select, {operands, 3});
    }
  }
  static constexpr Verdict value = make();
};
template <class C>
concept mask_operand = recorded<C> && is_mask(type_of<value_of<C>>);
template <class C, class A, class B>
struct plan_of_select {
  using type = select_plan<C, A, B>;
};
template <mask_operand C, class A, class B>
struct plan_of_select<C, A, B> {
  using type = mask_plan<C, A, B>;
};
template <class C, class A, class B>
using plan_of_select_t = typename plan_of_select<C, A, B>::type;

template <class V, class X>
auto shaped_child(const std::source_location& at, X&& x) {
  if constexpr (shaped<X>) return make_child(at, TESSERA_FORWARD(x));
  else if constexpr (recorded<X>) return node<ops::full, V>(at, make_child(at, TESSERA_FORWARD(x)));
  else return node<ops::full, V>(at, make_literal<scalar_like_t<V>>(x));
}
template <class V, class X>
auto scalar_child(const std::source_location& at, X&& x) {
  if constexpr (!recorded<X>) return make_literal<V>(x);
  else if constexpr (type_of<V>.is_index()) return to_index(at, make_child(at, TESSERA_FORWARD(x)));
  else return make_child(at, TESSERA_FORWARD(x));
}
}  // namespace detail

/// c ? a : b: of scalars, or element by element where c is a comparison of tensors or tiles, as in `select(x > 0, x, y)`.
/// Both sides are evaluated.
template <class C, class A, class B>
  requires(recorded<C> || recorded<A> || recorded<B>) && (detail::plan_of_select_t<C, A, B>::value.lawful())
[[nodiscard]] auto select(C&& c, A&& a, B&& b, std::source_location at = std::source_location::current()) {
  using V = detail::result_t<detail::plan_of_select_t<C, A, B>>;
  if constexpr (detail::mask_operand<C>)
    return detail::node<ops::select, V>(at, detail::make_child(at, TESSERA_FORWARD(c)), detail::shaped_child<V>(at, TESSERA_FORWARD(a)),
                                        detail::shaped_child<V>(at, TESSERA_FORWARD(b)));
  else return detail::node<ops::scalar_select, V>(at, detail::make_child(at, TESSERA_FORWARD(c)), detail::scalar_child<V>(at, TESSERA_FORWARD(a)),
                                             detail::scalar_child<V>(at, TESSERA_FORWARD(b)));
}
template <class C, class A, class B>
  requires(recorded<C> || recorded<A> || recorded<B>) && (!detail::plan_of_select_t<C, A, B>::value.lawful())
auto select(C&& c, A&& a, B&& b) -> decltype(detail::unwrap(detail::broken_type<detail::plan_of_select_t<C, A, B>>()));

}  // namespace tessera
