// What holds in and around split regions once all operations work on tiles: the lanes run side by side on the vector cores,
// the rest of the function on the cube core, and what crosses the border says so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../ops/all.hpp"
#include "function.hpp"

namespace tessera {
namespace detail {

/// Whether an operation is a split region: a loop over lanes.
[[nodiscard]] inline bool is_split_region(const Function& f, OpId op) {
  return f.is(op, ops::for_loop) && f.find_attr(op, AttrKey::split) != nullptr;
}

class SplitRegions {
 public:
  explicit SplitRegions(const Function& f) : f_(f) {}

  /// The first fault in the order of the program; none where all is well.
  [[nodiscard]] std::optional<Diagnostic> fault() {
    look(f_.body(), {});
    if (!fault_ && any_ && vector_outside_)
      say(vector_outside_, "vector work stands outside of the split region",
          "a kernel with a split region does its vector work in it: move this line into the region");
    return std::move(fault_);
  }

 private:
  void say(OpId op, const std::string& what, std::string hint) {
    if (!fault_) fault_ = Diagnostic{f_[op].location, std::string(f_.info(op).name) + ": " + what, std::move(hint)};
  }
  void look(BlockId b, OpId region) {
    for (OpId op = f_[b].first; op && !fault_; op = f_.next(op)) {
      if (is_split_region(f_, op)) {
        any_ = true;
        if (region) say(op, "a split region stands inside another one", "close the outer region first");
        look_inside(f_.block(op));
        if (!fault_) check_carried(op);
      }
      operation(op, region);
      for (int i = 0; i < f_.block_count(op); ++i) look(f_.block(op, i), is_split_region(f_, op) ? op : region);
    }
  }
  // What stands where it must not is told before what it carries.
  void look_inside(BlockId b) {
    for (OpId op = f_[b].first; op && !fault_; op = f_.next(op))
      for (int i = 0; i < f_.block_count(op) && !fault_; ++i) {
        if (is_split_region(f_, op)) return say(op, "a split region stands inside another one", "close the outer region first");
        if (const OpId gather = first_gather(f_.block(op, i)); gather)
          return say(gather, "it stands in a branch or loop of the split region", "gather once, in the body of the region itself: the branch or loop may choose what is gathered");
        look_inside(f_.block(op, i));
      }
  }
  [[nodiscard]] OpId first_gather(BlockId b) const {
    for (OpId op = f_[b].first; op; op = f_.next(op)) {
      if (f_.is(op, ops::aic_gather)) return op;
      for (int i = 0; i < f_.block_count(op) && !is_split_region(f_, op); ++i)
        if (const OpId inner = first_gather(f_.block(op, i)); inner) return inner;
    }
    return {};
  }
  void operation(OpId op, OpId region) {
    const OpInfo& info = f_.info(op);
    if (info.pipe == Pipe::cube && region)
      say(op, "cube work stands inside a split region",
          "compute the product in front of the region, and take the half of each lane by aiv_shard");
    if (info.pipe == Pipe::vector && !region && !vector_outside_) vector_outside_ = op;
    if (f_.is(op, ops::aiv_shard)) crossing(op, 1, region, 0, Acc, "shard what a product makes, outside of the region");
    if (f_.is(op, ops::aic_gather)) crossing(op, 2, region, 1, Vec, "gather what the lane computes");
  }
  void crossing(OpId op, int lane, OpId region, int operand, MemorySpace from, const char* hint) {
    const ValueId v = f_.operand(op, lane), x = f_.operand(op, operand);
    const bool own = region && v == f_[f_.block(region)].arguments[0];
    if (!own || f_.attr(op, AttrKey::split) != f_.attr(region, AttrKey::split))
      return say(op, "the lane is not that of the split region around it",
                 "write it inside for (auto lane : split_aiv<...>()) { ... }, with that lane");
    const Type& t = f_.type(x);
    if (t.is_tile() && t.space != from)
      say(op, "the operand does not stand in " + std::string(name(from)) + " (" + std::string(name(t.space)) + ")", hint);
  }
  // What a region carries is collected by aic_gather and read by nothing else inside.
  void check_carried(OpId region) {
    const OpId end = f_.terminator(f_.block(region));
    const auto& arguments = f_[f_.block(region)].arguments;
    for (std::size_t i = 1; i < arguments.size(); ++i) {
      ValueId v = f_.operand(end, static_cast<int>(i) - 1);
      while (f_.definition(v) && f_.is(f_.definition(v), ops::aic_gather) && only_handed_on(v)) v = f_.operand(f_.definition(v), 0);
      if (v != arguments[i] || !only_handed_on(v))
        say(region, "a variable is carried from one lane to the other",
            "the lanes run side by side: only what aic_gather collects leaves the region; store the rest at the lane's offset");
    }
  }
  [[nodiscard]] bool only_handed_on(ValueId v) const {
    bool only = true;
    f_.for_each_use(v, [&](OpId op, int operand) {
      only = only && (f_.is(op, ops::yield) || (f_.is(op, ops::aic_gather) && operand == 0));
    });
    return only;
  }

  const Function& f_;
  std::optional<Diagnostic> fault_;
  OpId vector_outside_;
  bool any_ = false;
};

}  // namespace detail

[[nodiscard]] inline bool has_split_region(const Function& f) {
  for (std::uint32_t i = 0; i < f.operation_count(); ++i)
    if (detail::is_split_region(f, {i})) return true;
  return false;
}
/// What is wrong with the split regions of a function of tile operations; none: nothing.
[[nodiscard]] inline std::optional<Diagnostic> split_fault(const Function& f) { return detail::SplitRegions(f).fault(); }

}  // namespace tessera
