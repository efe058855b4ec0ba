// Memory spaces, tensors against tiles.
#include <tessera/kernel.hpp>
using namespace tessera;  // NOLINT: a test

void test(Tensor<Shape<64, 64>, f32> x, Tile<Shape<64, 64>, f32, Vec> v, Tile<Shape<64, 64>, f32, Mat> m, Tile<Shape<64, 64>, f32, Acc> acc,
          Tile<Shape<64, 64>, f32, Left> l, Tile<Shape<64, 64>, f32, Right> r, Out<Tensor<Shape<64, 64>, f32>> o, Scalar<f32> s, Index i,
          Tile<Shape<64, 64>, i32, Vec> index) {
#if CASE == 0
  (void)load<Shape<64, 64>>(x, at(0, 0));
  (void)load<Shape<64, 64>, Mat>(x, at(0, 0));
  (void)move<Left>(m);
  (void)move<Vec>(acc);
  (void)(v + v);
  store(v, o, at(0, 0));
  store(acc, o, at(0, 0));
  (void)full<Shape<64, 64>, f32, Vec>(0);
  (void)tile<Shape<64, 64>, f32, Acc>();
  (void)gather_flat(v, index);
#elif CASE == 1
  (void)(x + v);  // expect: tensor_and_tile_mixed<(&tessera::ops::add|\(& tessera::ops::add\))>
#elif CASE == 2
  (void)(m + m);  // expect: operand_is_in_the_wrong_space<(&tessera::ops::add|\(& tessera::ops::add\)), 0, tessera::Mat>
#elif CASE == 3
  (void)(v + m);  // expect: operand_is_in_the_wrong_space<(&tessera::ops::add|\(& tessera::ops::add\)), 1, tessera::Mat>
#elif CASE == 4
  (void)exp(acc);  // expect: operand_is_in_the_wrong_space<(&tessera::ops::exp|\(& tessera::ops::exp\)), 0, tessera::Acc>
#elif CASE == 5
  (void)load<Shape<64, 64>, Left>(x, at(0, 0));  // expect: load_reaches_vec_or_mat_only<tessera::Left>
#elif CASE == 6
  (void)move<Acc>(v);  // expect: move_has_no_path<tessera::Vec, tessera::Acc>
#elif CASE == 7
  (void)move<Vec>(m);  // expect: move_has_no_path<tessera::Mat, tessera::Vec>
#elif CASE == 8
  (void)move<Left>(x);  // expect: operand_is_not_a_tile<(&tessera::ops::move|\(& tessera::ops::move\))>
#elif CASE == 9
  store(m, o, at(0, 0));  // expect: store_from_this_space_is_impossible<tessera::Mat>
#elif CASE == 10
  (void)load<Shape<64, 64>>(v, at(0, 0));  // expect: operand_is_not_a_tensor<(&tessera::ops::load|\(& tessera::ops::load\))>
#elif CASE == 11
  (void)full<Shape<64, 64>, f32, Acc>(0);  // expect: result_is_in_the_wrong_space<(&tessera::ops::full|\(& tessera::ops::full\)), tessera::Acc>
#elif CASE == 12
  (void)tile<Shape<64, 64>, f32, Gm>();  // expect: result_is_in_the_wrong_space<(&tessera::ops::create|\(& tessera::ops::create\)), tessera::Gm>
#elif CASE == 13
  (void)exp(s);  // expect: operand_is_not_shaped<(&tessera::ops::exp|\(& tessera::ops::exp\))>
#elif CASE == 14
  (void)maximum(s, s);  // expect: operand_is_not_shaped<(&tessera::ops::maximum|\(& tessera::ops::maximum\))>
#elif CASE == 15
  (void)min(x, 3.0f);  // expect: operand_is_shaped_use_maximum_or_minimum<>
#elif CASE == 16
  (void)(acc - acc);  // expect: operand_is_in_the_wrong_space<(&tessera::ops::sub|\(& tessera::ops::sub\)), 0, tessera::Acc>
#elif CASE == 17
  (void)(m < m);  // expect: operand_is_in_the_wrong_space<(&tessera::ops::compare|\(& tessera::ops::compare\)), 0, tessera::Mat>
#elif CASE == 18
  (void)(acc == 0.0f);  // expect: operand_is_in_the_wrong_space<(&tessera::ops::compare|\(& tessera::ops::compare\)), 0, tessera::Acc>
#elif CASE == 19
  (void)tile<Shape<dyn<"S">, 64>, f32>();  // expect: tile_dim_is_dynamic<(&tessera::ops::create|\(& tessera::ops::create\)), .*"S"
#elif CASE == 20
  (void)full<Shape<dyn<"S">, 64>, f32>(0.0f);  // expect: tile_dim_is_dynamic<(&tessera::ops::full|\(& tessera::ops::full\)), .*"S"
#elif CASE == 21
  (void)gather_flat(x, index);  // expect: tensor_and_tile_mixed<(&tessera::ops::gather_flat|\(& tessera::ops::gather_flat\))>
#elif CASE == 22
  (void)(i % 1.5);  // expect: floating_literal_with_integers<(&tessera::ops::scalar_rem|\(& tessera::ops::scalar_rem\)), tessera::index_type>
#elif CASE == 23
  (void)(s % s);  // expect: dtype_not_supported<(&tessera::ops::scalar_rem|\(& tessera::ops::scalar_rem\)), tessera::f32>
#elif CASE == 24
  (void)(s < i);  // expect: operand_dtypes_differ<(&tessera::ops::scalar_compare|\(& tessera::ops::scalar_compare\)), tessera::f32, tessera::index_type>
#elif CASE == 25
  auto p = matmul(l, r);
  (void)(p + p);  // expect: operand_is_in_the_wrong_space<(&tessera::ops::add|\(& tessera::ops::add\)), 0, tessera::Acc>
#endif
}
