// The device side of kernels.h: each function as a kernel of the same name.
#include "kernels.h"

#define X(name)                                                                                                    \
  extern "C" __global__ void name(const unsigned* a, const unsigned* b, unsigned* c, int n, int m) {               \
    const At at = {blockIdx.x, blockIdx.y, threadIdx.x, threadIdx.y, blockDim.x, blockDim.y, gridDim.x, gridDim.y}; \
    body::name(at, a, b, c, n, m);                                                                                 \
  }
KERNELS_UNDER_TEST(X)
