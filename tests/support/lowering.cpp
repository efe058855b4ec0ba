#include "lowering.hpp"

#include <tessera/passes/assign_buffers.hpp>
#include <tessera/passes/flatten_tile_nd_to_2d.hpp>
#include <tessera/passes/infer_memory_space.hpp>
#include <tessera/passes/legalize.hpp>
#include <tessera/passes/plan_memory.hpp>

namespace tessera::test {

std::vector<HostTensor> whole_numbers(const Function& f, std::int64_t dynamic) {
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

Lowered lower_tiles(const Function& f, Arch arch, std::int64_t dynamic, std::int64_t scalar) {
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
