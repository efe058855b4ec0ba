// Tracing: runs the lambda of a kernel once, and returns what it records.
#pragma once

#include <exception>

#include "function_recorder.hpp"
#include "recorded_checks.hpp"
#include "registry.hpp"

namespace tessera {

/// The function that a kernel records. Throws UserError; `kernel.trace()` is the same.
[[nodiscard]] inline Function trace_kernel(const KernelEntry& kernel) {
  static_assert(Function::any_target == KernelEntry::any_target);
  Function f;
  f.name = kernel.name();
  f.location = kernel.location();
  f.target = kernel.target();
  FunctionRecorder r(f);
  r.set_location(kernel.location());
  try {
    kernel.run(r);
  } catch (const UserError&) {
    // What the user did first is what is reported.
    if (!r.error_is_an_exception()) r.throw_error();
    throw;
  } catch (const InternalError&) {
    throw;
  } catch (const std::exception& e) {
    if (!r.error_is_an_exception()) r.throw_error();
    fail(r.error() != nullptr ? r.error_location() : kernel.location(), Text("kernel: the lambda throws an exception (").append(e.what()).append(")"),
         "a kernel's lambda runs once, while it is recorded");
  }
  check_recorded(f);
  return f;
}

}  // namespace tessera
