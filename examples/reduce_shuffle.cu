// Sums of a block's elements, from register to register: the lanes of a warp add up by shuffles, the sums of the warps go
// through shared memory, and the first warp adds those up in the same way.
__device__ float warp_sum(float value) {
#pragma unroll
  for (int offset = warpSize / 2; offset > 0; offset /= 2)
    value += __shfl_down_sync(0xffffffff, value, offset);
  return value;  // of the whole warp in lane 0
}

__global__ void reduce_shuffle(const float* values, float* sums, int n) {
  __shared__ float warp_sums[32];
  int lane = threadIdx.x % warpSize;
  int warp = threadIdx.x / warpSize;
  int i = blockIdx.x * blockDim.x + threadIdx.x;

  float sum = warp_sum(i < n ? values[i] : 0);
  if (lane == 0) warp_sums[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = warp_sum(lane < blockDim.x / warpSize ? warp_sums[lane] : 0);
    if (lane == 0) sums[blockIdx.x] = sum;
  }
}
