// What flatten_tile_nd_to_2d decides before it rewrites: which tiles of several pages (matrices of the last two dims) stay
// apart as one 2-D value per page, which operands of products are loaded or moved whole and sliced, and where pages are loaded.
#pragma once

#include <vector>

#include "../../ir/control_layout.hpp"
#include "../../ir/walk.hpp"
#include "../../ops/all.hpp"
#include "merge.hpp"

namespace tessera::detail {

/// How many matrices of the last two dims a tile holds.
[[nodiscard]] constexpr std::int64_t page_count(const Type& t) {
  std::int64_t n = 1;
  for (int i = 0; i + 2 < t.rank; ++i) n *= t.dims[i];
  return n;
}
[[nodiscard]] constexpr bool has_pages(const Type& t) { return t.is_tile() && t.rank > 2 && page_count(t) > 1; }

/// A tile's matrix of the last two dims; the layout stays that of the space.
[[nodiscard]] constexpr Type page_type(const Type& t) {
  const std::int64_t dims[2] = {t.last(1), t.last(0)};
  Type page = with_shape(t, dims, 2);
  if (t.space != Vec) page.layout = t.layout;
  return page;
}

/// The axes that a transpose exchanges.
struct Axes {
  std::int64_t first, second;
};
[[nodiscard]] inline Axes exchanged_axes(const Function& f, OpId transpose) {
  const auto axis = [&](AttrKey key, std::int64_t otherwise) {
    const std::int64_t a = f.attr(transpose, key, otherwise);
    return a < 0 ? a + f.type(f.operand(transpose, 0)).rank : a;
  };
  return {axis(AttrKey::axis, -2), axis(AttrKey::other_axis, -1)};
}

/// Whether a page of a tile of the cube unit starts at a whole box in the tile that holds all pages.
[[nodiscard]] constexpr bool pages_are_whole_boxes(const Type& t) {
  return stored(page_type(with_space(t, Mat))).dims[0] == t.last(1);
}

class PagePlan {
 public:
  PagePlan(const Function& f, Arch arch)
      : f_(f),
        arch_(arch),
        paged_(f.value_count()),
        products_only_(f.value_count(), unknown),
        whole_(f.value_count(), unknown),
        writes_(f.operation_count()),
        written_(f.value_count()) {
    count_writes();
    find_paged();
  }

  /// The value is one 2-D value per page: a batched product, or what is merged with one by control flow.
  [[nodiscard]] bool paged(ValueId v) const { return paged_[v.index]; }

  /// A paged value that something other than products, stores and control flow reads: it is put together as well.
  [[nodiscard]] bool needs_whole(ValueId v) {
    bool whole = false;
    f_.for_each_use(v, [&](OpId user, int i) {
      const bool by_page = f_.info(user).level == Level::control || f_.info(user).first_factor >= 0 ||
                           (f_.is(user, ops::store) && i == 0) || f_.is(user, ops::move) || looks_at_pages(user);
      whole = whole || !by_page;
    });
    return whole;
  }

  /// Another look at each page: other extents, or the pages in other leading dims.
  [[nodiscard]] bool looks_at_pages(OpId op) const {
    if (!f_.is(op, ops::set_valid_shape) && !f_.is(op, ops::reshape)) return false;
    const Type &from = f_.type(f_.operand(op, 0)), &to = f_.type(f_.result(op));
    return has_pages(from) && has_pages(to) && page_type(from) == page_type(to);
  }

  /// The last two axes of each page are exchanged, in Mat or in Vec.
  [[nodiscard]] bool turns_pages(OpId op) const {
    if (f_.is(op, ops::transpose_view)) return true;
    if (!f_.is(op, ops::transpose) || f_.operand_count(op) > 1 || f_.type(f_.operand(op, 0)).space != Vec) return false;
    const Axes a = exchanged_axes(f_, op);
    return a.first + a.second == 2 * f_.type(f_.operand(op, 0)).rank - 3 && a.first != a.second;
  }

  /// A load, move or view that only products read, or nothing at all.
  [[nodiscard]] bool for_products(ValueId v) {
    char& state = products_only_[v.index];
    if (state == unknown) state = only_products_read(v) ? yes : no;
    return state == yes;
  }

  /// A load, move or view that products read page by page: it makes no whole tile.
  [[nodiscard]] bool deferred(ValueId v) { return for_products(v) && !whole(v); }

  /// The store that takes a batched product's pages one by one, if it is the product's only use.
  [[nodiscard]] OpId fused_store(OpId product) const {
    const ValueId v = f_.result(product);
    OpId store;
    int uses = 0;
    f_.for_each_use(v, [&](OpId user, int i) {
      ++uses;
      if (f_.is(user, ops::store) && i == 0 && f_[user].parent == f_[product].parent) store = user;
    });
    return has_pages(f_.type(v)) && uses == 1 ? store : OpId{};
  }

  /// Where the pages of a deferred load are loaded: where it stands, all of them, or for each product that reads them.
  enum class Place : char { definition, use, nowhere };
  [[nodiscard]] Place place_of_pages(ValueId load) const {
    std::vector<OpId> readers;
    collect_products(load, readers);
    if (readers.empty()) return Place::use;
    bool unchanged = true, one = f_[readers.front()].parent == f_[f_.definition(load)].parent;
    for (const OpId r : readers) {
      one = one && r == readers.front();
      unchanged = unchanged && is_unchanged(load, r);
    }
    if (unchanged && one) return Place::use;
    if (pages_bytes(load) <= capacity(Mat, arch_)) return Place::definition;
    return unchanged ? Place::use : Place::nowhere;
  }
  [[nodiscard]] Arch arch() const { return arch_; }
  /// What all pages of a tile take in Mat when they stand apart.
  [[nodiscard]] std::int64_t pages_bytes(ValueId v) const {
    const Type t = with_space(f_.type(v), Mat);
    return page_count(t) * stored(page_type(t)).bytes();
  }

 private:
  enum : char { unknown, yes, no };

  // --- memory ---
  [[nodiscard]] ValueId written_by(OpId op) const {
    const int memory = memory_operand(f_.info(op));
    if (memory < 0 || !tessera::writes(access_of(f_.info(op), memory))) return {};
    const ValueId v = f_.operand(op, memory);
    return f_.type(v).is_tensor() ? parameter_of(f_, v) : ValueId{};
  }
  void count_writes() {
    std::uint32_t count = 0;
    for (const OpId op : all_operations(f_)) {
      writes_[op.index] = count;
      const ValueId tensor = written_by(op);
      if (!tensor) continue;
      ++count;
      written_[tensor.index] = true;
    }
  }
  /// Whether what a load has read stands in the tensor still when a product (with its fused store) is made.
  [[nodiscard]] bool is_unchanged(ValueId load, OpId product) const {
    const OpId self = f_.definition(load), store = fused_store(product), place = store ? store : product;
    const ValueId tensor = parameter_of(f_, f_.operand(self, 0));
    if (!written_[tensor.index]) return true;
    if (f_[place].parent != f_[self].parent || writes_[place.index] != writes_[self.index]) return false;
    return !store || parameter_of(f_, f_.operand(store, 1)) != tensor;
  }

  // --- values in pages ---
  void find_paged() {
    std::vector<std::vector<ValueId>> variables;
    for (const OpId op : all_operations(f_)) {
      if (f_.info(op).first_factor >= 0 && has_pages(f_.type(f_.result(op)))) {
        paged_[f_.result(op).index] = true;
        if (f_.info(op).first_factor == 1) paged_[f_.operand(op, 0).index] = true;
      }
      if (looks_at_pages(op)) variables.push_back({f_.operand(op, 0), f_.result(op)});
      for (int i = 0; i < f_.result_count(op) && f_.info(op).level == Level::control; ++i)
        if (has_pages(f_.type(f_.result(op, i)))) variables.push_back(same_variable(f_, op, i));
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::vector<ValueId>& variable : variables) {
        std::size_t count = 0;
        for (const ValueId v : variable) count += paged_[v.index] ? 1u : 0u;
        if (count == 0 || count == variable.size()) continue;
        for (const ValueId v : variable) paged_[v.index] = true;
        changed = true;
      }
    }
  }

  // --- operands of products ---
  [[nodiscard]] bool only_products_read(ValueId v) {
    const OpId def = f_.definition(v);
    if (!def || !has_pages(f_.type(v)) || paged(v) || !hands_pages_on(def)) return false;
    bool only = true;
    f_.for_each_use(v, [&](OpId user, int i) {
      const int factor = f_.info(user).first_factor;
      const bool product = factor >= 0 && i >= factor;
      only = only && (product || (f_.result_count(user) == 1 && f_.info(user).level != Level::control &&
                                  for_products(f_.result(user))));
    });
    return only;
  }
  // Whether page i of the result is what the operation makes of page i of its operand.
  [[nodiscard]] bool hands_pages_on(OpId def) const {
    const Type& t = f_.type(f_.result(def));
    if (f_.is(def, ops::move) || turns_pages(def)) return true;
    if (f_.is(def, ops::load)) return t.space == Mat;
    return f_.is(def, ops::reshape) && looks_at_pages(def);
  }
  /// One tile holds all pages, and a product reads its part of it.
  [[nodiscard]] bool whole(ValueId v) {
    char& state = whole_[v.index];
    if (state == unknown) state = decide_whole(v) ? yes : no;
    return state == yes;
  }
  bool decide_whole(ValueId v) {
    const OpId def = f_.definition(v);
    const Type& t = f_.type(v);
    if (f_.is(def, ops::load))
      return is_band(t, f_.type(f_.operand(def, 0))) && gap_axis(f_, v) < 0 && pages_are_whole_boxes(t) && some_product_fits(v);
    if (f_.is(def, ops::transpose)) return false;
    if (!f_.is(def, ops::move)) return !deferred(f_.operand(def, 0)) && !paged(f_.operand(def, 0));
    // No instruction reads a part of a tile in Left or Right, none puts parts of Acc together in Mat, and only what is loaded to
    // Mat is read transposed there.
    const ValueId from = f_.operand(def, 0);
    if (t.space != Mat || f_.type(from).space != Vec || deferred(from) || read_transposed(v)) return false;
    return pages_are_whole_boxes(t) && some_product_fits(v);
  }
  [[nodiscard]] bool read_transposed(ValueId v) const {
    bool turned = false;
    f_.for_each_use(v, [&](OpId user, int i) {
      const int factor = f_.info(user).first_factor;
      if (factor < 0) turned = turned || f_.is(user, ops::transpose_view) || read_transposed(f_.result(user));
      else turned = turned || f_.attr(user, i == factor ? AttrKey::transpose_lhs : AttrKey::transpose_rhs) != 0;
    });
    return turned;
  }
  // Whether some product that reads it has room for both of its factors in Mat: one load serves the others, too.
  [[nodiscard]] bool some_product_fits(ValueId v) const {
    std::vector<OpId> readers;
    collect_products(v, readers);
    for (const OpId r : readers) {
      std::int64_t bytes = 0;
      for (int i = 0; i < 2; ++i)
        bytes += stored(flattened(with_space(f_.type(f_.operand(r, f_.info(r).first_factor + i)), Mat))).bytes();
      if (bytes <= capacity(Mat, arch_)) return true;
    }
    return false;
  }
  void collect_products(ValueId v, std::vector<OpId>& products) const {
    f_.for_each_use(v, [&](OpId user, int) {
      if (f_.info(user).first_factor >= 0) products.push_back(user);
      else collect_products(f_.result(user), products);
    });
  }

  const Function& f_;
  Arch arch_;
  std::vector<bool> paged_;
  std::vector<char> products_only_, whole_;
  std::vector<std::uint32_t> writes_;  // by operation: how many writes of tensors stand before it
  std::vector<bool> written_;          // by parameter
};

}  // namespace tessera::detail
