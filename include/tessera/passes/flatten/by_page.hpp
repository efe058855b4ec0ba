// Operations that see where one page ends: reductions of columns, transposes, rows that are added.
#pragma once

#include "columns.hpp"
#include "flattener.hpp"

namespace tessera::detail {

/// One scratch tile for all pages, which one pipe makes in order; that of the whole operand is dropped where nothing else has it.
inline ValueId page_scratch(Flattener& l, OpId op, const Type& page) {
  const OpInfo& info = l.in.info(op);
  if (const int own = scratch_operand(info); l.in.operand_count(op) > own) {
    const ValueId old = l.in.operand(op, own), whole = l.r.map(old);
    const OpId def = l.out.definition(whole);
    if (l.in.use_count(old) == 1 && def && l.out.is(def, ops::create)) l.out.erase(def);
  }
  return l.b.value(ops::create, {}, {}, scratch_type(info, page));
}

/// A result whose pages are columns: a page would start inside a block, so `page(i)` gives it with `cols` columns, whole blocks,
/// of which the first one is taken.
template <class MakePage>
void stack_columns(Flattener& l, OpId op, ValueId old, std::int64_t cols, MakePage&& page) {
  Builder& b = l.b;
  const Type &t = l.in.type(old), flat = with_space(flattened(t), Vec);
  const std::int64_t rows = t.last(1), all[] = {page_count(t) * rows, cols};
  ValueId made = b.value(ops::create, {}, {}, with_shape(flat, all, 2));
  for (const std::int64_t i : l.filled_pages(old)) made = l.put_page(made, page(i), i * rows);
  Extent merged[2];
  if (!l.merged_extents(old, op, merged)) return l.r.set(old, b.value(ops::slice, {made, b.index(0), b.index(0)}, {}, flat));
  const ValueId window[] = {made, b.index(0), b.index(0), b.value_of(merged[0]), b.value_of(merged[1])};
  l.r.set(old, b.value(ops::slice, {window, 5}, {int_attr(AttrKey::has_valid, 1)}, flat));
}
/// Page number `i` of columns that are repeated to whole blocks.
inline ValueId repeated_page(Flattener& l, ValueId repeated, std::int64_t rows, std::int64_t i) {
  const std::int64_t dims[] = {rows, l.out.type(repeated).last()};
  return l.slice_page(repeated, with_shape(l.out.type(repeated), dims, 2), i);
}

inline void reduce_single_columns_by_page(Flattener& l, OpId op) {
  const OpInfo& info = l.in.info(op);
  const ValueId x = repeated_to_blocks(l.b, l.r.map(l.in.operand(op, 0)));
  const Type& t = l.in.type(l.in.operand(op, 0));
  const std::int64_t cols = l.out.type(x).last(), dims[] = {t.last(1), cols};
  const std::vector<Attr> attrs = l.r.attrs(op);
  std::vector<ValueId> operands{x};
  if (info.scratch != ScratchRule::none) operands.push_back(page_scratch(l, op, with_shape(l.out.type(x), dims, 2)));
  stack_columns(l, op, l.in.result(op), cols, [&](std::int64_t i) {
    operands[0] = repeated_page(l, x, t.last(1), i);
    return l.b.value(info, operands, attrs);
  });
}

/// Rows of one page are reduced, never those of two.
inline void reduce_columns_by_page(Flattener& l, OpId op) {
  if (l.in.type(l.in.operand(op, 0)).last() == 1) return reduce_single_columns_by_page(l, op);
  const ValueId x = l.r.map(l.in.operand(op, 0)), old = l.in.result(op);
  const Type page = page_type(l.in.type(l.in.operand(op, 0)));
  const std::vector<Attr> attrs = l.r.attrs(op);
  const OpInfo& info = l.in.info(op);
  std::vector<ValueId> operands{x};
  if (info.scratch != ScratchRule::none) operands.push_back(page_scratch(l, op, page));
  l.r.set(old, l.stack(op, old, l.out.type(x).space, [&](std::int64_t i) {
    operands[0] = l.slice_page(x, page, i);
    return l.b.value(info, operands, attrs);
  }));
}

/// Rows that are added follow those of each page.
inline void flatten_fillpad_expand(Flattener& l, OpId op) {
  const ValueId old = l.in.result(op), x = l.r.map(l.in.operand(op, 0));
  const Type from = l.in.type(l.in.operand(op, 0)), &to = l.in.type(old);
  if (!has_pages(from) || from.last(1) == to.last(1)) return l.same_on_rows(op);
  const std::vector<Attr> attrs = l.r.attrs(op);
  if (from.last() > 1)
    return l.r.set(old, l.stack(op, old, l.out.type(x).space, [&](std::int64_t i) {
      return l.b.value(ops::fillpad_expand, {l.slice_page(x, page_type(from), i)}, attrs, page_type(to));
    }));
  const ValueId wide = repeated_to_blocks(l.b, x);
  const std::int64_t cols = l.out.type(wide).last();
  if (to.last() > 1)  // the first column of a page
    return l.r.set(old, l.stack(op, old, Vec, [&](std::int64_t i) {
      return l.b.value(ops::fillpad_expand, {l.slice_page(wide, page_type(with_space(from, Vec)), i)}, attrs, page_type(with_space(to, Vec)));
    }));
  const std::int64_t dims[] = {to.last(1), cols};
  stack_columns(l, op, old, cols, [&](std::int64_t i) {
    return l.b.value(ops::fillpad_expand, {repeated_page(l, wide, from.last(1), i)}, attrs, with_shape(l.out.type(wide), dims, 2));
  });
}

/// Pages of one column become rows.
inline void transpose_columns_by_page(Flattener& l, OpId op) {
  const ValueId old = l.in.result(op), x = repeated_to_blocks(l.b, l.r.map(l.in.operand(op, 0)));
  const std::int64_t rows = l.in.type(old).last(), dims[] = {rows, l.out.type(x).last()}, row[] = {1, rows};
  const ValueId scratch = page_scratch(l, op, with_shape(l.out.type(x), dims, 2));
  l.r.set(old, l.stack(op, old, Vec, [&](std::int64_t i) {
    const ValueId turned = l.b.value(ops::transpose, {repeated_page(l, x, rows, i), scratch});
    return l.b.value(ops::slice, {turned, l.b.index(0), l.b.index(0)}, {}, with_shape(l.out.type(turned), row, 2));
  }));
}
/// Pages of one row become columns.
inline void transpose_rows_by_page(Flattener& l, OpId op) {
  const ValueId old = l.in.result(op), x = l.r.map(l.in.operand(op, 0));
  const Type page = page_type(l.in.type(l.in.operand(op, 0)));
  const std::int64_t block = block_elements(page.dtype), dims[] = {block, page.last()};
  const Type wide = with_shape(page, dims, 2);
  const ValueId scratch = page_scratch(l, op, wide);
  stack_columns(l, op, old, block, [&](std::int64_t i) {
    return l.b.value(ops::transpose, {l.b.value(ops::col_expand, {l.slice_page(x, page, i)}, {}, wide), scratch});
  });
}

inline void flatten_transpose(Flattener& l, OpId op) {
  const ValueId old_x = l.in.operand(op, 0), old = l.in.result(op);
  if (l.plan.deferred(old)) return;
  const Type& t = l.in.type(old_x);
  const auto [a, b] = exchanged_axes(l.in, op);
  if (a == b) return l.r.set(old, l.r.map(old_x));
  if (a + b != 2 * t.rank - 3)
    l.refuse(op,
             "only the last two axes of a tile can be exchanged (axes " + std::to_string(a) + " and " + std::to_string(b) + ")",
             "store the tile and load it with other offsets, or exchange the axes outside the kernel");
  if (has_pages(t) && t.last(0) == 1 && t.last(1) > 1) return transpose_columns_by_page(l, op);
  if (has_pages(t) && t.last(1) == 1 && t.last(0) > 1) return transpose_rows_by_page(l, op);
  const ValueId x = l.r.map(old_x);
  if (has_pages(t) && t.last(0) == 1) return l.r.set(old, x);
  const Type page = t.rank > 2 ? page_type(t) : l.out.type(x);
  const int own = scratch_operand(ops::transpose);
  const bool stated = l.in.operand_count(op) > own && t.rank <= 2;
  const ValueId scratch = stated ? l.r.map(l.in.operand(op, own)) : page_scratch(l, op, page);
  if (!has_pages(t)) return l.r.set(old, l.b.value(ops::transpose, {x, scratch}));
  l.r.set(old, l.stack(op, old, l.out.type(x).space,
                       [&](std::int64_t i) { return l.b.value(ops::transpose, {l.slice_page(x, page, i), scratch}); }));
}

}  // namespace tessera::detail
