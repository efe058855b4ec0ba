// simt("name", threads(256), lambda): registers a kernel whose body each of many threads runs, on numbers that it reads from
// tensors and writes to them. It is called like a kernel, by functions on the host, or launched from within a kernel.
#pragma once

#include "../ops/simt.hpp"
#include "kernel.hpp"

namespace tessera {
namespace detail {

/// The extents of the threads; made by threads(...).
struct thread_extents {
  Threads threads;
};
template <class... N>
concept thread_extent_list = sizeof...(N) >= 1 && sizeof...(N) <= 3 && (std::is_integral_v<N> && ...);

template <const OpInfo& Op, int Axis>
struct thread_verdict {
  static constexpr const OpInfo* op = &Op;
  static constexpr Attr attr = int_attr(AttrKey::axis, Axis);
  static constexpr Verdict value = infer(Op, {nullptr, 0, {}, &attr, 1});
};
template <class X, class O, class N>
struct atomic_verdict {
  static constexpr const OpInfo* op = &ops::atomic_add;
  static constexpr Verdict make() {
    const Verdict number = judge_number<value_of<X>, N>();
    if (!number.lawful()) return number;
    return window_verdict<ops::atomic_add, void, std::remove_cvref_t<O>, no_valid, value_of<X>, scalar_like_t<value_of<X>>>::value;
  }
  static constexpr Verdict value = make();
};

inline namespace TESSERA_TARGET_NAMESPACE {
template <class F>
consteval int simt_fault() {
  if constexpr (built_for == static_cast<int>(Arch::a3)) return 7;
  else if constexpr (kernel_fault<F>() == 1 || kernel_fault<F>() == 2 || kernel_fault<F>() == 4) return kernel_fault<F>();
  else if constexpr (!std::is_void_v<typename signature<decltype(&F::operator())>::result>) return 6;
  else return 0;
}
template <class F>
consteval auto broken_simt() {
  if constexpr (simt_fault<F>() == 7) return type_is<broken::simt_is_for_a5<>>{};
  else if constexpr (simt_fault<F>() == 6) return type_is<broken::simt_returns_something<>>{};
  else return broken_kernel<F>();
}
template <class F, std::size_t N>
consteval auto broken_simt_names() {
  if constexpr (simt_fault<F>() != 0) return broken_simt<F>();
  else return broken_names<F, N>();
}
}  // namespace TESSERA_TARGET_NAMESPACE

}  // namespace detail

/// How many threads run a simt kernel, along x, y and z: constants of C++.
template <class... N>
  requires detail::thread_extent_list<N...>
[[nodiscard]] detail::thread_extents threads(N... extents) {
  Threads t;
  int axis = 0;
  ((t.extents[axis++] = static_cast<std::int64_t>(extents)), ...);
  return {t};
}
template <class... N>
  requires(!detail::thread_extent_list<N...>)
broken::thread_extents_are_not_integers<> threads(const N&... extents);

/// A registered simt kernel.
template <class F>
class Simt : public detail::defined<F, void> {
 public:
  TESSERA_INLINE Simt(const Threads& threads, std::string_view name, F&& f, const char* const* names, const std::source_location& at)
      : detail::defined<F, void>(Registry::instance().add(
            new detail::kernel_entry<F>(name, static_cast<F&&>(f), names, detail::location_of(at), FunctionKind::simt, 1, threads))) {}
};

/// Registers the lambda as a simt kernel:
/// `inline const auto twice = simt("twice", threads(256), [](Tensor<Shape<256>, f32> x, Out<Tensor<Shape<256>, f32>> y) { ... });`
template <class F>
  requires(detail::simt_fault<F>() == 0)
[[nodiscard]] auto simt(std::string_view name, const detail::thread_extents& extents, F f, std::source_location at = std::source_location::current()) {
  return Simt<F>(extents.threads, name, static_cast<F&&>(f), nullptr, at);
}
template <std::size_t N, class F>
  requires(detail::simt_fault<F>() == 0 && detail::names_fit<F, N>())
[[nodiscard]] auto simt(std::string_view name, const detail::thread_extents& extents, const parameter_names<N>& names, F f,
                        std::source_location at = std::source_location::current()) {
  return Simt<F>(extents.threads, name, static_cast<F&&>(f), names.names, at);
}
template <class F>
  requires(detail::simt_fault<F>() != 0)
auto simt(std::string_view name, const detail::thread_extents& extents, F f) -> decltype(detail::unwrap(detail::broken_simt<F>()));
template <std::size_t N, class F>
  requires(detail::simt_fault<F>() != 0 || !detail::names_fit<F, N>())
auto simt(std::string_view name, const detail::thread_extents& extents, const parameter_names<N>& names, F f)
    -> decltype(detail::unwrap(detail::broken_simt_names<F, N>()));
template <class C, class... More>
  requires(!std::is_same_v<C, detail::thread_extents>)
broken::simt_threads_are_missing<> simt(std::string_view name, const C& first, More&&... more);

/// Which thread of the launch runs, along an axis (0: x, 1: y, 2: z), and how many there are along it.
template <int Axis = 0>
  requires(detail::thread_verdict<ops::thread_index, Axis>::value.lawful())
[[nodiscard]] auto thread_index(std::source_location at = std::source_location::current()) {
  return expression<Index, ops::thread_index, 0>(at, int_attr(AttrKey::axis, Axis));
}
template <int Axis>
  requires(!detail::thread_verdict<ops::thread_index, Axis>::value.lawful())
auto thread_index() -> decltype(detail::unwrap(detail::broken_type<detail::thread_verdict<ops::thread_index, Axis>>()));
template <int Axis = 0>
  requires(detail::thread_verdict<ops::thread_count, Axis>::value.lawful())
[[nodiscard]] auto thread_count(std::source_location at = std::source_location::current()) {
  return expression<Index, ops::thread_count, 0>(at, int_attr(AttrKey::axis, Axis));
}
template <int Axis>
  requires(!detail::thread_verdict<ops::thread_count, Axis>::value.lawful())
auto thread_count() -> decltype(detail::unwrap(detail::broken_type<detail::thread_verdict<ops::thread_count, Axis>>()));

/// Waits for all threads of the launch. It stands outside of loops and branches, so that all of them come to it.
inline void sync_threads(std::source_location at = std::source_location::current()) {
  Recorder& r = Recorder::current(at);
  r.go_here(detail::location_of(at));
  r.emit(ops::sync_threads, {}, {}, {});
}

/// Adds a number to one element of an output tensor, to which other threads and blocks may add at the same time.
template <class T, class O, class N>
  requires output<T> && detail::offset_list<O> && (detail::atomic_verdict<T, O, N>::value.lawful())
void atomic_add(T&& target, O&& indices, N&& value, std::source_location at = std::source_location::current()) {
  const ValueId into = target.resolve(at);
  const ValueId number = detail::record_now<detail::scalar_like_t<value_of<T>>>(std::forward<N>(value), at);
  detail::emit_window(ops::atomic_add, {into, number}, indices, detail::no_valid{}, {}, at);
}
template <class T, class O, class N>
  requires output<T> && detail::offset_list<O> && (!detail::atomic_verdict<T, O, N>::value.lawful())
auto atomic_add(T&& target, O&& indices, N&& value) -> decltype(detail::unwrap(detail::broken_type<detail::atomic_verdict<T, O, N>>()));
template <class T, class O, class N>
  requires recorded<T> && (!output<T>) && detail::offset_list<O>
broken::not_an_output<&ops::atomic_add> atomic_add(T&& target, O&& indices, N&& value);
template <recorded T, class... More>
broken::window_arguments_differ<&ops::atomic_add> atomic_add(T&&, More&&...);

}  // namespace tessera
