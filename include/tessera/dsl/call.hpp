// Calls of kernels from functions that run on the host: what their call operator takes and gives. A wrong argument selects a
// declared-only twin whose return type names the broken rule.
#pragma once

#include "../ops/call.hpp"
#include "handles.hpp"
#include "registry.hpp"

namespace tessera {

template <class... V>
struct Results;

namespace detail {

// Both are defined with kernel(...).
template <class... P>
struct type_list;
template <class P>
struct parameter;

/// An argument as the call operator keeps it: recorded behind the others, in the order of the source, whatever order the
/// compiler made them in.
struct kept_argument {
  void* object;
  ValueId (*record)(void*, const std::source_location&);
};
// Not a template: every kernel source compiles it once.
inline void record_call(const KernelEntry& callee, const kept_argument* const* arguments, std::size_t count, ValueId* results,
                        std::size_t result_count, const std::source_location& at) {
  Recorder& r = Recorder::current(at);
  Pool<ValueId> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(arguments[i]->record(arguments[i]->object, at));
  r.call(callee, values, results, result_count, location_of(at));
}

template <class P, class X>
constexpr Verdict judge_call_argument(DimBinding& binding, std::int64_t position) {
  using V = typename parameter<P>::value;
  constexpr Type wanted = type_of<V>;
  if constexpr (wanted.is_scalar()) {
    return assignable_to<X, V> ? lawful() : breaks(rule::call_number_does_not_fit, arg(position), arg(wanted.dtype));
  } else if constexpr (!recorded<X>) {
    return breaks(rule::call_argument_is_not_a_tensor, arg(position));
  } else {
    return check_argument(binding, wanted, type_of<value_of<X>>, position);
  }
}
template <class P, class X>
constexpr bool fits_alone() {
  DimBinding none;
  return judge_call_argument<P, X>(none, 0).lawful();
}

/// Keeps an argument X of a parameter P until the call is recorded, and records it as what the parameter wants.
template <class P, class X>
ValueId record_argument(void* object, const std::source_location& at) {
  X&& x = static_cast<X&&>(*static_cast<std::remove_reference_t<X>*>(object));
  using V = typename parameter<P>::value;
  if constexpr (scalar_value<V>) return record_now<V, false>(static_cast<X&&>(x), at);
  else return record_operand(at, static_cast<X&&>(x));
}
template <class P, class X>
TESSERA_INLINE kept_argument keep(X&& x) {
  return {const_cast<void*>(static_cast<const void*>(__builtin_addressof(x))), &record_argument<P, X>};
}

/// The argument of one parameter.
template <class P>
struct call_argument : kept_argument {
  template <class X>
    requires(!std::is_same_v<std::remove_cvref_t<X>, call_argument>) && (fits_alone<P, X>())
  TESSERA_INLINE call_argument(X&& x)  // NOLINT: converts by design
      : kept_argument(keep<P, X>(static_cast<X&&>(x))) {}
};

/// What a call gives for a lambda's result R: tensors; a kernel's tiles are stored to them.
template <class V>
using tensor_of = Tensor<typename V::shape, V::dtype>;
template <class R>
struct call_result {
  static constexpr std::size_t count = 1;
  static constexpr Type types[1] = {type_of<value_of<R>>};
  static auto make(Recorder& r, const ValueId* v) { return tensor_of<value_of<R>>(r, v[0]); }
};
template <>
struct call_result<void> {
  static constexpr std::size_t count = 0;
  static constexpr Type types[1] = {};
  static void make(Recorder&, const ValueId*) {}
};
template <class... V>
struct call_result<Results<V...>> {
  static constexpr std::size_t count = sizeof...(V);
  static constexpr Type types[sizeof...(V)] = {type_of<V>...};
  static auto make(Recorder& r, const ValueId* v) {
    return Results<tensor_of<V>...>{tensor_of<V>(r, *v++)...};
  }
};

template <class R, class Parameters, class... A>
struct call_verdict;
template <class R, class... P, class... A>
struct call_verdict<R, type_list<P...>, A...> {
  static constexpr const OpInfo* op = nullptr;
  static constexpr Verdict make() {
    if constexpr (sizeof...(P) != sizeof...(A)) {
      return breaks(rule::call_argument_count_differs, arg(std::int64_t{sizeof...(A)}), arg(std::int64_t{sizeof...(P)}));
    } else {
      DimBinding binding;
      Verdict v;
      std::int64_t position = 0;
      static_cast<void>(((v = judge_call_argument<P, A>(binding, position++), v.lawful()) && ...));
      if (!v.lawful()) return v;
      // The C++ type of a result is the callee's own: its named dims keep their names.
      for (std::size_t k = 0; k < call_result<R>::count; ++k)
        for (int i = 0; i < call_result<R>::types[k].rank; ++i)
          if (const std::int64_t d = call_result<R>::types[k].dims[i]; is_dynamic(d) && binding(d) != d)
            return breaks(rule::call_result_dim_is_renamed, arg_dim(d), arg_dim(binding(d)));
      return lawful();
    }
  }
  static constexpr Verdict value = make();
};

/// A function of the registry.
class registered {
 public:
  [[nodiscard]] const Text& name() const { return entry_->name(); }
  [[nodiscard]] const Location& location() const { return entry_->location(); }
  [[nodiscard]] const KernelEntry& entry() const { return *entry_; }

 protected:
  TESSERA_INLINE explicit registered(const KernelEntry* entry) : entry_(entry) {}

 private:
  const KernelEntry* entry_;
};

/// The call operator of a registered function with parameters P and result R.
template <class R, class Parameters>
class callable;
template <class R, class... P>
class callable<R, type_list<P...>> : public registered {
 public:
  /// Records a call, inside an orchestration, spmd or group. Out and InOut arguments are written by it.
  auto operator()(call_argument<P>... arguments, std::source_location at = std::source_location::current()) const {
    const kept_argument* const list[sizeof...(P) + 1] = {&arguments..., nullptr};
    ValueId results[call_result<R>::count + 1];
    record_call(entry(), list, sizeof...(P), results, call_result<R>::count, at);
    return call_result<R>::make(Recorder::current(at), results);
  }
  template <class... A>
    requires(!call_verdict<R, type_list<P...>, A...>::value.lawful())
  auto operator()(A&&... arguments) const -> decltype(unwrap(broken_type<call_verdict<R, type_list<P...>, A...>>()));

 protected:
  using registered::registered;
};

}  // namespace detail
}  // namespace tessera
