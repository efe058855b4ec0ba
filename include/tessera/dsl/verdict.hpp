// Rules at compile time: the verdict on an operation and its operand types, and the class template that a broken rule
// becomes, so that the compiler's first error line names the rule with its numbers.
#pragma once

#include "value_types.hpp"
#include "../ops/descriptor.hpp"

namespace tessera {

/// One undefined class template per rule. A call that breaks a rule returns one, and the error stands at the call.
namespace broken {
#define TESSERA_RULE(name, text, hint) template <auto... Numbers> struct name;
#include "../core/rules.def"
#undef TESSERA_RULE
}  // namespace broken

/// A named dim among a rule's numbers; of exact size, since clang prints a padded array as numbers.
template <std::size_t N>
struct named_dim {
  char name[N]{};
};

namespace detail {

template <std::size_t N>
consteval named_dim<N> named_dim_from(const symbol& s) {
  named_dim<N> n;
  for (std::size_t i = 0; i + 1 < N; ++i) n.name[i] = s.text[i];
  return n;
}
template <std::int64_t D>
consteval auto named_dim_of() {
  return named_dim_from<symbol_of(D).view().size() + 1>(symbol_of(D));
}

template <rule R>
struct broken_rule;
// clang substitutes a twin's return type before it looks at the constraints.
struct nothing_broken {};
template <>
struct broken_rule<rule::none> {
  template <auto...> using type = nothing_broken;
};
#define TESSERA_RULE(name, text, hint)               \
  template <>                                        \
  struct broken_rule<rule::name> {                   \
    template <auto... N> using type = broken::name<N...>; \
  };
#include "../core/rules.def"
#undef TESSERA_RULE

template <class V, std::size_t I>
consteval auto rule_argument() {
  constexpr RuleArg a = V::value.args[I];
  if constexpr (a.kind == RuleArg::dtype) return static_cast<DType>(a.value);
  else if constexpr (a.kind == RuleArg::space) return static_cast<MemorySpace>(a.value);
  else if constexpr (a.kind == RuleArg::op) return V::op;
  else if constexpr (a.kind == RuleArg::dim && is_dynamic(a.value)) return named_dim_of<a.value>();
  else if constexpr (a.value == static_cast<int>(a.value)) return static_cast<int>(a.value);  // clang prints 64L otherwise
  else return a.value;
}
template <class V, std::size_t... I>
consteval auto broken_type(std::index_sequence<I...>) {
  return type_is<typename broken_rule<V::value.broken>::template type<rule_argument<V, I>()...>>{};
}
/// V has a broken verdict `value` and the operation `op`: the undefined class that names the rule.
template <class V>
consteval auto broken_type() {
  return broken_type<V>(std::make_index_sequence<V::value.arg_count>{});
}

// Transposed operands of a matrix product, as bits of a variant.
inline constexpr int transposes_lhs = 1, transposes_rhs = 2;

}  // namespace detail

// A generator is built for one target; what depends on it stands in a namespace of that target.
#if defined(TESSERA_TARGET_A3)
#define TESSERA_TARGET_NAMESPACE for_a3
#define TESSERA_TARGET Arch::a3
#elif defined(TESSERA_TARGET_A5)
#define TESSERA_TARGET_NAMESPACE for_a5
#define TESSERA_TARGET Arch::a5
#else
#define TESSERA_TARGET_NAMESPACE for_any_target
#endif

namespace detail {
inline namespace TESSERA_TARGET_NAMESPACE {

#ifdef TESSERA_TARGET
inline constexpr int built_for = static_cast<int>(TESSERA_TARGET);
#else
inline constexpr int built_for = -1;
#endif

constexpr Verdict judge(const OpInfo& op, const InferInput& in) {
  const Verdict v = infer(op, in);
  if (!v.lawful()) return v;
  const Verdict s = check_spaces(op, in);
  if (!s.lawful()) return s;
#ifdef TESSERA_TARGET
  const Verdict t = check_target(op, in, v.result, TESSERA_TARGET);
  if (!t.lawful()) return t;
#endif
  return v;
}

/// The verdict on `Op` with a requested result (void: none) and operands of the given value types.
template <const OpInfo& Op, int Variant, class Requested, class... V>
struct verdict_of {
  static constexpr const OpInfo* op = &Op;
  static constexpr Verdict make() {
    const OperandInfo operands[sizeof...(V) + 1] = {OperandInfo{type_of<V>}...};
    const Attr attrs[2] = {int_attr(AttrKey::transpose_lhs, (Variant & transposes_lhs) != 0 ? 1 : 0),
                           int_attr(AttrKey::transpose_rhs, (Variant & transposes_rhs) != 0 ? 1 : 0)};
    InferInput in{operands, sizeof...(V), {}, attrs, Variant == 0 ? 0 : 2};
    if constexpr (!std::is_void_v<Requested>) in.requested = type_of<Requested>;
    return judge(Op, in);
  }
  static constexpr Verdict value = make();
};
template <class Verdict>
struct result_of {
  static constexpr Type value = Verdict::value.result;
};
template <class Verdict>
using result_t = value_type_t<result_of<Verdict>>;

}  // namespace TESSERA_TARGET_NAMESPACE

}  // namespace detail
}  // namespace tessera
