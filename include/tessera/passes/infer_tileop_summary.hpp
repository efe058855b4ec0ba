// infer_tileop_summary: which pipes a user's tile operation uses, whether it computes on the vector unit or on the cube unit, and
// what it does to each argument. Found on its body as the passes lower it; moves and numbers decide nothing.
#pragma once

#include "../ir/accesses.hpp"
#include "../ir/inline.hpp"
#include "convert_tensor_to_tile_ops.hpp"
#include "flatten_tile_nd_to_2d.hpp"
#include "infer_memory_space.hpp"
#include "legalize.hpp"

namespace tessera {
namespace detail {

class SummaryOfTileop {
 public:
  SummaryOfTileop(const Function& tileop, const PassContext& context) : in_(tileop) {
    written_out();
    lowered_ = kernel_;
    for (const Pass* pass : {&convert_tensor_to_tile_ops, &flatten_tile_nd_to_2d, &legalize, &infer_memory_space}) lowered_ = pass->run(lowered_, context);
  }

  [[nodiscard]] TileOpSummary run() {
    for (const OpId op : all_operations(lowered_)) add_pipe(op);
    OpId &vector = first_[0], &cube = first_[1];
    if (!vector && !cube)
      fail(in_.location, "tileop " + std::string(in_.name.c_str()) + ": the body computes nothing (operations: " + std::to_string(count()) + ", all of them moves or numbers)",
           "a tile operation has work for the vector unit or for the cube unit; move data in the kernel");
    if (vector && cube)
      fail(lowered_[later(vector, cube)].location,
           "tileop " + std::string(in_.name.c_str()) + ": the body computes on the vector unit and on the cube unit (" + described(vector) + ", " + described(cube) + ")",
           "make two tile operations, one for each unit, and call both from the kernel");
    summary_.kind = cube ? KernelKind::cube : KernelKind::vector;
    for (std::size_t i = 0; i < in_.parameters.size(); ++i) summary_.effects.push_back(effect(i));
    return std::move(summary_);
  }

 private:
  // The body as a kernel of its own, in which tile arguments are storage that something else has filled.
  void written_out() {
    kernel_.name = in_.name;
    kernel_.location = in_.location;
    kernel_.target = in_.target;
    Builder build(kernel_);
    for (const Parameter& p : in_.parameters) {
      const Type& type = in_.type(p.value);
      if (type.is_tile()) {
        values_.push_back(build.value(ops::create, {}, {}, type));
        continue;
      }
      values_.push_back(kernel_.add_argument(kernel_.body(), type));
      kernel_.parameters.push_back({values_.back(), p.name, p.direction, p.location});
    }
    for (const ValueId v : in_.symbols()) kernel_.symbol(in_[v].integer);
    results_ = Inliner(in_, build, values_, DimBinding()).run();
    build.to_end_of(kernel_.body());
    build.control(ops::return_op, {}, {}, 0);
  }
  void add_pipe(OpId op) {
    const Pipe pipe = pipe_of(lowered_, op);
    if (lowered_.info(op).level == Level::control || pipe == Pipe::none) return;
    summary_.pipes |= pipe_bit(pipe);
    OpId* const first = pipe == Pipe::vector ? &first_[0] : pipe == Pipe::cube ? &first_[1] : nullptr;
    if (first != nullptr && !*first) *first = op;
  }
  [[nodiscard]] std::string described(OpId op) const {
    return std::string(lowered_.info(op).name) + " at " + std::string(place_text(lowered_[op].location).c_str());
  }
  [[nodiscard]] OpId later(OpId a, OpId b) const { return lowered_[a].location.line > lowered_[b].location.line ? a : b; }
  [[nodiscard]] int count() const {
    int n = 0;
    for (const OpId op : all_operations(kernel_)) n += kernel_.info(op).level == Level::control || kernel_.is(op, ops::create) ? 0 : 1;
    return n;
  }

  [[nodiscard]] ArgEffect effect(std::size_t i) const {
    const Parameter& p = in_.parameters[i];
    const Type& type = in_.type(p.value);
    if (type.is_scalar()) return ArgEffect::none;
    if (type.is_tensor()) return tensor_effect(values_[i]);
    const bool read = kernel_.has_uses(values_[i]);
    if (p.direction == Direction::in) return read ? ArgEffect::read : ArgEffect::none;
    // What is there before it is assigned may be seen by branches and loops: then the old content counts as read.
    if (p.direction == Direction::out) return in_.has_uses(p.value) ? ArgEffect::readwrite : ArgEffect::write;
    const bool written = !(results_[output_number(i)] == values_[i]);
    return written ? read ? ArgEffect::readwrite : ArgEffect::write : read ? ArgEffect::read : ArgEffect::none;
  }
  [[nodiscard]] std::size_t output_number(std::size_t parameter) const {
    std::size_t n = 0;
    for (std::size_t i = 0; i < parameter; ++i)
      n += in_.type(in_.parameters[i].value).is_tile() && in_.parameters[i].direction != Direction::in ? 1 : 0;
    return n;
  }
  [[nodiscard]] ArgEffect tensor_effect(ValueId in_kernel) const {
    bool read = false, written = false;
    const ValueId tensor = lowered_[lowered_.body()].arguments[kernel_[in_kernel].position];
    for (const OpId op : all_operations(lowered_)) {
      const OpInfo& info = lowered_.info(op);
      for (int k = 0; k < lowered_.operand_count(op) && info.level != Level::control; ++k) {
        const ValueId v = lowered_.operand(op, k);
        if (info.form == PtoForm::memory_view || !lowered_.type(v).is_tensor() || !(parameter_of(lowered_, v) == tensor)) continue;
        const bool writes_it = writes(access_of(info, k));
        written = written || writes_it;
        read = read || !writes_it || lowered_.attr(op, AttrKey::atomic_add) != 0;
      }
    }
    return written ? read ? ArgEffect::readwrite : ArgEffect::write : read ? ArgEffect::read : ArgEffect::none;
  }

  const Function& in_;
  Function kernel_, lowered_;
  std::vector<ValueId> values_;   // of kernel_, one for each parameter
  std::vector<ValueId> results_;  // of kernel_
  OpId first_[2] = {};            // of lowered_: that computes on the vector unit, on the cube unit
  TileOpSummary summary_;
};

[[nodiscard]] inline Function with_summaries(const Function& f, const PassContext& context) {
  Function out = f;
  for (std::shared_ptr<const Function>& t : out.tileops) t = std::make_shared<const Function>(with_summaries(*t, context));
  if (f.kind == FunctionKind::tileop) out.summary = std::make_shared<const TileOpSummary>(SummaryOfTileop(f, context).run());
  return out;
}
[[nodiscard]] inline bool is_or_calls_tileop(const Function& f) { return f.kind == FunctionKind::tileop || !f.tileops.empty(); }

}  // namespace detail

/// Throws UserError for a tile operation that computes nothing, or on both units.
inline constexpr Pass infer_tileop_summary = {.name = "infer_tileop_summary", .run = detail::with_summaries, .applies = detail::is_or_calls_tileop, .of_tileops = true};

}  // namespace tessera
