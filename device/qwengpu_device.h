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
#define __noinline__  // there are no calls
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
QWENGPU_DEVICE unsigned int __funnelshift_lc(unsigned int lo, unsigned int hi, unsigned int shift) {
  return shift >= 32 ? lo : __funnelshift_l(lo, hi, shift);
}
QWENGPU_DEVICE unsigned int __funnelshift_rc(unsigned int lo, unsigned int hi, unsigned int shift) {
  return shift >= 32 ? hi : __funnelshift_r(lo, hi, shift);
}
QWENGPU_DEVICE int __ffsll(long long a) { return __builtin_ffsll(a); }
QWENGPU_DEVICE unsigned long long __brevll(unsigned long long a) { return __builtin_bitreverse64(a); }
QWENGPU_DEVICE long long __mul64hi(long long a, long long b) { return (long long)(((__int128)a * b) >> 64); }
QWENGPU_DEVICE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
QWENGPU_DEVICE unsigned int __sad(int a, int b, unsigned int c) {
  return c + (a < b ? (unsigned int)b - (unsigned int)a : (unsigned int)a - (unsigned int)b);
}
QWENGPU_DEVICE unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) { return c + (a < b ? b - a : a - b); }
QWENGPU_DEVICE int __hadd(int a, int b) { return (a & b) + ((a ^ b) >> 1); }
QWENGPU_DEVICE int __rhadd(int a, int b) { return (a | b) - ((a ^ b) >> 1); }
QWENGPU_DEVICE unsigned int __uhadd(unsigned int a, unsigned int b) { return (a & b) + ((a ^ b) >> 1); }
QWENGPU_DEVICE unsigned int __urhadd(unsigned int a, unsigned int b) { return (a | b) - ((a ^ b) >> 1); }
QWENGPU_DEVICE unsigned int __byte_perm(unsigned int a, unsigned int b, unsigned int selector) {
  unsigned int d;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(selector));
  return d;
}
#define QWENGPU_DOT(name, op, type_a, type_b)                                                                    \
  QWENGPU_DEVICE type_a name(type_a a, type_b b, type_a c) {                                                     \
    type_a d;                                                                                                    \
    asm(op " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));                                               \
    return d;                                                                                                    \
  }
QWENGPU_DOT(__dp4a, "dp4a.s32.s32", int, int)
QWENGPU_DOT(__dp4a, "dp4a.u32.u32", unsigned int, unsigned int)
QWENGPU_DOT(__dp2a_lo, "dp2a.lo.s32.s32", int, int)
QWENGPU_DOT(__dp2a_lo, "dp2a.lo.u32.u32", unsigned int, unsigned int)
QWENGPU_DOT(__dp2a_hi, "dp2a.hi.s32.s32", int, int)
QWENGPU_DOT(__dp2a_hi, "dp2a.hi.u32.u32", unsigned int, unsigned int)
#undef QWENGPU_DOT

// Loads and stores with cache hints; there is no cache.
#define QWENGPU_CACHED(load) \
  template <class T>         \
  QWENGPU_DEVICE T load(const T* p) { return *p; }
QWENGPU_CACHED(__ldg)
QWENGPU_CACHED(__ldca)
QWENGPU_CACHED(__ldcg)
QWENGPU_CACHED(__ldcs)
QWENGPU_CACHED(__ldlu)
QWENGPU_CACHED(__ldcv)
#undef QWENGPU_CACHED
#define QWENGPU_CACHED(store) \
  template <class T>          \
  QWENGPU_DEVICE void store(T* p, T value) { *p = value; }
QWENGPU_CACHED(__stwb)
QWENGPU_CACHED(__stcg)
QWENGPU_CACHED(__stcs)
QWENGPU_CACHED(__stwt)
#undef QWENGPU_CACHED

// ---- Floating point ----
// What is marked exact is rounded as IEEE 754 says. Errors are of the last place (ulp), measured over the whole range
// unless a range is given. Double precision is declared only, so that its use is told.

QWENGPU_DEVICE int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
QWENGPU_DEVICE unsigned int __float_as_uint(float a) { return __builtin_bit_cast(unsigned int, a); }
QWENGPU_DEVICE float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
QWENGPU_DEVICE float __uint_as_float(unsigned int a) { return __builtin_bit_cast(float, a); }

// Exact.
QWENGPU_DEVICE float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
QWENGPU_DEVICE float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
QWENGPU_DEVICE float min(float a, float b) { return __nvvm_fmin_f(a, b); }
QWENGPU_DEVICE float max(float a, float b) { return __nvvm_fmax_f(a, b); }
QWENGPU_DEVICE float fabsf(float a) { return __nvvm_fabs_f(a); }
QWENGPU_DEVICE float abs(float a) { return __nvvm_fabs_f(a); }
QWENGPU_DEVICE float copysignf(float a, float sign) {
  return __int_as_float((__float_as_int(a) & 0x7fffffff) | (__float_as_int(sign) & (int)0x80000000));
}
QWENGPU_DEVICE float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
QWENGPU_DEVICE float fdimf(float a, float b) { return a <= b ? 0.0f : a - b; }
QWENGPU_DEVICE float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
QWENGPU_DEVICE float floorf(float a) { return __nvvm_floor_f(a); }
QWENGPU_DEVICE float ceilf(float a) { return __nvvm_ceil_f(a); }
QWENGPU_DEVICE float truncf(float a) { return __nvvm_trunc_f(a); }
QWENGPU_DEVICE float rintf(float a) { return __builtin_rintf(a); }
QWENGPU_DEVICE float nearbyintf(float a) { return __builtin_rintf(a); }
QWENGPU_DEVICE float roundf(float a) { return __nvvm_trunc_f(a + copysignf(0.49999997f, a)); }
QWENGPU_DEVICE bool isnan(float a) { return a != a; }
QWENGPU_DEVICE bool isinf(float a) { return fabsf(a) == __builtin_inff(); }
QWENGPU_DEVICE bool isfinite(float a) { return fabsf(a) < __builtin_inff(); }
QWENGPU_DEVICE bool signbit(float a) { return __float_as_int(a) < 0; }
QWENGPU_DEVICE float __saturatef(float a) { return __nvvm_saturate_f(a); }
#define QWENGPU_ROUNDED(rounding, suffix)                                                                        \
  QWENGPU_DEVICE float __fadd_##suffix(float a, float b) { return __nvvm_add_##rounding##_f(a, b); }             \
  QWENGPU_DEVICE float __fsub_##suffix(float a, float b) { return __nvvm_add_##rounding##_f(a, -b); }            \
  QWENGPU_DEVICE float __fmul_##suffix(float a, float b) { return __nvvm_mul_##rounding##_f(a, b); }             \
  QWENGPU_DEVICE float __fmaf_##suffix(float a, float b, float c) { return __nvvm_fma_##rounding##_f(a, b, c); } \
  QWENGPU_DEVICE int __float2int_##suffix(float a) { return __nvvm_f2i_##rounding(a); }                          \
  QWENGPU_DEVICE unsigned int __float2uint_##suffix(float a) { return __nvvm_f2ui_##rounding(a); }               \
  QWENGPU_DEVICE long long __float2ll_##suffix(float a) { return __nvvm_f2ll_##rounding(a); }                    \
  QWENGPU_DEVICE unsigned long long __float2ull_##suffix(float a) { return __nvvm_f2ull_##rounding(a); }         \
  QWENGPU_DEVICE float __int2float_##suffix(int a) { return __nvvm_i2f_##rounding(a); }                          \
  QWENGPU_DEVICE float __uint2float_##suffix(unsigned int a) { return __nvvm_ui2f_##rounding(a); }               \
  QWENGPU_DEVICE float __ll2float_##suffix(long long a) { return __nvvm_ll2f_##rounding(a); }                    \
  QWENGPU_DEVICE float __ull2float_##suffix(unsigned long long a) { return __nvvm_ull2f_##rounding(a); }
QWENGPU_ROUNDED(rn, rn)
QWENGPU_ROUNDED(rz, rz)
QWENGPU_ROUNDED(rm, rd)
QWENGPU_ROUNDED(rp, ru)
#undef QWENGPU_ROUNDED
QWENGPU_DEVICE float __fdiv_rn(float a, float b) { return __nvvm_div_rn_f(a, b); }
QWENGPU_DEVICE float __frcp_rn(float a) { return __nvvm_rcp_rn_f(a); }
QWENGPU_DEVICE float __fsqrt_rn(float a) { return __nvvm_sqrt_rn_f(a); }
QWENGPU_DEVICE int lrintf(float a) { return __nvvm_f2i_rn(a); }

// PTX approximations: rsqrt 2 ulp, division 2 ulp, ex2 2 ulp, lg2 6 ulp; sin and cos 2^-20.5 absolute up to 2 pi.
QWENGPU_DEVICE float rsqrtf(float a) { return __nvvm_rsqrt_approx_f(a); }
QWENGPU_DEVICE float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
QWENGPU_DEVICE float exp2f(float a) { return __nvvm_ex2_approx_f(a); }
QWENGPU_DEVICE float log2f(float a) { return __nvvm_lg2_approx_f(a); }
QWENGPU_DEVICE float __log2f(float a) { return __nvvm_lg2_approx_f(a); }
QWENGPU_DEVICE float __sinf(float a) { return __nvvm_sin_approx_f(a); }
QWENGPU_DEVICE float __cosf(float a) { return __nvvm_cos_approx_f(a); }
// Over those. __expf: 2 + 1.2 |a| ulp. __powf: the error of log2(a), times b.
QWENGPU_DEVICE float __expf(float a) { return __nvvm_ex2_approx_f(a * 1.44269504f); }
QWENGPU_DEVICE float __exp10f(float a) { return __nvvm_ex2_approx_f(a * 3.32192809f); }
QWENGPU_DEVICE float __logf(float a) { return __nvvm_lg2_approx_f(a) * 0.693147181f; }
QWENGPU_DEVICE float __log10f(float a) { return __nvvm_lg2_approx_f(a) * 0.301029996f; }
QWENGPU_DEVICE float __powf(float a, float b) { return __nvvm_ex2_approx_f(b * __nvvm_lg2_approx_f(a)); }
QWENGPU_DEVICE float __tanf(float a) {
  return __nvvm_div_approx_f(__nvvm_sin_approx_f(a), __nvvm_cos_approx_f(a));
}
QWENGPU_DEVICE void __sincosf(float a, float* s, float* c) {
  *s = __sinf(a);
  *c = __cosf(a);
}

// 2^(hi + lo), lo small.
QWENGPU_DEVICE float qwengpu_exp2(float hi, float lo) {
  const float r = __nvvm_ex2_approx_f(hi);
  return hi > -160.0f && hi < 128.0f ? fmaf(r, lo * 0.693147181f, r) : r;
}
// 2 ulp. The rounding of the product a / ln 2 is put into the small part.
QWENGPU_DEVICE float expf(float a) {
  const float hi = __nvvm_mul_rn_f(a, 1.44269502f);
  return qwengpu_exp2(hi, fmaf(a, 1.92596303e-8f, fmaf(a, 1.44269502f, -hi)));
}
QWENGPU_DEVICE float exp10f(float a) {
  const float hi = __nvvm_mul_rn_f(a, 3.32192802f);
  return qwengpu_exp2(hi, fmaf(a, 7.05960334e-8f, fmaf(a, 3.32192802f, -hi)));
}

// a = 2^n m with m from 2/3 to 4/3, for positive finite numbers.
struct qwengpu_split {
  float n, m;
};
QWENGPU_DEVICE qwengpu_split qwengpu_split_number(float a) {
  const bool small = a < 1.17549435e-38f;
  const int bits = __float_as_int(small ? a * 8388608.0f : a), e = (bits - 0x3f2aaaab) >> 23;
  return {(float)(small ? e - 23 : e), __int_as_float(bits - (e << 23))};
}
// (ln(1 + f) - f + f^2 / 2) / f^3
QWENGPU_DEVICE float qwengpu_log_tail(float f) {
  const float s = f * f;
  float even = fmaf(-0.130310059f, s, -0.121483512f), odd = fmaf(0.140869141f, s, 0.139814854f);
  even = fmaf(even, s, -0.166846126f);
  odd = fmaf(odd, s, 0.200120345f);
  even = fmaf(even, s, -0.249996200f);
  return fmaf(fmaf(odd, f, even), f, 0.333331972f);
}
// 1 ulp.
QWENGPU_DEVICE float logf(float a) {
  if (!(a > 0.0f && a < __builtin_inff())) return a == 0.0f ? -__builtin_inff() : a < 0.0f ? __builtin_nanf("") : a + a;
  const qwengpu_split x = qwengpu_split_number(a);
  const float f = x.m - 1.0f;
  const float r = fmaf(fmaf(qwengpu_log_tail(f), f, -0.5f), f * f, f);
  return fmaf(x.n, 0.693147182f, r);
}
// 2 ulp.
QWENGPU_DEVICE float log10f(float a) { return logf(a) * 0.434294482f; }

// 16 ulp. a^b = 2^(b log2 |a|), the logarithm as a sum of two numbers.
QWENGPU_DEVICE float powf(float a, float b) {
  const float x = fabsf(a);
  if (a == 1.0f || b == 0.0f || (x == 1.0f && isinf(b))) return 1.0f;
  float hi = x == 0.0f ? -__builtin_inff() : x, lo = 0.0f;
  if (x > 0.0f && x < __builtin_inff()) {
    const qwengpu_split s = qwengpu_split_number(x);
    const float f = s.m - 1.0f, first = __nvvm_mul_rn_f(f, 1.44269502f), sum = s.n + first;
    const float tail = fmaf(qwengpu_log_tail(f), f, -0.5f) * (f * f);
    lo = first - (sum - s.n) + fmaf(f, 1.44269502f, -first) + fmaf(f, 1.92596303e-8f, tail * 1.44269504f);
    hi = sum + lo;
    lo = sum - hi + lo;
  }
  const float y = __nvvm_mul_rn_f(b, hi);
  float r = qwengpu_exp2(y, fmaf(b, lo, fmaf(b, hi, -y)));
  if (signbit(a) && !isnan(a)) {
    const float half = 0.5f * b;
    if (truncf(b) != b) {
      if (a != 0.0f && !isinf(a)) r = __builtin_nanf("");
    } else if (truncf(half) != half) {
      r = -r;
    }
  }
  return r;
}

// a = n pi / 2 + r, for |a| up to 10^5.
QWENGPU_DEVICE float qwengpu_quadrant(float a, int* n) {
  const float j = rintf(a * 0.636619747f);
  *n = __nvvm_f2i_rn(j);
  const float r = fmaf(j, -3.13916473e-7f, fmaf(j, -1.57079601e+0f, a));
  return fmaf(j, -5.39030253e-15f, r);
}
QWENGPU_DEVICE float qwengpu_sin(float r) {
  const float s = r * r;
  float p = fmaf(2.86567956e-6f, s, -1.98559923e-4f);
  p = fmaf(p, s, 8.33338592e-3f);
  p = fmaf(p, s, -1.66666672e-1f);
  return fmaf(p, r * s, r);
}
QWENGPU_DEVICE float qwengpu_cos(float r) {
  const float s = r * r;
  float p = fmaf(2.44677067e-5f, s, -1.38877297e-3f);
  p = fmaf(p, s, 4.16666567e-2f);
  p = fmaf(p, s, -0.5f);
  return fmaf(p, s, 1.0f);
}
// 2 ulp for |a| up to 10^5.
QWENGPU_DEVICE float sinf(float a) {
  int n;
  const float r = qwengpu_quadrant(a, &n), y = n & 1 ? qwengpu_cos(r) : qwengpu_sin(r);
  return n & 2 ? -y : y;
}
QWENGPU_DEVICE float cosf(float a) {
  int n;
  const float r = qwengpu_quadrant(a, &n), y = n & 1 ? qwengpu_sin(r) : qwengpu_cos(r);
  return (n + 1) & 2 ? -y : y;
}
QWENGPU_DEVICE void sincosf(float a, float* s, float* c) {
  int n;
  const float r = qwengpu_quadrant(a, &n), x = qwengpu_sin(r), y = qwengpu_cos(r);
  const float of_sin = n & 1 ? y : x, of_cos = n & 1 ? x : y;
  *s = n & 2 ? -of_sin : of_sin;
  *c = (n + 1) & 2 ? -of_cos : of_cos;
}
// 4 ulp for |a| up to 10^5.
QWENGPU_DEVICE float tanf(float a) {
  int n;
  const float r = qwengpu_quadrant(a, &n), x = qwengpu_sin(r), y = qwengpu_cos(r);
  return __nvvm_div_approx_f(n & 1 ? -y : x, n & 1 ? x : y);
}
// 2 ulp.
QWENGPU_DEVICE float tanhf(float a) {
  if (fabsf(a) >= 0.55f) {
    const float r = 1.0f - __nvvm_div_approx_f(2.0f, expf(2.0f * fabsf(a)) + 1.0f);
    return copysignf(r, a);
  }
  const float s = a * a;
  float p = fmaf(1.57394409e-2f, s, -5.23025766e-2f);
  p = fmaf(p, s, 1.33152366e-1f);
  p = fmaf(p, s, -3.33327681e-1f);
  return fmaf(p * s, a, a);
}

// The names without f, for float.
#define QWENGPU_ONE(name)                                   \
  QWENGPU_DEVICE float name(float a) { return name##f(a); } \
  __device__ double name(double);
#define QWENGPU_TWO(name)                                               \
  QWENGPU_DEVICE float name(float a, float b) { return name##f(a, b); } \
  __device__ double name(double, double);
QWENGPU_ONE(sqrt)
QWENGPU_ONE(rsqrt)
QWENGPU_ONE(fabs)
QWENGPU_ONE(floor)
QWENGPU_ONE(ceil)
QWENGPU_ONE(trunc)
QWENGPU_ONE(rint)
QWENGPU_ONE(round)
QWENGPU_ONE(exp)
QWENGPU_ONE(exp2)
QWENGPU_ONE(log)
QWENGPU_ONE(log2)
QWENGPU_ONE(log10)
QWENGPU_ONE(sin)
QWENGPU_ONE(cos)
QWENGPU_ONE(tan)
QWENGPU_ONE(tanh)
QWENGPU_TWO(pow)
QWENGPU_TWO(fmin)
QWENGPU_TWO(fmax)
#undef QWENGPU_ONE
#undef QWENGPU_TWO

#include <qwengpu_threads.h>

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
