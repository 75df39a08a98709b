// A matrix of rows x columns becomes one of columns x rows; blocks and threads in two dimensions.
__global__ void transpose(const int* in, int* out, int rows, int columns) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && column < columns) out[column * rows + row] = in[row * columns + column];
}
