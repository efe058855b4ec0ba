// Where the tile of each tensor value will stand: matmul operands that come from GM go straight to Mat, accumulators stay in
// Acc, the rest lives in Vec. Also which parameters are read and written, and how.
#pragma once

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/reverse.hpp>

#include "../../ir/control_layout.hpp"
#include "../../ir/walk.hpp"
#include "../../ops/all.hpp"

namespace tessera::convert {

/// What makes a value, as far as its place goes.
enum class Home : std::uint8_t {
  open,    ///< storage of undefined content: any place will do
  loaded,  ///< read from GM: Vec, Mat or both
  acc,     ///< a product
  mat,     ///< storage that the user states to be in Mat, and what only Mat holds
  vec      ///< anything else
};
[[nodiscard]] constexpr Home join(Home a, Home b) {
  return a == b || b == Home::open ? a : a == Home::open ? b : Home::vec;
}

[[nodiscard]] constexpr bool has(SpaceSet set, MemorySpace s) { return ((set.bits >> s) & 1u) != 0; }
[[nodiscard]] constexpr SpaceSet with(SpaceSet a, SpaceSet b) { return {static_cast<std::uint16_t>(a.bits | b.bits)}; }

/// Whether a reshape keeps the elements of a fractal tile in place: the rows stay whole.
[[nodiscard]] constexpr bool keeps_rows(const Type& a, const Type& b) {
  return a.rank >= 2 && b.rank >= 2 && a.last() == b.last();
}

class Placement {
 public:
  explicit Placement(const Function& f)
      : f_(f),
        order_(all_operations(f) | ranges::to<std::vector<OpId>>()),
        group_(f.value_count()),
        home_(f.value_count(), Home::open),
        demand_(f.value_count()),
        decided_(f.value_count(), Gm),
        usage_(f.value_count()) {
    for (std::uint32_t i = 0; i < group_.size(); ++i) group_[i] = i;
    for (const Parameter& p : f_.parameters) home_[p.value.index] = Home::loaded;
    for (const OpId op : order_) {
      join_carried(op);
      note_usage(op);
    }
    while (find_homes()) {}
    while (collect_demands()) {}
    decide_carried();
    demand_.assign(demand_.size(), {});
    collect_demands();
    for (const OpId op : order_) find_entry_loads(op);
  }

  /// Whether a value is the memory of a parameter, perhaps seen with other dims.
  [[nodiscard]] bool is_parameter(ValueId v) const { return static_cast<bool>(parameter_of(f_, v)); }
  [[nodiscard]] bool read(ValueId parameter) const { return usage_[parameter.index].read; }
  [[nodiscard]] bool written(ValueId parameter) const {
    const Usage& usage = usage_[parameter_of(f_, parameter).index];
    return usage.bulk || usage.scalar;
  }
  /// Whether the whole parameter is loaded to Vec at the top of the function.
  [[nodiscard]] bool loaded_at_entry(ValueId parameter) const { return usage_[parameter.index].entry; }

  /// Whether an operand is memory that the operation addresses, and not a value.
  [[nodiscard]] bool is_memory(OpId op, int i) const {
    return may_be_memory(f_.info(op), i) && is_parameter(f_.operand(op, i));
  }
  /// Whether the result is another look at operand 0, in its place.
  [[nodiscard]] bool passes_through(OpId op) const {
    if (!f_.info(op).is_view || !f_.type(f_.operand(op, 0)).is_tensor()) return false;
    if (f_.is(op, ops::reinterpret)) return false;  // boxes differ from type to type
    return !f_.is(op, ops::reshape) || keeps_rows(f_.type(f_.operand(op, 0)), f_.type(f_.result(op)));
  }
  [[nodiscard]] Home home(ValueId v) const { return home_[group_[v.index]]; }
  /// The one place of a created or carried value.
  [[nodiscard]] MemorySpace place(ValueId v) const {
    const std::uint32_t g = group_[v.index];
    return decided_[g] != Gm ? decided_[g] : choose(home_[g], demand_[g]);
  }
  /// The places in which a value read from GM is wanted: Vec, Mat or both.
  [[nodiscard]] SpaceSet places(ValueId v) const {
    SpaceSet wanted = {};
    if (has(demand_[v.index], Mat)) wanted = spaces(Mat);
    if (has(demand_[v.index], Vec) || has(demand_[v.index], Acc) || wanted.any()) wanted = with(wanted, spaces(Vec));
    return wanted;
  }
  /// Where an operation wants a tensor operand to stand.
  [[nodiscard]] SpaceSet wanted(OpId op, int i) const {
    if (const ValueId g = receiver(f_, op, i)) return group_wish(g);
    if (is_memory(op, i)) return {};
    if (f_.is(op, ops::to_tile)) return spaces(f_.type(f_.result(op)).space == Vec ? Vec : Mat);
    if (i == 0 && passes_through(op)) return demand_[group_[f_.result(op).index]];
    if (i == 0 && f_.is(op, ops::gather_row)) return group_wish(f_.result(op));
    const OpInfo& info = f_.info(op);
    const SpaceSet loaded_to = info.tensor_spaces[i < 2 ? i : 2], accepted = operand_space(info, i);
    return loaded_to.any() ? spaces(accepted.any() ? Vec : accepted.first()) : loaded_to;
  }

 private:
  struct Usage {
    bool read = false, bulk = false, scalar = false, entry = false;
  };

  static MemorySpace choose(Home home, SpaceSet demand) {
    if (home == Home::mat) return Mat;
    if (home == Home::acc || (home == Home::open && has(demand, Acc))) return Acc;
    return home != Home::vec && demand == spaces(Mat) ? Mat : Vec;
  }
  // Arguments of a loop's blocks share the place of its results.
  void join_carried(OpId op) {
    if (f_.is(op, ops::if_else)) return;
    for (int b = 0; b < f_.block_count(op); ++b)
      for (int i = 0; i < f_.result_count(op); ++i) group_[carried_argument(f_, op, b, i).index] = f_.result(op, i).index;
  }
  void note_usage(OpId op) {
    if (f_.is(op, ops::view) || f_.is(op, ops::launch)) return;
    for (int i = 0; i < f_.operand_count(op); ++i) {
      const ValueId v = f_.operand(op, i);
      if (!is_parameter(v)) continue;
      Usage& usage = usage_[parameter_of(f_, v).index];
      const Access access = access_of(f_.info(op), i);
      if (access == Access::store) usage.bulk = true;
      else if (access == Access::write) usage.scalar = true;
      else usage.read = true;
      if (f_.attr(op, AttrKey::atomic_add) != 0) usage.read = true;  // what is added to
    }
  }
  [[nodiscard]] Home made_by(OpId op) const {
    const SpaceSet written = f_.info(op).result_spaces;
    const auto stated = static_cast<MemorySpace>(f_.attr(op, AttrKey::space, Gm));
    if (f_.is(op, ops::create) || f_.is(op, ops::paged_gather)) return stated == Mat ? Home::mat : stated == Gm ? Home::open : Home::vec;
    // A window of storage is loaded where that is.
    if (f_.is(op, ops::gather_row)) return home(f_.operand(op, 0)) == Home::loaded ? Home::vec : home(f_.operand(op, 0));
    if (f_.is(op, ops::view) || (f_.is(op, ops::slice) && is_parameter(f_.operand(op, 0)))) return Home::loaded;
    if (passes_through(op)) return home(f_.operand(op, 0));
    if (f_.is(op, ops::to_tensor)) {
      const MemorySpace space = f_.type(f_.operand(op, 0)).space;
      return space == Acc ? Home::acc : space == Mat ? Home::mat : Home::vec;
    }
    if (f_.is(op, ops::matmul_acc)) return join(home(f_.operand(op, 0)), Home::acc);
    return written == spaces(Acc) ? Home::acc : written == spaces(Mat) ? Home::mat : Home::vec;
  }
  bool find_homes() {
    bool changed = false;
    const auto raise = [&](ValueId v, Home h) {
      Home& own = home_[group_[v.index]];
      const Home joined = join(own, h);
      changed = changed || joined != own;
      own = joined;
    };
    for (const OpId op : order_) {
      for (int i = 0; i < f_.operand_count(op); ++i)
        if (const ValueId g = receiver(f_, op, i); g && f_.type(g).is_tensor()) raise(g, home(f_.operand(op, i)));
      if (f_.info(op).level != Level::control && f_.result_count(op) > 0 && f_.type(f_.result(op)).is_tensor())
        raise(f_.result(op), made_by(op));
    }
    return changed;
  }
  [[nodiscard]] SpaceSet group_wish(ValueId v) const {
    const std::uint32_t g = group_[v.index];
    if (decided_[g] != Gm) return spaces(decided_[g]);
    switch (home_[g]) {
      case Home::vec: return spaces(Vec);
      case Home::acc: return spaces(Acc);
      case Home::mat: return spaces(Mat);
      default: return demand_[g];
    }
  }
  // Uses stand behind definitions, so one sweep from the end reaches all but what loops carry round.
  bool collect_demands() {
    bool changed = false;
    for (const OpId op : order_ | ranges::views::reverse)
      for (int i = 0; i < f_.operand_count(op); ++i) {
        const ValueId v = f_.operand(op, i);
        if (!f_.type(v).is_tensor()) continue;
        SpaceSet& own = demand_[group_[v.index]];
        const SpaceSet merged = with(own, wanted(op, i));
        changed = changed || merged.bits != own.bits;
        own = merged;
      }
    return changed;
  }
  void decide_carried() {
    for (const OpId op : order_) {
      if (f_.info(op).level != Level::control) continue;
      for (int i = 0; i < f_.result_count(op); ++i)
        if (const std::uint32_t v = f_.result(op, i).index; f_.type(ValueId{v}).is_tensor())
          decided_[v] = choose(home_[v], demand_[v]);
    }
  }
  void find_entry_loads(OpId op) {
    if (f_.info(op).self_loading) return;
    for (int i = 0; i < f_.operand_count(op); ++i) {
      const ValueId v = f_.operand(op, i);
      if (parameter_of(f_, v) != v || is_memory(op, i) || written(v)) continue;  // a view is loaded where it is used
      const SpaceSet wish = i == 0 && passes_through(op) ? places(f_.result(op)) : wanted(op, i);
      if (has(wish, Vec) || has(wish, Acc)) usage_[v.index].entry = true;
    }
  }

  const Function& f_;
  std::vector<OpId> order_;
  std::vector<std::uint32_t> group_;
  std::vector<Home> home_;
  std::vector<SpaceSet> demand_;
  std::vector<MemorySpace> decided_;
  std::vector<Usage> usage_;
};

}  // namespace tessera::convert
