// scalar_if for a3, written by Tessera.
#include <cstddef>
#include <cstdint>

#include <pto/pto-inst.hpp>

using namespace pto;

extern "C" __global__ AICORE void kernel_scalar_if(__gm__ float* x, __gm__ uint32_t* cfg, __gm__ float* out, float scale) {
#if defined(__DAV_VEC__)
  set_mask_norm();
  set_vector_mask(-1, -1);
  const uint32_t n = cfg[1];  // kernel.cpp:1
  const bool n_2 = n > 3u;  // kernel.cpp:2
  int64_t n_3;
  if (n_2) {  // kernel.cpp:3
    const uint32_t n_4 = cfg[2];  // kernel.cpp:4
    const int64_t n_5 = static_cast<int64_t>(n_4);  // kernel.cpp:5
    n_3 = n_5;
  } else {
    n_3 = 8;
  }
  Tile<TileType::Vec, float, 8, 64> x_tile;
  TASSIGN(x_tile, 0);
  GlobalTensor<float, Shape<1, 1, 1, 8, 64>, Stride<1, 1, 1, 64, 1>> x_window(x + n_3 * 64);
  TLOAD(x_tile, x_window);  // kernel.cpp:6
  const float n_6 = scale + 0.5f;  // kernel.cpp:7
  Tile<TileType::Vec, float, 8, 64> tile;
  TASSIGN(tile, 0);
  if (n_2) {  // kernel.cpp:9
    TMULS(tile, x_tile, n_6);  // kernel.cpp:10
  } else {
    TADDS(tile, x_tile, -__builtin_inff());  // kernel.cpp:11
  }
  const bool n_7 = !n_2;  // kernel.cpp:12
  if (n_7) {  // kernel.cpp:13
    out[192 + n_3] = n_6;  // kernel.cpp:14
  }
  GlobalTensor<float, Shape<1, 1, 1, 8, 64>, Stride<1, 1, 1, 64, 1>> out_window(out);
  TSTORE(out_window, tile);  // kernel.cpp:15
  pipe_barrier(PIPE_ALL);
  dcci(static_cast<__gm__ void*>(nullptr), cache_line_t::ENTIRE_DATA_CACHE);
  dsb(static_cast<mem_dsb_t>(0));
#endif
}

// Runs `blocks` blocks of the kernel; pointers are to memory of the device.
extern "C" void launch_scalar_if(uint32_t blocks, void* stream, void* x, void* cfg, void* out, float scale) {
#if defined(__CPU_SIM)
  static_cast<void>(stream);
  pto::cpu_sim::EnsureRuntimeInitialized();
  pto::cpu_sim::runtime_config().num_cores = blocks;
  for (uint32_t block = 0; block < blocks; ++block) {
    pto::cpu_sim::ScopedExecutionContext place(block, 0, 1);
    kernel_scalar_if(static_cast<float*>(x), static_cast<uint32_t*>(cfg), static_cast<float*>(out), scale);
  }
#else
  kernel_scalar_if<<<blocks, nullptr, stream>>>(static_cast<float*>(x), static_cast<uint32_t*>(cfg), static_cast<float*>(out), scale);
#endif
}
