// What the target a3 does not have.
#define TESSERA_TARGET_A3
#include <tessera/kernel.hpp>
using namespace tessera;  // NOLINT: a test

#if CASE == 14
inline const auto copied = simt("copied", threads(64), [](Tensor<Shape<64>, f32> a, Out<Tensor<Shape<64>, f32>> o) { write(o, at(0), read(a, at(0))); });  // expect: simt_is_for_a5<>
#endif

void test(Tensor<Shape<4, 64>, i8> i, Tensor<Shape<4, 64>, i32> w, Tensor<Shape<4096, 64>, f32> x, Tensor<Shape<4, 64>, bf16> b,
          Tensor<Shape<4, 64>, f8e4m3> f8, Tensor<Shape<4294967296, 1, 4294967296>, f32> huge) {
#if CASE == 0
  (void)(w + w);
  (void)load<Shape<256, 64>>(x, at(0, 0));
  (void)load<Shape<2048, 64>, Mat>(x, at(0, 0));
  (void)((w & 7) | (w ^ w));
  (void)(i & 7);
#elif CASE == 1
  (void)(i + i);  // expect: dtype_not_supported_on_a3<(&tessera::ops::add|\(& tessera::ops::add\)), tessera::i8>
#elif CASE == 2
  (void)(w / w);  // expect: dtype_not_supported_on_a3<(&tessera::ops::div|\(& tessera::ops::div\)), tessera::i32>
#elif CASE == 3
  (void)(1 / w);  // expect: dtype_not_supported_on_a3<(&tessera::ops::div|\(& tessera::ops::div\)), tessera::i32>
#elif CASE == 4
  (void)load<Shape<1024, 64>>(x, at(0, 0));  // expect: tile_is_larger_than_its_space<tessera::Vec, 262144, [0-9]+>
#elif CASE == 5
  (void)tile<Shape<1024, 64>, f32, Acc>();  // expect: tile_is_larger_than_its_space<tessera::Acc, 262144, 131072>
#elif CASE == 6
  (void)full<Shape<4, 64>, i8>(0);  // expect: dtype_not_supported_on_a3<(&tessera::ops::full|\(& tessera::ops::full\)), tessera::i8>
#elif CASE == 7
  (void)(b + b);  // expect: dtype_not_supported_on_a3<(&tessera::ops::add|\(& tessera::ops::add\)), tessera::bf16>
#elif CASE == 8
  (void)load<Shape<4, 64>>(f8, at(0, 0));  // expect: dtype_not_supported_on_a3<(&tessera::ops::load|\(& tessera::ops::load\)), tessera::f8e4m3>
#elif CASE == 9
  // More elements than 64 bits count.
  (void)load<Shape<4294967296, 1, 4294967296>>(huge, at(0, 0, 0));  // expect: tile_is_larger_than_its_space<tessera::Vec, [0-9]+L?, [0-9]+>
#elif CASE == 10
  (void)~w;  // expect: dtype_not_supported_on_a3<(&tessera::ops::bit_not|\(& tessera::ops::bit_not\)), tessera::i32>
#elif CASE == 11
  (void)(i >> 2);  // expect: dtype_not_supported_on_a3<(&tessera::ops::shrs|\(& tessera::ops::shrs\)), tessera::i8>
#elif CASE == 12
  (void)random<Shape<4, 256>, u32>(philox_key(1, 2), philox_counter(0, 0, 0, 0));  // expect: operation_is_for_a5<(&tessera::ops::random|\(& tessera::ops::random\))>
#elif CASE == 13
  (void)gather_compare<Compare::gt, 8>(w, 3);  // expect: matches_by_gt_on_a3<(&tessera::ops::find_positions|\(& tessera::ops::find_positions\))>
#endif
}
