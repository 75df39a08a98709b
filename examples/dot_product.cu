// The dot product of two vectors, in two launches: each block sums the products of its elements, then one block sums those sums. They
// never leave device memory.
__global__ void block_products(const int* a, const int* b, int* sums, int n) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&sum, a[i] * b[i]);
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void sum_of_blocks(const int* sums, int* total, int blocks) {
  int sum = threadIdx.x < blocks ? sums[threadIdx.x] : 0;
  for (unsigned offset = warpSize / 2; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x == 0) *total = sum;
}
