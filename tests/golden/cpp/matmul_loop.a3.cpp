// matmul_loop for a3, written by Tessera.
#include <cstddef>
#include <cstdint>

#include <pto/pto-inst.hpp>

using namespace pto;

extern "C" __global__ AICORE void kernel_matmul_loop(__gm__ half* a, __gm__ half* b, __gm__ float* c) {
#if defined(__DAV_CUBE__)
  TileAcc<float, 64, 64> tile;
  TASSIGN(tile, 0);
  for (int64_t i = 0; i < 256; i += 64) {  // kernel.cpp:2
    Tile<TileType::Mat, half, 64, 64, BLayout::ColMajor, 64, 64, SLayout::RowMajor> a_tile;
    TASSIGN(a_tile, 0);
    GlobalTensor<half, Shape<1, 1, 1, 64, 64>, Stride<1, 1, 1, 256, 1>> a_window(a + i);
    TLOAD(a_tile, a_window);  // kernel.cpp:3
    Tile<TileType::Mat, half, 64, 64, BLayout::ColMajor, 64, 64, SLayout::RowMajor> b_tile;
    TASSIGN(b_tile, 8192);
    GlobalTensor<half, Shape<1, 1, 1, 64, 64>, Stride<1, 1, 1, 64, 1>> b_window(b + i * 64);
    TLOAD(b_tile, b_window);  // kernel.cpp:4
    TileLeft<half, 64, 64> move;
    TASSIGN(move, 0);
    TMOV(move, a_tile);  // kernel.cpp:5
    TileRight<half, 64, 64> move_2;
    TASSIGN(move_2, 0);
    TMOV(move_2, b_tile);  // kernel.cpp:6
    const bool n = i == 0;  // kernel.cpp:7
    if (n) {  // kernel.cpp:8
      TMATMUL(tile, move, move_2);  // kernel.cpp:9
    } else {
      TMATMUL_ACC(tile, tile, move, move_2);  // kernel.cpp:10
    }
  }
  GlobalTensor<float, Shape<1, 1, 1, 64, 64>, Stride<1, 1, 1, 64, 1>> c_window(c);
  TSTORE(c_window, tile);  // kernel.cpp:11
  pipe_barrier(PIPE_ALL);
#endif
}

// Runs `blocks` blocks of the kernel; pointers are to memory of the device.
extern "C" void launch_matmul_loop(uint32_t blocks, void* stream, void* a, void* b, void* c) {
#if defined(__CPU_SIM)
  static_cast<void>(stream);
  pto::cpu_sim::EnsureRuntimeInitialized();
  pto::cpu_sim::runtime_config().num_cores = blocks;
  for (uint32_t block = 0; block < blocks; ++block) {
    pto::cpu_sim::ScopedExecutionContext place(block, 0, 1);
    kernel_matmul_loop(static_cast<half*>(a), static_cast<half*>(b), static_cast<float*>(c));
  }
#else
  kernel_matmul_loop<<<blocks, nullptr, stream>>>(static_cast<half*>(a), static_cast<half*>(b), static_cast<float*>(c));
#endif
}
