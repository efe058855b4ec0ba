// Memory that a kernel declares: buffers and regions without a place, and tiles that do not stand in them.
#include <tessera/kernel.hpp>
using namespace tessera;  // NOLINT: a test

void test(Tensor<Shape<16, 64>, f32> x, Tensor<Shape<dyn<"S">, 64>, f32> rows, Index i) {
  auto ping = buffer<Vec>("ping");
  auto slots = buffer<Vec, 2>("slots", at_address(4096));
  auto t = load<Shape<16, 64>>(x, at(0, 0));
#if CASE == 0
  reserve<Mat>("ring", 65536);
  reserve<Mat>("queue", 512, at_address(0));
  (void)place(t, ping);
  (void)place(exp(t), slots);
  (void)place(exp(t) + 1.0f, slots[1_c]);
  (void)place(load<Shape<16, 64>>(x, at(i, 0)), slots[1]);
#elif CASE == 1
  (void)buffer("ping");  // expect: storage_has_no_space<>
#elif CASE == 2
  reserve("ring", 65536);  // expect: storage_has_no_space<>
#elif CASE == 3
  (void)buffer<Gm>("ping");  // expect: storage_is_not_on_chip<tessera::Gm>
#elif CASE == 4
  reserve<Gm>("ring", 65536);  // expect: storage_is_not_on_chip<tessera::Gm>
#elif CASE == 5
  (void)buffer<Vec, 0>("none");  // expect: buffer_slot_count<0>
#elif CASE == 6
  (void)buffer<Vec, 257>("many", at_address(0));  // expect: buffer_slot_count<257>
#elif CASE == 7
  (void)slots[2_c];  // expect: slot_out_of_range<2, 2>
#elif CASE == 8
  (void)slots[i];  // expect: slot_is_a_value_of_the_kernel<>
#elif CASE == 9
  (void)place(load<Shape<16, 64>, Mat>(x, at(0, 0)), ping);  // expect: placed_in_another_space<tessera::Mat, tessera::Vec>
#elif CASE == 10
  (void)place(t, 1);  // expect: placed_in_no_buffer<>
#elif CASE == 11
  (void)place(t);  // expect: placed_in_no_buffer<>
#elif CASE == 12
  (void)place(exp(x), ping);  // expect: operand_is_not_a_tile<(&tessera::ops::place|\(& tessera::ops::place\))>
#elif CASE == 13
  (void)place(1.0f, ping);  // expect: value_is_not_recorded<(&tessera::ops::place|\(& tessera::ops::place\))>
#elif CASE == 14
  (void)place(load<Shape<dyn<"S">, 64>>(rows, at(0, 0)), ping);  // expect: tile_dim_is_dynamic<(&tessera::ops::load|\(& tessera::ops::load\)), .*"S".*>
#endif
}
