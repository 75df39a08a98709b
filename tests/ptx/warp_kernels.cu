// Kernels whose threads work together within warps. warp_test.cpp says what they compute.
using u32 = unsigned;
using u64 = unsigned long long;

#define ALL 0xffffffffu

extern "C" __global__ void shuffles(const u32* a, const u32* b, u32* c) {
  const int i = threadIdx.x;
  u32 sum = 0;
  sum = sum * 3 + __shfl_sync(ALL, a[i], (int)b[i]);
  sum = sum * 3 + __shfl_sync(ALL, a[i], (int)b[i], 8);
  sum = sum * 3 + __shfl_up_sync(ALL, a[i], 3);
  sum = sum * 3 + __shfl_up_sync(ALL, a[i], 1, 4);
  sum = sum * 3 + __shfl_down_sync(ALL, a[i], 5);
  sum = sum * 3 + __shfl_down_sync(ALL, a[i], 9, 16);
  sum = sum * 3 + __shfl_xor_sync(ALL, a[i], 16);
  sum = sum * 3 + __shfl_xor_sync(ALL, a[i], 3, 2);
  c[i] = sum;
}

extern "C" __global__ void shuffles_of_all_kinds(const u32* a, float* f, long long* w) {
  const int i = threadIdx.x;
  f[i] = __shfl_down_sync(ALL, (float)a[i] * 0.5f, 1);
  w[i] = __shfl_xor_sync(ALL, (long long)a[i] << 20, 7);
}

// The predicate tells whether the source is within its segment.
extern "C" __global__ void shuffle_predicates(const u32* a, u32* c) {
  const int i = threadIdx.x;
  u32 word, bits = 0, one;
  asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %2, 2, 0, -1; selp.u32 %1, 1, 0, p; }" : "=r"(word), "=r"(one) : "r"(a[i]));
  bits |= one;
  asm volatile("{ .reg .pred p; shfl.sync.down.b32 %0|p, %2, 4, 0x1807, -1; selp.u32 %1, 1, 0, p; }"
               : "=r"(word), "=r"(one)
               : "r"(a[i]));
  bits |= one << 1;
  asm volatile("{ .reg .pred p; shfl.sync.idx.b32 _|p, %1, %2, 0xf, -1; selp.u32 %0, 1, 0, p; }" : "=r"(one) : "r"(a[i]), "r"(a[i]));
  bits |= one << 2;
  asm volatile("{ .reg .pred p; shfl.sync.bfly.b32 _|p, %1, 8, 0x1010, -1; selp.u32 %0, 1, 0, p; }" : "=r"(one) : "r"(a[i]));
  c[i] = bits | one << 3 | word << 8;
}

extern "C" __global__ void warp_sum(const u32* a, u32* c, int n) {
  u32 sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += a[i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(ALL, sum, step);
  __shared__ u32 sums[32];
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(ALL, sum, step);
    if (threadIdx.x == 0) c[blockIdx.x] = sum;
  }
}

extern "C" __global__ void votes(const u32* a, u32* c) {
  const int i = threadIdx.x;
  const u32 x = a[i];
  u32 r = __ballot_sync(ALL, x & 1);
  r = r * 5 + __any_sync(ALL, x % 64 == 0);
  r = r * 5 + __all_sync(ALL, x % 64 != 0);
  r = r * 5 + __uni_sync(ALL, x >> 31);
  r = r * 5 + __uni_sync(ALL, x > 5);
  c[i] = r;
}

// Groups of the warp vote on their own, a different number of times, while some have ended.
extern "C" __global__ void divergent_votes(const u32* a, u32* c) {
  const u32 i = threadIdx.x, lane = i % 32, group = lane % 3;
  if (lane == 5 || lane == 17) {
    c[i] = 1;
    return;
  }
  const u32 masks[3] = {0x49249249u & ~0x20020u, 0x92492492u & ~0x20020u, 0x24924924u & ~0x20020u};
  u32 sum = 0;
  if (group == 0) {
    for (u32 k = 0; k < 3; ++k) sum = sum * 7 + __ballot_sync(masks[0], a[i] >> k & 1);
  } else if (group == 1) {
    for (u32 k = 0; k < 5; ++k) sum = sum * 7 + __ballot_sync(masks[1], a[i] >> k & 1) + __all_sync(masks[1], a[i] & 1);
  } else {
    sum = __popc(__ballot_sync(masks[2], a[i] & 4)) + __shfl_sync(masks[2], a[i], 8);
  }
  __syncwarp(~0x20020u);
  sum += __ballot_sync(~0x20020u, sum & 1);
  c[i] = sum;
}

// Lanes that leave a loop after having voted are not counted any more, in this block and in the next ones.
extern "C" __global__ void votes_of_the_living(const u32* a, u32* c, int n) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if ((int)i >= n) return;
  u32 rounds = 0, sum = 0;
  for (;;) {
    const u32 all = __all_sync(ALL, rounds < 100), here = __ballot_sync(ALL, 1);
    sum += __popc(here) * all;
    if (rounds++ >= a[i] % 4) break;
  }
  c[i] = sum;
}

extern "C" __global__ void matches(const u32* a, const u64* w, u32* c) {
  const u32 i = threadIdx.x;
  int same, equal;
  u32 r = __match_any_sync(ALL, a[i] % 5);
  r ^= __match_any_sync(ALL, w[i]) * 3;
  const u32 mask = i % 2 ? 0xaaaaaaaau : 0x55555555u;
  if (i % 2)
    r ^= __match_all_sync(mask, 7u, &same) * 5;
  else
    r ^= __match_all_sync(mask, a[i], &same) * 5;
  r += __match_all_sync(ALL, w[0] + (i == 99), &equal) * 7;
  c[i] = r * 4 + same * 2 + equal;
}

extern "C" __global__ void reductions(const u32* a, u32* c) {
  const u32 i = threadIdx.x, x = a[i];
  u32 r[6];
#define REDUCE(k, op, mask) asm volatile("redux.sync." op " %0, %1, %2;" : "=r"(r[k]) : "r"(x), "r"(mask))
  REDUCE(0, "add.u32", ALL);
  REDUCE(1, "min.s32", ALL);
  REDUCE(2, "max.u32", ALL);
  if (i % 4 == 1) {
    REDUCE(3, "xor.b32", 0x22222222u);
  } else {
    REDUCE(3, "max.s32", 0xddddddddu);
  }
  REDUCE(4, "and.b32", ALL);
  REDUCE(5, "or.b32", ALL);
  u32 sum = 0;
  for (int k = 0; k < 6; ++k) sum = sum * 11 + r[k];
  c[i] = sum;
}

// One atomic operation for all lanes that are here.
extern "C" __global__ void aggregated(const u32* a, u32* count, u32* place) {
  const u32 i = threadIdx.x, lane = i % 32;
  place[i] = ~0u;
  if (a[i] % 3 == 0) {
    const u32 mask = __activemask();
    const int leader = __ffs(mask) - 1;
    u32 first = 0;
    if ((int)lane == leader) first = atomicAdd(count, (u32)__popc(mask));
    first = __shfl_sync(mask, first, leader);
    u32 below;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    place[i] = first + __popc(mask & below);
  } else if (a[i] % 3 == 1) {
    place[i] = 1000 + __popc(__activemask());
  }
}

extern "C" __global__ void lane_masks(u32* c) {
  u32 eq, lt, le, gt, ge, warps;
  asm("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
  asm("mov.u32 %0, %%lanemask_le;" : "=r"(le));
  asm("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
  asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
  asm("mov.u32 %0, %%nwarpid;" : "=r"(warps));
  c[threadIdx.x] = eq + lt * 3 + le * 5 + gt * 7 + ge * 11 + warps * 13;
}

// Words that lanes hand to one another through shared memory, between barriers of the warp.
extern "C" __global__ void warp_barriers(const u32* a, u32* c) {
  __shared__ u32 words[64];
  const u32 i = threadIdx.x;
  words[i] = a[i];
  for (u32 step = 1; step < 32; step *= 2) {
    __syncwarp();
    const u32 other = words[i ^ step];
    __syncwarp();
    words[i] += other * step;
  }
  c[i] = words[i];
}

// All lanes exchange words, then half of them once more, over and over: nobody may come round before all are done.
extern "C" __global__ void halves(const u32* a, u32* c, int rounds) {
  u32 x = a[threadIdx.x];
  for (int round = 0; round < rounds; ++round) {
    x += 3 * __shfl_xor_sync(ALL, x, 31);
    if (threadIdx.x % 32 < 16) x ^= __shfl_xor_sync(0xffffu, x, 5);
  }
  c[threadIdx.x] = x;
}

// A lock that the lanes of a warp take in turn, until all have had it.
extern "C" __global__ void lock_with_votes(u32* lock, volatile u32* sum) {
  bool done = false;
  do {
    if (!done && atomicCAS(lock, 0u, 1u) == 0) {
      *sum = *sum + threadIdx.x;
      __threadfence();
      atomicExch(lock, 0u);
      done = true;
    }
  } while (!__all_sync(ALL, done));
}
