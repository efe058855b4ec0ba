// A fully lowered function as C++ that calls the PTO tile library: one readable file with the kernel and a function that
// launches it. It is compiled for hardware, and for the library's CPU simulator. Equal functions give equal bytes.
#pragma once

#include <string>

#include "../ir/target.hpp"
#include "pto_cpp/forms.hpp"

namespace tessera {

/// Stands in the first line of every emitted file.
inline constexpr std::string_view cpp_mark = ", written by Tessera.";

namespace cpp {

/// An argument of the kernel as its declaration, and as the launch takes it and hands it on.
struct ArgumentText {
  std::string declared, of_launch, handed_on;
};
inline std::vector<ArgumentText> arguments_of(const Writer& w) {
  std::vector<ArgumentText> list;
  for (const FunctionArgument& a : function_arguments(w.f)) {
    if (a.kind == FunctionArgument::Kind::dim) {
      const std::string name = w.dim(a.dim).text;
      list.push_back({"int64_t " + name, "int64_t " + name, name});
      continue;
    }
    const ValueId v = w.f.parameters[a.parameter].value;
    const std::string type(type_name(w.f.type(v).dtype)), name = w.scalar(v);
    if (a.kind == FunctionArgument::Kind::scalar) list.push_back({type + " " + name, type + " " + name, name});
    else list.push_back({"__gm__ " + type + "* " + name, "void* " + name, "static_cast<" + type + "*>(" + name + ")"});
  }
  return list;
}
inline std::string joined(const std::vector<ArgumentText>& list, std::string ArgumentText::*part) {
  std::string text;
  for (const ArgumentText& a : list) text.append(text.empty() ? "" : ", ").append(a.*part);
  return text;
}

/// Whether elements of a tensor are written by the scalar unit, through its cache.
inline bool writes_elements(const Function& f, BlockId b) {
  for (OpId o = f[b].first; o; o = f.next(o)) {
    if (f.is(o, ops::write) && f.type(f.operand(o, 0)).is_tensor()) return true;
    for (int i = 0; i < f.block_count(o); ++i)
      if (writes_elements(f, f.block(o, i))) return true;
  }
  return false;
}
inline bool ends_in_barrier(const Function& f) {
  OpId last;
  for (OpId o = f[f.body()].first; o; o = f.next(o))
    if (!f.is(o, ops::return_op)) last = o;
  return last && f.is(last, ops::barrier) && static_cast<Pipe>(f.attr(last, AttrKey::pipe)) == Pipe::none;
}

/// The two kinds of cores run at the same time, and flags order the pipes of one core only: hardware gets no such kernel. The
/// simulator runs the program in its order.
inline void write_refusal(Writer& w) {
  w.directive("#if !defined(__CPU_SIM)");
  w.directive("#error \"" + std::string(w.f.name.c_str()) + " mixes matrix and vector instructions, which run on separate cores that these flags do not order\"");
  w.directive("#endif\n");
}

inline void write_kernel(Writer& w, const std::vector<ArgumentText>& arguments) {
  const Function& f = w.f;
  w.directive("extern \"C\" __global__ AICORE void " + w.function_name() + "(" + joined(arguments, &ArgumentText::declared) + ") {");
  const Cores cores = cores_of(f);
  const bool only_cube = cores.cube && !cores.vector;
  if (!w.is_mixed()) w.directive(only_cube ? "#if defined(__DAV_CUBE__)" : "#if defined(__DAV_VEC__)");
  if (!only_cube) {
    if (w.is_mixed()) w.directive("#if defined(__DAV_VEC__)");
    w.line("set_mask_norm();");
    w.line("set_vector_mask(-1, -1);");
    if (w.is_mixed()) w.directive("#endif");
  }
  for (const Storage& s : f.storage)
    if (s.is_reserved()) w.line("// reserved: ", s.name.str(), ", ", std::to_string(s.bytes), " bytes of ", std::string(name(s.space)), " from ", std::to_string(s.address));
  w.shallower();
  emit_block(w, f.body());
  w.deeper();
  if (!ends_in_barrier(f)) w.line("pipe_barrier(PIPE_ALL);");
  if (writes_elements(f, f.body())) {
    w.line("dcci(static_cast<__gm__ void*>(nullptr), cache_line_t::ENTIRE_DATA_CACHE);");
    w.line("dsb(static_cast<mem_dsb_t>(0));");
  }
  if (!w.is_mixed()) w.directive("#endif");
  w.directive("}");
}

/// Starts a number of blocks: on hardware on a stream, on the simulator one behind the other.
inline void write_launch(Writer& w, const std::vector<ArgumentText>& arguments) {
  const std::string name(w.f.name.c_str()), list = joined(arguments, &ArgumentText::of_launch), handed = joined(arguments, &ArgumentText::handed_on);
  w.directive("");
  w.directive("// Runs `blocks` blocks of the kernel; pointers are to memory of the device.");
  w.directive("extern \"C\" void launch_" + name + "(uint32_t blocks, void* stream" + (list.empty() ? "" : ", ") + list + ") {");
  w.directive("#if defined(__CPU_SIM)");
  w.line("static_cast<void>(stream);");
  w.line("pto::cpu_sim::EnsureRuntimeInitialized();");
  w.line("pto::cpu_sim::runtime_config().num_cores = blocks;");
  w.line("for (uint32_t block = 0; block < blocks; ++block) {");
  w.line("  pto::cpu_sim::ScopedExecutionContext place(block, 0, 1);");
  w.line("  ", w.function_name(), "(", handed, ");");
  w.line("}");
  w.directive("#else");
  w.line(w.function_name(), "<<<blocks, nullptr, stream>>>(", handed, ");");
  w.directive("#endif");
  w.directive("}");
}

/// What starts threads is a part of the compiler for hardware, which the library does not wrap and its simulator does not have.
inline void refuse_threads(const Function& f) {
  const char* const hint = "emit the .pto text: --emit pto, or emit_pto(...)";
  if (f.kind == FunctionKind::simt) fail(f.location, Text("simt: simt kernels have no C++ (").append(f.name).append(")"), hint);
  if (const OpId o = first_launch(f)) fail(f[o].location, Text("launch: simt kernels have no C++ (").append(launched(f, o).name).append(")"), hint);
}

}  // namespace cpp

/// The C++ of `f`, which has addresses for the target (by the pass plan_memory) and is synchronised (by insert_sync). Arguments of the kernel: a pointer for each
/// tensor in the order of the parameters, then the scalars, then one int64_t for each named dim. Flags and barriers are those of
/// the function; one that matrix and vector cores run compiles for the simulator only. Throws UserError, at the user's line, for what the library has no instruction for.
[[nodiscard]] inline std::string emit_pto_cpp(const Function& f, const CppOptions& options = {}) {
  require_kernel(f);
  require_target(f, options.arch);
  cpp::refuse_threads(f);
  check_kernel_name(f.name, f.location);
  if (!(has_addresses(f) && planned_arch(f) == options.arch))
    throw InternalError("emit_pto_cpp: " + std::string(f.name.c_str()) + " has no addresses for " + std::string(name(options.arch)));
  if (!f.synchronised)
    fail(f.location, "emit_pto_cpp: nothing orders the pipes of the function, and the tile library adds no flags (" + std::string(f.name.c_str()) + ")",
         "lower it with {.synchronise = true}");
  cpp::Writer w(f, options);
  w.directive("// " + std::string(f.name.c_str()) + " for " + std::string(name(options.arch)) + std::string(cpp_mark));
  w.directive("#include <cstddef>\n#include <cstdint>\n\n#include <pto/pto-inst.hpp>\n\nusing namespace pto;\n");
  const std::vector<cpp::ArgumentText> arguments = cpp::arguments_of(w);
  if (w.is_mixed()) cpp::write_refusal(w);
  const std::size_t kernel = w.out.size();
  cpp::write_kernel(w, arguments);
  w.out.insert(kernel, w.functions_text());
  cpp::write_launch(w, arguments);
  return std::move(w.out);
}

}  // namespace tessera
