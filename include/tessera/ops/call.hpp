// What a call must hold: each argument fits its parameter, and a run-time dim of the callee has one size. The same check for
// the C++ compiler and for the verifier.
#pragma once

#include "descriptor.hpp"

namespace tessera {

/// The dims of the caller that the named dims of the callee stand for.
class DimBinding {
 public:
  /// States that a parameter's dim is `dim`; false when it is another one already.
  constexpr bool bind(std::int64_t name, std::int64_t dim) {
    for (int i = 0; i < count_; ++i)
      if (names_[i] == name) return dims_[i] == dim;
    if (count_ == max_names) return false;
    names_[count_] = name;
    dims_[count_++] = dim;
    return true;
  }
  [[nodiscard]] constexpr std::int64_t operator()(std::int64_t dim) const {
    for (int i = 0; is_dynamic(dim) && i < count_; ++i)
      if (names_[i] == dim) return dims_[i];
    return dim;
  }
  /// A type of the callee as the caller sees it.
  [[nodiscard]] constexpr Type operator()(Type t) const {
    for (int i = 0; t.is_shaped() && i < t.rank; ++i) t.dims[i] = (*this)(t.dims[i]);
    return t;
  }

 private:
  static constexpr int max_names = 32;
  int count_ = 0;
  std::int64_t names_[max_names] = {}, dims_[max_names] = {};
};

/// Whether an argument fits a parameter; the parameter's named dims are bound.
[[nodiscard]] constexpr Verdict check_argument(DimBinding& binding, const Type& parameter, const Type& argument, std::int64_t position) {
  if (parameter.is_scalar()) {
    const bool fits = argument.is_scalar() && argument.dtype == parameter.dtype;
    return fits ? lawful() : breaks(rule::call_number_does_not_fit, arg(position), arg(parameter.dtype));
  }
  if (!argument.is_tensor()) return breaks(rule::call_argument_is_not_a_tensor, arg(position));
  if (argument.dtype != parameter.dtype)
    return breaks(rule::call_argument_dtype_differs, arg(position), arg(argument.dtype), arg(parameter.dtype));
  if (argument.rank != parameter.rank)
    return breaks(rule::call_argument_rank_differs, arg(position), arg(std::int64_t{argument.rank}), arg(std::int64_t{parameter.rank}));
  for (int i = 0; i < parameter.rank; ++i) {
    const std::int64_t wanted = parameter.dims[i], given = argument.dims[i];
    if (wanted == given && !is_dynamic(wanted)) continue;
    if (!is_dynamic(wanted)) return breaks(rule::call_argument_dim_differs, arg(position), arg(std::int64_t{i}), arg_dim(given), arg_dim(wanted));
    if (!binding.bind(wanted, given))
      return breaks(rule::call_dim_has_two_sizes, arg(position), arg_dim(wanted), arg_dim(binding(wanted)), arg_dim(given));
  }
  return lawful();
}

}  // namespace tessera
