// Simt kernels: the function that threads run, the kernel that launches it, and what threads do besides arithmetic.
#pragma once

#include "../../ir/program.hpp"
#include "memory.hpp"

namespace tessera::pto {

/// The name of the function that the threads of a simt kernel run, in every module that launches it.
[[nodiscard]] inline std::string threads_symbol(const Function& simt) { return std::string(simt.name.c_str()) + "_simt"; }
[[nodiscard]] inline std::string threads_attributes(const Function& simt) {
  return "pto.simt_entry, pto.simt_max_threads = " + std::to_string(simt.threads.total()) + " : i32";
}

inline void emit_thread_index(Module& m, OpId o) {
  const Name n = m.fresh();
  m.line(n, " = pto.", m.f.info(o).pto, '_', "xyz"[m.f.attr(o, AttrKey::axis)], " : i32");
  m.line(o, m.define(m.f.result(o)), " = arith.index_cast ", n, " : i32 to index");
}

inline void emit_atomic(Module& m, OpId o) {
  const ValueId x = m.f.operand(o, 0);
  check_element(m, o, x);
  const DType d = m.f.type(x).dtype;
  const Name at = m.name(element(m, o, x, 2)), value = m.scalar(m.f.operand(o, 1)), place = m.fresh(), before = m.fresh();
  const std::string_view type = m.in_memory(d), sign = is_float(d) ? "" : is_unsigned(d) ? " unsigned" : " signed";
  m.line(place, " = pto.addptr ", m.scalar(parameter_of(m.f, x)), ", ", at, " : !pto.ptr<", type, "> -> !pto.ptr<", type, '>');
  m.line(o, before, " = pto.", m.f.info(o).pto, ' ', place, ", ", value, sign, " : !pto.ptr<", type, ">, ", type, " -> ", type);
}

/// An argument of a launch: a name, and its type in the text.
struct LaunchArgument {
  Name name;
  std::string type;
};
// Behind it everything waits for the threads.
inline void put_launch(Module& m, const Function& simt, const std::vector<LaunchArgument>& arguments, OpId o) {
  Name extents[3];
  for (int axis = 0; axis < 3; ++axis) extents[axis] = m.integer(i32, simt.threads[axis]);
  m.begin();
  m.put("pto.simt_launch @", threads_symbol(simt), "<<<", extents[0], ", ", extents[1], ", ");
  m.put(extents[2]);
  m.put(">>>(");
  for (std::size_t i = 0; i < arguments.size(); ++i) m.put(i == 0 ? "" : ", "), m.put(arguments[i].name);
  m.put(") : (");
  for (std::size_t i = 0; i < arguments.size(); ++i) m.put(i == 0 ? "" : ", "), m.put(arguments[i].type);
  m.put(") -> ()");
  if (o) m.end(o);
  else m.end();
  m.line("pto.barrier <PIPE_ALL>");
}
[[nodiscard]] inline std::string pointer_to_signless(DType d) { return "!pto.ptr<" + std::string(signless(d)) + ">"; }

inline void emit_launch(Module& m, OpId o) {
  const Function &f = m.f, &simt = launched(f, o);
  DimBinding binding;
  if (const Verdict v = check_launch(simt, f, f.operands(o), binding); !v.lawful()) contradict(m, o, "the launch is not lawful");
  std::vector<LaunchArgument> arguments;
  for (const FunctionArgument& a : function_arguments(simt)) {
    if (a.kind == FunctionArgument::Kind::dim) {
      arguments.push_back({m.name(m.dim(binding(a.dim))), "index"});
      continue;
    }
    const ValueId v = f.operand(o, static_cast<int>(a.parameter));
    const DType d = f.type(v).dtype;
    if (a.kind == FunctionArgument::Kind::scalar) {
      arguments.push_back({m.scalar(v), std::string(signless(d))});
      continue;
    }
    Name memory = m.scalar(parameter_of(f, v));
    if (is_unsigned(d)) {
      const Name cast = m.fresh();
      m.line(cast, " = pto.castptr ", memory, " : !pto.ptr<", m.in_memory(d), "> -> ", pointer_to_signless(d));
      memory = cast;
    }
    arguments.push_back({memory, pointer_to_signless(d)});
  }
  put_launch(m, simt, arguments, o);
}

/// The kernel that does nothing but launch: what a host starts.
inline std::string launching_kernel(std::string head, const Function& simt, const EmitOptions& options) {
  Module m(simt, options);
  return m.function(std::move(head), std::string_view(simt.name), "pto.entry", [](Module& entry) {
    std::vector<LaunchArgument> arguments;
    for (const FunctionArgument& a : function_arguments(entry.f)) {
      if (a.kind == FunctionArgument::Kind::dim) {
        arguments.push_back({entry.name(entry.dim(a.dim)), "index"});
        continue;
      }
      const ValueId v = entry.f.parameters[a.parameter].value;
      const DType d = entry.f.type(v).dtype;
      const bool tensor = a.kind == FunctionArgument::Kind::tensor;
      arguments.push_back({entry.scalar(v), tensor ? pointer_to_signless(d) : std::string(signless(d))});
    }
    put_launch(entry, entry.f, arguments, {});
    entry.line("return");
  });
}

}  // namespace tessera::pto
