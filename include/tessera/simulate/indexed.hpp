// Elements gathered where an index says or at every second or fourth place of a row, and elements written where an index says.
// Where an index names a place twice, with two different elements, the place is poison: which of them stays is not defined.
#pragma once

#include "memory.hpp"

namespace tessera::simulator {

/// The index element at `i` of an operand, in [0, limit).
[[nodiscard]] inline std::int64_t checked_index(const Call& c, const Data& index, int operand, std::int64_t i, std::int64_t limit) {
  if (!index.is_known(i)) c.fail_poison(operand, index, i);
  const std::int64_t n = index.integers[static_cast<std::size_t>(i)];
  if (n < 0 || n >= limit)
    c.fail(rule::index_out_of_bounds, "element " + index_of(index.dims, i).text() + ": index " + std::to_string(n) +
                                          ", dim " + std::to_string(limit));
  return n;
}
/// Calls f(position in the index, an operand) for each of its valid elements.
template <class F>
void for_each_index(const Call& c, const Data& index, int operand, F&& f) {
  const Box valid = c.valid(operand), strides = strides_of(index.dims);
  for_each_row(valid, [&](const Box& row) {
    for (std::int64_t k = 0; k < valid.last(); ++k) f(dot(strides, row) + k);
  });
}

/// Along an axis: x at the index element's own place, with the index in the axis.
inline void gather(Call& c) {
  const Data &x = c.in(0), &index = c.in(1);
  Data r = c.fresh();
  const int axis = counted_from_front(c.attr(AttrKey::axis, -1), x.dims.rank);
  std::int64_t inner = 1;
  for (int i = axis + 1; i < x.dims.rank; ++i) inner *= x.dims[i];
  const std::int64_t page = index.dims[axis] * inner;
  for_each_index(c, index, 1, [&](std::int64_t i) {
    r.copy(i, x, (i / page * x.dims[axis] + checked_index(c, index, 1, i, x.dims[axis])) * inner + i % inner, 1);
  });
  c.result(std::move(r));
}
inline void gather_flat(Call& c) {
  const Data &x = c.in(0), &index = c.in(1);
  Data r = c.fresh();
  for_each_index(c, index, 1, [&](std::int64_t i) { r.copy(i, x, checked_index(c, index, 1, i, x.size()), 1); });
  c.result(std::move(r));
}

/// The bits of an element of at most 32, and the element that has them.
[[nodiscard]] inline std::uint32_t word_of(const Number& n) {
  return is_float(n.dtype) ? bits_of(n.dtype, static_cast<float>(n.real)) : static_cast<std::uint32_t>(n.integer);
}
[[nodiscard]] inline Number number_of(DType d, std::uint32_t word) {
  return is_float(d) ? Number{d, 0, static_cast<double>(from_bits(d, word))} : make_number(d, std::int64_t{word});
}
/// One element of every two or four. Its bits stay as they are where its type changes.
inline void gather_mask(Call& c) {
  const Data& x = c.in(0);
  Data r = c.fresh();
  const auto p = static_cast<MaskPattern>(c.attr(AttrKey::pattern));
  const std::int64_t length = pattern_length(p), start = pattern_start(p);
  const auto from = [&](std::int64_t i) { return i * length + start; };
  if (r.dtype == x.dtype) {
    for (std::int64_t i = 0; i < r.size(); ++i) r.copy(i, x, from(i), 1);
  } else {
    for (std::int64_t i = 0; i < r.size(); ++i)
      if (x.is_known(from(i))) r.set(i, number_of(r.dtype, word_of(x.number(from(i)))));
  }
  c.result(std::move(r));
}

/// Collects elements at places of `target`.
class Scattered {
 public:
  explicit Scattered(Data& target) : target_(target), written_(target.known.size()) {}
  void put(std::int64_t place, const Data& source, std::int64_t from) {
    std::uint8_t& written = written_[static_cast<std::size_t>(place)];
    if (written != 0 && !same(place, source, from)) {
      target_.known[static_cast<std::size_t>(place)] = 0;
      if (written != 2) target_.contested.push_back(place);
      written = 2;
    }
    if (written == 2) return;
    target_.copy(place, source, from, 1);
    written = 1;
  }

 private:
  [[nodiscard]] bool same(std::int64_t place, const Data& source, std::int64_t from) const {
    if (!target_.is_known(place) || !source.is_known(from)) return false;
    return word_of(target_.number(place)) == word_of(source.number(from));
  }
  Data& target_;
  std::vector<std::uint8_t> written_;  // 1: once, 2: different elements
};

inline void scatter(Call& c) {
  Data r = c.in(0);
  const Data &index = c.in(1), &source = c.in(2);
  Scattered to(r);
  const std::int64_t width = index.dims.last(), cols = r.dims.last();
  for_each_index(c, index, 1, [&](std::int64_t i) { to.put(i / width * cols + checked_index(c, index, 1, i, cols), source, i); });
  c.result(std::move(r));
}
inline void scatter_update(Call& c) {
  Data r = c.in(0);
  const Data &index = c.in(1), &source = c.in(2);
  Scattered to(r);
  const std::int64_t cols = r.dims.last();
  for_each_index(c, index, 1, [&](std::int64_t i) {
    const std::int64_t row = checked_index(c, index, 1, i, r.dims[0]);
    for (std::int64_t k = 0; k < cols; ++k) to.put(row * cols + k, source, i * cols + k);
  });
  c.result(std::move(r));
}
[[nodiscard]] inline Data zeros_like(const Data& x) {
  Data r(x.dtype, x.dims);
  const Number zero = is_float(x.dtype) ? make_number(x.dtype, 0.0) : make_number(x.dtype, std::int64_t{0});
  for (std::int64_t i = 0; i < r.size(); ++i) r.set(i, zero);
  return r;
}
inline void scatter_flat(Call& c) {
  Data r = zeros_like(c.in(0));
  const Data &source = c.in(1), &index = c.in(2);
  Scattered to(r);
  for_each_index(c, index, 2, [&](std::int64_t i) { to.put(checked_index(c, index, 2, i, r.size()), source, i); });
  c.result(std::move(r));
}
inline void put_by_pattern(Call& c, Data r) {
  const Data& source = c.in(1);
  const auto p = static_cast<MaskPattern>(c.attr(AttrKey::pattern));
  const std::int64_t length = pattern_length(p), start = pattern_start(p);
  for_each_index(c, source, 1, [&](std::int64_t i) { r.copy(i * length + start, source, i, 1); });
  c.result(std::move(r));
}

/// Calls f(position) for the elements of a row of operand 0 that compare with the number.
template <class F>
void for_each_match(Call& c, std::int64_t row, F&& f) {
  const Data& x = c.in(0);
  const Number k = c.number(1);
  const bool by_gt = static_cast<Compare>(c.attr(AttrKey::compare)) == Compare::gt, floats = is_float(x.dtype);
  const std::int64_t cols = x.dims.last();
  for (std::int64_t i = row * cols; i < (row + 1) * cols; ++i) {
    if (!x.is_known(i)) c.fail_poison(0, x, i);
    const Number n = x.number(i);
    if (by_gt ? (floats ? n.real > k.real : n.integer > k.integer) : (floats ? n.real == k.real : n.integer == k.integer)) f(i);
  }
}
/// The instruction does not stop at the end of a row: then it writes over what stands behind, so this is an error.
inline void find_positions(Call& c) {
  Data r = c.fresh();
  const std::int64_t places = r.dims.last(), offset = c.integer(2);
  for (std::int64_t row = 0; row < c.valid(0)[0]; ++row) {
    std::int64_t found = 0;
    for_each_match(c, row, [&](std::int64_t i) {
      if (found < places) r.set(row * places + found, make_number(i32, i + offset));
      ++found;
    });
    if (found > places)
      c.fail("a row has more matches than places (row " + std::to_string(row) + ": " + std::to_string(found) + ", " + std::to_string(places) + ")",
             "give it more places: a row of N elements has N matches at most");
  }
  c.result(std::move(r));
}
inline void count_matches(Call& c) {
  Data r = c.fresh();
  for (std::int64_t row = 0; row < c.valid(0)[0]; ++row) {
    std::int64_t found = 0;
    for_each_match(c, row, [&](std::int64_t) { ++found; });
    r.set(row, make_number(i32, found));
  }
  c.result(std::move(r));
}

inline constexpr TableEntry indexed_table[] = {
    {&ops::gather, gather},
    {&ops::gather_flat, gather_flat},
    {&ops::gather_mask, gather_mask},
    {&ops::find_positions, find_positions},
    {&ops::count_matches, count_matches},
    {&ops::scatter, scatter},
    {&ops::scatter_mask, [](Call& c) { put_by_pattern(c, c.in(0)); }},
    {&ops::scatter_update, scatter_update},
    {&ops::scatter_flat, scatter_flat},
    {&ops::scatter_strided, [](Call& c) { put_by_pattern(c, zeros_like(c.in(0))); }},
};

}  // namespace tessera::simulator
