// Which target a function is lowered for. A kernel whose source is compiled for one target has passed that target's rules
// only: asking for another one is an error, never a silent change.
#pragma once

#include <optional>

#include "function.hpp"

namespace tessera {

/// Throws UserError where a function whose source is compiled for one target is to be lowered or emitted for another.
inline void require_target(const Function& f, Arch arch) {
  if (f.target == Function::any_target || f.target == static_cast<int>(arch)) return;
  const std::string_view compiled_for = name(static_cast<Arch>(f.target));
  fail(f.location,
       Text("kernel: the source is compiled for another target (").append(compiled_for).append(", not ").append(name(arch)).append(")"),
       Text("ask for ").append(compiled_for).append(", or compile the source for ").append(name(arch)).append(" or for no target"));
}
/// Throws UserError where a function that calls kernels is to be lowered or emitted without them.
inline void require_kernel(const Function& f) {
  if (f.kind == FunctionKind::kernel) return;
  if (f.kind == FunctionKind::tileop)
    fail(f.location, Text("kernel: a tile operation is no kernel (").append(f.name).append(")"), "call it from a kernel, and lower that");
  fail(f.location, Text("kernel: a function that calls kernels is no kernel (").append(name(f.kind)).append(" ").append(f.name).append(")"),
       "lower its whole program, lower(layer.trace()), and emit the kernels of that");
}
/// The target that is asked for; when none is, the one that the source is compiled for, and a3 for sources of any target.
[[nodiscard]] inline Arch target_of(const Function& f, std::optional<Arch> asked) {
  const Arch arch = asked.value_or(f.target == Function::any_target ? Arch::a3 : static_cast<Arch>(f.target));
  require_target(f, arch);
  return arch;
}

}  // namespace tessera
