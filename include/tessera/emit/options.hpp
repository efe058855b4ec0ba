// What lowering and emission are told, and what they give.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "../ops/control.hpp"

namespace tessera {

/// Version of the PTO assembler whose spelling is written.
enum class Assembler : std::uint8_t { v0_60, v0_27 };

/// Of `.pto` text.
struct EmitOptions {
  Arch arch = Arch::a3;
  Assembler assembler = Assembler::v0_60;
  int level = 2;           ///< 2: the assembler plans memory; 3: tiles have the addresses that plan_memory gave them
  bool comments = true;    ///< the user's line behind each instruction: `// softmax.cpp:9`
  bool locations = false;  ///< the same as an MLIR location, which the assembler's own errors then name
};

/// Of C++ text.
struct CppOptions {
  Arch arch = Arch::a3;
  bool comments = true;  ///< the user's line behind each instruction: `// softmax.cpp:9`
};

/// From a recorded function to its text.
struct CompileOptions {
  std::optional<Arch> arch = {};  ///< none: the target that the kernel is compiled for; a3 when it is compiled for any
  bool verify = true;  ///< after every pass
  Assembler assembler = Assembler::v0_60;  ///< whose spelling is written
  int level = 2;     ///< of the assembler: 2, where it plans memory, or 3, with planned addresses
  bool pipelining = true;  ///< at level 3 and in C++: loops that stream have buffers for several turns, bytes are reused where no pipe waits
  TileopForm tileops = TileopForm::inlined;  ///< whether calls of tile operations stay calls
  bool synchronise = false;  ///< flags and barriers between the pipes, as C++ has them (the assembler sets its own); text with them is for level 3
};

/// The module of one kernel of a program.
struct KernelText {
  std::string kernel, text;
};

}  // namespace tessera
