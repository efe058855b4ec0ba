// The window of a tensor that an operation loads, stores, reads or writes: where its offsets stand, and its box.
#pragma once

#include <string>

#include "../ops/all.hpp"
#include "function.hpp"

namespace tessera {

/// A box of a tensor, by axis; the offsets are operands from `first_offset` on.
struct TensorWindow {
  int first_offset = -1;  ///< none: the operation has no window of a tensor
  int rank = 0;
  std::int64_t box[max_rank] = {};
  [[nodiscard]] explicit operator bool() const { return first_offset >= 0; }
};

/// The box that a tile covers: the attribute `window`, or the tile's shape with ones in front.
inline void window_box(const Function& f, OpId op, const Type& tile, const Type& tensor, std::int64_t* box) {
  const List<std::int64_t> stated = f.attr_list(op, AttrKey::window);
  if (!stated.empty() && stated.size() != tensor.rank)
    throw InternalError("the attribute window of " + std::string(f.info(op).name) + " has another rank than the tensor");
  for (int i = 0; i < tensor.rank; ++i) {
    const int own = i - (tensor.rank - tile.rank);
    box[i] = !stated.empty() ? stated[static_cast<std::size_t>(i)] : own >= 0 ? tile.dims[own] : 1;
  }
}

/// Of an operation on tiles.
[[nodiscard]] inline TensorWindow tensor_window(const Function& f, OpId op) {
  TensorWindow w;
  const PtoForm form = f.info(op).form;
  const int tensor = memory_operand(f.info(op));
  if (tensor < 0 || !f.type(f.operand(op, tensor)).is_tensor()) return w;
  const Type& t = f.type(f.operand(op, tensor));
  w.rank = t.rank;
  if (form == PtoForm::load || form == PtoForm::store) {
    w.first_offset = tensor + 1;
    window_box(f, op, f.type(form == PtoForm::load ? f.result(op) : f.operand(op, 0)), t, w.box);
  } else if (form == PtoForm::read || form == PtoForm::write) {
    w.first_offset = form == PtoForm::read ? 1 : 2;
    for (int i = 0; i < t.rank; ++i) w.box[i] = 1;
  } else if (form == PtoForm::gather_row) {
    w.first_offset = ops::gather_row_source_offsets;
    w.box[0] = f.attr(op, AttrKey::rows);
    w.box[1] = f.attr(op, AttrKey::columns);
  }
  return w;
}

}  // namespace tessera
