// The device side of float_kernels.h.
#include "float_kernels.h"

#define KERNEL_OF(name)                                                                                            \
  extern "C" __global__ void name(const unsigned* a, const unsigned* b, unsigned* c, int n, int m) {               \
    const At at = {blockIdx.x, blockIdx.y, threadIdx.x, threadIdx.y, blockDim.x, blockDim.y, gridDim.x, gridDim.y}; \
    body::name(at, a, b, c, n, m);                                                                                 \
  }
FLOAT_KERNELS(KERNEL_OF)
NEAR_KERNELS(KERNEL_OF)
#define FUNCTION_OF(name, of_floats, of_doubles, ulp, lowest, highest)                                             \
  extern "C" __global__ void name(const unsigned* a, const unsigned* b, unsigned* c, int n, int m) {               \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                           \
    if (i >= n) return;                                                                                            \
    const float x = to_float(a[i]), y = to_float(b[i]);                                                            \
    (void)y;                                                                                                       \
    (void)m;                                                                                                       \
    c[i] = to_bits(of_floats);                                                                                     \
  }
FLOAT_FUNCTIONS(FUNCTION_OF)
