// The default passes, in their order: from what a kernel recorded to what the emitters translate.
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
#include "pipeline_loops.hpp"
#include "plan_memory.hpp"

namespace tessera {

namespace detail {
inline constexpr const Pass* all_passes[] = {&infer_tileop_summary, &inline_tileops, &convert_tensor_to_tile_ops, &flatten_tile_nd_to_2d, &legalize, &infer_memory_space,
                                             &order_factors, &pipeline_loops, &assign_buffers, &plan_memory, &insert_sync};
inline constexpr std::size_t pass_count = sizeof all_passes / sizeof all_passes[0];
}  // namespace detail

/// For the assembler, which orders the pipes itself: addresses, but no flags.
[[nodiscard]] constexpr List<const Pass*> default_pipeline() { return {detail::all_passes, detail::pass_count - 1}; }
/// For C++, and whatever else needs the pipes in order: with flags and barriers.
[[nodiscard]] constexpr List<const Pass*> full_pipeline() { return {detail::all_passes, detail::pass_count}; }

}  // namespace tessera
