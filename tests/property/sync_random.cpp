// Random kernels with flags and barriers: the verifier proves them, their runs are proven and tried in random orders, and what
// is taken out is found.
#include <iostream>

#include "support/planning.hpp"
#include "support/random_pipeline.hpp"
#include "support/random_tensor_program.hpp"
#include "support/random_tile_program.hpp"
#include "support/synchronised.hpp"

#include <tessera/passes/pipeline.hpp>
#include <tessera/simulate/run_both.hpp>

using namespace tessera;
using namespace tessera::test;

namespace {

struct Count {
  int programs = 0, refused = 0, units = 0, found = 0, by_verifier = 0, by_check = 0, by_replay = 0, events = 0;
  [[nodiscard]] std::string text() const {
    return std::to_string(programs) + " kernels with " + std::to_string(events) + " events of pipes, " + std::to_string(refused) + " refused; of " + std::to_string(units) +
           " flags and barriers that are taken out one by one " + std::to_string(found) + " are found: " + std::to_string(by_verifier) + " by the verifier, " +
           std::to_string(by_check) + " in a run, " + std::to_string(by_replay) + " in random orders of it; the others are redundant";
  }
};

[[nodiscard]] PipeTrace traced(const RandomProgram& p, const Function& f) {
  RandomProgram::Run run = p.run();
  std::deque<HostTensor> results;
  for (std::size_t i = run.arguments.size(); i < f.parameters.size(); ++i) {
    const Type& t = f.type(f.parameters[i].value);
    run.arguments.emplace_back(results.emplace_back(t.dtype, simulator::result_dims(f, t, run.arguments)));
  }
  PipeTrace trace;
  SimulateOptions options = run.options;
  options.pipes = &trace;
  static_cast<void>(simulate(f, run.arguments, options));
  return trace;
}

void take_out(const Function& f, const PipeTrace& trace, Count& count) {
  for (const SyncUnit& unit : sync_units(f)) {
    const Function g = without(f, unit);
    const SyncFindings s = sync_findings(g, without(trace, unit), 10);
    ++count.units;
    count.found += s.found() ? 1 : 0;
    count.by_verifier += s.verifier.empty() ? 0 : 1;
    count.by_check += s.check.empty() ? 0 : 1;
    count.by_replay += s.replay.empty() ? 0 : 1;
    INFO(print(g));
    INFO("verifier: " << s.verifier << "\nrun: " << s.check << "\nreplay: " << s.replay);
    // What goes wrong in an order is no right order, and what goes wrong in a run is wrong in the function.
    CHECK((s.replay.empty() || !s.check.empty()));
    CHECK((s.check.empty() || !s.verifier.empty()));
  }
}

/// How a kernel gets its flags.
using Synchronise = Function (*)(const Function& lowered);

void check_program(const RandomProgram& p, const Function& meant, const PassContext& context, Synchronise synchronise, Count& count) {
  Function lowered;
  try {
    lowered = run_passes(meant, default_pipeline(), context);
  } catch (const UserError&) {
    ++count.refused;
    return;
  }
  const Function f = synchronise(lowered);
  INFO(print(f));
  verify(f, {Property::addresses_planned, Property::synchronised});
  RandomProgram::Run expected = p.run();
  const SimulationResult meaning = simulate(meant, expected.arguments, expected.options);
  require_same_run(p, expected, meaning, f);
  const PipeTrace trace = traced(p, f);
  const auto fault = replay_fault(f, trace, context.arch, 20, 100);
  CHECK((fault ? fault->what : "") == "");
  ++count.programs;
  count.events += static_cast<int>(trace.events.size());
  take_out(f, trace, count);
}

// The verifier alone.
void prove_program(const Function& meant, const PassContext& context, Synchronise synchronise) {
  Function lowered;
  try {
    lowered = run_passes(meant, default_pipeline(), context);
  } catch (const UserError&) { return; }
  const Function f = synchronise(lowered);
  INFO(print(f));
  verify(f, {Property::addresses_planned, Property::synchronised});
}

template <class Make>
Count check_programs(const char* what, int programs, Synchronise synchronise, Make&& make) {
  Count count;
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(programs); ++seed) {
    INFO(what << " seed " << seed);
    const auto p = make(seed, 40);
    for (std::uint64_t c = 0; c < 4; ++c) {
      const PassContext context{c % 2 == 0 ? Arch::a3 : Arch::a5, c >= 2};
      if (c == seed % 4) check_program(*p, p->k.f(), context, synchronise, count);
      else prove_program(p->k.f(), context, synchronise);
    }
  }
  std::cout << what << ": " << count.text() << "\n";
  CHECK(count.programs * 2 > programs);
  return count;
}
std::unique_ptr<RandomTileProgram> tile_program(std::uint64_t seed, int n) { return std::make_unique<RandomTileProgram>(seed, n); }
std::unique_ptr<RandomTensorProgram> tensor_program(std::uint64_t seed, int n) { return std::make_unique<RandomTensorProgram>(seed, n); }

}  // namespace

TEST_CASE("random kernels are synchronised, and no flag less will do") {
  const int programs = TESSERA_LONG_TESTS ? 3200 : 250;
  for (const Count& count : {check_programs("tile programs", programs, synchronised, tile_program), check_programs("tensor programs", programs, synchronised, tensor_program)})
    CHECK(count.found * 1000 >= count.units * 995);  // the others are needed on paths only that the conditions rule out
}

TEST_CASE("one instruction after the other is right, too") {
  const int programs = TESSERA_LONG_TESTS ? 1000 : 60;
  check_programs("tile programs with a flag behind every instruction", programs, with_flags, tile_program);
  check_programs("tensor programs with a flag behind every instruction", programs, with_flags, tensor_program);
  check_programs("tile programs with a barrier behind every instruction", programs, with_barriers, tile_program);
}
