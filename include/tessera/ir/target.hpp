// Which target a function is lowered for. A kernel whose source is compiled for one target has passed that target's rules
// only: asking for another one is an error, never a silent change.
#pragma once

#include <optional>

#include "function.hpp"
#include "program.hpp"

namespace tessera {

/// The first launch of a simt kernel in a function; none: it launches none.
[[nodiscard]] inline OpId first_launch(const Function& f) {
  for (std::uint32_t o = 0; o < f.operation_count() && !f.launched.empty(); ++o)
    if (f[OpId{o}].parent && f.is({o}, ops::launch)) return {o};
  return {};
}
/// Whether a function runs threads, which a5 alone has.
[[nodiscard]] inline bool uses_threads(const Function& f) { return f.kind == FunctionKind::simt || first_launch(f); }

/// Throws UserError where a function is to be lowered or emitted for a target that lacks what it does, or for another one than its
/// source is compiled for.
inline void require_target(const Function& f, Arch arch) {
  if (arch == Arch::a3) {
    const char* const hint = "emit and run it for a5: --arch a5, ARCH a5 in CMake, or .arch = Arch::a5";
    if (f.kind == FunctionKind::simt) fail(f.location, Text("simt: a3 has no simt kernels (").append(f.name).append(")"), hint);
    if (const OpId o = first_launch(f)) fail(f[o].location, Text("launch: a3 has no simt kernels (").append(launched(f, o).name).append(")"), hint);
  }
  if (f.target == Function::any_target || f.target == static_cast<int>(arch)) return;
  const std::string_view compiled_for = name(static_cast<Arch>(f.target));
  fail(f.location,
       Text("kernel: the source is compiled for another target (").append(compiled_for).append(", not ").append(name(arch)).append(")"),
       Text("ask for ").append(compiled_for).append(", or compile the source for ").append(name(arch)).append(" or for no target"));
}
/// Throws UserError where a function that calls kernels is to be lowered or emitted without them.
inline void require_kernel(const Function& f) {
  if (is_kernel(f.kind)) return;
  if (f.kind == FunctionKind::tileop)
    fail(f.location, Text("kernel: a tile operation is no kernel (").append(f.name).append(")"), "call it from a kernel, and lower that");
  fail(f.location, Text("kernel: a function that calls kernels is no kernel (").append(name(f.kind)).append(" ").append(f.name).append(")"),
       "lower its whole program, lower(layer.trace()), and emit the kernels of that");
}
namespace detail {
[[nodiscard]] inline Arch target_of(const Function& f, std::optional<Arch> asked, bool threads) {
  const Arch arch = asked.value_or(f.target != Function::any_target ? static_cast<Arch>(f.target) : threads ? Arch::a5 : Arch::a3);
  require_target(f, arch);
  return arch;
}
}  // namespace detail
/// The target that is asked for; when none is, the one that the source is compiled for; and for sources of any target a3, or a5
/// where simt kernels run.
[[nodiscard]] inline Arch target_of(const Function& f, std::optional<Arch> asked) { return detail::target_of(f, asked, uses_threads(f)); }
/// As above, of a program.
[[nodiscard]] inline Arch target_of(const Program& p, std::optional<Arch> asked) {
  bool threads = false;
  for (const Function& f : p.functions) threads = threads || uses_threads(f);
  return detail::target_of(p.entry(), asked, threads);
}

}  // namespace tessera
