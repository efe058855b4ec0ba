// The `.pto` text of a fully lowered function, as the PTO assembler takes it at level 2, where it plans memory itself, or at
// level 3, with addresses. One IR operation becomes one instruction; equal functions give equal bytes.
#pragma once

#include <string>

#include "../ir/accesses.hpp"
#include "../ir/target.hpp"
#include "../passes/memory/in_place.hpp"
#include "pto_mlir/forms.hpp"
#include "pto_mlir/storage.hpp"

namespace tessera {
namespace pto {
inline void require_level(const Function& f, const EmitOptions& options) {
  if (options.level != 2 && options.level != 3)
    fail({}, "emit: there is no such level (" + std::to_string(options.level) + ")", "levels: 2, 3");
  if (options.level == 3 && f.kind != FunctionKind::simt && !(has_addresses(f) && planned_arch(f) == options.arch))
    throw InternalError("emit_pto_mlir: " + std::string(f.name.c_str()) + " has no addresses for " + std::string(name(options.arch)) +
                        ", which level 3 needs");
  if (options.level == 2 && (f.synchronised || has_sync(f)))
    fail(f.location, "emit: the flags of a synchronised function are for its own addresses, and at level 2 the assembler plans others (" + std::string(f.name.c_str()) + ")",
         "emit it at level 3; for level 2 lower it without synchronise: the assembler sets its own flags");
  if (options.level == 2) refuse_placed(f);
}
inline void require_threads(const Function& f, const EmitOptions& options) {
  if (!uses_threads(f) || dialect(options.assembler).has_simt) return;
  const OpId o = first_launch(f);
  fail(o ? f[o].location : f.location,
       Text(o ? "launch" : "simt").append(": assembler ").append(dialect(options.assembler).version).append(" has no simt kernels (").append(o ? launched(f, o).name : f.name).append(")"),
       "emit for assembler 0.60");
}
// Two functions of one module.
inline void require_own_symbols(const Function& f) {
  for (const auto& s : f.launched)
    if (threads_symbol(*s) == std::string_view(f.name))
      fail(f.location, "emit: the kernel has the name of what the threads of another one run (" + threads_symbol(*s) + ")", "give the kernel another name");
}
/// The function that threads run.
inline std::string threads_text(const Function& simt, const EmitOptions& options) {
  Module m(simt, options);
  return m.function({}, threads_symbol(simt), threads_attributes(simt), [](Module& module) {
    module.shallower();
    emit_block(module, module.f.body());
    module.deeper();
  });
}
}  // namespace pto

/// The module that holds `f`. Every tile is 2-D (or one row), stands in a memory space and has a buffer (Value::buffer, by
/// the pass assign_buffers). Arguments of the function: a pointer for each tensor in the order of the parameters, then
/// the scalars, then one `index` for each named dim. At level 3 buffers have addresses for the target, by the pass plan_memory.
/// A synchronised function has its flags in the text, and is for level 3 only. Throws UserError, at the user's line, for what the assembler refuses.
[[nodiscard]] inline std::string emit_pto_mlir(const Function& f, const EmitOptions& options = {}) {
  require_kernel(f);
  require_target(f, options.arch);
  pto::require_level(f, options);
  pto::require_threads(f, options);
  pto::require_own_symbols(f);
  check_kernel_name(f.name, f.location);
  // Threads are launched by what the assembler's other backend makes; it takes the module's word for that.
  std::string text("module attributes {pto.target_arch = \"");
  text.append(options.arch == Arch::a3 ? "a2a3" : "a5").append(uses_threads(f) ? "\", pto.backend = \"vpto\"} {\n" : "\"} {\n");
  if (f.kind == FunctionKind::simt) {
    text = pto::launching_kernel(std::move(text), f, options) + pto::threads_text(f, options);
  } else {
    // The assembler plans no result over an operand.
    const bool plans = options.level == 2 && has_addresses(f) && planned_arch(f) == options.arch;
    const std::optional<Function> in_place = plans ? results_in_place(f) : std::nullopt;
    pto::Module m(in_place ? *in_place : f, options);
    text = m.function(std::move(text), std::string_view(f.name), {}, [](pto::Module& module) {
      module.shallower();
      pto::emit_reserved(module);
      pto::emit_block(module, module.f.body());
      module.deeper();
    });
    for (const auto& s : f.launched) text.append(pto::threads_text(*s, options));
  }
  return text.append("}\n");
}

}  // namespace tessera
