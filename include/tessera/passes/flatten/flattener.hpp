// The machinery of flatten_tile_nd_to_2d: the 2-D value that stands for each tile, or one value for each of its pages, and how
// pages are taken out of a tile and put together again.
#pragma once

#include <map>
#include <utility>

#include "../pass.hpp"
#include "merge.hpp"
#include "page_plan.hpp"

namespace tessera::detail {

using Pages = std::vector<ValueId>;

/// The place of a page in the leading dims of its tile.
inline void page_coordinates(const Type& t, std::int64_t page, std::int64_t* coordinates) {
  for (int i = t.rank - 3; i >= 0; --i) {
    coordinates[i] = page % t.dims[i];
    page /= t.dims[i];
  }
}

class Flattener {
 public:
  Flattener(const Function& from, Arch arch)
      : in(from), r(from, out), b(r.build()), plan(from, arch), pages(from.value_count()) {}

  const Function& in;
  Function out;
  Rewriter r;
  Builder& b;
  PagePlan plan;
  std::vector<Pages> pages;    ///< by old value: where it is one value for each page
  std::vector<OpId> replaced;  ///< new operations that nothing may need any more

  /// The rewritten function.
  Function finish() {
    for (auto op = replaced.rbegin(); op != replaced.rend(); ++op)
      if (out[*op].parent && !out.has_uses(out.result(*op))) out.erase(*op);
    return std::move(out);
  }

  // --- reading ---
  [[nodiscard]] bool touches_nd(OpId op) const {
    const auto nd = [&](ValueId v) { return in.type(v).is_tile() && in.type(v).rank > 2; };
    for (int i = 0; i < in.operand_count(op); ++i)
      if (nd(in.operand(op, i))) return true;
    return in.result_count(op) == 1 && nd(in.result(op));
  }
  [[noreturn]] void refuse(OpId op, const std::string& what, const std::string& hint) const {
    fail(in[op].location, std::string(in.info(op).name) + ": " + what, hint);
  }

  // --- one operation to one operation ---
  /// An operation on tiles of rank 1 and 2, or on none.
  void keep(OpId op) {
    const Type requested = in.result_count(op) == 1 ? in.type(in.result(op)) : Type{};
    if (const ValueId v = r.emit_same(op, in.info(op), r.operands(op), r.attrs(op), requested)) r.set(in.result(op), v);
  }
  OpId copy(OpId op) { return r.copy_plain(op, in.result_count(op) == 1 ? flattened(in.type(in.result(op))) : Type{}); }
  /// Elementwise operations, reductions of rows, fills: what they do to each row, they do to the rows of all pages.
  void same_on_rows(OpId op) {
    if (in.info(op).valid == ValidRule::larger) return with_merged_extents(op);
    copy(op);
    if (in.result_count(op) == 0) return;
    const ValueId old = in.result(op), made = r.map(old);
    if (out.type(made) != flattened(in.type(old)))
      throw InternalError("flatten_tile_nd_to_2d: " + std::string(in.info(op).name) +
                          " does not keep its shape when it becomes 2-D");
  }
  /// As above, where the extents follow from dims that are still apart.
  void with_merged_extents(OpId op) {
    const ValueId old = in.result(op);
    Extent merged[2];
    const bool partial = merged_extents(old, op, merged);
    b.derive_valid(false);
    const ValueId made = b.value(in.info(op), r.operands(op), r.attrs(op), flattened(in.type(old)));
    b.derive_valid(true);
    if (partial) out.set_valid(made, {merged, out.type(made).rank});
    r.set(old, made);
  }
  /// The extents of what stands for `old`; false: fully valid.
  bool merged_extents(ValueId old, OpId by, Extent (&merged)[2]) {
    if (in.type(old).rank > 2) return merge_valid(r, old, by, merged);
    for (int i = 0; i < in.type(old).rank; ++i) merged[i] = r.map(in.valid(old, i));
    return !in.fully_valid(old);
  }

  // --- pages ---
  ValueId slice_page(ValueId whole, const Type& page, std::int64_t i) {
    return b.value(ops::slice, {whole, b.index(i * page.dims[0]), b.index(0)}, {}, page);
  }
  ValueId slice_columns(ValueId whole, const Type& page, std::int64_t i) {
    return b.value(ops::slice, {whole, b.index(0), b.index(i * page.dims[1])}, {}, page);
  }
  ValueId put_page(ValueId whole, ValueId page, std::int64_t row) {
    return b.value(ops::assemble, {whole, page, b.index(row), b.index(0)});
  }
  /// Page `i` of an old value: one that stands apart, or rows of the tile that holds all of them.
  ValueId page(ValueId old, std::int64_t i) {
    const Pages& list = pages[old.index];
    const ValueId apart = list.empty() ? ValueId{} : list[static_cast<std::size_t>(i)];
    if (apart) return apart;
    if (!list.empty() || !r.has(old)) throw InternalError("flatten_tile_nd_to_2d: a page is read that is nowhere");
    return slice_page(r.map(old), page_type(in.type(old)), i);
  }
  /// Whether the extents of the leading dims leave something of a page, as far as constants tell. Instructions want one row at
  /// least, so none is made for a page of which nothing is left; one that is empty in some runs only is left to them.
  [[nodiscard]] bool is_filled(ValueId old, std::int64_t page) const {
    const Type& t = in.type(old);
    std::int64_t at[max_rank] = {};
    page_coordinates(t, page, at);
    for (int i = 0; i + 2 < t.rank; ++i)
      if (const Extent e = in.valid(old, i); e.is_constant() && at[i] >= e.constant) return false;
    return true;
  }
  /// The pages of a value that hold something.
  [[nodiscard]] std::vector<std::int64_t> filled_pages(ValueId old) const {
    std::vector<std::int64_t> list;
    for (std::int64_t i = 0; i < page_count(in.type(old)); ++i)
      if (is_filled(old, i)) list.push_back(i);
    return list;
  }
  /// The pages of a result, made by `make(i)`, one below the other in a new tile.
  template <class MakePage>
  ValueId stack(OpId op, ValueId old, MemorySpace space, MakePage&& make) {
    const Type& t = in.type(old);
    const Type flat = flattened(with_space(t, space));
    ValueId whole = b.value(ops::create, {}, {}, flat);
    for (const std::int64_t i : filled_pages(old)) whole = put_page(whole, make(i), i * t.last(1));
    Extent merged[2];
    if (!merge_valid(r, old, op, merged)) return whole;
    return b.with_valid(whole, {merged, 2});
  }
  /// A paged value as one tile.
  ValueId whole(OpId op, ValueId old, MemorySpace space) {
    return stack(op, old, space, [&](std::int64_t i) { return page(old, i); });
  }
  void set_pages(OpId op, ValueId old, Pages list) {
    for (std::size_t i = 0; i < list.size() && in[old].name != 0; ++i)
      if (out[list[i]].name == 0) out.set_name(list[i], in.name_of(old));
    pages[old.index] = std::move(list);
    if (plan.needs_whole(old)) r.set(old, whole(op, old, Vec));
  }

  // --- tensors as matrices ---
  /// Whether a load reads its window from the tensor seen as a matrix: so do the instructions that write boxes. A run-time dim
  /// cannot be part of a product of dims; then the window keeps its rank.
  [[nodiscard]] bool reads_matrix(OpId load) const {
    const Type& t = in.type(in.result(load));
    return t.space == Mat && t.layout == Layout::nz && in.type(in.operand(load, 0)).has_static_shape();
  }
  /// The tensor with its leading dims as rows; made once in a block.
  ValueId matrix_of(ValueId tensor) {
    const ValueId x = r.map(tensor);
    ValueId& known = matrices_[{b.block().index, x.index}];
    if (known) return known;
    const Type& t = out.type(x);
    std::int64_t dims[2] = {1, t.last()};
    for (int i = 0; i + 1 < t.rank; ++i) dims[0] *= t.dims[i];
    return known = b.value(ops::view, {x}, {}, with_shape(t, dims, 2));
  }

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, ValueId> matrices_;  // by block and tensor (new value)
};

/// Rewrites one operation, and those in its blocks.
void flatten_operation(Flattener& l, OpId op);
struct FlattenVisitor {
  Flattener* l;
  void operator()(OpId op) const { flatten_operation(*l, op); }
};

}  // namespace tessera::detail
