// What threads do together: barriers, fences, atomic operations, and the operations of a warp. Part of qwengpu_device.h.
#pragma once

// ---- Barriers and fences ----

// As statements that may change any memory: clang takes its builtins for functions that leave a shared variable alone whose address nobody
// takes, and moves loads of it across them.
QWENGPU_DEVICE void qwengpu_syncthreads() { asm volatile("bar.sync 0;" ::: "memory"); }
#define __syncthreads() qwengpu_syncthreads()
#define QWENGPU_SYNCTHREADS(name, reduction)                                                      \
  QWENGPU_DEVICE int name(int p) {                                                                \
    int result;                                                                                   \
    asm volatile("{ .reg .pred %%p, %%q; setp.ne.s32 %%p, %1, 0; " reduction " }"                 \
                 : "=r"(result)                                                                   \
                 : "r"(p)                                                                         \
                 : "memory");                                                                     \
    return result;                                                                                \
  }
QWENGPU_SYNCTHREADS(__syncthreads_count, "bar.red.popc.u32 %0, 0, %%p;")
QWENGPU_SYNCTHREADS(__syncthreads_and, "bar.red.and.pred %%q, 0, %%p; selp.s32 %0, 1, 0, %%q;")
QWENGPU_SYNCTHREADS(__syncthreads_or, "bar.red.or.pred %%q, 0, %%p; selp.s32 %0, 1, 0, %%q;")
#undef QWENGPU_SYNCTHREADS
QWENGPU_DEVICE void __threadfence_block() { asm volatile("membar.cta;" ::: "memory"); }
QWENGPU_DEVICE void __threadfence() { asm volatile("membar.gl;" ::: "memory"); }
QWENGPU_DEVICE void __threadfence_system() { asm volatile("membar.sys;" ::: "memory"); }
QWENGPU_DEVICE void __nanosleep(unsigned int ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns) : "memory"); }
QWENGPU_DEVICE void __trap() { asm volatile("trap;"); }
QWENGPU_DEVICE int clock() {
  int time;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(time));
  return time;
}
QWENGPU_DEVICE long long clock64() {
  long long time;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(time));
  return time;
}

// ---- Atomic operations ----

#define QWENGPU_FETCH(name, operation, type) \
  QWENGPU_DEVICE type name(type* p, type v) { return operation(p, v, __ATOMIC_RELAXED); }
#define QWENGPU_CAS(type)                                                                   \
  QWENGPU_DEVICE type atomicCAS(type* p, type compare, type v) {                            \
    __atomic_compare_exchange_n(p, &compare, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
    return compare;                                                                         \
  }
#define QWENGPU_ATOMIC(type)                             \
  QWENGPU_FETCH(atomicAdd, __atomic_fetch_add, type)     \
  QWENGPU_FETCH(atomicSub, __atomic_fetch_sub, type)     \
  QWENGPU_FETCH(atomicMin, __atomic_fetch_min, type)     \
  QWENGPU_FETCH(atomicMax, __atomic_fetch_max, type)     \
  QWENGPU_FETCH(atomicAnd, __atomic_fetch_and, type)     \
  QWENGPU_FETCH(atomicOr, __atomic_fetch_or, type)       \
  QWENGPU_FETCH(atomicXor, __atomic_fetch_xor, type)     \
  QWENGPU_FETCH(atomicExch, __atomic_exchange_n, type)   \
  QWENGPU_CAS(type)
QWENGPU_ATOMIC(int)
QWENGPU_ATOMIC(unsigned int)
QWENGPU_ATOMIC(long long)
QWENGPU_ATOMIC(unsigned long long)
#undef QWENGPU_ATOMIC
#undef QWENGPU_CAS
#undef QWENGPU_FETCH
QWENGPU_DEVICE unsigned int atomicInc(unsigned int* p, unsigned int v) { return __nvvm_atom_inc_gen_ui(p, v); }
QWENGPU_DEVICE unsigned int atomicDec(unsigned int* p, unsigned int v) { return __nvvm_atom_dec_gen_ui(p, v); }
QWENGPU_DEVICE float atomicAdd(float* p, float v) { return __nvvm_atom_add_gen_f(p, v); }
QWENGPU_DEVICE double atomicAdd(double* p, double v) { return __nvvm_atom_add_gen_d(p, v); }
QWENGPU_DEVICE float atomicExch(float* p, float v) { return __int_as_float(atomicExch((int*)p, __float_as_int(v))); }
// There is one GPU: what is atomic for a block is so for the system.
#define QWENGPU_SCOPES(name)                                                                                      \
  template <class T, class... V>                                                                                  \
  QWENGPU_DEVICE T name##_block(T* p, V... v) { return name(p, (T)v...); }                                        \
  template <class T, class... V>                                                                                  \
  QWENGPU_DEVICE T name##_system(T* p, V... v) { return name(p, (T)v...); }
QWENGPU_SCOPES(atomicAdd)
QWENGPU_SCOPES(atomicSub)
QWENGPU_SCOPES(atomicMin)
QWENGPU_SCOPES(atomicMax)
QWENGPU_SCOPES(atomicAnd)
QWENGPU_SCOPES(atomicOr)
QWENGPU_SCOPES(atomicXor)
QWENGPU_SCOPES(atomicExch)
QWENGPU_SCOPES(atomicCAS)
QWENGPU_SCOPES(atomicInc)
QWENGPU_SCOPES(atomicDec)
#undef QWENGPU_SCOPES

// ---- Warps ----

QWENGPU_DEVICE void __syncwarp(unsigned int mask = 0xffffffff) {
  asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
}
QWENGPU_DEVICE unsigned int __activemask() {
  unsigned int mask;
  asm volatile("activemask.b32 %0;" : "=r"(mask));
  return mask;
}
QWENGPU_DEVICE int __all_sync(unsigned int mask, int p) { return __nvvm_vote_all_sync(mask, p != 0); }
QWENGPU_DEVICE int __any_sync(unsigned int mask, int p) { return __nvvm_vote_any_sync(mask, p != 0); }
QWENGPU_DEVICE int __uni_sync(unsigned int mask, int p) { return __nvvm_vote_uni_sync(mask, p != 0); }
QWENGPU_DEVICE unsigned int __ballot_sync(unsigned int mask, int p) { return __nvvm_vote_ballot_sync(mask, p != 0); }

// A value in as many words as it has.
#define QWENGPU_SHUFFLE(name, mode, unit, clamp)                                                                 \
  template <class T>                                                                                             \
  QWENGPU_DEVICE T name(unsigned int mask, T value, unit lane, int width = warpSize) {                           \
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a value of 4 or 8 bytes");                                  \
    const int c = (warpSize - width) << 8 | clamp;                                                               \
    if constexpr (sizeof(T) == 4) {                                                                              \
      return __builtin_bit_cast(T, __nvvm_shfl_sync_##mode##_i32(mask, __builtin_bit_cast(int, value), lane, c)); \
    } else {                                                                                                     \
      const unsigned long long word = __builtin_bit_cast(unsigned long long, value);                             \
      const unsigned int lo = __nvvm_shfl_sync_##mode##_i32(mask, (int)word, lane, c);                           \
      const unsigned int hi = __nvvm_shfl_sync_##mode##_i32(mask, (int)(word >> 32), lane, c);                   \
      return __builtin_bit_cast(T, (unsigned long long)hi << 32 | lo);                                           \
    }                                                                                                            \
  }
QWENGPU_SHUFFLE(__shfl_sync, idx, int, 0x1f)
QWENGPU_SHUFFLE(__shfl_up_sync, up, unsigned int, 0)
QWENGPU_SHUFFLE(__shfl_down_sync, down, unsigned int, 0x1f)
QWENGPU_SHUFFLE(__shfl_xor_sync, bfly, int, 0x1f)
#undef QWENGPU_SHUFFLE

template <class T>
QWENGPU_DEVICE unsigned int __match_any_sync(unsigned int mask, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a value of 4 or 8 bytes");
  unsigned int result;
  if constexpr (sizeof(T) == 4)
    asm volatile("match.any.sync.b32 %0, %1, %2;"
                 : "=r"(result)
                 : "r"(__builtin_bit_cast(unsigned int, value)), "r"(mask));
  else
    asm volatile("match.any.sync.b64 %0, %1, %2;"
                 : "=r"(result)
                 : "l"(__builtin_bit_cast(unsigned long long, value)), "r"(mask));
  return result;
}
template <class T>
QWENGPU_DEVICE unsigned int __match_all_sync(unsigned int mask, T value, int* p) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a value of 4 or 8 bytes");
  unsigned int result;
  int same;
  if constexpr (sizeof(T) == 4)
    asm volatile("{ .reg .pred %%same; match.all.sync.b32 %0|%%same, %2, %3; selp.s32 %1, 1, 0, %%same; }"
                 : "=r"(result), "=r"(same)
                 : "r"(__builtin_bit_cast(unsigned int, value)), "r"(mask));
  else
    asm volatile("{ .reg .pred %%same; match.all.sync.b64 %0|%%same, %2, %3; selp.s32 %1, 1, 0, %%same; }"
                 : "=r"(result), "=r"(same)
                 : "l"(__builtin_bit_cast(unsigned long long, value)), "r"(mask));
  *p = same;
  return result;
}

#define QWENGPU_REDUCE(name, op, type)                                                    \
  QWENGPU_DEVICE type name(unsigned int mask, type value) {                               \
    type result;                                                                          \
    asm volatile("redux.sync." op " %0, %1, %2;" : "=r"(result) : "r"(value), "r"(mask)); \
    return result;                                                                        \
  }
QWENGPU_REDUCE(__reduce_add_sync, "add.s32", int)
QWENGPU_REDUCE(__reduce_add_sync, "add.u32", unsigned int)
QWENGPU_REDUCE(__reduce_min_sync, "min.s32", int)
QWENGPU_REDUCE(__reduce_min_sync, "min.u32", unsigned int)
QWENGPU_REDUCE(__reduce_max_sync, "max.s32", int)
QWENGPU_REDUCE(__reduce_max_sync, "max.u32", unsigned int)
QWENGPU_REDUCE(__reduce_and_sync, "and.b32", unsigned int)
QWENGPU_REDUCE(__reduce_or_sync, "or.b32", unsigned int)
QWENGPU_REDUCE(__reduce_xor_sync, "xor.b32", unsigned int)
#undef QWENGPU_REDUCE
