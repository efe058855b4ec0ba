#include "convert.hpp"

#include <tessera/passes/convert_tensor_to_tile_ops.hpp>

#include "programs.hpp"

namespace tessera::test {

namespace {
template <class FunctionOrProgram>
FunctionOrProgram verified_conversion(const FunctionOrProgram& f, Arch arch) {
  const Pass* const passes[] = {&convert_tensor_to_tile_ops};
  PassOptions options;
  options.verify = true;
  return run_passes(f, {passes, 1}, {arch}, options);
}
}  // namespace

Program converted_program(const Program& p, Arch arch) { return verified_conversion(p, arch); }
Function conversion(Recording& k, Arch arch) { return verified_conversion(k.f(), arch); }
std::string converted(Recording& k, Arch arch) { return print(conversion(k, arch)); }
std::string refusal(Recording& k, Arch arch) {
  try {
    return "no error:\n" + converted(k, arch);
  } catch (const UserError& e) {
    return e.diagnostic().text(true);
  }
}

}  // namespace tessera::test
