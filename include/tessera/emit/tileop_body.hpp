// The body of a tile operation that becomes a function, for every emitter: what it takes from the kernel, and the names of that.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "../ir/control_layout.hpp"
#include "../ir/program.hpp"

namespace tessera::pto {

inline constexpr std::string_view inline_hint = "let its body take the place of calls, --tileop inline";

/// Whether a value is made in the blocks of an operation.
[[nodiscard]] inline bool is_made_in(const Function& f, ValueId v, OpId op) {
  for (BlockId b = f.defining_block(v); b && f[b].owner; b = f[f[b].owner].parent)
    if (f[b].owner == op) return true;
  return false;
}

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
  [[nodiscard]] bool uses(ValueId v) const { return std::find(used_.begin(), used_.end(), v) != used_.end(); }
  /// What argument number `i` is called in the definition.
  [[nodiscard]] std::string_view input(int i) const { return static_cast<std::size_t>(i) < inputs_.size() ? inputs_[static_cast<std::size_t>(i)] : "tile"; }
  /// The same of what becomes result number `i`: a tile that is written, or a number.
  [[nodiscard]] std::string_view output(int i) const {
    const ValueId v = carried_argument(f_, op_, 0, i);
    if (f_.type(v).is_scalar()) return f_[v].name != 0 ? std::string_view(f_.name_of(v)) : "number";
    return static_cast<std::size_t>(i) < outputs_.size() ? outputs_[static_cast<std::size_t>(i)] : "out";
  }
  /// Calls argument(value, name) and carried(result number) for what the function is given: the arguments that the body uses and what
  /// becomes results, as the definition has them, then the tiles that the body needs besides.
  template <class Argument, class Carried>
  void for_each_parameter(Argument&& argument, Carried&& carried) const {
    for (int i = 0; i < fixed_operands(f_, op_); ++i)
      if (const ValueId v = f_.operand(op_, i); uses(v)) argument(v, input(i));
    for (int i = 0; i < f_.result_count(op_); ++i) carried(i);
    for (const ValueId v : used_)
      if (f_.type(v).is_tile()) argument(v, "tile");
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
        if (const ValueId v = f_.operand(o, i); !f_.is_constant(v) && !is_made_in(f_, v, op_) && !uses(v)) used_.push_back(v);
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
  std::vector<ValueId> used_;  // values of the kernel, constants aside, in the order of their first use
  std::vector<std::string_view> inputs_, outputs_;
};

/// Functions of a file: equal ones are one.
class TileopFunctions {
 public:
  struct Known {
    std::string wanted, name, text;
  };
  /// The name of the function with the `text` that stands behind its name; a new one is called unique(wanted).
  template <class Unique>
  std::string_view add(std::string_view wanted, const std::string& text, Unique&& unique) {
    for (const Known& k : list_)
      if (k.wanted == wanted && k.text == text) return k.name;
    list_.push_back({std::string(wanted), unique(wanted), text});
    return list_.back().name;
  }
  [[nodiscard]] const std::vector<Known>& list() const { return list_; }

 private:
  std::vector<Known> list_;
};

}  // namespace tessera::pto
