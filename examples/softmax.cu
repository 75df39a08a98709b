// e^x / sum of e^x along each row, a warp a row. Each lane has a part of the row; butterfly shuffles bring the largest element
// and the sum of all parts to every lane.
__global__ void softmax(const float* in, float* out, int columns) {
  const float* row = in + blockIdx.x * columns;
  float* result = out + blockIdx.x * columns;
  int lane = threadIdx.x;

  float largest = row[0];
  for (int i = lane; i < columns; i += warpSize) largest = fmaxf(largest, row[i]);
#pragma unroll
  for (int mask = warpSize / 2; mask > 0; mask /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, mask));

  // No power is above 1 when the largest element is taken off.
  float sum = 0;
  for (int i = lane; i < columns; i += warpSize) {
    float power = expf(row[i] - largest);
    result[i] = power;
    sum += power;
  }
#pragma unroll
  for (int mask = warpSize / 2; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffff, sum, mask);

  float scale = 1 / sum;
  for (int i = lane; i < columns; i += warpSize) result[i] *= scale;
}
