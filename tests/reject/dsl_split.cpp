// Split regions: what can be shared between two lanes, and what is no lane.
#include <tessera/kernel.hpp>
using namespace tessera;  // NOLINT: a test

void test(Tensor<Shape<32, 64>, f32> x, Tensor<Shape<2, 32, 64>, f32> deep, Tensor<Shape<31, 64>, f32> odd, Tensor<Shape<16, 64>, f32> half,
          Tensor<Shape<32, 32>, f32> side, Tensor<Shape<16, 64>, f16> narrow, Index i) {
  for (auto lane : split_aiv<Split::up_down>()) {
#if CASE == 0
    (void)aiv_shard(x, lane);
    (void)aic_gather(x, half, lane);
    (void)(lane * 16 + i);
#elif CASE == 1
    (void)aiv_shard(deep, lane);  // expect: split_matrix_is_not_2d<(&tessera::ops::aiv_shard|\(& tessera::ops::aiv_shard\)), 3>
#elif CASE == 2
    (void)aiv_shard(odd, lane);  // expect: split_axis_has_no_halves<(&tessera::ops::aiv_shard|\(& tessera::ops::aiv_shard\)), 0, 31>
#elif CASE == 3
    (void)aiv_shard(x, i);  // expect: lane_is_not_of_a_split_region<(&tessera::ops::aiv_shard|\(& tessera::ops::aiv_shard\))>
#elif CASE == 4
    (void)aic_gather(x, side, lane);  // expect: gathered_half_has_another_shape<32, 16>
#elif CASE == 5
    (void)aic_gather(x, narrow, lane);  // expect: operand_dtypes_differ<(&tessera::ops::aic_gather|\(& tessera::ops::aic_gather\)), tessera::f32, tessera::f16>
#elif CASE == 6
    (void)aiv_shard(1.0f, lane);  // expect: value_is_not_recorded<(&tessera::ops::aiv_shard|\(& tessera::ops::aiv_shard\))>
#elif CASE == 7
    for (auto other : split_aiv<Split::up_down>().pipelined(2)) (void)other;  // expect: split_region_is_not_pipelined<>
#endif
  }
}
