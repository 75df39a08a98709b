// The first kernel of every CUDA course: a thread an element.
__global__ void vecadd(const int* a, const int* b, int* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
