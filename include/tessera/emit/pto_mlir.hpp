// The `.pto` text of a fully lowered function, as the PTO assembler takes it at level 2 (it plans memory and flags itself).
// One IR operation becomes one instruction; equal functions give equal bytes.
#pragma once

#include <string>

#include "../ir/target.hpp"
#include "pto_mlir/forms.hpp"

namespace tessera {

/// The module that holds `f`. Every tile is 2-D (or one row), stands in a memory space and has a buffer (Value::buffer, by
/// the pass assign_buffers). Arguments of the function: a pointer for each tensor in the order of the parameters, then
/// the scalars, then one `index` for each named dim. Throws UserError, at the user's line, for what the assembler refuses.
[[nodiscard]] inline std::string emit_pto_mlir(const Function& f, const EmitOptions& options = {}) {
  require_kernel(f);
  require_target(f, options.arch);
  pto::Module m(f, options);
  return m.text([](pto::Module& module) {
    module.shallower();
    pto::emit_block(module, module.f.body());
    module.deeper();
  });
}

}  // namespace tessera
