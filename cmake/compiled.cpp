// What <tessera/compile.hpp> and <tessera/simulate.hpp> declare for files that are compiled with TESSERA_COMPILED.
#include <tessera/compile.hpp>
#include <tessera/dsl/program_tracer.hpp>
#include <tessera/emit/lower_and_emit.hpp>
#include <tessera/passes/all_passes.hpp>
#include <tessera/simulate.hpp>
#include <tessera/simulate/every_level.hpp>

namespace tessera {

template Function detail::traced<Function>(const KernelEntry&);
template Program detail::traced<Program>(const KernelEntry&);

template List<const Pass*> detail::all_passes<>();
template Function detail::run_default_passes<const Function&>(const Function&, const CompileOptions&);
template Function detail::run_default_passes<Function>(Function&&, const CompileOptions&);
template Program detail::run_default_passes<const Program&>(const Program&, const CompileOptions&);
template Program detail::run_default_passes<Program>(Program&&, const CompileOptions&);

template std::vector<KernelText> detail::pto_texts<Function>(Function, const CompileOptions&);
template std::vector<KernelText> detail::pto_texts<Program>(Program, const CompileOptions&);
template std::vector<KernelText> detail::cpp_texts<Function>(Function, const CompileOptions&);
template std::vector<KernelText> detail::cpp_texts<Program>(Program, const CompileOptions&);

namespace simulator {

template SimulationResult run<Function>(const Function&, const std::vector<Argument>&, const SimulateOptions&);
template SimulationResult run<Program>(const Program&, const std::vector<Argument>&, const SimulateOptions&);
template std::vector<HostTensor> run_both<Function>(const Function&, const Function&, std::vector<Argument>, const SimulateOptions&);
template std::vector<HostTensor> run_both<Program>(const Program&, const Program&, std::vector<Argument>, const SimulateOptions&);
template void run_every_level<Function>(const Function&, const std::vector<Argument>&, const SimulateOptions&);
template void run_every_level<Program>(const Program&, const std::vector<Argument>&, const SimulateOptions&);

}  // namespace simulator
}  // namespace tessera
