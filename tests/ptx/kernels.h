// Small kernels as functions of a thread, compiled for the device by kernels.cu and for the CPU by
// execution_test.cpp. All take the same parameters: two inputs, an output, two numbers.
#pragma once

#ifdef __CUDACC__
#define BOTH __host__ __device__ inline
#define UNROLL _Pragma("unroll")
#else
#define BOTH inline
#define UNROLL
#endif

struct At {
  unsigned block_x, block_y, thread_x, thread_y, threads_x, threads_y, blocks_x, blocks_y;
  BOTH int x() const { return (int)(block_x * threads_x + thread_x); }
  BOTH int y() const { return (int)(block_y * threads_y + thread_y); }
};

#define KERNELS_UNDER_TEST(X)                                                                                \
  X(vector_add)                                                                                              \
  X(strided_sum) X(collatz) X(transpose) X(gcd) X(matrix_multiply) X(nested_loops) X(branches) X(many_cases) \
      X(prefix_sums) X(unsigned_division) X(signed_division) X(bit_count) X(bit_tricks) X(long_sum)          \
          X(long_arithmetic) X(long_compares) X(short_arithmetic) X(byte_arithmetic) X(many_predicates)      \
              X(early_return) X(vectors) X(hash) X(high_products) X(bubble_sort) X(min_max) X(stencil)       \
                  X(selects) X(prime_sieve) X(polynomial) X(long_shifts) X(floyd_warshall_row)               \
                      X(edit_distance_cell) X(binary_search) X(integer_root) X(modular_power) X(many_values) \
                          X(leading_zeros) X(structure)

namespace body {

using u32 = unsigned;
using u64 = unsigned long long;
using i64 = long long;

#ifdef __CUDA_ARCH__
BOTH u32 ones(u32 x) { return (u32)__popc(x); }
BOTH u32 long_ones(u64 x) { return (u32)__popcll(x); }
BOTH u32 zeros(u32 x) { return (u32)__clz((int)x); }
BOTH u32 long_zeros(u64 x) { return (u32)__clzll((i64)x); }
BOTH u32 first(u32 x) { return (u32)__ffs((int)x); }
BOTH u32 reversed(u32 x) { return __brev(x); }
#else
BOTH u32 ones(u32 x) { return (u32)__builtin_popcount(x); }
BOTH u32 long_ones(u64 x) { return (u32)__builtin_popcountll(x); }
BOTH u32 zeros(u32 x) { return x == 0 ? 32 : (u32)__builtin_clz(x); }
BOTH u32 long_zeros(u64 x) { return x == 0 ? 64 : (u32)__builtin_clzll(x); }
BOTH u32 first(u32 x) { return (u32)__builtin_ffs((int)x); }
BOTH u32 reversed(u32 x) {
  u32 r = 0;
  for (int k = 0; k < 32; ++k) r = r << 1 | ((x >> k) & 1);
  return r;
}
#endif

#define KERNEL(name) BOTH void name(At at, const u32* a, const u32* b, u32* c, int n, int m)
#define UNUSED (void)at, (void)a, (void)b, (void)c, (void)n, (void)m

KERNEL(vector_add) {
  UNUSED;
  const int i = at.x();
  if (i < n) c[i] = a[i] + b[i];
}

KERNEL(strided_sum) {
  UNUSED;
  u32 sum = 0;
  for (int i = at.x(); i < n; i += (int)(at.threads_x * at.blocks_x)) sum += a[i] * (u32)m;
  c[at.x()] = sum;
}

KERNEL(collatz) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  u32 x = a[i] % 1000 + 1, steps = 0;
  while (x != 1) {
    x = x % 2 ? 3 * x + 1 : x / 2;
    ++steps;
  }
  c[i] = steps;
}

KERNEL(transpose) {
  UNUSED;
  if (at.x() < n && at.y() < m) c[at.x() * m + at.y()] = a[at.y() * n + at.x()];
}

KERNEL(gcd) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  u32 x = a[i], y = b[i];
  while (y != 0) {
    const u32 rest = x % y;
    x = y;
    y = rest;
  }
  c[i] = x;
}

// n x m times m x n.
KERNEL(matrix_multiply) {
  UNUSED;
  const int row = at.y(), column = at.x();
  if (row >= n || column >= n) return;
  u32 sum = 0;
  for (int k = 0; k < m; ++k) sum += a[row * m + k] * b[k * n + column];
  c[row * n + column] = sum;
}

KERNEL(nested_loops) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  u32 result = 0;
  for (u32 x = 0; x < 9; ++x) {
    if (((a[i] >> x) & 1) == 0) continue;
    for (u32 y = 0; y < x; ++y) {
      if (((b[i] >> y) & 1) != 0) break;
      if (y == 5 && result > 40) {
        c[i] = result * 3;
        return;
      }
      result += x + y;
    }
  }
  c[i] = result;
}

KERNEL(branches) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  int x = (int)a[i];
  if (x < 0) {
    x = -x;
    if (x & 4) x += 7;
  } else if (x & 1) {
    if (x & 2)
      x *= 5;
    else
      x -= (int)b[i];
  } else {
    x ^= 0x55;
  }
  if (i % 3 == 0) x += m;
  c[i] = (u32)x;
}

KERNEL(many_cases) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  u32 result = 0;
  switch (a[i] % 11) {
    case 0:
      result = b[i];
      break;
    case 1:
      result = b[i] + 1;
      [[fallthrough]];
    case 2:
      result += 3;
      break;
    case 3:
      result = 17;
      break;
    case 4:
      result = 99;
      break;
    case 5:
      result = b[i] * b[i];
      break;
    case 7:
      return;
    case 9:
      result = ~b[i];
      break;
    default:
      result = 1234;
  }
  c[i] = result;
}

KERNEL(prefix_sums) {
  UNUSED;
  const int i = at.x();
  if (i * m + m > n) return;
  u32 sum = 0;
  for (int k = 0; k < m; ++k) {
    sum += a[i * m + k];
    c[i * m + k] = sum;
  }
}

KERNEL(unsigned_division) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  const u32 d = b[i] == 0 ? 1 : b[i];
  c[i] = a[i] / d + 3 * (a[i] % d) + a[i] / 10 + a[i] % 7;
}

KERNEL(signed_division) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  int x = (int)a[i], d = (int)b[i];
  if (d == 0 || d == -1) d = 3;
  c[i] = (u32)(x / d) + 5u * (u32)(x % d) + (u32)(x / 8) + (u32)(x % 8) + (u32)(x / -13);
}

KERNEL(bit_count) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  u32 count = 0;
  for (u32 x = a[i]; x != 0; x &= x - 1) ++count;
  c[i] = count * 100 + ones(b[i]);
}

KERNEL(bit_tricks) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  u32 x = a[i];
  const u32 lowest = x & (0 - x), rotated = (x << 7) | (x >> 25),
            swapped = x << 24 | (x & 0xff00) << 8 | ((x >> 8) & 0xff00) | x >> 24;
  x = (x & 0xaaaaaaaa) >> 1 | (x & 0x55555555) << 1;
  x ^= lowest + rotated * 3 + (swapped >> (b[i] & 31)) + ((u32)((int)a[i] >> (b[i] & 31)));
  x += (x >> 5) & 0x3ff;
  c[i] = x ^ ~(b[i] | rotated);
}

KERNEL(long_sum) {
  UNUSED;
  const int i = at.x();
  if (2 * i + 1 >= n) return;
  u64 sum = a[i];
  for (int k = 0; k < m; ++k) sum += (u64)b[(i + k) % n] * 0x1000193u;
  c[2 * i] = (u32)sum;
  c[2 * i + 1] = (u32)(sum >> 32);
}

KERNEL(long_arithmetic) {
  UNUSED;
  const int i = at.x();
  if (2 * i + 1 >= n) return;
  const i64 x = (i64)(int)a[i], y = (i64)(((u64)b[i] << 32) | a[i]);
  i64 z = (i64)((u64)x * (u64)y) - (y >> 3) + ((i64)n << 17);
  z ^= -x;
  if (z < 0) z = -z + 5;
  z = (i64)((u64)z + ((u64)y >> 40)) | (x & 0xff);
  c[2 * i] = (u32)z;
  c[2 * i + 1] = (u32)((u64)z >> 32);
}

KERNEL(long_compares) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  const i64 x = (i64)(((u64)(a[i] & 3) << 32) | b[i]) - 0x100000000ll,
            y = (i64)(((u64)(b[i] & 3) << 32) | a[i]) - 0x100000000ll;
  u32 bits = 0;
  bits |= x < y ? 1u : 0u;
  bits |= x <= y ? 2u : 0u;
  bits |= x == y ? 4u : 0u;
  bits |= x != (i64)a[i] ? 8u : 0u;
  bits |= (u64)x > (u64)y ? 16u : 0u;
  bits |= (u64)x >= (u64)y ? 32u : 0u;
  const i64 most = x > y ? x : y;
  c[i] = bits + (u32)(most >> 16);
}

KERNEL(short_arithmetic) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  short x = (short)a[i], y = (short)b[i];
  unsigned short z = (unsigned short)(a[i] * 3);
  for (int k = 0; k < (m & 7); ++k) {
    x = (short)(x * 3 + y);
    z = (unsigned short)(z + (z >> 3) + x);
    if (x < y) y = (short)(y - 100);
  }
  c[i] = (u32)(x < y) + (u32)(int)x * 5u + z + (u32)(z > 1000 ? x / 7 : y >> 2);
}

KERNEL(byte_arithmetic) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  signed char x = (signed char)a[i];
  unsigned char y = (unsigned char)b[i];
  y = (unsigned char)(y * 5 + x);
  x = (signed char)(x - y);
  c[i] = (u32)(int)x * 1000u + y + (x > 0 ? 7u : 9u);
}

// More conditions alive at once than there are predicates.
KERNEL(many_predicates) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  const u32 x = a[i], y = b[i];
  const bool p0 = x & 1, p1 = x > y, p2 = (int)x < (int)y, p3 = (x ^ y) & 8, p4 = x == y, p5 = x < 1000,
             p6 = y < 1000, p7 = (x & y) != 0, p8 = (int)(x + y) < 0, p9 = (x >> 5) & 1;
  u32 result = 0;
  for (int k = 0; k < 3; ++k) {
    if (p0 != (k == 1)) result += 1;
    if (p1 && k != 2) result += x;
    if (p2 || k == 2) result ^= y;
    if (p3) result = result * 3 + (u32)k;
    if (p4) result += 4;
    if (p5 && !p6) result += 5;
    if (p6 != p7) result ^= 0x60;
    if (p8 && p9) result += 70;
    if (p9) result += c[i];
  }
  c[i] = result + (p0 && p1 && !p2 && (p3 || p4) ? 1u : 2u);
}

KERNEL(early_return) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  for (int k = 0; k < m; ++k) {
    const u32 x = a[(i + k) % n];
    if (x % 5 == 0) {
      c[i] = (u32)k;
      return;
    }
    if (x % 7 == 0) return;
  }
  c[i] = 0xffffffff;
}

struct alignas(16) Four {
  u32 x, y, z, w;
};
KERNEL(vectors) {
  UNUSED;
  const int i = at.x();
  if (4 * i + 3 >= n) return;
  const Four v = ((const Four*)a)[i], w = ((const Four*)b)[i];
  ((Four*)c)[i] = Four{v.x + w.w, v.y - w.z, v.z ^ w.y, v.w * w.x};
}

KERNEL(hash) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  u32 h = 0x811c9dc5;
  for (int k = 0; k < 4; ++k) {
    h ^= (a[i] >> (8 * k)) & 255;
    h *= 0x01000193;
    h = (h << 13) | (h >> 19);
  }
  h ^= h >> 16;
  h *= 0x85ebca6b;
  h ^= h >> 13;
  c[i] = h;
}

KERNEL(high_products) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  const u32 high = (u32)(((u64)a[i] * b[i]) >> 32);
  const int signed_high = (int)(((i64)(int)a[i] * (int)b[i]) >> 32);
  const u64 wide = (u64)a[i] * 0x123456789abcdefull / 1000;
  c[i] = high * 3 + (u32)signed_high + (u32)wide + (u32)(wide >> 32);
}

KERNEL(bubble_sort) {
  UNUSED;
  const int i = at.x();
  if ((i + 1) * m > n) return;
  u32* row = c + i * m;
  for (int k = 0; k < m; ++k) row[k] = a[i * m + k];
  for (int last = m - 1; last > 0; --last) {
    bool changed = false;
    for (int k = 0; k < last; ++k)
      if (row[k] > row[k + 1]) {
        const u32 t = row[k];
        row[k] = row[k + 1];
        row[k + 1] = t;
        changed = true;
      }
    if (!changed) break;
  }
}

KERNEL(min_max) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  int low = 0x7fffffff, high = -0x7fffffff - 1;
  u32 most = 0;
  for (int k = 0; k < m; ++k) {
    const int x = (int)a[(i * 3 + k) % n];
    low = x < low ? x : low;
    high = x > high ? x : high;
    most = (u32)x > most ? (u32)x : most;
  }
  c[i] = (u32)low * 3u + (u32)high * 5u + most + (u32)(low < 0 ? -low : low);
}

KERNEL(stencil) {
  UNUSED;
  const int x = at.x(), y = at.y();
  if (x < 1 || y < 1 || x >= n - 1 || y >= m - 1) return;
  c[y * n + x] =
      4 * a[y * n + x] - a[y * n + x - 1] - a[y * n + x + 1] - a[(y - 1) * n + x] - a[(y + 1) * n + x];
}

KERNEL(selects) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  const u32 x = a[i] > 100 ? 5 : 9, y = (int)b[i] < 0 ? 0 : b[i], z = a[i] & 1 ? x : y, w = i == m ? 1 : 0;
  c[i] = x + y * 3 + z * 7 + w * 1000 + (a[i] == b[i]);
}

KERNEL(prime_sieve) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  const u32 x = a[i] % 2000;
  u32 divisor = 2;
  while (divisor * divisor <= x && x % divisor != 0) ++divisor;
  c[i] = x > 1 && divisor * divisor > x;
}

KERNEL(polynomial) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  const u32 x = a[i];
  c[i] = ((((3 * x + 5) * x - 7) * x + b[i]) * x - b[i] * 4) * x + 11;
}

KERNEL(long_shifts) {
  UNUSED;
  const int i = at.x();
  if (2 * i + 1 >= n) return;
  const u64 x = ((u64)b[i] << 32) | a[i];
  const u32 s = b[2 * i] & 63;
  const u64 y = (x << s) ^ (x >> s) ^ (u64)((i64)x >> s) ^ ((x << 1) | (x >> 63));
  c[2 * i] = (u32)y;
  c[2 * i + 1] = (u32)(y >> 32);
}

KERNEL(floyd_warshall_row) {
  UNUSED;
  const int x = at.x(), y = at.y();
  if (x >= n || y >= n) return;
  u32 best = a[y * n + x];
  for (int k = 0; k < n; ++k) {
    const u32 way = (a[y * n + k] & 0xffff) + (a[k * n + x] & 0xffff);
    if (way < best) best = way;
  }
  c[y * n + x] = best;
}

KERNEL(edit_distance_cell) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  u32 row[4] = {0, 1, 2, 3};
  for (u32 y = 1; y <= 3; ++y) {
    u32 diagonal = row[0];
    row[0] = y;
    for (u32 x = 1; x <= 3; ++x) {
      const u32 cost = ((a[i] >> (2 * x)) & 3) == ((b[i] >> (2 * y)) & 3) ? 0 : 1;
      u32 best = diagonal + cost;
      if (row[x] + 1 < best) best = row[x] + 1;
      if (row[x - 1] + 1 < best) best = row[x - 1] + 1;
      diagonal = row[x];
      row[x] = best;
    }
  }
  c[i] = row[3];
}

KERNEL(binary_search) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  int low = 0, high = m;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (7 * (u32)middle < (a[i] & 255))
      low = middle + 1;
    else
      high = middle;
  }
  c[i] = (u32)low;
}

KERNEL(integer_root) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  u32 x = a[i], root = 0, bit = 1u << 30;
  while (bit > x) bit >>= 2;
  while (bit != 0) {
    if (x >= root + bit) {
      x -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
    bit >>= 2;
  }
  c[i] = root;
}

KERNEL(modular_power) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  const u32 modulus = 10007;
  u32 base = a[i] % modulus, exponent = b[i] & 1023, result = 1;
  while (exponent != 0) {
    if (exponent & 1) result = result * base % modulus;
    base = base * base % modulus;
    exponent >>= 1;
  }
  c[i] = result;
}

// More values alive at once than the smallest register class holds.
KERNEL(many_values) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  u32 v[24];
  UNROLL
  for (int k = 0; k < 24; ++k) v[k] = a[(i + k) % n];
  UNROLL
  for (int k = 0; k < 24; ++k) v[k] = v[k] * v[(k + 5) % 24] + v[(k * 7 + 3) % 24];
  u32 sum = 0;
  UNROLL
  for (int k = 23; k >= 0; --k) sum = sum * 31 + v[k];
  c[i] = sum;
}

KERNEL(leading_zeros) {
  UNUSED;
  const int i = at.x();
  if (i >= n) return;
  const u32 x = a[i] >> (b[i] & 31);
  const u64 y = ((u64)x << 32 | a[i]) >> (b[i] & 31);
  c[i] = zeros(x) + 100u * first(x) + 10000u * long_zeros(y) + long_ones(y) * 1000000u + reversed(a[i]);
}

struct Point {
  int x, y;
  BOTH Point operator+(Point other) const { return {x + other.x, y + other.y}; }
};
KERNEL(structure) {
  UNUSED;
  const int i = at.x();
  if (2 * i + 1 >= n) return;
  const Point* p = (const Point*)a;
  Point sum = {m, n};
  for (int k = 0; k <= i % 5; ++k) sum = sum + p[k];
  ((Point*)c)[i] = sum;
}

}  // namespace body
