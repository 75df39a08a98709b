// Counts bytes in 64 bins. A block counts in shared memory, so that only its own threads meet at a counter, and then adds its
// counts to those of all blocks.
__global__ void histogram(const unsigned char* data, unsigned* counts, int n) {
  constexpr int bins = 64;
  __shared__ unsigned block_counts[bins];
  for (int bin = threadIdx.x; bin < bins; bin += blockDim.x) block_counts[bin] = 0;
  __syncthreads();
  int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) atomicAdd(&block_counts[data[i] / 4], 1);
  __syncthreads();
  for (int bin = threadIdx.x; bin < bins; bin += blockDim.x) atomicAdd(&counts[bin], block_counts[bin]);
}
