#include "random_pipeline.hpp"

#include <cstdlib>
#include <deque>
#include <fstream>
#include <iostream>
#include <map>

#include <tessera/emit/pto_mlir.hpp>
#include <tessera/passes/pipeline.hpp>
#include <tessera/simulate/run_both.hpp>

#include "catch.hpp"

namespace tessera::test {

void require_same_run(const RandomProgram& p, const RandomProgram::Run& expected,
                      const SimulationResult& meaning, const Function& f) {
  RandomProgram::Run run = p.run();
  const std::size_t given = run.arguments.size();
  std::deque<HostTensor> results;
  for (std::size_t i = given; i < f.parameters.size(); ++i) {
    const Type& t = f.type(f.parameters[i].value);
    run.arguments.emplace_back(results.emplace_back(t.dtype, simulator::result_dims(f, t, run.arguments)));
  }
  const SimulationResult made = simulator::run_lowered(f, run.arguments, run.options);
  const std::string name = f.name.c_str();
  for (std::size_t i = 0, next = 0; i < meaning.results.size(); ++i)
    if (const HostTensor& r = meaning.results[i]; r.rank() > 0 && next < results.size())
      simulator::require_agreement(name, "result " + std::to_string(i), r, results[next++], Agreement::exact);
  for (std::size_t i = 0; i < given; ++i) {
    if (run.arguments[i].tensor() == nullptr) continue;
    simulator::require_agreement(name, "argument " + std::to_string(i), *expected.arguments[i].tensor(),
                                 *run.arguments[i].tensor(), Agreement::exact);
    if (made.unwritten(i).count != meaning.unwritten(i).count)
      throw InternalError("another count of elements is written to argument " + std::to_string(i));
  }
}

Fate pass_through(RandomProgram& p, Arch arch) {
  Fate fate;
  std::string stage = "recording";
  try {
    verify(p.k.f());
    RandomProgram::Run expected = p.run();
    SimulationResult meaning;
    try {
      meaning = simulate(p.k.f(), expected.arguments, expected.options);
    } catch (const UserError& e) {
      fate.nonsense = true;
      fate.fault = e.what();
      return fate;
    }
    PassOptions options;
    options.verify = true;
    options.before = [&](const Pass& pass, const Function&) { stage = pass.name; };
    options.after = [&](const Pass& pass, const Function& f) {
      stage = pass.name;
      if (pass.name == "plan_memory") fate.module = emit_pto_mlir(f, {.arch = arch});
      try {
        require_same_run(p, expected, meaning, f);
      } catch (const InternalError& e) { throw InternalError("after " + stage + ": " + e.text() + "\n" + print(f)); }
    };
    static_cast<void>(run_passes(p.k.f(), full_pipeline(), {arch, true}, options));
  } catch (const UserError& e) {
    const Diagnostic d = e.diagnostic();
    if (d.hint.empty()) fate.fault = stage + ": no hint: " + e.what();
    else fate.refusal = stage + ": " + d.message.substr(0, d.message.find(" ("));
  } catch (const std::exception& e) { fate.fault = stage + ": " + e.what(); }
  return fate;
}

void run_programs(int count, int operations, int least_share, const MakeProgram& make) {
  const char* const only = std::getenv("TESSERA_SEED");
  const char* const modules = std::getenv("TESSERA_MODULES");  // a directory: receives what is emitted
  const std::uint64_t first = only != nullptr ? std::strtoull(only, nullptr, 10) : 1;
  if (only != nullptr) count = 1;
  std::map<std::string, int> refusals;
  int through = 0, faults = 0;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(count); ++seed)
    for (const Arch arch : {Arch::a3, Arch::a5}) {
      const Fate fate = pass_through(*make(seed, operations), arch);
      if (!fate.refusal.empty()) ++refusals[fate.refusal];
      else if (fate.fault.empty()) ++through;
      if (modules != nullptr && !fate.module.empty())
        std::ofstream(std::string(modules) + "/" + std::to_string(seed) + "." + std::string(name(arch)) + ".pto")
            << fate.module;
      if (fate.fault.empty()) continue;
      int fewest = 0;
      while (fewest < operations && pass_through(*make(seed, fewest), arch).fault.empty()) ++fewest;
      const auto smallest = make(seed, fewest);
      std::cout << "TESSERA_SEED=" << seed << " on " << name(arch) << ", " << fewest
                << " statements: " << pass_through(*smallest, arch).fault << "\nrecorded:\n"
                << print(smallest->k.f()) << "\n";
      if (++faults == 20) FAIL("too many faults");
    }
  const int all = 2 * count;
  std::cout << through << " of " << all << " programs go through; refused:\n";
  for (const auto& [words, n] : refusals) std::cout << "  " << n << "  " << words << "\n";
  CHECK(faults == 0);
  if (only == nullptr) CHECK(through * 100 >= all * least_share);
}

}  // namespace tessera::test
