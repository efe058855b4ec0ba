// A kernel generator for tests of its command line: compiled once, because its parts take long to compile.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include <tessera/kernel.hpp>

namespace tessera::test {

/// driver::run, with these kernels.
int run_generator(const Registry& kernels, std::ostream& out, std::ostream& err, std::vector<std::string> arguments, std::string program);

}  // namespace tessera::test
