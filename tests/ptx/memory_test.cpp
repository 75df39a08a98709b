#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>

#include "compilers.h"
#include "launch.h"

namespace qwengpu {
namespace {

class Memory : public Compiled {
 protected:
  const char* file() const override { return MEMORY_KERNELS; }
};

Words random_words(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  Words words(count);
  for (auto& word : words) word = static_cast<std::uint32_t>(generator());
  return words;
}

template <class T>
std::vector<T> as(const Words& words) {
  std::vector<T> values(4 * words.size() / sizeof(T));
  std::memcpy(values.data(), words.data(), 4 * words.size());
  return values;
}
template <class T>
Words words_of(const std::vector<T>& values) {
  Words words((values.size() * sizeof(T) + 3) / 4);
  std::memcpy(words.data(), values.data(), values.size() * sizeof(T));
  return words;
}

TEST_P(Memory, BytesAndHalves) {
  const int n = 45;
  const Words a = random_words(12, 1), b = random_words(24, 2);
  const auto result = Launch(kernel("narrow"), {2, 1, 1}, {30, 1, 1})
                          .buffer(a)
                          .buffer(b)
                          .buffer(Words(12))
                          .buffer(Words(24))
                          .word(n)
                          .run();
  const auto x = as<std::int8_t>(a);
  const auto y = as<std::uint16_t>(b);
  std::vector<std::uint8_t> c(48);
  std::vector<std::int16_t> d(48);
  for (std::size_t i = 0; i < n; ++i) {
    c[i] = static_cast<std::uint8_t>(x[i] * 3 + y[i]);
    d[i] = static_cast<std::int16_t>(x[i] - y[n - 1 - i]);
  }
  ASSERT_EQ(result.status, 0);
  EXPECT_EQ(result.buffers[2], words_of(c));
  EXPECT_EQ(result.buffers[3], words_of(d));
}

TEST_P(Memory, Vectors) {
  const std::size_t n = 7;
  const Words a = random_words(n, 3), b = random_words(n, 4), w = random_words(4 * n, 6);
  Words x(4 * n);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::bit_cast<std::uint32_t>(static_cast<float>(k) / 4);
  const auto result = Launch(kernel("vectors"), {1, 1, 1}, {n, 1, 1})
                          .buffer(a)
                          .buffer(b)
                          .buffer(x)
                          .buffer(w)
                          .buffer(Words(n))
                          .buffer(Words(n))
                          .buffer(Words(4 * n))
                          .buffer(Words(4 * n))
                          .run();
  ASSERT_EQ(result.status, 0);
  const auto p = as<std::uint8_t>(a);
  const auto q = as<std::int16_t>(b);
  const auto f = as<float>(x);
  const auto l = as<std::uint64_t>(w);
  std::vector<std::uint8_t> c;
  std::vector<std::int16_t> d;
  std::vector<float> y;
  std::vector<std::uint64_t> v;
  for (std::size_t i = 0; i < n; ++i) {
    for (const int value : {int{p[4 * i + 3]}, p[4 * i + 2] + 1, int{p[4 * i + 1]}, p[4 * i] * 2})
      c.push_back(static_cast<std::uint8_t>(value));
    d.push_back(q[2 * i + 1]);
    d.push_back(static_cast<std::int16_t>(-q[2 * i]));
    for (const float value : {f[4 * i + 3], f[4 * i + 2] + f[4 * i], f[4 * i + 1], -f[4 * i]})
      y.push_back(value);
    v.push_back(l[2 * i + 1] + 1);
    v.push_back(l[2 * i] * 3);
  }
  EXPECT_EQ(result.buffers[4], words_of(c));
  EXPECT_EQ(result.buffers[5], words_of(d));
  EXPECT_EQ(result.buffers[6], words_of(y));
  EXPECT_EQ(result.buffers[7], words_of(v));
}

TEST_P(Memory, Structures) {
  struct alignas(8) Pair {
    std::int16_t a, b;
    std::uint8_t c[3];
    std::int8_t d;
  };
  const Pair pairs[2] = {{-1, 2, {3, 4, 5}, -6}, {300, -400, {255, 0, 1}, 127}};
  const Words in = random_words(2 * 9, 7);
  const auto result =
      Launch(kernel("structures"), {1, 1, 1}, {9, 1, 1}).buffer(in).buffer(Words(2 * 9)).run();
  ASSERT_EQ(result.status, 0);
  auto right = as<Pair>(in);
  for (std::size_t t = 0; t < right.size(); ++t) {
    Pair& p = right[t];
    const Pair& q = pairs[t & 1];
    p.a = static_cast<std::int16_t>(p.a + q.b);
    p.c[t % 3] = static_cast<std::uint8_t>(p.c[t % 3] ^ q.c[1]);
    p.d = static_cast<std::int8_t>(p.d - q.d);
  }
  EXPECT_EQ(result.buffers[1], words_of(right));
}

TEST_P(Memory, LocalArraysOfEveryThread) {
  const int n = 37;
  const std::size_t threads = 11;
  const Words a = random_words(n, 8);
  const auto result = Launch(kernel("local_array"), {2, 1, 1}, {threads, 1, 1})
                          .buffer(a)
                          .buffer(Words(2 * threads))
                          .word(n)
                          .run();
  ASSERT_EQ(result.status, 0);
  Words right;
  for (std::size_t block = 0; block < 2; ++block)
    for (std::size_t t = 0; t < threads; ++t) {
      std::uint32_t heap[16], order[16], sum = 0;
      for (std::size_t k = 0; k < 16; ++k) {
        heap[k] = a[(t * 5 + k) % n];
        order[k] = static_cast<std::uint32_t>((k * 7 + t) % 16);
      }
      for (std::uint32_t k = 0; k < n; ++k) {
        const std::uint32_t from = order[k % 16], to = heap[from] % 16, swap = heap[from];
        heap[from] = heap[to] + 1;
        heap[to] = swap;
        order[to] = k % 16;
      }
      for (std::size_t k = 0; k < 16; ++k) sum = sum * 31 + heap[k] + order[k];
      right.push_back(sum);
    }
  EXPECT_EQ(result.buffers[1], right);
}

TEST_P(Memory, ConstantsAndAddressesInInitialisers) {
  const auto result = Launch(kernel("constants"), {1, 1, 1}, {40, 1, 1}).buffer(Words(40)).word(100).run();
  ASSERT_EQ(result.status, 0);
  const int bytes[] = {-1, 2, -3, 4, -5}, halves[] = {1, -3, 5}, where[] = {17, 5, 7};
  Words right;
  for (int i = 0; i < 40; ++i)
    right.push_back(
        static_cast<std::uint32_t>((i % 8) * (i % 8) + bytes[i % 5] + halves[i % 3] + where[i % 3] + 100));
  EXPECT_EQ(result.buffers[0], right);
}

TEST_P(Memory, ModuleVariablesLastForTheGrid) {
  const auto result = Launch(kernel("module_variables"), {3, 1, 1}, {4, 1, 1}).buffer(Words(3)).run();
  ASSERT_EQ(result.status, 0);
  EXPECT_EQ(result.buffers[0], (Words{15, 25, 35}));
}

TEST_P(Memory, ParametersWithAComputedIndex) {
  struct Table {
    int first[5];
    std::int16_t second[6];
    char third;
  };
  Table table{{1, -2, 3, -4, 5}, {10, -20, 30, -40, 50, -60}, 7};
  Launch launch(kernel("parameter_structure"), {1, 1, 1}, {12, 1, 1});
  Words words(sizeof(Table) / 4);
  std::memcpy(words.data(), &table, sizeof table);
  for (const std::uint32_t word : words) launch.word(word);
  if (words.size() % 2 != 0) launch.word(0);
  const auto result = launch.buffer(Words(12)).run();
  ASSERT_EQ(result.status, 0);
  Words right;
  for (int i = 0; i < 12; ++i)
    right.push_back(static_cast<std::uint32_t>(table.first[i % 5] * 1000 + table.second[(i + 1) % 6] + 7));
  EXPECT_EQ(result.buffers[0], right);
}

TEST_P(Memory, GenericPointers) {
  const std::uint32_t n = 32;
  const Words a = random_words(n, 9);
  const auto result =
      Launch(kernel("generic_pointers"), {1, 1, 1}, {n, 1, 1}).buffer(a).buffer(Words(n)).word(n).run();
  ASSERT_EQ(result.status, 0);
  Words shared(n), right(n);
  std::vector<Words> local(n, Words(4));
  for (std::uint32_t t = 0; t < n; ++t) {
    shared[t] = a[t] + 1;
    for (std::uint32_t k = 0; k < 4; ++k) local[t][k] = a[(t + k) % n] + 2;
  }
  const Words before = shared;
  const auto at = [&](std::uint32_t t, std::uint32_t k, const Words& memory) {
    const std::uint32_t which = a[t] % 4;
    return which == 0 ? a[k] : which == 1 ? memory[k] : which == 2 ? local[t][k] : k * k;
  };
  // Words that one thread reads while another writes them are left out.
  std::vector<bool> unsure(n);
  for (std::uint32_t t = 0; t < n; ++t) {
    unsure[t] = a[t] % 4 == 1 && t % 4 % 2 == 0;
    const std::uint32_t value = at(t, t % 4, before) * 3;
    if (t % 2 != 0) {
      shared[t ^ 1] = value;
      if (unsure[t]) unsure[t ^ 1] = true;
    } else {
      local[t][1] = value;
    }
  }
  for (std::uint32_t t = 0; t < n; ++t) {
    right[t] = shared[t] + local[t][1] + at(t, (t + 1) % 4, shared);
    if (!unsure[t] && !unsure[(t + 1) % 4]) {
      EXPECT_EQ(result.buffers[1][t], right[t]) << t;
    }
  }
}

TEST_P(Memory, DynamicSharedMemoryStandsBehindTheStatic) {
  for (const std::uint32_t n : {32u, 63u}) {
    const Words a = random_words(n, n);
    const auto result = Launch(kernel("dynamic_shared"), {2, 1, 1}, {9, 1, 1})
                            .dynamic_shared(4 * n)
                            .buffer(a)
                            .buffer(Words(n))
                            .word(n)
                            .run();
    ASSERT_EQ(result.status, 0);
    Words right;
    for (std::uint32_t k = 0; k < n; ++k)
      right.push_back(a[n - 1 - k] + static_cast<std::uint32_t>(static_cast<std::int8_t>(a[k % 3] + k % 3)));
    EXPECT_EQ(result.buffers[1], right);
  }
}

TEST_P(Memory, AddressesTellTheirSpace) {
  const auto result = Launch(kernel("spaces"), {1, 1, 1}, {5, 1, 1}).buffer(Words(5)).run();
  ASSERT_EQ(result.status, 0);
  EXPECT_EQ(result.buffers[0], Words(5, 0x0421));
}

TEST_P(Memory, MisalignedAccessesFault) {
  for (std::uint32_t which = 0; which < 64; ++which) {
    const auto result =
        Launch(kernel("misaligned"), {1, 1, 1}, {1, 1, 1}).buffer(Words(16)).word(which).run();
    EXPECT_EQ(result.status, which % 16 % (2u << which / 16) == 0 ? 0 : 716) << which;
  }
}

INSTANTIATE_TEST_SUITE_P(Compilers, Memory, testing::Values("clang", "nvcc"));

}  // namespace
}  // namespace qwengpu
