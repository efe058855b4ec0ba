// What a simulated run is told, and what it tells.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "../ops/control.hpp"

namespace tessera {

/// How closely the lowered kernel must give what its tensor-level meaning gives.
enum class Agreement : std::uint8_t {
  off,           ///< the tensor level is not run
  exact,         ///< every bit
  one_rounding,  ///< integers exactly, floats to one step of their type (a lowering may round once more on the way)
};

struct PipeTrace;

/// Whether the order of the pipes is proven, and tried in random orders: of kernels with flags or barriers, or of all that have
/// addresses.
enum class PipeChecks : std::uint8_t { off, synchronised, always };

struct SimulateOptions {
  std::int64_t block = 0;              ///< what block_index gives
  std::int64_t blocks = 1;             ///< what block_count gives
  std::int64_t subblock = 0;           ///< what subblock_index gives
  std::int64_t subblocks = 1;          ///< what subblock_count gives
  std::int64_t while_limit = 1000000;  ///< trips after which a while loop is an error
  PipeChecks pipe_checks = PipeChecks::synchronised;
  int replays = 3;                     ///< random orders of the pipes that are tried
  std::uint64_t replay_seed = 1;
  PipeTrace* pipes = nullptr;          ///< receives what the pipes did in the last kernel that ran; it must have addresses
  // For whole kernels only:
  std::optional<Arch> arch = {};  ///< none: the target that the kernel is compiled for; a3 when it is compiled for any
  TileopForm tileops = TileopForm::inlined;
  Agreement agreement = Agreement::one_rounding;
  struct Statistics* statistics = nullptr;  ///< receives what the lowered kernel did
};

/// What a run did. Bytes count elements that loads, stores, reads and writes moved between tensors and the chip.
struct Statistics {
  std::uint64_t instructions = 0;       ///< executed operations that occupy a pipe other than the scalar one
  std::uint64_t scalar_operations = 0;  ///< executed operations of the scalar pipe
  std::uint64_t gm_bytes_read = 0;
  std::uint64_t gm_bytes_written = 0;
  std::unordered_map<const OpInfo*, std::uint64_t> executed;  ///< of every operation, control flow too

  [[nodiscard]] std::uint64_t count(const OpInfo& op) const {
    const auto found = executed.find(&op);
    return found == executed.end() ? 0 : found->second;
  }
  /// The counts by name, in order of the names; scalar operations as `scalar.add`.
  [[nodiscard]] std::map<std::string, std::uint64_t> by_name() const {
    std::map<std::string, std::uint64_t> named;
    for (const auto& [op, count] : executed)
      named[(op->level == Level::scalar ? "scalar." : "") + std::string(op->name)] += count;
    return named;
  }
};

}  // namespace tessera
