// For the tests of the recording front end: the recorded text of a lambda, or the diagnostic that it causes.
#pragma once

#include <string>

#include "tessera/dsl/trace.hpp"
#include "tessera/ir/printer.hpp"
#include "tessera/kernel.hpp"

namespace trace {

using namespace tessera;  // NOLINT: a test

/// The recorded function as text. A failed trace gives its diagnostic, with the file's name alone.
template <class F>
std::string text(F f, const std::source_location& at = std::source_location::current()) {
  static int count = 0;
  const auto k = Kernel<F>("k" + std::to_string(count++), std::move(f), nullptr, at);
  try {
    const std::string s = print(k.trace());
    return s.substr(s.find('('));  // the name differs from kernel to kernel
  } catch (const UserError& e) {
    return e.diagnostic().text(true);
  }
}

inline std::string error(const char* file, int line, const std::string& message, const std::string& hint) {
  const std::string path(file);
  return path.substr(path.find_last_of('/') + 1) + ":" + std::to_string(line) + ": error: " + message + "\n  hint: " + hint;
}

}  // namespace trace
