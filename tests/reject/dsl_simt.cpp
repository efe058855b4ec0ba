// simt(...): its threads, its lambda, and what its threads call.
#include <tessera/kernel.hpp>
using namespace tessera;  // NOLINT: a test
using X = Tensor<Shape<256>, f32>;
using Y = Out<X>;
using H = InOut<Tensor<Shape<16>, i32>>;

inline const auto twice = simt("twice", threads(256), params("x", "y"), [](X x, Y y) {
  Index t = thread_index() + thread_count<0>() * thread_index<1>() + thread_index<2>();
  write(y, at(t), read(x, at(t)) * 2.0f);
});
inline const auto histogram = simt("histogram", threads(32, 8), [](Tensor<Shape<256>, i32> x, H h) { atomic_add(h, at(read(x, at(0))), 1); });

#if CASE == 20
inline const auto w = simt("w", [](X x, Y y) { write(y, at(0), read(x, at(0))); });  // expect: simt_threads_are_missing<>
#elif CASE == 21
inline const auto w = simt("w", 256, [](X x, Y y) { write(y, at(0), read(x, at(0))); });  // expect: simt_threads_are_missing<>
#elif CASE == 22
inline const auto w = simt("w", threads(256.0), [](X x, Y y) { write(y, at(0), read(x, at(0))); });  // expect: thread_extents_are_not_integers<>
#elif CASE == 23
inline const auto w = simt("w", threads(1, 2, 3, 4), [](X x, Y y) { write(y, at(0), read(x, at(0))); });  // expect: thread_extents_are_not_integers<>
#elif CASE == 24
inline const auto w = simt("w", threads(256), [](X x) { return read(x, at(0)); });  // expect: simt_returns_something<>
#elif CASE == 25
inline const auto w = simt("w", threads(256), [](auto x) { read(x, at(0)); });  // expect: kernel_lambda_is_generic<>
#elif CASE == 26
inline const auto w = simt("w", threads(256), [](Tile<Shape<256>, f32, Vec> x, Y y) { write(y, at(0), read(x, at(0))); });  // expect: kernel_parameter_type_is_not_supported<>
#elif CASE == 27
inline const auto w = simt("w", threads(256), params("x"), [](X x, Y y) { write(y, at(0), read(x, at(0))); });  // expect: kernel_parameter_name_count_differs<1, 2>
#elif CASE == 28
inline const auto w = simt("w", threads(256), 3);  // expect: kernel_body_is_not_a_lambda<>
#endif

void test(X x, Y y, H h, Out<Tensor<Shape<16>, i16>> shorts, Tile<Shape<1, 256>, f32, Vec> t, Tensor<Shape<128>, f32> half) {
#if CASE == 0
  twice(x, y);
  atomic_add(h, at(3), 1);
  atomic_add(y, at(thread_index()), read(x, at(0)));
  (void)t;
  (void)half;
  (void)shorts;
#elif CASE == 1
  (void)thread_index<3>();  // expect: thread_axis_is_out_of_range<(&tessera::ops::thread_index|\(& tessera::ops::thread_index\)), 3>
#elif CASE == 2
  (void)thread_count<-1>();  // expect: thread_axis_is_out_of_range<(&tessera::ops::thread_count|\(& tessera::ops::thread_count\)), -1>
#elif CASE == 3
  atomic_add(x, at(0), 1.0f);  // expect: not_an_output<
#elif CASE == 4
  atomic_add(shorts, at(0), 1);  // expect: dtype_not_supported<(&tessera::ops::atomic_add|\(& tessera::ops::atomic_add\)), tessera::i16>
#elif CASE == 5
  atomic_add(h, at(0, 0), 1);  // expect: index_count_differs<
#elif CASE == 6
  atomic_add(h, at(0), 1.5);  // expect: floating_literal_with_integers<(&tessera::ops::atomic_add|\(& tessera::ops::atomic_add\)), tessera::i32>
#elif CASE == 7
  atomic_add(h, 0, 1);  // expect: window_arguments_differ<
#elif CASE == 8
  atomic_add(t, at(0, 0), 1.0f);  // expect: not_an_output<
#elif CASE == 9
  twice(x);  // expect: call_argument_count_differs<1, 2>
#elif CASE == 10
  twice(t, y);  // expect: call_argument_is_not_a_tensor<0>
#elif CASE == 11
  twice(half, y);  // expect: call_argument_dim_differs<0, 0, 128, 256>
#endif
}
