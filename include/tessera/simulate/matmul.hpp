// Matrix products. Floats multiply and add in f32, in the order of k, starting from the accumulator (so a product split along
// k gives the same bits); i8 accumulates in i32, which wraps.
#pragma once

#include "elementwise.hpp"

namespace tessera::simulator {

/// One matrix operand: where its element (row, k) or (k, column) stands, and how much of it is valid.
struct Matrix {
  std::int64_t row_stride = 0, column_stride = 0, rows = 0, columns = 0;
};
[[nodiscard]] inline Matrix matrix_of(const Data& d, const Box& valid, bool transposed) {
  const int r = d.dims.rank;
  Matrix m{d.dims[r - 1], 1, valid[r - 2], valid[r - 1]};
  if (transposed) {
    std::swap(m.row_stride, m.column_stride);
    std::swap(m.rows, m.columns);
  }
  return m;
}
inline void check_known(const Call& c, int operand, const Data& d, std::int64_t base, const Matrix& m) {
  for (std::int64_t i = 0; i < m.rows; ++i)
    for (std::int64_t j = 0; j < m.columns; ++j) {
      const std::int64_t at = base + i * m.row_stride + j * m.column_stride;
      if (!d.is_known(at)) c.fail_poison(operand, d, at);
    }
}
/// target[m,n] += a[m,k] * b[k,n], row by row, k in order.
template <class T>
void accumulate(T* target, std::int64_t width, const T* a, const Matrix& ma, const T* b, const Matrix& mb) {
  std::vector<T> right(
      static_cast<std::size_t>(mb.rows * mb.columns));  // contiguous rows, whatever the operand's order
  for (std::int64_t k = 0; k < mb.rows; ++k)
    for (std::int64_t j = 0; j < mb.columns; ++j)
      right[static_cast<std::size_t>(k * mb.columns + j)] = b[k * mb.row_stride + j * mb.column_stride];
  for (std::int64_t i = 0; i < ma.rows; ++i) {
    T* const out = target + i * width;
    for (std::int64_t k = 0; k < ma.columns; ++k) {
      const T x = a[i * ma.row_stride + k * ma.column_stride];
      const T* const row = right.data() + k * mb.columns;
      for (std::int64_t j = 0; j < mb.columns; ++j) {
        const T term = x * row[j];  // a statement of its own: compilers may fuse within one
        out[j] += term;
      }
    }
  }
}

/// Operands `lhs` and `lhs + 1` are multiplied onto `r`, batch by batch.
inline void multiply_onto(Call& c, int lhs, Data& r) {
  const Data &a = c.in(lhs), &b = c.in(lhs + 1);
  const Matrix ma = matrix_of(a, c.valid(lhs), c.attr(AttrKey::transpose_lhs) != 0);
  const Matrix mb = matrix_of(b, c.valid(lhs + 1), c.attr(AttrKey::transpose_rhs) != 0);
  if (ma.columns != mb.rows)
    c.fail("the valid inner extents differ (" + std::to_string(ma.columns) + ", " + std::to_string(mb.rows) + ")",
           "give both operands the same valid extent along k");
  const int rank = r.dims.rank;
  Box batches = c.result_valid();
  batches[rank - 1] = batches[rank - 2] = 1;
  const Box sa = broadcast_strides(a.dims, rank), sb = broadcast_strides(b.dims, rank), sr = strides_of(r.dims);
  for_each_row(batches, [&](const Box& index) {
    const std::int64_t at_a = dot(sa, index), at_b = dot(sb, index), at_r = dot(sr, index);
    check_known(c, lhs, a, at_a, ma);
    check_known(c, lhs + 1, b, at_b, mb);
    if (is_float(a.dtype))
      accumulate(r.floats.data() + at_r, r.dims.last(), a.floats.data() + at_a, ma, b.floats.data() + at_b, mb);
    else
      accumulate(r.integers.data() + at_r, r.dims.last(), a.integers.data() + at_a, ma, b.integers.data() + at_b, mb);
    for (std::int64_t i = 0; i < ma.rows; ++i)
      std::fill_n(r.known.begin() + at_r + i * r.dims.last(), mb.columns, std::uint8_t{1});
  });
  for (std::int64_t& x : r.integers) x = wrapped(r.dtype, x);
}

inline void matmul(Call& c) {
  Data r = c.fresh();
  multiply_onto(c, ops::matmul.first_factor, r);
  c.result(std::move(r));
}
/// The product is rounded and then added: so it is, too, where passes make two operations of it.
inline void matmul_acc(Call& c) {
  const Data& acc = c.in(0);
  const Matrix whole = matrix_of(acc, c.valid(0), false);
  Box batches = c.valid(0);
  batches[acc.dims.rank - 1] = batches[acc.dims.rank - 2] = 1;
  const Box strides = strides_of(acc.dims);
  for_each_row(batches, [&](const Box& index) { check_known(c, 0, acc, dot(strides, index), whole); });
  Data r = c.fresh();
  multiply_onto(c, ops::matmul_acc.first_factor, r);
  for (std::size_t i = 0; i < r.known.size(); ++i) {
    r.known[i] = static_cast<std::uint8_t>(r.known[i] != 0 && acc.known[i] != 0);
    if (is_float(r.dtype)) r.floats[i] += acc.floats[i];
    else r.integers[i] = wrapped(r.dtype, r.integers[i] + acc.integers[i]);
  }
  c.result(std::move(r));
}

inline constexpr TableEntry matmul_table[] = {{&ops::matmul, matmul}, {&ops::matmul_acc, matmul_acc}};

}  // namespace tessera::simulator
