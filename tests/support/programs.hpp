// For the tests of functions that call kernels: what the first pass makes of them, as text, and what goes wrong.
#pragma once

#include <string>

#include <tessera/kernel.hpp>
#include <tessera/dsl/trace.hpp>
#include <tessera/ir/printer.hpp>

#include "support/catch.hpp"
#include "support/ir.hpp"

namespace tessera::test {

/// The program behind convert_tensor_to_tile_ops, verified before and after.
[[nodiscard]] Program converted_program(const Program& p, Arch arch = Arch::a5);
/// The functions that call kernels, as text.
[[nodiscard]] inline std::string callers(const Program& p) {
  std::string out;
  for (const Function& f : p.functions)
    if (f.kind != FunctionKind::kernel) out.append(out.empty() ? "" : "\n").append(detail::Printer(f, {}, &p).function());
  return out;
}
/// A function with a body that is not registered.
template <class F>
[[nodiscard]] Program traced(FunctionKind kind, F f, std::int64_t blocks = 1, const std::source_location& at = std::source_location::current()) {
  static int count = 0;
  return Caller<F>(kind, blocks, "f" + std::to_string(count++), std::move(f), nullptr, at).trace();
}
/// The text of the user error; the name of the function that is made here is written `f`.
template <class F>
[[nodiscard]] std::string refusal(FunctionKind kind, F f, std::int64_t blocks = 1) {
  try {
    const Program p = traced(kind, std::move(f), blocks);
    return "no error:\n" + print(p);
  } catch (const UserError& e) {
    return e.diagnostic().message + "\n  hint: " + e.diagnostic().hint;
  }
}
[[nodiscard]] inline Function* function(Program& p, std::string_view name) {
  for (Function& f : p.functions)
    if (std::string_view(f.name) == name) return &f;
  return nullptr;
}

}  // namespace tessera::test
