// The default passes, in their order: from what a kernel recorded to what the emitters translate.
#pragma once

#include "assign_buffers.hpp"
#include "convert_tensor_to_tile_ops.hpp"
#include "flatten_tile_nd_to_2d.hpp"
#include "infer_memory_space.hpp"
#include "legalize.hpp"
#include "plan_memory.hpp"

namespace tessera {

inline constexpr const Pass* default_passes[] = {&convert_tensor_to_tile_ops, &flatten_tile_nd_to_2d, &legalize,
                                                 &infer_memory_space, &assign_buffers, &plan_memory};

[[nodiscard]] constexpr List<const Pass*> default_pipeline() {
  return {default_passes, sizeof default_passes / sizeof default_passes[0]};
}

}  // namespace tessera
