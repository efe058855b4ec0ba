// What a kernel has to hold as a whole: names that can be written, parameters that fit a machine, outputs that are written,
// and the rules of its operations with what became constant behind them.
#pragma once

#include <string>
#include <string_view>

#include "../ir/builder.hpp"
#include "../ir/program.hpp"
#include "../ir/signature.hpp"

namespace tessera {
namespace detail {

[[nodiscard]] inline std::string described(const Function& f) { return std::string(name(f.kind)) + " " + std::string(f.name.c_str()); }

inline void check_parameters(const Function& f) {
  for (std::size_t i = 0; i < f.parameters.size(); ++i) {
    const Parameter& p = f.parameters[i];
    if (!is_identifier(p.name))
      fail(p.location, "params: a name is not an identifier (" + std::string(p.name) + ")", "use letters, digits and '_'");
    for (std::size_t k = 0; k < i; ++k)
      if (f.parameters[k].name == p.name)
        fail(p.location, "params: a name is given twice (" + std::string(p.name) + ", parameters " + std::to_string(k) + " and " + std::to_string(i) + ")",
             "give each parameter a name of its own");
    const Type& t = f.type(p.value);
    if (t.is_shaped() && t.has_static_shape() && t.elements() >= max_elements)
      fail(p.location, "kernel: a tensor is larger than any memory (" + std::string(p.name) + ")", "use smaller dims");
  }
}

inline bool is_written(const Function& f, ValueId tensor) {
  bool written = false;
  f.for_each_use(tensor, [&](OpId o, int operand) {
    const bool by_call = (f.is(o, ops::call) && called_tileop(f, o).parameters[static_cast<std::size_t>(operand)].direction != Direction::in) ||
                         (f.is(o, ops::launch) && launched(f, o).parameters[static_cast<std::size_t>(operand)].direction != Direction::in);
    written = written || by_call || writes(access_of(f.info(o), operand)) ||
              (f.info(o).form == PtoForm::memory_view && is_written(f, f.result(o)));
  });
  return written;
}
// A tile operation returns what its Out and InOut tiles hold, in front of its results.
inline void check_output_tiles(const Function& f) {
  int number = 0;
  for (const Parameter& p : f.parameters) {
    if (!f.type(p.value).is_tile() || p.direction == Direction::in) continue;
    if (p.direction == Direction::out && f.operand(f.terminator(f.body()), number) == p.value)
      fail(p.location, "tileop: an output is never assigned (" + std::string(p.name) + ")", "assign it (" + std::string(p.name) + " = ...), or leave the parameter out");
    ++number;
  }
}
inline void check_outputs(const Function& f) {
  for (const Parameter& p : f.parameters)
    if (p.direction == Direction::out && f.type(p.value).is_tensor() && !is_written(f, p.value))
      fail(p.location, "kernel: an output is never written (" + std::string(p.name) + ")",
           "assign it (out = ...), store(...) to it, or leave the parameter out");
}

inline void refuse_split_regions(const Function& f, BlockId block) {
  for (OpId o = f[block].first; o; o = f.next(o)) {
    if (f.find_attr(o, AttrKey::split) != nullptr)
      fail(f[o].location, described(f) + ": a split region stands outside of a kernel", "the lanes share the work of a kernel: write the region there");
    for (int i = 0; i < f.block_count(o); ++i) refuse_split_regions(f, f.block(o, i));
  }
}

// A variable that no iteration of a loop assigns is a constant only when the loop has ended: what used it is judged again.
inline void check_operations(const Function& f, BlockId block) {
  for (OpId o = f[block].first; o; o = f.next(o)) {
    with_input(f, o, [&](const InferInput& in) {
      const Verdict v = infer(f.info(o), in);
      if (!v.lawful()) refuse(v, f.info(o).name, f[o].location);
    });
    for (int i = 0; i < f.block_count(o); ++i) check_operations(f, f.block(o, i));
  }
}

}  // namespace detail

/// Throws UserError where a recorded function breaks one of these.
inline void check_recorded(const Function& f) {
  check_kernel_name(f.name, f.location);
  detail::check_parameters(f);
  detail::check_outputs(f);
  detail::check_output_tiles(f);
  if (f.kind == FunctionKind::simt) detail::refuse_split_regions(f, f.body());
  detail::check_operations(f, f.body());
}

}  // namespace tessera
