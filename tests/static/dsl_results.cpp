// Result types of every operation and form, the chosen operations, and the broken rules of unlawful calls.
#include <tuple>

#include <tessera/kernel.hpp>
using namespace tessera;  // NOLINT: a test

namespace {
// declval of an lvalue: a named value.
template <class T>
T& v();
template <class E, class V>
constexpr bool is = std::is_same_v<value_of<E>, V>;
#define GIVES(EXPRESSION, ...) static_assert(is<decltype(EXPRESSION), __VA_ARGS__>)
#define BREAKS(EXPRESSION, ...) static_assert(std::is_same_v<decltype(EXPRESSION), broken::__VA_ARGS__>)

// The operation of a node.
template <class E>
struct operation_of;
template <class V, const OpInfo& Op, int Variant, class... K>
struct operation_of<expression<V, Op, Variant, K...>> {
  static constexpr const OpInfo* op = &Op;
  static constexpr int variant = Variant;
  template <std::size_t I>
  using operand = std::tuple_element_t<I, std::tuple<K...>>;
};
template <class E>
constexpr const OpInfo* op = operation_of<E>::op;
#define PICKS(EXPRESSION, OP) static_assert(op<decltype(EXPRESSION)> == &ops::OP)

using X = Tensor<Shape<16, 64>, f32>;
using Row = Tensor<Shape<1, 64>, f32>;
using FlatRow = Tensor<Shape<64>, f32>;
using Column = Tensor<Shape<16, 1>, f32>;
using T = Tile<Shape<16, 64>, f32, Vec>;
using TRow = Tile<Shape<1, 64>, f32, Vec>;
using TColumn = Tile<Shape<16, 1>, f32, Vec>;
using X3 = Tensor<Shape<2, 16, 64>, f32>;
using I = Tensor<Shape<16, 64>, i32>;
using H = Tensor<Shape<16, 64>, f16>;
using D = Tensor<Shape<4, dyn<"S">>, f32>;
using S = Scalar<f32>;

// --- unary, reductions ---
GIVES(exp(v<X>()), X);
GIVES(exp(v<T>()), T);
GIVES(exp(v<D>()), D);
GIVES(abs(log(sqrt(rsqrt(recip(relu(neg(v<H>()))))))), H);
GIVES(-v<I>(), I);
GIVES(-v<S>(), S);
GIVES(row_sum(v<X3>()), Tensor<Shape<2, 16, 1>, f32>);
GIVES(row_max(v<T>()), TColumn);
GIVES(row_min(v<FlatRow>()), Tensor<Shape<1>, f32>);
GIVES(col_sum(v<X3>()), Tensor<Shape<2, 1, 64>, f32>);
GIVES(col_max(v<T>()), TRow);
GIVES(col_min(v<D>()), Tensor<Shape<1, dyn<"S">>, f32>);

GIVES(sin(cos(v<X>())), X);
GIVES(rsqrt(v<H>(), high_precision), H);
GIVES(div(v<X>(), v<Row>(), high_precision), X);

// --- broadcasts of any shapes ---
using Rows3 = Tensor<Shape<2, 1, 64>, f32>;
using Columns3 = Tensor<Shape<2, 16, 1>, f32>;
using Pages3 = Tensor<Shape<3, 1, 1>, f32>;
using TPages3 = Tile<Shape<3, 1, 1>, f32, Vec>;
using TX3 = Tile<Shape<3, 16, 64>, f32, Vec>;
using IColumn = Tensor<Shape<16, 1>, i32>;
GIVES(v<X3>() - v<X>(), X3);
GIVES(v<X>() / v<X3>(), X3);
GIVES(v<T>() - v<TPages3>(), TX3);
GIVES(v<Rows3>() * v<Column>(), X3);
PICKS(v<X3>() - v<X>(), sub);
PICKS(v<Rows3>() - v<Columns3>(), row_expand_sub);
PICKS(v<Columns3>() + v<Rows3>(), row_expand_add);
PICKS(v<Columns3>() - v<Rows3>(), sub);
PICKS(v<I>() & v<IColumn>(), bit_and);
PICKS(v<I>() / v<IColumn>(), div);
PICKS(v<Row>() < v<X>(), compare);
GIVES((broadcast_to<Shape<2, 16, 64>>(v<X>())), X3);
PICKS((broadcast_to<Shape<2, 16, 64>>(v<X>())), broadcast_to);
PICKS((broadcast_to<Shape<16, 64>>(v<Column>())), row_expand);
PICKS((broadcast_to<Shape<16, 64>>(v<FlatRow>())), col_expand);
PICKS((broadcast_to<Shape<16, 64>>(v<X>())), broadcast_to);
BREAKS((broadcast_to<Shape<2, 8, 64>>(v<X>())), broadcast_dim_differs<1, 16, 8>);
BREAKS((broadcast_to<Shape<64>>(v<Row>())), broadcast_lowers_the_rank<2, 1>);
BREAKS(v<X3>() + v<Pages3>(), add_shapes_do_not_broadcast<2, 3>);

// --- binary forms ---
PICKS(v<X>() + v<X>(), add);
PICKS(v<T>() - v<T>(), sub);
PICKS(v<X>() * v<Row>(), col_expand_mul);
PICKS(v<X>() * v<FlatRow>(), col_expand_mul);
PICKS(v<X>() / v<Column>(), row_expand_div);
PICKS(v<Row>() + v<X>(), col_expand_add);
PICKS(v<Column>() * v<X>(), row_expand_mul);
PICKS(v<Row>() - v<X>(), sub);
PICKS(v<Column>() / v<X>(), div);
PICKS(v<Column>() + v<Row>(), col_expand_add);
PICKS(v<Row>() - v<Column>(), row_expand_sub);
PICKS(maximum(v<X>(), v<Column>()), row_expand_max);
PICKS(minimum(v<TRow>(), v<T>()), col_expand_min);
PICKS(v<X>() + 1, adds);
PICKS(v<X>() - 1, subs);
PICKS(2 * v<X>(), muls);
PICKS(v<X>() / v<S>(), divs);
PICKS(v<S>() + v<X>(), adds);
PICKS(1 - v<X>(), sub);
PICKS(v<S>() / v<T>(), div);
PICKS(maximum(0.0f, v<X>()), maximums);
PICKS(minimum(v<X>(), v<S>()), minimums);
PICKS(v<S>() + v<S>(), scalar_add);
PICKS(v<Index>() % 4, scalar_rem);
PICKS(v<Index>() < v<Scalar<i32>>(), scalar_compare);
PICKS(v<Index>() == 3, scalar_compare);
PICKS(min(v<Index>(), 3), scalar_min);
PICKS(!(v<Index>() != 3), scalar_not);
GIVES(v<Column>() + v<Row>(), X);
GIVES(v<Row>() / v<Column>(), X);
GIVES(v<X3>() + v<FlatRow>(), X3);
GIVES(v<TColumn>() - v<TRow>(), T);
GIVES(v<Index>() + v<Scalar<i32>>(), Index);
GIVES(v<Scalar<i32>>() * v<Index>(), Index);
GIVES(v<Scalar<i32>>() + 1, Scalar<i32>);
GIVES(v<Index>() <= 3, Scalar<boolean>);
GIVES((v<Index>() > 3) & (v<S>() >= 0), Scalar<boolean>);
GIVES(select(v<Index>() > 3, 1, v<S>()), S);
GIVES(select(v<Index>() > 3, v<Index>(), v<Scalar<i32>>()), Index);
GIVES(cast<f32>(v<Index>()), Scalar<f32>);
GIVES(v<Var<X>>() + v<Out<X>>(), X);

// --- operands: named values are leaves, unnamed nodes subtrees, swapped and expanded where the form wants it ---
using swapped = operation_of<decltype(v<Row>() + exp(v<X>()))>;
static_assert(op<swapped::operand<0>> == &ops::exp);
static_assert(std::is_same_v<swapped::operand<1>, detail::leaf<Row>>);
using expanded = operation_of<decltype(v<Row>() - v<X>())>;
static_assert(op<expanded::operand<0>> == &ops::col_expand && is<expanded::operand<0>, X>);
static_assert(std::is_same_v<expanded::operand<1>, detail::leaf<X>>);
using filled = operation_of<decltype(1 - v<X>())>;
static_assert(op<filled::operand<0>> == &ops::full && is<filled::operand<0>, X>);
using narrow = operation_of<decltype(v<Column>() + v<Row>())>;
static_assert(op<narrow::operand<0>> == &ops::row_expand && std::is_same_v<narrow::operand<1>, detail::leaf<Row>>);
using node_type = decltype(exp(v<X>()));
static_assert(std::is_same_v<operation_of<decltype(log(v<node_type>()))>::operand<0>, detail::leaf<X>>);
static_assert(std::is_same_v<operation_of<decltype(log(std::declval<node_type>()))>::operand<0>, node_type>);
static_assert(std::is_same_v<operation_of<decltype(log(v<const node_type>()))>::operand<0>, detail::leaf<X>>);
// A leaf is no more than the number of a value.
static_assert(sizeof(detail::leaf<X>) == 4);

// --- evaluation order: the side that needs more first ---
using small = decltype(row_sum(std::declval<node_type>()));
static_assert(node_type::need == bytes_v<X> && small::need == bytes_v<X> + bytes_v<Column>);
static_assert(decltype(exp(v<X>()) + exp(v<X>()))::need == 3 * bytes_v<X>);

// --- products ---
using A = Tensor<Shape<16, 32>, f16>;
using B = Tensor<Shape<32, 64>, f16>;
using L = Tile<Shape<16, 32>, f16, Left>;
using R = Tile<Shape<32, 64>, f16, Right>;
using C = Tile<Shape<16, 64>, f32, Acc>;
GIVES(matmul(v<A>(), v<B>()), X);
GIVES(matmul(v<L>(), v<R>()), C);
GIVES((matmul(v<Tensor<Shape<8, 1, 16, 32>, bf16>>(), v<Tensor<Shape<3, 32, 64>, bf16>>())), Tensor<Shape<8, 3, 16, 64>, f32>);
GIVES(matmul(v<Tensor<Shape<16, 32>, i8>>(), v<Tensor<Shape<32, 64>, i8>>()), I);
GIVES(matmul(v<Tensor<Shape<dyn<"M">, 32>, f16>>(), v<B>()), Tensor<Shape<dyn<"M">, 64>, f32>);
GIVES(matmul_acc(v<C>(), v<L>(), v<R>()), C);
using rhs = operation_of<decltype(matmul(v<A>(), transpose(v<Tensor<Shape<64, 32>, f16>>())))>;
static_assert(rhs::op == &ops::matmul && rhs::variant == detail::transposes_rhs && std::is_same_v<rhs::operand<1>, detail::leaf<Tensor<Shape<64, 32>, f16>>>);
static_assert(operation_of<decltype(matmul(transpose(v<A>()), v<A>()))>::variant == detail::transposes_lhs);
static_assert(operation_of<decltype(matmul(transpose(v<A>()), transpose(v<Tensor<Shape<8, 16>, f16>>())))>::variant ==
              (detail::transposes_lhs | detail::transposes_rhs));
PICKS(v<C>() + matmul(v<L>(), v<R>()), matmul_acc);
PICKS(matmul(v<L>(), v<R>()) + v<C>(), matmul_acc);
PICKS(v<Var<C>>() + matmul(v<L>(), v<R>()), matmul_acc);
PICKS(matmul(v<A>(), v<B>()) + matmul(v<A>(), v<B>()), matmul_acc);
PICKS(matmul(v<A>(), v<B>()) + v<X>(), add);
PICKS(matmul(v<A>(), v<B>()) + v<Row>(), col_expand_add);

// --- shapes, places, windows ---
GIVES((reshape<Shape<4, 4, 64>>(v<T>())), Tile<Shape<4, 4, 64>, f32, Vec>);
GIVES(transpose(v<X3>()), Tensor<Shape<2, 64, 16>, f32>);
GIVES(cast<bf16>(v<X>()), Tensor<Shape<16, 64>, bf16>);
GIVES((row_expand<Shape<16, 8>>(v<Column>())), Tensor<Shape<16, 8>, f32>);
GIVES((col_expand<Shape<8, 64>>(v<TRow>())), Tile<Shape<8, 64>, f32, Vec>);
GIVES(fillpad(v<T>(), Pad::max), T);
GIVES((full<Shape<4>, i32>(1)), Tensor<Shape<4>, i32>);
GIVES((full<Shape<4, 8>, f32, Vec>(v<S>())), Tile<Shape<4, 8>, f32, Vec>);
GIVES((gather_compare<Compare::eq, 32>(v<X>(), 1.0f).positions), Tensor<Shape<type_of<X>.dims[0], 32>, i32>);
GIVES((gather_compare<Compare::gt, 8>(v<X>() + 1.0f, v<Scalar<f32>>()).counts), Tensor<Shape<1, type_of<X>.dims[0]>, i32>);
GIVES((random<Shape<4, 8>, u32>(philox_key(1, 2u), philox_counter(v<Scalar<i32>>(), 0, v<Scalar<u32>>(), 0))), Tensor<Shape<4, 8>, u32>);
GIVES((random<Shape<4, 8>, i32, Vec>(philox_key(1, 2), philox_counter(0, 0, 0, 0), 7)), Tile<Shape<4, 8>, i32, Vec>);
GIVES((arange<Shape<1, 8>, i32>(0)), Tensor<Shape<1, 8>, i32>);
GIVES((tile<Shape<4, 8>, f32>()), Tile<Shape<4, 8>, f32, Vec>);
GIVES((create<Shape<4, 8>, f32>()), Tensor<Shape<4, 8>, f32>);
GIVES((move<Left>(v<Tile<Shape<16, 32>, f16, Mat>>())), L);
GIVES((move<Vec>(v<C>())), T);
GIVES(gather(v<X>(), v<Tensor<Shape<16, 8>, i32>>()), Tensor<Shape<16, 8>, f32>);
GIVES(gather<0>(v<X>(), v<Tensor<Shape<3, 64>, i32>>()), Tensor<Shape<3, 64>, f32>);
GIVES(gather<MaskPattern::P0101>(v<X>()), Tensor<Shape<16, 32>, f32>);
GIVES((gather<MaskPattern::P1000, i32>(v<X>())), Tensor<Shape<16, 16>, i32>);
GIVES(gather<MaskPattern::P1111>(v<T>()), T);
GIVES(scatter(v<X>(), v<Tensor<Shape<16, 8>, i32>>(), v<Tensor<Shape<16, 8>, f32>>()), X);
GIVES(scatter<MaskPattern::P0010>(v<X>(), v<Tensor<Shape<16, 16>, f32>>()), X);
GIVES(scatter_update(v<X>(), v<Tensor<Shape<2, 2>, i32>>(), v<Tensor<Shape<4, 64>, f32>>()), X);
GIVES(scatter_flat(v<T>(), v<Tile<Shape<2, 2>, f32, Vec>>(), v<Tile<Shape<2, 2>, i32, Vec>>()), T);
GIVES((load<Shape<16, 32>>(v<X>(), at(0, 0))), Tile<Shape<16, 32>, f32, Vec>);
GIVES((load<Shape<16, 32>, Mat>(v<X>(), at(v<Index>(), 0), valid(v<Index>(), 32))), Tile<Shape<16, 32>, f32, Mat>);
GIVES((slice<Shape<1, 64>>(v<X>(), at(v<Index>(), 0))), Row);
GIVES((slice<Shape<8, 64>>(v<T>(), at(0, 0))), Tile<Shape<8, 64>, f32, Vec>);
GIVES(assemble(v<X>(), v<Row>(), at(0, 0)), X);
GIVES(read(v<X>(), at(0, 0)), S);
GIVES(read(v<I>(), at(0, 0)), Scalar<i32>);
GIVES(write(v<T>(), at(0, 0), 1.0f), T);
GIVES(set_valid_shape(v<T>(), valid(v<Index>(), 64)), T);
GIVES(dim(v<D>(), 1), Index);
GIVES(named("x", exp(v<X>())), X);
static_assert(std::is_same_v<decltype(Var(1))::value_type, Index> && std::is_same_v<decltype(Var(1.0))::value_type, S>);
static_assert(std::is_same_v<decltype(Var(v<X>() + v<X>())), Var<X>> && std::is_same_v<decltype(Var(v<Var<X>>())), Var<X>>);

// --- broken rules are types: SFINAE-friendly, with numbers ---
BREAKS(matmul(v<A>(), v<Tensor<Shape<48, 64>, f16>>()), matmul_inner_dimensions_differ<32, 48>);
BREAKS(matmul(v<T>(), v<R>()), operand_dtypes_differ<&ops::matmul, f32, f16>);
BREAKS(matmul(v<Tile<Shape<16, 32>, f16, Vec>>(), v<R>()), matmul_left_operand_is_not_in_left<Vec>);
BREAKS((v<X>() + v<Tensor<Shape<16, 32>, f32>>()), add_shapes_do_not_broadcast<64, 32>);
BREAKS((v<D>() + v<Tensor<Shape<4, dyn<"T">>, f32>>()), add_shapes_do_not_broadcast<named_dim<2>{"S"}, named_dim<2>{"T"}>);
BREAKS(v<X>() + v<H>(), operand_dtypes_differ<&ops::add, f32, f16>);
BREAKS(v<X>() * v<T>(), tensor_and_tile_mixed<&ops::mul>);
BREAKS(exp(v<I>()), dtype_not_supported<&ops::exp, i32>);
BREAKS(v<I>() + 0.5, floating_literal_with_integers<&ops::adds, i32>);
BREAKS(cast<f32>(v<X>()), cast_to_the_same_dtype<f32>);
BREAKS((reshape<Shape<7>>(v<X>())), reshape_changes_the_element_count<1024, 7>);
BREAKS((load<Shape<1, 16>>(v<D>(), at(0, 0))), window_needs_valid<&ops::load, 16, named_dim<2>{"S"}>);
BREAKS((load<Shape<16, 64>>(v<X>(), at(8_c, 0))), window_out_of_bounds<&ops::load, 8, 16, 16>);
BREAKS((v<X>() = v<X>()), handles_are_immutable_use_var<>);
BREAKS((v<Var<X>>() = v<Row>()), assigned_type_differs<16, 1>);
BREAKS(v<Index>() < 3 && v<Index>() > 0, logical_operator_on_recorded_values<>);

// --- infer() of each family, by hand ---
constexpr Verdict judge(const OpInfo& o, Type a, Type b = {}, Type requested = {}) {
  const OperandInfo operands[2] = {{a}, {b}};
  return infer(o, {operands, b.kind == TypeKind::none ? 1 : 2, requested});
}
static_assert(judge(ops::exp, type_of<X>).result == type_of<X>);
static_assert(judge(ops::exp, type_of<S>).broken == rule::operand_is_not_shaped);
static_assert(judge(ops::add, type_of<X>, type_of<Row>).broken == rule::add_shapes_do_not_broadcast);
static_assert(judge(ops::row_expand_add, type_of<X>, type_of<Column>).result == type_of<X>);
static_assert(judge(ops::row_sum, type_of<X>).result == type_of<Column>);
static_assert(judge(ops::matmul, type_of<A>, type_of<B>).result == type_of<X>);
static_assert(judge(ops::cast, type_of<X>, {}, type_of<H>).result == type_of<H>);
static_assert(judge(ops::scalar_compare, type_of<S>, type_of<S>).result == type_of<Scalar<boolean>>);
static_assert(judge(ops::scalar_rem, type_of<S>, type_of<S>).broken == rule::dtype_not_supported);
static_assert(judge(ops::full, type_of<S>, {}, type_of<T>).result == type_of<T>);
static_assert(judge(ops::transpose, type_of<FlatRow>).broken == rule::axis_out_of_range);

// --- kernels ---
using K = decltype(kernel("k", [](X x, Scalar<f32> s) { return results(exp(x), x * s); }));
static_assert(std::is_same_v<K::parameter_types, detail::type_list<X, Scalar<f32>>>);
static_assert(std::is_same_v<K::result_type, Results<X, X>>);
using generic = decltype([](auto x) { return x; });
static_assert(std::is_same_v<decltype(kernel("k", generic())), broken::kernel_lambda_is_generic<>>);
}  // namespace
