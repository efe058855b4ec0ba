// The passes in the order in which they run; defines what pipeline.hpp declares.
#pragma once

#include "assign_buffers.hpp"
#include "convert_tensor_to_tile_ops.hpp"
#include "flatten_tile_nd_to_2d.hpp"
#include "infer_memory_space.hpp"
#include "infer_tileop_summary.hpp"
#include "inline_tileops.hpp"
#include "insert_sync.hpp"
#include "legalize.hpp"
#include "order_factors.hpp"
#include "pipeline.hpp"
#include "pipeline_loops.hpp"
#include "plan_memory.hpp"

namespace tessera::detail {

template <class>
List<const Pass*> all_passes() {
  static constexpr const Pass* passes[] = {&infer_tileop_summary, &inline_tileops, &convert_tensor_to_tile_ops, &flatten_tile_nd_to_2d, &legalize, &infer_memory_space,
                                           &order_factors, &pipeline_loops, &assign_buffers, &plan_memory, &insert_sync};
  return {passes, sizeof passes / sizeof passes[0]};
}

}  // namespace tessera::detail
