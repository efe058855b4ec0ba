// Runs a kernel on typed arrays: the lowered function with every check on, compared with its tensor-level meaning. A thin
// layer of types over functions and host tensors; the lowering itself is the caller's.
#pragma once

#include <tuple>

#include "../dsl/kernel.hpp"
#include "array.hpp"
#include "run.hpp"

namespace tessera {
namespace simulator {

/// Whether two elements agree. Integers agree when they are equal.
inline bool agrees(const HostTensor& a, const HostTensor& b, std::int64_t i, Agreement how) {
  if (!is_float(a.dtype())) return a.integer(i) == b.integer(i);
  const double x = a.get(i), y = b.get(i);
  if (x == y || (std::isnan(x) && std::isnan(y))) return true;
  if (how == Agreement::exact || !std::isfinite(x) || !std::isfinite(y)) return false;
  const std::int64_t p = bits_of(a.dtype(), static_cast<float>(std::abs(x))),
                     q = bits_of(a.dtype(), static_cast<float>(std::abs(y)));
  return (x < 0) == (y < 0) ? std::abs(p - q) <= 1 : p + q <= 1;
}
/// Throws InternalError at the first element in which a lowered result is not what the tensor level gives.
inline void require_agreement(const std::string& kernel, const std::string& what, const HostTensor& meaning,
                              const HostTensor& lowered, Agreement how) {
  if (meaning.dims() != lowered.dims())
    throw InternalError("simulate: " + kernel + ": the lowered " + what + " has another shape");
  for (std::int64_t i = 0; i < meaning.size(); ++i) {
    if (agrees(meaning, lowered, i, how)) continue;
    throw InternalError("simulate: " + kernel + ": the lowered kernel gives another " + what +
                        " than its tensor-level meaning (element " + index_of(box_of(meaning.dims()), i).text() + ": " +
                        std::to_string(lowered.get(i)) + " instead of " + std::to_string(meaning.get(i)) + ")");
  }
}
/// The dims of a result, whose run-time dims are those of the arguments.
inline std::vector<std::int64_t> result_dims(const Function& f, const Type& result,
                                             const std::vector<Argument>& arguments) {
  std::vector<std::int64_t> dims(result.dims, result.dims + result.rank);
  for (std::int64_t& d : dims)
    for (std::size_t p = 0; is_dynamic(d) && p < arguments.size(); ++p) {
      const Type& type = f.type(f.parameters[p].value);
      for (int i = 0;
           is_dynamic(d) && arguments[p].tensor() != nullptr && i < type.rank && i < arguments[p].tensor()->rank(); ++i)
        if (type.dims[i] == d) d = arguments[p].tensor()->dim(i);
    }
  return dims;
}
[[nodiscard]] inline const Function& entry_of(const Function& f) { return f; }
[[nodiscard]] inline const Function& entry_of(const Program& p) { return p.entry(); }
/// Runs a lowered function whose meaning ran without an error: one that it has on its own is the lowering's.
template <class FunctionOrProgram>
SimulationResult run_lowered(const FunctionOrProgram& lowered, const std::vector<Argument>& arguments, const SimulateOptions& options) {
  if (options.agreement == Agreement::off) return simulate(lowered, arguments, options);
  try {
    return simulate(lowered, arguments, options);
  } catch (const UserError& e) {
    throw InternalError("simulate: " + std::string(entry_of(lowered).name.c_str()) +
                        ": the lowered kernel fails where its tensor-level meaning does not: " + e.what());
  }
}

template <class FunctionOrProgram>
std::vector<HostTensor> run_both(const FunctionOrProgram& meaning, const FunctionOrProgram& lowered,
                                 std::vector<Argument> arguments, const SimulateOptions& options) {
  check_overlaps(entry_of(meaning), arguments);
  const std::string kernel = entry_of(meaning).name.c_str();
  const Function& entry = entry_of(lowered);
  std::vector<HostTensor> copies;
  copies.reserve(arguments.size());
  SimulationResult reference;
  if (options.agreement != Agreement::off) {
    std::vector<Argument> own;
    for (const Argument& a : arguments) {
      if (a.writable() == nullptr) own.push_back(a);
      else own.push_back(copies.emplace_back(*a.writable()));
    }
    SimulateOptions without_pipes = options;
    without_pipes.pipes = nullptr;
    reference = simulate(meaning, own, without_pipes);
  }
  const std::size_t given = arguments.size();
  std::vector<HostTensor> results;
  results.reserve(entry.parameters.size());
  for (std::size_t i = given; i < entry.parameters.size(); ++i) {
    const Type& t = entry.type(entry.parameters[i].value);
    arguments.push_back(results.emplace_back(t.dtype, result_dims(entry, t, arguments)));
  }
  SimulationResult run = run_lowered(lowered, arguments, options);
  // What an orchestration returns are tensors still.
  for (HostTensor& r : run.results)
    if (r.rank() > 0) results.push_back(std::move(r));
  if (options.agreement != Agreement::off) {
    std::size_t next = 0;
    for (const HostTensor& r : reference.results)
      if (r.rank() > 0 && next < results.size()) {
        require_agreement(kernel, "result " + std::to_string(next), r, results[next], options.agreement);
        ++next;
      }
    std::size_t copy = 0;
    for (std::size_t i = 0; i < given; ++i)
      if (arguments[i].writable() != nullptr)
        require_agreement(kernel, "argument " + std::to_string(i), copies[copy++], *arguments[i].writable(),
                          options.agreement);
  }
  if (options.statistics != nullptr) *options.statistics = std::move(run.statistics);
  return results;
}

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
