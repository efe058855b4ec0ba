// What only simt kernels do: threads know their place in the launch, wait for each other, and add to elements that others add to,
// too; and how a kernel launches one. All else in a simt kernel are operations on numbers, reads and writes of single elements, and control flow.
#pragma once

#include "control.hpp"
#include "memory.hpp"
#include "scalar.hpp"

namespace tessera {
namespace detail {

inline constexpr DTypeSet added_by_threads = dtypes(i32, u32, i64, u64, f16, bf16, f32);

/// Attribute axis: 0 to 2.
constexpr Verdict infer_thread_index(const OpInfo&, const InferInput& in) {
  const std::int64_t axis = in.attr(AttrKey::axis, 0);
  return axis >= 0 && axis < 3 ? lawful(index_scalar) : breaks(rule::thread_axis_is_out_of_range, arg_op, arg(axis));
}
constexpr OpInfo thread_op(std::string_view name, std::string_view pto, std::string_view summary) {
  return {.name = name, .summary = summary, .level = Level::scalar, .infer = infer_thread_index, .pto = pto,
          .form = PtoForm::thread_index, .pipe = Pipe::scalar, .result_spaces = {}};
}
/// Operands: target, value, indices.
constexpr Verdict infer_atomic(const OpInfo& op, const InferInput& in) {
  if (!in.type(0).is_tensor()) return breaks(rule::operand_is_not_a_tensor, arg_op);
  return infer_write(op, in);
}

}  // namespace detail

namespace ops {

inline constexpr OpInfo thread_index = thread_op("thread_index", "get_tid", "which thread of the launch runs, along an axis; attribute: axis");
inline constexpr OpInfo thread_count = thread_op("thread_count", "get_block_dim", "how many threads the launch has along an axis; attribute: axis");
inline constexpr OpInfo atomic_add = {
    .name = "atomic_add", .summary = "a number added to one element of a tensor, where other threads may add, too; operands: tensor, number, indices",
    .level = Level::tensor, .infer = infer_atomic, .dtypes = {{}, added_by_threads}, .pto = "atomic_add", .form = PtoForm::atomic, .pipe = Pipe::scalar,
    .result_spaces = {}, .effect = Effect::writes_first, .pure = false, .self_loading = true};
inline constexpr OpInfo sync_threads = {
    .name = "sync_threads", .summary = "waits for all threads of the launch: behind it, each sees what all of them wrote in front of it", .level = Level::control,
    .infer = infer_control, .pto = "syncthreads", .form = PtoForm::sync_threads, .pipe = Pipe::none, .result_spaces = {}, .pure = false};
inline constexpr OpInfo launch = {
    .name = "launch", .summary = "runs the threads of a simt kernel; operands: its arguments; attribute: callee", .level = Level::control, .infer = infer_control,
    .pto = "simt_launch", .form = PtoForm::launch, .pipe = Pipe::none, .result_spaces = {}, .pure = false, .self_loading = true};

inline constexpr const OpInfo* thread_family[] = {&thread_index, &thread_count};
inline constexpr const OpInfo* atomic_family[] = {&atomic_add};
inline constexpr const OpInfo* launch_family[] = {&sync_threads, &launch};

}  // namespace ops

/// Whether an operation has a meaning in a thread only.
[[nodiscard]] constexpr bool needs_threads(const OpInfo& op) { return op.form == PtoForm::thread_index || op.form == PtoForm::atomic || op.form == PtoForm::sync_threads; }
/// Whether a thread of a simt kernel can run an operation, whose operands are no tiles.
[[nodiscard]] constexpr bool runs_in_threads(const OpInfo& op) {
  if (needs_threads(op)) return true;
  if (op.level == Level::scalar) return &op != &ops::subblock_index && &op != &ops::subblock_count;
  if (op.level == Level::control) return op.form == PtoForm::control && &op != &ops::call;
  return &op == &ops::read || &op == &ops::write || &op == &ops::view;
}

}  // namespace tessera
