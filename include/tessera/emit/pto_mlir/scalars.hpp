// Scalar instructions: arithmetic by kind of element type, comparison, conversion, the place in the launch.
#pragma once

#include "tiles.hpp"

namespace tessera::pto {

/// The instruction of an operation for signed integers (and index), unsigned integers and floats. Empty: not one
/// instruction, see emit_arith.
struct ScalarForm {
  std::string_view word, on_signed, on_unsigned, on_float;
};
inline constexpr ScalarForm scalar_forms[] = {
    {"add", "addi", "addi", ""},           {"sub", "subi", "subi", "subf"},   {"mul", "muli", "muli", "mulf"},
    {"div", "divsi", "divui", "divf"},     {"rem", "remsi", "remui", "remf"}, {"min", "minsi", "minui", "minimumf"},
    {"max", "maxsi", "maxui", "maximumf"}, {"and", "andi", "andi", ""},       {"or", "ori", "ori", ""},
    {"xor", "xori", "xori", ""},           {"shl", "shli", "shli", ""},       {"shr", "shrsi", "shrui", ""},
};
// By Compare.
inline constexpr std::string_view signed_predicates[] = {"eq", "ne", "slt", "sle", "sgt", "sge"};
inline constexpr std::string_view unsigned_predicates[] = {"eq", "ne", "ult", "ule", "ugt", "uge"};
inline constexpr std::string_view float_predicates[] = {"oeq", "une", "olt", "ole", "ogt", "oge"};

inline Name negated(Module& m, Name x, DType d) {
  const Name n = m.fresh();
  m.line(n, " = arith.negf ", x, " : ", signless(d));
  return n;
}

inline void emit_binary(Module& m, OpId o, const ScalarForm& form) {
  const ValueId v = m.f.result(o);
  const DType d = m.f.type(v).dtype;
  const Name a = m.scalar(m.f.operand(o, 0)), b = m.scalar(m.f.operand(o, 1));
  std::string_view instruction = is_float(d)                      ? form.on_float
                                 : is_unsigned(d) || d == boolean ? form.on_unsigned
                                                                  : form.on_signed;
  Name second = b;
  if (is_float(d) && form.word == "add") {  // the assembler lowers no arith.addf outside of threads: a - (-b)
    if (!m.in_threads()) second = negated(m, b, d);
    instruction = m.in_threads() ? "addf" : "subf";
  }
  if (instruction.empty())
    refuse(m, o, "no instruction for this element type (" + std::string(info(d).name) + ")", "cast the operands");
  m.line(o, m.define(v), " = arith.", instruction, ' ', a, ", ", second, " : ", signless(d));
}

inline void emit_negation(Module& m, OpId o) {
  const ValueId v = m.f.result(o);
  const DType d = m.f.type(v).dtype;
  const Name x = m.scalar(m.f.operand(o, 0));
  if (is_float(d)) {
    m.line(o, m.define(v), " = arith.negf ", x, " : ", signless(d));
    return;
  }
  const Name zero = m.zero(d);
  m.line(o, m.define(v), " = arith.subi ", zero, ", ", x, " : ", signless(d));
}

inline void emit_not(Module& m, OpId o) {
  const Name x = m.scalar(m.f.operand(o, 0)), one = m.truth();
  m.line(o, m.define(m.f.result(o)), " = arith.xori ", x, ", ", one, " : i1");
}

inline void emit_compare(Module& m, OpId o) {
  const ValueId lhs = m.f.operand(o, 0);
  const DType d = m.f.type(lhs).dtype;
  const Name a = m.scalar(lhs), b = m.scalar(m.f.operand(o, 1));
  const auto which = static_cast<std::size_t>(m.f.attr(o, AttrKey::compare));
  const std::string_view predicate = is_float(d)                      ? float_predicates[which]
                                     : is_unsigned(d) || d == boolean ? unsigned_predicates[which]
                                                                      : signed_predicates[which];
  m.line(o, m.define(m.f.result(o)), is_float(d) ? " = arith.cmpf " : " = arith.cmpi ", predicate, ", ", a, ", ", b,
         " : ", signless(d));
}

inline void emit_select(Module& m, OpId o) {
  const ValueId v = m.f.result(o);
  const Name c = m.scalar(m.f.operand(o, 0)), a = m.scalar(m.f.operand(o, 1)), b = m.scalar(m.f.operand(o, 2));
  m.line(o, m.define(v), " = arith.select ", c, ", ", a, ", ", b, " : ", signless(m.f.type(v).dtype));
}

// One conversion between signless types.
inline Name convert(Module& m, std::string_view instruction, Name x, std::string_view from, std::string_view to) {
  const Name n = m.fresh();
  m.line(n, " = arith.", instruction, ' ', x, " : ", from, " to ", to);
  return n;
}
inline Name convert_integer(Module& m, Name x, DType from, DType to) {
  const bool unsigned_source = is_unsigned(from) || from == boolean;
  const std::string_view a = signless(from), b = signless(to);
  if (a == b) return x;
  if (from == index_type || to == index_type) {
    if (from == boolean) return convert_integer(m, convert(m, "extui", x, a, "i64"), i64, to);
    return convert(m, unsigned_source ? "index_castui" : "index_cast", x, a, b);
  }
  if (info(to).bits < info(from).bits) return convert(m, "trunci", x, a, b);
  return convert(m, unsigned_source ? "extui" : "extsi", x, a, b);
}
inline Name convert_float(Module& m, OpId o, Name x, DType from, DType to) {
  const int a = info(from).bits, b = info(to).bits;
  if (a < 16 || b < 16)
    refuse(m, o, "no conversion of scalars (" + std::string(info(from).name) + ", " + std::string(info(to).name) + ")",
           "use f32");
  if (from == to) return x;
  if (a == b) return convert(m, "truncf", convert(m, "extf", x, signless(from), "f32"), "f32", signless(to));
  return convert(m, a < b ? "extf" : "truncf", x, signless(from), signless(to));
}

inline void emit_scalar_cast(Module& m, OpId o) {
  const ValueId x = m.f.operand(o, 0), v = m.f.result(o);
  const DType from = m.f.type(x).dtype, to = m.f.type(v).dtype;
  Name n = m.scalar(x);
  if (m.f.is_constant(x) && from == index_type && to != index_type && !is_float(to) && to != boolean) {
    n = convert(m, "index_cast", n, "index", signless(to));
  } else if (is_float(from) && is_float(to)) {
    n = convert_float(m, o, n, from, to);
  } else if (to == boolean && from != boolean) {
    const Name zero = m.zero(from), made = m.fresh();
    m.line(made, is_float(from) ? " = arith.cmpf une, " : " = arith.cmpi ne, ", n, ", ", zero, " : ", signless(from));
    n = made;
  } else if (is_float(to)) {
    const DType whole = from == index_type ? i64 : from;
    const bool no_sign = is_unsigned(from) || from == boolean;
    n = convert(m, no_sign ? "uitofp" : "sitofp", convert_integer(m, n, from, whole), signless(whole), signless(to));
  } else if (is_float(from)) {
    const DType whole = to == index_type ? i64 : to;
    n = convert_integer(m, convert(m, is_unsigned(to) ? "fptoui" : "fptosi", n, signless(from), signless(whole)), whole,
                        to);
  } else {
    n = convert_integer(m, n, from, to);
  }
  m.bind(v, n);
}

struct SpecialScalarForm {
  std::string_view word;
  void (*emit)(Module&, OpId);
};
inline constexpr SpecialScalarForm special_scalar_forms[] = {{"neg", emit_negation},
                                                             {"not", emit_not},
                                                             {"cmp", emit_compare},
                                                             {"select", emit_select},
                                                             {"cast", emit_scalar_cast}};

inline void emit_arith(Module& m, OpId o) {
  const std::string_view word = m.f.info(o).pto;
  for (const ScalarForm& form : scalar_forms)
    if (form.word == word) return emit_binary(m, o, form);
  for (const SpecialScalarForm& form : special_scalar_forms)
    if (form.word == word) return form.emit(m, o);
  contradict(m, o, "no scalar form " + std::string(word));
}

inline void emit_block_index(Module& m, OpId o) {
  const Name n = m.fresh();
  m.line(n, " = pto.", m.f.info(o).pto);
  m.line(o, m.define(m.f.result(o)), " = arith.index_cast ", n, " : i64 to index");
}

}  // namespace tessera::pto
