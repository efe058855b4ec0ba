// The `.pto` text of a fully lowered function, as the PTO assembler takes it at level 2, where it plans memory itself, or at
// level 3, with addresses. One IR operation becomes one instruction; equal functions give equal bytes.
#pragma once

#include <string>

#include "../ir/accesses.hpp"
#include "../ir/target.hpp"
#include "../passes/memory/in_place.hpp"
#include "pto_mlir/forms.hpp"

namespace tessera {
namespace pto {
inline void require_level(const Function& f, const EmitOptions& options) {
  if (options.level != 2 && options.level != 3)
    fail({}, "emit: there is no such level (" + std::to_string(options.level) + ")", "levels: 2, 3");
  if (options.level == 3 && !(has_addresses(f) && planned_arch(f) == options.arch))
    throw InternalError("emit_pto_mlir: " + std::string(f.name.c_str()) + " has no addresses for " + std::string(name(options.arch)) +
                        ", which level 3 needs");
  if (options.level == 2 && (f.synchronised || has_sync(f)))
    fail(f.location, "emit: the flags of a synchronised function are for its own addresses, and at level 2 the assembler plans others (" + std::string(f.name.c_str()) + ")",
         "emit it at level 3; for level 2 lower it without synchronise: the assembler sets its own flags");
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
  // The assembler plans no result over an operand.
  const bool plans = options.level == 2 && has_addresses(f) && planned_arch(f) == options.arch;
  const std::optional<Function> in_place = plans ? results_in_place(f) : std::nullopt;
  pto::Module m(in_place ? *in_place : f, options);
  return m.text([](pto::Module& module) {
    module.shallower();
    pto::emit_block(module, module.f.body());
    module.deeper();
  });
}

}  // namespace tessera
