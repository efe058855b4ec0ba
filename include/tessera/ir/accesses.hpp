// What an operation of a function with buffers does to storage, and on which pipe: for whatever orders pipes, or checks or
// measures their order. All of it follows from the descriptors.
#pragma once

#include <vector>

#include "../ops/all.hpp"
#include "function.hpp"

namespace tessera {

/// The pipe that runs an operation; none: no instruction does.
[[nodiscard]] inline Pipe pipe_of(const Function& f, OpId op) {
  const OpInfo& info = f.info(op);
  if (info.level == Level::control || f.operand_count(op) == 0) return info.pipe;
  const auto space = [](const Type& t) { return t.is_tile() ? t.space : Gm; };
  const MemorySpace from = space(f.type(f.operand(op, 0)));
  return pipe_of(info, from, f.result_count(op) > 0 ? space(f.type(f.result(op))) : Gm);
}

/// Calls visit(value, writes) for each tile that an operation reads or writes, and for each tensor whose memory it does. What is
/// written in place is read, too.
template <class Visit>
void for_each_access(const Function& f, OpId op, Visit&& visit) {
  const OpInfo& info = f.info(op);
  if (info.level == Level::control || info.pipe == Pipe::none || info.level == Level::scalar) return;
  for (int i = 0; i < f.operand_count(op); ++i) {
    const ValueId x = f.operand(op, i);
    if (f.type(x).is_tile()) visit(x, i == scratch_operand(info));
    else if (f.type(x).is_tensor() && parameter_of(f, x)) visit(x, writes(access_of(info, i)));
  }
  for (int i = 0; i < f.result_count(op); ++i)
    if (f.type(f.result(op, i)).is_tile()) visit(f.result(op, i), true);
}

/// By parameter: whether it is a tensor that is written, and that more than one pipe gets at. What happens to others is in order.
[[nodiscard]] inline std::vector<bool> shared_tensors(const Function& f) {
  std::vector<unsigned> pipes(f.parameters.size());
  std::vector<bool> shared(f.parameters.size());
  for (std::uint32_t o = 0; o < f.operation_count(); ++o) {
    const OpId op{o};
    if (!f[op].parent) continue;
    for_each_access(f, op, [&](ValueId v, bool writes) {
      if (f.type(v).is_tile()) return;
      const std::uint32_t p = f[parameter_of(f, v)].position;
      pipes[p] |= pipe_bit(pipe_of(f, op));
      shared[p] = shared[p] || writes;
    });
  }
  for (std::size_t p = 0; p < pipes.size(); ++p) shared[p] = shared[p] && (pipes[p] & (pipes[p] - 1)) != 0;
  return shared;
}

namespace detail {
// Whether an instruction goes through the elements of operand 0, of operands of that shape and of its result once, in the order
// of memory.
[[nodiscard]] constexpr bool goes_through_memory(const OpInfo& op) {
  const bool element_by_element = op.valid == ValidRule::first || op.valid == ValidRule::intersection || op.valid == ValidRule::wide || op.valid == ValidRule::select;
  return op.pipe == Pipe::vector && op.positions == nullptr && op.in_place < 0 && op.lists == 0 &&
         (element_by_element || op.valid == ValidRule::row_reduce || op.valid == ValidRule::col_reduce);
}
// The same of what it does with a tile in some bytes, all of which the tile takes.
[[nodiscard]] inline bool goes_through(const Function& f, OpId op, ValueId tile, const ByteRange& bytes) {
  const OpInfo& info = f.info(op);
  const bool scratch = scratch_operand(info) >= 0 && f.operand_count(op) > scratch_operand(info) && f.operand(op, scratch_operand(info)) == tile;
  return goes_through_memory(info) && !scratch && f.fully_valid(tile) && byte_range(f, tile) == bytes && f.type(tile).dtype != boolean &&
         stored_bytes(f.type(tile), planned_arch(f)) == bytes.bytes() && f.type(tile).same_shape(f.type(f.operand(op, 0)));
}
}  // namespace detail

/// Where instructions of a pipe overlap (overlaps_itself), a later one may follow an earlier one through the same bytes without a
/// barrier when both go through all of them in the order of memory: it stays behind by as much as the earlier one has to do,
/// 16 repeats of 256 bytes at least. (The public assembler leaves out the barrier between a result and its reader alike.)
[[nodiscard]] inline bool follows_in_step(const Function& f, OpId first, OpId second, MemorySpace space, const ByteRange& bytes) {
  constexpr std::int64_t least = 16 * 256;
  if (bytes.bytes() < least) return false;
  bool in_step = true;
  const auto look = [&](OpId op, bool& written, Type& type) {
    for_each_access(f, op, [&](ValueId v, bool writes) {
      if (!f.type(v).is_tile() || f.type(v).space != space || !byte_range(f, v).overlaps(bytes)) return;
      in_step = in_step && detail::goes_through(f, op, v, bytes);
      written = written || writes;
      type = f.type(v);
    });
  };
  bool second_writes = false, first_writes = false;
  Type a, b;
  look(first, first_writes, a);
  look(second, second_writes, b);
  // A reader of other elements than were written goes through the same bytes; who writes over them needs the same elements.
  return in_step && a.is_tile() && b.is_tile() && (!second_writes || same_places(a, b));
}

/// Whether flags or barriers stand in a function.
[[nodiscard]] inline bool has_sync(const Function& f) {
  for (std::uint32_t o = 0; o < f.operation_count(); ++o)
    if (is_sync(f.info({o})) && f[OpId{o}].parent) return true;
  return false;
}

}  // namespace tessera
