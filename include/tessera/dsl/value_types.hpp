// The C++ types of recorded values, and the way between them and the IR's types.
//   Tensor<Shape<64, 128>, f32>        in GM             lowered_t<Tensor<..>>   the Vec tile it becomes
//   Tile<Shape<64, 128>, f32, Vec>     on chip           flattened_t<Tile<..>>   the 2-D tile it becomes
//   Scalar<f32>, Index                                   bytes_v<Tile<..>>       its size in bytes
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "../core/type.hpp"

namespace tessera {

/// Whether D are 1 to 8 dims, each positive or a named symbol.
template <std::int64_t... D>
concept shape_has_1_to_8_positive_dims = sizeof...(D) >= 1 && sizeof...(D) <= max_rank && (is_valid_dim(D) && ...);

/// A shape of 1 to 8 dims; a dim is a positive integer or `dyn<"S">`.
template <std::int64_t... D>
  requires shape_has_1_to_8_positive_dims<D...>
struct Shape {
  static constexpr int rank = sizeof...(D);
  static constexpr std::int64_t dims[sizeof...(D)] = {D...};
};

// A compiler prints a parameter's name where a type or a number stands in its place.
template <class shape_is_a_type, DType element_type_is_no_cpp_type> class Tensor;
template <class shape_is_a_type, DType element_type_is_no_cpp_type, MemorySpace space> class Tile;
template <DType element_type_is_no_cpp_type> class Scalar;
class Index;

namespace detail {

template <class V>
struct type_of_impl;
template <std::int64_t... N, DType D>
struct type_of_impl<Tensor<Shape<N...>, D>> {
  static constexpr Type value{TypeKind::tensor, D, Gm, Layout::nd, sizeof...(N), {N...}};
};
template <std::int64_t... N, DType D, MemorySpace M>
struct type_of_impl<Tile<Shape<N...>, D, M>> {
  static constexpr Type value = with_space(Type{TypeKind::tile, D, M, Layout::nd, sizeof...(N), {N...}}, M);
};
template <DType D>
struct type_of_impl<Scalar<D>> {
  static constexpr Type value = scalar_type(D);
};
template <>
struct type_of_impl<Index> {
  static constexpr Type value = index_scalar;
};

template <class T>
struct type_is {
  using type = T;
};
// Spelled as a return type, decltype(unwrap(...)) keeps alias chains out of the compilers' messages.
template <class T>
T unwrap(type_is<T>);

// The C++ type that stands for the IR type C::value.
template <class C, std::size_t... I>
consteval auto value_type(std::index_sequence<I...>) {
  constexpr Type t = C::value;
  if constexpr (t.is_tensor()) return type_is<Tensor<Shape<t.dims[I]...>, t.dtype>>{};
  else if constexpr (t.is_tile()) return type_is<Tile<Shape<t.dims[I]...>, t.dtype, t.space>>{};
  else if constexpr (t.is_index()) return type_is<Index>{};
  else if constexpr (t.is_scalar()) return type_is<Scalar<t.dtype>>{};
  else return type_is<void>{};
}
template <class C>
using value_type_t = typename decltype(value_type<C>(std::make_index_sequence<C::value.rank>{}))::type;

template <class V>
struct lowered_impl {
  static constexpr Type value = lowered(type_of_impl<V>::value);
};
template <class V>
struct flattened_impl {
  static constexpr Type value = flattened(type_of_impl<V>::value);
};

}  // namespace detail

/// The IR type of a value type.
template <class V>
inline constexpr Type type_of = detail::type_of_impl<V>::value;

/// The tile that a tensor becomes when it is loaded whole.
template <class V>
using lowered_t = detail::value_type_t<detail::lowered_impl<V>>;
/// The tile of rank 2 that a tile of higher rank becomes.
template <class V>
using flattened_t = detail::value_type_t<detail::flattened_impl<V>>;
/// Size in bytes; the shape must be static.
template <class V>
  requires(type_of<V>.has_static_shape())
inline constexpr std::int64_t bytes_v = type_of<V>.bytes();

}  // namespace tessera
