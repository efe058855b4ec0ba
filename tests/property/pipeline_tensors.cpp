// Random tensor-level kernels through the whole pipeline: every pass keeps their meaning, on both targets.
#include "support/random_pipeline.hpp"
#include "support/random_tensor_program.hpp"

TEST_CASE("random tensor programs go through the pipeline and keep their meaning") {
  using tessera::test::RandomTensorProgram;
  tessera::test::run_programs(TESSERA_LONG_TESTS ? 5000 : 200, 40, 60, [](std::uint64_t seed, int budget) {
    return std::make_unique<RandomTensorProgram>(seed, budget);
  });
}
