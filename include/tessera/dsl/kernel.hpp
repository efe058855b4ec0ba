// kernel("name", lambda): registers a lambda over typed parameters; orchestration, spmd and group register functions that call
// kernels. Tracing one needs <tessera/compile.hpp>.
#pragma once

#include <string>

#include "call.hpp"
#include "control.hpp"
#include "gather_rows.hpp"
#include "matmul.hpp"
#include "random.hpp"
#include "registry.hpp"
#include "select.hpp"
#include "sort.hpp"
#include "split.hpp"
#include "storage.hpp"
#include "windows.hpp"

namespace tessera {

/// Names of the parameters, in order.
template <std::size_t N>
struct parameter_names {
  const char* names[N > 0 ? N : 1];
};
/// Names the parameters of a kernel: `kernel("scale", params("x", "s"), ...)`.
template <class... S>
  requires(std::is_convertible_v<const S&, const char*> && ...)
[[nodiscard]] constexpr auto params(const S&... names) {
  return parameter_names<sizeof...(S)>{{names...}};
}
template <class... S>
  requires(!(std::is_convertible_v<const S&, const char*> && ...))
broken::parameter_name_is_not_text<> params(const S&... names);

/// "16x512": the dims of a kernel's family member, for its name.
template <auto First, auto... Rest>
[[nodiscard]] std::string dims() {
  std::string s = std::to_string(First);
  ((s += "x" + std::to_string(Rest)), ...);
  return s;
}

/// Several results: `return results(a, b);`. Every one becomes an output.
template <class... V>
struct Results;
template <>
struct Results<> {};
template <class A>
struct Results<A> {
  A first;
};
template <class A, class B>
struct Results<A, B> {
  A first;
  B second;
};
template <class A, class B, class C>
struct Results<A, B, C> {
  A first;
  B second;
  C third;
};
template <class A, class B, class C, class D>
struct Results<A, B, C, D> {
  A first;
  B second;
  C third;
  D fourth;
};

namespace detail {
template <class X>
value_of<X> named_now(X&& x, const std::source_location& at) {
  return {Recorder::current(at), record_now<value_of<X>>(std::forward<X>(x), at)};
}
}  // namespace detail

/// What a kernel returns that has one to four results, recorded in this order: `return results(mean, variance);`.
template <class... X>
  requires(sizeof...(X) >= 1 && sizeof...(X) <= 4 && (recorded<X> && ...))
[[nodiscard]] auto results(X&&... x) {
  // Braces: recorded left to right.
  return Results<value_of<X>...>{detail::named_now(std::forward<X>(x), std::source_location())...};
}
template <class... X>
  requires(sizeof...(X) < 1 || sizeof...(X) > 4)
broken::result_count_is_not_supported<static_cast<int>(sizeof...(X))> results(X&&... x);

namespace detail {

// --- the lambda's parameters ---
template <class... P>
struct type_list {
  static constexpr std::size_t size = sizeof...(P);
};
template <class F>
struct signature;
template <class C, class R, class... P>
struct signature<R (C::*)(P...) const> {
  using parameters = type_list<std::remove_cvref_t<P>...>;
  using result = R;
  // A parameter is made for the call: it binds to everything but T&.
  static constexpr bool by_reference = ((std::is_lvalue_reference_v<P> && !std::is_const_v<std::remove_reference_t<P>>) || ...);
};
template <class C, class R, class... P>
struct signature<R (C::*)(P...)> : signature<R (C::*)(P...) const> {};
template <class C, class R, class... P>
struct signature<R (C::*)(P...) const noexcept> : signature<R (C::*)(P...) const> {};
template <class C, class R, class... P>
struct signature<R (C::*)(P...) noexcept> : signature<R (C::*)(P...) const> {};
template <class F>
concept has_one_call_operator = requires { &F::operator(); };

template <class P>
struct parameter {
  static constexpr bool supported = false;
};
template <class S, DType D>
struct parameter<Tensor<S, D>> {
  static constexpr bool supported = D != boolean;
  static constexpr Direction direction = Direction::in;
  using value = Tensor<S, D>;
};
template <class S, DType D>
struct parameter<Out<Tensor<S, D>>> {
  static constexpr bool supported = D != boolean;
  static constexpr Direction direction = Direction::out;
  using value = Tensor<S, D>;
};
template <class S, DType D>
struct parameter<InOut<Tensor<S, D>>> {
  static constexpr bool supported = D != boolean;
  static constexpr Direction direction = Direction::inout;
  using value = Tensor<S, D>;
};
template <DType D>
struct parameter<Scalar<D>> {
  static constexpr bool supported = true;
  static constexpr Direction direction = Direction::in;
  using value = Scalar<D>;
};
template <>
struct parameter<Index> {
  static constexpr bool supported = true;
  static constexpr Direction direction = Direction::in;
  using value = Index;
};

template <class L>
struct all_supported;
template <class... P>
struct all_supported<type_list<P...>> {
  static constexpr bool value = (parameter<P>::supported && ...);
};

template <class R>
struct returnable {
  static constexpr bool value = recorded<R> && !scalar_operand<R>;
};
template <>
struct returnable<void> {
  static constexpr bool value = true;
};
template <class... V>
struct returnable<Results<V...>> {
  static constexpr bool value = (returnable<V>::value && ...);
};

template <class F, std::size_t... I, class... P>
TESSERA_INLINE void run_lambda(Recorder& r, F f, const char* const* names, std::index_sequence<I...>, type_list<P...>) {
  using R = std::remove_cvref_t<typename signature<decltype(&F::operator())>::result>;
  // Braces: parameters in order.
  const ValueId values[sizeof...(P) + 1] = {
      r.add_parameter(type_of<typename parameter<P>::value>, parameter<P>::direction, names[I], I)...};
  if constexpr (std::is_void_v<R>) {
    f(P(r, values[I])...);
    r.end_function({});
  } else if constexpr (recorded<R>) {
    const auto x = f(P(r, values[I])...);
    r.throw_error();
    r.end_function({x.resolve()});
  } else {
    const auto x = f(P(r, values[I])...);
    r.throw_error();
    if constexpr (requires { x.fourth; }) r.end_function({x.first.resolve(), x.second.resolve(), x.third.resolve(), x.fourth.resolve()});
    else if constexpr (requires { x.third; }) r.end_function({x.first.resolve(), x.second.resolve(), x.third.resolve()});
    else if constexpr (requires { x.second; }) r.end_function({x.first.resolve(), x.second.resolve()});
    else r.end_function({x.first.resolve()});
  }
}

// One address per closure type, to tell a repeated registration.
template <class F>
inline constexpr char closure_tag = 0;

template <class F>
class kernel_entry final : public KernelEntry {
 public:
  using parameters = typename signature<decltype(&F::operator())>::parameters;
  TESSERA_INLINE kernel_entry(std::string_view name, F&& f, const char* const* names, const Location& at,
                              FunctionKind kind = FunctionKind::kernel, std::int64_t blocks = 1, const Threads& threads = {})
      : KernelEntry(name, at, &closure_tag<F>, !std::is_empty_v<F>, built_for, kind, blocks, threads), f_(static_cast<F&&>(f)) {
    for (std::size_t i = 0; names != nullptr && i < parameters::size; ++i) names_.names[i] = names[i];
  }

 private:
  void run(Recorder& r) const override { run_lambda(r, f_, names_.names, std::make_index_sequence<parameters::size>{}, parameters{}); }
  F f_;
  parameter_names<parameters::size> names_{};
};
/// What traces a kernel entry is found in <tessera/compile.hpp>, where that is included.
template <class E>
concept traceable = requires(const E& e) { trace_kernel(e); };

/// What registered functions of a lambda share: they are called like functions, and traced. `calls`: with those that they call.
template <class F, class R = std::remove_cvref_t<typename signature<decltype(&F::operator())>::result>, bool calls = false>
class defined : public callable<R, typename signature<decltype(&F::operator())>::parameters> {
 public:
  using parameter_types = typename signature<decltype(&F::operator())>::parameters;
  using result_type = R;

  /// Runs the lambda once and returns the recorded function; where it calls others, the program. Throws UserError. Needs
  /// <tessera/compile.hpp>.
  template <class E = KernelEntry>
    requires traceable<E>
  [[nodiscard]] auto trace() const {
    if constexpr (calls) return trace_program(static_cast<const E&>(this->entry()));
    else return trace_kernel(static_cast<const E&>(this->entry()));
  }
  template <class E = KernelEntry>
    requires(!traceable<E>)
  broken::trace_needs_include_tessera_compile_hpp<> trace() const;

 protected:
  using callable<R, parameter_types>::callable;
};

}  // namespace detail

/// A registered kernel. Inside an orchestration or a wrapper it is called like a function.
template <class F>
class Kernel : public detail::defined<F> {
 public:
  /// `names`: null, or one for each parameter.
  TESSERA_INLINE Kernel(std::string_view name, F&& f, const char* const* names, const std::source_location& at)
      : detail::defined<F>(Registry::instance().add(new detail::kernel_entry<F>(name, static_cast<F&&>(f), names, detail::location_of(at)))) {}
};

/// A registered function that calls kernels: an orchestration, spmd or group. It is called like a kernel.
template <class F>
class Caller : public detail::defined<F, std::remove_cvref_t<typename detail::signature<decltype(&F::operator())>::result>, true> {
 public:
  TESSERA_INLINE Caller(FunctionKind kind, std::int64_t blocks, std::string_view name, F&& f, const char* const* names, const std::source_location& at)
      : Caller::defined(Registry::instance().add(
            new detail::kernel_entry<F>(name, static_cast<F&&>(f), names, detail::location_of(at), kind, blocks))) {}
};

namespace detail {

// Results of a comparison of tensors or tiles.
template <class R>
struct returns_mask {
  static constexpr bool value = false;
};
template <recorded R>
struct returns_mask<R> {
  static constexpr bool value = is_mask(type_of<value_of<R>>);
};
template <class... V>
struct returns_mask<Results<V...>> {
  static constexpr bool value = (returns_mask<V>::value || ...);
};

template <class F>
consteval int kernel_fault() {
  if constexpr (!std::is_class_v<F>) return 4;
  else if constexpr (!has_one_call_operator<F>) return 1;
  else if constexpr (!all_supported<typename signature<decltype(&F::operator())>::parameters>::value ||
                     signature<decltype(&F::operator())>::by_reference)
    return 2;
  else if constexpr (!returnable<std::remove_cvref_t<typename signature<decltype(&F::operator())>::result>>::value) return 3;
  else if constexpr (returns_mask<std::remove_cvref_t<typename signature<decltype(&F::operator())>::result>>::value) return 5;
  else return 0;
}
template <class F, std::size_t N>
consteval bool names_fit() {
  if constexpr (kernel_fault<F>() == 0) return signature<decltype(&F::operator())>::parameters::size == N;
  else return true;
}
// g++ has no call operator for a lambda with an error in its body; that error was printed, so there is nothing to add.
struct faulty_lambda {};
template <class F>
consteval bool lambda_is_faulty() {
#if defined(__GNUC__) && !defined(__clang__)
  return std::string_view(__PRETTY_FUNCTION__).find("auto:") == std::string_view::npos;
#else
  return false;
#endif
}
template <class F>
consteval auto broken_kernel() {
  if constexpr (kernel_fault<F>() == 1 && lambda_is_faulty<F>()) return type_is<faulty_lambda>{};
  else if constexpr (kernel_fault<F>() == 1) return type_is<broken::kernel_lambda_is_generic<>>{};
  else if constexpr (kernel_fault<F>() == 2) return type_is<broken::kernel_parameter_type_is_not_supported<>>{};
  else if constexpr (kernel_fault<F>() == 4) return type_is<broken::kernel_body_is_not_a_lambda<>>{};
  else if constexpr (kernel_fault<F>() == 5) return type_is<broken::mask_is_for_select_only<>>{};
  else return type_is<broken::kernel_returns_something_else<>>{};
}
template <class F, std::size_t N>
consteval auto broken_names() {
  if constexpr (kernel_fault<F>() != 0) return broken_kernel<F>();
  else return type_is<broken::kernel_parameter_name_count_differs<static_cast<int>(N), static_cast<int>(signature<decltype(&F::operator())>::parameters::size)>>{};
}

}  // namespace detail

/// Registers the lambda as a kernel: `inline const auto softmax = kernel("softmax", [](Tensor<Shape<64, 128>, f32> x) { ... });`
template <class F>
  requires(detail::kernel_fault<F>() == 0)
[[nodiscard]] auto kernel(std::string_view name, F f, std::source_location at = std::source_location::current()) {
  return Kernel<F>(name, static_cast<F&&>(f), nullptr, at);
}
template <std::size_t N, class F>
  requires(detail::kernel_fault<F>() == 0 && detail::names_fit<F, N>())
[[nodiscard]] auto kernel(std::string_view name, const parameter_names<N>& names, F f, std::source_location at = std::source_location::current()) {
  return Kernel<F>(name, static_cast<F&&>(f), names.names, at);
}
template <class F>
  requires(detail::kernel_fault<F>() != 0)
auto kernel(std::string_view name, F f) -> decltype(detail::unwrap(detail::broken_kernel<F>()));
template <std::size_t N, class F>
  requires(detail::kernel_fault<F>() != 0 || !detail::names_fit<F, N>())
auto kernel(std::string_view name, const parameter_names<N>& names, F f) -> decltype(detail::unwrap(detail::broken_names<F, N>()));

namespace detail {
/// A count of blocks; what is no integer has a twin of its own.
struct block_count_argument {
  std::int64_t count;
  template <class I>
    requires std::is_integral_v<I>
  block_count_argument(I n) : count(static_cast<std::int64_t>(n)) {}  // NOLINT: converts by design
};
}  // namespace detail

/// The four forms of a function that calls: with and without params(...), and the twins that name what is wrong. COUNT is the
/// parameter behind the name, with a comma, or nothing; BLOCKS what it says.
#define TESSERA_CALLER(NAME, COUNT, BLOCKS)                                                                                     \
  template <class F>                                                                                                            \
    requires(detail::kernel_fault<F>() == 0)                                                                                    \
  [[nodiscard]] auto NAME(std::string_view name COUNT, F f, std::source_location at = std::source_location::current()) {         \
    return Caller<F>(FunctionKind::NAME, BLOCKS, name, static_cast<F&&>(f), nullptr, at);                                       \
  }                                                                                                                             \
  template <std::size_t N, class F>                                                                                             \
    requires(detail::kernel_fault<F>() == 0 && detail::names_fit<F, N>())                                                       \
  [[nodiscard]] auto NAME(std::string_view name COUNT, const parameter_names<N>& names, F f,                                    \
                          std::source_location at = std::source_location::current()) {                                          \
    return Caller<F>(FunctionKind::NAME, BLOCKS, name, static_cast<F&&>(f), names.names, at);                                   \
  }                                                                                                                             \
  template <class F>                                                                                                            \
    requires(detail::kernel_fault<F>() != 0)                                                                                    \
  auto NAME(std::string_view name COUNT, F f)->decltype(detail::unwrap(detail::broken_kernel<F>()));                            \
  template <std::size_t N, class F>                                                                                             \
    requires(detail::kernel_fault<F>() != 0 || !detail::names_fit<F, N>())                                                      \
  auto NAME(std::string_view name COUNT, const parameter_names<N>& names, F f)->decltype(detail::unwrap(detail::broken_names<F, N>()));

#define TESSERA_NO_COUNT
#define TESSERA_BLOCK_COUNT , detail::block_count_argument blocks
/// Registers a function that runs on the host and calls kernels:
/// `inline const auto layer = orchestration("layer", [](Tensor<...> x, Tensor<...> w) { return softmax(linear(x, w)); });`
TESSERA_CALLER(orchestration, TESSERA_NO_COUNT, 1)
/// Registers a wrapper: what it calls is run by `blocks` blocks, which block_index() and block_count() tell apart.
TESSERA_CALLER(spmd, TESSERA_BLOCK_COUNT, blocks.count)
template <class C, class... More>
  requires(!std::is_integral_v<C>)
broken::spmd_block_count_is_not_an_integer<> spmd(std::string_view name, const C& count, More&&... more);
/// Registers a wrapper that hands its parameters on to one call.
TESSERA_CALLER(group, TESSERA_NO_COUNT, 1)
#undef TESSERA_BLOCK_COUNT
#undef TESSERA_NO_COUNT
#undef TESSERA_CALLER
#undef TESSERA_PAIR
#undef TESSERA_SHAPE_OF
#undef TESSERA_ONE_OPERAND

}  // namespace tessera
