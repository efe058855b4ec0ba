// Columns that are worked on in parts: a part of a column starts inside a block of 32 bytes, which no instruction takes.
#pragma once

#include "../../ir/builder.hpp"
#include "../../ops/all.hpp"

namespace tessera::detail {

/// A column [M,1] as a matrix of rows of one block, all columns alike.
[[nodiscard]] inline ValueId repeated_to_blocks(Builder& b, ValueId column) {
  const Function& f = b.function();
  if (f.type(column).space != Vec) column = b.value(ops::move, {column}, {}, with_space(f.type(column), Vec));
  const Type t = f.type(column);
  const std::int64_t block = block_elements(t.dtype), rows = t.dims[0], row[] = {1, rows}, turned[] = {block, rows};
  if (info(t.dtype).bits > 8) return b.value(ops::row_expand, {column}, {}, with_dim(t, 1, block));
  // No instruction repeats a column of bytes.
  const ValueId as_row = b.value(ops::reshape, {column}, {}, with_shape(t, row, 2));
  const ValueId x = b.value(ops::col_expand, {as_row}, {}, with_shape(t, turned, 2));
  return b.value(ops::transpose, {x, b.value(ops::create, {}, {}, scratch_type(ops::transpose, f.type(x)))});
}

}  // namespace tessera::detail
