// Random kernels with planned memory: every plan is verified and runs as before, is near what is needed at least, and a plan
// that is made wrong is found.
#include "support/planning.hpp"
#include "support/random_pipeline.hpp"
#include "support/random_tensor_program.hpp"
#include "support/random_tile_program.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

// The lowered program, or nothing where a pass refuses it.
std::optional<Function> lowered(const Function& f, Arch arch) {
  try {
    return run_passes(f, default_pipeline(), {arch});
  } catch (const UserError&) { return {}; }
}

template <class Make>
void measure(const char* what, int count, Make&& make) {
  Tightness found;
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(count); ++seed)
    for (const Arch arch : {Arch::a3, Arch::a5}) {
      const auto program = make(seed, 60);
      if (const auto f = lowered(program->k.f(), arch)) {
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
