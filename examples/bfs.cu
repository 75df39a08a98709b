// Breadth-first search of a graph of up to 64 nodes, one block: the distance of every node from the source. The nodes found
// in the last step are the frontier, a queue in shared memory; each thread takes nodes of it and looks at their neighbours.
// Of the threads that find a node in the same step, the one whose atomicCAS sees it unvisited puts it into the next
// frontier. Row n of edges has the neighbours of node n.
__global__ void bfs(const int* edges, int* distances, int nodes, int degree, int source) {
  __shared__ int queues[2][64];
  __shared__ int sizes[2];
  for (int node = threadIdx.x; node < nodes; node += blockDim.x) distances[node] = node == source ? 0 : -1;
  if (threadIdx.x == 0) {
    queues[0][0] = source;
    sizes[0] = 1;
  }
  __syncthreads();

  int now = 0;
  for (int distance = 1; sizes[now] > 0; ++distance) {
    int next = 1 - now;
    if (threadIdx.x == 0) sizes[next] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < sizes[now]; k += blockDim.x) {
      const int* neighbours = edges + queues[now][k] * degree;
      for (int edge = 0; edge < degree; ++edge) {
        int node = neighbours[edge];
        if (atomicCAS(&distances[node], -1, distance) == -1) queues[next][atomicAdd(&sizes[next], 1)] = node;
      }
    }
    __syncthreads();
    now = next;
  }
}
