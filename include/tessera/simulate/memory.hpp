// Operations that make, reorder or select elements.
#pragma once

#include <cstring>
#include <vector>

#include "window.hpp"

namespace tessera::simulator {

inline void full(Call& c) {
  Data r = c.fresh();
  const Number n = c.number(0);
  for (std::int64_t i = 0; i < r.size(); ++i) r.set(i, n);
  c.result(std::move(r));
}
inline void arange(Call& c) {
  Data r = c.fresh();
  const std::int64_t step = c.attr(AttrKey::descending) != 0 ? -1 : 1;
  Number n = c.number(0);
  for (std::int64_t i = 0; i < r.size(); ++i) {
    r.set(i, n);
    n.integer = wrapped(r.dtype, n.integer + step);
  }
  c.result(std::move(r));
}
/// The same elements: move, reshape, set_valid_shape, place.
inline void same_elements(Call& c) {
  Data r = c.in(0);
  r.dims = c.engine.dims(c.result_type());
  c.result(std::move(r));
}
/// The rows of one operand behind those of the other.
inline void concat(Call& c) {
  const Data &a = c.in(0), &b = c.in(1);
  Data r = c.fresh();
  const std::int64_t front = a.dims.last(), back = b.dims.last();
  for (std::int64_t row = 0; row * (front + back) < r.size(); ++row) {
    r.copy(row * (front + back), a, row * front, front);
    r.copy(row * (front + back) + front, b, row * back, back);
  }
  c.result(std::move(r));
}
/// The same bytes as other elements; one with a byte of poison is poison.
inline void reinterpret(Call& c) {
  const Data& x = c.in(0);
  Data r = c.fresh();
  const auto from = static_cast<std::size_t>(bytes_of(x.dtype, 1)), to = static_cast<std::size_t>(bytes_of(r.dtype, 1));
  std::vector<std::byte> bytes(static_cast<std::size_t>(x.size()) * from);
  for (std::size_t i = 0; i < x.known.size(); ++i) {
    if (is_float(x.dtype)) float_to_bytes(x.dtype, x.floats[i], &bytes[i * from]);
    else std::memcpy(&bytes[i * from], &x.integers[i], from);
  }
  for (std::size_t i = 0; i < r.known.size(); ++i) {
    bool known = true;
    for (std::size_t b = i * to; b < (i + 1) * to; ++b) known = known && x.known[b / from] != 0;
    if (!known) continue;
    const std::byte* const p = &bytes[i * to];
    if (is_float(r.dtype)) {
      r.floats[i] = float_from_bytes(r.dtype, p);
    } else {
      std::int64_t n = 0;
      std::memcpy(&n, p, to);
      r.integers[i] = wrapped(r.dtype, n);
    }
    r.known[i] = 1;
  }
  c.result(std::move(r));
}
inline void swap_axes(Call& c, int a, int b) {
  Box strides = strides_of(c.in(0).dims);
  std::swap(strides[a], strides[b]);
  copy_strided(c, strides);
}
inline void transpose(Call& c) {
  const int rank = c.type(0).rank;
  swap_axes(c, counted_from_front(c.attr(AttrKey::axis, -2), rank), counted_from_front(c.attr(AttrKey::other_axis, -1), rank));
}

/// The number that fills what is not valid: 0, or the largest or smallest of the type (infinities for floats).
[[nodiscard]] inline Number pad_number(DType d, Pad pad) {
  const double infinity = std::numeric_limits<double>::infinity();
  switch (pad) {
    case Pad::max:
      return is_float(d) ? make_number(d, infinity) : make_number(d, largest_integer(d));
    case Pad::min:
      return is_float(d) ? make_number(d, -infinity) : make_number(d, smallest_integer(d));
    default:
      return is_float(d) ? make_number(d, 0.0) : make_number(d, std::int64_t{0});
  }
}
/// What is valid in the operand, in the corner of a larger box; the pad value elsewhere.
inline void fillpad_expand(Call& c) {
  const Data& x = c.in(0);
  Data r = c.fresh();
  const auto pad = static_cast<Pad>(c.attr(AttrKey::pad, static_cast<std::int64_t>(Pad::zero)));
  const Number fill = pad_number(r.dtype, pad);
  for (std::int64_t i = 0; pad != Pad::null && i < r.size(); ++i) r.set(i, fill);
  const Box valid = c.valid(0), from = strides_of(x.dims), to = strides_of(r.dims);
  for_each_row(valid, [&](const Box& index) { r.copy(dot(to, index), x, dot(from, index), valid.last()); });
  c.result(std::move(r));
}
/// Elements inside the valid extents stay as they are, poison too; without a pad value so do the others.
inline void fillpad(Call& c) {
  Data r = c.in(0);
  const Box valid = c.valid(0);
  const auto pad = static_cast<Pad>(c.attr(AttrKey::pad, static_cast<std::int64_t>(Pad::zero)));
  const Number fill = pad_number(r.dtype, pad);
  const std::int64_t width = r.dims.last();
  std::int64_t position = 0;
  for_each_row(r.dims, [&](const Box& index) {
    bool inside = true;
    for (int i = 0; i + 1 < r.dims.rank; ++i) inside = inside && index[i] < valid[i];
    if (pad != Pad::null)
      for (std::int64_t k = inside ? valid.last() : 0; k < width; ++k) r.set(position + k, fill);
    position += width;
  });
  c.result(std::move(r));
}

inline constexpr TableEntry memory_table[] = {
    {&ops::load, read_window},
    {&ops::store, store},
    {&ops::move, same_elements},
    {&ops::create, [](Call& c) { c.result(c.fresh()); }},
    {&ops::full, full},
    {&ops::arange, arange},
    {&ops::slice, read_window},
    {&ops::assemble, assemble},
    {&ops::concat, concat},
    {&ops::reshape, same_elements},
    {&ops::transpose, transpose},
    {&ops::transpose_view, [](Call& c) { swap_axes(c, c.type(0).rank - 2, c.type(0).rank - 1); }},
    {&ops::set_valid_shape, same_elements},
    {&ops::place, same_elements},
    {&ops::fillpad, fillpad},
    {&ops::fillpad_expand, fillpad_expand},
    {&ops::reinterpret, reinterpret},
    {&ops::to_tile, same_elements},
    {&ops::to_tensor, same_elements},
    {&ops::view, [](Call& c) { c.engine.set_view(c.engine.function().result(c.id), c.operand(0)); }},
    {&ops::read, read},
    {&ops::write, write},
};

}  // namespace tessera::simulator
