// Typed tensors in host memory, for tests and examples: `auto x = random<Tensor<Shape<64, 128>, f32>>(1); x(0, 3) = 2;`
// They own their elements; run-time dims get their size by name: `zeros<T>({{"S", 40}})`.
#pragma once

#include <concepts>
#include <limits>

#include "../dsl/value_types.hpp"
#include "host_tensor.hpp"

namespace tessera {

namespace detail {
template <DType D>
struct native_impl;
template <> struct native_impl<f32> {
  using type = float;
};
template <> struct native_impl<f16> {
  using type = Eigen::half;
};
template <> struct native_impl<bf16> {
  using type = Eigen::bfloat16;
};
template <> struct native_impl<i8> {
  using type = std::int8_t;
};
template <> struct native_impl<u8> {
  using type = std::uint8_t;
};
template <> struct native_impl<i16> {
  using type = std::int16_t;
};
template <> struct native_impl<u16> {
  using type = std::uint16_t;
};
template <> struct native_impl<i32> {
  using type = std::int32_t;
};
template <> struct native_impl<u32> {
  using type = std::uint32_t;
};
template <> struct native_impl<i64> {
  using type = std::int64_t;
};
template <> struct native_impl<u64> {
  using type = std::uint64_t;
};
template <> struct native_impl<boolean> {
  using type = std::uint8_t;
};
template <> struct native_impl<index_type> {
  using type = std::int64_t;
};
}  // namespace detail

/// The C++ type of an element in host memory.
template <DType D>
using native_t = typename detail::native_impl<D>::type;

/// The size of a run-time dim.
struct NamedDim {
  std::string_view name;
  std::int64_t size;
};

namespace detail {

// A plain list, so that nothing of ir/ is needed to name it.
using NamedDims = std::vector<NamedDim>;

inline std::vector<std::int64_t> sizes(const Type& t, const NamedDims& named) {
  std::vector<std::int64_t> dims(t.dims, t.dims + t.rank);
  for (std::int64_t& d : dims) {
    if (!is_dynamic(d)) continue;
    const symbol s = symbol_of(d);
    std::int64_t size = -1;
    for (const NamedDim& n : named)
      if (n.name == s.view()) size = n.size;
    if (size < 0) {
      const std::string text(s.view());
      fail({}, "array: a run-time dim has no size (" + text + ")", "give it by name: {{\"" + text + "\", 40}}");
    }
    d = size;
  }
  return dims;
}
inline std::int64_t flat_index(const std::vector<std::int64_t>& dims, const std::int64_t* index) {
  std::int64_t at = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (index[i] < 0 || index[i] >= dims[i])
      fail({},
           "array: an index is out of bounds (axis " + std::to_string(i) + ": index " + std::to_string(index[i]) +
               ", dim " + std::to_string(dims[i]) + ")",
           "indices lie in [0, dim)");
    at = at * dims[i] + index[i];
  }
  return at;
}
// SplitMix64: the same numbers on every platform.
inline std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace detail

template <class T>
class Array;

/// A tensor of that type in host memory.
template <std::int64_t... N, DType D>
class Array<Tensor<Shape<N...>, D>> : public HostTensor {
 public:
  using value_type = native_t<D>;

  /// All elements zero.
  explicit Array(const detail::NamedDims& named = {})
      : HostTensor(D, detail::sizes(type_of<Tensor<Shape<N...>, D>>, named)) {}
  /// The elements of an untyped tensor of this shape and element type.
  explicit Array(HostTensor t) : HostTensor(std::move(t)) {
    constexpr std::int64_t wanted[] = {N...};
    bool fits = dtype() == D && HostTensor::dims().size() == sizeof...(N);
    for (std::size_t i = 0; fits && i < sizeof...(N); ++i)
      fits = is_dynamic(wanted[i]) || wanted[i] == HostTensor::dims()[i];
    if (!fits)
      fail({},
           "array: the tensor has another type (" + std::string(name(dtype())) + shape_text(HostTensor::dims()) + ")",
           "its shape and element type must be the array's");
  }

  /// An element, in its own type. Throws UserError outside the bounds.
  template <std::integral... I>
    requires(sizeof...(I) == sizeof...(N))
  [[nodiscard]] value_type& operator()(I... index) {
    return elements()[position(index...)];
  }
  template <std::integral... I>
    requires(sizeof...(I) == sizeof...(N))
  [[nodiscard]] const value_type& operator()(I... index) const {
    return elements()[position(index...)];
  }
  [[nodiscard]] value_type* elements() { return reinterpret_cast<value_type*>(data()); }
  [[nodiscard]] const value_type* elements() const { return reinterpret_cast<const value_type*>(data()); }

 private:
  template <class... I>
  [[nodiscard]] std::int64_t position(I... index) const {
    const std::int64_t list[] = {static_cast<std::int64_t>(index)...};
    return detail::flat_index(HostTensor::dims(), list);
  }
};

/// All elements zero.
template <class T>
[[nodiscard]] Array<T> zeros(const detail::NamedDims& named = {}) {
  return Array<T>(named);
}
/// All elements one number, rounded to the element type.
template <class T>
[[nodiscard]] Array<T> filled(double x, const detail::NamedDims& named = {}) {
  Array<T> a(named);
  for (std::int64_t i = 0; i < a.size(); ++i) a.set(i, x);
  return a;
}
/// Row-major elements, each rounded to the element type.
template <class T>
[[nodiscard]] Array<T> from_values(const std::vector<double>& values, const detail::NamedDims& named = {}) {
  Array<T> a(named);
  if (static_cast<std::int64_t>(values.size()) != a.size())
    fail({},
         "from_values: the count of values is not that of the elements (" + std::to_string(values.size()) + ", " +
             std::to_string(a.size()) + ")",
         "give one value for each element");
  for (std::int64_t i = 0; i < a.size(); ++i) a.set(i, values[static_cast<std::size_t>(i)]);
  return a;
}
/// Random elements that depend on the seed alone: floats in [-1, 1), signed integers in [-8, 7], unsigned ones in [0, 15].
inline void fill_random(HostTensor& a, std::uint64_t seed) {
  std::uint64_t state = seed;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const std::uint64_t bits = detail::next_random(state);
    const DType d = a.dtype();
    if (is_float(d)) a.set(i, static_cast<double>(bits >> 11) * 0x1p-52 - 1);
    else if (info(d).kind == DTypeKind::signed_integer) a.set_integer(i, static_cast<std::int64_t>(bits & 15) - 8);
    else a.set_integer(i, static_cast<std::int64_t>(bits & (d == boolean ? 1u : 15u)));
  }
}
template <class T>
[[nodiscard]] Array<T> random(std::uint64_t seed, const detail::NamedDims& named = {}) {
  Array<T> a(named);
  fill_random(a, seed);
  return a;
}

namespace detail {
// Equal infinities and pairs of NaN do not differ; one NaN alone differs without bound.
inline double difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double d = std::abs(a - b);
  return std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
}
inline void require_same_shape(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  if (a != b)
    fail({}, "max_abs_diff: the shapes differ (" + HostTensor::shape_text(a) + ", " + HostTensor::shape_text(b) + ")",
         "compare tensors of one shape");
}
}  // namespace detail

/// The largest difference of two elements; NaN against a number is infinite.
[[nodiscard]] inline double max_abs_diff(const HostTensor& a, const HostTensor& b) {
  detail::require_same_shape(a.dims(), b.dims());
  double largest = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) largest = std::max(largest, detail::difference(a.get(i), b.get(i)));
  return largest;
}
[[nodiscard]] inline double max_abs_diff(const HostTensor& a, double b) {
  double largest = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) largest = std::max(largest, detail::difference(a.get(i), b));
  return largest;
}
[[nodiscard]] inline double max_abs_diff(const std::vector<double>& a, const std::vector<double>& b) {
  detail::require_same_shape({static_cast<std::int64_t>(a.size())}, {static_cast<std::int64_t>(b.size())});
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, detail::difference(a[i], b[i]));
  return largest;
}
[[nodiscard]] inline double max_abs_diff(const std::vector<double>& a, double b) {
  double largest = 0;
  for (const double x : a) largest = std::max(largest, detail::difference(x, b));
  return largest;
}
/// The sum of each row (along the last axis), in double.
[[nodiscard]] inline std::vector<double> row_sums(const HostTensor& a) {
  const std::int64_t width = a.rank() > 0 ? a.dim(-1) : 1;
  std::vector<double> sums;
  for (std::int64_t i = 0; width > 0 && i < a.size(); i += width) {
    double s = 0;
    for (std::int64_t j = 0; j < width; ++j) s += a.get(i + j);
    sums.push_back(s);
  }
  return sums;
}

}  // namespace tessera
