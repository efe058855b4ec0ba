// Batched products: one product for each page of the result. An operand is one tile that is sliced, or is loaded or moved page by
// page (page_plan.hpp decides); the pages of the result stay apart, so that each stands in Acc and is stored from there.
#pragma once

#include "flattener.hpp"

namespace tessera::detail {

/// Pages that one product reads: by old value, number, and whether they are read transposed.
struct PageKey {
  std::uint32_t value;
  std::int64_t page;
  bool turned;
  friend constexpr auto operator<=>(const PageKey&, const PageKey&) = default;
};
using PageCache = std::map<PageKey, ValueId>;

/// The page of an operand that page number `page` of the result reads: dims of extent 1 and absent dims repeat.
inline std::int64_t broadcast_page(const Type& operand, const Type& result, std::int64_t page) {
  std::int64_t at[max_rank], n = 0;
  page_coordinates(result, page, at);
  for (int i = 0; i + 2 < operand.rank; ++i) {
    const std::int64_t own = operand.dims[i] == 1 ? 0 : at[result.rank - operand.rank + i];
    n = n * operand.dims[i] + own;
  }
  return n;
}

// --- loads ---
/// A load of `tile` from the tensor of `op` seen as a matrix; `operands`: the tensor and its offsets.
inline ValueId load_matrix(Flattener& l, OpId op, const std::vector<ValueId>& operands, const Type& tile,
                           const Extent* valid) {
  const ValueId tensor = l.in.operand(op, 0);
  const Type& t = l.in.type(tensor);
  std::vector<ValueId> made{l.matrix_of(tensor), merged_row(l.b, t, operands.data() + 1), operands[t.rank]};
  if (valid == nullptr) return l.b.value(ops::load, made, {}, tile);
  for (int i = 0; i < 2; ++i) made.push_back(l.b.value_of(valid[i]));
  const Attr stated = int_attr(AttrKey::has_valid, 1);
  return l.b.value(ops::load, made, {&stated, 1}, tile);
}
/// The valid extents of a page: nothing where the page itself is not. False: fully valid.
inline bool page_extents(Flattener& l, ValueId v, const std::int64_t* at, Extent (&valid)[2]) {
  if (l.in.fully_valid(v)) return false;
  const Type& t = l.in.type(v);
  ValueId rows = l.b.value_of(l.r.map(l.in.valid(v, t.rank - 2)));
  for (int i = 0; i + 2 < t.rank; ++i) {
    const Extent e = l.r.map(l.in.valid(v, i));
    if (e == Extent{t.dims[i], {}}) continue;
    const ValueId left = l.b.max(l.b.sub(l.b.value_of(e), l.b.index(at[i])), l.b.index(0));
    rows = l.b.mul(rows, l.b.min(left, l.b.index(1)));
  }
  valid[0] = l.b.extent_of(rows);
  valid[1] = l.r.map(l.in.valid(v, t.rank - 1));
  return valid[0] != Extent{t.last(1), {}} || valid[1] != Extent{t.last(), {}};
}
inline ValueId load_page(Flattener& l, OpId op, std::int64_t page) {
  const ValueId v = l.in.result(op);
  const Type& t = l.in.type(v);
  std::int64_t at[max_rank] = {}, box[max_rank];
  page_coordinates(t, page, at);
  std::vector<ValueId> operands = l.r.operands(op);
  operands.resize(1u + t.rank);
  for (int i = 0; i < t.rank; ++i) {
    box[i] = i + 2 < t.rank ? 1 : t.dims[i];
    ValueId& offset = operands[static_cast<std::size_t>(1 + i)];
    if (i + 2 < t.rank) offset = l.b.add(offset, l.b.index(at[i]));
  }
  Extent valid[2];
  const bool partial = page_extents(l, v, at, valid);
  if (l.reads_matrix(op)) return load_matrix(l, op, operands, page_type(t), partial ? valid : nullptr);
  std::vector<Attr> attrs{l.out.list_attr(AttrKey::window, {box, t.rank})};
  if (l.in.attr(op, AttrKey::has_valid) != 0) {
    attrs.push_back(int_attr(AttrKey::has_valid, 1));
    for (int i = 0; i + 2 < t.rank; ++i) operands.push_back(l.b.index(1));
    for (int i = 0; i < 2; ++i) operands.push_back(partial ? l.b.value_of(valid[i]) : l.b.index(page_type(t).dims[i]));
  }
  const ValueId made = l.b.value(ops::load, operands, attrs, page_type(t));
  if (partial) l.out.set_valid(made, {valid, 2});
  return made;
}
/// A load that only products read page by page.
inline void defer_load(Flattener& l, OpId op) {
  const ValueId v = l.in.result(op);
  const PagePlan::Place place = l.plan.place_of_pages(v);
  if (place == PagePlan::Place::use) return;
  if (place == PagePlan::Place::nowhere)
    l.refuse(op,
             "the matrices do not fit Mat together, and the tensor is written before they are multiplied (" +
                 std::to_string(l.plan.pages_bytes(v)) + " of " + std::to_string(capacity(Mat, l.plan.arch())) + " bytes)",
             "load one matrix at a time, or multiply before the tensor is written");
  for (std::int64_t i = 0; i < page_count(l.in.type(v)); ++i) l.pages[v.index].push_back(l.is_filled(v, i) ? load_page(l, op, i) : ValueId{});
}

// --- operands ---
/// Whether a tile has come to Mat from Vec or Acc: only what is loaded to Mat can be read transposed there.
[[nodiscard]] inline bool is_moved_to_mat(const Function& f, ValueId v) {
  const OpId def = f.definition(v);
  return def && f.is(def, ops::move) && f.type(v).space == Mat;
}
/// A matrix that is read transposed: in Mat it is looked at, elsewhere it is turned in Vec.
inline ValueId transposed(Flattener& l, OpId op, ValueId x) {
  const Type t = l.out.type(x);
  if (t.space == Acc) x = l.b.value(ops::move, {x}, {}, with_space(t, Vec));
  if (t.space == Acc || t.space == Vec)
    return l.b.value(ops::transpose, {x, l.b.value(ops::create, {}, {}, scratch_type(ops::transpose, l.out.type(x)))});
  const OpId def = l.out.definition(x);
  const bool moved = def && l.out.is(def, ops::move);
  if (t.space == Mat && !moved) return l.b.value(ops::transpose_view, {x});
  if (!moved || (t.space != Mat && l.out.type(l.out.operand(def, 0)).space != Mat))
    l.refuse(op, "a transposed operand is in a space where it cannot be turned (" + std::string(name(t.space)) + ")",
             "load it to Mat, and write matmul(a, transpose(b)) on tensors");
  if (t.space == Mat && !can_move(Vec, Mat, l.plan.arch()))
    l.refuse(op,
             "what is made on chip cannot be read transposed on " + std::string(name(l.plan.arch())) +
                 " (no instruction goes from Vec to Mat)",
             "store the tile to a tensor and load it to Mat");
  const ValueId turned = transposed(l, op, l.out.operand(def, 0));
  l.replaced.push_back(def);
  return l.b.value(ops::move, {turned}, {}, with_space(l.out.type(turned), t.space));
}
/// Whether the pages of a tile stand side by side in the 2-D tile: it is read transposed. No other look at such a tile is one of
/// whole pages: a reshape has the layout of its space.
[[nodiscard]] inline bool pages_are_columns(const Flattener& l, ValueId v) {
  const OpId def = l.in.definition(v);
  return def && has_pages(l.in.type(v)) && l.in.is(def, ops::transpose_view) && !pages_are_columns(l, l.in.operand(def, 0));
}

ValueId page_of(Flattener& l, OpId op, ValueId v, std::int64_t i, bool turned, PageCache& cache);

/// Page `i` of a tile that holds all of them.
inline ValueId page_of_whole(Flattener& l, OpId op, ValueId v, std::int64_t i, bool turned, PageCache& cache) {
  const Type& t = l.in.type(v);
  const Type page = page_type(t);
  const ValueId whole = l.r.map(v);
  const bool in_mat = t.space == Mat, columns = in_mat && pages_are_columns(l, v);
  if (in_mat && (columns ? stored(page).dims[1] != page.dims[1] : !pages_are_whole_boxes(t)))
    l.refuse(op, "a matrix of the batch starts inside a box (" + std::to_string(columns ? t.last() : t.last(1)) + " rows in each)",
             "use a multiple of " + std::to_string(block_elements(t.dtype) > 16 ? block_elements(t.dtype) : 16) +
                 " rows, or pass what load(...) gives to matmul only");
  if (!turned) return columns ? l.slice_columns(whole, page, i) : l.slice_page(whole, page, i);
  if (columns) return page_of(l, op, l.in.operand(l.in.definition(v), 0), i, false, cache);
  if (!in_mat) return transposed(l, op, l.slice_page(whole, page, i));
  ValueId& view = cache[{v.index, -1, true}];
  if (!view) view = l.b.value(ops::transpose_view, {whole});
  Type side = page;
  side.dims[0] = page.dims[1];
  side.dims[1] = page.dims[0];
  return l.slice_columns(view, side, i);
}
/// Page `i` of what is made page by page: of a load, or of a move or view of something else.
inline ValueId page_of_deferred(Flattener& l, OpId op, ValueId v, std::int64_t i, bool turned, PageCache& cache) {
  const OpId def = l.in.definition(v);
  const Location outer = l.b.location();
  ValueId made;
  if (l.in.is(def, ops::load)) {
    l.b.at(l.in[def].location);
    made = load_page(l, def, i);
    l.b.at(outer);
    return turned ? transposed(l, op, made) : made;
  }
  if (l.in.is(def, ops::transpose)) l.b.at(l.in[def].location);
  made = page_of(l, op, l.in.operand(def, 0), i, l.plan.turns_pages(def) != turned, cache);
  l.b.at(l.in[def].location);
  if (l.in.is(def, ops::move)) made = l.b.value(ops::move, {made}, {}, with_space(l.out.type(made), l.in.type(v).space));
  l.b.at(outer);
  return made;
}
/// Page `i` of an old value as a 2-D value; `turned`: read transposed.
inline ValueId page_of(Flattener& l, OpId op, ValueId v, std::int64_t i, bool turned, PageCache& cache) {
  const bool one = !has_pages(l.in.type(v));
  if (one && !turned) return l.r.map(v);
  const PageKey key{v.index, i, turned};
  if (const auto known = cache.find(key); known != cache.end()) return known->second;
  ValueId made;
  if (one || !l.pages[v.index].empty()) {
    made = one ? l.r.map(v) : l.page(v, i);
    if (turned) made = transposed(l, op, made);
  } else {
    made = l.plan.deferred(v) ? page_of_deferred(l, op, v, i, turned, cache) : page_of_whole(l, op, v, i, turned, cache);
  }
  return cache[key] = made;
}

// --- products ---
/// Whether both factors of a page of the result hold something; else it is not defined.
[[nodiscard]] inline bool has_factors(const Flattener& l, OpId op, std::int64_t page) {
  const Type& result = l.in.type(l.in.result(op));
  for (int k = 0; k < 2; ++k) {
    const ValueId v = l.in.operand(op, l.in.info(op).first_factor + k);
    if (!l.is_filled(v, broadcast_page(l.in.type(v), result, page))) return false;
  }
  return true;
}
inline ValueId product_page(Flattener& l, OpId op, std::int64_t i, PageCache& cache) {
  const int first = l.in.info(op).first_factor;
  const Type& result = l.in.type(l.in.result(op));
  std::vector<ValueId> operands;
  if (first == 1) {
    const ValueId acc = l.in.operand(op, 0);
    if (has_pages(l.in.type(acc)) && l.pages[acc.index].empty())
      l.refuse(op, "the accumulator of a batch is a part of another tile (rank " + std::to_string(l.in.type(acc).rank) + ")",
               "begin with matmul, or with storage of the shape of the batch");
    operands.push_back(page_of(l, op, acc, i, false, cache));
  }
  // Loops and branches carry what is not defined all the same.
  if (has_pages(result) && !has_factors(l, op, i)) return first == 1 ? operands[0] : l.b.value(ops::create, {}, {}, page_type(result));
  for (int k = 0; k < 2; ++k) {
    const ValueId old = l.in.operand(op, first + k);
    const bool turned = l.in.attr(op, k == 0 ? AttrKey::transpose_lhs : AttrKey::transpose_rhs) != 0;
    operands.push_back(page_of(l, op, old, broadcast_page(l.in.type(old), result, i), turned, cache));
  }
  std::vector<Attr> attrs;
  for (const Attr& a : l.r.attrs(op))
    if (a.key != AttrKey::transpose_lhs && a.key != AttrKey::transpose_rhs) attrs.push_back(a);
  return l.b.value(l.in.info(op), operands, attrs);
}
inline void flatten_product(Flattener& l, OpId op) {
  const ValueId old = l.in.result(op);
  PageCache cache;
  if (!has_pages(l.in.type(old))) return l.r.set(old, product_page(l, op, 0, cache));
  if (l.plan.fused_store(op)) return;  // made where it is stored
  Pages list;
  for (std::int64_t i = 0; i < page_count(l.in.type(old)); ++i) list.push_back(product_page(l, op, i, cache));
  l.set_pages(op, old, std::move(list));
}
/// Other extents of each page, or the same pages in other leading dims.
inline void look_at_pages(Flattener& l, OpId op) {
  const ValueId old = l.in.result(op), from = l.in.operand(op, 0);
  const Type& t = l.in.type(old);
  Pages list;
  for (std::int64_t i = 0; i < page_count(t); ++i) {
    const ValueId page = l.page(from, i);
    std::int64_t at[max_rank];
    page_coordinates(t, i, at);
    Extent valid[2] = {{page_type(t).dims[0], {}}, {page_type(t).dims[1], {}}};
    const bool stated = l.in.is(op, ops::set_valid_shape) && l.is_filled(old, i);
    if (stated) static_cast<void>(page_extents(l, old, at, valid));
    list.push_back(stated ? l.b.value(ops::set_valid_shape, {page, l.b.value_of(valid[0]), l.b.value_of(valid[1])}) : page);
  }
  l.set_pages(op, old, std::move(list));
}
/// Each page where it belongs; those of a product that nothing else reads are made here.
inline void store_pages(Flattener& l, OpId op) {
  const ValueId v = l.in.operand(op, 0), tensor = l.in.operand(op, 1);
  const Type& t = l.in.type(v);
  const int rank = l.in.type(tensor).rank, outer = rank - t.rank;
  std::int64_t box[max_rank];
  for (int i = 0; i < rank; ++i) box[i] = i + 2 < rank ? 1 : t.dims[i - outer];
  const OpId def = l.in.definition(v);
  const bool product = def && l.in.info(def).first_factor >= 0, fused = product && l.plan.fused_store(def) == op;
  PageCache cache;
  for (const std::int64_t i : l.filled_pages(v)) {
    if (product && !has_factors(l, def, i)) continue;
    if (fused) l.b.at(l.in[def].location);
    const ValueId made = fused ? product_page(l, def, i, cache) : l.page(v, i);
    l.b.at(l.in[op].location);
    std::int64_t at[max_rank] = {};
    page_coordinates(t, i, at);
    std::vector<ValueId> operands{made, l.r.map(tensor)};
    for (int k = 0; k < rank; ++k) {
      const ValueId offset = l.r.map(l.in.operand(op, 2 + k));
      const bool page_dim = k >= outer && k + 2 < rank;
      operands.push_back(page_dim ? l.b.add(offset, l.b.index(at[k - outer])) : offset);
    }
    std::vector<Attr> attrs = l.r.attrs(op);
    attrs.push_back(l.out.list_attr(AttrKey::window, {box, static_cast<std::size_t>(rank)}));
    l.b.emit(ops::store, operands, attrs);
  }
}

}  // namespace tessera::detail
