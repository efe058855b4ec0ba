// vector_add for a3, written by Tessera.
#include <cstddef>
#include <cstdint>

#include <pto/pto-inst.hpp>

using namespace pto;

extern "C" __global__ AICORE void kernel_vector_add(__gm__ float* x, __gm__ float* y, __gm__ float* out) {
#if defined(__DAV_VEC__)
  set_mask_norm();
  set_vector_mask(-1, -1);
  Tile<TileType::Vec, float, 32, 64> x_tile;
  TASSIGN(x_tile, 0);
  GlobalTensor<float, Shape<1, 1, 1, 32, 64>, Stride<1, 1, 1, 64, 1>> x_window(x);
  TLOAD(x_tile, x_window);  // kernel.cpp:1
  Tile<TileType::Vec, float, 32, 64> y_tile;
  TASSIGN(y_tile, 8192);
  GlobalTensor<float, Shape<1, 1, 1, 32, 64>, Stride<1, 1, 1, 64, 1>> y_window(y);
  TLOAD(y_tile, y_window);  // kernel.cpp:2
  Tile<TileType::Vec, float, 32, 64> sum;
  TASSIGN(sum, 0);
  TADD(sum, x_tile, y_tile);  // kernel.cpp:3
  GlobalTensor<float, Shape<1, 1, 1, 32, 64>, Stride<1, 1, 1, 64, 1>> out_window(out);
  TSTORE(out_window, sum);  // kernel.cpp:4
  pipe_barrier(PIPE_ALL);
#endif
}

// Runs `blocks` blocks of the kernel; pointers are to memory of the device.
extern "C" void launch_vector_add(uint32_t blocks, void* stream, void* x, void* y, void* out) {
#if defined(__CPU_SIM)
  static_cast<void>(stream);
  pto::cpu_sim::EnsureRuntimeInitialized();
  pto::cpu_sim::runtime_config().num_cores = blocks;
  for (uint32_t block = 0; block < blocks; ++block) {
    pto::cpu_sim::ScopedExecutionContext place(block, 0, 1);
    kernel_vector_add(static_cast<float*>(x), static_cast<float*>(y), static_cast<float*>(out));
  }
#else
  kernel_vector_add<<<blocks, nullptr, stream>>>(static_cast<float*>(x), static_cast<float*>(y), static_cast<float*>(out));
#endif
}
