// A step of heat on a chip: every cell takes heat from its four neighbours and from the power that is burnt in it, and gives
// some to the air. A block keeps its cells in shared memory with a border of one cell; at the edge of the chip a cell is its
// own neighbour. Rows and columns are multiples of the block.
__global__ void hotspot(const float* heat, const float* power, float* next, int rows, int columns, float spread,
                        float loss, float air) {
  constexpr int size = 8;
  __shared__ float tile[size + 2][size + 2];
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int column = blockIdx.x * size + threadIdx.x;
  int row = blockIdx.y * size + threadIdx.y;
  int i = row * columns + column;

  float own = heat[i];
  tile[ty][tx] = own;
  if (tx == 1) tile[ty][0] = column > 0 ? heat[i - 1] : own;
  if (tx == size) tile[ty][size + 1] = column + 1 < columns ? heat[i + 1] : own;
  if (ty == 1) tile[0][tx] = row > 0 ? heat[i - columns] : own;
  if (ty == size) tile[size + 1][tx] = row + 1 < rows ? heat[i + columns] : own;
  __syncthreads();

  float around = tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx];
  float change = power[i];
  change = fmaf(spread, fmaf(-4.0f, own, around), change);
  change = fmaf(loss, air - own, change);
  next[i] = own + change;
}
