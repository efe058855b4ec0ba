// Scores of 16 queries against keys in a paged cache: the keys of up to 64 positions are found by a block table, and loaded row
// by row as the columns of the right factor.
#include <tessera/kernel.hpp>

namespace my_kernels {
using namespace tessera;

inline const auto paged_scores = kernel("paged_scores", params("q", "keys", "positions", "table", "scores"),
  [](Tensor<Shape<16, 128>, f16> q, Tensor<Shape<512, 128>, f16> keys, Tensor<Shape<64>, i32> positions, Tensor<Shape<16>, i32> table,
     Out<Tensor<Shape<16, 64>, f32>> scores) {
    scores = matmul(q, paged_gather<PagedGather{.block_size = 32, .size = 128, .max_indices = 64, .form = Form::transposed}>(keys, positions, table));
  });

}  // namespace my_kernels
