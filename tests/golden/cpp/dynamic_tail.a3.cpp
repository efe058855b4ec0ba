// dynamic_tail for a3, written by Tessera.
#include <cstddef>
#include <cstdint>

#include <pto/pto-inst.hpp>

using namespace pto;

extern "C" __global__ AICORE void kernel_dynamic_tail(__gm__ float* x, __gm__ float* out, float s, int64_t S) {
#if defined(__DAV_VEC__)
  set_mask_norm();
  set_vector_mask(-1, -1);
  for (int64_t i = 0; i < S; i += 16) {  // kernel.cpp:1
    const int64_t n = S - i;  // kernel.cpp:2
    const int64_t n_2 = n < 16 ? n : 16;  // kernel.cpp:3
    Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, DYNAMIC, 64> x_tile(n_2);
    TASSIGN(x_tile, 0);
    GlobalTensor<float, Shape<1, 1, 1, DYNAMIC, 64>, Stride<1, 1, 1, 64, 1>> x_window(x + i * 64, {n_2});
    TLOAD(x_tile, x_window);  // kernel.cpp:4
    Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, DYNAMIC, 64> muls(n_2);
    TASSIGN(muls, 0);
    TMULS(muls, x_tile, s);  // kernel.cpp:5
    GlobalTensor<float, Shape<1, 1, 1, DYNAMIC, 64>, Stride<1, 1, 1, 64, 1>> out_window(out + i * 64, {n_2});
    TSTORE(out_window, muls);  // kernel.cpp:6
  }
  pipe_barrier(PIPE_ALL);
#endif
}

// Runs `blocks` blocks of the kernel; pointers are to memory of the device.
extern "C" void launch_dynamic_tail(uint32_t blocks, void* stream, void* x, void* out, float s, int64_t S) {
#if defined(__CPU_SIM)
  static_cast<void>(stream);
  pto::cpu_sim::EnsureRuntimeInitialized();
  pto::cpu_sim::runtime_config().num_cores = blocks;
  for (uint32_t block = 0; block < blocks; ++block) {
    pto::cpu_sim::ScopedExecutionContext place(block, 0, 1);
    kernel_dynamic_tail(static_cast<float*>(x), static_cast<float*>(out), s, S);
  }
#else
  kernel_dynamic_tail<<<blocks, nullptr, stream>>>(static_cast<float*>(x), static_cast<float*>(out), s, S);
#endif
}
