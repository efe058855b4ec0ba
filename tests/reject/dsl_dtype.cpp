// Element types: operands that differ, operations without the type, literals, casts, gather.
#include <tessera/kernel.hpp>
using namespace tessera;  // NOLINT: a test

void test(Tensor<Shape<4, 64>, f32> a, Tensor<Shape<4, 64>, f16> h, Tensor<Shape<4, 64>, i32> i, Tensor<Shape<4, 64>, i64> w,
          Tensor<Shape<4, 64>, u32> u, Tensor<Shape<4, 64>, bf16> b, Tensor<Shape<4, 64>, i16> i16s, Scalar<f32> s, Scalar<i32> n, Scalar<f16> hs,
          Tensor<Shape<2, 64>, i32> fewer, Tensor<Shape<64>, i32> flat, Tensor<Shape<4, 64>, boolean> bits, Scalar<hif8> h8) {
#if CASE == 0
  (void)(a + cast<f32>(h));
  (void)(i + 1);
  (void)exp(a);
  (void)(sin(a) + cos(a));
  (void)div(a, s * a, high_precision);
  (void)rsqrt(h, high_precision);
  (void)(a * s);
  (void)full<Shape<4, 64>, f32>(s);
  (void)full<Shape<4, 64>, f32>(1);
  (void)gather(a, i);
  (void)gather(h, i16s);
  (void)arange<Shape<1, 64>, i32>(n);
  (void)(s + 1.5f);
  (void)(n + 1);
#elif CASE == 1
  (void)(a + h);  // expect: operand_dtypes_differ<(&tessera::ops::add|\(& tessera::ops::add\)), tessera::f32, tessera::f16>
#elif CASE == 2
  (void)exp(i);  // expect: dtype_not_supported<(&tessera::ops::exp|\(& tessera::ops::exp\)), tessera::i32>
#elif CASE == 3
  (void)(w + w);  // expect: dtype_not_supported<(&tessera::ops::add|\(& tessera::ops::add\)), tessera::i64>
#elif CASE == 4
  (void)(i + 0.5f);  // expect: floating_literal_with_integers<(&tessera::ops::adds|\(& tessera::ops::adds\)), tessera::i32>
#elif CASE == 5
  (void)(2.0 * i);  // expect: floating_literal_with_integers<(&tessera::ops::muls|\(& tessera::ops::muls\)), tessera::i32>
#elif CASE == 6
  (void)(n * 0.5f);  // expect: floating_literal_with_integers<(&tessera::ops::scalar_mul|\(& tessera::ops::scalar_mul\)), tessera::i32>
#elif CASE == 7
  (void)cast<f32>(a);  // expect: cast_to_the_same_dtype<tessera::f32>
#elif CASE == 8
  (void)(a * n);  // expect: scalar_dtype_differs<(&tessera::ops::muls|\(& tessera::ops::muls\)), tessera::f32, tessera::i32>
#elif CASE == 9
  (void)(hs * a);  // expect: scalar_dtype_differs<(&tessera::ops::muls|\(& tessera::ops::muls\)), tessera::f32, tessera::f16>
#elif CASE == 10
  (void)(s + n);  // expect: operand_dtypes_differ<(&tessera::ops::scalar_add|\(& tessera::ops::scalar_add\)), tessera::f32, tessera::i32>
#elif CASE == 11
  (void)gather(a, h);  // expect: gather_index_dtype<tessera::f16, tessera::f32>
#elif CASE == 12
  (void)gather(a, i16s);  // expect: gather_index_dtype<tessera::i16, tessera::f32>
#elif CASE == 13
  (void)gather(a, fewer);  // expect: dim_beside_the_axis_differs<(&tessera::ops::gather|\(& tessera::ops::gather\)), 0, 4, 2>
#elif CASE == 14
  (void)gather(a, flat);  // expect: ranks_differ<(&tessera::ops::gather|\(& tessera::ops::gather\)), 2, 1>
#elif CASE == 15
  (void)full<Shape<4, 64>, u64>(0);  // expect: dtype_not_supported<(&tessera::ops::full|\(& tessera::ops::full\)), tessera::u64>
#elif CASE == 16
  (void)full<Shape<4, 64>, i32>(1.5);  // expect: floating_literal_with_integers<(&tessera::ops::full|\(& tessera::ops::full\)), tessera::i32>
#elif CASE == 17
  (void)full<Shape<4, 64>, f32>(n);  // expect: scalar_dtype_differs<(&tessera::ops::full|\(& tessera::ops::full\)), tessera::f32, tessera::i32>
#elif CASE == 18
  (void)full<Shape<4, 64>, f32>(a);  // expect: operand_is_not_a_number<(&tessera::ops::full|\(& tessera::ops::full\))>
#elif CASE == 19
  (void)arange<Shape<1, 64>, f32>(0);  // expect: dtype_not_supported<(&tessera::ops::arange|\(& tessera::ops::arange\)), tessera::f32>
#elif CASE == 20
  (void)(1 - u);  // expect: dtype_not_supported<(&tessera::ops::sub|\(& tessera::ops::sub\)), tessera::u32>
#elif CASE == 21
  (void)(u + 1);  // expect: dtype_not_supported<(&tessera::ops::adds|\(& tessera::ops::adds\)), tessera::u32>
#elif CASE == 22
  (void)(b / b);  // expect: dtype_not_supported<(&tessera::ops::div|\(& tessera::ops::div\)), tessera::bf16>
#elif CASE == 23
  (void)row_sum(b);  // expect: dtype_not_supported<(&tessera::ops::row_sum|\(& tessera::ops::row_sum\)), tessera::bf16>
#elif CASE == 24
  (void)-w;  // expect: dtype_not_supported<(&tessera::ops::neg|\(& tessera::ops::neg\)), tessera::i64>
#elif CASE == 25
  (void)full<Shape<4, 64>, f32>("one");  // expect: operand_is_not_a_number<(&tessera::ops::full|\(& tessera::ops::full\))>
#elif CASE == 26
  (void)(u / 3);  // expect: dtype_not_supported<(&tessera::ops::divs|\(& tessera::ops::divs\)), tessera::u32>
#elif CASE == 27
  (void)load<Shape<4, 64>>(bits, at(0, 0));  // expect: mask_is_for_select_only<(&tessera::ops::load|\(& tessera::ops::load\))>
#elif CASE == 28
  (void)tile<Shape<4, 64>, boolean>();  // expect: dtype_not_supported<(&tessera::ops::create|\(& tessera::ops::create\)), tessera::boolean>
#elif CASE == 29
  (void)(h8 * h8);  // expect: dtype_not_supported<(&tessera::ops::scalar_mul|\(& tessera::ops::scalar_mul\)), tessera::hif8>
#elif CASE == 30
  (void)div(i, i, high_precision);  // expect: high_precision_is_for_floats<(&tessera::ops::div|\(& tessera::ops::div\)), tessera::i32>
#elif CASE == 31
  (void)rsqrt(b, high_precision);  // expect: dtype_not_supported<(&tessera::ops::rsqrt|\(& tessera::ops::rsqrt\)), tessera::bf16>
#elif CASE == 32
  (void)sin(h);  // expect: dtype_not_supported<(&tessera::ops::sin|\(& tessera::ops::sin\)), tessera::f16>
#elif CASE == 33
  (void)div(a, h, high_precision);  // expect: operand_dtypes_differ<(&tessera::ops::div|\(& tessera::ops::div\)), tessera::f32, tessera::f16>
#elif CASE == 34
  (void)(a / h);  // expect: operand_dtypes_differ<(&tessera::ops::div|\(& tessera::ops::div\)), tessera::f32, tessera::f16>
#elif CASE == 35
  (void)(i16s / a);  // expect: operand_dtypes_differ<(&tessera::ops::div|\(& tessera::ops::div\)), tessera::i16, tessera::f32>
#endif
}
