// The elements of a tensor or tile while a program runs, with one state byte each: an element is known, or poison (never
// written, or outside the valid extents).
#pragma once

#include <algorithm>
#include <vector>

#include "host_tensor.hpp"

namespace tessera::simulator {

/// Extents of a box, row-major.
struct Box {
  int rank = 0;
  std::int64_t dims[max_rank] = {};

  [[nodiscard]] std::int64_t& operator[](int axis) { return dims[axis]; }
  [[nodiscard]] std::int64_t operator[](int axis) const { return dims[axis]; }
  [[nodiscard]] std::int64_t last() const { return rank > 0 ? dims[rank - 1] : 1; }
  [[nodiscard]] std::int64_t elements() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= dims[i];
    return n;
  }
  [[nodiscard]] bool empty() const { return elements() == 0; }
  [[nodiscard]] std::string text() const { return list_text(dims, rank); }
  friend bool operator==(const Box&, const Box&) = default;
};

/// Distance between neighbours along each axis of a row-major box.
[[nodiscard]] inline Box strides_of(const Box& dims) {
  Box s{dims.rank, {}};
  std::int64_t step = 1;
  for (int i = dims.rank - 1; i >= 0; --i) {
    s[i] = step;
    step *= dims[i];
  }
  return s;
}
/// Strides in `dims`, seen from a box of rank `rank` at its end; axes of extent 1 repeat.
[[nodiscard]] inline Box broadcast_strides(const Box& dims, int rank) {
  const Box own = strides_of(dims);
  Box s{rank, {}};
  for (int i = 0; i < dims.rank; ++i)
    if (dims[i] != 1) s[rank - dims.rank + i] = own[i];
  return s;
}
[[nodiscard]] inline std::int64_t dot(const Box& strides, const Box& index) {
  std::int64_t n = 0;
  for (int i = 0; i < strides.rank; ++i) n += strides[i] * index[i];
  return n;
}
[[nodiscard]] inline bool is_inside(const Box& index, const Box& extents) {
  for (int i = 0; i < index.rank; ++i)
    if (index[i] >= extents[i]) return false;
  return true;
}

/// Calls f(index of its first element) for each row of a box; not at all for an empty one.
template <class F>
void for_each_row(const Box& extents, F&& f) {
  if (extents.empty()) return;
  Box index{extents.rank, {}};
  for (;;) {
    f(static_cast<const Box&>(index));
    int axis = extents.rank - 2;
    while (axis >= 0 && ++index[axis] == extents[axis]) index[axis--] = 0;
    if (axis < 0) return;
  }
}
[[nodiscard]] inline Box index_of(const Box& dims, std::int64_t position) {
  Box index{dims.rank, {}};
  for (int i = dims.rank - 1; i >= 0; --i) {
    index[i] = position % dims[i];
    position /= dims[i];
  }
  return index;
}

/// Some blocks of a launch: enough of them to name one that is not a given one.
struct SomeBlocks {
  std::int32_t first = -1, second = -1;

  void add(std::int64_t block) {
    if (first < 0) first = static_cast<std::int32_t>(block);
    else if (block != first) second = static_cast<std::int32_t>(block);
  }
  /// -1: there is none.
  [[nodiscard]] std::int32_t other_than(std::int64_t block) const { return first != block ? first : second; }
};
/// What the blocks of a launch have done with an element. Reads of what the reading block wrote itself do not count.
struct Access {
  SomeBlocks readers, adders;
  std::int32_t writer = -1;  ///< the last one
};
/// By element, while several blocks share a tensor. A copy of a tensor is a value that none of them shares.
struct Accesses {
  std::vector<Access> of_element;

  Accesses() = default;
  Accesses(const Accesses&) {}
  Accesses(Accesses&&) = default;
  Accesses& operator=(const Accesses&) {
    of_element.clear();
    return *this;
  }
  Accesses& operator=(Accesses&&) = default;
  ~Accesses() = default;

  [[nodiscard]] bool empty() const { return of_element.empty(); }
};

struct Data {
  DType dtype = f32;
  Box dims;
  std::vector<float> floats;  ///< of floating types
  std::vector<std::int64_t> integers;  ///< of all others
  std::vector<std::uint8_t> known;  ///< 0: poison
  std::vector<std::int64_t> contested;  ///< poison because an operation wrote different elements there
  mutable Accesses accesses;        ///< of blocks; reading is one, too
  mutable Accesses thread_accesses;  ///< the same of the threads of one launch

  Data() = default;
  /// All poison.
  Data(DType type, const Box& shape) : dtype(type), dims(shape) {
    const auto n = static_cast<std::size_t>(shape.elements());
    if (is_float(dtype)) floats.resize(n);
    else integers.resize(n);
    known.resize(n);
  }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(known.size()); }
  [[nodiscard]] bool is_known(std::int64_t i) const { return known[static_cast<std::size_t>(i)] != 0; }
  [[nodiscard]] Number number(std::int64_t i) const {
    const auto u = static_cast<std::size_t>(i);
    return is_float(dtype) ? Number{dtype, 0, static_cast<double>(floats[u])} : Number{dtype, integers[u], 0};
  }
  void set(std::int64_t i, const Number& x) {
    const auto u = static_cast<std::size_t>(i);
    if (is_float(dtype)) floats[u] = static_cast<float>(x.real);
    else integers[u] = x.integer;
    known[u] = 1;
  }
  /// Copies elements with their state; both sides have one dtype.
  void copy(std::int64_t to, const Data& from, std::int64_t first, std::int64_t count) {
    const auto move = [&](auto& target, const auto& source) {
      std::copy_n(source.begin() + first, count, target.begin() + to);
    };
    if (is_float(dtype)) move(floats, from.floats);
    else move(integers, from.integers);
    move(known, from.known);
  }
  /// Makes poison of what lies outside the extents.
  void clear_outside(const Box& extents) {
    if (extents == dims) return;
    const std::int64_t width = dims.last();
    std::int64_t position = 0;
    for_each_row(dims, [&](const Box& index) {
      bool inside = true;
      for (int i = 0; i + 1 < dims.rank; ++i) inside = inside && index[i] < extents[i];
      const std::int64_t keep = inside ? extents.last() : 0;
      std::fill(known.begin() + position + keep, known.begin() + position + width, std::uint8_t{0});
      position += width;
    });
  }
  /// What an element that is poison is called in an error.
  [[nodiscard]] const char* poison_text(std::int64_t position) const {
    return std::find(contested.begin(), contested.end(), position) == contested.end() ? "an uninitialised element" : "an element that an index names twice, for different elements,";
  }
  [[nodiscard]] const char* poison_hint(std::int64_t position, const char* uninitialised) const {
    return std::find(contested.begin(), contested.end(), position) == contested.end() ? uninitialised : "it is not defined which of the two stays: let each index name a place of its own";
  }
  [[nodiscard]] std::int64_t poison_count() const { return std::count(known.begin(), known.end(), std::uint8_t{0}); }
};

[[nodiscard]] inline Box box_of(const std::vector<std::int64_t>& dims) {
  Box b{static_cast<int>(dims.size()), {}};
  std::copy(dims.begin(), dims.end(), b.dims);
  return b;
}
[[nodiscard]] inline Data from_host(const HostTensor& t) {
  Data d(t.dtype(), box_of(t.dims()));
  for (std::int64_t i = 0; i < d.size(); ++i) {
    const auto u = static_cast<std::size_t>(i);
    if (is_float(d.dtype)) d.floats[u] = float_from_bytes(d.dtype, t.data() + u * t.element_bytes());
    else d.integers[u] = t.integer(i);
    d.known[u] = 1;
  }
  return d;
}
/// Writes the known elements; the others stay as they are.
inline void to_host(const Data& d, HostTensor& t) {
  for (std::int64_t i = 0; i < d.size(); ++i) {
    const auto u = static_cast<std::size_t>(i);
    if (d.known[u] == 0) continue;
    if (is_float(d.dtype)) float_to_bytes(d.dtype, d.floats[u], t.data() + u * t.element_bytes());
    else t.set_integer(i, d.integers[u]);
  }
}

}  // namespace tessera::simulator
