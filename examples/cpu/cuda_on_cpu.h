// CUDA C++ kernels as plain C++ functions, for kernels whose threads do not exchange anything: the threads of
// a launch run one after another.
#pragma once

#include "launch/description.h"

#define __global__

inline qwengpu::launch::Dim3 threadIdx, blockIdx, blockDim, gridDim;

template <typename... Parameters>
void launch_on_cpu(void (*kernel)(Parameters...), qwengpu::launch::Dim3 grid, qwengpu::launch::Dim3 block,
                   Parameters... arguments) {
  gridDim = grid;
  blockDim = block;
  for (blockIdx.z = 0; blockIdx.z < grid.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x)
        for (threadIdx.z = 0; threadIdx.z < block.z; ++threadIdx.z)
          for (threadIdx.y = 0; threadIdx.y < block.y; ++threadIdx.y)
            for (threadIdx.x = 0; threadIdx.x < block.x; ++threadIdx.x) kernel(arguments...);
}
