// Rows brought to mean 0 and variance 1, then scaled and shifted for each column, as between the layers of a transformer. A
// warp a row.
__device__ float total(float value) {
#pragma unroll
  for (int mask = warpSize / 2; mask > 0; mask /= 2) value += __shfl_xor_sync(0xffffffff, value, mask);
  return value;  // of the whole warp in every lane
}

__global__ void layer_norm(const float* in, const float* gain, const float* bias, float* out, int columns,
                           float epsilon) {
  const float* row = in + blockIdx.x * columns;
  int lane = threadIdx.x;

  float sum = 0;
  for (int i = lane; i < columns; i += warpSize) sum += row[i];
  float mean = total(sum) / columns;

  float squares = 0;
  for (int i = lane; i < columns; i += warpSize) {
    float difference = row[i] - mean;
    squares = fmaf(difference, difference, squares);
  }
  float scale = rsqrtf(total(squares) / columns + epsilon);

  for (int i = lane; i < columns; i += warpSize)
    out[blockIdx.x * columns + i] = fmaf((row[i] - mean) * scale, gain[i], bias[i]);
}
