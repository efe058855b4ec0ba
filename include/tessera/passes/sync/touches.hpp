// What each operation of a function touches, and on which pipe.
#pragma once

#include <optional>
#include <vector>

#include "../../ir/tile_bytes.hpp"
#include "../../ir/walk.hpp"
#include "windows.hpp"

namespace tessera::detail {

/// Bytes on chip, or the window of a tensor, that a pipe reads or writes.
struct Touch {
  Pipe pipe = Pipe::none;
  bool writes = false;
  MemorySpace space = Gm;
  ByteRange bytes;            ///< on chip; from the first to the last one
  std::uint32_t tensor = 0;   ///< in GM: the number of the parameter
};

class Touches {
 public:
  explicit Touches(const Function& f) : f_(f), views_(f), shared_(shared_tensors(f)), first_(f.operation_count()), count_(f.operation_count()) {
    for (const OpId op : all_operations(f)) add(op);
  }
  [[nodiscard]] List<Touch> of(OpId op) const { return {touches_.data() + first_[op.index], count_[op.index]}; }

 private:
  [[nodiscard]] static ByteRange hull(const TileBytes& b) { return {b.begin, b.begin + (b.count - 1) * b.pitch + b.run}; }
  [[nodiscard]] std::uint32_t number(ValueId tensor) const { return f_[parameter_of(f_, tensor)].position; }

  void add(OpId op) {
    if (f_.info(op).is_view && f_.type(f_.result(op)).is_tile())
      views_.make(op, [&](ValueId n) { return f_.is_constant(n) ? std::optional(f_[n].integer) : std::nullopt; });
    const Pipe pipe = pipe_of(f_, op);
    first_[op.index] = touches_.size();
    for_each_access(f_, op, [&](ValueId v, bool writes) {
      Touch t{pipe, writes, Gm, {}, 0};
      if (f_.type(v).is_tile()) t.space = f_.type(v).space, t.bytes = hull(views_.of(v));
      else t.tensor = number(v);
      if (t.space != Gm || shared_[t.tensor]) touches_.push_back(t);
    });
    count_[op.index] = touches_.size() - first_[op.index];
  }

  const Function& f_;
  TileViews views_;
  const std::vector<bool> shared_;  // by parameter
  std::vector<std::size_t> first_, count_;  // by operation
  std::vector<Touch> touches_;
};

}  // namespace tessera::detail
