// Keeps the elements above a limit, in their order, one block. By a vote every lane sees which lanes of its warp keep theirs,
// and so its place among them; how many the warps before it keep is in shared memory.
__global__ void compact(const int* in, int* out, int* count, int n, int limit) {
  __shared__ int warp_counts[32];
  int lane = threadIdx.x % warpSize;
  int warp = threadIdx.x / warpSize;
  int kept = 0;
  for (int first = 0; first < n; first += blockDim.x) {
    int i = first + threadIdx.x;
    int value = i < n ? in[i] : limit;
    bool keep = value > limit;
    unsigned votes = __ballot_sync(0xffffffff, keep);
    if (lane == 0) warp_counts[warp] = __popc(votes);
    __syncthreads();
    int place = kept + __popc(votes & ((1u << lane) - 1));
    for (int w = 0; w < blockDim.x / warpSize; ++w) {
      if (w < warp) place += warp_counts[w];
      kept += warp_counts[w];
    }
    if (keep) out[place] = value;
    __syncthreads();
  }
  if (threadIdx.x == 0) *count = kept;
}
