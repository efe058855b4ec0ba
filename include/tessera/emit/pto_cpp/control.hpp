// Loops and branches. Scalars that are carried are variables; a tile stays in its buffer, which every block writes.
#pragma once

#include "../../ops/sync.hpp"
#include "scalars.hpp"
#include "tileops.hpp"

namespace tessera::cpp {

void emit_block(Writer& w, BlockId b);

/// What a block hands on: a variable and its new value.
struct Assignment {
  ValueId to, from;
};
// All at once: where a value that is handed on is a variable that was set before, it is kept first.
inline void assign(Writer& w, const std::vector<Assignment>& list) {
  bool crossed = false;
  for (std::size_t i = 0; i < list.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) crossed = crossed || (w.scalar(list[i].from) == w.scalar(list[k].to) && w.scalar(list[k].from) != w.scalar(list[k].to));
  std::vector<std::string> values;
  for (const Assignment& a : list) {
    values.push_back(w.scalar(a.from));
    if (!crossed) continue;
    const std::string kept = w.names.unique("next_" + w.scalar(a.to));
    w.line("const ", type_name(w.f.type(a.to).dtype), " ", kept, " = ", values.back(), ";");
    values.back() = kept;
  }
  for (std::size_t i = 0; i < list.size(); ++i)
    if (w.scalar(list[i].to) != values[i]) w.line(w.scalar(list[i].to), " = ", values[i], ";");
}
// Scalars of `to` from the operands of a terminator; a tile must be in the buffer where the operation that holds the block has it.
template <class To>
void hand_on(Writer& w, OpId terminator, int first, int count, To&& to) {
  std::vector<Assignment> list;
  for (int i = 0; i < count; ++i) {
    const ValueId from = w.f.operand(terminator, first + i), v = to(i);
    if (!w.f.type(from).is_tile()) list.push_back({v, from});
    else if (w.f[from].buffer != w.f[v].buffer) contradict(w, terminator, "a tile is handed on in another buffer than the result's");
  }
  assign(w, list);
}

// Declares a variable for each carried scalar, and finds the tiles of the others.
inline void begin_carried(Writer& w, OpId o, ValueId v, ValueId initial) {
  if (w.f.type(v).is_tile()) return carry(w, o, v, initial);
  const std::string value = w.scalar(initial);
  w.line(type_name(w.f.type(v).dtype), " ", w.define(v), " = ", value, ";");
}
inline void end_carried(Writer& w, OpId o, ValueId result, ValueId carried) {
  if (w.f.type(result).is_tile()) carry(w, o, result, carried);
  else w.bind(result, w.scalar(carried));
}

inline void emit_for(Writer& w, OpId o) {
  const Function& f = w.f;
  if (f.find_attr(o, AttrKey::split) != nullptr)
    refuse(f, o, "a split region has no text: its two cores need a function each",
           "write one kernel for the cube core and one for the vector cores, with a tensor between them");
  const BlockId body = f.block(o);
  const auto& arguments = f[body].arguments;
  for (std::size_t i = 1; i < arguments.size(); ++i) begin_carried(w, o, arguments[i], f.operand(o, static_cast<int>(2 + i)));
  const std::string start = w.scalar(f.operand(o, 0)), stop = w.scalar(f.operand(o, 1)), step = w.scalar(f.operand(o, 2));
  const std::string i = w.names.unique(f[arguments[0]].name != 0 ? std::string_view(f.name_of(arguments[0])) : std::string_view("i"));
  w.bind(arguments[0], i);
  w.line(o, "for (", type_name(f.type(arguments[0]).dtype), " ", i, " = ", start, "; ", i, " < ", stop, "; ", step == "1" ? "++" + i : i + " += " + step, ") {");
  emit_block(w, body);
  w.deeper();
  hand_on(w, f.terminator(body), 0, f.result_count(o), [&](int k) { return arguments[static_cast<std::size_t>(k) + 1]; });
  w.shallower();
  w.line("}");
  for (int k = 0; k < f.result_count(o); ++k) end_carried(w, o, f.result(o, k), arguments[static_cast<std::size_t>(k) + 1]);
}

inline void emit_if(Writer& w, OpId o) {
  const Function& f = w.f;
  for (int i = 0; i < f.result_count(o); ++i)
    if (const ValueId v = f.result(o, i); !f.type(v).is_tile()) w.line(type_name(f.type(v).dtype), " ", w.define(v), ";");
  const auto branch = [&](BlockId b) {
    emit_block(w, b);
    w.deeper();
    hand_on(w, f.terminator(b), 0, f.result_count(o), [&](int k) { return f.result(o, k); });
    w.shallower();
  };
  w.line(o, "if (", w.scalar(f.operand(o, 0)), ") {");
  branch(f.block(o, 0));
  const bool only_ends = f[f.block(o, 1)].first == f.terminator(f.block(o, 1)), hands_on = f.result_count(o) > 0;
  if (!only_ends || hands_on) {
    w.line("} else {");
    branch(f.block(o, 1));
  }
  w.line("}");
  for (int i = 0; i < f.result_count(o); ++i) {
    const ValueId v = f.result(o, i), owner{f[v].buffer};
    if (!f.type(v).is_tile()) continue;
    if (f[v].buffer == no_index) contradict(w, o, "the result has no buffer");
    if (w.has_tile(owner) && w.alike(v, w.tile(owner).like)) w.same_tile(v, owner);
    else w.bind(v, declare_at(w, v, address_of(w, v)));
  }
}

// The condition is looked at behind what its block does, with the values that it hands on.
inline void emit_while(Writer& w, OpId o) {
  const Function& f = w.f;
  const BlockId condition = f.block(o, 0), body = f.block(o, 1);
  const auto carried = [&](int i) { return f[condition].arguments[static_cast<std::size_t>(i)]; };
  const int count = f.operand_count(o);
  for (int i = 0; i < count; ++i) begin_carried(w, o, carried(i), f.operand(o, i));
  w.line(o, "while (true) {");
  emit_block(w, condition);
  w.deeper();
  const OpId looks = f.terminator(condition);
  std::string holds = w.scalar(f.operand(looks, 0));
  if (!f.definition(f.operand(looks, 0))) {  // a variable, which what is handed on may set
    const std::string variable = std::exchange(holds, w.names.unique("goes_on"));
    w.line("const bool ", holds, " = ", variable, ";");
  }
  hand_on(w, looks, 1, count, carried);
  w.line("if (!", holds, ") break;");
  w.shallower();
  for (int i = 0; i < count; ++i) end_carried(w, o, f[body].arguments[static_cast<std::size_t>(i)], carried(i));
  emit_block(w, body);
  w.deeper();
  hand_on(w, f.terminator(body), 0, count, carried);
  w.shallower();
  w.line("}");
  for (int i = 0; i < count; ++i) end_carried(w, o, f.result(o, i), carried(i));
}

/// Control operations are few and have no descriptors of their own form: by identity. Terminators are written by their holders.
struct ControlForm {
  const OpInfo* op;
  void (*emit)(Writer&, OpId);
};
inline void emit_terminator(Writer&, OpId) {}
inline void emit_return(Writer& w, OpId o) {
  if (w.f.operand_count(o) > 0) contradict(w, o, "a kernel still returns values");
}
inline constexpr ControlForm control_forms[] = {{&ops::for_loop, emit_for},          {&ops::if_else, emit_if},
                                                {&ops::while_loop, emit_while},      {&ops::yield, emit_terminator},
                                                {&ops::condition, emit_terminator}, {&ops::return_op, emit_return},
                                                {&ops::tileop_body, emit_tileop}};
inline void emit_control(Writer& w, OpId o) {
  for (const ControlForm& form : control_forms)
    if (w.f.is(o, *form.op)) return form.emit(w, o);
  contradict(w, o, "no control form");
}

/// A flag or a barrier. Those of a pipe that one core has alone are that core's; the others are balanced on each of them.
inline void emit_sync(Writer& w, OpId o) {
  const auto pipe = [&](AttrKey key) { return static_cast<Pipe>(w.f.attr(o, key)); };
  const auto has = [&](Pipe p) { return pipe(AttrKey::pipe) == p || (!w.f.is(o, ops::barrier) && pipe(AttrKey::to_pipe) == p); };
  const Core core = has(Pipe::cube) || has(Pipe::mte1) || has(Pipe::fix) ? Core::cube : has(Pipe::vector) ? Core::vector : Core::both;
  const std::string from = "PIPE_" + std::string(name(pipe(AttrKey::pipe)));
  if (w.f.is(o, ops::barrier)) return w.bare_instruction(core, "pipe_barrier(" + from + ");");
  const std::string to = "PIPE_" + std::string(name(pipe(AttrKey::to_pipe)));
  w.bare_instruction(core, std::string(w.f.info(o).pto) + "(" + from + ", " + to + ", EVENT_ID" + std::to_string(w.f.attr(o, AttrKey::event)) + ");");
}

}  // namespace tessera::cpp
