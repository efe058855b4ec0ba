// What threads of a simt kernel do besides operations on numbers.
#pragma once

#include "scalar.hpp"
#include "window.hpp"

namespace tessera::simulator {

inline void atomic_add(Call& c) {
  Data& target = c.engine.memory(c.id, c.operand(0));
  const std::int64_t at = element_position(c, 2, target.dims);
  if (!target.is_known(at))
    c.fail("a thread adds to an element that holds nothing (element " + index_of(target.dims, at).text() + " of " + target.dims.text() + ")",
           "declare the tensor InOut, or write to it in a launch before");
  const Number a = target.number(at), b = c.number(1);
  target.set(at, is_float(target.dtype) ? make_number(target.dtype, a.real + b.real) : make_number(target.dtype, sum(a.integer, b.integer)));
  c.engine.note_add(c.id, target, at);
  c.moves(0, at, 1, true, true);
  count_read(c, target.dtype, 1);
  count_write(c, target.dtype, 1);
}

inline constexpr TableEntry simt_table[] = {
    {&ops::thread_index, [](Call& c) { c.result(make_number(index_type, c.engine.thread(static_cast<int>(c.attr(AttrKey::axis))))); }},
    {&ops::thread_count, [](Call& c) { c.result(make_number(index_type, c.engine.function().threads[static_cast<int>(c.attr(AttrKey::axis))])); }},
    {&ops::atomic_add, atomic_add},
};

}  // namespace tessera::simulator
