// A function beside the kernel while it is written: its lines, names and constants, and the parameters that it turns out to need.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "../../ir/function.hpp"
#include "constants.hpp"

namespace tessera::pto {

/// A parameter of a function that the body of a tile operation becomes, and what a call gives for it.
struct FunctionParameter {
  Name inside, outside;
  bool is_tile = false;
  std::uint32_t type = 0;         ///< of a tile
  DType dtype = index_type;       ///< of a number
  std::uint32_t buffer = no_index;  ///< of a tile of the IR that the body writes
  ArgEffect effect = ArgEffect::none;
};
/// Such a function while it is written.
struct FunctionScope {
  FunctionScope(OpId of, Labels& labels) : body(of), constants(labels) {}
  OpId body;
  Constants constants;
  std::string lines;
  std::size_t indent = 2;
  std::uint32_t next = 0;     ///< number of a name
  std::uint32_t storage = 0;  ///< tiles of its own
  std::vector<FunctionParameter> parameters;
  std::vector<std::string> words;                       ///< the parameters' names
  std::unordered_map<std::uint32_t, Name> scalars;      ///< by value from outside
  std::unordered_map<std::uint32_t, std::uint32_t> tiles;  ///< by value from outside: handle
};

}  // namespace tessera::pto
