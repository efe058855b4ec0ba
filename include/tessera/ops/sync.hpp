// Operations that order the pipes of a core: flags between two pipes, and barriers. They have no operands and no results.
//   set_flag   attributes: pipe, to_pipe, event; raised when `pipe` is done with everything in front of it
//   wait_flag  the same attributes; `to_pipe` goes on when the flag is raised, and lowers it
//   barrier    attribute: pipe; what follows in that pipe (none: in every pipe) starts when everything in front of it is done
#pragma once

#include "control.hpp"

namespace tessera {
namespace detail {
constexpr OpInfo sync_op(std::string_view name, std::string_view summary, std::string_view pto) {
  OpInfo op = control_op(name, summary);
  op.pto = pto;
  op.form = PtoForm::sync;
  op.made_by_passes = true;
  return op;
}
}  // namespace detail

/// Flags between each ordered pair of pipes.
inline constexpr int event_count = 8;

namespace ops {

inline constexpr OpInfo set_flag = sync_op("set_flag", "raises a flag for another pipe; attributes: pipe, to_pipe, event", "set_flag");
inline constexpr OpInfo wait_flag = sync_op("wait_flag", "waits for a flag of another pipe, and lowers it; attributes: pipe, to_pipe, event", "wait_flag");
inline constexpr OpInfo barrier = sync_op("barrier", "what follows in a pipe waits for everything in front of it; attribute: pipe", "barrier");

inline constexpr const OpInfo* sync_family[] = {&set_flag, &wait_flag, &barrier};

}  // namespace ops

/// Whether an operation only orders pipes.
[[nodiscard]] constexpr bool is_sync(const OpInfo& op) { return op.form == PtoForm::sync; }

}  // namespace tessera
