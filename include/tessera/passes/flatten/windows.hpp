// Windows and shapes: loads, stores, assemble, and what states a shape or extents.
#pragma once

#include "broadcast.hpp"
#include "products.hpp"

namespace tessera::detail {

inline void flatten_load(Flattener& l, OpId op) {
  const ValueId old = l.in.result(op);
  if (l.plan.deferred(old)) return defer_load(l, op);
  const Type& t = l.in.type(old);
  if (t.space == Mat && !is_band(t, l.in.type(l.in.operand(op, 0))))
    l.refuse(op, "a window in Mat must be one band of rows of the tensor",
             "cover the inner dims whole, or load one [1,..,M,K] window at a time");
  Extent merged[2];  // first: index arithmetic stands in front of the load
  const bool partial = l.merged_extents(old, op, merged);
  if (l.reads_matrix(op)) {
    const std::vector<ValueId> old_operands = l.r.operands(op);
    return l.r.set(old, load_matrix(l, op, old_operands, flattened(t), partial ? merged : nullptr));
  }
  std::vector<Attr> attrs = l.r.attrs(op);
  attrs.push_back(l.out.list_attr(AttrKey::window, {t.dims, t.rank}));
  const ValueId made = l.b.value(ops::load, l.r.operands(op), attrs, flattened(t));
  if (partial) l.out.set_valid(made, {merged, 2});
  l.r.set(old, made);
}

inline void flatten_store(Flattener& l, OpId op) {
  const ValueId v = l.in.operand(op, 0);
  if (l.plan.paged(v)) return store_pages(l, op);
  const Type& t = l.in.type(v);
  const int rank = l.in.type(l.in.operand(op, 1)).rank, outer = rank - t.rank;
  std::int64_t box[max_rank];
  for (int i = 0; i < rank; ++i) box[i] = i < outer ? 1 : t.dims[i - outer];
  std::vector<Attr> attrs = l.r.attrs(op);
  attrs.push_back(l.out.list_attr(AttrKey::window, {box, static_cast<std::size_t>(rank)}));
  l.b.emit(ops::store, l.r.operands(op), attrs);
}

/// A window of a tile, which must be one band of its rows.
inline void flatten_slice(Flattener& l, OpId op) {
  const ValueId old = l.in.result(op);
  const Type &from = l.in.type(l.in.operand(op, 0)), &window = l.in.type(old);
  if (!is_band(window, from))
    l.refuse(op, "the window of a tile of rank above 2 is not one band of rows (" + text(window) + " of " + text(from) + ")",
             "behind its first dim above 1 cover every dim but the last whole, or load the part that is needed from the tensor");
  std::vector<ValueId> offsets;
  for (int i = 0; i < from.rank; ++i) offsets.push_back(l.r.map(l.in.operand(op, 1 + i)));
  Extent merged[2];
  const bool partial = l.merged_extents(old, op, merged);
  const ValueId row = merged_row(l.b, from, offsets.data());
  l.b.derive_valid(false);
  const ValueId made = l.b.value(ops::slice, {l.r.map(l.in.operand(op, 0)), row, offsets.back()}, {}, flattened(window));
  l.b.derive_valid(true);
  if (partial) l.out.set_valid(made, {merged, 2});
  l.r.set(old, made);
}

inline void flatten_place(Flattener& l, OpId op) {
  const Type& t = l.in.type(l.in.operand(op, 0));
  if (t.space != Vec && has_pages(t))
    l.refuse(op, "a batch of matrices is one tile in Vec only (" + text(t) + ")", "load and place one matrix at a time");
  l.same_on_rows(op);
}

inline void flatten_create(Flattener& l, OpId op) {
  const ValueId old = l.in.result(op);
  if (!l.plan.paged(old)) return l.same_on_rows(op);
  Pages list;
  const Type& t = l.in.type(old);
  for (std::int64_t i = 0; i < page_count(t); ++i) list.push_back(l.b.value(ops::create, {}, {}, page_type(t)));
  l.set_pages(op, old, std::move(list));
}

inline void flatten_move(Flattener& l, OpId op) {
  const ValueId old = l.in.result(op), from = l.in.operand(op, 0);
  if (l.plan.deferred(old)) return;
  if (l.pages[from.index].empty()) return l.same_on_rows(op);
  l.r.set(old, l.whole(op, from, l.in.type(old).space));
}

/// What has come to Mat from elsewhere on chip is turned in Vec.
inline void flatten_transpose_view(Flattener& l, OpId op) {
  const ValueId old = l.in.result(op), x = l.in.operand(op, 0);
  if (l.plan.deferred(old)) return;
  if (!has_pages(l.in.type(old))) {
    if (!is_moved_to_mat(l.out, l.r.map(x))) return l.touches_nd(op) ? l.same_on_rows(op) : l.keep(op);
    return l.r.set(old, transposed(l, op, l.r.map(x)));
  }
  if (!l.plan.for_products(old))
    l.refuse(op, "a batch of transposed matrices can only be an operand of matmul",
             "pass it to matmul, or transpose one matrix at a time");
  l.r.set(old, l.b.value(ops::transpose_view, {l.r.map(x)}));  // the pages stand side by side in it
}

inline void flatten_reshape(Flattener& l, OpId op) {
  const ValueId old = l.in.result(op);
  if (l.plan.deferred(old)) return;
  if (l.plan.paged(old)) return look_at_pages(l, op);
  const ValueId from = l.r.map(l.in.operand(op, 0));
  if (l.out.type(from).same_shape(flattened(l.in.type(old)))) return l.r.set(old, from);
  l.with_merged_extents(op);
}

inline void flatten_set_valid_shape(Flattener& l, OpId op) {
  const ValueId old = l.in.result(op);
  if (l.plan.paged(old)) return look_at_pages(l, op);
  const Type flat = flattened(l.in.type(old));
  Extent merged[2];
  if (!merge_valid(l.r, old, op, merged))
    for (int i = 0; i < 2; ++i) merged[i] = {flat.dims[i], {}};
  const ValueId x = l.r.map(l.in.operand(op, 0));
  l.r.set(old, l.b.value(ops::set_valid_shape, {x, l.b.value_of(merged[0]), l.b.value_of(merged[1])}, {}, flat));
}

inline void flatten_broadcast(Flattener& l, OpId op) {
  const ValueId old = l.in.result(op), x = l.in.operand(op, 0);
  const ValueId made = RowRepeater(l.b).run(l.r.map(x), l.in.type(x), l.in.type(old));
  Extent merged[2];
  if (!l.merged_extents(old, op, merged)) return l.r.set(old, made);
  l.r.set(old, l.b.with_valid(made, {merged, static_cast<std::size_t>(l.out.type(made).rank)}));
}

/// A source that is no band of the target is written page by page.
inline void flatten_assemble(Flattener& l, OpId op) {
  Builder& b = l.b;
  const ValueId old_target = l.in.operand(op, 0), old_source = l.in.operand(op, 1);
  const Type &target = l.in.type(old_target), &source = l.in.type(old_source);
  std::vector<ValueId> offsets;
  for (int i = 0; i < target.rank; ++i) offsets.push_back(l.r.map(l.in.operand(op, 2 + i)));
  const ValueId x = l.r.map(old_source), column = offsets[static_cast<std::size_t>(target.rank - 1)];
  ValueId whole = l.r.map(old_target);
  if (is_band(source, target)) {
    whole = b.value(ops::assemble, {whole, x, merged_row(b, target, offsets.data()), column});
  } else {
    const Type page = page_type(source);
    for (const std::int64_t i : l.filled_pages(old_source)) {
      std::vector<ValueId> at = offsets;
      std::int64_t coordinates[max_rank];
      page_coordinates(source, i, coordinates);
      for (std::size_t k = 0; k + 2 < source.rank; ++k) at[k] = b.add(at[k], b.index(coordinates[k]));
      const ValueId part = l.slice_page(x, page, i);
      whole = b.value(ops::assemble, {whole, part, merged_row(b, target, at.data()), column});
    }
  }
  l.r.set(l.in.result(op), whole);
}

}  // namespace tessera::detail
