// Kernels that declare memory, in tests: what is planned, and what is refused, with lines counted from the kernel's.
#pragma once

#include <atomic>
#include <cctype>
#include <string>

#include <tessera/compile.hpp>
#include <tessera/ir/source_names.hpp>
#include <tessera/passes/memory/map.hpp>
#include <tessera/passes/pipeline.hpp>
#include <tessera/simulate.hpp>

#include "planning.hpp"
#include "trace.hpp"

namespace tessera::test {

/// The recorded function of a lambda.
template <class F>
Function traced(F body, const std::source_location& at = std::source_location::current()) {
  static std::atomic<int> count = 0;
  return Kernel<F>("k" + std::to_string(count++), std::move(body), nullptr, at).trace();
}
/// The default passes, each result verified; `named`: values are called like the variables of the source.
[[nodiscard]] inline Function planned(Function f, Arch arch = Arch::a3, bool pipelining = false) {
  name_from_source(f);
  PassOptions options;
  options.verify = true;
  return run_passes(f, default_pipeline(), {arch, pipelining}, options);
}
/// "lines 3 and 5" with lines counted from `first`.
[[nodiscard]] inline std::string from_line(std::string text, int first) {
  for (std::size_t at = text.find("line"); at != std::string::npos; at = text.find("line", at + 4)) {
    at += 4 + (text[at + 4] == 's' ? 1 : 0);
    while (text[at] == ' ') {
      std::size_t end = at + 1;
      while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
      if (end == at + 1) break;
      const std::string number = std::to_string(std::stoi(text.substr(at + 1, end - at - 1)) - first);
      text.replace(at + 1, end - at - 1, number);
      at += 1 + number.size();
      if (text.compare(at, 4, " and") == 0) at += 4;
    }
  }
  return text;
}
/// What is refused, while it is recorded or lowered: "<line>: <message> | <hint>", lines counted from `line`.
template <class F>
std::string refused(int line, F body, Arch arch = Arch::a3, bool pipelining = false) {
  try {
    return "no error:\n" + print(planned(traced(std::move(body)), arch, pipelining));
  } catch (const UserError& e) {
    const Diagnostic d = e.diagnostic();
    return std::to_string(static_cast<int>(d.location.line) - line) + ": " + from_line(d.message, line) + " | " + from_line(d.hint, line);
  }
}
/// "line 3: ..." of each note.
[[nodiscard]] inline std::string notes(const Function& f, int line) {
  std::string text;
  for (const LoopNote& n : f.loops) text.append(text.empty() ? "" : "; ").append(from_line(loop_text(n), line));
  return text;
}
/// Runs a kernel as recorded and as planned with flags, which are proven and tried; compares the two.
inline void same_numbers(const Function& f, std::vector<Argument> arguments, Arch arch = Arch::a3, bool pipelining = true) {
  PassOptions options;
  options.verify = true;
  static_cast<void>(simulate_lowered(f, run_passes(f, full_pipeline(), {arch, pipelining}, options), std::move(arguments)));
}
[[nodiscard]] inline HostTensor numbers(std::vector<std::int64_t> dims, DType dtype = f32) {
  HostTensor x(dtype, std::move(dims));
  for (std::int64_t i = 0; i < x.size(); ++i) x.set(i, static_cast<double>(i % 13) - 6);
  return x;
}

}  // namespace tessera::test
