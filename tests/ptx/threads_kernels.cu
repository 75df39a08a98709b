// Kernels whose threads work together through shared and global memory. threads_test.cpp says what they compute.
using u32 = unsigned;
using u64 = unsigned long long;

extern "C" __global__ void tiled_product(const float* a, const float* b, float* c, int n) {
  __shared__ float x[8][8], y[8][9];
  const int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 8 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += 8) {
    x[threadIdx.y][threadIdx.x] = row < n && k + threadIdx.x < n ? a[row * n + k + threadIdx.x] : 0;
    y[threadIdx.y][threadIdx.x] = column < n && k + threadIdx.y < n ? b[(k + threadIdx.y) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < 8; ++i) sum += x[threadIdx.y][i] * y[i][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

extern "C" __global__ void block_sum(const u32* a, u32* c, int n) {
  __shared__ u32 part[128];
  const u32 t = threadIdx.x;
  u32 sum = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += a[i];
  part[t] = sum;
  __syncthreads();
  for (u32 step = blockDim.x / 2; step != 0; step /= 2) {
    if (t < step) part[t] += part[t + step];
    __syncthreads();
  }
  if (t == 0) atomicAdd(c, part[0]);
}

extern "C" __global__ void inclusive_scan(const u32* a, u32* c) {
  __shared__ u32 words[2][64];
  const u32 t = threadIdx.x;
  int now = 0;
  words[0][t] = a[t];
  for (u32 step = 1; step < blockDim.x; step *= 2) {
    __syncthreads();
    words[1 - now][t] = words[now][t] + (t >= step ? words[now][t - step] : 0);
    now = 1 - now;
  }
  __syncthreads();
  c[t] = words[now][t];
}

extern "C" __global__ void histogram(const u32* a, u32* bins, int n) {
  __shared__ u32 own[16];
  const u32 t = threadIdx.x;
  if (t < 16) own[t] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[a[i] % 16], 1u);
  __syncthreads();
  if (t < 16) atomicAdd(&bins[t], own[t]);
}

extern "C" __global__ void bitonic_sort(int* a) {
  __shared__ int words[64];
  const u32 t = threadIdx.x;
  words[t] = a[t];
  for (u32 k = 2; k <= 64; k *= 2)
    for (u32 j = k / 2; j != 0; j /= 2) {
      __syncthreads();
      const u32 other = t ^ j;
      if (other > t) {
        const bool up = (t & k) == 0;
        if ((words[t] > words[other]) == up) {
          const int swap = words[t];
          words[t] = words[other];
          words[other] = swap;
        }
      }
    }
  __syncthreads();
  a[t] = words[t];
}

// Each operation once a thread, on words of its own.
extern "C" __global__ void every_atomic(const u32* a, u32* c, u64* w, u32* old) {
  const u32 x = a[threadIdx.x];
  atomicAdd(&c[0], x);
  atomicSub(&c[1], x);
  atomicMin(&c[2], x);
  atomicMax(&c[3], x);
  atomicMin((int*)&c[4], (int)x);
  atomicMax((int*)&c[5], (int)x);
  atomicAnd(&c[6], x | 0xff);
  atomicOr(&c[7], x & 0xff00ff);
  atomicXor(&c[8], x);
  atomicInc(&c[9], 6u);
  atomicDec(&c[10], 9u);
  atomicExch(&c[11], x);
  const u64 y = (u64)x << 32 | x * 7u;
  atomicAdd(&w[0], y);
  atomicAdd(&w[1], 0 - y);
  atomicMin(&w[2], y);
  atomicMax(&w[3], y);
  atomicMin((long long*)&w[4], (long long)y);
  atomicMax((long long*)&w[5], (long long)y);
  atomicAnd(&w[6], y | 0xffff);
  atomicOr(&w[7], y & 0xff00ff00ffull);
  atomicXor(&w[8], y);
  atomicExch(&w[9], y);
  old[threadIdx.x] = atomicAdd(&c[12], 3u) + atomicInc(&c[13], 4u) * 1000;
}

extern "C" __global__ void old_words(u32* c, u64* w, u64* old) {
  __shared__ u32 count;
  __shared__ u64 sum;
  if (threadIdx.x == 0) {
    count = 5;
    sum = 0xfffffff0;
  }
  __syncthreads();
  const u64 before = atomicAdd(&sum, 0x100000003ull);
  old[threadIdx.x] = before ^ atomicAdd(w, 0x80000001ull) << 20;
  c[threadIdx.x] = atomicAdd(&count, threadIdx.x) + atomicCAS(&c[40], threadIdx.x, threadIdx.x + 1) * 1000;
}

// The largest number, by compare and swap of its bits.
extern "C" __global__ void largest(const float* a, float* c) {
  const float x = a[blockIdx.x * blockDim.x + threadIdx.x];
  int seen = __float_as_int(*c);
  while (x > __int_as_float(seen)) {
    const int before = atomicCAS((int*)c, seen, __float_as_int(x));
    if (before == seen) break;
    seen = before;
  }
}

extern "C" __global__ void sum_of_floats(const float* a, float* c) {
  __shared__ float part;
  if (threadIdx.x == 0) part = 0;
  __syncthreads();
  atomicAdd(&part, a[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    c[0] = part;
    atomicAdd(&c[1], part);
    c[2] = atomicAdd(&c[3], 1e-40f);
  }
}

// Blocks take jobs from a queue. A single shared word is written before the barrier and read behind it.
extern "C" __global__ void job_queue(u32* next, u32* c, u32 n) {
  __shared__ u32 job;
  for (;;) {
    if (threadIdx.x == 0) job = atomicAdd(next, 1u);
    __syncthreads();
    const u32 own = job;
    __syncthreads();
    if (own >= n) break;
    c[own * blockDim.x + threadIdx.x] += own * 100 + threadIdx.x;
  }
}

// A lock that every thread takes once: plain sums under it lose nothing.
extern "C" __global__ void spin_lock(u32* lock, u32* sum) {
  while (atomicCAS(lock, 0u, 1u) != 0) {
  }
  __threadfence();
  *(volatile u32*)sum = *(volatile u32*)sum + threadIdx.x;
  __threadfence();
  atomicExch(lock, 0u);
}

extern "C" __global__ void lock_in_a_branch(u64* lock, volatile u32* sum) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0ull, 1ull) == 0) {
      *sum = *sum * 3 + 1;
      __threadfence();
      atomicExch(lock, 0ull);
      done = true;
    }
  }
}

// Each thread waits for the one after it: lanes, quads and warps in the order that the machine takes last.
extern "C" __global__ void relay(volatile u32* flags, u32* c) {
  const u32 t = threadIdx.x;
  if (t + 1 < blockDim.x)
    while (flags[t + 1] == 0) {
    }
  c[t] = t + 1 < blockDim.x ? c[t + 1] + t : t;
  __threadfence();
  flags[t] = 1;
}

extern "C" __global__ void relay_with_fence(u32* flags, u32* c) {
  const u32 t = threadIdx.x;
  if (t + 1 < blockDim.x)
    while (flags[t + 1] == 0) __threadfence();
  c[t] = t + 1 < blockDim.x ? c[t + 1] + t : t;
  __threadfence();
  flags[t] = 1;
}

extern "C" __global__ void counting_barriers(const u32* a, u32* c) {
  const u32 t = threadIdx.x;
  u32 sum = 0;
  for (u32 k = 0; k < 4; ++k) {
    const bool bit = a[t] >> k & 1;
    sum = sum * 100 + __syncthreads_count(bit);
    sum += __syncthreads_and(bit || k == 3) * 2 + __syncthreads_or(bit && k == 2) * 5;
  }
  c[t] = sum;
}

// Two groups of threads that wait each at a barrier of its own, a different number of times.
extern "C" __global__ void named_barriers(u32* c) {
  __shared__ u32 words[128];
  const u32 t = threadIdx.x, group = t / 64;
  words[t] = t;
  for (u32 k = 0; k < 3 + 2 * group; ++k) {
    if (group == 0)
      asm volatile("bar.sync 1, 64;" ::: "memory");
    else
      asm volatile("bar.sync 2, 64;" ::: "memory");
    const u32 next = words[group * 64 + (t + 1) % 64];
    if (group == 0)
      asm volatile("bar.sync 1, 64;" ::: "memory");
    else
      asm volatile("bar.sync 2, 64;" ::: "memory");
    words[t] = next * 2 + k;
  }
  __syncthreads();
  c[t] = words[t] + words[127 - t];
}

// The first warp makes, the second takes.
extern "C" __global__ void arrivals(u32* c) {
  __shared__ u32 word[32];
  const u32 t = threadIdx.x;
  u32 sum = 0;
  for (u32 k = 0; k < 4; ++k) {
    if (t < 32) {
      asm volatile("bar.sync 3, 64;" ::: "memory");  // the place is free
      word[t] = t * 10 + k;
      asm volatile("bar.arrive 4, 64;" ::: "memory");
    } else {
      asm volatile("bar.arrive 3, 64;" ::: "memory");
      asm volatile("bar.sync 4, 64;" ::: "memory");
      sum += word[63 - t] * (k + 1);
    }
  }
  c[t] = sum;
}

extern "C" __global__ void deadlock(u32* c) {
  if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;" ::: "memory");
  c[threadIdx.x] = 1;
}

extern "C" __global__ void early_exits_and_barriers(u32* c, int n) {
  __shared__ u32 sum;
  const u32 t = threadIdx.x;
  if (t == 0) sum = 0;
  __syncthreads();
  if ((int)t >= n) return;
  atomicAdd(&sum, t);
  __syncthreads();
  c[t] = sum;
}
