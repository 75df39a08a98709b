// CUDA C++ kernels as plain C++ functions: what they use of CUDA, for a CPU. A launch has one thread of the
// CPU. Blocks run one after another, and of a block each thread until it ends or has to wait for others; so
// shared memory is a static variable, and atomic operations are plain ones.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "launch/description.h"

#define __global__
#define __device__ inline
#define __constant__
// A static variable which, unlike one that says static, may be declared extern: dynamic shared memory.
#define __shared__ thread_local

inline qwengpu::launch::Dim3 threadIdx, blockIdx, blockDim, gridDim;
constexpr int warpSize = 32;

namespace cuda_on_cpu {

// Runs a thread of the block for every index; throws std::runtime_error when they wait for each other for
// ever.
void run_block(const std::function<void()>& thread);

// Called by a thread: others run, until all threads of the block that have not ended, or the lanes of its
// warp in MASK, wait as well.
void wait_for_block();
void wait_for_warp(unsigned mask);

unsigned lane();                       // in its warp
std::uint32_t& exchanged(unsigned n);  // a word of lane N of the warp, for others to read

template <typename T>
T shuffle(unsigned mask, T value, unsigned from) {
  static_assert(sizeof(T) == 4);
  exchanged(lane()) = std::bit_cast<std::uint32_t>(value);
  wait_for_warp(mask);
  const T got = std::bit_cast<T>(exchanged(from < 32 ? from : lane()));
  wait_for_warp(mask);  // all have read
  return got;
}

}  // namespace cuda_on_cpu

inline int __popc(unsigned a) { return std::popcount(a); }
inline void __syncthreads() { cuda_on_cpu::wait_for_block(); }

template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned offset) {
  return cuda_on_cpu::shuffle(mask, value, cuda_on_cpu::lane() + offset);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, unsigned bits) {
  return cuda_on_cpu::shuffle(mask, value, cuda_on_cpu::lane() ^ bits);
}

inline unsigned __ballot_sync(unsigned mask, bool vote) {
  unsigned votes = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1) votes |= cuda_on_cpu::shuffle<unsigned>(mask, vote, lane) << lane;
  return votes;
}

template <typename T>
T atomicAdd(T* word, std::type_identity_t<T> value) {
  const T old = *word;
  *word += value;
  return old;
}
template <typename T>
T atomicCAS(T* word, std::type_identity_t<T> compare, std::type_identity_t<T> value) {
  const T old = *word;
  if (old == compare) *word = value;
  return old;
}

inline float rsqrtf(float a) { return static_cast<float>(1 / std::sqrt(double{a})); }

struct alignas(16) float4 {
  float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

template <typename... Parameters>
void launch_on_cpu(void (*kernel)(Parameters...), qwengpu::launch::Dim3 grid, qwengpu::launch::Dim3 block,
                   Parameters... arguments) {
  gridDim = grid;
  blockDim = block;
  for (blockIdx.z = 0; blockIdx.z < grid.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x)
        cuda_on_cpu::run_block([&] { kernel(arguments...); });
}
