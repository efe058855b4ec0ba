// What convert_tensor_to_tile_ops makes of a hand-built kernel, verified, as text.
#pragma once

#include <string>

#include "support/ir.hpp"

namespace tessera::test {

[[nodiscard]] Function conversion(Recording& k, Arch arch = Arch::a5);
[[nodiscard]] std::string converted(Recording& k, Arch arch = Arch::a5);
/// The text of the user error that the conversion throws.
[[nodiscard]] std::string refusal(Recording& k, Arch arch = Arch::a5);

}  // namespace tessera::test
