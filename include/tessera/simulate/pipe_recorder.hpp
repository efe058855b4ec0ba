// Writes down what the pipes do while a function runs: the bytes of buffers, and of tensors those that really move.
#pragma once

#include "../ir/trace_writer.hpp"

namespace tessera::simulator {

class PipeRecorder {
 public:
  explicit PipeRecorder(const Function& f) : f_(f), views_(f), writer_(f) {}

  [[nodiscard]] PipeTrace& trace() { return writer_.trace; }

  /// An operation starts.
  void start() {
    tensors_touched_ = false;
    gm_.clear();
  }
  /// It moves bytes of a tensor, which follow each other; perhaps none.
  void elements(ValueId tensor, std::int64_t first, std::int64_t count, bool writes, bool adds) {
    const ValueId parameter = parameter_of(f_, tensor);
    if (!parameter) return;
    tensors_touched_ = true;
    const DType d = f_.type(tensor).dtype;
    const std::int64_t begin = bytes_of(d, first), end = bytes_of(d, first + count);
    if (count <= 0) return;
    const std::uint32_t number = f_[parameter].position;
    if (!gm_.empty() && gm_.back().end == begin && gm_.back().tensor == number && gm_.back().writes == writes) gm_.back().end = end;
    else gm_.push_back({Gm, number, begin, end, writes, adds, 0});
  }
  /// It is done. number(value) gives an Index; bytes(tensor) the size of a tensor parameter.
  template <class Number, class Bytes>
  void finish(OpId op, Number&& number, Bytes&& bytes) {
    const OpInfo& info = f_.info(op);
    if (info.is_view && f_.result_count(op) > 0 && f_.type(f_.result(op)).is_tile()) views_.make(op, number);
    const Pipe pipe = pipe_of(f_, op);
    if (pipe == Pipe::none || info.level == Level::scalar) return;
    writer_.instruction(op, pipe);
    for_each_access(f_, op, [&](ValueId v, bool writes) {
      if (f_.type(v).is_tile()) writer_.tile(f_.type(v).space, views_.of(v), writes);
      else if (!tensors_touched_) writer_.access({Gm, f_[parameter_of(f_, v)].position, 0, bytes(parameter_of(f_, v)), writes, false, 0});
    });
    for (const TraceAccess& a : gm_) writer_.access(a);
  }
  /// A flag or a barrier.
  void sync(OpId op) { writer_.sync(op); }

 private:
  const Function& f_;
  TileViews views_;
  TraceWriter writer_;
  std::vector<TraceAccess> gm_;
  bool tensors_touched_ = false;
};

}  // namespace tessera::simulator
