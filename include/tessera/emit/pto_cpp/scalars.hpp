// Scalar operations as C++ expressions, each a constant of its own. Integers wrap as the simulator's do: sums and products are
// formed in unsigned arithmetic.
#pragma once

#include "tiles.hpp"

namespace tessera::cpp {

[[nodiscard]] inline std::string converted(std::string_view type, const std::string& x) { return "static_cast<" + std::string(type) + ">(" + x + ")"; }

/// `a word b` in the type of the operands.
inline std::string arithmetic(DType d, std::string_view word, const std::string& a, const std::string& b) {
  const std::string plain = a + " " + std::string(word) + " " + b;
  if (is_float(d) || d == index_type || d == u32 || d == u64) return plain;
  const bool wraps = word == "+" || word == "-" || word == "*" || word == "<<";
  if (!wraps && info(d).bits >= 32) return plain;
  if (!wraps) return converted(type_name(d), plain);
  const std::string_view wide = unsigned_name(d);
  return converted(type_name(d), converted(wide, a) + " " + std::string(word) + " " + (word == "<<" ? b : converted(wide, b)));
}
/// The smaller or the larger one; NaN where one of them is.
inline std::string extreme(DType d, std::string_view word, const std::string& a, const std::string& b) {
  const std::string wins = a + " " + std::string(word) + " " + b;
  return (is_float(d) ? "(" + wins + " || " + a + " != " + a + ")" : wins) + " ? " + a + " : " + b;
}

struct BinaryForm {
  std::string_view word, spelled, of_booleans;
};
inline constexpr BinaryForm binary_forms[] = {{"add", "+", {}},  {"sub", "-", {}},  {"mul", "*", {}},   {"div", "/", {}},   {"rem", "%", {}},
                                              {"and", "&", "&&"}, {"or", "|", "||"}, {"xor", "^", "!="}, {"shl", "<<", {}}, {"shr", ">>", {}}};
inline constexpr std::string_view comparisons[] = {"==", "!=", "<", "<=", ">", ">="};  // by Compare

/// The value of a scalar operation.
inline std::string expression(const Writer& w, OpId o) {
  const Function& f = w.f;
  const std::string_view word = f.info(o).pto;
  const auto x = [&](int i) { return w.scalar(f.operand(o, i)); };
  const DType d = f.type(f.operand(o, 0)).dtype, to = f.type(f.result(o)).dtype;
  for (const BinaryForm& b : binary_forms)
    if (b.word == word) return d == boolean ? x(0) + " " + std::string(b.of_booleans) + " " + x(1) : arithmetic(d, b.spelled, x(0), x(1));
  if (word == "min" || word == "max") return extreme(d, word == "min" ? "<" : ">", x(0), x(1));
  if (word == "cmp") return x(0) + " " + std::string(comparisons[static_cast<std::size_t>(f.attr(o, AttrKey::compare))]) + " " + x(1);
  if (word == "select") return x(0) + " ? " + x(1) + " : " + x(2);
  if (word == "not") return "!" + x(0);
  if (word == "neg") return is_float(d) ? "-(" + x(0) + ")" : arithmetic(d, "-", "0", x(0));
  if (word != "cast") contradict(w, o, "no scalar form " + std::string(word));
  return to == boolean ? x(0) + " != " + (is_float(d) ? float_literal(d, 0) : "0") : converted(type_name(to), x(0));
}

inline void define_scalar(Writer& w, OpId o, const std::string& value) {
  const ValueId v = w.f.result(o);
  const std::string& name = w.define(v);
  w.line(o, "const ", type_name(w.f.type(v).dtype), " ", name, " = ", value, ";");
}
inline void emit_arith(Writer& w, OpId o) { define_scalar(w, o, expression(w, o)); }

/// The place in the launch. The instruction set calls a subblock's index an id.
inline void emit_block_index(Writer& w, OpId o) {
  constexpr std::string_view words[][2] = {{"get_subblock_idx", "get_subblockid"}, {"get_subblock_num", "get_subblockdim"}};
  std::string_view word = w.f.info(o).pto;
  for (const auto& [from, to] : words)
    if (word == from) word = to;
  define_scalar(w, o, std::string(word) + "()");
}

}  // namespace tessera::cpp
