// Windows: ranks, counts, bounds that are known, valid extents, outputs.
#include <tessera/kernel.hpp>
using namespace tessera;  // NOLINT: a test

void test(Tensor<Shape<64, 128>, f32> x, Tensor<Shape<4, dyn<"S">, 64>, f32> s, Out<Tensor<Shape<64, 128>, f32>> o, Out<Tensor<Shape<64, 128>, f16>> oh,
          Tile<Shape<32, 128>, f32, Vec> t, Tile<Shape<2, 32, 128>, f32, Vec> t3, Index i, Scalar<f32> f, Tensor<Shape<32, 128>, f32> part) {
#if CASE == 0
  (void)load<Shape<32, 128>>(x, at(32_c, 0_c));
  (void)load<Shape<32, 128>>(x, at(i, 0), valid(16_c, i));
  (void)load<Shape<1, 16, 64>>(s, at(0, i, 0), valid(1, 16, 64));
  (void)load<Shape<1, 1, 64>>(s, at(0, i, 0));
  store(t, o, at(i, 0));
  (void)read(x, at(63_c, 127_c));
  write(o, at(0, 0), 1.0f);
  (void)set_valid_shape(t, valid(32_c, 100_c));
  (void)assemble(x, part, at(32_c, 0_c));
#elif CASE == 1
  (void)load<Shape<128>>(x, at(i, 0));  // expect: window_rank_differs<(&tessera::ops::load|\(& tessera::ops::load\)), 1, 2>
#elif CASE == 2
  (void)load<Shape<32, 128>>(x, at(i));  // expect: offset_count_differs<(&tessera::ops::load|\(& tessera::ops::load\)), 1, 2>
#elif CASE == 3
  (void)load<Shape<32, 128>>(x, at(i, 0), valid(16));  // expect: valid_count_differs<(&tessera::ops::load|\(& tessera::ops::load\)), 1, 2>
#elif CASE == 4
  (void)load<Shape<32, 128>>(x, at(i), valid(16, 16, 16));  // expect: offset_count_differs<(&tessera::ops::load|\(& tessera::ops::load\)), 1, 2>
#elif CASE == 5
  (void)load<Shape<32, 128>>(x, at(40_c, 0_c));  // expect: window_out_of_bounds<(&tessera::ops::load|\(& tessera::ops::load\)), 40, 32, 64>
#elif CASE == 6
  (void)load<Shape<128, 128>>(x, at(i, 0));  // expect: window_out_of_bounds<(&tessera::ops::load|\(& tessera::ops::load\)), 0, 128, 64>
#elif CASE == 7
  (void)load<Shape<32, 128>>(x, at(std::integral_constant<int, -1>(), 0_c));  // expect: window_offset_is_negative<(&tessera::ops::load|\(& tessera::ops::load\)), -1>
#elif CASE == 8
  (void)load<Shape<1, 16, 64>>(s, at(0, i, 0));  // expect: window_needs_valid<(&tessera::ops::load|\(& tessera::ops::load\)), 16, .*"S"
#elif CASE == 9
  (void)load<Shape<32, 128>>(x, at(i, 0), valid(33_c, 128));  // expect: valid_exceeds_window<(&tessera::ops::load|\(& tessera::ops::load\)), 33, 32>
#elif CASE == 10
  (void)load<Shape<32, 128>>(x, at(i, 0), valid(std::integral_constant<int, -1>(), 128));  // expect: valid_is_negative<(&tessera::ops::load|\(& tessera::ops::load\)), -1>
#elif CASE == 11
  (void)load<Shape<1, dyn<"S">, 64>>(s, at(0, 0, 0));  // expect: tile_dim_is_dynamic<(&tessera::ops::load|\(& tessera::ops::load\)), .*"S"
#elif CASE == 12
  (void)load<Shape<32, 128>>(x, at(f, 0));  // expect: operand_is_not_an_integer<>
#elif CASE == 13
  (void)load<Shape<32, 128>>(x, at(i, 0), valid(1.5, 2));  // expect: operand_is_not_an_integer<>
#elif CASE == 14
  store(t, x, at(i, 0));  // expect: not_an_output<(&tessera::ops::store|\(& tessera::ops::store\))>
#elif CASE == 15
  store(t, o, at(i));  // expect: offset_count_differs<(&tessera::ops::store|\(& tessera::ops::store\)), 1, 2>
#elif CASE == 16
  store(t, oh, at(i, 0));  // expect: window_dtype_differs<(&tessera::ops::store|\(& tessera::ops::store\)), tessera::f32, tessera::f16>
#elif CASE == 17
  store(t3, o, at(i, 0));  // expect: window_rank_differs<(&tessera::ops::store|\(& tessera::ops::store\)), 3, 2>
#elif CASE == 18
  store(t, o, at(64_c, 0_c));  // expect: window_out_of_bounds<(&tessera::ops::store|\(& tessera::ops::store\)), 64, 1, 64>
#elif CASE == 19
  (void)read(x, at(0));  // expect: index_count_differs<(&tessera::ops::read|\(& tessera::ops::read\)), 1, 2>
#elif CASE == 20
  (void)read(x, at(64_c, 0_c));  // expect: index_out_of_bounds<(&tessera::ops::read|\(& tessera::ops::read\)), 64, 64>
#elif CASE == 21
  write(x, at(0, 0), 1.0f);  // expect: not_an_output<(&tessera::ops::write|\(& tessera::ops::write\))>
#elif CASE == 22
  write(o, at(0, 0), i);  // expect: scalar_dtype_differs<(&tessera::ops::write|\(& tessera::ops::write\)), tessera::f32, tessera::index_type>
#elif CASE == 23
  write(o, at(0, 128_c), 1.0f);  // expect: index_out_of_bounds<(&tessera::ops::write|\(& tessera::ops::write\)), 128, 128>
#elif CASE == 24
  (void)set_valid_shape(t, valid(32));  // expect: valid_count_differs<(&tessera::ops::set_valid_shape|\(& tessera::ops::set_valid_shape\)), 1, 2>
#elif CASE == 25
  (void)set_valid_shape(t, valid(33_c, 1));  // expect: valid_exceeds_window<(&tessera::ops::set_valid_shape|\(& tessera::ops::set_valid_shape\)), 33, 32>
#elif CASE == 26
  (void)slice<Shape<16, 256>>(t, at(0, 0));  // expect: window_out_of_bounds<(&tessera::ops::slice|\(& tessera::ops::slice\)), 0, 256, 128>
#elif CASE == 27
  (void)assemble(x, part, at(48_c, 0_c));  // expect: window_out_of_bounds<(&tessera::ops::assemble|\(& tessera::ops::assemble\)), 48, 32, 64>
#elif CASE == 28
  (void)assemble(x, t, at(0, 0));  // expect: tensor_and_tile_mixed<(&tessera::ops::assemble|\(& tessera::ops::assemble\))>
#elif CASE == 29
  write(t, at(0, 0), t);  // expect: operand_is_not_a_number<(&tessera::ops::write|\(& tessera::ops::write\))>
#elif CASE == 30
  store(t, t, at(0, 0));  // expect: not_an_output<(&tessera::ops::store|\(& tessera::ops::store\))>
#elif CASE == 31
  Var v = x * 1.0f;
  v = write(v, at(0, 0), 1.0f);  // expect: not_an_output<(&tessera::ops::write|\(& tessera::ops::write\))>
#endif
}
