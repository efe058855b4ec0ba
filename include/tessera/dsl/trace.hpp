// Tracing: runs the lambda of a kernel, or of a function that calls kernels, once, and returns what it records.
#pragma once

#include "../ir/program.hpp"
#include "kernel.hpp"

namespace tessera {

namespace detail {
// Defined in program_tracer.hpp.
template <class FunctionOrProgram>
[[nodiscard]] FunctionOrProgram traced(const KernelEntry& entry);
}  // namespace detail

/// The function that a kernel records. Throws UserError; `kernel.trace()` is the same.
[[nodiscard]] inline Function trace_kernel(const KernelEntry& kernel) { return detail::traced<Function>(kernel); }
/// What a kernel or a caller records, with all that it calls in front. Throws UserError; `layer.trace()` is the same.
[[nodiscard]] inline Program trace_program(const KernelEntry& entry) { return detail::traced<Program>(entry); }

}  // namespace tessera

#ifndef TESSERA_COMPILED
#include "program_tracer.hpp"
#endif
