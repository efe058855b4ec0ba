#include "generator.hpp"

#include <tessera/driver.hpp>

namespace tessera::test {

int run_generator(const Registry& kernels, std::ostream& out, std::ostream& err, std::vector<std::string> arguments, std::string program) {
  return driver::run({kernels, out, err}, std::move(arguments), std::move(program));
}

}  // namespace tessera::test
