// Random kernels with planned memory: every plan is verified and runs as before, is near what is needed at least, and a plan
// that is made wrong is found.
#include <iostream>

#include "support/planning.hpp"
#include "support/random_pipeline.hpp"
#include "support/random_tensor_program.hpp"
#include "support/random_tile_program.hpp"

#include <tessera/emit/pto_mlir.hpp>
#include <tessera/passes/pipeline.hpp>
#include <tessera/simulate/run_both.hpp>

using namespace tessera;
using namespace tessera::test;

namespace {

// The lowered program, or nothing where a pass refuses it.
std::optional<Function> lowered(const Function& f, Arch arch, bool pipelining) {
  try {
    return run_passes(f, default_pipeline(), {arch, pipelining});
  } catch (const UserError&) { return {}; }
}

template <class Make>
void measure(const char* what, int count, Make&& make) {
  Tightness found;
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(count); ++seed)
    for (const Arch arch : {Arch::a3, Arch::a5}) {
      const auto program = make(seed, 60);
      for (const bool pipelining : {false, true})
        if (const auto f = lowered(program->k.f(), arch, pipelining)) {
          if (pipelining) {  // where there is room, it is taken
            verify(*f, {Property::addresses_planned});
            continue;
          }
          const double before = found.worst;
          found.add(*f);
          if (found.worst > before && found.worst > 1.02) std::cout << what << " seed " << seed << " " << name(arch) << ": " << found.worst << "\n";
        }
    }
  std::cout << what << ": " << found.text() << "\n";
  CHECK(found.worst < 1.05);
}

}  // namespace

TEST_CASE("plans of random programs are near what is needed at least") {
  const int count = TESSERA_LONG_TESTS ? 2000 : 200;
  measure("tile programs", count, [](std::uint64_t seed, int n) { return std::make_unique<RandomTileProgram>(seed, n); });
  measure("tensor programs", count, [](std::uint64_t seed, int n) { return std::make_unique<RandomTensorProgram>(seed, n); });
}

// --- memory that the author declares ---

namespace {

// Reserves bytes in two spaces, and places most of the tiles that are loaded: each in a buffer of its own, which may have slots.
Function with_declared_memory(const Function& f, Random& random) {
  Function g = f;
  const auto declare = [&](const char* name, MemorySpace space, std::int64_t slots, std::int64_t bytes, std::int64_t address) {
    g.storage.push_back({Text(name).append(static_cast<std::int64_t>(g.storage.size())), g.location, space, slots, bytes, address, address >= 0});
    return static_cast<std::int64_t>(g.storage.size() - 1);
  };
  declare("low", Vec, 0, random.between(1, 4000), -1);
  declare("ring", Mat, 0, random.between(1, 4000), 512 * random.below(20));
  const auto count = static_cast<std::uint32_t>(g.operation_count());
  for (std::uint32_t o = 0; o < count; ++o) {
    const OpId load{o};
    if (!g[load].parent || !g.is(load, ops::load) || random.chance(30)) continue;
    const ValueId v = g.result(load);
    const Type type = g.type(v);
    if (type.rank > 2 && type.space != Vec) continue;
    const std::int64_t slots = random.between(1, 3), number = declare("b", type.space, slots, 0, -1);
    std::vector<Attr> attrs{int_attr(AttrKey::buffer, number)};
    if (random.chance(50)) attrs.push_back(int_attr(AttrKey::slot, random.below(slots)));
    const OpId place = g.new_operation(ops::place, {v}, attrs, g[load].location);
    g.set_results(place, {type});
    g.replace_all_uses(v, g.result(place));
    g.set_operand(place, 0, v);
    g.share_valid(g.result(place), v);
    g.insert_after(g[load].parent, load, place);
  }
  return g;
}

}  // namespace

TEST_CASE("random programs with reserved and declared memory: what is planned is kept to, and computes the same") {
  int kept = 0, placed = 0;
  for (std::uint64_t seed = 1; seed <= (TESSERA_LONG_TESTS ? 1000u : 80u); ++seed) {
    RandomTileProgram program(seed, 40);
    Random random(seed);
    const Function f = with_declared_memory(program.k.f(), random);
    INFO("seed " << seed << "\n" << print(f));
    PassOptions options;
    options.verify = true;
    Function lowered;
    try {
      lowered = run_passes(f, full_pipeline(), {seed % 3 == 0 ? Arch::a5 : Arch::a3, seed % 2 == 0}, options);
    } catch (const UserError&) { continue; }
    ++kept;
    for (std::uint32_t v = 0; v < lowered.value_count(); ++v) placed += lowered[ValueId{v}].storage != no_storage ? 1 : 0;
    RandomProgram::Run run = program.run();
    static_cast<void>(simulate_lowered(f, lowered, run.arguments));
  }
  CHECK(kept > 40);
  CHECK(placed > 2 * kept);
}

// --- plans that are made wrong ---

namespace {

struct Found {
  int mutants = 0, by_verifier = 0, by_simulator = 0;
};

// Two buffers that are needed at the same time, one moved so that they have bytes in common.
void mutate(const RandomProgram& p, const Function& planned, std::uint32_t& state, Found& found) {
  const detail::Lifetimes lives(planned);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (int s = Vec; s < space_count; ++s)
    detail::Demand(planned, lives, static_cast<MemorySpace>(s), planned_arch(planned)).for_each_pair([&](std::uint32_t a, std::uint32_t b) {
      if (a != b) pairs.push_back({a, b});
    });
  for (int i = 0; i < 4 && !pairs.empty(); ++i) {
    const auto below = [&](std::size_t n) {
      state = state * 1664525u + 1013904223u;
      return static_cast<std::size_t>(state >> 8) % n;
    };
    auto [a, b] = pairs[below(pairs.size())];
    if (below(2) != 0) std::swap(a, b);
    Function wrong = planned;
    const ValueId from = lives.owner(a), to = lives.owner(b);
    const auto unit = static_cast<std::uint32_t>(info(planned.type(to).space).alignment);
    const auto blocks = static_cast<std::size_t>(byte_range(planned, to).bytes()) / unit;
    wrong[from].address = wrong[to].address + unit * static_cast<std::uint32_t>(below(blocks > 0 ? blocks : 1));
    ++found.mutants;
    INFO(print(wrong));
    const bool verified = thrown<InternalError>([&] { verify(wrong, {Property::addresses_planned}); }) == "nothing is thrown";
    CHECK_FALSE(verified);
    found.by_verifier += verified ? 0 : 1;
    RandomProgram::Run run = p.run();
    std::deque<HostTensor> results;
    for (std::size_t k = run.arguments.size(); k < wrong.parameters.size(); ++k) {
      const Type& t = wrong.type(wrong.parameters[k].value);
      run.arguments.emplace_back(results.emplace_back(t.dtype, simulator::result_dims(wrong, t, run.arguments)));
    }
    const std::string said = thrown<InternalError>([&] { static_cast<void>(simulator::run_lowered(wrong, run.arguments, run.options)); });
    found.by_simulator += said != "nothing is thrown" ? 1 : 0;
  }
}

}  // namespace

TEST_CASE("an address that overlaps a tile that is needed is found") {
  Found found;
  std::uint32_t state = 1;
  for (std::uint64_t seed = 1; seed <= (TESSERA_LONG_TESTS ? 1000u : 100u); ++seed) {
    RandomTileProgram program(seed, 60);
    if (const auto f = lowered(program.k.f(), Arch::a3, seed % 2 == 0)) mutate(program, *f, state, found);
  }
  std::cout << found.mutants << " wrong plans: the verifier finds " << found.by_verifier << ", a run " << found.by_simulator << "\n";
  CHECK(found.mutants > 100);
  CHECK(found.by_verifier == found.mutants);
  CHECK(found.by_simulator * 10 >= found.mutants * 7);  // the others stand where the run does not come by, or reads no more
}
