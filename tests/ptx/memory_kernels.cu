// Kernels that use every kind of memory, in every width. memory_test.cpp says what they compute.
using u32 = unsigned;

struct alignas(8) Pair {
  short a, b;
  unsigned char c[3];
  signed char d;
};
struct Table {
  int first[5];
  short second[6];
  char third;
};

__constant__ u32 squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};
__constant__ signed char bytes[5] = {-1, 2, -3, 4, -5};
__constant__ float halves[3] = {0.5f, -1.5f, 2.5f};
__device__ u32 total = 17;
__device__ u32 grid_total;
__device__ u32 list[4] = {5, 6, 7};
__device__ u32* where[3] = {&total, list, list + 2};
__device__ Pair pairs[2] = {{-1, 2, {3, 4, 5}, -6}, {300, -400, {255, 0, 1}, 127}};

extern "C" __global__ void narrow(const signed char* a, const unsigned short* b, unsigned char* c, short* d, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  c[i] = (unsigned char)(a[i] * 3 + b[i]);
  d[i] = (short)(a[i] - b[n - 1 - i]);
}

extern "C" __global__ void vectors(const uchar4* a, const short2* b, const float4* x, const longlong2* w, uchar4* c, short2* d, float4* y,
                                   longlong2* v) {
  const int i = threadIdx.x;
  const uchar4 p = a[i];
  c[i] = make_uchar4(p.w, p.z + 1, p.y, p.x * 2);
  d[i] = make_short2(b[i].y, -b[i].x);
  const float4 q = x[i];
  y[i] = make_float4(q.w, q.z + q.x, q.y, -q.x);
  v[i] = make_longlong2(w[i].y + 1, w[i].x * 3);
}

extern "C" __global__ void structures(const Pair* in, Pair* out) {
  Pair p = in[threadIdx.x];
  const Pair q = pairs[threadIdx.x & 1];
  p.a += q.b;
  p.c[threadIdx.x % 3] ^= q.c[1];
  p.d = (signed char)(p.d - q.d);
  out[threadIdx.x] = p;
}

extern "C" __global__ void local_array(const u32* a, u32* c, int n) {
  u32 heap[16];
  unsigned char order[16];
  const int t = threadIdx.x;
  for (int k = 0; k < 16; ++k) {
    heap[k] = a[(t * 5 + k) % n];
    order[k] = (unsigned char)((k * 7 + t) % 16);
  }
  for (int k = 0; k < n; ++k) {
    const int from = order[k % 16], to = heap[from] % 16;
    const u32 swap = heap[from];
    heap[from] = heap[to] + 1;
    heap[to] = swap;
    order[to] = (unsigned char)(k % 16);
  }
  u32 sum = 0;
  for (int k = 0; k < 16; ++k) sum = sum * 31 + heap[k] + order[k];
  c[blockIdx.x * blockDim.x + t] = sum;
}

extern "C" __global__ void constants(u32* c, int n) {
  const int i = threadIdx.x;
  c[i] = squares[i % 8] + (u32)bytes[i % 5] + (u32)(int)(halves[i % 3] * 2) + *where[i % 3] + (u32)n;
}

// Threads of all blocks add to variables of the module.
extern "C" __global__ void module_variables(u32* c) {
  atomicAdd(&grid_total, threadIdx.x + 1);
  list[3] = grid_total;
  c[blockIdx.x] = list[3] + list[0];
}

extern "C" __global__ void parameter_structure(Table table, int* c) {
  const int i = threadIdx.x;
  c[i] = table.first[i % 5] * 1000 + table.second[(i + 1) % 6] + table.third;
}

// Pointers to several memories in one variable.
extern "C" __global__ void generic_pointers(const u32* a, u32* c, int n) {
  __shared__ u32 shared[32];
  u32 local[4];
  const int t = threadIdx.x;
  shared[t] = a[t] + 1;
  for (int k = 0; k < 4; ++k) local[k] = a[(t + k) % n] + 2;
  __syncthreads();
  const u32* pointers[4] = {a, shared, local, squares};
  const u32* p = pointers[a[t] % 4];
  u32* to = t % 2 ? &shared[t ^ 1] : &local[1];
  *to = p[t % 4] * 3;
  __syncthreads();
  c[t] = shared[t] + local[1] + p[(t + 1) % 4];
}

extern "C" __global__ void dynamic_shared(const u32* a, u32* c, int n) {
  extern __shared__ u32 words[];
  __shared__ char first[3];
  const int t = threadIdx.x;
  if (t < 3) first[t] = (char)(a[t] + t);
  for (int k = t; k < n; k += blockDim.x) words[k] = a[k];
  __syncthreads();
  for (int k = t; k < n; k += blockDim.x) c[k] = words[n - 1 - k] + (u32)first[k % 3];
}

extern "C" __global__ void spaces(u32* c) {
  __shared__ u32 shared;
  u32 local = threadIdx.x;
  u32 *p[4] = {&shared, &local, c, const_cast<u32*>(squares)}, bits = 0;
  for (int k = 0; k < 4; ++k) {
    u32 s, l, g;
    asm volatile("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(s) : "l"(p[k]));
    asm volatile("{ .reg .pred p; isspacep.local p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(l) : "l"(p[k]));
    asm volatile("{ .reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(g) : "l"(p[k]));
    bits |= (s | l << 1 | g << 2) << (4 * k);
  }
  c[threadIdx.x] = bits + (local - threadIdx.x);
}

extern "C" __global__ void misaligned(char* c, int which) {
  char* p = c + which % 16;
  if (which < 16)
    *(volatile unsigned short*)p = 1;
  else if (which < 32)
    *(volatile u32*)p = 1;
  else if (which < 48)
    *(volatile unsigned long long*)p = 1;
  else
    asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(p), "r"(which) : "memory");
}
