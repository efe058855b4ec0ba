// Operations on bits and on parts, remainders, fused differences, slopes: element types, shapes, scalars.
#include <tessera/kernel.hpp>
#include <iostream>
using namespace tessera;  // NOLINT: a test

void test(Tensor<Shape<4, 64>, f32> f, Tensor<Shape<4, 64>, i32> i, Tensor<Shape<4, 64>, i16> h, Tensor<Shape<4, 64>, u32> u,
          Tensor<Shape<4, 64>, i64> w, Tensor<Shape<1, 64>, i32> row, Tensor<Shape<64>, i32> flat, Tensor<Shape<4, 32>, f32> narrow,
          Scalar<f32> s, Scalar<i32> n, Scalar<i16> m, Index k) {
#if CASE == 0
  (void)((i & i) | (i ^ 3));
  (void)(~i << 2 >> i);
  (void)(1 << h >> m);
  (void)(u & 3u);
  (void)((n & 3) | (k & n));
  (void)((k < 3) & (n > 2) & true);
  (void)((n ^ 3) << n >> 2);
  (void)(~k ^ ~n ^ (1 << k));
  (void)((i | row) ^ flat);
  (void)fmod(i, row);
  (void)fmod(f, 2.0f);
  (void)fmod(u, u);
  (void)part_add(f, f);
  (void)row_expand_expdif(f, row_max(f));
  (void)row_prod(i);
  (void)lrelu(f, s);
  (void)lrelu(f, 1);
  std::cout << 1 << std::endl;
#elif CASE == 1
  (void)(f & f);  // expect: operation_is_for_integers<(&tessera::ops::bit_and|\(& tessera::ops::bit_and\)), tessera::f32>
#elif CASE == 2
  (void)(f | 1);  // expect: operation_is_for_integers<(&tessera::ops::bit_ors|\(& tessera::ops::bit_ors\)), tessera::f32>
#elif CASE == 3
  (void)(f ^ s);  // expect: operation_is_for_integers<(&tessera::ops::bit_xors|\(& tessera::ops::bit_xors\)), tessera::f32>
#elif CASE == 4
  (void)~f;  // expect: operation_is_for_integers<(&tessera::ops::bit_not|\(& tessera::ops::bit_not\)), tessera::f32>
#elif CASE == 5
  (void)(f << 2);  // expect: operation_is_for_integers<(&tessera::ops::shls|\(& tessera::ops::shls\)), tessera::f32>
#elif CASE == 6
  (void)(1 >> f);  // expect: operation_is_for_integers<(&tessera::ops::shr|\(& tessera::ops::shr\)), tessera::f32>
#elif CASE == 7
  (void)(i & 1.5);  // expect: floating_literal_with_integers<(&tessera::ops::bit_ands|\(& tessera::ops::bit_ands\)), tessera::i32>
#elif CASE == 8
  (void)(i << 0.5f);  // expect: floating_literal_with_integers<(&tessera::ops::shls|\(& tessera::ops::shls\)), tessera::i32>
#elif CASE == 9
  (void)(i & h);  // expect: operand_dtypes_differ<(&tessera::ops::bit_and|\(& tessera::ops::bit_and\)), tessera::i32, tessera::i16>
#elif CASE == 10
  (void)(i >> m);  // expect: scalar_dtype_differs<(&tessera::ops::shrs|\(& tessera::ops::shrs\)), tessera::i32, tessera::i16>
#elif CASE == 11
  (void)(i | cast<i32>(narrow));  // expect: shapes_differ<(&tessera::ops::bit_or|\(& tessera::ops::bit_or\)), 64, 32>
#elif CASE == 12
  (void)(cast<i32>(narrow) ^ flat);  // expect: shapes_differ<(&tessera::ops::bit_xor|\(& tessera::ops::bit_xor\)), 32, 64>
#elif CASE == 13
  (void)(n ^ m);  // expect: operand_dtypes_differ<(&tessera::ops::scalar_xor|\(& tessera::ops::scalar_xor\)), tessera::i32, tessera::i16>
#elif CASE == 14
  (void)(s << 2);  // expect: dtype_not_supported<(&tessera::ops::scalar_shl|\(& tessera::ops::scalar_shl\)), tessera::f32>
#elif CASE == 15
  (void)(1 >> s);  // expect: dtype_not_supported<(&tessera::ops::scalar_shr|\(& tessera::ops::scalar_shr\)), tessera::f32>
#elif CASE == 16
  (void)~s;  // expect: dtype_not_supported<(&tessera::ops::scalar_xor|\(& tessera::ops::scalar_xor\)), tessera::f32>
#elif CASE == 17
  (void)(s & s);  // expect: dtype_not_supported<(&tessera::ops::scalar_and|\(& tessera::ops::scalar_and\)), tessera::f32>
#elif CASE == 18
  (void)(i & std::string("one"));  // expect: value_is_not_recorded<(&tessera::ops::bit_and|\(& tessera::ops::bit_and\))>
#elif CASE == 19
  (void)(w & w);  // expect: dtype_not_supported<(&tessera::ops::bit_and|\(& tessera::ops::bit_and\)), tessera::i64>
#elif CASE == 20
  (void)(i & load<Shape<4, 64>>(i, at(0, 0)));  // expect: tensor_and_tile_mixed<(&tessera::ops::bit_and|\(& tessera::ops::bit_and\))>
#elif CASE == 21
  (void)fmod(u, 3);  // expect: dtype_not_supported<(&tessera::ops::fmods|\(& tessera::ops::fmods\)), tessera::u32>
#elif CASE == 22
  (void)fmod(f, narrow);  // expect: shapes_differ<(&tessera::ops::fmod|\(& tessera::ops::fmod\)), 64, 32>
#elif CASE == 23
  (void)fmod(i, 1.5);  // expect: floating_literal_with_integers<(&tessera::ops::fmods|\(& tessera::ops::fmods\)), tessera::i32>
#elif CASE == 24
  (void)fmod(n, 3);  // expect: operand_is_not_shaped<(&tessera::ops::fmod|\(& tessera::ops::fmod\))>
#elif CASE == 25
  (void)part_add(f, narrow);  // expect: shapes_differ<(&tessera::ops::part_add|\(& tessera::ops::part_add\)), 64, 32>
#elif CASE == 26
  (void)part_max(f, i);  // expect: operand_dtypes_differ<(&tessera::ops::part_max|\(& tessera::ops::part_max\)), tessera::f32, tessera::i32>
#elif CASE == 27
  (void)part_min(f, 1.0f);  // expect: value_is_not_recorded<(&tessera::ops::part_min|\(& tessera::ops::part_min\))>
#elif CASE == 28
  (void)row_expand_expdif(i, i);  // expect: dtype_not_supported<(&tessera::ops::row_expand_expdif|\(& tessera::ops::row_expand_expdif\)), tessera::i32>
#elif CASE == 29
  (void)col_expand_expdif(f, f);  // expect: col_operand_is_not_a_row<(&tessera::ops::col_expand_expdif|\(& tessera::ops::col_expand_expdif\)), 0, 4, 1>
#elif CASE == 30
  (void)row_prod(w);  // expect: dtype_not_supported<(&tessera::ops::row_prod|\(& tessera::ops::row_prod\)), tessera::i64>
#elif CASE == 31
  (void)lrelu(f, m);  // expect: scalar_dtype_differs<(&tessera::ops::lrelu|\(& tessera::ops::lrelu\)), tessera::f32, tessera::i16>
#elif CASE == 32
  (void)lrelu(i, 0.5f);  // expect: dtype_not_supported<(&tessera::ops::lrelu|\(& tessera::ops::lrelu\)), tessera::i32>
#elif CASE == 33
  (void)lrelu(f, "0.5");  // expect: operand_is_not_a_number<(&tessera::ops::lrelu|\(& tessera::ops::lrelu\))>
#endif
}
