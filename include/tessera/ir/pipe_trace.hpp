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
  bool adds = false;       ///< writes by an atomic addition, of which several may come in any order
  std::uint32_t base = 0;  ///< in Gm: where the bytes are counted from. What has two bases may be the same bytes, or not
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

  /// Calls visit(number of the access) for what an event reads and writes.
  template <class Visit>
  void for_each_access(const PipeEvent& e, Visit&& visit) const {
    for (std::uint32_t a = e.first_access; a < e.first_access + e.access_count; ++a) visit(a);
  }
};

/// The pipe in whose order an event stands; none: in that of all of them.
[[nodiscard]] constexpr Pipe runner(const PipeEvent& e) { return e.kind == PipeEvent::Kind::wait_flag ? e.to_pipe : e.pipe; }

}  // namespace tessera
