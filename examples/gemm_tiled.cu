// C = A B for square matrices, a block a tile of C. It goes along a row of tiles of A and a column of tiles of B; each of
// their elements comes from global memory once and is used by a whole row or column of threads. n is a multiple of 8.
__global__ void gemm_tiled(const float* a, const float* b, float* c, int n) {
  constexpr int tile = 8;
  __shared__ float tile_a[tile][tile], tile_b[tile][tile];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * tile + ty;
  int column = blockIdx.x * tile + tx;
  float sum = 0;
  for (int first = 0; first < n; first += tile) {
    tile_a[ty][tx] = a[row * n + first + tx];
    tile_b[ty][tx] = b[(first + ty) * n + column];
    __syncthreads();  // the tiles are complete
#pragma unroll
    for (int k = 0; k < tile; ++k) sum = fmaf(tile_a[ty][k], tile_b[k][tx], sum);
    __syncthreads();  // and may be overwritten
  }
  c[row * n + column] = sum;
}
