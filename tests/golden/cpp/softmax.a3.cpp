// softmax for a3, written by Tessera.
#include <cstddef>
#include <cstdint>

#include <pto/pto-inst.hpp>

using namespace pto;

extern "C" __global__ AICORE void kernel_softmax(__gm__ float* x, __gm__ float* out) {
#if defined(__DAV_VEC__)
  set_mask_norm();
  set_vector_mask(-1, -1);
  Tile<TileType::Vec, float, 64, 128> x_tile;
  TASSIGN(x_tile, 0);
  GlobalTensor<float, Shape<1, 1, 1, 64, 128>, Stride<1, 1, 1, 128, 1>> x_window(x);
  TLOAD(x_tile, x_window);  // kernel.cpp:1
  Tile<TileType::Vec, float, 64, 128> scratch;
  TASSIGN(scratch, 32768);
  Tile<TileType::Vec, float, 64, 1, BLayout::ColMajor> row_max;
  TASSIGN(row_max, 65536);
  TROWMAX(row_max, x_tile, scratch);  // kernel.cpp:3
  Tile<TileType::Vec, float, 64, 128> row_expand_sub;
  TASSIGN(row_expand_sub, 32768);
  TROWEXPANDSUB(row_expand_sub, x_tile, row_max);  // kernel.cpp:4
  Tile<TileType::Vec, float, 64, 128> exp;
  TASSIGN(exp, 0);
  TEXP(exp, row_expand_sub);  // kernel.cpp:5
  Tile<TileType::Vec, float, 64, 1, BLayout::ColMajor> row_sum;
  TASSIGN(row_sum, 65536);
  TROWSUM(row_sum, exp, scratch);  // kernel.cpp:6
  Tile<TileType::Vec, float, 64, 128> row_expand_div;
  TASSIGN(row_expand_div, 32768);
  TROWEXPANDDIV(row_expand_div, exp, row_sum);  // kernel.cpp:7
  GlobalTensor<float, Shape<1, 1, 1, 64, 128>, Stride<1, 1, 1, 128, 1>> out_window(out);
  TSTORE(out_window, row_expand_div);  // kernel.cpp:8
  pipe_barrier(PIPE_ALL);
#endif
}

// Runs `blocks` blocks of the kernel; pointers are to memory of the device.
extern "C" void launch_softmax(uint32_t blocks, void* stream, void* x, void* out) {
#if defined(__CPU_SIM)
  static_cast<void>(stream);
  pto::cpu_sim::EnsureRuntimeInitialized();
  pto::cpu_sim::runtime_config().num_cores = blocks;
  for (uint32_t block = 0; block < blocks; ++block) {
    pto::cpu_sim::ScopedExecutionContext place(block, 0, 1);
    kernel_softmax(static_cast<float*>(x), static_cast<float*>(out));
  }
#else
  kernel_softmax<<<blocks, nullptr, stream>>>(static_cast<float*>(x), static_cast<float*>(out));
#endif
}
