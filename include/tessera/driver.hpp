// The program around kernels: `int main(int argc, char** argv) { return tessera::driver::main(argc, argv); }`.
#pragma once

#include <iostream>

#include "driver/command_line.hpp"

namespace tessera::driver {

/// The generator of all kernels that are linked into the program. Returns 0: done, 1: an error in a kernel (each is
/// reported as `file:line: error: ...` with a hint), 2: a wrong command line, 3: an internal error.
[[nodiscard]] inline int main(int argc, char** argv) {
  std::string_view program = argc > 0 ? argv[0] : "generator";
  program.remove_prefix(program.find_last_of('/') + 1);
  return run({Registry::instance(), std::cout, std::cerr},
             std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc), std::string(program));
}

}  // namespace tessera::driver
