// A matrix of rows x columns becomes one of columns x rows by way of shared memory: both the reads and the writes of global
// memory go along rows. Rows of the tile are one element longer than they need to be, so that on a GPU with banks of shared
// memory a column of the tile lies in different banks.
__global__ void transpose_tiled(const int* in, int* out, int rows, int columns) {
  constexpr int size = 8;
  __shared__ int tile[size][size + 1];
  int column = blockIdx.x * size + threadIdx.x;
  int row = blockIdx.y * size + threadIdx.y;
  if (row < rows && column < columns) tile[threadIdx.y][threadIdx.x] = in[row * columns + column];
  __syncthreads();
  // The block's place in the result; its threads now stand for columns of the tile.
  column = blockIdx.y * size + threadIdx.x;
  row = blockIdx.x * size + threadIdx.y;
  if (row < columns && column < rows) out[row * rows + column] = tile[threadIdx.x][threadIdx.y];
}
