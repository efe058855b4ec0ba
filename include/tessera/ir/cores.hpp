// Which kinds of core run a lowered function: the cube core what touches another space than Vec (Mat, Left, Right, Acc),
// the vector core the rest.
#pragma once

#include "../ops/simt.hpp"
#include "function.hpp"

namespace tessera {

/// For each kind of core an operation that it runs, the first one that computes where there is one; none: it runs nothing.
struct Cores {
  OpId vector, cube;
  bool both_in_one_region = false;  ///< in one loop or branch
  bool in_while = false;            ///< some of it stands in a while loop
  [[nodiscard]] bool both() const { return vector && cube; }
};

namespace detail {

inline void add_operation(const Function& f, OpId& known, OpId o) {
  const auto computes = [&](OpId x) { return f.info(x).pipe == Pipe::cube || f.info(x).pipe == Pipe::vector; };
  if (o && (!known || (computes(o) && !computes(known)))) known = o;
}
// The core of one operation: views, scalars and control have none.
inline void add_core(Cores& cores, const Function& f, OpId o) {
  if (f.is(o, ops::launch)) return add_operation(f, cores.vector, o);  // threads run on the vector core
  if (f.info(o).pipe == Pipe::none || f.info(o).level == Level::scalar) return;
  bool cube = false, tiles = false;
  const auto look = [&](const Type& t) {
    tiles = tiles || t.is_tile();
    cube = cube || (t.is_tile() && t.space != Vec);
  };
  for (int i = 0; i < f.operand_count(o) && i < 3; ++i) look(f.type(f.operand(o, i)));
  if (f.result_count(o) > 0) look(f.type(f.result(o)));
  if (tiles) add_operation(f, cube ? cores.cube : cores.vector, o);
}
inline void add_cores(Cores& cores, const Function& f, BlockId b) {
  for (OpId o = f[b].first; o; o = f.next(o)) {
    add_core(cores, f, o);
    if (f.block_count(o) == 0) continue;
    Cores inside;
    for (int i = 0; i < f.block_count(o); ++i) add_cores(inside, f, f.block(o, i));
    add_operation(f, cores.vector, inside.vector);
    add_operation(f, cores.cube, inside.cube);
    cores.both_in_one_region = cores.both_in_one_region || inside.both() || inside.both_in_one_region;
    cores.in_while = cores.in_while || inside.in_while || (f.is(o, ops::while_loop) && (inside.vector || inside.cube));
  }
}

}  // namespace detail

/// Of a function whose tiles stand in their memory spaces.
[[nodiscard]] inline Cores cores_of(const Function& f) {
  Cores cores;
  detail::add_cores(cores, f, f.body());
  return cores;
}

}  // namespace tessera
