// A tensor in host memory: raw elements in the format of their dtype. What simulations take and give back.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "../ir/diagnostic.hpp"
#include "number.hpp"

namespace tessera {

/// Row-major elements, exact for every element type that can be simulated (f8, hif8 and f4 cannot: UserError). A rank of 0
/// is one number.
class HostTensor {
 public:
  HostTensor() = default;
  /// All elements zero.
  HostTensor(DType dtype, std::vector<std::int64_t> dims) : dtype_(dtype), dims_(std::move(dims)) {
    if (!simulator::can_simulate(dtype))
      fail({}, "simulate: the element type has no host format (" + std::string(name(dtype)) + ")",
           "use f32, f16, bf16 or an integer type");
    std::int64_t bytes = bytes_of(dtype, 1);
    for (const std::int64_t d : dims_) {
      if (d < 0) fail({}, "simulate: a dim is negative (" + shape_text(dims_) + ")", "dims are zero or larger");
      if (__builtin_mul_overflow(bytes, d, &bytes))
        fail({}, "simulate: the tensor is too large (" + shape_text(dims_) + ")", "make it smaller");
    }
    count_ = bytes / bytes_of(dtype, 1);
    bytes_.resize(static_cast<std::size_t>(count_) * element_bytes());
  }

  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] const std::vector<std::int64_t>& dims() const { return dims_; }
  [[nodiscard]] int rank() const { return static_cast<int>(dims_.size()); }
  /// The size of an axis; negative axes count from the end.
  [[nodiscard]] std::int64_t dim(int axis) const {
    return dims_[static_cast<std::size_t>(axis < 0 ? axis + rank() : axis)];
  }
  [[nodiscard]] std::int64_t size() const { return count_; }
  [[nodiscard]] std::size_t element_bytes() const { return static_cast<std::size_t>(bytes_of(dtype_, 1)); }
  [[nodiscard]] std::byte* data() { return bytes_.data(); }
  [[nodiscard]] const std::byte* data() const { return bytes_.data(); }

  /// An element by its row-major position, as a number (64-bit integers may round; see integer()).
  [[nodiscard]] double get(std::int64_t i) const {
    if (!is_float(dtype_)) return simulator::to_double(dtype_, integer(i));
    return simulator::float_from_bytes(dtype_, at(i));
  }
  /// Stores a number, rounded to nearest even or wrapped to the element type.
  void set(std::int64_t i, double x) {
    if (is_float(dtype_)) simulator::float_to_bytes(dtype_, simulator::rounded(dtype_, x), at(i));
    else set_integer(i, simulator::to_integer(dtype_, x, Rounding::rint));
  }
  /// An element of an integer type, exact; u64 keeps its bits.
  [[nodiscard]] std::int64_t integer(std::int64_t i) const {
    if (is_float(dtype_)) return static_cast<std::int64_t>(get(i));
    std::int64_t x = 0;
    std::memcpy(&x, at(i), element_bytes());
    return simulator::wrapped(dtype_, x);
  }
  void set_integer(std::int64_t i, std::int64_t x) {
    if (is_float(dtype_)) return set(i, static_cast<double>(x));
    x = simulator::wrapped(dtype_, x);
    std::memcpy(at(i), &x, element_bytes());
  }
  /// All elements in row-major order, as get() gives them.
  [[nodiscard]] std::vector<double> values() const {
    std::vector<double> list(static_cast<std::size_t>(count_));
    for (std::int64_t i = 0; i < count_; ++i) list[static_cast<std::size_t>(i)] = get(i);
    return list;
  }
  friend bool operator==(const HostTensor&, const HostTensor&) = default;

  [[nodiscard]] static std::string shape_text(const std::vector<std::int64_t>& dims) {
    return simulator::list_text(dims.data(), static_cast<int>(dims.size()));
  }

 private:
  [[nodiscard]] const std::byte* at(std::int64_t i) const {
    return bytes_.data() + static_cast<std::size_t>(i) * element_bytes();
  }
  [[nodiscard]] std::byte* at(std::int64_t i) { return bytes_.data() + static_cast<std::size_t>(i) * element_bytes(); }

  DType dtype_ = f32;
  std::vector<std::int64_t> dims_;
  std::int64_t count_ = 1;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(4);
};

}  // namespace tessera
