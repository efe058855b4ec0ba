// The handles of a kernel: Tensor, Tile, Scalar and Index name a recorded value and never change; Var is the mutable
// variable; Out and InOut are tensor parameters that a kernel writes.
#pragma once

#include "operators.hpp"

namespace tessera {
namespace detail {

/// What all handles share: the value, and the recorder that it belongs to.
class handle_state {
 public:
  handle_state(Recorder& r, ValueId v) : value_(v), recorder_(r.id()) {}
  [[nodiscard]] ValueId get(const std::source_location& use) const {
    const Recorder& r = Recorder::current(use);
    if (r.id() != recorder_) r.refuse_foreign(use, {});
    return value_;
  }

 private:
  ValueId value_;
  std::uint32_t recorder_;
};

/// An expression, handle or number of value type V, recorded now. What is kept is a copy of an output parameter, which may
/// change; what is stored at once need not be.
template <class V, bool Keep = true, class X>
ValueId record_now(X&& x, const std::source_location& at) {
  if constexpr (recorded<X>) {
    if constexpr (output<X> && Keep) {
      return Recorder::current(at).snapshot(x.resolve(at), location_of(at));
    } else if constexpr (std::is_same_v<value_of<X>, V>) {
      return record_operand(at, TESSERA_FORWARD(x));
    } else {
      Recorder& r = Recorder::current(at);
      const ValueId v = record_operand(at, TESSERA_FORWARD(x));
      r.go_here(location_of(at));
      return r.emit(ops::scalar_cast, {v}, {}, type_of<V>);
    }
  } else {
    return make_literal<V>(x).record(Recorder::current(at), location_of(at));
  }
}

/// What may initialise or be assigned to a value of type V.
template <class X, class V>
concept assignable_to = (recorded<X> && std::is_same_v<typename std::remove_cvref_t<X>::value_type, V>) ||
                        (scalar_value<V> && literal_number<X> && !recorded<X> && !(is_floating_number<X>() && !is_float(type_of<V>.dtype))) ||
                        (recorded<X> && type_of<V>.is_index() && scalar_operand<X> && is_integer(type_of<value_of<X>>.dtype));

/// What is assigned to a variable or output of value type V, recorded, with the user's line.
template <class V, bool Keep>
struct assigned_value {
  ValueId value;
  std::source_location at;
  template <class X>
    requires assignable_to<X, V>
  assigned_value(X&& x, std::source_location l = std::source_location::current())  // NOLINT: converts by design
      : value(record_now<V, Keep>(TESSERA_FORWARD(x), l)), at(l) {}
};

/// The verdict on an assignment that assignable_to refuses.
constexpr Verdict judge_assignment(const Type& to, const Type& from) {
  if (to.dtype != from.dtype) return breaks(rule::assigned_type_differs, arg(to.dtype), arg(from.dtype));
  if (to.space != from.space) return breaks(rule::assigned_type_differs, arg(to.space), arg(from.space));
  if (to.rank != from.rank) return breaks(rule::assigned_type_differs, arg(std::int64_t{to.rank}), arg(std::int64_t{from.rank}));
  int axis = 0;
  while (axis + 1 < to.rank && to.dims[axis] == from.dims[axis]) ++axis;
  return breaks(rule::assigned_type_differs, arg_dim(to.dims[axis]), arg_dim(from.dims[axis]));
}
template <class V, class X, bool ToOutput = false>
struct assignment {
  static constexpr const OpInfo* op = nullptr;
  static constexpr Verdict make() {
    if constexpr (recorded<X>) {
      if (ToOutput && type_of<value_of<X>>.is_tile()) return breaks(rule::tile_is_assigned_to_an_output);
      return judge_assignment(type_of<V>, type_of<value_of<X>>);
    }
    else if constexpr (scalar_value<V> && is_floating_number<X>()) return breaks(rule::floating_literal_with_integers, arg(type_of<V>.dtype));
    else return breaks(rule::value_is_not_recorded);
  }
  static constexpr Verdict value = make();
};

template <class Self, class V>
class handle : public named_operand<V> {
 public:
  using value_type = V;
  TESSERA_INLINE handle(Recorder& r, ValueId v) : state_(r, v) {}
  handle(const handle&) = default;
  template <class X>
    requires(!std::is_base_of_v<handle, std::remove_cvref_t<X>>) && assignable_to<X, V>
  handle(X&& x, std::source_location at = std::source_location::current())  // NOLINT: `Tile<..> t = a + b;`
      : state_(Recorder::current(at), record_now<V>(TESSERA_FORWARD(x), at)) {}
  /// Handles are immutable: a Var is what can be assigned. Declared only.
  template <class X>
  broken::handles_are_immutable_use_var<> operator=(X&&);
  broken::handles_are_immutable_use_var<> operator=(const handle&);
  ~handle() = default;

  [[nodiscard]] TESSERA_INLINE ValueId resolve(const std::source_location& use = std::source_location()) const { return state_.get(use); }

 private:
  handle_state state_;
};

}  // namespace detail

/// A tensor in GM, or a tensor value of the kernel: the result of a tensor-level operation.
template <class S, DType D>
class Tensor : public detail::handle<Tensor<S, D>, Tensor<S, D>> {
 public:
  using shape = S;
  static constexpr DType dtype = D;
  using detail::handle<Tensor, Tensor>::handle;
  using detail::handle<Tensor, Tensor>::operator=;
  Tensor(const Tensor&) = default;
  broken::handles_are_immutable_use_var<> operator=(const Tensor&);
};

/// A tile on chip, in memory space M.
template <class S, DType D, MemorySpace M>
class Tile : public detail::handle<Tile<S, D, M>, Tile<S, D, M>> {
 public:
  using shape = S;
  static constexpr DType dtype = D;
  static constexpr MemorySpace space = M;
  using detail::handle<Tile, Tile>::handle;
  using detail::handle<Tile, Tile>::operator=;
  Tile(const Tile&) = default;
  broken::handles_are_immutable_use_var<> operator=(const Tile&);
};

/// A scalar known at run time.
template <DType D>
class Scalar : public detail::handle<Scalar<D>, Scalar<D>> {
 public:
  static constexpr DType dtype = D;
  using detail::handle<Scalar, Scalar>::handle;
  using detail::handle<Scalar, Scalar>::operator=;
  Scalar(const Scalar&) = default;
  broken::handles_are_immutable_use_var<> operator=(const Scalar&);
};

/// An integer for offsets, extents and loop counters.
class [[maybe_unused]] Index : public detail::handle<Index, Index> {
 public:
  using detail::handle<Index, Index>::handle;
  using detail::handle<Index, Index>::operator=;
  Index(const Index&) = default;
  broken::handles_are_immutable_use_var<> operator=(const Index&);
};

template <class V>
class Var;
namespace detail {
/// The variable on the left of `+=` and the like, with the user's line.
template <class V>
struct variable_operand {
  Var<V>* variable;
  std::source_location at;
  variable_operand(Var<V>& v, std::source_location l = std::source_location::current())  // NOLINT: converts by design
      : variable(__builtin_addressof(v)), at(l) {}
};

// The result of `v op x`, and whether it fits into v.
template <const binary_forms& F, class V, class X>
struct compound {
  static constexpr const OpInfo* op = nullptr;
  static constexpr Type result = plan_for<F, const Var<V>&, X>::value.result;
  static constexpr Verdict value = judge_assignment(type_of<V>, result);
};
template <const binary_forms& F, class V, class X>
concept lawful_compound = lawful_binary<F, const Var<V>&, X> && compound<F, V, X>::result == type_of<V>;
template <const binary_forms& F, class V, class X>
concept unlawful_compound = unlawful_binary<F, const Var<V>&, X> || (lawful_binary<F, const Var<V>&, X> && !lawful_compound<F, V, X>);
template <const binary_forms& F, class V, class X>
consteval auto broken_compound() {
  if constexpr (!unlawful_compound<F, V, X>) return type_is<nothing_broken>{};
  else if constexpr (unlawful_binary<F, const Var<V>&, X>) return broken_binary<F, const Var<V>&, X>();
  else return broken_type<compound<F, V, X>>();
}
}  // namespace detail

#define TESSERA_COMPOUND(SIGN, FORMS)                                                                                      \
  template <class X>                                                                                                       \
    requires detail::lawful_compound<FORMS, V, X> || detail::lawful_with_literal<FORMS, const Var&, X>                     \
  friend Var& operator SIGN##=(detail::variable_operand<V> v, X&& x) {                                                     \
    const Var& old = *v.variable;                                                                                          \
    if constexpr (recorded<X>) return *v.variable = {detail::make_binary_of<FORMS>(v.at, old, TESSERA_FORWARD(x)), v.at};     \
    else return *v.variable = {detail::make_with_literal<FORMS>(v.at, detail::make_child(v.at, old), x), v.at};                                      \
  }

/// A mutable variable of value type V. Assigned in a loop it is carried from one iteration to the next, assigned in a branch
/// it is merged behind it. `Var v = 0` is an Index, `Var s = 1.0f` a Scalar<f32>. Copying makes a new variable.
template <class V>
class Var : public detail::named_operand<V> {
 public:
  using value_type = V;
  template <class X>
    requires(!std::is_same_v<std::remove_cvref_t<X>, Var>) && detail::assignable_to<X, V>
  Var(X&& x, std::source_location at = std::source_location::current()) {  // NOLINT: `Var v = x;`
    state_.current = detail::record_now<V>(TESSERA_FORWARD(x), at);
    Recorder::current(at).add(state_);
  }
  Var(const Var& other) : detail::named_operand<V>() {
    state_.current = other.resolve();
    other.state_.recorder->add(state_);
  }
  /// Other variables are assigned as values are.
  Var& operator=(const Var&)
    requires false;
  ~Var() {
    if (state_.recorder != nullptr) state_.recorder->remove(state_);
  }
  Var& operator=(detail::assigned_value<V, true> x) {
    check_owner(x.at);
    state_.current = x.value;
    return *this;
  }
  template <class X>
    requires(!detail::assignable_to<X, V>)
  auto operator=(X&& x) -> decltype(detail::unwrap(detail::broken_type<detail::assignment<V, X>>()));
  TESSERA_COMPOUND(+, detail::forms_add)
  TESSERA_COMPOUND(-, detail::forms_sub)
  TESSERA_COMPOUND(*, detail::forms_mul)
  TESSERA_COMPOUND(/, detail::forms_div)
  TESSERA_COMPOUND(&, detail::forms_and)
  TESSERA_COMPOUND(|, detail::forms_or)
  TESSERA_COMPOUND(^, detail::forms_xor)
  TESSERA_COMPOUND(<<, detail::forms_shl)
  TESSERA_COMPOUND(>>, detail::forms_shr)
  friend Var& operator++(detail::variable_operand<V> v)
    requires scalar_value<V>
  {
    const Var& old = *v.variable;
    return *v.variable = {detail::make_with_literal<detail::forms_add>(v.at, detail::make_child(v.at, old), 1), v.at};
  }
  friend Var& operator--(detail::variable_operand<V> v)
    requires scalar_value<V>
  {
    const Var& old = *v.variable;
    return *v.variable = {detail::make_with_literal<detail::forms_sub>(v.at, detail::make_child(v.at, old), 1), v.at};
  }

  [[nodiscard]] ValueId resolve(const std::source_location& use = std::source_location()) const {
    check_owner(use);
    return state_.current;
  }

 private:
  void check_owner(const std::source_location& use) const {
    const Recorder& r = Recorder::current(use);
    if (state_.recorder != &r) r.refuse_foreign_variable(use);
  }
  VarState state_;
};

#if defined(__clang__) && __clang_major__ >= 19
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc++26-extensions"
#endif
/// No variable holds a mask.
template <class V>
  requires(is_mask(type_of<V>))
class Var<V> {
 public:
  template <class mask_is_for_select_only>
  Var(mask_is_for_select_only&&) = TESSERA_DELETED("mask_is_for_select_only");  // NOLINT: always a mistake
};
#if defined(__clang__) && __clang_major__ >= 19
#pragma clang diagnostic pop
#endif
#undef TESSERA_DELETED
template <>
class Var<broken::mask_is_for_select_only<>>;
namespace detail {
template <class X>
struct var_of;
template <class X>
  requires recorded<X>
struct var_of<X> {
  using type = std::conditional_t<is_mask(type_of<value_of<X>>), broken::mask_is_for_select_only<>, value_of<X>>;
};
template <class X>
  requires(!recorded<X>) && literal_number<X>
struct var_of<X> {
  using type = std::conditional_t<is_floating_number<X>(), Scalar<f32>, Index>;
};
}  // namespace detail
#undef TESSERA_COMPOUND
namespace detail {
template <class X>
struct is_variable : std::false_type {};
template <class V>
struct is_variable<Var<V>> : std::true_type {};
template <class X>
concept immutable = recorded<X> && !is_variable<std::remove_cvref_t<X>>::value && !output<X>;
}  // namespace detail
#define TESSERA_BROKEN_COMPOUND(SIGN, FORMS)                                                                      \
  template <class V, class X>                                                                                     \
    requires detail::unlawful_compound<FORMS, V, X>                                                               \
  auto operator SIGN##=(Var<V>&, X&&)->decltype(detail::unwrap(detail::broken_compound<FORMS, V, X>()));          \
  template <detail::immutable A, class X>                                                                         \
  broken::handles_are_immutable_use_var<> operator SIGN##=(A&&, X&&);                                             \
  template <output A, class X>                                                                            \
  broken::output_has_no_compound_assignment<> operator SIGN##=(A&&, X&&);
TESSERA_BROKEN_COMPOUND(+, detail::forms_add)
TESSERA_BROKEN_COMPOUND(-, detail::forms_sub)
TESSERA_BROKEN_COMPOUND(*, detail::forms_mul)
TESSERA_BROKEN_COMPOUND(/, detail::forms_div)
TESSERA_BROKEN_COMPOUND(&, detail::forms_and)
TESSERA_BROKEN_COMPOUND(|, detail::forms_or)
TESSERA_BROKEN_COMPOUND(^, detail::forms_xor)
TESSERA_BROKEN_COMPOUND(<<, detail::forms_shl)
TESSERA_BROKEN_COMPOUND(>>, detail::forms_shr)
#undef TESSERA_BROKEN_COMPOUND
template <detail::immutable A>
broken::handles_are_immutable_use_var<> operator++(A&&);
template <detail::immutable A>
broken::handles_are_immutable_use_var<> operator--(A&&);
template <recorded A>
broken::handles_are_immutable_use_var<> operator++(A&&, int);
template <recorded A>
broken::handles_are_immutable_use_var<> operator--(A&&, int);
template <class X>
  requires(!detail::is_variable<std::remove_cvref_t<X>>::value)
Var(X&&) -> Var<typename detail::var_of<X>::type>;
template <class V>
Var(const Var<V>&) -> Var<V>;

namespace detail {

/// A parameter that a kernel writes. Assigning it writes the whole tensor; store(...) writes a part.
template <class Self, class T>
class written_parameter : public named_operand<T> {
 public:
  using value_type = T;
  using is_output = void;
  written_parameter(Recorder& r, ValueId v) : state_(r, v) {}
  written_parameter(const written_parameter&) = default;
  [[nodiscard]] TESSERA_INLINE ValueId resolve(const std::source_location& use = std::source_location()) const { return state_.get(use); }

 protected:
  void assign(const assigned_value<T, false>& x) {
    Recorder& r = Recorder::current(x.at);
    const ValueId target = resolve(x.at);
    r.store_whole(x.value, target, location_of(x.at));
  }

 private:
  handle_state state_;
};

}  // namespace detail

/// A tensor parameter that the kernel writes.
template <class T>
class Out : public detail::written_parameter<Out<T>, T> {
 public:
  using detail::written_parameter<Out, T>::written_parameter;
  Out(const Out&) = default;
  Out& operator=(const Out&)
    requires false;
  Out& operator=(detail::assigned_value<T, false> x) {
    this->assign(x);
    return *this;
  }
  template <class X>
    requires(!detail::assignable_to<X, T>)
  auto operator=(X&& x) -> decltype(detail::unwrap(detail::broken_type<detail::assignment<T, X, true>>()));
};
/// A tensor parameter that the kernel reads and writes.
template <class T>
class InOut : public detail::written_parameter<InOut<T>, T> {
 public:
  using detail::written_parameter<InOut, T>::written_parameter;
  InOut(const InOut&) = default;
  InOut& operator=(const InOut&)
    requires false;
  InOut& operator=(detail::assigned_value<T, false> x) {
    this->assign(x);
    return *this;
  }
  template <class X>
    requires(!detail::assignable_to<X, T>)
  auto operator=(X&& x) -> decltype(detail::unwrap(detail::broken_type<detail::assignment<T, X, true>>()));
};

namespace detail {

/// A tile parameter that a tile operation writes: a variable in its body.
template <class T>
class written_tile : public named_operand<T> {
 public:
  using value_type = T;
  using is_output = void;
  written_tile(Recorder& r, ValueId v) : variable_(&r.output_tile(v)), recorder_(r.id()) {}
  written_tile(const written_tile&) = default;
  [[nodiscard]] ValueId resolve(const std::source_location& use = std::source_location()) const { return variable(use).current; }

 protected:
  void assign(const assigned_value<T, true>& x) { variable(x.at).current = x.value; }

 private:
  [[nodiscard]] VarState& variable(const std::source_location& use) const {
    const Recorder& r = Recorder::current(use);
    if (r.id() != recorder_) r.refuse_foreign_variable(use);
    return *variable_;
  }
  VarState* variable_;
  std::uint32_t recorder_;
};

}  // namespace detail

#define TESSERA_WRITTEN_TILE(NAME)                                                             \
  template <class S, DType D, MemorySpace M>                                                   \
  class NAME<Tile<S, D, M>> : public detail::written_tile<Tile<S, D, M>> {                     \
   public:                                                                                     \
    using detail::written_tile<Tile<S, D, M>>::written_tile;                                   \
    NAME(const NAME&) = default;                                                               \
    NAME& operator=(const NAME&)                                                               \
      requires false;                                                                          \
    NAME& operator=(detail::assigned_value<Tile<S, D, M>, true> x) {                           \
      this->assign(x);                                                                         \
      return *this;                                                                            \
    }                                                                                          \
    template <class X>                                                                         \
      requires(!detail::assignable_to<X, Tile<S, D, M>>)                                       \
    auto operator=(X&& x)->decltype(detail::unwrap(detail::broken_type<detail::assignment<Tile<S, D, M>, X>>())); \
  };
/// A tile that a tile operation leaves in a variable of its caller.
TESSERA_WRITTEN_TILE(Out)
/// A tile that a tile operation finds in a variable of its caller, and may replace.
TESSERA_WRITTEN_TILE(InOut)
#undef TESSERA_WRITTEN_TILE

}  // namespace tessera
