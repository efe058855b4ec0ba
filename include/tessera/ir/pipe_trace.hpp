// What the pipes of a core did in one run: instructions with the bytes that they read and wrote, flags and barriers, in the order
// of the program.
#pragma once

#include <cstdint>
#include <vector>

#include "../core/space.hpp"
#include "ids.hpp"

namespace tessera {

/// Bytes of a memory space on chip, or of a tensor parameter.
struct TraceAccess {
  MemorySpace space = Vec;
  std::uint32_t tensor = 0;  ///< in Gm: the parameter's number
  std::int64_t begin = 0, end = 0;
  bool writes = false;
};

struct PipeEvent {
  enum class Kind : std::uint8_t { instruction, set_flag, wait_flag, barrier };
  Kind kind = Kind::instruction;
  Pipe pipe = Pipe::none;     ///< that runs it; of flags: the one that raises them; of barriers none: all of them
  Pipe to_pipe = Pipe::none;  ///< of flags: the one that waits
  std::uint8_t event = 0;     ///< of flags
  OpId op;
  std::uint32_t first_access = 0, access_count = 0;
};

struct PipeTrace {
  std::vector<PipeEvent> events;
  std::vector<TraceAccess> accesses;
};

}  // namespace tessera
