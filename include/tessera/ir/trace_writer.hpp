// Writes down operations of a function as what the pipes do: for runs of it, and for walks over it.
#pragma once

#include "accesses.hpp"
#include "pipe_trace.hpp"
#include "tile_bytes.hpp"

namespace tessera {

class TraceWriter {
 public:
  explicit TraceWriter(const Function& f) : f_(f) {}

  PipeTrace trace;

  /// An instruction, which the accesses that follow belong to.
  void instruction(OpId op, Pipe pipe) { begin(PipeEvent::Kind::instruction, pipe, op); }
  void access(const TraceAccess& a) {
    trace.accesses.push_back(a);
    ++trace.events.back().access_count;
  }
  /// Bytes of a tile.
  void tile(MemorySpace space, const TileBytes& bytes, bool writes) {
    bytes.for_each_run([&](std::int64_t from, std::int64_t to) { access({space, 0, from, to, writes, false, 0}); });
  }
  /// A flag or a barrier.
  void sync(OpId op) {
    const auto kind = f_.is(op, ops::set_flag) ? PipeEvent::Kind::set_flag : f_.is(op, ops::wait_flag) ? PipeEvent::Kind::wait_flag : PipeEvent::Kind::barrier;
    begin(kind, static_cast<Pipe>(f_.attr(op, AttrKey::pipe)), op);
    trace.events.back().to_pipe = static_cast<Pipe>(f_.attr(op, AttrKey::to_pipe));
    trace.events.back().event = static_cast<std::uint8_t>(f_.attr(op, AttrKey::event));
  }

 private:
  void begin(PipeEvent::Kind kind, Pipe pipe, OpId op) {
    trace.events.push_back({kind, pipe, Pipe::none, 0, op, static_cast<std::uint32_t>(trace.accesses.size()), 0});
  }
  const Function& f_;
};

}  // namespace tessera
