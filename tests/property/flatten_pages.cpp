// Random kernels on tiles and tensors of rank 3 to 6 through the whole pipeline: batches of products, reductions, broadcasts,
// transposes and tails keep their meaning when they become 2-D, on both targets.
#include "support/random_pipeline.hpp"
#include "support/random_tensor_program.hpp"
#include "support/random_tile_program.hpp"

using namespace tessera::test;

TEST_CASE("random kernels on tiles of rank 3 to 6 keep their meaning") {
  run_programs(TESSERA_LONG_TESTS ? 2500 : 150, 40, 50, [](std::uint64_t seed, int budget) {
    return std::make_unique<RandomTileProgram>(seed, budget, Focus::pages);
  });
}

TEST_CASE("random kernels on tensors of rank 3 to 6 keep their meaning") {
  run_programs(TESSERA_LONG_TESTS ? 2500 : 150, 40, 50, [](std::uint64_t seed, int budget) {
    return std::make_unique<RandomTensorProgram>(seed, budget, Focus::pages);
  });
}
