// What CUDA C++ expects to find declared, for clang with no NVIDIA toolkit installed. Included before every .cu file.
// Device functions are either clang builtins or plain C++ over them; nothing here needs a device library.
#pragma once

#define __CUDACC__ 1

#if __has_include(<stdlib.h>)
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#endif
#include <stddef.h>

#undef __noinline__
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __inline_hint__ inline
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))
#define CUDART_VERSION 12000
#define CUDART_CB

// ---- Vector types (CUDA C++ Programming Guide, built-in vector types) ----

#define QWENGPU_VECTOR(type, name, alignment2, alignment4)                                                  \
  struct name##1 { type x; };                                                                               \
  struct __attribute__((aligned(alignment2))) name##2 { type x, y; };                                       \
  struct name##3 { type x, y, z; };                                                                         \
  struct __attribute__((aligned(alignment4))) name##4 { type x, y, z, w; };                                 \
  static inline __host__ __device__ name##1 make_##name##1(type x) { return {x}; }                          \
  static inline __host__ __device__ name##2 make_##name##2(type x, type y) { return {x, y}; }               \
  static inline __host__ __device__ name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }    \
  static inline __host__ __device__ name##4 make_##name##4(type x, type y, type z, type w) {                \
    return {x, y, z, w};                                                                                    \
  }
QWENGPU_VECTOR(signed char, char, 2, 4)
QWENGPU_VECTOR(unsigned char, uchar, 2, 4)
QWENGPU_VECTOR(short, short, 4, 8)
QWENGPU_VECTOR(unsigned short, ushort, 4, 8)
QWENGPU_VECTOR(int, int, 8, 16)
QWENGPU_VECTOR(unsigned int, uint, 8, 16)
QWENGPU_VECTOR(long, long, 16, 16)
QWENGPU_VECTOR(unsigned long, ulong, 16, 16)
QWENGPU_VECTOR(long long, longlong, 16, 16)
QWENGPU_VECTOR(unsigned long long, ulonglong, 16, 16)
QWENGPU_VECTOR(float, float, 8, 16)
QWENGPU_VECTOR(double, double, 16, 16)
#undef QWENGPU_VECTOR

struct dim3 {
  unsigned int x, y, z;
  __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return {x, y, z}; }
};

// nodebug: the listing shows the line of the call, not of this header.
#define QWENGPU_DEVICE static __device__ __attribute__((always_inline, nodebug)) inline
#define QWENGPU_BOTH static __host__ __device__ __attribute__((always_inline, nodebug)) inline

// ---- Built-in variables: reading a member reads a special register ----

#define QWENGPU_INDEX(name)                                                                     \
  struct qwengpu_##name##_t {                                                                   \
    __declspec(property(get = get_x)) unsigned int x;                                           \
    __declspec(property(get = get_y)) unsigned int y;                                           \
    __declspec(property(get = get_z)) unsigned int z;                                           \
    QWENGPU_DEVICE unsigned int get_x() { return __nvvm_read_ptx_sreg_##name##_x(); } \
    QWENGPU_DEVICE unsigned int get_y() { return __nvvm_read_ptx_sreg_##name##_y(); } \
    QWENGPU_DEVICE unsigned int get_z() { return __nvvm_read_ptx_sreg_##name##_z(); } \
    __device__ operator dim3() const { return dim3(get_x(), get_y(), get_z()); }                \
    __device__ operator uint3() const { return {get_x(), get_y(), get_z()}; }                   \
  };
QWENGPU_INDEX(tid)
QWENGPU_INDEX(ctaid)
QWENGPU_INDEX(ntid)
QWENGPU_INDEX(nctaid)
#undef QWENGPU_INDEX
extern const __device__ __attribute__((weak)) qwengpu_tid_t threadIdx;
extern const __device__ __attribute__((weak)) qwengpu_ctaid_t blockIdx;
extern const __device__ __attribute__((weak)) qwengpu_ntid_t blockDim;
extern const __device__ __attribute__((weak)) qwengpu_nctaid_t gridDim;
static constexpr int warpSize = 32;

// ---- Integer functions ----

#define QWENGPU_MIN_MAX(type)                                          \
  QWENGPU_BOTH type min(type a, type b) { return a < b ? a : b; }      \
  QWENGPU_BOTH type max(type a, type b) { return a > b ? a : b; }
QWENGPU_MIN_MAX(int)
QWENGPU_MIN_MAX(unsigned int)
QWENGPU_MIN_MAX(long)
QWENGPU_MIN_MAX(unsigned long)
QWENGPU_MIN_MAX(long long)
QWENGPU_MIN_MAX(unsigned long long)
#undef QWENGPU_MIN_MAX
QWENGPU_BOTH unsigned int min(int a, unsigned int b) { return min((unsigned int)a, b); }
QWENGPU_BOTH unsigned int min(unsigned int a, int b) { return min(a, (unsigned int)b); }
QWENGPU_BOTH unsigned int max(int a, unsigned int b) { return max((unsigned int)a, b); }
QWENGPU_BOTH unsigned int max(unsigned int a, int b) { return max(a, (unsigned int)b); }

QWENGPU_DEVICE int abs(int a) { return a < 0 ? -a : a; }
QWENGPU_DEVICE long abs(long a) { return a < 0 ? -a : a; }
QWENGPU_DEVICE long long abs(long long a) { return a < 0 ? -a : a; }
QWENGPU_DEVICE long labs(long a) { return a < 0 ? -a : a; }
QWENGPU_DEVICE long long llabs(long long a) { return a < 0 ? -a : a; }

QWENGPU_DEVICE int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
QWENGPU_DEVICE unsigned int __umulhi(unsigned int a, unsigned int b) {
  return (unsigned int)(((unsigned long long)a * b) >> 32);
}
QWENGPU_DEVICE int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
QWENGPU_DEVICE unsigned int __umul24(unsigned int a, unsigned int b) { return (a & 0xffffff) * (b & 0xffffff); }
QWENGPU_DEVICE int __popc(unsigned int a) { return __builtin_popcount(a); }
QWENGPU_DEVICE int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
QWENGPU_DEVICE int __clz(int a) { return a == 0 ? 32 : __builtin_clz((unsigned int)a); }
QWENGPU_DEVICE int __clzll(long long a) { return a == 0 ? 64 : __builtin_clzll((unsigned long long)a); }
QWENGPU_DEVICE int __ffs(int a) { return __builtin_ffs(a); }
QWENGPU_DEVICE unsigned int __brev(unsigned int a) { return __builtin_bitreverse32(a); }
QWENGPU_DEVICE unsigned int __funnelshift_l(unsigned int lo, unsigned int hi, unsigned int shift) {
  return (unsigned int)(((((unsigned long long)hi << 32) | lo) << (shift & 31)) >> 32);
}
QWENGPU_DEVICE unsigned int __funnelshift_r(unsigned int lo, unsigned int hi, unsigned int shift) {
  return (unsigned int)((((unsigned long long)hi << 32) | lo) >> (shift & 31));
}
template <class T>
QWENGPU_DEVICE T __ldg(const T* p) { return *p; }

// ---- Floating point ----

QWENGPU_DEVICE int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
QWENGPU_DEVICE unsigned int __float_as_uint(float a) { return __builtin_bit_cast(unsigned int, a); }
QWENGPU_DEVICE float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
QWENGPU_DEVICE float __uint_as_float(unsigned int a) { return __builtin_bit_cast(float, a); }
QWENGPU_DEVICE float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
QWENGPU_DEVICE float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
QWENGPU_DEVICE float min(float a, float b) { return __nvvm_fmin_f(a, b); }
QWENGPU_DEVICE float max(float a, float b) { return __nvvm_fmax_f(a, b); }
QWENGPU_DEVICE float fabsf(float a) { return __nvvm_fabs_f(a); }
QWENGPU_DEVICE float abs(float a) { return __nvvm_fabs_f(a); }
QWENGPU_DEVICE float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
QWENGPU_DEVICE float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
QWENGPU_DEVICE float floorf(float a) { return __nvvm_floor_f(a); }
QWENGPU_DEVICE float ceilf(float a) { return __nvvm_ceil_f(a); }
QWENGPU_DEVICE float truncf(float a) { return __nvvm_trunc_f(a); }

// ---- Synchronisation and atomics ----

// __syncthreads() is a builtin of clang's.
QWENGPU_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
QWENGPU_DEVICE void __threadfence() { __nvvm_membar_gl(); }
QWENGPU_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }

#define QWENGPU_ATOMIC(type)                                                                                       \
  QWENGPU_DEVICE type atomicAdd(type* p, type v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }            \
  QWENGPU_DEVICE type atomicSub(type* p, type v) { return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED); }            \
  QWENGPU_DEVICE type atomicMin(type* p, type v) { return __atomic_fetch_min(p, v, __ATOMIC_RELAXED); }            \
  QWENGPU_DEVICE type atomicMax(type* p, type v) { return __atomic_fetch_max(p, v, __ATOMIC_RELAXED); }            \
  QWENGPU_DEVICE type atomicAnd(type* p, type v) { return __atomic_fetch_and(p, v, __ATOMIC_RELAXED); }            \
  QWENGPU_DEVICE type atomicOr(type* p, type v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }              \
  QWENGPU_DEVICE type atomicXor(type* p, type v) { return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED); }            \
  QWENGPU_DEVICE type atomicExch(type* p, type v) { return __atomic_exchange_n(p, v, __ATOMIC_RELAXED); }          \
  QWENGPU_DEVICE type atomicCAS(type* p, type compare, type v) {                                                   \
    __atomic_compare_exchange_n(p, &compare, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);                        \
    return compare;                                                                                                \
  }
QWENGPU_ATOMIC(int)
QWENGPU_ATOMIC(unsigned int)
QWENGPU_ATOMIC(unsigned long long)
#undef QWENGPU_ATOMIC
QWENGPU_DEVICE float atomicAdd(float* p, float v) { return __nvvm_atom_add_gen_f(p, v); }

// ---- What host headers declare and device code may name ----

extern "C" {
__device__ int printf(const char*, ...);
__device__ void* malloc(size_t);
__device__ void free(void*);
__device__ __attribute__((noreturn)) void __assert_fail(const char*, const char*, unsigned int, const char*);
}

#undef QWENGPU_DEVICE
#undef QWENGPU_BOTH

#include <cuda_runtime.h>
