// Type functions: lowered_t, flattened_t, bytes_v, type_of, named dims, layouts and the limits of the targets.
#include <tessera/kernel.hpp>
using namespace tessera;  // NOLINT: a test

namespace {
template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;

// --- lowered_t: the whole tensor as a Vec tile ---
static_assert(same<lowered_t<Tensor<Shape<2, 3, 4>, f32>>, Tile<Shape<2, 3, 4>, f32, Vec>>);
static_assert(same<lowered_t<Tensor<Shape<64>, bf16>>, Tile<Shape<64>, bf16, Vec>>);
static_assert(same<lowered_t<Tensor<Shape<1, 2, 3, 4, 5, 6, 7, 8>, i8>>, Tile<Shape<1, 2, 3, 4, 5, 6, 7, 8>, i8, Vec>>);

// --- flattened_t: leading dims merged into rows; rank 1 and 2 stay ---
static_assert(same<flattened_t<Tile<Shape<64>, f32, Vec>>, Tile<Shape<64>, f32, Vec>>);
static_assert(same<flattened_t<Tile<Shape<3, 4>, f32, Acc>>, Tile<Shape<3, 4>, f32, Acc>>);
static_assert(same<flattened_t<Tile<Shape<2, 3, 4>, f32, Vec>>, Tile<Shape<6, 4>, f32, Vec>>);
static_assert(same<flattened_t<Tile<Shape<2, 3, 4, 5>, f16, Vec>>, Tile<Shape<24, 5>, f16, Vec>>);
static_assert(same<flattened_t<Tile<Shape<2, 3, 4, 5, 6>, f16, Mat>>, Tile<Shape<120, 6>, f16, Mat>>);
static_assert(same<flattened_t<Tile<Shape<2, 1, 2, 1, 2, 7>, u8, Vec>>, Tile<Shape<8, 7>, u8, Vec>>);
static_assert(same<flattened_t<Tile<Shape<2, 2, 2, 2, 2, 2, 9>, i64, Vec>>, Tile<Shape<64, 9>, i64, Vec>>);
static_assert(same<flattened_t<Tile<Shape<2, 2, 2, 2, 2, 2, 2, 1>, i32, Vec>>, Tile<Shape<128, 1>, i32, Vec>>);
static_assert(same<flattened_t<lowered_t<Tensor<Shape<2, 3, 4>, f32>>>, Tile<Shape<6, 4>, f32, Vec>>);

// --- comparisons, with the same answer for all who compute one ---
template <class T>
constexpr int orders(T a, T b) {
  int bits = 0;
  for (const Compare how : {Compare::eq, Compare::ne, Compare::lt, Compare::le, Compare::gt, Compare::ge}) bits = bits * 2 + compares(how, a, b);
  return bits;
}
static_assert(orders(-1, 2) == 0b011100 && orders(2, 2) == 0b100101 && orders(3, 2) == 0b010011);
static_assert(orders(0.0, -0.0) == 0b100101 && orders(1.0, __builtin_nan("")) == 0b010000);

// --- whole units, and sets of pipes ---
static_assert(align_up(0, 32) == 0 && align_up(1, 32) == 32 && align_up(32, 32) == 32 && align_up(33, 16) == 48);
static_assert(padded_to_blocks(f16, 17) == 32 && padded_to_blocks(i64, 4) == 4 && block_elements(f4e2m1) == 64);
static_assert(pipe_bit(Pipe::none) == 1 && (pipe_bit(Pipe::vector) & pipe_bit(Pipe::cube)) == 0);

// --- bytes_v ---
static_assert(bytes_v<Tile<Shape<64, 128>, f32, Vec>> == 32768);
static_assert(bytes_v<Tensor<Shape<64, 128>, bf16>> == 16384);
static_assert(bytes_v<Tile<Shape<3>, i8, Vec>> == 3);
static_assert(bytes_v<Tile<Shape<3, 3>, i64, Vec>> == 72);
static_assert(bytes_v<Tile<Shape<4, 4>, f4e2m1, Vec>> == 8);
static_assert(bytes_v<Tile<Shape<3>, f4e2m1, Vec>> == 2);  // packed, rounded up
static_assert(bytes_v<Tile<Shape<2, 2, 2, 2, 2, 2, 2, 2>, u16, Vec>> == 512);
template <class T>
concept has_bytes = requires { bytes_v<T>; };
static_assert(has_bytes<Tensor<Shape<4, 8>, f32>>);
static_assert(!has_bytes<Tensor<Shape<4, dyn<"S">>, f32>>);

// --- type_of ---
constexpr Type x = type_of<Tensor<Shape<4, dyn<"S">, 512>, bf16>>;
static_assert(x.is_tensor() && x.rank == 3 && x[0] == 4 && is_dynamic(x[1]) && x.last() == 512 && x.dtype == bf16 && x.space == Gm);
static_assert(!x.has_static_shape());
constexpr Type t = type_of<Tile<Shape<16, 64>, f16, Vec>>;
static_assert(t.is_tile() && t.space == Vec && t.layout == Layout::nd && t.elements() == 1024 && t.bytes() == 2048);
static_assert(type_of<Tile<Shape<16, 64>, f16, Left>>.layout == Layout::nz);
static_assert(type_of<Tile<Shape<16, 64>, f16, Right>>.layout == Layout::zn);
static_assert(type_of<Tile<Shape<16, 64>, f32, Acc>>.layout == Layout::nz);
static_assert(type_of<Tile<Shape<16, 1>, f32, Vec>>.layout == Layout::dn);
static_assert(type_of<Tile<Shape<1, 1>, f32, Vec>>.layout == Layout::nd);
static_assert(type_of<Scalar<i32>>.is_scalar() && type_of<Scalar<i32>>.dtype == i32 && !type_of<Scalar<i32>>.is_index());
static_assert(type_of<Index>.is_index());
static_assert(type_of<Tensor<Shape<4, 8>, f32>> == type_of<Tensor<Shape<4, 8>, f32>>);
static_assert(type_of<Tensor<Shape<4, 8>, f32>> != type_of<Tensor<Shape<8, 4>, f32>>);

// --- named dims ---
static_assert(dyn<"S"> == dyn<"S"> && dyn<"S"> != dyn<"T"> && dyn<"S"> != dyn<"s"> && dyn<"S"> != dyn<"SS">);
static_assert(symbol_of(dyn<"S">).view() == "S" && symbol_of(dyn<"seq_len_10">).view() == "seq_len_10");
static_assert(symbol_of(dyn<"A">).view() == "A" && symbol_of(dyn<"__________">).view() == "__________");
static_assert(symbol_of(dyn<"0">).view() == "0" && symbol_of(dyn<"9zZ_a">).view() == "9zZ_a");
static_assert(is_dynamic(dyn<"A">) && is_dynamic(dyn<"__________">) && is_valid_dim(dyn<"A">));
static_assert(!is_dynamic(-1) && !is_dynamic(0) && !is_dynamic(1) && !is_valid_dim(0) && !is_valid_dim(-1) && is_valid_dim(1));
static_assert(dyn<"A"> > dyn<"B"> && dyn<"A"> > dyn<"AA">);  // packed into negative numbers
template <detail::symbol_literal S>
concept has_dyn = requires { dyn<S>; };
static_assert(has_dyn<"S"> && has_dyn<"seq_len_10">);
static_assert(!has_dyn<""> && !has_dyn<"seq_length_"> && !has_dyn<"a b"> && !has_dyn<"a-b">);
static_assert(same<Tensor<Shape<4, dyn<"S">>, f32>, Tensor<Shape<4, dyn<"S">>, f32>>);
template <std::int64_t... D>
concept has_shape = requires { typename Shape<D...>; };
static_assert(has_shape<1> && has_shape<1, 2, 3, 4, 5, 6, 7, 8> && has_shape<dyn<"S">>);
static_assert(!has_shape<> && !has_shape<0> && !has_shape<4, -2> && !has_shape<1, 2, 3, 4, 5, 6, 7, 8, 9>);

// --- sets, dtypes, spaces ---
static_assert(dtypes(f32, f16).contains(f16) && !dtypes(f32, f16).contains(bf16) && !DTypeSet{}.contains(f32));
static_assert((dtypes(f32) | dtypes(i8)).contains(i8) && (dtypes(f32) | dtypes(i8)).contains(f32));
static_assert(SpaceSet{}.any() && SpaceSet{}.contains(Acc) && !spaces(Vec, Mat).any());
static_assert(spaces(Vec, Mat).contains(Mat) && !spaces(Vec, Mat).contains(Acc) && spaces(Mat, Left).first() == Mat);
static_assert(name(bf16) == "bf16" && info(u8).pto_name == "ui8" && info(f4e2m1).bits == 4);
static_assert(is_float(f8e4m3) && is_integer(u64) && !is_integer(index_type) && is_integer_or_index(index_type) && !is_integer(boolean));
static_assert(bytes_of(f32, 3) == 12 && bytes_of(f4e2m1, 3) == 2 && bytes_of(boolean, 1) == 1);
static_assert(capacity(Left, Arch::a3) == 65536 && capacity(Acc, Arch::a3) == 131072 && capacity(Acc, Arch::a5) == 262144);
static_assert(capacity(Vec, Arch::a5) > capacity(Vec, Arch::a3));
static_assert(name(Left) == "Left" && info(Vec).pto_name == "vec");
}  // namespace
