// columns for a3, written by Tessera.
#include <cstddef>
#include <cstdint>

#include <pto/pto-inst.hpp>

using namespace pto;

extern "C" __global__ AICORE void kernel_columns(__gm__ float* x, __gm__ float* y, __gm__ float* out, __gm__ float* all, int64_t S) {
#if defined(__DAV_VEC__)
  set_mask_norm();
  set_vector_mask(-1, -1);
  const int64_t n = S < 64 ? S : 64;  // kernel.cpp:1
  Tile<TileType::Vec, float, 64, 1, BLayout::ColMajor, DYNAMIC, 1> x_tile(n);
  TASSIGN(x_tile, 0);
  GlobalTensor<float, Shape<1, 1, 1, DYNAMIC, 1>, Stride<1, 1, 1, 1, DYNAMIC>, Layout::DN> x_window(x, {n}, {S});
  TLOAD(x_tile, x_window);  // kernel.cpp:2
  Tile<TileType::Vec, float, 64, 1, BLayout::ColMajor> y_tile;
  TASSIGN(y_tile, 256);
  GlobalTensor<float, Shape<1, 1, 1, 64, 1>, Stride<1, 1, 1, 1, 64>, Layout::DN> y_window(y);
  TLOAD(y_tile, y_window);  // kernel.cpp:3
  GlobalTensor<float, Shape<1, 1, 1, DYNAMIC, 1>, Stride<1, 1, 1, 1, 64>, Layout::DN> out_window(out, {n});
  TSTORE(out_window, x_tile);  // kernel.cpp:4
  GlobalTensor<float, Shape<1, 1, 1, 64, 1>, Stride<1, 1, 1, 1, 64>, Layout::DN> all_window(all);
  TSTORE(all_window, y_tile);  // kernel.cpp:5
  pipe_barrier(PIPE_ALL);
#endif
}

// Runs `blocks` blocks of the kernel; pointers are to memory of the device.
extern "C" void launch_columns(uint32_t blocks, void* stream, void* x, void* y, void* out, void* all, int64_t S) {
#if defined(__CPU_SIM)
  static_cast<void>(stream);
  pto::cpu_sim::EnsureRuntimeInitialized();
  pto::cpu_sim::runtime_config().num_cores = blocks;
  for (uint32_t block = 0; block < blocks; ++block) {
    pto::cpu_sim::ScopedExecutionContext place(block, 0, 1);
    kernel_columns(static_cast<float*>(x), static_cast<float*>(y), static_cast<float*>(out), static_cast<float*>(all), S);
  }
#else
  kernel_columns<<<blocks, nullptr, stream>>>(static_cast<float*>(x), static_cast<float*>(y), static_cast<float*>(out), static_cast<float*>(all), S);
#endif
}
