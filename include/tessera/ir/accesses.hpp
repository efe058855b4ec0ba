// What an operation of a function with buffers does to storage, and on which pipe: for whatever orders pipes, or checks or
// measures their order. All of it follows from the descriptors.
#pragma once

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

/// Whether flags or barriers stand in a function.
[[nodiscard]] inline bool has_sync(const Function& f) {
  for (std::uint32_t o = 0; o < f.operation_count(); ++o)
    if (is_sync(f.info({o})) && f[OpId{o}].parent) return true;
  return false;
}

}  // namespace tessera
