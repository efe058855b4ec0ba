// What convert_tensor_to_tile_ops makes of a hand-built kernel, verified, as text.
#pragma once

#include <tessera/passes/convert_tensor_to_tile_ops.hpp>

#include "support/ir.hpp"

namespace tessera::test {

[[nodiscard]] inline Function conversion(Recording& k, Arch arch = Arch::a5) {
  const Pass* const passes[] = {&convert_tensor_to_tile_ops};
  PassOptions options;
  options.verify = true;
  return run_passes(k.f(), {passes, 1}, {arch}, options);
}
[[nodiscard]] inline std::string converted(Recording& k, Arch arch = Arch::a5) { return print(conversion(k, arch)); }
/// The text of the user error that the conversion throws.
[[nodiscard]] inline std::string refusal(Recording& k, Arch arch = Arch::a5) {
  try {
    return "no error:\n" + converted(k, arch);
  } catch (const UserError& e) {
    return e.diagnostic().text(true);
  }
}

}  // namespace tessera::test
