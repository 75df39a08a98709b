// Sums of a block's elements, by a tree in shared memory: in each step the first half of the sums that are left takes in the
// second half. The launch says how much shared memory a block has. Blocks are a power of two threads.
__global__ void reduce_shared(const int* values, int* sums, int n) {
  extern __shared__ int partial[];
  unsigned t = threadIdx.x;
  unsigned i = blockIdx.x * blockDim.x * 2 + t;
  int sum = i < n ? values[i] : 0;
  if (i + blockDim.x < n) sum += values[i + blockDim.x];
  partial[t] = sum;
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (t < stride) partial[t] += partial[t + stride];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}
