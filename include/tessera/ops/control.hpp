// Control flow: operations that hold blocks, and the terminators of blocks.
//   for    operands: start, stop, step, initial values; one block with arguments: counter, carried values
//   while  operands: initial values; block 0 (condition) and block 1 (body), both with the carried values as arguments
//   if     operand: condition; block 0 (then), block 1 (else)
//   call   operands: the arguments, one for each parameter; results: what the function returns; no block. On the host it runs a
//          function of the program, in a kernel or tile operation one of the tile operations that it holds
//   tileop operands: the tiles and numbers that a tile operation which stays a function is given, and behind them, as many as there are results, the
//          tiles that it writes; one block with these as arguments, which runs once and sees the other values of the function
#pragma once

#include "descriptor.hpp"

namespace tessera {
namespace detail {
constexpr Verdict infer_control(const OpInfo&, const InferInput&) { return lawful(); }
constexpr OpInfo control_op(std::string_view name, std::string_view summary) {
  return {.name = name, .summary = summary, .level = Level::control, .infer = infer_control, .form = PtoForm::control,
          .pipe = Pipe::none, .result_spaces = {}, .pure = false};
}
}  // namespace detail

/// What becomes of a call of a user's tile operation.
enum class TileopForm : std::uint8_t {
  inlined,  ///< its body in place of the call
  called    ///< a call of a function that is emitted once
};

/// The most turns of a loop that have buffers of their own.
inline constexpr int most_pipelined = 8;
/// The most slots of a buffer that a kernel declares.
inline constexpr std::int64_t most_slots = 256;

namespace ops {

inline constexpr OpInfo for_loop = control_op("for", "counts from start to stop (exclusive) by step; results: carried values");
inline constexpr OpInfo while_loop = control_op("while", "repeats its body as long as its condition holds; results: carried values");
inline constexpr OpInfo if_else = control_op("if", "runs one of two blocks; results: what they yield");
inline constexpr OpInfo yield = control_op("yield", "ends a loop body or a branch with the values it hands on");
inline constexpr OpInfo condition = control_op("condition", "ends a while condition: boolean, then the carried values");
inline constexpr OpInfo return_op = control_op("return", "ends a function with its results");

inline constexpr OpInfo call = control_op("call", "runs a function of the program; operands: its arguments; results: what it returns; attribute: callee");

inline constexpr OpInfo tileop_body = control_op("tileop", "runs the body of a tile operation that is emitted as a function; operands: its arguments, then the tiles that it writes; results: what it leaves in these; attributes: callee, arguments (their count)");

inline constexpr const OpInfo* control_family[] = {&for_loop, &while_loop, &if_else, &yield, &condition, &return_op, &call, &tileop_body};

}  // namespace ops
}  // namespace tessera
