// mixed_loop for a3, written by Tessera.
#include <cstddef>
#include <cstdint>

#include <pto/pto-inst.hpp>

using namespace pto;

#if !defined(__CPU_SIM)
#error "mixed_loop mixes matrix and vector instructions, which run on separate cores that these flags do not order"
#endif

extern "C" __global__ AICORE void kernel_mixed_loop(__gm__ half* a, __gm__ half* b, __gm__ float* out) {
#if defined(__DAV_VEC__)
  set_mask_norm();
  set_vector_mask(-1, -1);
#endif
  Tile<TileType::Mat, half, 64, 32, BLayout::ColMajor, 64, 32, SLayout::RowMajor> b_tile;
  TASSIGN(b_tile, 0);
  GlobalTensor<half, Shape<1, 1, 1, 64, 32>, Stride<1, 1, 1, 32, 1>> b_window(b);
#if defined(__DAV_CUBE__)
  TLOAD(b_tile, b_window);  // kernel.cpp:1
#endif
  TileRight<half, 64, 32> move;
  TASSIGN(move, 0);
#if defined(__DAV_CUBE__)
  TMOV(move, b_tile);  // kernel.cpp:2
#endif
  for (int64_t i = 0; i < 64; i += 16) {  // kernel.cpp:3
    Tile<TileType::Mat, half, 16, 64, BLayout::ColMajor, 16, 64, SLayout::RowMajor> a_tile;
    TASSIGN(a_tile, 0);
    GlobalTensor<half, Shape<1, 1, 1, 16, 64>, Stride<1, 1, 1, 64, 1>> a_window(a + i * 64);
#if defined(__DAV_CUBE__)
    TLOAD(a_tile, a_window);  // kernel.cpp:4
#endif
    TileLeft<half, 16, 64> move_2;
    TASSIGN(move_2, 0);
#if defined(__DAV_CUBE__)
    TMOV(move_2, a_tile);  // kernel.cpp:5
#endif
    TileAcc<float, 16, 32> matmul;
    TASSIGN(matmul, 0);
#if defined(__DAV_CUBE__)
    TMATMUL(matmul, move_2, move);  // kernel.cpp:6
#endif
    Tile<TileType::Vec, float, 16, 32> move_3;
    TASSIGN(move_3, 0);
#if defined(__DAV_CUBE__)
    TMOV(move_3, matmul);  // kernel.cpp:7
#endif
    Tile<TileType::Vec, float, 16, 32> exp;
    TASSIGN(exp, 0);
#if defined(__DAV_VEC__)
    TEXP(exp, move_3);  // kernel.cpp:8
#endif
    GlobalTensor<float, Shape<1, 1, 1, 16, 32>, Stride<1, 1, 1, 32, 1>> out_window(out + i * 32);
#if defined(__DAV_VEC__)
    TSTORE(out_window, exp);  // kernel.cpp:9
#endif
  }
  pipe_barrier(PIPE_ALL);
}

// Runs `blocks` blocks of the kernel; pointers are to memory of the device.
extern "C" void launch_mixed_loop(uint32_t blocks, void* stream, void* a, void* b, void* out) {
#if defined(__CPU_SIM)
  static_cast<void>(stream);
  pto::cpu_sim::EnsureRuntimeInitialized();
  pto::cpu_sim::runtime_config().num_cores = blocks;
  for (uint32_t block = 0; block < blocks; ++block) {
    pto::cpu_sim::ScopedExecutionContext place(block, 0, 1);
    kernel_mixed_loop(static_cast<half*>(a), static_cast<half*>(b), static_cast<float*>(out));
  }
#else
  kernel_mixed_loop<<<blocks, nullptr, stream>>>(static_cast<half*>(a), static_cast<half*>(b), static_cast<float*>(out));
#endif
}
