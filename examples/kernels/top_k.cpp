// The 64 largest of 1024 numbers with their positions, largest first: blocks of 32 are sorted, four blocks become one.
#include <tessera/kernel.hpp>

namespace my_kernels {
using namespace tessera;

inline const auto top_k = kernel("top_k", params("x", "values", "positions"),
  [](Tensor<Shape<1, 1024>, f32> x, Out<Tensor<Shape<1, 64>, f32>> values, Out<Tensor<Shape<1, 64>, i32>> positions) {
    auto pairs = sort32(x, arange<Shape<1, 1024>, u32>(0u));     // [1,2048]: value, index, value, index, ...
    auto sorted = merge_sort(merge_sort(merge_sort(pairs, 64), 256), 1024);
    auto top = slice<Shape<1, 128>>(sorted, at(0, 0));
    auto even = arange<Shape<1, 64>, i32>(0) * 2;
    values = gather(top, even);
    positions = reinterpret<i32>(gather(top, even + 1));
  });

}  // namespace my_kernels
