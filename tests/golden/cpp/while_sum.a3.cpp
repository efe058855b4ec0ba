// while_sum for a3, written by Tessera.
#include <cstddef>
#include <cstdint>

#include <pto/pto-inst.hpp>

using namespace pto;

extern "C" __global__ AICORE void kernel_while_sum(__gm__ float* x, __gm__ float* out, int64_t n) {
#if defined(__DAV_VEC__)
  set_mask_norm();
  set_vector_mask(-1, -1);
  Tile<TileType::Vec, float, 1, 64> full;
  TASSIGN(full, 0);
  TEXPANDS(full, 0.0f);  // kernel.cpp:1
  int64_t n_2 = 0;
  float n_3 = 0.0f;
  while (true) {  // kernel.cpp:2
    const bool n_4 = n_2 < n;  // kernel.cpp:3
    if (!n_4) break;
    Tile<TileType::Vec, float, 1, 64> x_tile;
    TASSIGN(x_tile, 256);
    GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<1, 1, 1, 64, 1>> x_window(x + n_2 * 64);
    TLOAD(x_tile, x_window);  // kernel.cpp:4
    TADD(full, full, x_tile);  // kernel.cpp:5
    const int64_t n_5 = n_2 + 1;  // kernel.cpp:6
    const float n_6 = x_tile.GetValue(0);  // kernel.cpp:7
    const float n_7 = n_3 + n_6;  // kernel.cpp:8
    n_2 = n_5;
    n_3 = n_7;
  }
  Tile<TileType::Vec, float, 1, 64> adds;
  TASSIGN(adds, 0);
  TADDS(adds, full, n_3);  // kernel.cpp:9
  GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<1, 1, 1, 64, 1>> out_window(out);
  TSTORE(out_window, adds);  // kernel.cpp:10
  pipe_barrier(PIPE_ALL);
#endif
}

// Runs `blocks` blocks of the kernel; pointers are to memory of the device.
extern "C" void launch_while_sum(uint32_t blocks, void* stream, void* x, void* out, int64_t n) {
#if defined(__CPU_SIM)
  static_cast<void>(stream);
  pto::cpu_sim::EnsureRuntimeInitialized();
  pto::cpu_sim::runtime_config().num_cores = blocks;
  for (uint32_t block = 0; block < blocks; ++block) {
    pto::cpu_sim::ScopedExecutionContext place(block, 0, 1);
    kernel_while_sum(static_cast<float*>(x), static_cast<float*>(out), n);
  }
#else
  kernel_while_sum<<<blocks, nullptr, stream>>>(static_cast<float*>(x), static_cast<float*>(out), n);
#endif
}
