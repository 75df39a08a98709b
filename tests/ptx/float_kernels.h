// Small kernels with float, as functions of a thread; as kernels.h. In the exact ones every operation is rounded as
// IEEE 754 says, on both sides, and products and sums are contracted only where they say so.
#pragma once

#include "kernels.h"

#ifndef __CUDACC__
#include <bit>
#include <cmath>
#endif

#define FLOAT_KERNELS(X)                                                                                \
  X(saxpy)                                                                                              \
  X(vector_norm) X(polynomial_float) X(mandelbrot) X(matrix_multiply_float) X(normalise) X(quotients)   \
      X(quotients_by_constants) X(roots) X(compares) X(smallest_and_largest) X(to_integers) X(to_floats) \
          X(to_long) X(roundings) X(newton) X(signs)
#define NEAR_KERNELS(X) X(black_scholes) X(softmax) X(rotate)

// Functions of the header: X(name, of x and y, of the doubles x and y, ulp, lowest x, highest x)
#define FLOAT_FUNCTIONS(X)                                                                \
  X(expf_, expf(x), exp(x), 2, -104, 89)                                                  \
  X(exp2f_, exp2f(x), exp2(x), 2, -150, 128)                                              \
  X(exp10f_, exp10f(x), pow(10, x), 3, -45, 38.5)                                         \
  X(logf_, logf(x), log(x), 1, 0, 100)                                                    \
  X(log2f_, log2f(x), log2(x), 6, 0, 100)                                                 \
  X(log10f_, log10f(x), log10(x), 2, 0, 100)                                              \
  X(sinf_, sinf(x), sin(x), 2, -1000, 1000)                                               \
  X(cosf_, cosf(x), cos(x), 2, -1000, 1000)                                               \
  X(tanf_, tanf(x), tan(x), 4, -100, 100)                                                 \
  X(tanhf_, tanhf(x), tanh(x), 2, -10, 10)                                                \
  X(powf_, powf(fabsf(x), y), pow(fabs(x), y), 16, -10, 10)                               \
  X(rsqrtf_, rsqrtf(x), 1 / sqrt(x), 2, 0, 1e6)                                           \
  X(fast_division, __fdividef(x, y), x / y, 2, -1000, 1000)                               \
  X(fast_exponential, __expf(x), exp(x), 14, -10, 10)                                     \
  X(fast_logarithm, __logf(x), log(x), 6, 2, 1e6)

#ifdef __CUDA_ARCH__
BOTH float to_float(unsigned x) { return __uint_as_float(x); }
BOTH unsigned to_bits(float x) { return x != x ? 0x7fffffff : __float_as_uint(x); }  // all NaNs are one
BOTH float smaller(float a, float b) { return fminf(a, b); }
BOTH float larger(float a, float b) { return fmaxf(a, b); }
#elif !defined(__CUDACC__)
BOTH float to_float(unsigned x) { return std::bit_cast<float>(x); }
BOTH unsigned to_bits(float x) { return x != x ? 0x7fffffff : std::bit_cast<unsigned>(x); }
// PTX ISA 9.7.3, min and max: -0 is less than +0.
BOTH float smaller(float a, float b) { return a == b ? (std::signbit(a) ? a : b) : std::fmin(a, b); }
BOTH float larger(float a, float b) { return a == b ? (std::signbit(a) ? b : a) : std::fmax(a, b); }
#endif

namespace body {

#define FLOAT(p, i) to_float((p)[i])

KERNEL(saxpy) {
  UNUSED;
  const int i = at.x();
  if (i < n) c[i] = to_bits(2.5f * FLOAT(a, i) + FLOAT(b, i));
}

KERNEL(vector_norm) {
  UNUSED;
  const int i = at.x();
  if ((i + 1) * m > n) return;
  float sum = 0;
  for (int k = 0; k < m; ++k) sum = fmaf(FLOAT(a, i * m + k), FLOAT(a, i * m + k), sum);
  c[i] = to_bits(sqrtf(sum));
}

KERNEL(polynomial_float) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  const float x = FLOAT(a, i), y = FLOAT(b, i);
  float p = 0.125f;
  p = fmaf(p, x, -1.75f);
  p = fmaf(p, -x, y);
  p = p * x - 3.1f;
  c[i] = to_bits(fmaf(p, x, -fabsf(y)));
}

KERNEL(mandelbrot) {
  UNUSED;
  const int x = at.x(), y = at.y();
  if (x >= n || y >= n) return;
  const float cx = -2.0f + 3.0f * (float)x / (float)n, cy = -1.5f + 3.0f * (float)y / (float)n;
  float u = 0, v = 0;
  int k = 0;
  while (k < 20 && u * u + v * v <= 4.0f) {
    const float t = u * u - v * v + cx;
    v = fmaf(2.0f * u, v, cy);
    u = t;
    ++k;
  }
  c[y * n + x] = (u32)k;
}

KERNEL(matrix_multiply_float) {
  UNUSED;
  const int x = at.x(), y = at.y();
  if (x >= n || y >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += FLOAT(a, y * n + k) * FLOAT(b, k * n + x);
  c[y * n + x] = to_bits(sum);
}

KERNEL(normalise) {
  UNUSED;
  const int i = at.x();
  if (3 * i + 2 >= n) return;
  const float x = FLOAT(a, 3 * i), y = FLOAT(a, 3 * i + 1), z = FLOAT(a, 3 * i + 2);
  const float length = sqrtf(x * x + y * y + z * z);
  c[3 * i] = to_bits(x / length);
  c[3 * i + 1] = to_bits(y / length);
  c[3 * i + 2] = to_bits(z / length);
}

KERNEL(quotients) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  c[2 * i] = to_bits(FLOAT(a, i) / FLOAT(b, i));
  c[2 * i + 1] = to_bits(1.0f / FLOAT(b, i));
}

KERNEL(quotients_by_constants) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  c[i] = to_bits(FLOAT(a, i) / 3.0f) ^ to_bits(FLOAT(b, i) / 0.1f) ^ to_bits(7.0f / FLOAT(b, i));
}

KERNEL(roots) {
  UNUSED;
  const int i = at.x();
  if (i < n) c[i] = to_bits(sqrtf(FLOAT(a, i)));
}

KERNEL(compares) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  const float x = FLOAT(a, i), y = FLOAT(b, i);
  u32 r = 0;
  r |= x < y ? 1 : 0;
  r |= x <= y ? 2 : 0;
  r |= x > y ? 4 : 0;
  r |= x >= y ? 8 : 0;
  r |= x == y ? 16 : 0;
  r |= x != y ? 32 : 0;
  r |= !(x < y) ? 64 : 0;
  r |= !(x >= y) ? 128 : 0;
  r |= x != x || y != y ? 256 : 0;
  r |= x < 1.5f && y > -2.0f ? 512 : 0;
  r |= fabsf(x) < fabsf(y) || x == -y ? 1024 : 0;
  if (x > y && x > 0.0f) r += 4096;
  c[i] = r;
}

KERNEL(smallest_and_largest) {
  UNUSED;
  const int i = at.x();
  if (2 * i + 1 >= n) return;
  float low = to_float(0x7f800000), high = -low;
  for (int k = 0; k < m; ++k) {
    low = smaller(low, FLOAT(a, (i + k) % n));
    high = larger(high, FLOAT(b, (i + k) % n));
  }
  c[2 * i] = to_bits(low);
  c[2 * i + 1] = to_bits(high);
}

// Within the range of the integers: outside of it C++ leaves the result open.
KERNEL(to_integers) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  const float x = FLOAT(a, i), y = FLOAT(b, i);
  u32 r = 1;
  if (fabsf(x) < 2e9f) r = (u32)(int)x;
  if (y >= 0.0f && y < 4e9f) r = r * 31 + (u32)y;
  if (fabsf(x) < 30000.0f) r = r * 31 + (u32)(int)(short)x;
  if (y >= 0.0f && y < 255.0f) r = r * 31 + (unsigned char)y;
  c[i] = r;
}

KERNEL(to_floats) {
  UNUSED;
  const int i = at.x();
  if (2 * i + 1 >= n) return;
  const u64 wide = (u64)a[i] << 32 | b[i];
  c[2 * i] = to_bits((float)(int)a[i]) ^ to_bits((float)a[i]) * 3 ^ to_bits((float)(short)b[i]) * 5;
  c[2 * i + 1] = to_bits((float)wide) ^ to_bits((float)(i64)wide) * 3 ^ to_bits((float)(i64)(wide >> (b[i] & 63))) * 5;
}

KERNEL(to_long) {
  UNUSED;
  const int i = at.x();
  if (2 * i + 1 >= n) return;
  const float x = FLOAT(a, i), y = FLOAT(b, i);
  u64 r = 0;
  if (fabsf(x) < 9e18f) r = (u64)(i64)x;
  if (y >= 0.0f && y < 1.8e19f) r ^= (u64)y * 3;
  c[2 * i] = (u32)r;
  c[2 * i + 1] = (u32)(r >> 32);
}

KERNEL(roundings) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  const float x = FLOAT(a, i);
  c[i] = to_bits(floorf(x)) ^ to_bits(ceilf(x)) * 3 ^ to_bits(truncf(x)) * 5 ^ to_bits(rintf(x)) * 7 ^
         to_bits(roundf(x)) * 11;
}

KERNEL(newton) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  const float x = fabsf(FLOAT(a, i));
  float y = 1;
  for (int k = 0; k < m; ++k) y = 0.5f * (y + x / y);
  c[i] = to_bits(y);
}

KERNEL(signs) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  const float x = FLOAT(a, i), y = FLOAT(b, i);
  c[i] = to_bits(-x * fabsf(y)) ^ to_bits(-(x - -y)) * 3 ^ to_bits(fabsf(x + y) - fabsf(x)) * 5 ^
         to_bits(fmaf(-x, y, -2.0f)) * 7;
}

// ---- Within an error ----

KERNEL(black_scholes) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  const float price = 5.0f + (float)(a[i] & 255), strike = 5.0f + (float)(b[i] & 255);
  const float years = 0.25f + (float)(a[i] >> 8 & 7), rate = 0.02f, volatility = 0.3f, root = sqrtf(years);
  const float d1 = (logf(price / strike) + (rate + 0.5f * volatility * volatility) * years) / (volatility * root);
  const float d2 = d1 - volatility * root;
  float sum = 0;
  for (int k = 0; k < 2; ++k) {
    const float d = k == 0 ? d1 : d2, t = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float p = 1.330274429f;
    p = fmaf(p, t, -1.821255978f);
    p = fmaf(p, t, 1.781477937f);
    p = fmaf(p, t, -0.356563782f);
    p = fmaf(p, t, 0.319381530f);
    float tail = 0.39894228f * expf(-0.5f * d * d) * p * t;
    if (d > 0.0f) tail = 1.0f - tail;
    sum += k == 0 ? price * tail : -strike * expf(-rate * years) * tail;
  }
  c[i] = to_bits(1.0f + sum);
}

KERNEL(softmax) {
  UNUSED;
  const int i = at.x();
  if ((i + 1) * m > n) return;
  float top = -1e30f, sum = 0;
  for (int k = 0; k < m; ++k) top = larger(top, 0.01f * (float)(a[i * m + k] & 1023));
  for (int k = 0; k < m; ++k) sum += expf(0.01f * (float)(a[i * m + k] & 1023) - top);
  for (int k = 0; k < m; ++k) c[i * m + k] = to_bits(expf(0.01f * (float)(a[i * m + k] & 1023) - top) / sum);
}

KERNEL(rotate) {
  UNUSED;
  const int i = at.x();
  if (2 * i + 1 >= n) return;
  const float angle = 0.001f * (float)(int)(a[i] & 0xffff), s = sinf(angle), t = cosf(angle);
  c[2 * i] = to_bits(10.0f + 3.0f * t - 4.0f * s);
  c[2 * i + 1] = to_bits(10.0f + 3.0f * s + 4.0f * t);
}

}  // namespace body
