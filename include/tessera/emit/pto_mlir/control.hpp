// Loops and branches in scf. Only scalars are carried and returned; a tile stays in its buffer, which every block writes.
#pragma once

#include "tileops.hpp"

namespace tessera::pto {

void emit_block(Module& m, BlockId b);

inline void check_in_buffer(const Module& m, OpId o, ValueId v) {
  if (m.tile(v).copied)
    refuse(m, o, "a part of a reshaped tile cannot be carried", "carry a tile that is made before it is reshaped");
}
// A carried tile is where its initial value is.
inline void carry_tile(Module& m, OpId o, ValueId v, ValueId initial) {
  if (m.f[v].buffer != m.f[initial].buffer) contradict(m, o, "a carried tile leaves the buffer of its initial value");
  check_in_buffer(m, o, initial);
  m.same_tile(v, initial);
}
inline void check_carried(const Module& m, OpId o, ValueId v) {
  if (!m.dialect.integers_are_carried && is_integer(m.f.type(v).dtype))
    refuse(m, o,
           "assembler " + std::string(m.dialect.version) + " carries no integers in loops (" +
               std::string(info(m.f.type(v).dtype).name) + ")",
           "carry an Index, or emit for assembler 0.60");
}

/// The scalars among a list of values, as they stand in the text: `%a, %b` and `i32, f32`.
struct Scalars {
  std::string names, types;
  bool empty = true;
  void add(Module& m, Name n, ValueId v, std::string_view between = {}, Name initial = {}) {
    if (!empty) names.append(", "), types.append(", ");
    m.spell(names, n);
    if (!between.empty()) m.spell(names.append(between), initial);
    types.append(signless(m.f.type(v).dtype));
    empty = false;
  }
};

// Names for the scalar results, and the tiles of the others.
inline Scalars define_results(Module& m, OpId o, int first_initial) {
  Scalars results;
  for (int i = 0; i < m.f.result_count(o); ++i) {
    const ValueId v = m.f.result(o, i);
    if (!m.f.type(v).is_tile()) results.add(m, m.define(v), v);
    else if (first_initial >= 0) carry_tile(m, o, v, m.f.operand(o, first_initial + i));
    else share(m, o, v);
  }
  return results;
}

/// Whether a value is what a loop counts.
[[nodiscard]] inline bool is_counter(const Function& f, ValueId v) {
  if (f[v].kind != ValueKind::argument) return false;
  const OpId owner = f[f.defining_block(v)].owner;
  return owner && f.is(owner, ops::for_loop) && f[f.defining_block(v)].arguments[0] == v;
}

inline void emit_for(Module& m, OpId o) {
  const Function& f = m.f;
  if (f.find_attr(o, AttrKey::split) != nullptr)
    refuse(m, o, "a split region has no text: its two cores need a function each",
           "write one kernel for the cube core and one for the vector cores, with a tensor between them");
  const BlockId body = f.block(o);
  const auto& arguments = f[body].arguments;
  const bool counts_index = f.type(arguments[0]).is_index();
  Name bounds[3];
  for (int i = 0; i < 3; ++i) bounds[i] = counts_index ? m.name(m.index(f.operand(o, i))) : m.scalar(f.operand(o, i));
  const Name counter = m.define(arguments[0]);
  // The assembler does not take the counter of one loop as the start of another: that one is counted from 0.
  const bool from_counter = is_counter(f, f.operand(o, 0));
  const Name start = bounds[0], shifted = from_counter ? m.fresh() : counter;
  const std::string type(counts_index ? "index" : signless(f.type(arguments[0]).dtype));
  if (from_counter) {
    bounds[0] = counts_index ? m.index_constant(0) : m.zero(f.type(arguments[0]).dtype);
    const Name length = m.fresh();
    m.line(o, length, " = arith.subi ", bounds[1], ", ", start, " : ", type);
    bounds[1] = length;
  }
  Scalars carried;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const ValueId initial = f.operand(o, static_cast<int>(2 + i));
    if (f.type(arguments[i]).is_tile()) {
      carry_tile(m, o, arguments[i], initial);
      continue;
    }
    check_carried(m, o, arguments[i]);
    const Name from = m.scalar(initial);
    carried.add(m, m.define(arguments[i]), arguments[i], " = ", from);
  }
  const Scalars results = define_results(m, o, 3);
  m.begin();
  if (!results.empty) m.put(results.names, " = ");
  m.put("scf.for ", shifted, " = ", bounds[0], " to ", bounds[1], " step ", bounds[2]);
  if (!carried.empty) m.put(" iter_args(", carried.names, ") -> (", carried.types, ')');
  if (!counts_index) m.put(" : ", signless(f.type(arguments[0]).dtype));
  m.put(" {");
  m.end_opening(o);
  m.deeper();
  if (from_counter) m.line(o, counter, " = arith.addi ", start, ", ", shifted, " : ", type);
  m.shallower();
  emit_block(m, body);
  m.close(o);
}

inline void emit_if(Module& m, OpId o) {
  const Function& f = m.f;
  const Name condition = m.scalar(f.operand(o, 0));
  const Scalars results = define_results(m, o, -1);
  m.begin();
  if (!results.empty) m.put(results.names, " = ");
  m.put("scf.if ", condition);
  if (!results.empty) m.put(" -> (", results.types, ')');
  m.put(" {");
  m.end_opening(o);
  emit_block(m, f.block(o, 0));
  const OpId otherwise = f[f.block(o, 1)].first;
  if (!results.empty || (otherwise && f.next(otherwise))) {  // more than a yield of nothing
    m.line("} else {");
    emit_block(m, f.block(o, 1));
  }
  m.close(o);
}

inline void emit_while(Module& m, OpId o) {
  const Function& f = m.f;
  const BlockId condition = f.block(o, 0), body = f.block(o, 1);
  Scalars initial, arguments;
  std::string body_arguments;
  for (int i = 0; i < f.operand_count(o); ++i) {
    const ValueId from = f.operand(o, i), before = f[condition].arguments[static_cast<std::size_t>(i)],
                  in_body = f[body].arguments[static_cast<std::size_t>(i)];
    if (f.type(before).is_tile()) {
      carry_tile(m, o, before, from);
      carry_tile(m, o, in_body, from);
      continue;
    }
    check_carried(m, o, before);
    const Name start = m.scalar(from);
    initial.add(m, m.define(before), before, " = ", start);
    if (!body_arguments.empty()) body_arguments.append(", ");
    m.spell(body_arguments, m.define(in_body));
    body_arguments.append(": ").append(signless(f.type(in_body).dtype));
  }
  const Scalars results = define_results(m, o, 0);
  m.begin();
  if (!results.empty) m.put(results.names, " = ");
  m.put("scf.while ");
  if (!initial.empty) m.put('(', initial.names, ") ");
  m.put(": (", initial.types, ") -> (", initial.types, ") {");
  m.end_opening(o);
  emit_block(m, condition);
  m.line("} do {");
  if (!body_arguments.empty()) m.line("^bb0(", body_arguments, "):");
  emit_block(m, body);
  m.close(o);
}

// What a block hands on: scalars by name; a tile must be in the buffer where the operation that holds the block has it.
inline Scalars handed_on(Module& m, OpId o, int first) {
  const Function& f = m.f;
  const OpId holder = f[f[o].parent].owner;
  Scalars list;
  for (int i = first; i < f.operand_count(o); ++i) {
    const ValueId v = f.operand(o, i), result = f.result(holder, i - first);
    if (!f.type(v).is_tile()) list.add(m, m.scalar(v), v);
    else if (f[v].buffer != f[result].buffer)
      contradict(m, o, "a tile is handed on in another buffer than the result's");
    else check_in_buffer(m, o, v);
  }
  return list;
}

inline void emit_yield(Module& m, OpId o) {
  if (m.f.is(m.f[m.f[o].parent].owner, ops::tileop_body)) return static_cast<void>(handed_on(m, o, 0));  // its tiles are where the caller has them
  const Scalars list = handed_on(m, o, 0);
  // A while body has no implicit end.
  const bool in_while = m.f.is(m.f[m.f[o].parent].owner, ops::while_loop);
  if (!list.empty) m.line("scf.yield ", list.names, " : ", list.types);
  else if (in_while) m.line("scf.yield");
}
inline void emit_condition(Module& m, OpId o) {
  const Name c = m.scalar(m.f.operand(o, 0));
  const Scalars list = handed_on(m, o, 1);
  if (list.empty) m.line(o, "scf.condition(", c, ')');
  else m.line(o, "scf.condition(", c, ") ", list.names, " : ", list.types);
}
inline void emit_return(Module& m, OpId o) {
  if (m.f.operand_count(o) > 0) contradict(m, o, "a kernel still returns values");
  m.line("return");
}

/// Control operations are few and have no descriptors of their own form: by identity.
struct ControlForm {
  const OpInfo* op;
  void (*emit)(Module&, OpId);
};
inline constexpr ControlForm control_forms[] = {{&ops::for_loop, emit_for},        {&ops::if_else, emit_if},
                                                {&ops::while_loop, emit_while},    {&ops::yield, emit_yield},
                                                {&ops::condition, emit_condition}, {&ops::return_op, emit_return},
                                                {&ops::tileop_body, emit_tileop}};
inline void emit_control(Module& m, OpId o) {
  for (const ControlForm& form : control_forms)
    if (m.f.is(o, *form.op)) return form.emit(m, o);
  contradict(m, o, "no control form");
}

/// A flag or a barrier.
inline void emit_sync(Module& m, OpId o) {
  const auto pipe = [&](AttrKey key) { return name(static_cast<Pipe>(m.f.attr(o, key))); };
  if (m.f.is(o, ops::barrier)) return m.line("pto.barrier <PIPE_", pipe(AttrKey::pipe), '>');
  m.line("pto.", m.f.info(o).pto, "[<PIPE_", pipe(AttrKey::pipe), ">, <PIPE_", pipe(AttrKey::to_pipe), ">, <EVENT_ID",
         m.f.attr(o, AttrKey::event), ">]");
}

}  // namespace tessera::pto
