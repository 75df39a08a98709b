#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>

#include "compilers.h"
#include "launch.h"

namespace qwengpu {
namespace {

using u64 = std::uint64_t;

class Threads : public Compiled {
 protected:
  const char* file() const override { return THREADS_KERNELS; }
};

Words random_words(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  Words words(count);
  for (auto& word : words) word = static_cast<std::uint32_t>(generator());
  return words;
}

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

TEST_P(Threads, TiledProduct) {
  const std::size_t n = 13;
  std::vector<float> a(n * n), b(n * n), c(n * n);
  for (std::size_t k = 0; k < n * n; ++k) {
    a[k] = static_cast<float>(k % 7) - 3;
    b[k] = static_cast<float>(k % 5) - 1;
  }
  Words x, y, right;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      right.push_back(bits(sum));
    }
  for (const float value : a) x.push_back(bits(value));
  for (const float value : b) y.push_back(bits(value));
  const auto result = Launch(kernel("tiled_product"), {2, 2, 1}, {8, 8, 1})
                          .buffer(x)
                          .buffer(y)
                          .buffer(Words(n * n))
                          .word(n)
                          .run();
  ASSERT_EQ(result.status, 0);
  EXPECT_EQ(result.buffers[2], right);
}

TEST_P(Threads, BlockSum) {
  const Words a = random_words(500, 1);
  const auto result =
      Launch(kernel("block_sum"), {2, 1, 1}, {128, 1, 1}).buffer(a).buffer(Words(1)).word(500).run();
  ASSERT_EQ(result.status, 0);
  EXPECT_EQ(result.buffers[1][0], std::accumulate(a.begin(), a.end(), 0u));
}

TEST_P(Threads, Scan) {
  const Words a = random_words(50, 2);
  const auto result =
      Launch(kernel("inclusive_scan"), {1, 1, 1}, {50, 1, 1}).buffer(a).buffer(Words(50)).run();
  ASSERT_EQ(result.status, 0);
  Words right;
  std::partial_sum(a.begin(), a.end(), std::back_inserter(right));
  EXPECT_EQ(result.buffers[1], right);
}

TEST_P(Threads, Histogram) {
  const Words a = random_words(300, 3);
  const auto result =
      Launch(kernel("histogram"), {3, 1, 1}, {40, 1, 1}).buffer(a).buffer(Words(16)).word(300).run();
  ASSERT_EQ(result.status, 0);
  Words right(16);
  for (const std::uint32_t word : a) ++right[word % 16];
  EXPECT_EQ(result.buffers[1], right);
}

TEST_P(Threads, BitonicSort) {
  const Words a = random_words(64, 4);
  const auto result = Launch(kernel("bitonic_sort"), {1, 1, 1}, {64, 1, 1}).buffer(a).run();
  ASSERT_EQ(result.status, 0);
  Words right = a;
  std::sort(right.begin(), right.end(), [](std::uint32_t x, std::uint32_t y) {
    return static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y);
  });
  EXPECT_EQ(result.buffers[0], right);
}

TEST_P(Threads, EveryAtomicOperation) {
  const std::uint32_t n = 37;
  const Words a = random_words(n, 5);
  Words c = random_words(14, 6);
  c[9] = c[10] = 3;
  c[12] = c[13] = 0;
  std::vector<u64> w(10);
  for (u64& value : w) value = u64{a[5]} << 32 | a[6];
  Words words;
  for (const u64 value : w) {
    words.push_back(static_cast<std::uint32_t>(value));
    words.push_back(static_cast<std::uint32_t>(value >> 32));
  }
  const auto result = Launch(kernel("every_atomic"), {1, 1, 1}, {n, 1, 1})
                          .buffer(a)
                          .buffer(c)
                          .buffer(words)
                          .buffer(Words(n))
                          .run();
  ASSERT_EQ(result.status, 0);
  const auto as_signed = [](auto value) { return static_cast<std::make_signed_t<decltype(value)>>(value); };
  Words old;
  for (const std::uint32_t x : a) {
    c[0] += x;
    c[1] -= x;
    c[2] = std::min(c[2], x);
    c[3] = std::max(c[3], x);
    c[4] = as_signed(x) < as_signed(c[4]) ? x : c[4];
    c[5] = as_signed(x) > as_signed(c[5]) ? x : c[5];
    c[6] &= x | 0xff;
    c[7] |= x & 0xff00ff;
    c[8] ^= x;
    c[9] = c[9] >= 6 ? 0 : c[9] + 1;
    c[10] = c[10] == 0 || c[10] > 9 ? 9 : c[10] - 1;
    c[11] = x;
    const u64 y = u64{x} << 32 | static_cast<std::uint32_t>(x * 7u);
    w[0] += y;
    w[1] -= y;
    w[2] = std::min(w[2], y);
    w[3] = std::max(w[3], y);
    w[4] = as_signed(y) < as_signed(w[4]) ? y : w[4];
    w[5] = as_signed(y) > as_signed(w[5]) ? y : w[5];
    w[6] &= y | 0xffff;
    w[7] |= y & 0xff00ff00ff;
    w[8] ^= y;
    w[9] = y;
    old.push_back(c[12] + c[13] * 1000);
    c[12] += 3;
    c[13] = c[13] >= 4 ? 0 : c[13] + 1;
  }
  // Of the last operation only one thread's word stays: here, that of the last lane of the last quad.
  EXPECT_EQ(result.buffers[1], c);
  for (std::size_t k = 0; k < w.size(); ++k)
    EXPECT_EQ(u64{result.buffers[2][2 * k + 1]} << 32 | result.buffers[2][2 * k], w[k]) << k;
  EXPECT_EQ(result.buffers[3], old);
}

TEST_P(Threads, AtomicOperationsGiveTheOldWord) {
  const std::uint32_t n = 38;
  const auto result = Launch(kernel("old_words"), {1, 1, 1}, {n, 1, 1})
                          .buffer(Words(41))
                          .buffer({0xfffffffe, 1})
                          .buffer(Words(2 * n))
                          .run();
  ASSERT_EQ(result.status, 0);
  std::uint32_t count = 5, swapped = 0;
  u64 sum = 0xfffffff0, other = 0x1fffffffe;
  for (std::uint32_t t = 0; t < n; ++t) {
    const u64 right = sum ^ other << 20;
    sum += 0x100000003;
    other += 0x80000001;
    EXPECT_EQ(u64{result.buffers[2][2 * t + 1]} << 32 | result.buffers[2][2 * t], right) << t;
    EXPECT_EQ(result.buffers[0][t], count + swapped * 1000) << t;
    count += t;
    if (swapped == t) ++swapped;
  }
  EXPECT_EQ(result.buffers[0][40], n);
}

TEST_P(Threads, LargestByCompareAndSwap) {
  Words a;
  for (int k = 0; k < 3 * 45; ++k) a.push_back(bits(static_cast<float>((k * 37) % 101)));
  const auto result = Launch(kernel("largest"), {3, 1, 1}, {45, 1, 1}).buffer(a).buffer({bits(-1)}).run();
  ASSERT_EQ(result.status, 0);
  EXPECT_EQ(result.buffers[1][0], bits(100));
}

TEST_P(Threads, FloatSumsFlushInGlobalMemoryOnly) {
  Words a;
  float sum = 0;
  for (int k = 0; k < 33; ++k) {
    const float x = static_cast<float>(k) * 1e-42f;
    a.push_back(bits(x));
    sum += x;
  }
  const auto result = Launch(kernel("sum_of_floats"), {1, 1, 1}, {33, 1, 1}).buffer(a).buffer(Words(4)).run();
  ASSERT_EQ(result.status, 0);
  EXPECT_EQ(result.buffers[1], (Words{bits(sum), 0, 0, 0}));
}

TEST_P(Threads, WordsAreReadBehindTheBarrier) {
  const std::uint32_t n = 5, threads = 33;
  const auto result = Launch(kernel("job_queue"), {2, 1, 1}, {threads, 1, 1})
                          .buffer(Words(1))
                          .buffer(Words(n * threads))
                          .word(n)
                          .run();
  ASSERT_EQ(result.status, 0);
  for (std::uint32_t job = 0; job < n; ++job)
    for (std::uint32_t t = 0; t < threads; ++t)
      EXPECT_EQ(result.buffers[1][job * threads + t], job * 100 + t);
}

TEST_P(Threads, SpinLocks) {
  const std::uint32_t n = 70;
  auto result = Launch(kernel("spin_lock"), {2, 1, 1}, {n, 1, 1}).buffer(Words(1)).buffer(Words(1)).run();
  ASSERT_EQ(result.status, 0);
  EXPECT_EQ(result.buffers[1][0], n * (n - 1));
  result = Launch(kernel("lock_in_a_branch"), {1, 1, 1}, {n, 1, 1}).buffer(Words(2)).buffer(Words(1)).run();
  ASSERT_EQ(result.status, 0);
  std::uint32_t sum = 0;
  for (std::uint32_t t = 0; t < n; ++t) sum = sum * 3 + 1;
  EXPECT_EQ(result.buffers[1][0], sum);
}

TEST_P(Threads, ThreadsWaitForLaterOnes) {
  const std::uint32_t n = 70;
  for (const char* name : {"relay", "relay_with_fence"}) {
    const auto result = Launch(kernel(name), {1, 1, 1}, {n, 1, 1}).buffer(Words(n)).buffer(Words(n)).run();
    ASSERT_EQ(result.status, 0);
    std::uint32_t right = 0;
    for (std::uint32_t t = n; t-- > 0;) {
      right += t;
      EXPECT_EQ(result.buffers[1][t], right) << name << t;
    }
  }
}

TEST_P(Threads, BarriersThatCount) {
  const std::uint32_t n = 45;
  Words a = random_words(n, 7);
  for (auto& word : a) word |= 1;
  const auto result =
      Launch(kernel("counting_barriers"), {2, 1, 1}, {n, 1, 1}).buffer(a).buffer(Words(n)).run();
  ASSERT_EQ(result.status, 0);
  std::uint32_t sum = 0;
  for (std::uint32_t k = 0; k < 4; ++k) {
    const auto ones = static_cast<std::uint32_t>(
        std::count_if(a.begin(), a.end(), [&](std::uint32_t word) { return (word >> k & 1) != 0; }));
    sum = sum * 100 + ones + (ones == n || k == 3 ? 2 : 0) + (ones != 0 && k == 2 ? 5 : 0);
  }
  EXPECT_EQ(result.buffers[1], Words(n, sum));
}

TEST_P(Threads, NamedBarriers) {
  const auto result = Launch(kernel("named_barriers"), {2, 1, 1}, {128, 1, 1}).buffer(Words(128)).run();
  ASSERT_EQ(result.status, 0);
  Words words(128), right;
  std::iota(words.begin(), words.end(), 0);
  for (std::size_t group = 0; group < 2; ++group)
    for (std::uint32_t k = 0; k < 3 + 2 * group; ++k) {
      const Words before = words;
      for (std::size_t t = 0; t < 64; ++t) words[group * 64 + t] = before[group * 64 + (t + 1) % 64] * 2 + k;
    }
  for (std::size_t t = 0; t < 128; ++t) right.push_back(words[t] + words[127 - t]);
  EXPECT_EQ(result.buffers[0], right);
}

TEST_P(Threads, ArrivingWithoutWaiting) {
  const auto result = Launch(kernel("arrivals"), {2, 1, 1}, {64, 1, 1}).buffer(Words(64)).run();
  ASSERT_EQ(result.status, 0);
  for (std::uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(result.buffers[0][t], 0u);
    const std::uint32_t maker = 31 - t;
    EXPECT_EQ(result.buffers[0][t + 32], maker * 10 * 10 + 0 * 1 + 1 * 2 + 2 * 3 + 3 * 4);
  }
}

TEST_P(Threads, ADeadlockEndsTheLaunch) {
  const auto result = Launch(kernel("deadlock"), {1, 1, 1}, {64, 1, 1}).buffer(Words(64)).run();
  EXPECT_EQ(result.status, 702);
}

TEST_P(Threads, ThreadsThatEndedAreNotWaitedFor) {
  const auto result =
      Launch(kernel("early_exits_and_barriers"), {2, 1, 1}, {50, 1, 1}).buffer(Words(50)).word(38).run();
  ASSERT_EQ(result.status, 0);
  Words right(50);
  std::fill(right.begin(), right.begin() + 38, 37 * 38 / 2);
  EXPECT_EQ(result.buffers[0], right);
}

INSTANTIATE_TEST_SUITE_P(Compilers, Threads, testing::Values("clang", "nvcc"));

}  // namespace
}  // namespace qwengpu
