// Tile-level kernels through the passes behind convert: every stage is verified, and computes what the recorded kernel does.
#pragma once

#include <string>
#include <vector>

#include <tessera/passes/assign_buffers.hpp>
#include <tessera/passes/flatten_tile_nd_to_2d.hpp>
#include <tessera/passes/infer_memory_space.hpp>
#include <tessera/passes/legalize.hpp>
#include <tessera/passes/plan_memory.hpp>
#include <tessera/simulate/run.hpp>

#include "catch.hpp"
#include "ir.hpp"

namespace tessera::test {

/// Names of the operations in program order, blocks in braces: "load for{add yield} store".
[[nodiscard]] inline std::string op_names(const Function& f, BlockId b) {
  std::string out;
  for (OpId o = f[b].first; o; o = f.next(o)) {
    if (f.is(o, ops::return_op)) continue;
    out.append(out.empty() ? "" : " ").append(f.info(o).name);
    for (int i = 0; i < f.block_count(o); ++i) out.append("{").append(op_names(f, f.block(o, i))).append("}");
  }
  return out;
}
[[nodiscard]] inline std::string op_names(const Function& f) { return op_names(f, f.body()); }
/// Operation number `n` of that kind, in program order.
[[nodiscard]] inline OpId find_op(const Function& f, const OpInfo& info, int n = 0) {
  for (const OpId o : all_operations(f))
    if (f.is(o, info) && n-- == 0) return o;
  FAIL("no such operation: " << info.name << "\n" << print(f));
  return {};
}
/// "f32[6,4]@Vec" and the like, of a result.
[[nodiscard]] inline std::string type_text(const Function& f, const OpInfo& info, int n = 0) {
  const Type& t = f.type(f.result(find_op(f, info, n)));
  std::string text(name(t.dtype));
  for (int i = 0; i < t.rank; ++i) text.append(i == 0 ? "[" : ",").append(std::to_string(t.dims[i]));
  return text.append("]@")
      .append(name(t.space))
      .append(t.layout == Layout::dn   ? ":dn"
              : t.layout == Layout::zn ? ":zn"
                                       : "");
}
[[nodiscard]] inline int count_op(const Function& f, const OpInfo& info) {
  int n = 0;
  for (const OpId o : all_operations(f)) n += f.is(o, info) ? 1 : 0;
  return n;
}

/// Small whole numbers, so that sums are exact in any order; the same for every stage.
[[nodiscard]] inline std::vector<HostTensor> whole_numbers(const Function& f, std::int64_t dynamic) {
  std::vector<HostTensor> tensors;
  std::uint32_t state = 12345;
  for (const Parameter& p : f.parameters) {
    const Type& t = f.type(p.value);
    std::vector<std::int64_t> dims;
    for (int i = 0; i < t.rank; ++i) dims.push_back(is_dynamic(t.dims[i]) ? dynamic : t.dims[i]);
    HostTensor& x = tensors.emplace_back(t.dtype, dims);
    for (std::int64_t i = 0; i < x.size(); ++i)
      x.set(i, static_cast<double>((state = state * 1664525u + 1013904223u) >> 29) - 3.0);
  }
  return tensors;
}

struct Lowered {
  Function flat, legal, placed, buffered, planned;
};
/// Runs the passes; `dynamic` is the size of every named dim, `scalar` the value of every scalar parameter.
[[nodiscard]] inline Lowered lower_tiles(const Function& f, Arch arch = Arch::a3, std::int64_t dynamic = 8,
                                         std::int64_t scalar = 1) {
  const auto run = [&](const Function& g) {
    std::vector<HostTensor> tensors = whole_numbers(g, dynamic);
    std::vector<Argument> arguments;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (g.type(g.parameters[i].value).is_scalar()) arguments.emplace_back(scalar);
      else arguments.emplace_back(tensors[i]);
    }
    static_cast<void>(simulate(g, arguments));
    return tensors;
  };
  const PassContext context{arch};
  const std::vector<HostTensor> expected = run(f);
  Properties have{Property::tile_ops};
  const Function* from = &f;
  Lowered out;
  const auto step = [&](const Pass& pass, Function& to) {
    INFO(pass.name);
    REQUIRE(have.contains(pass.required));
    to = pass.run(*from, context);
    have = (have - pass.invalidated) | pass.produced;
    INFO(print(to));
    verify(to, have);
    REQUIRE(run(to) == expected);
    from = &to;
  };
  step(flatten_tile_nd_to_2d, out.flat);
  step(legalize, out.legal);
  step(infer_memory_space, out.placed);
  step(assign_buffers, out.buffered);
  step(plan_memory, out.planned);
  return out;
}

}  // namespace tessera::test
