// flatten_tile_nd_to_2d: tiles of rank > 2 become 2-D ([2,3,4] becomes [6,4]); the batched product becomes one product per
// page. A load or store keeps the box of the tensor that it covers in the attribute `window`; tiles of rank 1 and 2 stay.
#pragma once

#include <map>
#include <utility>

#include "flatten/broadcast.hpp"
#include "flatten/columns.hpp"
#include "flatten/merge.hpp"
#include "flatten/page_plan.hpp"
#include "pass.hpp"

namespace tessera {
namespace detail {

class Flatten {
 public:
  explicit Flatten(const Function& in) : in_(in), r_(in, out_), b_(r_.build()), plan_(in), pages_(in.value_count()) {}

  Function run() {
    r_.copy_parameters();
    r_.run(visitor());
    return std::move(out_);
  }

 private:
  using Pages = std::vector<ValueId>;
  using Cache = std::map<std::pair<std::uint32_t, std::int64_t>,
                         ValueId>;  // pages that one product reads, by old value and number

  struct Visitor {
    Flatten* self;
    void operator()(OpId op) const { self->visit(op); }
  };
  Visitor visitor() { return {this}; }

  // --- which rewrite ---
  void visit(OpId op) {
    const OpInfo& info = in_.info(op);
    if (info.level == Level::control) return control(op);
    check_shapes(op);
    if (in_.info(op).first_factor >= 0) return product(op);
    if (in_.is(op, ops::transpose) && in_.type(in_.operand(op, 0)).is_tile()) return transpose(op);
    if (in_.is(op, ops::broadcast_to)) return broadcast(op);
    if (!touches_nd(op)) return keep(op);
    if (in_.result_count(op) == 1 && plan_.deferred(in_.result(op))) return defer(op);
    if (in_.is(op, ops::create) && plan_.paged(in_.result(op))) return create_pages(op);
    if (in_.is(op, ops::load)) return load(op);
    if (in_.is(op, ops::store)) return store(op);
    if (in_.is(op, ops::move) && plan_.paged(in_.operand(op, 0))) return move_paged(op);
    if (in_.is(op, ops::transpose_view) && has_pages(in_.type(in_.result(op))))
      refuse(op, "a batch of transposed matrices can only be an operand of matmul",
             "pass it to matmul, or transpose one matrix at a time");
    if (info.valid == ValidRule::col_reduce && has_pages(in_.type(in_.operand(op, 0)))) return reduce_rows_by_page(op);
    if (in_.is(op, ops::fillpad_expand)) return fillpad_expand(op);
    if (in_.is(op, ops::assemble)) return assemble(op);
    if (in_.is(op, ops::reshape)) return reshape(op);
    if (in_.is(op, ops::set_valid_shape)) return set_valid_shape(op);
    if (in_.is(op, ops::slice) && is_band(in_.type(in_.result(op)), in_.type(in_.operand(op, 0)))) return slice_band(op);
    if (in_.is(op, ops::slice))
      refuse(op, "the window of a tile of rank above 2 is not one band of rows (" + text(in_.type(in_.result(op))) + " of " + text(in_.type(in_.operand(op, 0))) + ")",
             "behind its first dim above 1 cover every dim but the last whole, or load the part that is needed from the tensor");
    if (in_.is(op, ops::read) || in_.is(op, ops::write))
      refuse(op,
             "not supported on tiles of rank above 2 (rank " + std::to_string(in_.type(in_.operand(op, 0)).rank) + ")",
             "reshape the tile to 2-D first, or load the part that is needed from the tensor");
    same_on_rows(op);
  }

  [[nodiscard]] bool touches_nd(OpId op) const {
    const auto nd = [&](ValueId v) { return in_.type(v).is_tile() && in_.type(v).rank > 2; };
    for (int i = 0; i < in_.operand_count(op); ++i)
      if (nd(in_.operand(op, i))) return true;
    return in_.result_count(op) == 1 && nd(in_.result(op));
  }
  [[noreturn]] void refuse(OpId op, const std::string& what, const std::string& hint) const {
    fail(in_[op].location, std::string(in_.info(op).name) + ": " + what, hint);
  }
  void check_shapes(OpId op) const {
    const auto check = [&](ValueId v) {
      const Type& t = in_.type(v);
      if (!t.is_tile()) return;
      for (int i = 0; i < t.rank; ++i)
        if (is_dynamic(t.dims[i]))
          refuse(op,
                 "a tile with a run-time dim cannot be flattened to 2D (axis " + std::to_string(i) + ": " +
                     dim_text(t.dims[i]) + ")",
                 "loop over chunks of a static size and give valid(...) for the tail, or reshape the tensor before the "
                 "kernel");
    };
    for (int i = 0; i < in_.operand_count(op); ++i) check(in_.operand(op, i));
    if (in_.result_count(op) == 1) check(in_.result(op));
  }

  // --- one operation to one operation ---
  void keep(OpId op) {
    const Type requested = in_.result_count(op) == 1 ? in_.type(in_.result(op)) : Type{};
    if (const ValueId v = r_.emit_same(op, in_.info(op), r_.operands(op), r_.attrs(op), requested))
      r_.set(in_.result(op), v);
  }
  OpId copy(OpId op) {
    return r_.copy_plain(op, in_.result_count(op) == 1 ? flattened(in_.type(in_.result(op))) : Type{});
  }

  // Elementwise operations, reductions of rows, fills: what they do to each row, they do to the rows of all pages.
  void same_on_rows(OpId op) {
    if (in_.info(op).valid == ValidRule::larger) return larger_on_rows(op);
    copy(op);
    if (in_.result_count(op) == 0) return;
    const ValueId old = in_.result(op), made = r_.map(old);
    if (out_.type(made) != flattened(in_.type(old)))
      throw InternalError("flatten_tile_nd_to_2d: " + std::string(in_.info(op).name) +
                          " does not keep its shape when it becomes 2-D");
  }
  // Which operand is the larger one is known of the extents that are still apart.
  void larger_on_rows(OpId op) {
    const ValueId old = in_.result(op);
    Extent merged[2];
    const bool partial = merge_valid(r_, old, op, merged);
    b_.derive_valid(false);
    const ValueId made = b_.value(in_.info(op), r_.operands(op), r_.attrs(op), flattened(in_.type(old)));
    b_.derive_valid(true);
    if (partial) out_.set_valid(made, {merged, 2});
    r_.set(old, made);
  }
  void load(OpId op) {
    const ValueId old = in_.result(op);
    const Type& t = in_.type(old);
    if (t.space == Mat && has_pages(t) && !is_band(t, in_.type(in_.operand(op, 0))))
      refuse(op, "a window in Mat must be one band of rows of the tensor",
             "cover the inner dims whole, or load one [1,..,M,K] window at a time");
    Extent merged[2];  // first: index arithmetic stands in front of the load
    const bool partial = merge_valid(r_, old, op, merged);
    std::vector<Attr> attrs = r_.attrs(op);
    attrs.push_back(out_.list_attr(AttrKey::window, {t.dims, t.rank}));
    const ValueId made = b_.value(ops::load, r_.operands(op), attrs, flattened(t));
    if (partial) out_.set_valid(made, {merged, 2});
    r_.set(old, made);
  }
  void slice_band(OpId op) {
    const ValueId old = in_.result(op);
    const Type& from = in_.type(in_.operand(op, 0));
    std::vector<ValueId> offsets;
    for (int i = 0; i < from.rank; ++i) offsets.push_back(r_.map(in_.operand(op, 1 + i)));
    Extent merged[2];
    const bool partial = merge_valid(r_, old, op, merged);
    const ValueId row = merged_row(b_, from, offsets.data());
    b_.derive_valid(false);
    const ValueId made = b_.value(ops::slice, {r_.map(in_.operand(op, 0)), row, offsets.back()}, {}, flattened(in_.type(old)));
    b_.derive_valid(true);
    if (partial) out_.set_valid(made, {merged, 2});
    r_.set(old, made);
  }
  void reshape(OpId op) {
    const ValueId from = r_.map(in_.operand(op, 0));
    const Type to = flattened(in_.type(in_.result(op)));
    if (out_.type(from).same_shape(to)) return r_.set(in_.result(op), from);
    copy(op);
  }
  void set_valid_shape(OpId op) {
    const ValueId old = in_.result(op);
    Extent merged[2];
    if (!merge_valid(r_, old, op, merged)) {
      const Type flat = flattened(in_.type(old));
      merged[0] = {flat.dims[0], {}};
      merged[1] = {flat.dims[1], {}};
    }
    r_.set(old,
           b_.value(ops::set_valid_shape, {r_.map(in_.operand(op, 0)), b_.value_of(merged[0]), b_.value_of(merged[1])},
                    {}, flattened(in_.type(old))));
  }

  void broadcast(OpId op) {
    const ValueId old = in_.result(op), x = in_.operand(op, 0);
    const ValueId made = RowRepeater(b_).run(r_.map(x), in_.type(x), in_.type(old));
    if (in_.fully_valid(old)) return r_.set(old, made);
    std::vector<ValueId> operands{made};
    if (Extent merged[2]; in_.type(old).rank > 2) {
      merge_valid(r_, old, op, merged);
      for (const Extent& e : merged) operands.push_back(b_.value_of(e));
    } else {
      for (int i = 0; i < in_.type(old).rank; ++i) operands.push_back(b_.value_of(r_.map(in_.valid(old, i))));
    }
    r_.set(old, b_.value(ops::set_valid_shape, operands));
  }

  // --- page by page ---
  ValueId slice_page(ValueId whole, const Type& page, std::int64_t i) {
    return b_.value(ops::slice, {whole, b_.index(i * page.dims[0]), b_.index(0)}, {}, page);
  }
  ValueId put_page(ValueId whole, ValueId page, std::int64_t row) {
    return b_.value(ops::assemble, {whole, page, b_.index(row), b_.index(0)});
  }
  // How many pages hold something, as far as that is known: instructions want one row at least.
  [[nodiscard]] std::int64_t filled_pages(ValueId v) const {
    const Type& t = in_.type(v);
    std::int64_t n = 1;
    for (int i = 0; i + 2 < t.rank; ++i) n *= in_.valid(v, i).is_constant() ? in_.valid(v, i).constant : t.dims[i];
    return n;
  }
  // The pages of a result, made by `page(i)`, one below the other in a new tile.
  template <class MakePage>
  ValueId stack(OpId op, ValueId old, MemorySpace space, MakePage&& page) {
    const Type& t = in_.type(old);
    const Type flat = flattened(with_space(t, space));
    ValueId whole = b_.value(ops::create, {}, {}, flat);
    for (std::int64_t i = 0; i < filled_pages(old); ++i) whole = put_page(whole, page(i), i * t.last(1));
    Extent merged[2];
    if (!merge_valid(r_, old, op, merged)) return whole;
    return b_.value(ops::set_valid_shape, {whole, b_.value_of(merged[0]), b_.value_of(merged[1])}, {}, flat);
  }
  // One scratch tile for all pages; that of the whole operand is dropped where nothing else has it.
  ValueId page_scratch(OpId op, const Type& page) {
    if (const int own = scratch_operand(in_.info(op)); in_.operand_count(op) > own) {
      const ValueId old = in_.operand(op, own), whole = r_.map(old);
      int uses = 0;
      in_.for_each_use(old, [&](OpId, int) { ++uses; });
      if (uses == 1 && out_.definition(whole) && out_.is(out_.definition(whole), ops::create)) out_.erase(out_.definition(whole));
    }
    return b_.value(ops::create, {}, {}, scratch_type(in_.info(op), page));
  }
  // Rows of one page are reduced, never those of two.
  void reduce_rows_by_page(OpId op) {
    const ValueId x = r_.map(in_.operand(op, 0)), old = in_.result(op);
    const Type page = page_type(in_.type(in_.operand(op, 0)));
    if (page.last() == 1) return reduce_columns_by_page(op);
    const std::vector<Attr> attrs = r_.attrs(op);
    const OpInfo& info = in_.info(op);
    std::vector<ValueId> operands{x};
    if (info.scratch != ScratchRule::none) operands.push_back(page_scratch(op, page));
    r_.set(old, stack(op, old, out_.type(x).space, [&](std::int64_t i) {
      operands[0] = slice_page(x, page, i);
      return b_.value(info, operands, attrs);
    }));
  }
  // A page of one column starts inside a block: it is repeated to whole blocks, of whose results the first column is taken.
  void reduce_columns_by_page(OpId op) {
    const ValueId old = in_.result(op), x = repeated_to_blocks(b_, r_.map(in_.operand(op, 0)));
    const Type &t = in_.type(in_.operand(op, 0)), flat = flattened(in_.type(old));
    const std::int64_t rows = t.last(1), pages = page_count(t), cols = out_.type(x).last(), dims[] = {rows, cols}, all[] = {pages, cols};
    const Type page = with_shape(out_.type(x), dims, 2);
    const std::vector<Attr> attrs = r_.attrs(op);
    std::vector<ValueId> operands{x};
    if (in_.info(op).scratch != ScratchRule::none) operands.push_back(page_scratch(op, page));
    ValueId made = b_.value(ops::create, {}, {}, with_shape(with_dtype(out_.type(x), flat.dtype), all, 2));
    for (std::int64_t i = 0; i < filled_pages(old); ++i) {
      operands[0] = slice_page(x, page, i);
      made = put_page(made, b_.value(in_.info(op), operands, attrs), i);
    }
    Extent merged[2];
    if (!merge_valid(r_, old, op, merged)) return r_.set(old, b_.value(ops::slice, {made, b_.index(0), b_.index(0)}, {}, flat));
    const ValueId window[] = {made, b_.index(0), b_.index(0), b_.value_of(merged[0]), b_.value_of(merged[1])};
    r_.set(old, b_.value(ops::slice, {window, 5}, {int_attr(AttrKey::has_valid, 1)}, flat));
  }
  // Rows that are added follow those of each page.
  void fillpad_expand(OpId op) {
    const ValueId old = in_.result(op), x = r_.map(in_.operand(op, 0));
    const Type from = in_.type(in_.operand(op, 0)), &to = in_.type(old);
    if (!has_pages(from) || from.last(1) == to.last(1)) return same_on_rows(op);
    const std::vector<Attr> attrs = r_.attrs(op);
    r_.set(old, stack(op, old, out_.type(x).space, [&](std::int64_t i) {
      return b_.value(ops::fillpad_expand, {slice_page(x, page_type(from), i)}, attrs, page_type(to));
    }));
  }
  void transpose(OpId op) {
    const ValueId old_x = in_.operand(op, 0), old = in_.result(op);
    const Type& t = in_.type(old_x);
    const auto axis = [&](AttrKey key, std::int64_t otherwise) {
      const std::int64_t a = in_.attr(op, key, otherwise);
      return a < 0 ? a + t.rank : a;
    };
    const std::int64_t a = axis(AttrKey::axis, -2), b = axis(AttrKey::other_axis, -1);
    if (a == b) return r_.set(old, r_.map(old_x));
    if (a + b != 2 * t.rank - 3)
      refuse(op,
             "only the last two axes of a tile can be exchanged (axes " + std::to_string(a) + " and " +
                 std::to_string(b) + ")",
             "store the tile and load it with other offsets, or exchange the axes outside the kernel");
    const ValueId x = r_.map(old_x);
    const Type page = t.rank > 2 ? page_type(t) : out_.type(x);
    const int own = scratch_operand(ops::transpose);
    const ValueId scratch = in_.operand_count(op) > own && t.rank <= 2
                                ? r_.map(in_.operand(op, own))
                                : b_.value(ops::create, {}, {}, scratch_type(ops::transpose, page));
    if (!has_pages(t)) return r_.set(old, b_.value(ops::transpose, {x, scratch}));
    r_.set(old, stack(op, old, out_.type(x).space,
                      [&](std::int64_t i) { return b_.value(ops::transpose, {slice_page(x, page, i), scratch}); }));
  }
  void assemble(OpId op) {
    const ValueId old_target = in_.operand(op, 0), old_source = in_.operand(op, 1);
    const Type &target = in_.type(old_target), &source = in_.type(old_source);
    std::vector<ValueId> offsets;
    for (int i = 0; i < target.rank; ++i) offsets.push_back(r_.map(in_.operand(op, 2 + i)));
    const ValueId x = r_.map(old_source), column = offsets[static_cast<std::size_t>(target.rank - 1)];
    ValueId whole = r_.map(old_target);
    if (is_band(source, target)) {
      whole = b_.value(ops::assemble, {whole, x, merged_row(b_, target, offsets.data()), column});
    } else {
      const Type page = page_type(source);
      for (std::int64_t i = 0; i < page_count(source); ++i) {
        std::vector<ValueId> at = offsets;
        std::int64_t coordinates[max_rank];
        page_coordinates(source, i, coordinates);
        for (int k = 0; k + 2 < source.rank; ++k)
          at[static_cast<std::size_t>(k)] = b_.add(at[static_cast<std::size_t>(k)], b_.index(coordinates[k]));
        const ValueId part = slice_page(x, page, i);
        whole = b_.value(ops::assemble, {whole, part, merged_row(b_, target, at.data()), column});
      }
    }
    r_.set(in_.result(op), whole);
  }

  // --- products ---
  static void page_coordinates(const Type& t, std::int64_t page, std::int64_t* coordinates) {
    for (int i = t.rank - 3; i >= 0; --i) {
      coordinates[i] = page % t.dims[i];
      page /= t.dims[i];
    }
  }
  // The page of an operand that page number `page` of the result reads: dims of extent 1 and absent dims repeat.
  static std::int64_t broadcast_page(const Type& operand, const Type& result, std::int64_t page) {
    std::int64_t at[max_rank], n = 0;
    page_coordinates(result, page, at);
    for (int i = 0; i + 2 < operand.rank; ++i) {
      const std::int64_t own = operand.dims[i] == 1 ? 0 : at[result.rank - operand.rank + i];
      n = n * operand.dims[i] + own;
    }
    return n;
  }

  void defer(OpId op) {
    const ValueId v = in_.result(op);
    if (!in_.is(op, ops::load) || plan_.lazy(v)) return;
    Pages& pages = pages_[v.index];
    for (std::int64_t i = 0; i < page_count(in_.type(v)); ++i) pages.push_back(load_page(op, i));
  }
  ValueId load_page(OpId op, std::int64_t page) {
    const ValueId v = in_.result(op);
    const Type& t = in_.type(v);
    std::int64_t at[max_rank] = {}, box[max_rank];
    page_coordinates(t, page, at);
    std::vector<ValueId> operands = r_.operands(op);
    const bool has_valid = in_.attr(op, AttrKey::has_valid) != 0;
    for (int i = 0; i < t.rank; ++i) {
      const bool outer = i + 2 < t.rank;
      box[i] = outer ? 1 : t.dims[i];
      if (!outer) continue;
      ValueId& offset = operands[static_cast<std::size_t>(1 + i)];
      offset = b_.add(offset, b_.index(at[i]));
      if (has_valid) operands[static_cast<std::size_t>(1 + t.rank + i)] = b_.index(1);
    }
    std::vector<Attr> attrs = r_.attrs(op);
    attrs.push_back(out_.list_attr(AttrKey::window, {box, t.rank}));
    const ValueId made = b_.value(ops::load, operands, attrs, page_type(t));
    if (!in_.fully_valid(v)) out_.set_valid(made, {r_.map(in_.valid(v, t.rank - 2)), r_.map(in_.valid(v, t.rank - 1))});
    return made;
  }
  // Page `i` of an old value, as a 2-D value.
  ValueId page(ValueId v, std::int64_t i, Cache& cache) {
    const Type& t = in_.type(v);
    if (!has_pages(t)) return r_.map(v);
    if (!pages_[v.index].empty()) return pages_[v.index][static_cast<std::size_t>(i)];
    const auto known = cache.find({v.index, i});
    if (known != cache.end()) return known->second;
    const OpId def = in_.definition(v);
    const Location outer = b_.location();
    ValueId made;
    if (!plan_.deferred(v)) {
      made = slice_page(r_.map(v), page_type(t), i);
    } else if (in_.is(def, ops::load)) {
      b_.at(in_[def].location);
      made = load_page(def, i);
    } else {
      made = page(in_.operand(def, 0), i, cache);
      b_.at(in_[def].location);
      if (!in_.is(def, ops::reshape)) made = b_.value(in_.info(def), {made}, r_.attrs(def), page_type(t));
    }
    b_.at(outer);
    cache[{v.index, i}] = made;
    return made;
  }
  // A factor that is read transposed, once the attribute is gone.
  ValueId transposed(OpId op, ValueId x) {
    const Type t = out_.type(x);
    if (t.space == Mat) return b_.value(ops::transpose_view, {x});
    if (t.space == Vec) return b_.value(ops::transpose, {x, b_.value(ops::create, {}, {}, t)});
    const OpId def = out_.definition(x);
    if (!def || !out_.is(def, ops::move) || out_.type(out_.operand(def, 0)).space != Mat)
      refuse(op, "a transposed operand is in a space where it cannot be turned (" + std::string(name(t.space)) + ")",
             "use transpose_view(...) on the tile in Mat");
    const ValueId turned = b_.value(ops::transpose_view, {out_.operand(def, 0)});
    return b_.value(ops::move, {turned}, {}, with_space(out_.type(turned), t.space));
  }
  ValueId product_page(OpId op, std::int64_t i, Cache& cache) {
    const int first = in_.info(op).first_factor;
    const Type& result = in_.type(in_.result(op));
    std::vector<ValueId> operands;
    if (first == 1) operands.push_back(page(in_.operand(op, 0), i, cache));
    for (int k = 0; k < 2; ++k) {
      const ValueId old = in_.operand(op, first + k);
      ValueId x = page(old, broadcast_page(in_.type(old), result, i), cache);
      if (in_.attr(op, k == 0 ? AttrKey::transpose_lhs : AttrKey::transpose_rhs) != 0) x = transposed(op, x);
      operands.push_back(x);
    }
    std::vector<Attr> attrs;
    for (const Attr& a : r_.attrs(op))
      if (a.key != AttrKey::transpose_lhs && a.key != AttrKey::transpose_rhs) attrs.push_back(a);
    return b_.value(in_.info(op), operands, attrs);
  }
  void product(OpId op) {
    const ValueId old = in_.result(op);
    Cache cache;
    if (!has_pages(in_.type(old))) return r_.set(old, product_page(op, 0, cache));
    if (plan_.fused_store(op)) return;  // made where it is stored
    Pages pages;
    for (std::int64_t i = 0; i < page_count(in_.type(old)); ++i) pages.push_back(product_page(op, i, cache));
    set_pages(op, old, std::move(pages));
  }
  void create_pages(OpId op) {
    Pages pages;
    const Type& t = in_.type(in_.result(op));
    for (std::int64_t i = 0; i < page_count(t); ++i) pages.push_back(b_.value(ops::create, {}, {}, page_type(t)));
    set_pages(op, in_.result(op), std::move(pages));
  }
  void set_pages(OpId op, ValueId old, Pages pages) {
    for (std::size_t i = 0; i < pages.size() && in_[old].name != 0; ++i)
      if (out_[pages[i]].name == 0) out_.set_name(pages[i], in_.name_of(old));
    pages_[old.index] = std::move(pages);
    if (plan_.needs_whole(old)) r_.set(old, whole(op, old, Vec));
  }
  ValueId whole(OpId op, ValueId old, MemorySpace space) {
    return stack(op, old, space, [&](std::int64_t i) { return pages_[old.index][static_cast<std::size_t>(i)]; });
  }
  void move_paged(OpId op) {
    const ValueId old = in_.operand(op, 0);
    r_.set(in_.result(op), whole(op, old, in_.type(in_.result(op)).space));
  }

  void store(OpId op) {
    const ValueId v = in_.operand(op, 0), tensor = in_.operand(op, 1);
    const Type& t = in_.type(v);
    const int rank = in_.type(tensor).rank, outer = rank - t.rank;
    std::int64_t box[max_rank];
    for (int i = 0; i < rank; ++i) box[i] = i < outer ? 1 : t.dims[i - outer];
    if (!plan_.paged(v)) {
      std::vector<Attr> attrs = r_.attrs(op);
      attrs.push_back(out_.list_attr(AttrKey::window, {box, static_cast<std::size_t>(rank)}));
      b_.emit(ops::store, r_.operands(op), attrs);
      return;
    }
    for (int i = outer; i + 2 < rank; ++i) box[i] = 1;
    const OpId def = in_.definition(v);
    const bool fused = def && in_.info(def).first_factor >= 0 && plan_.fused_store(def) == op;
    Cache cache;
    for (std::int64_t i = 0; i < page_count(t); ++i) {
      if (fused) b_.at(in_[def].location);
      const ValueId made = fused ? product_page(def, i, cache) : pages_[v.index][static_cast<std::size_t>(i)];
      b_.at(in_[op].location);
      std::int64_t at[max_rank] = {};
      page_coordinates(t, i, at);
      std::vector<ValueId> operands{made, r_.map(tensor)};
      for (int k = 0; k < rank; ++k) {
        const ValueId offset = r_.map(in_.operand(op, 2 + k));
        const bool page_dim = k >= outer && k + 2 < rank;
        operands.push_back(page_dim ? b_.add(offset, b_.index(at[k - outer])) : offset);
      }
      std::vector<Attr> attrs = r_.attrs(op);
      attrs.push_back(out_.list_attr(AttrKey::window, {box, static_cast<std::size_t>(rank)}));
      b_.emit(ops::store, operands, attrs);
    }
  }

  // --- control flow: a paged value is as many values as it has pages ---
  void append(std::vector<ValueId>& list, ValueId old) {
    if (!plan_.paged(old)) return list.push_back(r_.map(old));
    const Pages pages = pages_[old.index].empty() ? split(old) : pages_[old.index];
    list.insert(list.end(), pages.begin(), pages.end());
  }
  Pages split(ValueId old) {
    if (!r_.has(old))
      throw InternalError("flatten_tile_nd_to_2d: a batched product has no pages where it is carried on");
    Pages pages;
    for (std::int64_t i = 0; i < page_count(in_.type(old)); ++i)
      pages.push_back(slice_page(r_.map(old), page_type(in_.type(old)), i));
    return pages;
  }
  void control(OpId op) {
    if (!carries_pages(op)) return r_.copy(op, visitor());
    std::vector<ValueId> operands;
    for (int i = 0; i < in_.operand_count(op); ++i) append(operands, in_.operand(op, i));
    const Location at = in_[op].location;
    const OpId made = b_.control(in_.info(op), operands, {}, in_.block_count(op), r_.attrs(op));
    const auto fixed = static_cast<std::size_t>(fixed_operands(in_, op));
    for (int k = 0; k < in_.block_count(op); ++k) {
      const BlockId from = in_.block(op, k), to = out_.block(made, k);
      const BlockId outer = b_.block();
      b_.to_end_of(to);
      std::size_t next = fixed;
      const auto& arguments = in_[from].arguments;
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        const bool counter = in_.is(op, ops::for_loop) && i == 0;
        if (counter) r_.set(arguments[i], out_.add_argument(to, in_.type(arguments[i])));
        else take(op, arguments[i], [&] { return argument_like(to, operands[next++]); });
      }
      r_.block(from, to, visitor());
      b_.to_end_of(outer);
      b_.at(at);
    }
    results(op, made, operands, fixed);
  }
  [[nodiscard]] bool carries_pages(OpId op) const {
    for (int i = 0; i < in_.operand_count(op); ++i)
      if (plan_.paged(in_.operand(op, i))) return true;
    for (int i = 0; i < in_.result_count(op); ++i)
      if (plan_.paged(in_.result(op, i))) return true;
    return false;
  }
  ValueId argument_like(BlockId block, ValueId model) {
    return like(out_.add_argument(block, out_.type(model)), model);
  }
  ValueId like(ValueId v, ValueId model) {
    if (out_.type(model).is_shaped()) out_.share_valid(v, model);
    return v;
  }
  template <class Next>
  void take(OpId op, ValueId old, Next&& next) {
    if (!plan_.paged(old)) return r_.set(old, next());
    Pages pages;
    for (std::int64_t i = 0; i < page_count(in_.type(old)); ++i) pages.push_back(next());
    pages_[old.index] = std::move(pages);
    if (plan_.needs_whole(old)) r_.set(old, whole(op, old, Vec));
  }
  void results(OpId op, OpId made, const std::vector<ValueId>& operands, std::size_t fixed) {
    if (in_.result_count(op) == 0) return;
    const bool branch = in_.is(op, ops::if_else);
    const std::vector<ValueId> models =
        branch ? out_.operands(out_.terminator(out_.block(made)))
               : std::vector<ValueId>(operands.begin() + static_cast<std::ptrdiff_t>(fixed), operands.end());
    std::vector<Type> types;
    for (const ValueId m : models) types.push_back(out_.type(m));
    out_.set_results(made, types);
    int next = 0;
    for (int i = 0; i < in_.result_count(op); ++i) {
      const ValueId old = in_.result(op, i);
      take(op, old, [&] {
        const ValueId v = like(out_.result(made, next), models[static_cast<std::size_t>(next)]);
        ++next;
        return v;
      });
    }
  }

  const Function& in_;
  Function out_;
  Rewriter r_;
  Builder& b_;
  PagePlan plan_;
  std::vector<Pages> pages_;  // by old value
};

inline Function run_flatten(const Function& f, const PassContext&) { return Flatten(f).run(); }

}  // namespace detail

/// Tiles of rank > 2 to 2-D; batched products to products of matrices.
inline constexpr Pass flatten_tile_nd_to_2d = {.name = "flatten_tile_nd_to_2d",
                                               .required = {Property::tile_ops},
                                               .produced = {Property::tiles_2d},
                                               .invalidated = {Property::legal, Property::spaces_inferred,
                                                               Property::buffers_assigned},
                                               .run = detail::run_flatten};

}  // namespace tessera
