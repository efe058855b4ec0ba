// Matrix products.
#include <tessera/kernel.hpp>
using namespace tessera;  // NOLINT: a test

void test(Tensor<Shape<16, 32>, f16> a, Tensor<Shape<48, 64>, f16> b, Tensor<Shape<32, 64>, f32> f, Tensor<Shape<16, 32>, i32> n,
          Tensor<Shape<32, 64>, i32> m, Tensor<Shape<2, 16, 32>, f16> a2, Tensor<Shape<3, 32, 64>, f16> b3, Tensor<Shape<32>, f16> flat,
          Tensor<Shape<32, 64>, f16> good, Tile<Shape<16, 32>, f16, Left> l, Tile<Shape<32, 64>, f16, Right> r, Tile<Shape<16, 32>, f16, Vec> v,
          Tile<Shape<32, 64>, f16, Mat> mat, Tile<Shape<16, 64>, f32, Acc> acc, Tile<Shape<16, 64>, f32, Vec> accv, Tile<Shape<16, 32>, f32, Acc> acc32,
          Tensor<Shape<16, 64>, f16> acch, Tensor<Shape<16, dyn<"K">>, f16> k, Tensor<Shape<1, 16, 64>, f32> acc3) {
#if CASE == 0
  (void)matmul(a, good);
  (void)matmul(l, r);
  (void)matmul_acc(acc, l, r);
  (void)(acc + matmul(l, r));
  (void)matmul(acch, transpose(good));
#elif CASE == 1
  (void)matmul(a, b);  // expect: matmul_inner_dimensions_differ<32, 48>
#elif CASE == 2
  (void)matmul(a, transpose(b));  // expect: matmul_inner_dimensions_differ<32, 64>
#elif CASE == 3
  (void)matmul(a, f);  // expect: operand_dtypes_differ<(&tessera::ops::matmul|\(& tessera::ops::matmul\)), tessera::f16, tessera::f32>
#elif CASE == 4
  (void)matmul(n, m);  // expect: dtype_not_supported<(&tessera::ops::matmul|\(& tessera::ops::matmul\)), tessera::i32>
#elif CASE == 5
  (void)matmul(a2, b3);  // expect: matmul_batch_dims_do_not_broadcast<2, 3>
#elif CASE == 6
  (void)matmul(a, flat);  // expect: matmul_operand_is_not_a_matrix<2, 1>
#elif CASE == 7
  (void)matmul(v, r);  // expect: matmul_left_operand_is_not_in_left<tessera::Vec>
#elif CASE == 8
  (void)matmul(l, mat);  // expect: matmul_right_operand_is_not_in_right<tessera::Mat>
#elif CASE == 9
  (void)matmul_acc(accv, l, r);  // expect: matmul_accumulator_is_not_in_acc<tessera::Vec>
#elif CASE == 10
  (void)matmul_acc(acc32, l, r);  // expect: matmul_accumulator_differs<32, 64>
#elif CASE == 11
  (void)matmul_acc(acch, a, good);  // expect: dtype_not_supported<(&tessera::ops::matmul_acc|\(& tessera::ops::matmul_acc\)), tessera::f16>
#elif CASE == 12
  (void)matmul(k, good);  // expect: matmul_inner_dimensions_differ<.*"K".*, 32>
#elif CASE == 13
  (void)matmul(a, r);  // expect: tensor_and_tile_mixed<(&tessera::ops::matmul|\(& tessera::ops::matmul\))>
#elif CASE == 14
  (void)matmul(a, 3);  // expect: value_is_not_recorded<(&tessera::ops::matmul|\(& tessera::ops::matmul\))>
#elif CASE == 15
  (void)matmul_acc(acc3, a, good);  // expect: ranks_differ<(&tessera::ops::matmul_acc|\(& tessera::ops::matmul_acc\)), 3, 2>
#elif CASE == 16
  (void)matmul(load<Shape<16, 32>>(a, at(0, 0)), r);  // expect: matmul_left_operand_is_not_in_left<tessera::Vec>
#elif CASE == 17
  (void)matmul(l, transpose(mat));  // expect: operand_is_in_the_wrong_space<(&tessera::ops::transpose|\(& tessera::ops::transpose\)), 0, tessera::Mat>
#endif
}
