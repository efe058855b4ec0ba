// What a call must hold: each argument fits its parameter, and a run-time dim of the callee has one size. The same check for
// the C++ compiler and for the verifier.
#pragma once

#include "descriptor.hpp"

namespace tessera {

/// The dims of the caller that the named dims of the callee stand for.
class DimBinding {
 public:
  constexpr DimBinding() = default;
  DimBinding(const DimBinding&) = delete;
  DimBinding& operator=(const DimBinding&) = delete;
  constexpr ~DimBinding() { delete[] bound_; }

  /// States that a parameter's dim is `dim`; false when it is another one already.
  constexpr bool bind(std::int64_t name, std::int64_t dim) {
    for (int i = 0; i < count_; ++i)
      if (bound_[i].name == name) return bound_[i].dim == dim;
    if (count_ == room_) grow();
    bound_[count_++] = {name, dim};
    return true;
  }
  [[nodiscard]] constexpr std::int64_t operator()(std::int64_t dim) const {
    for (int i = 0; is_dynamic(dim) && i < count_; ++i)
      if (bound_[i].name == dim) return bound_[i].dim;
    return dim;
  }
  /// A type of the callee as the caller sees it.
  [[nodiscard]] constexpr Type operator()(Type t) const {
    for (int i = 0; t.is_shaped() && i < t.rank; ++i) t.dims[i] = (*this)(t.dims[i]);
    return t;
  }

 private:
  struct Bound {
    std::int64_t name = 0, dim = 0;
  };
  constexpr void grow() {
    room_ = room_ == 0 ? max_rank : 2 * room_;
    Bound* const larger = new Bound[static_cast<std::size_t>(room_)];
    for (int i = 0; i < count_; ++i) larger[i] = bound_[i];
    delete[] bound_;
    bound_ = larger;
  }

  int count_ = 0, room_ = 0;
  Bound* bound_ = nullptr;
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

/// Whether a tile, or a tensor that becomes one, fits the tile parameter of a user's tile operation.
[[nodiscard]] constexpr Verdict check_tile_argument(const Type& parameter, const Type& argument, std::int64_t position) {
  if (!argument.is_shaped()) return breaks(rule::tileop_argument_is_not_a_tile, arg(position));
  if (argument.is_tile() && argument.space != parameter.space)
    return breaks(rule::tileop_argument_space_differs, arg(position), arg(argument.space), arg(parameter.space));
  if (argument.is_tensor() && parameter.space != Vec && parameter.space != Mat && parameter.space != Left && parameter.space != Right)
    return breaks(rule::tileop_tensor_has_no_way_to_the_space, arg(position), arg(parameter.space));
  if (argument.dtype != parameter.dtype)
    return breaks(rule::call_argument_dtype_differs, arg(position), arg(argument.dtype), arg(parameter.dtype));
  if (argument.rank != parameter.rank)
    return breaks(rule::tileop_argument_rank_differs, arg(position), arg(std::int64_t{argument.rank}), arg(std::int64_t{parameter.rank}));
  for (int i = 0; i < parameter.rank; ++i)
    if (argument.dims[i] != parameter.dims[i])
      return breaks(rule::tileop_argument_dim_differs, arg(position), arg(std::int64_t{i}), arg_dim(argument.dims[i]), arg_dim(parameter.dims[i]));
  if (argument.is_tile() && argument != parameter) return breaks(rule::tileop_argument_is_stored_otherwise, arg(position));
  return lawful();
}

}  // namespace tessera
