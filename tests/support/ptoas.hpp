// The real assembler, where there is one: TESSERA_PTOAS names it, in the environment or as a definition.
// TESSERA_PTOAS_VERSION=0.27 says that it is the older one (default 0.60).
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "tessera/emit/pto_mlir.hpp"

namespace test {
using namespace tessera;

inline std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}
inline std::string assembler() {
#ifdef TESSERA_PTOAS
  const std::string built_in = TESSERA_PTOAS;
#else
  const std::string built_in;
#endif
  return setting("TESSERA_PTOAS").empty() ? built_in : setting("TESSERA_PTOAS");
}
inline Assembler assembler_version() { return setting("TESSERA_PTOAS_VERSION") == "0.27" ? Assembler::v0_27 : Assembler::v0_60; }

inline bool assembler_is_absent() {
  if (!assembler().empty()) return false;
  std::cout << "skipped: TESSERA_PTOAS is not set\n";
  return true;
}

/// Whether the assembler takes a module; its words otherwise, and the C++ that it makes.
struct Assembled {
  bool accepted = false;
  std::string words, cpp;
};
/// `as`: what it is asked to make; C++ where nothing is said.
inline Assembled assemble(const std::string& text, Arch arch, int level = 2, const std::string& as = {}) {
  static const std::filesystem::path directory = [] {
    std::string form = (std::filesystem::temp_directory_path() / "tessera_ptoas_XXXXXX").string();
    return std::filesystem::path(mkdtemp(form.data()));
  }();
  const std::filesystem::path module = directory / "module.pto", log = directory / "log", made = directory / "module.cpp";
  std::ofstream(module) << text;
  const std::string command = "'" + assembler() + "' " + as + " --enable-insert-sync --pto-level=level" + std::to_string(level) + " --pto-arch=" +
                              std::string(name(arch)) + " '" + module.string() + "' -o '" + made.string() + "' > '" + log.string() + "' 2>&1";
  const int status = std::system(command.c_str());
  Assembled a{status == 0, {}, {}};
  std::ifstream in(log);
  for (std::string line; std::getline(in, line);)
    if (line.find("rror") != std::string::npos) a.words.append(line).append("\n");
  std::stringstream cpp;
  if (a.accepted) cpp << std::ifstream(made).rdbuf();
  a.cpp = cpp.str();
  return a;
}

}  // namespace test
