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
  [[nodiscard]] ValueId get() const {
    const Recorder* const r = Recorder::current_or_null();
    if (r == nullptr || r->id() != recorder_)
      fail({}, "a value of another kernel is used", "pass it as a parameter of this kernel");
    return value_;
  }

 private:
  ValueId value_;
  std::uint32_t recorder_;
};

/// An expression, handle or number of value type V, recorded now.
template <class V, class X>
ValueId record_now(X&& x, const std::source_location& at) {
  if constexpr (recorded<X>) {
    if constexpr (std::is_same_v<value_of<X>, V>) {
      return x.resolve();
    } else {
      Recorder& r = Recorder::current(at);
      const ValueId v = x.resolve();
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

template <class Self, class V>
class handle : public operators<Self, V> {
 public:
  using value_type = V;
  handle(Recorder& r, ValueId v) : state_(r, v) {}
  handle(const handle&) = default;
  template <class X>
    requires(!std::is_base_of_v<handle, std::remove_cvref_t<X>>) && assignable_to<X, V>
  handle(X&& x, std::source_location at = std::source_location::current())  // NOLINT: `Tile<..> t = a + b;`
      : state_(Recorder::current(at), record_now<V>(std::forward<X>(x), at)) {}
  /// Handles are immutable: a Var is what can be assigned. Declared only.
  template <class X>
  broken::handles_are_immutable_use_var<> operator=(X&&);
  broken::handles_are_immutable_use_var<> operator=(const handle&);
  ~handle() = default;

  [[nodiscard]] ValueId resolve() const { return state_.get(); }

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
};

/// A scalar known at run time.
template <DType D>
class Scalar : public detail::handle<Scalar<D>, Scalar<D>> {
 public:
  static constexpr DType dtype = D;
  using detail::handle<Scalar, Scalar>::handle;
  using detail::handle<Scalar, Scalar>::operator=;
};

/// An integer for offsets, extents and loop counters.
class Index : public detail::handle<Index, Index> {
 public:
  using detail::handle<Index, Index>::handle;
  using detail::handle<Index, Index>::operator=;
};

/// A mutable variable of value type V. Assigned in a loop it is carried from one iteration to the next, assigned in a branch
/// it is merged behind it. `Var v = 0` is an Index, `Var s = 1.0f` a Scalar<f32>. Copying makes a new variable.
template <class V>
class Var : public operators<Var<V>, V> {
 public:
  using value_type = V;
  template <class X>
    requires(!std::is_same_v<std::remove_cvref_t<X>, Var>) && detail::assignable_to<X, V>
  Var(X&& x, std::source_location at = std::source_location::current()) {  // NOLINT: `Var v = x;`
    state_.current = detail::record_now<V>(std::forward<X>(x), at);
    Recorder::current(at).add(state_);
  }
  Var(const Var& other) : operators<Var<V>, V>() {
    state_.current = other.resolve();
    other.state_.recorder->add(state_);
  }
  ~Var() {
    if (state_.recorder != nullptr) state_.recorder->remove(state_);
  }
  Var& operator=(const Var& other) {
    state_.current = other.resolve();
    return *this;
  }
  template <class X>
    requires(!std::is_same_v<std::remove_cvref_t<X>, Var>) && detail::assignable_to<X, V>
  Var& operator=(X&& x) {
    state_.current = detail::record_now<V>(std::forward<X>(x), std::source_location());
    return *this;
  }
  template <class X>
    requires recorded<X> && (!detail::assignable_to<X, V>)
  broken::assigned_type_differs<> operator=(X&& x);
  template <class X>
  Var& operator+=(X&& x) { return *this = *this + std::forward<X>(x); }
  template <class X>
  Var& operator-=(X&& x) { return *this = *this - std::forward<X>(x); }
  template <class X>
  Var& operator*=(X&& x) { return *this = *this * std::forward<X>(x); }

  [[nodiscard]] ValueId resolve() const {
    if (state_.recorder == nullptr || state_.recorder != Recorder::current_or_null())
      fail({}, "a variable of another kernel is used", "declare the Var inside this kernel's lambda");
    return state_.current;
  }

 private:
  VarState state_;
};

namespace detail {
template <class X>
struct var_of;
template <class X>
  requires recorded<X>
struct var_of<X> {
  using type = value_of<X>;
};
template <class X>
  requires(!recorded<X>) && literal_number<X>
struct var_of<X> {
  using type = std::conditional_t<is_floating_number<X>(), Scalar<f32>, Index>;
};
}  // namespace detail
template <class X>
Var(X&&) -> Var<typename detail::var_of<X>::type>;
template <class V>
Var(const Var<V>&) -> Var<V>;

namespace detail {

/// A parameter that a kernel writes. Assigning it writes the whole tensor; store(...) writes a part.
template <class Self, class T>
class written_parameter : public operators<Self, T> {
 public:
  using value_type = T;
  written_parameter(Recorder& r, ValueId v) : state_(r, v) {}
  written_parameter(const written_parameter&) = default;
  [[nodiscard]] ValueId resolve() const { return state_.get(); }

 protected:
  template <class X>
  void assign(X&& x) {
    Recorder& r = Recorder::current(std::source_location());
    const ValueId source = x.resolve();
    const ValueId target = resolve();
    r.go_here(r.build().location());
    std::vector<ValueId> operands{source, target};
    for (int i = 0; i < type_of<T>.rank; ++i) operands.push_back(r.build().index(0));
    r.emit(ops::store, operands, {}, {});
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
  template <class X>
    requires recorded<X> && std::is_same_v<value_of<X>, T>
  Out& operator=(X&& x) {
    this->assign(std::forward<X>(x));
    return *this;
  }
  template <class X>
    requires recorded<X> && (!std::is_same_v<value_of<X>, T>)
  broken::assigned_type_differs<> operator=(X&& x);
};
/// A tensor parameter that the kernel reads and writes.
template <class T>
class InOut : public detail::written_parameter<InOut<T>, T> {
 public:
  using detail::written_parameter<InOut, T>::written_parameter;
  InOut(const InOut&) = default;
  template <class X>
    requires recorded<X> && std::is_same_v<value_of<X>, T>
  InOut& operator=(X&& x) {
    this->assign(std::forward<X>(x));
    return *this;
  }
  template <class X>
    requires recorded<X> && (!std::is_same_v<value_of<X>, T>)
  broken::assigned_type_differs<> operator=(X&& x);
};

}  // namespace tessera
