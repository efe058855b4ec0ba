// Calls with something else than the operation takes: C++ types, numbers in place of a Shape or at(...), missing operands.
#include <tessera/kernel.hpp>
using namespace tessera;  // NOLINT: a test
using S = Shape<16, 64>;

void test(Tensor<S, f32> x, Tensor<S, i32> n, Tile<S, f32, Vec> t, Tensor<Shape<1, 64>, f32> row, Tensor<Shape<8, 6>, f32> six,
          Tensor<Shape<2, 16, 64>, f32> deep, Scalar<f32> s, Index i, Out<Tensor<S, f32>> out) {
#if CASE == 0
  (void)create<S, f32, Mat>();
  (void)load<S>(x, at(0, 0));
  (void)load<S, Mat>(x, at(i, 0), valid(i, 64));
  (void)slice<S>(x, at(i, 0), clamped, Pad::zero);
  (void)reinterpret<i32, Shape<8, 128>>(x);
  (void)gather<MaskPattern::P0101>(x);
  (void)div(x, x);
  (void)div(x, 2.0f);
  (void)div(1.0f, t);
  (void)div(s, s);
  (void)div(7, i);
  (void)div(n, 2);
  (void)div(x, 2.0f, high_precision);
  (void)div(2.0f, x, high_precision);
  (void)div(t, s, high_precision);
  (void)div(row, x, high_precision);
  (void)concat(row, row, row);
  (void)select(x < x, x, x);
  (void)six, (void)deep;
  store(t, out, at(0, 0));
  write(out, at(0, 0), 1.0f);
  (void)fillpad(t, Pad::min);
  (void)fillpad_expand<Shape<32, 64>>(t);
  (void)transpose(x);
  (void)row_sum(x);
  (void)move<Vec>(t);
  (void)full<S, f32, Vec>(0);
  (void)arange<Shape<1, 64>, i32>(0, Order::descending);
  (void)cast<f16>(x, Rounding::floor);
#elif CASE == 1
  (void)create<Shape<5, 7>, float, Mat>();  // expect: element_type_is_a_cpp_type<(&tessera::ops::create|\(& tessera::ops::create\))>
#elif CASE == 2
  (void)create<Shape<5, 7>, float>();  // expect: element_type_is_a_cpp_type<(&tessera::ops::create|\(& tessera::ops::create\))>
#elif CASE == 3
  (void)tile<S, float, Vec>();  // expect: element_type_is_a_cpp_type<(&tessera::ops::create|\(& tessera::ops::create\))>
#elif CASE == 4
  (void)full<S, float>(0.0f);  // expect: element_type_is_a_cpp_type<(&tessera::ops::full|\(& tessera::ops::full\))>
#elif CASE == 5
  (void)arange<S, int>(0);  // expect: element_type_is_a_cpp_type<(&tessera::ops::arange|\(& tessera::ops::arange\))>
#elif CASE == 6
  (void)random<S, unsigned>(philox_key(1, 2), philox_counter(1, 2, 3, 4));  // expect: element_type_is_a_cpp_type<(&tessera::ops::random|\(& tessera::ops::random\))>
#elif CASE == 7
  (void)cast<float>(x);  // expect: element_type_is_a_cpp_type<(&tessera::ops::cast|\(& tessera::ops::cast\))>
#elif CASE == 8
  (void)reinterpret<float>(x);  // expect: element_type_is_a_cpp_type<(&tessera::ops::reinterpret|\(& tessera::ops::reinterpret\))>
#elif CASE == 9
  (void)reinterpret<float, S>(x);  // expect: element_type_is_a_cpp_type<(&tessera::ops::reinterpret|\(& tessera::ops::reinterpret\))>
#elif CASE == 10
  Tensor<S, float>* p = nullptr;  // expect: element_type_is_no_cpp_type|template argument for non-type template parameter must be an expression
#elif CASE == 11
  Tensor<64, f32>* p = nullptr;  // expect: shape_is_a_type|template argument for template type parameter must be a type
#elif CASE == 12
  Scalar<float>* p = nullptr;  // expect: element_type_is_no_cpp_type|template argument for non-type template parameter must be an expression
#elif CASE == 13
  (void)view<35>(x);  // expect: shape_is_given_as_numbers<(&tessera::ops::view|\(& tessera::ops::view\))>
#elif CASE == 14
  (void)broadcast_to<5, 7>(x);  // expect: shape_is_given_as_numbers<(&tessera::ops::broadcast_to|\(& tessera::ops::broadcast_to\))>
#elif CASE == 15
  (void)load<16, 64>(x, 0, 0);  // expect: shape_is_given_as_numbers<(&tessera::ops::load|\(& tessera::ops::load\))>
#elif CASE == 16
  (void)load<16, 64>(x, at(0, 0));  // expect: shape_is_given_as_numbers<(&tessera::ops::load|\(& tessera::ops::load\))>
#elif CASE == 17
  (void)slice<4, 32>(x, at(0, 0));  // expect: shape_is_given_as_numbers<(&tessera::ops::slice|\(& tessera::ops::slice\))>
#elif CASE == 18
  (void)reshape<4, 256>(x);  // expect: shape_is_given_as_numbers<(&tessera::ops::reshape|\(& tessera::ops::reshape\))>
#elif CASE == 19
  (void)reinterpret<i32, 8, 64>(x);  // expect: shape_is_given_as_numbers<(&tessera::ops::reinterpret|\(& tessera::ops::reinterpret\))>
#elif CASE == 20
  (void)full<4, 32>(0.0f);  // expect: shape_is_given_as_numbers<(&tessera::ops::full|\(& tessera::ops::full\))>
#elif CASE == 21
  (void)random<16, 64>(philox_key(1, 2), philox_counter(1, 2, 3, 4));  // expect: shape_is_given_as_numbers<(&tessera::ops::random|\(& tessera::ops::random\))>
#elif CASE == 22
  (void)load<S>(x, 0, 0);  // expect: window_arguments_differ<(&tessera::ops::load|\(& tessera::ops::load\))>
#elif CASE == 23
  (void)load<S>(s, 0, 0);  // expect: window_arguments_differ<(&tessera::ops::load|\(& tessera::ops::load\))>
#elif CASE == 24
  (void)load<S>(x);  // expect: window_arguments_differ<(&tessera::ops::load|\(& tessera::ops::load\))>
#elif CASE == 25
  (void)load<S, Mat>(x, at(0, 0), at(0, 0));  // expect: window_arguments_differ<(&tessera::ops::load|\(& tessera::ops::load\))>
#elif CASE == 26
  (void)slice<S>(x, at(0, 0), Pad::zero);  // expect: window_arguments_differ<(&tessera::ops::slice|\(& tessera::ops::slice\))>
#elif CASE == 27
  (void)slice<S>(x, 0, 0);  // expect: window_arguments_differ<(&tessera::ops::slice|\(& tessera::ops::slice\))>
#elif CASE == 28
  store(t, out);  // expect: window_arguments_differ<(&tessera::ops::store|\(& tessera::ops::store\))>
#elif CASE == 29
  store(t, out, 0, 0);  // expect: window_arguments_differ<(&tessera::ops::store|\(& tessera::ops::store\))>
#elif CASE == 30
  (void)assemble(t, t, 3, 4);  // expect: window_arguments_differ<(&tessera::ops::assemble|\(& tessera::ops::assemble\))>
#elif CASE == 31
  (void)read(x, 0, 0);  // expect: window_arguments_differ<(&tessera::ops::read|\(& tessera::ops::read\))>
#elif CASE == 32
  write(out, 3, 4, 5.0f);  // expect: window_arguments_differ<(&tessera::ops::write|\(& tessera::ops::write\))>
#elif CASE == 33
  (void)set_valid_shape(t, 3, 4);  // expect: window_arguments_differ<(&tessera::ops::set_valid_shape|\(& tessera::ops::set_valid_shape\))>
#elif CASE == 34
  (void)gather_row<Shape<1, 64>>(x, x);  // expect: window_arguments_differ<(&tessera::ops::gather_row|\(& tessera::ops::gather_row\))>
#elif CASE == 35
  (void)gather_row<Shape<1, 64>>(x, x, at(0, 0), at(0, 0), 3);  // expect: window_arguments_differ<(&tessera::ops::gather_row|\(& tessera::ops::gather_row\))>
#elif CASE == 36
  (void)broadcast_to<S>(s);  // expect: operand_is_not_shaped<(&tessera::ops::broadcast_to|\(& tessera::ops::broadcast_to\))>
#elif CASE == 37
  (void)reinterpret<i32>(s);  // expect: operand_is_not_shaped<(&tessera::ops::reinterpret|\(& tessera::ops::reinterpret\))>
#elif CASE == 38
  (void)reshape<Shape<1>>(s);  // expect: operand_is_not_shaped<(&tessera::ops::reshape|\(& tessera::ops::reshape\))>
#elif CASE == 39
  (void)transpose(s);  // expect: operand_is_not_shaped<(&tessera::ops::transpose|\(& tessera::ops::transpose\))>
#elif CASE == 40
  (void)merge_sort(s, 64);  // expect: operand_is_not_shaped<(&tessera::ops::merge_sort|\(& tessera::ops::merge_sort\))>
#elif CASE == 41
  (void)gather_compare<Compare::eq, 8>(s, 1.0f);  // expect: operand_is_not_shaped<(&tessera::ops::find_positions|\(& tessera::ops::find_positions\))>
#elif CASE == 42
  (void)move<Vec>(1.0f);  // expect: value_is_not_recorded<(&tessera::ops::move|\(& tessera::ops::move\))>
#elif CASE == 43
  (void)gather<MaskPattern::P0101>(1.0f);  // expect: value_is_not_recorded<(&tessera::ops::gather|\(& tessera::ops::gather\))>
#elif CASE == 44
  (void)gather<0>(1.0f, 2.0f);  // expect: value_is_not_recorded<(&tessera::ops::gather|\(& tessera::ops::gather\))>
#elif CASE == 45
  (void)cast<i32>(1.0f);  // expect: value_is_not_recorded<(&tessera::ops::cast|\(& tessera::ops::cast\))>
#elif CASE == 46
  (void)exp(1.0f, high_precision);  // expect: value_is_not_recorded<(&tessera::ops::exp|\(& tessera::ops::exp\))>
#elif CASE == 47
  (void)paged_gather<PagedGather{.block_size = 16, .size = 64, .max_indices = 8}>(x, 1, 2);  // expect: operand_is_not_a_tensor<(&tessera::ops::paged_gather|\(& tessera::ops::paged_gather\))>
#elif CASE == 48
  (void)concat(x);  // expect: operand_is_missing<(&tessera::ops::concat|\(& tessera::ops::concat\))>
#elif CASE == 49
  (void)sort32(row);  // expect: operand_is_missing<(&tessera::ops::sort32|\(& tessera::ops::sort32\))>
#elif CASE == 50
  (void)scatter(x, n);  // expect: operand_is_missing<(&tessera::ops::scatter|\(& tessera::ops::scatter\))>
#elif CASE == 51
  (void)matmul(x);  // expect: operand_is_missing<(&tessera::ops::matmul|\(& tessera::ops::matmul\))>
#elif CASE == 52
  (void)merge_sort(row);  // expect: merge_block_is_not_constant<>
#elif CASE == 53
  (void)aiv_shard(x);  // expect: lane_is_not_of_a_split_region<(&tessera::ops::aiv_shard|\(& tessera::ops::aiv_shard\))>
#elif CASE == 54
  (void)aic_gather(x, x);  // expect: lane_is_not_of_a_split_region<(&tessera::ops::aic_gather|\(& tessera::ops::aic_gather\))>
#elif CASE == 55
  (void)abs(x, high_precision);  // expect: operation_has_no_precise_form<(&tessera::ops::abs|\(& tessera::ops::abs\))>
#elif CASE == 56
  (void)sin(x, high_precision);  // expect: operation_has_no_precise_form<(&tessera::ops::sin|\(& tessera::ops::sin\))>
#elif CASE == 57
  (void)div(n, 2, high_precision);  // expect: high_precision_is_for_floats<(&tessera::ops::div|\(& tessera::ops::div\)), tessera::i32>
#elif CASE == 58
  (void)div(s, 2.0f, high_precision);  // expect: operand_is_not_shaped<(&tessera::ops::div|\(& tessera::ops::div\))>
#elif CASE == 59
  (void)div(x, "a");  // expect: value_is_not_recorded<(&tessera::ops::div|\(& tessera::ops::div\))>
#elif CASE == 60
  Var<Tensor<S, boolean>> mask = x < x;  // expect: mask_is_for_select_only
#elif CASE == 61
  (void)gather<MaskPattern::P0001>(six);  // expect: pattern_does_not_divide<(&tessera::ops::gather|\(& tessera::ops::gather\)), 6, 4>
#elif CASE == 62
  (void)select(x < x, deep, deep);  // expect: mask_rank_differs<(&tessera::ops::select|\(& tessera::ops::select\)), 3, 2>
#elif CASE == 63
  (void)fillpad(x, 0);  // expect: fill_is_not_a_pad<(&tessera::ops::fillpad|\(& tessera::ops::fillpad\))>
#elif CASE == 64
  (void)fillpad(x, 0.0f);  // expect: fill_is_not_a_pad<(&tessera::ops::fillpad|\(& tessera::ops::fillpad\))>
#elif CASE == 65
  (void)fillpad_expand<Shape<32, 64>>(x, 0);  // expect: fill_is_not_a_pad<(&tessera::ops::fillpad_expand|\(& tessera::ops::fillpad_expand\))>
#elif CASE == 66
  (void)transpose(x, 0, 1);  // expect: argument_is_not_taken<(&tessera::ops::transpose|\(& tessera::ops::transpose\))>
#elif CASE == 67
  (void)row_sum(x, 0);  // expect: argument_is_not_taken<(&tessera::ops::row_sum|\(& tessera::ops::row_sum\))>
#elif CASE == 68
  (void)exp(x, x);  // expect: argument_is_not_taken<(&tessera::ops::exp|\(& tessera::ops::exp\))>
#elif CASE == 69
  (void)reshape(x);  // expect: shape_is_missing<(&tessera::ops::reshape|\(& tessera::ops::reshape\))>
#elif CASE == 70
  (void)reshape(x, Shape<64, 16>());  // expect: shape_is_missing<(&tessera::ops::reshape|\(& tessera::ops::reshape\))>
#elif CASE == 71
  (void)broadcast_to(x);  // expect: shape_is_missing<(&tessera::ops::broadcast_to|\(& tessera::ops::broadcast_to\))>
#elif CASE == 72
  (void)load(x, at(0, 0));  // expect: shape_is_missing<(&tessera::ops::load|\(& tessera::ops::load\))>
#elif CASE == 73
  (void)move(t);  // expect: space_is_missing<>
#elif CASE == 74
  (void)full<S>(0);  // expect: element_type_is_missing<(&tessera::ops::full|\(& tessera::ops::full\))>
#elif CASE == 75
  (void)full<S>(s);  // expect: element_type_is_missing<(&tessera::ops::full|\(& tessera::ops::full\))>
#elif CASE == 76
  (void)create<S>();  // expect: element_type_is_missing<(&tessera::ops::create|\(& tessera::ops::create\))>
#elif CASE == 77
  (void)cast(x, f16);  // expect: element_type_is_missing<(&tessera::ops::cast|\(& tessera::ops::cast\))>
#elif CASE == 78
  (void)reinterpret(x);  // expect: element_type_is_missing<(&tessera::ops::reinterpret|\(& tessera::ops::reinterpret\))>
#elif CASE == 79
  (void)full<S, f32>();  // expect: operand_is_missing<(&tessera::ops::full|\(& tessera::ops::full\))>
#elif CASE == 80
  (void)arange<Shape<1, 64>, i32>();  // expect: operand_is_missing<(&tessera::ops::arange|\(& tessera::ops::arange\))>
#endif
}
