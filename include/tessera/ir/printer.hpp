// The IR as text: one operation per line, nested blocks indented, constants in place. Equal functions give equal text.
#pragma once

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "program.hpp"

namespace tessera {

struct PrintOptions {
  bool locations = false;  ///< ` loc(file:line)` behind every operation
};

[[nodiscard]] constexpr std::string_view name(Layout l) {
  constexpr std::string_view names[] = {"nd", "dn", "nz", "zn"};
  return names[static_cast<int>(l)];
}
[[nodiscard]] constexpr std::string_view name(AttrKey k) {
  constexpr std::string_view names[] = {"rounding", "axis", "other_axis", "transpose_lhs", "transpose_rhs",
                                        "compare", "pad", "has_valid", "window", "descending", "atomic_add",
                                        "split", "callee", "space", "transposed", "rows", "columns", "block_size", "column", "pattern",
                                        "high_precision", "rounds", "pipe", "to_pipe", "event", "pipelined", "unrolled", "factors_shared",
                                        "buffer", "slot", "arguments"};
  static_assert(std::size(names) == static_cast<std::size_t>(AttrKey::arguments) + 1);
  return names[static_cast<int>(k)];
}
[[nodiscard]] constexpr std::string_view name(MaskPattern p) {
  constexpr std::string_view names[] = {"", "P0101", "P1010", "P0001", "P0010", "P0100", "P1000", "P1111"};
  return names[static_cast<int>(p)];
}
[[nodiscard]] constexpr std::string_view name(Rounding r) {
  constexpr std::string_view names[] = {"none", "rint", "round", "floor", "ceil", "trunc", "odd"};
  return names[static_cast<int>(r)];
}
[[nodiscard]] constexpr std::string_view name(Compare c) {
  constexpr std::string_view names[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  return names[static_cast<int>(c)];
}
[[nodiscard]] constexpr std::string_view name(Pad p) {
  constexpr std::string_view names[] = {"null", "zero", "max", "min"};
  return names[static_cast<int>(p)];
}
[[nodiscard]] constexpr std::string_view name(Split s) { return s == Split::up_down ? "up_down" : "left_right"; }
/// What an attribute's value is called; empty where it is a number.
[[nodiscard]] constexpr std::string_view word_of(AttrKey key, std::int64_t value) {
  switch (key) {
    case AttrKey::rounding: return name(static_cast<Rounding>(value));
    case AttrKey::compare: return name(static_cast<Compare>(value));
    case AttrKey::split: return name(static_cast<Split>(value));
    case AttrKey::space: return name(static_cast<MemorySpace>(value));
    case AttrKey::pad: return name(static_cast<Pad>(value));
    case AttrKey::pattern: return name(static_cast<MaskPattern>(value));
    case AttrKey::pipe:
    case AttrKey::to_pipe: return name(static_cast<Pipe>(value));
    default: return {};
  }
}
[[nodiscard]] constexpr std::string_view name(Direction d) {
  constexpr std::string_view names[] = {"in", "out", "inout"};
  return names[static_cast<int>(d)];
}

/// `f32[16,64]`, `tile<f32[16,64]@Vec>` (with a layout where it is not the implied one), `f32`.
[[nodiscard]] inline std::string text(const Type& t) {
  std::string out(name(t.dtype));
  if (!t.is_shaped()) return t.kind == TypeKind::none ? "none" : out;
  out.push_back('[');
  for (int i = 0; i < t.rank; ++i) out.append(i == 0 ? "" : ",").append(detail::dim_text(t.dims[i]));
  out.push_back(']');
  const bool implied = t.layout == (t.is_tile() ? implied_layout(t.space, t) : Layout::nd);
  if (!t.is_tile()) return implied ? out : out.append(" ").append(name(t.layout));
  out.append("@").append(name(t.space));
  if (!implied) out.append(", ").append(name(t.layout));
  return "tile<" + out + ">";
}

namespace detail {

/// The shortest text that reads back as the number, always with a mark of a floating number.
inline std::string number_text(double d) {
  char buffer[40];
  const auto r = std::to_chars(buffer, buffer + sizeof buffer, d);
  std::string out(buffer, r.ptr);
  if (out.find_first_of(".ein") == std::string::npos) out.append(".0");
  return out;
}
inline std::string number_text(std::int64_t n) { return std::to_string(n); }

/// "256", "32x8": the extents, without those of 1 behind the last other one.
inline std::string threads_text(const Threads& t) {
  std::string text = std::to_string(t[0]);
  const int rank = t[2] != 1 ? 3 : t[1] != 1 ? 2 : 1;
  for (int axis = 1; axis < rank; ++axis) text.append("x").append(std::to_string(t[axis]));
  return text;
}

class Printer {
 public:
  /// `program`: the one that the function is of, for the names of callees; may be null.
  Printer(const Function& f, PrintOptions options, const Program* program = nullptr)
      : f_(f), program_(program), options_(options), names_(f.value_count()) {
    for (const Parameter& p : f_.parameters) hints_.try_emplace(hint_of(p), 0);
    note_hints(f_.body());
    for (const Parameter& p : f_.parameters) give_name(p.value, hint_of(p));
    name_block(f_.body());
  }

  std::string function() {
    out_.reserve(f_.operation_count() * 80);
    out_.append(tessera::name(f_.kind));
    if (f_.kind == FunctionKind::spmd) out_.append(" ").append(std::to_string(f_.blocks));
    if (f_.kind == FunctionKind::simt) out_.append(" ").append(threads_text(f_.threads));
    out_.append(" @").append(f_.name).append("(");
    for (std::size_t i = 0; i < f_.parameters.size(); ++i) {
      const Parameter& p = f_.parameters[i];
      out_.append(i == 0 ? "" : ", ");
      value(p.value);
      out_.append(": ");
      if (f_.type(p.value).is_shaped()) out_.append(name(p.direction)).append(" ");
      type(p.value);
    }
    out_.append(")");
    if (f_.summary != nullptr) summary(*f_.summary);
    out_.append(" {\n");
    for (const Storage& s : f_.storage) storage(s);
    block(f_.body(), 1);
    out_.append("}\n");
    return std::move(out_);
  }
  std::string operation(OpId op) {
    line(op, 0);
    return std::move(out_);
  }

 private:
  /// Printed as the hint, the hint and a number, or a number alone.
  struct Name {
    std::string_view hint;
    std::uint32_t number = no_index;
  };

  void storage(const Storage& s) {
    out_.append("  ").append(s.is_reserved() ? "reserve" : "buffer").append(" @").append(s.name).append(" : ").append(name(s.space));
    if (s.slots > 1) out_.append(", ").append(std::to_string(s.slots)).append(" slots");
    if (s.bytes > 0) out_.append(", ").append(std::to_string(s.bytes)).append(s.slots > 1 ? " bytes each" : " bytes");
    if (s.address >= 0) out_.append(" at ").append(std::to_string(s.address));
    out_.push_back('\n');
  }
  // As the attributes of a helper are called in `.pto` text.
  void summary(const TileOpSummary& s) {
    out_.append(" attributes {pto.tileop.pipe_footprint = [");
    const char* separator = "";
    for (int i = 0; i < pipe_count; ++i)
      if (const auto p = static_cast<Pipe>(i); s.uses(p)) out_.append(std::exchange(separator, ", ")).append(name(p));
    out_.append("], pto.tileop.kernel_kind = ").append(name(s.kind)).append(", pto.tileop.arg_effects = [");
    separator = "";
    for (const ArgEffect e : s.effects) out_.append(std::exchange(separator, ", ")).append(name(e));
    out_.append("]}");
  }
  [[nodiscard]] std::string_view hint_of(const Parameter& p) const {
    return p.name.empty() ? std::string_view(f_.name_of(p.value)) : std::string_view(p.name);
  }
  void note_hints(BlockId b) {
    for (const ValueId v : f_[b].arguments) note_hint(v);
    for (OpId op = f_[b].first; op; op = f_.next(op)) {
      for (int i = 0; i < f_.result_count(op); ++i) note_hint(f_.result(op, i));
      for (int i = 0; i < f_.block_count(op); ++i) note_hints(f_.block(op, i));
    }
  }
  void note_hint(ValueId v) {
    if (f_[v].name != 0) hints_.try_emplace(f_.name_of(v), 0);
  }
  // The first value with a hint has it as its name; the others get a number that makes no other hint.
  void give_name(ValueId v, std::string_view hint) {
    if (hint.empty()) {
      names_[v.index] = {{}, next_number_++};
      return;
    }
    std::uint32_t& used = hints_[hint];
    if (used > 0)
      while (hints_.count(std::string(hint) + "_" + std::to_string(used)) != 0) ++used;
    names_[v.index] = {hint, used > 0 ? used : no_index};
    ++used;
  }
  void name_block(BlockId b) {
    for (const ValueId v : f_[b].arguments)
      if (!is_named(v)) give_name(v, f_.name_of(v));
    for (OpId op = f_[b].first; op; op = f_.next(op)) {
      for (int i = 0; i < f_.result_count(op); ++i) give_name(f_.result(op, i), f_.name_of(f_.result(op, i)));
      for (int i = 0; i < f_.block_count(op); ++i) name_block(f_.block(op, i));
    }
  }
  [[nodiscard]] bool is_named(ValueId v) const {
    return !names_[v.index].hint.empty() || names_[v.index].number != no_index;
  }
  void value_name(ValueId v) {
    const Name& n = names_[v.index];
    out_.push_back('%');
    if (!is_named(v)) out_.push_back('?');
    out_.append(n.hint);
    if (n.number == no_index) return;
    if (!n.hint.empty()) out_.push_back('_');
    out_.append(std::to_string(n.number));
  }

  void value(ValueId v) {
    const Value& x = f_[v];
    if (x.kind == ValueKind::symbol) out_.append(dim_text(x.integer));
    else if (x.kind != ValueKind::constant) value_name(v);
    else if (x.type.dtype == boolean) out_.append(x.integer != 0 ? "true" : "false");
    else out_.append(is_float(x.type.dtype) ? number_text(x.number) : number_text(x.integer));
    if (x.kind == ValueKind::constant && x.type.dtype != boolean && x.type.dtype != index_type)
      out_.append(":").append(name(x.type.dtype));
  }
  void values(std::size_t first, List<ValueId> list) {
    for (std::size_t i = first; i < list.size(); ++i) {
      if (i > first) out_.append(", ");
      value(list[i]);
    }
  }
  void type(ValueId v) {
    const Value& x = f_[v];
    out_.append(text(x.type));
    if (x.type.is_shaped() && !f_.fully_valid(v)) {
      out_.append(" valid[");
      for (int i = 0; i < x.type.rank; ++i) {
        if (i > 0) out_.push_back(',');
        const Extent e = f_.valid(v, i);
        if (e.is_constant()) out_.append(dim_text(e.constant));
        else value(e.value);
      }
      out_.push_back(']');
    }
    if (x.buffer == no_index) return;
    out_.append(" buffer(");
    value({x.buffer});
    if (x.buffer == v.index && x.storage != no_storage) out_.append(" in @").append(slot_text(f_.storage[x.storage], x.slot));
    if (x.buffer == v.index && x.address != no_index) out_.append(" at ").append(number_text(std::int64_t{x.address}));
    out_.push_back(')');
  }
  void attribute(const Attr& a) {
    out_.append(name(a.key)).append(" = ");
    if (a.is_list) {
      out_.push_back('[');
      for (std::size_t i = 0; i < a.count; ++i) out_.append(i == 0 ? "" : ", ").append(dim_text(f_.list(a)[i]));
      out_.push_back(']');
    } else if (const std::string_view named = word_of(a.key, a.integer); !named.empty()) out_.append(named);
    else out_.append(number_text(a.integer));
  }
  [[nodiscard]] std::string_view prefix(OpId op) const {
    switch (f_.info(op).level) {
      case Level::control: return "";
      case Level::scalar: return "scalar.";
      case Level::tensor: return "tensor.";
      case Level::tile: return "tile.";
      case Level::shaped: break;
    }
    for (int i = 0; i < f_.operand_count(op); ++i)
      if (f_.type(f_.operand(op, i)).is_tile()) return "tile.";
    return f_.result_count(op) > 0 && f_.type(f_.result(op)).is_tile() ? "tile." : "tensor.";
  }

  void indent(int depth) { out_.append(static_cast<std::size_t>(depth) * 2, ' '); }
  void block(BlockId b, int depth) {
    for (OpId op = f_[b].first; op; op = f_.next(op)) line(op, depth);
  }
  void line(OpId op, int depth) {
    indent(depth);
    for (int i = 0; i < f_.result_count(op); ++i) {
      out_.append(i == 0 ? "" : ", ");
      value(f_.result(op, i));
    }
    if (f_.result_count(op) > 0) out_.append(" = ");
    out_.append(prefix(op)).append(f_.info(op).name);
    if (f_.is(op, ops::call) || f_.is(op, ops::launch)) call_operands(op);
    else if (f_.is(op, ops::tileop_body)) body_operands(op);
    else if (f_.info(op).level == Level::control) control_operands(op);
    else operands(op);
    for (int i = 0; i < f_.result_count(op); ++i) {
      out_.append(i == 0 ? " : " : ", ");
      type(f_.result(op, i));
    }
    blocks(op, depth);
    if (options_.locations && f_[op].location.line != 0)
      out_.append(" loc(").append(place_text(f_[op].location)).append(")");
    out_.push_back('\n');
  }
  void callee(OpId op) {
    const std::size_t index = callee_index(f_, op);
    out_.append(" @");
    const auto& held = f_.is(op, ops::launch) ? f_.launched : f_.tileops;
    if (runs_on_chip(f_.kind) && index < held.size()) out_.append(held[index]->name);
    else if (program_ != nullptr && index < program_->functions.size()) out_.append(program_->functions[index].name);
    else out_.append(std::to_string(index));
  }
  void call_operands(OpId op) {
    callee(op);
    operands(op);
  }
  void body_operands(OpId op) {
    callee(op);
    const std::vector<ValueId> list = f_.operands(op);
    const auto fixed = std::min(list.size(), static_cast<std::size_t>(fixed_operands(f_, op)));
    out_.push_back('(');
    values(0, {list.data(), fixed});
    out_.push_back(')');
    if (f_.block_count(op) == 1) carried(f_[f_.block(op)].arguments, 0, list, fixed);
  }
  void operands(OpId op) {
    out_.push_back('(');
    values(0, f_.operands(op));
    out_.push_back(')');
    attributes(op);
  }
  void attributes(OpId op) {
    bool first = true;
    for (const Attr& a : f_.attrs(op)) {
      if (a.key == AttrKey::callee) continue;
      out_.append(first ? " {" : ", ");
      attribute(a);
      first = false;
    }
    if (!first) out_.push_back('}');
  }
  void control_operands(OpId op) {
    const std::vector<ValueId> list = f_.operands(op);
    if (f_.is(op, ops::for_loop) && list.size() >= 3 && f_.block_count(op) == 1 &&
        !f_[f_.block(op)].arguments.empty()) {
      out_.push_back(' ');
      value(f_[f_.block(op)].arguments[0]);
      const std::string_view between[] = {" = ", " to ", " step "};
      for (std::size_t i = 0; i < 3; ++i) {
        out_.append(between[i]);
        value(list[i]);
      }
      carried(f_[f_.block(op)].arguments, 1, list, 3);
    } else if (f_.is(op, ops::while_loop) && f_.block_count(op) == 2) {
      carried(f_[f_.block(op)].arguments, 0, list, 0);
    } else if (!list.empty()) {
      out_.push_back(' ');
      values(0, list);
    }
    attributes(op);
  }
  void carried(List<ValueId> arguments, std::size_t first, List<ValueId> initial, std::size_t from) {
    if (initial.size() <= from) return;
    out_.append(" carry(");
    for (std::size_t i = 0; from + i < initial.size(); ++i) {
      if (i > 0) out_.append(", ");
      if (first + i < arguments.size()) value(arguments[first + i]);
      out_.append(" = ");
      value(initial[from + i]);
    }
    out_.push_back(')');
  }
  void blocks(OpId op, int depth) {
    for (int i = 0; i < f_.block_count(op); ++i) {
      if (i > 0) {
        indent(depth);
        out_.append(f_.is(op, ops::if_else) ? "} else" : "} do");
        if (f_.is(op, ops::while_loop) && !f_[f_.block(op, i)].arguments.empty()) {
          out_.push_back('(');
          values(0, f_[f_.block(op, i)].arguments);
          out_.push_back(')');
        }
      }
      out_.append(" {\n");
      block(f_.block(op, i), depth + 1);
    }
    if (f_.block_count(op) == 0) return;
    indent(depth);
    out_.push_back('}');
  }

  const Function& f_;
  const Program* program_;
  PrintOptions options_;
  std::vector<Name> names_;
  std::unordered_map<std::string_view, std::uint32_t> hints_;
  std::uint32_t next_number_ = 0;
  std::string out_;
};

// A function behind the tile operations that it calls and the simt kernels that it launches; each of them once.
inline void add_text(std::string& out, std::vector<std::string_view>& known, const Function& f, PrintOptions options, const Program* program) {
  const auto add = [&](const std::shared_ptr<const Function>& held) {
    if (std::find(known.begin(), known.end(), std::string_view(held->name)) != known.end()) return;
    known.emplace_back(held->name);
    add_text(out, known, *held, options, program);
  };
  for (const auto& t : f.tileops) add(t);
  for (const auto& s : f.launched) add(s);
  out.append(out.empty() ? "" : "\n").append(Printer(f, options, program).function());
}

}  // namespace detail

/// The function as text, behind the tile operations that it calls.
[[nodiscard]] inline std::string print(const Function& f, PrintOptions options = {}) {
  std::string out;
  std::vector<std::string_view> known;
  detail::add_text(out, known, f, options, nullptr);
  return out;
}
/// One operation with its blocks, named as in the whole function.
[[nodiscard]] inline std::string print(const Function& f, OpId op, PrintOptions options = {}) {
  return detail::Printer(f, options).operation(op);
}

/// All functions, callees and tile operations first.
[[nodiscard]] inline std::string print(const Program& p, PrintOptions options = {}) {
  std::string out;
  std::vector<std::string_view> known;
  for (const Function& f : p.functions) detail::add_text(out, known, f, options, &p);
  return out;
}
/// One operation of a function of the program.
[[nodiscard]] inline std::string print(const Program& p, const Function& f, OpId op, PrintOptions options = {}) {
  return detail::Printer(f, options, &p).operation(op);
}

}  // namespace tessera
