// Inclusive prefix sums of each block of up to 128 elements (Hillis and Steele): after the step of distance d a place holds
// the sum of the 2 d elements that end there.
__global__ void scan(const int* in, int* out) {
  __shared__ int sums[128];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  sums[t] = in[i];
  __syncthreads();
  for (int distance = 1; distance < blockDim.x; distance *= 2) {
    int left = t >= distance ? sums[t - distance] : 0;
    __syncthreads();  // all have read
    sums[t] += left;
    __syncthreads();  // all have written
  }
  out[i] = sums[t];
}
