// tileop("name", lambda): registers an operation on tiles that kernels call. Called with tiles it gives tiles; called with
// tensors it is an operation of the tensor level. A wrong argument selects a twin whose return type names the broken rule.
#pragma once

#include "kernel.hpp"

namespace tessera {
namespace detail {

// A kernel takes no tiles, a tile operation does.
template <class S, DType D, MemorySpace M>
struct parameter<Tile<S, D, M>> {
  static constexpr bool supported = false, is_tile = D != boolean && M != Gm;
  static constexpr Direction direction = Direction::in;
  using value = Tile<S, D, M>;
};
template <class S, DType D, MemorySpace M>
struct parameter<Out<Tile<S, D, M>>> : parameter<Tile<S, D, M>> {
  static constexpr Direction direction = Direction::out;
};
template <class S, DType D, MemorySpace M>
struct parameter<InOut<Tile<S, D, M>>> : parameter<Tile<S, D, M>> {
  static constexpr Direction direction = Direction::inout;
};
template <class P>
constexpr bool is_tile_parameter() {
  if constexpr (requires { parameter<P>::is_tile; }) return parameter<P>::is_tile;
  else return false;
}
template <class L>
struct all_of_tileop;
template <class... P>
struct all_of_tileop<type_list<P...>> {
  static constexpr bool value = ((parameter<P>::supported || is_tile_parameter<P>()) && ...);
};

// Results are tiles.
template <class R>
struct returns_tiles {
  static constexpr bool value = false;
};
template <>
struct returns_tiles<void> {
  static constexpr bool value = true;
};
template <recorded R>
struct returns_tiles<R> {
  static constexpr bool value = type_of<value_of<R>>.is_tile();
};
template <class... V>
struct returns_tiles<Results<V...>> {
  static constexpr bool value = (returns_tiles<V>::value && ...);
};

template <class P, class X>
constexpr Verdict judge_tileop_argument(DimBinding& binding, std::int64_t position) {
  if constexpr (is_tile_parameter<P>()) {
    if constexpr (!recorded<X>) {
      return breaks(rule::tileop_argument_is_not_a_tile, arg(position));
    } else {
      const Verdict v = check_tile_argument(type_of<typename parameter<P>::value>, type_of<value_of<X>>, position);
      constexpr bool variable = output<X> || (is_variable<std::remove_cvref_t<X>>::value && std::is_lvalue_reference_v<X> && !std::is_const_v<std::remove_reference_t<X>>);
      return !v.lawful() || parameter<P>::direction == Direction::in || variable ? v : breaks(rule::tileop_output_is_not_a_variable, arg(position));
    }
  } else {
    const Verdict v = judge_call_argument<P, X>(binding, position);
    return !v.lawful() || parameter<P>::direction == Direction::in || output<X> ? v : breaks(rule::not_an_output, arg_op);
  }
}
/// Whether an argument fits its parameter in a call with tensors, or with tiles.
template <class P, class X, bool Tensors>
constexpr bool fits_tileop() {
  DimBinding none;
  if constexpr (is_tile_parameter<P>() && recorded<X>)
    if (type_of<value_of<X>>.is_tensor() != Tensors) return false;
  return judge_tileop_argument<P, X>(none, 0).lawful();
}

/// The argument of one parameter.
template <class P, bool Tensors>
struct tileop_argument : kept_argument {
  template <class X>
    requires(!std::is_same_v<std::remove_cvref_t<X>, tileop_argument>) && (fits_tileop<P, X, Tensors>())
  TESSERA_INLINE tileop_argument(X&& x)  // NOLINT: converts by design
      : kept_argument(keep<P, X>(static_cast<X&&>(x))) {
    if constexpr (is_output) receive_ = &received_as<X>;
  }
  /// Gives an output's variable its new value.
  TESSERA_INLINE void receive(const ValueId*& next, const std::source_location& at) const {
    if constexpr (is_output) receive_(object, *next++, at);
  }
  static constexpr bool is_output = is_tile_parameter<P>() && parameter<P>::direction != Direction::in;

 private:
  template <class X>
  static void received_as(void* object, ValueId v, const std::source_location& at) {
    *static_cast<std::remove_reference_t<X>*>(object) = {value_of<X>(Recorder::current(at), v), at};
  }
  void (*receive_)(void*, ValueId, const std::source_location&) = nullptr;
};

/// What a call with tiles gives for a lambda's result R.
template <class R>
struct tileop_result {
  static auto make(Recorder& r, const ValueId* v) { return value_of<R>(r, v[0]); }
};
template <>
struct tileop_result<void> {
  static void make(Recorder&, const ValueId*) {}
};
template <class... V>
struct tileop_result<Results<V...>> {
  static auto make(Recorder& r, const ValueId* v) { return Results<V...>{V(r, *v++)...}; }
};

/// The places of tiles in a call: all of the arguments for tile parameters are tiles, or all of them tensors.
struct tileop_levels {
  std::int64_t first_tile = -1, first_tensor = -1;
  constexpr void add(bool is_tile_parameter, bool is_tensor, std::int64_t position) {
    std::int64_t& first = is_tensor ? first_tensor : first_tile;
    if (is_tile_parameter && first < 0) first = position;
  }
};
constexpr Verdict judge_levels(const tileop_levels& levels, const Type* results, std::size_t count) {
  if (levels.first_tensor < 0) return lawful();
  if (levels.first_tile >= 0) return breaks(rule::tileop_mixes_tensors_and_tiles, arg(levels.first_tile), arg(levels.first_tensor));
  for (std::size_t i = 0; i < count; ++i)
    if (results[i].space != Vec && results[i].space != Mat && results[i].space != Acc) return breaks(rule::tileop_result_has_no_way_to_a_tensor, arg(results[i].space));
  return lawful();
}
template <class R, class Parameters, class... A>
struct tileop_verdict;
template <class R, class... P, class... A>
struct tileop_verdict<R, type_list<P...>, A...> {
  static constexpr const OpInfo* op = &ops::call;
  template <class Q, class X>
  static constexpr Verdict judge(DimBinding& binding, tileop_levels& levels, std::int64_t position) {
    if constexpr (recorded<X>) levels.add(is_tile_parameter<Q>(), type_of<value_of<X>>.is_tensor(), position);
    return judge_tileop_argument<Q, X>(binding, position);
  }
  static constexpr Verdict make() {
    if constexpr (sizeof...(P) != sizeof...(A)) {
      return breaks(rule::call_argument_count_differs, arg(std::int64_t{sizeof...(A)}), arg(std::int64_t{sizeof...(P)}));
    } else {
      DimBinding binding;
      tileop_levels levels;
      Verdict v;
      std::int64_t position = 0;
      static_cast<void>(((v = judge<P, A>(binding, levels, position++), v.lawful()) && ...));
      return v.lawful() ? judge_levels(levels, call_result<R>::types, call_result<R>::count) : v;
    }
  }
  static constexpr Verdict value = make();
};

/// Throws UserError where one variable is given for two parameters that are written; null: one that is not.
inline void refuse_one_variable(const void* const* written, std::size_t count, const std::source_location& at) {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i)
    for (std::int64_t k = 0; k < i; ++k)
      if (written[i] != nullptr && written[i] == written[k])
        fail(location_of(at), Text("call: one variable is given for two parameters that the tile operation writes (").append(k + 1).append(" and ").append(i + 1).append(")"),
             "give each of them a variable of its own");
}

template <class R, class Parameters>
class tileop_callable;
template <class R, class... P>
class tileop_callable<R, type_list<P...>> : public registered {
 public:
  /// Records a call with tiles, inside a kernel. Out and InOut arguments are variables, which it assigns.
  auto operator()(tileop_argument<P, false>... arguments, std::source_location at = std::source_location::current()) const {
    return call<tileop_result<R>>(at, arguments...);
  }
  /// The same with tensors.
  auto operator()(tileop_argument<P, true>... arguments, std::source_location at = std::source_location::current()) const
    requires(is_tile_parameter<P>() || ...)
  {
    return call<call_result<R>>(at, arguments...);
  }
  template <class... A>
    requires(!tileop_verdict<R, type_list<P...>, A...>::value.lawful())
  auto operator()(A&&... arguments) const -> decltype(unwrap(broken_type<tileop_verdict<R, type_list<P...>, A...>>()));

 protected:
  using registered::registered;

 private:
  template <class Result, class... A>
  auto call(const std::source_location& at, const A&... arguments) const {
    constexpr std::size_t outputs = (std::size_t{0} + ... + std::size_t{A::is_output});
    const kept_argument* const list[sizeof...(A) + 1] = {&arguments..., nullptr};
    const void* const written[sizeof...(A) + 1] = {(A::is_output ? arguments.object : nullptr)..., nullptr};
    refuse_one_variable(written, sizeof...(A), at);
    ValueId results[outputs + call_result<R>::count + 1];
    record_call(entry(), list, sizeof...(A), results, outputs + call_result<R>::count, at);
    const ValueId* next = results;
    (arguments.receive(next, at), ...);
    return Result::make(Recorder::current(at), next);
  }
};

template <class F>
consteval int tileop_fault() {
  if constexpr (!std::is_class_v<F>) return 4;
  else if constexpr (!has_one_call_operator<F>) return 1;
  else if constexpr (!all_of_tileop<typename signature<decltype(&F::operator())>::parameters>::value || signature<decltype(&F::operator())>::by_reference) return 2;
  else if constexpr (!returns_tiles<std::remove_cvref_t<typename signature<decltype(&F::operator())>::result>>::value) return 3;
  else if constexpr (returns_mask<std::remove_cvref_t<typename signature<decltype(&F::operator())>::result>>::value) return 5;
  else return 0;
}
template <class F, std::size_t N>
consteval bool names_fit_tileop() {
  if constexpr (tileop_fault<F>() == 0) return signature<decltype(&F::operator())>::parameters::size == N;
  else return true;
}
template <class F, std::size_t N>
consteval auto broken_tileop() {
  if constexpr (tileop_fault<F>() == 0) return type_is<broken::kernel_parameter_name_count_differs<static_cast<int>(N), static_cast<int>(signature<decltype(&F::operator())>::parameters::size)>>{};
  else if constexpr (tileop_fault<F>() == 1 && lambda_is_faulty<F>()) return type_is<faulty_lambda>{};
  else if constexpr (tileop_fault<F>() == 1) return type_is<broken::kernel_lambda_is_generic<>>{};
  else if constexpr (tileop_fault<F>() == 2) return type_is<broken::tileop_parameter_type_is_not_supported<>>{};
  else if constexpr (tileop_fault<F>() == 4) return type_is<broken::kernel_body_is_not_a_lambda<>>{};
  else if constexpr (tileop_fault<F>() == 5) return type_is<broken::mask_is_for_select_only<>>{};
  else return type_is<broken::tileop_returns_something_else<>>{};
}

}  // namespace detail

/// A registered tile operation: `auto y = softmax_rows(x);` in a kernel, or in another tile operation.
template <class F>
class TileOp : public detail::tileop_callable<std::remove_cvref_t<typename detail::signature<decltype(&F::operator())>::result>,
                                              typename detail::signature<decltype(&F::operator())>::parameters> {
 public:
  using parameter_types = typename detail::signature<decltype(&F::operator())>::parameters;
  using result_type = std::remove_cvref_t<typename detail::signature<decltype(&F::operator())>::result>;

  TESSERA_INLINE TileOp(std::string_view name, F&& f, const char* const* names, const std::source_location& at)
      : detail::tileop_callable<result_type, parameter_types>(Registry::instance().add(
            new detail::kernel_entry<F>(name, static_cast<F&&>(f), names, detail::location_of(at), FunctionKind::tileop))) {}
};

/// Registers the lambda as a tile operation:
/// `inline const auto softmax_rows = tileop("softmax_rows", [](Tile<Shape<16, 128>, f32, Vec> x) { ... });`
template <class F>
  requires(detail::tileop_fault<F>() == 0)
[[nodiscard]] auto tileop(std::string_view name, F f, std::source_location at = std::source_location::current()) {
  return TileOp<F>(name, static_cast<F&&>(f), nullptr, at);
}
template <std::size_t N, class F>
  requires(detail::tileop_fault<F>() == 0 && detail::names_fit_tileop<F, N>())
[[nodiscard]] auto tileop(std::string_view name, const parameter_names<N>& names, F f, std::source_location at = std::source_location::current()) {
  return TileOp<F>(name, static_cast<F&&>(f), names.names, at);
}
template <class F>
  requires(detail::tileop_fault<F>() != 0)
auto tileop(std::string_view name, F f) -> decltype(detail::unwrap(detail::broken_tileop<F, 0>()));
template <std::size_t N, class F>
  requires(detail::tileop_fault<F>() != 0 || !detail::names_fit_tileop<F, N>())
auto tileop(std::string_view name, const parameter_names<N>& names, F f) -> decltype(detail::unwrap(detail::broken_tileop<F, N>()));

}  // namespace tessera
