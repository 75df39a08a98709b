// Sorts in shared memory by a network of comparisons (Batcher): runs of 2, 4, 8 ... keys, which rise and fall in turn, are
// made by comparing over distances that halve. In each step a thread has a pair of keys. Their number is a power of two.
__global__ void bitonic_sort(int* keys) {
  __shared__ int sorted[128];
  int t = threadIdx.x, n = 2 * blockDim.x;
  sorted[t] = keys[t];
  sorted[t + blockDim.x] = keys[t + blockDim.x];
  for (int run = 2; run <= n; run *= 2) {
    for (int distance = run / 2; distance > 0; distance /= 2) {
      __syncthreads();
      int low = 2 * t - (t & (distance - 1));
      int high = low + distance;
      int a = sorted[low], b = sorted[high];
      bool rising = (low & run) == 0;
      if ((a > b) == rising) {
        sorted[low] = b;
        sorted[high] = a;
      }
    }
  }
  __syncthreads();
  keys[t] = sorted[t];
  keys[t + blockDim.x] = sorted[t + blockDim.x];
}
