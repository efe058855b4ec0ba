// What flatten_tile_nd_to_2d decides before it rewrites: which tiles of several pages (matrices of the last two dims) stay
// apart as one 2-D value per page because matrix products read or make them, and where those pages are loaded and stored.
#pragma once

#include <vector>

#include "../../ir/control_layout.hpp"
#include "../../ops/all.hpp"
#include "../walk.hpp"

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

class PagePlan {
 public:
  explicit PagePlan(const Function& f)
      : f_(f), paged_(f.value_count()), deferred_(f.value_count(), unknown), writes_(f.operation_count()) {
    count_writes();
    find_paged();
  }

  /// The value is one 2-D value per page: a batched product, or what is merged with one by control flow.
  [[nodiscard]] bool paged(ValueId v) const { return paged_[v.index]; }

  /// A paged value that something other than products, stores and control flow reads: it is put together as well.
  [[nodiscard]] bool needs_whole(ValueId v) const {
    bool whole = false;
    f_.for_each_use(v, [&](OpId user, int i) {
      whole = whole || !(f_.info(user).level == Level::control || f_.info(user).first_factor >= 0 ||
                         (f_.is(user, ops::store) && i == 0) || f_.is(user, ops::move));
    });
    return whole;
  }

  /// A load, move or view that only products read, page by page: it makes no whole tile.
  [[nodiscard]] bool deferred(ValueId v) {
    char& state = deferred_[v.index];
    if (state == unknown) state = decide(v) ? yes : no;
    return state == yes;
  }

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

  /// Whether the pages of a deferred load are loaded where the one product that reads them stands: nothing in between may
  /// write a tensor.
  [[nodiscard]] bool lazy(ValueId load) {
    std::vector<OpId> readers;
    collect_products(load, readers);
    for (const OpId r : readers)
      if (r != readers.front()) return false;
    const OpId product = readers.front(), store = fused_store(product), place = store ? store : product,
               self = f_.definition(load);
    if (f_[place].parent != f_[self].parent || writes_[place.index] != writes_[self.index]) return false;
    return !store || f_.operand(store, 1) != f_.operand(self, 0);
  }

 private:
  enum : char { unknown, yes, no };

  [[nodiscard]] bool writes(OpId op) const {
    const int memory = memory_operand(f_.info(op));
    return memory >= 0 && tessera::writes(access_of(f_.info(op), memory)) && f_.type(f_.operand(op, memory)).is_tensor();
  }
  void count_writes() {
    std::uint32_t count = 0;
    for (const OpId op : all_operations(f_)) {
      writes_[op.index] = count;
      if (writes(op)) ++count;
    }
  }

  void find_paged() {
    std::vector<std::vector<ValueId>> variables;
    for (const OpId op : all_operations(f_)) {
      if (f_.info(op).first_factor >= 0 && has_pages(f_.type(f_.result(op)))) {
        paged_[f_.result(op).index] = true;
        if (f_.info(op).first_factor == 1) paged_[f_.operand(op, 0).index] = true;
      }
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

  [[nodiscard]] bool decide(ValueId v) {
    const OpId def = f_.definition(v);
    if (!def || !has_pages(f_.type(v)) || paged(v) || !f_.has_uses(v)) return false;
    if (!makes_pages(def)) return false;
    bool only_products = true;
    f_.for_each_use(v, [&](OpId user, int i) {
      const int factor = f_.info(user).first_factor;
      const bool product = factor >= 0 && i >= factor;
      only_products =
          only_products && (product || (f_.result_count(user) == 1 && f_.info(user).level != Level::control &&
                                        deferred(f_.result(user))));
    });
    return only_products;
  }
  [[nodiscard]] bool makes_pages(OpId def) const {
    const ValueId v = f_.result(def);
    const Type& t = f_.type(v);
    if (f_.is(def, ops::move) || f_.is(def, ops::transpose_view)) return !paged(f_.operand(def, 0));
    if (f_.is(def, ops::reshape)) {
      const Type& from = f_.type(f_.operand(def, 0));
      return has_pages(from) && !paged(f_.operand(def, 0)) && page_type(from) == page_type(t);
    }
    if (!f_.is(def, ops::load) || t.space != Mat) return false;
    for (int i = 0; i + 2 < t.rank; ++i)
      if (f_.valid(v, i) != Extent{t.dims[i], {}}) return false;
    return true;
  }
  void collect_products(ValueId v, std::vector<OpId>& products) const {
    f_.for_each_use(v, [&](OpId user, int) {
      if (f_.info(user).first_factor >= 0) products.push_back(user);
      else collect_products(f_.result(user), products);
    });
  }

  const Function& f_;
  std::vector<bool> paged_;
  std::vector<char> deferred_;
  std::vector<std::uint32_t> writes_;  // by operation: how many writes of tensors stand before it
};

}  // namespace tessera::detail
