// The body of a tile operation that becomes a function, for every emitter: what it takes from the kernel, and the names of that.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "../ir/control_layout.hpp"
#include "../ir/program.hpp"

namespace tessera::pto {

inline constexpr std::string_view inline_hint = "let its body take the place of calls, --tileop inline";

class TileopBody {
 public:
  TileopBody(const Function& f, OpId op) : f_(f), op_(op), tileop_(called_tileop(f, op)) {
    look(f.block(op));
    for (const Parameter& p : tileop_.parameters) {
      const Type& t = tileop_.type(p.value);
      const bool output = t.is_tile() && p.direction != Direction::in;
      if (output) outputs_.push_back(p.name);
      else if (!t.is_tensor() && !is_carried(p.name)) inputs_.push_back(p.name);
    }
  }

  [[nodiscard]] std::string_view name() const { return tileop_.name; }
  /// Values of the kernel that the body uses, constants aside, in the order of their first use.
  [[nodiscard]] const std::vector<ValueId>& used() const { return used_; }
  [[nodiscard]] bool uses(ValueId v) const { return std::find(used_.begin(), used_.end(), v) != used_.end(); }
  /// What argument number `i` is called in the definition.
  [[nodiscard]] std::string_view input(int i) const { return static_cast<std::size_t>(i) < inputs_.size() ? inputs_[static_cast<std::size_t>(i)] : "tile"; }
  /// The same of what becomes result number `i`: a tile that is written, or a number.
  [[nodiscard]] std::string_view output(int i) const {
    const ValueId v = carried_argument(f_, op_, 0, i);
    if (f_.type(v).is_scalar()) return f_[v].name != 0 ? std::string_view(f_.name_of(v)) : "number";
    return static_cast<std::size_t>(i) < outputs_.size() ? outputs_[static_cast<std::size_t>(i)] : "out";
  }
  [[nodiscard]] bool is_outside(ValueId v) const {
    for (BlockId b = f_.defining_block(v); b && f_[b].owner; b = f_[f_[b].owner].parent)
      if (f_[b].owner == op_) return false;
    return !f_.is_constant(v);
  }
  /// Calls visit(operation) for each operation of the body, those of its blocks too.
  template <class Visit>
  void for_each_operation(Visit&& visit) const {
    operations(f_.block(op_), visit);
  }

 private:
  template <class Visit>
  void operations(BlockId b, Visit&& visit) const {
    for (OpId o = f_[b].first; o; o = f_.next(o)) {
      visit(o);
      for (int k = 0; k < f_.block_count(o); ++k) operations(f_.block(o, k), visit);
    }
  }
  void look(BlockId b) {
    operations(b, [&](OpId o) {
      for (int i = 0; i < f_.operand_count(o); ++i)
        if (const ValueId v = f_.operand(o, i); is_outside(v) && !uses(v)) used_.push_back(v);
    });
  }
  [[nodiscard]] bool is_carried(std::string_view name) const {
    for (const ValueId v : carried_arguments(f_, op_, 0))
      if (f_.type(v).is_scalar() && std::string_view(f_.name_of(v)) == name) return true;
    return false;
  }

  const Function& f_;
  const OpId op_;
  const Function& tileop_;
  std::vector<ValueId> used_;
  std::vector<std::string_view> inputs_, outputs_;
};

}  // namespace tessera::pto
