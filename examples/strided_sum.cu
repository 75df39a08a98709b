// A grid-stride loop: each thread adds up every element that is a multiple of the whole grid away from its first.
__global__ void strided_sum(const int* values, int* sums, int n) {
  int first = blockIdx.x * blockDim.x + threadIdx.x;
  int stride = gridDim.x * blockDim.x;
  int sum = 0;
  for (int i = first; i < n; i += stride) sum += values[i];
  sums[first] = sum;
}
