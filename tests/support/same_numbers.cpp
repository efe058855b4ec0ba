#include "same_numbers.hpp"

#include <tessera/emit/pto_mlir.hpp>
#include <tessera/passes/pipeline.hpp>
#include <tessera/simulate/run_both.hpp>

namespace tessera::test {

Inputs::Inputs(const Function& f, std::int64_t dynamic, std::int64_t scalar, const Fill& fill) {
  std::uint32_t state = 12345;
  for (const Parameter& p : f.parameters) {
    const Type& t = f.type(p.value);
    if (t.is_scalar()) {
      arguments.emplace_back(scalar);
      continue;
    }
    std::vector<std::int64_t> dims;
    for (int i = 0; i < t.rank; ++i) dims.push_back(is_dynamic(t.dims[i]) ? dynamic : t.dims[i]);
    HostTensor& x = tensors.emplace_back(t.dtype, dims);
    for (std::int64_t i = 0; i < x.size(); ++i)
      x.set(i, fill ? fill(p, i) : static_cast<double>((state = state * 1664525u + 1013904223u) >> 29) + (info(t.dtype).kind == DTypeKind::unsigned_integer ? 0.0 : -3.0));
    arguments.emplace_back(x);
  }
}

SameNumbers::SameNumbers(Recording& k, Arch arch, std::int64_t dynamic, std::int64_t scalar, const Fill& fill)
    : meant(k.f(), dynamic, scalar, fill) {
  const Function& f = k.f();
  const SimulationResult meaning = simulate(f, meant.arguments);
  PassOptions options;
  options.verify = true;
  options.after = [&](const Pass& pass, const Function& now) {
    INFO("after " << pass.name << "\n" << print(now));
    if (pass.name == "convert_tensor_to_tile_ops") converted = now;
    Inputs made(f, dynamic, scalar, fill);
    std::deque<HostTensor> results;
    for (std::size_t i = made.arguments.size(); i < now.parameters.size(); ++i) {
      const Type& t = now.type(now.parameters[i].value);
      made.arguments.emplace_back(results.emplace_back(t.dtype, simulator::result_dims(now, t, made.arguments)));
    }
    const SimulationResult run = simulator::run_lowered(now, made.arguments, {});
    for (std::size_t i = 0; i < meant.tensors.size(); ++i) REQUIRE(made.tensors[i] == meant.tensors[i]);
    for (std::size_t i = 0, next = 0; i < meaning.results.size(); ++i)
      if (meaning.results[i].rank() > 0) REQUIRE(results[next++] == meaning.results[i]);
  };
  const Function lowered = run_passes(f, default_pipeline(), {arch}, options);
  module = emit_pto_mlir(lowered, {.arch = arch});
}

}  // namespace tessera::test
