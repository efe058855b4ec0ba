// Expression templates. An unnamed node (an rvalue) is a subtree of the expression around it; a named node (an lvalue) is
// one shared value, recorded once and then a leaf of other expressions. So a type never grows beyond one source
// expression, and a whole expression is known when it is recorded.
#pragma once

#include <source_location>

#include "recorder.hpp"
#include "verdict.hpp"

// std::forward and std::move without a function: unoptimised builds compile one for each type.
#define TESSERA_FORWARD(X) static_cast<decltype(X)&&>(X)

namespace tessera {

// g++ names the class of a deleted function in the first line of its error; clang needs the reason.
#if defined(__clang__) && __clang_major__ >= 19
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc++26-extensions"
#define TESSERA_DELETED(REASON) delete (REASON)
#else
#define TESSERA_DELETED(REASON) delete
#endif
/// Base of every recorded value: what must not be done with one, named so that the compiler's message says what to do.
struct recorded_value_is_no_native_condition_use_if_or_while {
  explicit operator bool() const = TESSERA_DELETED("recorded_value_is_no_native_condition_use_if_or_while");
};
struct recorded_value_has_no_address {
  void operator&() const = TESSERA_DELETED("recorded_value_has_no_address");  // NOLINT: always a mistake
};
#if defined(__clang__) && __clang_major__ >= 19
#pragma clang diagnostic pop
#endif
struct recorded_value : recorded_value_is_no_native_condition_use_if_or_while, recorded_value_has_no_address {};

/// A value of a kernel: a handle, a variable or an expression node.
template <class X>
concept recorded = std::is_base_of_v<recorded_value, std::remove_cvref_t<X>>;
/// A parameter that the kernel writes: it names memory, where other values never change.
template <class X>
concept output = recorded<X> && requires { typename std::remove_cvref_t<X>::is_output; };
/// A C++ number that may stand in an expression.
template <class X>
concept literal_number = std::is_arithmetic_v<std::remove_cvref_t<X>> ||
                         (std::is_class_v<std::remove_cvref_t<X>> && requires { std::remove_cvref_t<X>::value + 0; });

/// The value type of an operand: Tensor, Tile, Scalar or Index.
template <recorded X>
using value_of = typename std::remove_cvref_t<X>::value_type;

template <class V>
concept shaped_value = type_of<V>.is_shaped();
template <class V>
concept scalar_value = type_of<V>.is_scalar();
template <class X>
concept shaped = recorded<X> && shaped_value<value_of<X>>;
template <class X>
concept scalar_operand = recorded<X> && type_of<value_of<X>>.is_scalar();

namespace detail {

/// The type of an operand; none of what is not recorded.
template <class X>
constexpr Type type_of_operand() {
  if constexpr (recorded<X>) return type_of<value_of<X>>;
  else return {};
}

/// A leaf of an expression: a value that exists.
template <class V>
struct leaf {
  using value_type = V;
  static constexpr std::int64_t need = 0;
  ValueId value;
  TESSERA_INLINE ValueId record(Recorder&, const Location&) const { return value; }
};

/// An operand of an operator, as a leaf: a handle, a variable or a named node, resolved by the conversion. It is a base of all
/// of them, so that an operator can deduce V; as a base it keeps only the line of a node.
template <class V>
struct named_operand : recorded_value {
  leaf<V> child;
  std::source_location where;
  template <class X>
    requires(recorded<X> && !std::is_same_v<std::remove_cvref_t<X>, named_operand>)
  TESSERA_INLINE named_operand(X&& x, std::source_location l = std::source_location::current())  // NOLINT: converts by design
      : child{x.resolve(l)}, where(l) {}
  named_operand(const named_operand&) = default;
  [[nodiscard]] TESSERA_INLINE leaf<V>&& get() { return static_cast<leaf<V>&&>(child); }

 protected:
  TESSERA_INLINE named_operand() {}  // NOLINT: not defaulted, so that unoptimised builds compile none
  TESSERA_INLINE explicit named_operand(const std::source_location& l) : where(l) {}
};
/// An operand that is an unnamed node of class D.
template <class D, class V>
struct unnamed_operand : named_operand<V> {
  [[nodiscard]] TESSERA_INLINE D&& get() { return static_cast<D&&>(*this); }

 protected:
  TESSERA_INLINE explicit unnamed_operand(const std::source_location& l) : named_operand<V>(l) {}
};

/// A number, in the element type of its partner. Its range is checked when it is recorded.
template <class V>
struct literal {
  using value_type = V;
  static constexpr std::int64_t need = 0;
  std::int64_t integer = 0;
  double number = 0;
  bool floating = false;
  ValueId record(Recorder& r, const Location& at) const {
    return r.literal(type_of<V>.dtype, {integer, number, floating}, at);
  }
};
template <class V, class N>
constexpr literal<V> make_literal(const N& n) {
  if constexpr (!std::is_arithmetic_v<N>) return make_literal<V>(N::value);
  else if constexpr (std::is_floating_point_v<N>) return {0, static_cast<double>(n), true};
  else return {static_cast<std::int64_t>(n), 0, false};
}

// Bytes on chip (or in a tensor value) that evaluating a child needs beyond its result, for the evaluation order.
template <class V>
constexpr std::int64_t size_of_value() {
  constexpr Type t = type_of<V>;
  return t.is_shaped() && t.has_static_shape() ? t.bytes() : 0;
}
template <class K>
concept is_node = requires { typename K::is_expression; };
template <class K>
constexpr std::int64_t held() {
  if constexpr (is_node<K>) return size_of_value<typename K::value_type>();
  else return 0;
}

/// Up to four operands of a node, stored in place.
template <class... K>
struct kids;
template <>
struct kids<> {
  static constexpr std::int64_t need = 0;
  static constexpr std::int64_t held_bytes = 0;
  TESSERA_INLINE void record(Recorder&, const Location&, ValueId*) const {}
};
template <class A>
struct kids<A> {
  A a;
  static constexpr std::int64_t need = A::need;
  static constexpr std::int64_t held_bytes = held<A>();
  TESSERA_INLINE void record(Recorder& r, const Location& at, ValueId* v) const { v[0] = a.record(r, at); }
};
template <class A, class B>
struct kids<A, B> {
  A a;
  B b;
  static constexpr std::int64_t a_first = A::need > held<A>() + B::need ? A::need : held<A>() + B::need;
  static constexpr std::int64_t b_first = B::need > held<B>() + A::need ? B::need : held<B>() + A::need;
  static constexpr std::int64_t need = a_first <= b_first ? a_first : b_first;
  static constexpr std::int64_t held_bytes = held<A>() + held<B>();
  // Left to right, unless the other order keeps fewer bytes alive.
  TESSERA_INLINE void record(Recorder& r, const Location& at, ValueId* v) const {
    if constexpr (a_first <= b_first) {
      v[0] = a.record(r, at);
      v[1] = b.record(r, at);
    } else {
      v[1] = b.record(r, at);
      v[0] = a.record(r, at);
    }
  }
};
template <class A, class B, class C>
struct kids<A, B, C> {
  A a;
  B b;
  C c;
  static constexpr std::int64_t need = A::need + held<A>() + B::need + held<B>() + C::need;
  static constexpr std::int64_t held_bytes = held<A>() + held<B>() + held<C>();
  TESSERA_INLINE void record(Recorder& r, const Location& at, ValueId* v) const {
    v[0] = a.record(r, at);
    v[1] = b.record(r, at);
    v[2] = c.record(r, at);
  }
};
template <class A, class B, class C, class D>
struct kids<A, B, C, D> {
  A a;
  B b;
  C c;
  D d;
  static constexpr std::int64_t need = A::need + held<A>() + B::need + held<B>() + C::need + held<C>() + D::need;
  static constexpr std::int64_t held_bytes = held<A>() + held<B>() + held<C>() + held<D>();
  TESSERA_INLINE void record(Recorder& r, const Location& at, ValueId* v) const {
    v[0] = a.record(r, at);
    v[1] = b.record(r, at);
    v[2] = c.record(r, at);
    v[3] = d.record(r, at);
  }
};

// Not templates: every kernel source compiles them once.
inline node_state start_node(const std::source_location& at) {
  Recorder& r = Recorder::current(at);
  return {location_of(at), r.here(), r.id(), {}};
}
/// The recorder of a node; throws where another kernel, or none, is being recorded.
inline Recorder& recorder_of(const node_state& s, const std::source_location& use) {
  Recorder* const r = Recorder::current_or_null();
  if (r == nullptr) fail(s.location, "kernel: a recorded value is used outside of its kernel", "keep values inside the lambda");
  if (r->id() != s.recorder) r->refuse_foreign(use, s.location);
  return *r;
}
/// Chooses the place of a named node that is not recorded yet, and returns its recorder; null where there is a value.
inline Recorder* begin_resolve(const node_state& s, const std::source_location& use) {
  Recorder& r = recorder_of(s, use);
  if (s.value) return nullptr;
  r.go_to(s.place, s.location, use);
  return &r;
}
/// Whether a part of an expression still has to be recorded.
inline bool begin_record(const node_state& s, const Recorder& r) {
  if (s.recorder != r.id()) r.refuse_foreign(std::source_location(), s.location);
  return !s.value;
}

}  // namespace detail

/// A node: operation Op on operands K, with value type V. Variant holds the transposed operands of a matrix product.
template <class V, const OpInfo& Op, int Variant, class... K>
class [[nodiscard]] expression : public detail::unnamed_operand<expression<V, Op, Variant, K...>, V> {
  using operand = detail::unnamed_operand<expression, V>;

 public:
  using value_type = V;
  using is_expression = void;
  static_assert(Op.pure, "an operation with an effect is recorded at once");
  static constexpr std::int64_t need =
      detail::kids<K...>::need > detail::kids<K...>::held_bytes + detail::size_of_value<V>()
          ? detail::kids<K...>::need
          : detail::kids<K...>::held_bytes + detail::size_of_value<V>();

  expression(const std::source_location& at, K&&... k) : operand(at), state_(detail::start_node(at)), kids_{static_cast<K&&>(k)...} {}
  expression(const std::source_location& at, const Attr& attr, K&&... k)
      : operand(at), state_(detail::start_node(at)), kids_{static_cast<K&&>(k)...}, attr_(attr), has_attr_(true) {}
  // Moving hands the node on, as when it becomes a subtree; copying names it: both stand for one value.
  expression(expression&& other) noexcept
      : operand(other.where), state_(other.state_), kids_(TESSERA_FORWARD(other).kids_), attr_(other.attr_), has_attr_(other.has_attr_) {
    other.state_.place = {};
  }
  expression(const expression& other) : operand(other.where), state_((other.resolve(), other.state_)), kids_(other.kids_) {}
  /// Nodes are immutable: a Var is what can be assigned. Declared only.
  template <class X>
  broken::handles_are_immutable_use_var<> operator=(X&&);
  broken::handles_are_immutable_use_var<> operator=(const expression&);
  ~expression() = default;

  /// The value of a named node; recorded where the node was written.
  TESSERA_INLINE ValueId resolve(const std::source_location& use = std::source_location()) const {
    if (Recorder* const r = detail::begin_resolve(state_, use)) return record(*r, state_.location);
    return state_.value;
  }
  /// Records the node as part of an expression, at the place that the recorder has chosen.
  ValueId record(Recorder& r, const Location&) const {
    if (detail::begin_record(state_, r)) {
      ValueId operands[sizeof...(K) + 1];
      kids_.record(r, state_.location, operands);
      r.emit_node(Op, Variant, {operands, sizeof...(K)}, has_attr_ ? &attr_ : nullptr, type_of<V>, state_);
    }
    return state_.value;
  }
  /// The operands, for an operation around that takes this one's place (matmul of transpose, sum with matmul).
  detail::kids<K...>& operands() { return kids_; }

 private:
  detail::node_state state_;
  detail::kids<K...> kids_;
  Attr attr_{};
  bool has_attr_ = false;
};

namespace detail {

// How an operand enters a node: a named value or a handle as a leaf, an unnamed node as a subtree.
template <class X>
struct child_of {
  static constexpr bool is_subtree = false;
  using type = leaf<value_of<X>>;
};
template <class X>
  requires(!std::is_reference_v<X> && !std::is_const_v<X> && is_node<X>)
struct child_of<X> {
  static constexpr bool is_subtree = true;
  using type = X;
};
template <class X>
using child_t = typename child_of<X>::type;

template <class X>
TESSERA_INLINE child_t<X> make_child(const std::source_location& at, X&& x) {
  if constexpr (child_of<X>::is_subtree) return TESSERA_FORWARD(x);
  else return {x.resolve(at)};
}

/// The value of an operand of what is recorded at once: an unnamed node is recorded here, so that several come in the order
/// of the source whatever order the compiler made them in.
template <class X>
ValueId record_operand(const std::source_location& at, X&& x) {
  if constexpr (child_of<X>::is_subtree) {
    Recorder& r = Recorder::current(at);
    r.go_here(location_of(at));
    return x.record(r, location_of(at));
  } else {
    return x.resolve(at);
  }
}

}  // namespace detail
}  // namespace tessera
