// What a kernel has to hold as a whole, beyond the rules of its single operations: names that can be written, parameters
// that fit a machine, outputs that are written, divisors that are not zero.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "../ir/function.hpp"
#include "../ir/signature.hpp"
#include "../ops/all.hpp"

namespace tessera {
namespace detail {

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
    const Effect effect = f.info(o).effect;
    written = written || (effect == Effect::writes_first && operand == 0) || (effect == Effect::writes_second && operand == 1);
  });
  return written;
}
inline void check_outputs(const Function& f) {
  for (const Parameter& p : f.parameters)
    if (p.direction == Direction::out && !is_written(f, p.value))
      fail(p.location, "kernel: an output is never written (" + std::string(p.name) + ")",
           "assign it (out = ...), store(...) to it, or leave the parameter out");
}

inline void check_divisors(const Function& f, BlockId block) {
  for (OpId o = f[block].first; o; o = f.next(o)) {
    const OpInfo& op = f.info(o);
    if ((&op == &ops::scalar_div || &op == &ops::scalar_rem || &op == &ops::divs) && f.is_integer_constant(f.operand(o, 1), 0))
      fail(f[o].location, std::string(op.name) + ": the divisor is zero", "integers have no quotient by zero");
    for (int i = 0; i < f.block_count(o); ++i) check_divisors(f, f.block(o, i));
  }
}

}  // namespace detail

/// Throws UserError where a recorded function breaks one of these.
inline void check_recorded(const Function& f) {
  check_kernel_name(f.name, f.location);
  detail::check_parameters(f);
  detail::check_outputs(f);
  detail::check_divisors(f, f.body());
}

}  // namespace tessera
