// Runs a kernel on typed arrays: the lowered function with every check on, compared with its tensor-level meaning. A thin
// layer of types over functions and host tensors; the lowering itself is the caller's.
#pragma once

#include <tuple>

#include "../dsl/kernel.hpp"
#include "array.hpp"
#include "run.hpp"

namespace tessera {
namespace simulator {
// Defined in run_both.hpp.
template <class FunctionOrProgram>
std::vector<HostTensor> run_both(const FunctionOrProgram& meaning, const FunctionOrProgram& lowered, std::vector<Argument> arguments, const SimulateOptions& options);
}  // namespace simulator

/// Runs a kernel at both levels: `meaning` as recorded, and `lowered`, whose further parameters receive the results. Gives the
/// results of the lowered function; Out and InOut arguments are written by it. Throws InternalError when the two disagree.
inline std::vector<HostTensor> simulate_lowered(const Function& meaning, const Function& lowered,
                                                std::vector<Argument> arguments, const SimulateOptions& options = {}) {
  return simulator::run_both(meaning, lowered, std::move(arguments), options);
}
/// As above, for the last function of a program.
inline std::vector<HostTensor> simulate_lowered(const Program& meaning, const Program& lowered,
                                                std::vector<Argument> arguments, const SimulateOptions& options = {}) {
  return simulator::run_both(meaning, lowered, std::move(arguments), options);
}

namespace detail {

// The array in which a result arrives.
template <class V>
struct result_array;
template <class S, DType D>
struct result_array<Tensor<S, D>> {
  using type = Array<Tensor<S, D>>;
};
template <class S, DType D, MemorySpace M>
struct result_array<Tile<S, D, M>> : result_array<Tensor<S, D>> {};
template <class R>
struct result_arrays {
  static auto take(std::vector<HostTensor>& r) { return typename result_array<value_of<R>>::type(std::move(r.at(0))); }
};
template <>
struct result_arrays<void> {
  static void take(std::vector<HostTensor>&) {}
};
template <class... V>
struct result_arrays<Results<V...>> {
  static auto take(std::vector<HostTensor>& r) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple<typename result_array<V>::type...>(typename result_array<V>::type(std::move(r.at(I)))...);
    }(std::index_sequence_for<V...>{});
  }
};

// Whether an argument fits a tensor parameter: an untyped tensor, or an array of its element type whose dims are equal to the
// parameter's, or known at run time only.
template <class A, class P>
struct array_fits : std::is_same<A, HostTensor> {};
template <std::int64_t... N, std::int64_t... M, DType D>
  requires(sizeof...(N) == sizeof...(M))
struct array_fits<Array<Tensor<Shape<N...>, D>>, Tensor<Shape<M...>, D>> {
  static constexpr bool value = ((N == M || is_dynamic(N) || is_dynamic(M)) && ...);
};
template <class P>
struct argument_for {
  template <class A>
  static constexpr bool accepts = std::is_arithmetic_v<std::remove_cvref_t<A>>;  // Scalar, Index
};
template <class S, DType D>
struct argument_for<Tensor<S, D>> {
  template <class A>
  static constexpr bool accepts = array_fits<std::remove_cvref_t<A>, Tensor<S, D>>::value;
};
template <class T>
struct argument_for<Out<T>> {
  template <class A>
  static constexpr bool accepts = std::is_lvalue_reference_v<A> && array_fits<std::remove_reference_t<A>, T>::value;
};
template <class T>
struct argument_for<InOut<T>> : argument_for<Out<T>> {};

template <class L, class... A>
struct argument_check;
template <class... P, class... A>
struct argument_check<type_list<P...>, A...> {
  static constexpr const OpInfo* op = nullptr;
  static constexpr Verdict make() {
    if constexpr (sizeof...(P) != sizeof...(A)) {
      return breaks(rule::simulate_argument_count_differs, arg(std::int64_t{sizeof...(A)}), arg(std::int64_t{sizeof...(P)}));
    } else {
      std::int64_t position = 0;
      const bool fit = ((argument_for<P>::template accepts<A> && (++position, true)) && ...);
      return fit ? lawful() : breaks(rule::simulate_argument_does_not_fit, arg(position));
    }
  }
  static constexpr Verdict value = make();
};
template <class... A>
inline constexpr bool starts_with_options = false;
template <class A, class... B>
inline constexpr bool starts_with_options<A, B...> = std::is_same_v<std::remove_cvref_t<A>, SimulateOptions>;

}  // namespace detail

/// Whether a kernel can be simulated with these arguments: arrays for tensors (not const for Out and InOut), numbers for scalars.
template <class K, class... A>
concept simulates_with = detail::argument_check<typename K::parameter_types, A...>::value.lawful();
template <class K, class... A>
concept simulates_not_with = requires { typename K::parameter_types; } && !simulates_with<K, A...> && !detail::starts_with_options<A...>;

}  // namespace tessera

#ifndef TESSERA_COMPILED
#include "run_both.hpp"
#endif
