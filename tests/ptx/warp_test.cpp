#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <random>
#include <set>

#include "compilers.h"
#include "launch.h"

namespace qwengpu {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

class Warp : public Compiled {
 protected:
  const char* file() const override { return WARP_KERNELS; }
};

constexpr u32 n = 77;  // two warps and a part of a third

Words random_words(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  Words words(count);
  for (auto& word : words) word = static_cast<u32>(generator());
  return words;
}

u32 base(u32 i) { return i / 32 * 32; }

// The word of the lane `source` of the segment, or the own one where it is outside.
u32 shuffled(const Words& a, u32 i, int width, const std::function<int(int)>& source) {
  const int lane = static_cast<int>(i % 32), first = lane / width * width;
  const int from = first + source(lane - first);
  return from < first || from >= first + width ? a[i] : a[base(i) + static_cast<u32>(from)];
}

TEST_P(Warp, Shuffles) {
  const u32 threads = 64;  // a lane that does not exist has no word
  const Words a = random_words(threads, 1), b = random_words(threads, 2);
  const auto result =
      Launch(kernel("shuffles"), {1, 1, 1}, {threads, 1, 1}).buffer(a).buffer(b).buffer(Words(threads)).run();
  ASSERT_EQ(result.status, 0);
  for (u32 i = 0; i < threads; ++i) {
    u32 sum = 0;
    const auto next = [&](int width, const std::function<int(int)>& source) {
      sum = sum * 3 + shuffled(a, i, width, source);
    };
    next(32, [&](int) { return static_cast<int>(b[i] % 32); });
    next(8, [&](int) { return static_cast<int>(b[i] % 8); });
    next(32, [&](int lane) { return lane - 3; });
    next(4, [&](int lane) { return lane - 1; });
    next(32, [&](int lane) { return lane + 5; });
    next(16, [&](int lane) { return lane + 9; });
    next(32, [&](int lane) { return lane ^ 16; });
    // A lane of a lower segment is in reach of an exclusive or.
    sum = sum * 3 + (i % 4 < 2 ? a[i] : a[i ^ 3]);
    EXPECT_EQ(result.buffers[2][i], sum) << i;
  }
}

TEST_P(Warp, ShufflesOfAllKinds) {
  Words a = random_words(64, 3);
  for (auto& word : a) word >>= 10;
  const auto result = Launch(kernel("shuffles_of_all_kinds"), {1, 1, 1}, {64, 1, 1})
                          .buffer(a)
                          .buffer(Words(64))
                          .buffer(Words(128))
                          .run();
  ASSERT_EQ(result.status, 0);
  for (u32 i = 0; i < 64; ++i) {
    const u32 next = i % 32 == 31 ? i : i + 1;
    EXPECT_EQ(std::bit_cast<float>(result.buffers[1][i]), static_cast<float>(a[next]) * 0.5f);
    EXPECT_EQ(u64{result.buffers[2][2 * i + 1]} << 32 | result.buffers[2][2 * i], u64{a[i ^ 7]} << 20);
  }
}

TEST_P(Warp, ShufflePredicates) {
  const Words a = random_words(64, 4);
  const auto result =
      Launch(kernel("shuffle_predicates"), {1, 1, 1}, {64, 1, 1}).buffer(a).buffer(Words(64)).run();
  ASSERT_EQ(result.status, 0);
  for (u32 i = 0; i < 64; ++i) {
    const u32 lane = i % 32, segment = lane & ~7u;
    const bool up = lane >= 2, down = lane + 4 <= segment + 7, idx = a[i] % 32 <= 15,
               fly = (lane ^ 8) <= (lane & 16);
    const u32 word = down ? a[i + 4] : a[i];
    EXPECT_EQ(result.buffers[1][i], u32{up} | u32{down} << 1 | u32{idx} << 2 | u32{fly} << 3 | word << 8)
        << i;
  }
}

TEST_P(Warp, Sum) {
  const Words a = random_words(300, 5);
  const auto result =
      Launch(kernel("warp_sum"), {2, 1, 1}, {96, 1, 1}).buffer(a).buffer(Words(2)).word(300).run();
  ASSERT_EQ(result.status, 0);
  u32 sum = 0;
  for (const u32 word : a) sum += word;
  EXPECT_EQ(result.buffers[1], Words(2, sum));
}

// The lanes of i's warp for which it holds.
u32 ballot(u32 i, u32 threads, const std::function<bool(u32)>& holds) {
  u32 bits = 0;
  for (u32 lane = 0; lane < 32; ++lane)
    if (base(i) + lane < threads && holds(base(i) + lane)) bits |= 1u << lane;
  return bits;
}

TEST_P(Warp, Votes) {
  for (unsigned seed = 10; seed < 13; ++seed) {
    Words a = random_words(n, seed);
    if (seed == 12)
      for (auto& word : a) word |= 0x80000001;
    const auto result = Launch(kernel("votes"), {1, 1, 1}, {n, 1, 1}).buffer(a).buffer(Words(n)).run();
    ASSERT_EQ(result.status, 0);
    for (u32 i = 0; i < n; ++i) {
      const auto some = [&](const std::function<bool(u32)>& f) {
        return ballot(i, n, [&](u32 t) { return f(a[t]); }) != 0;
      };
      const auto uniform = [&](const std::function<bool(u32)>& f) {
        return !some(f) || !some([&](u32 x) { return !f(x); });
      };
      u32 r = ballot(i, n, [&](u32 t) { return (a[t] & 1) != 0; });
      r = r * 5 + some([](u32 x) { return x % 64 == 0; });
      r = r * 5 + !some([](u32 x) { return x % 64 == 0; });
      r = r * 5 + uniform([](u32 x) { return x >> 31 != 0; });
      r = r * 5 + uniform([](u32 x) { return x > 5; });
      EXPECT_EQ(result.buffers[1][i], r) << i << " seed " << seed;
    }
  }
}

TEST_P(Warp, GroupsVoteOnTheirOwn) {
  const u32 threads = 64;
  const Words a = random_words(threads, 6);
  const auto result =
      Launch(kernel("divergent_votes"), {2, 1, 1}, {threads, 1, 1}).buffer(a).buffer(Words(threads)).run();
  ASSERT_EQ(result.status, 0);
  const auto ended = [](u32 i) { return i % 32 == 5 || i % 32 == 17; };
  Words sums(threads, 1);
  for (u32 i = 0; i < threads; ++i) {
    if (ended(i)) continue;
    const u32 group = i % 32 % 3;
    const auto of_group = [&](const std::function<bool(u32)>& holds) {
      return ballot(i, threads, [&](u32 t) { return !ended(t) && t % 32 % 3 == group && holds(t); });
    };
    u32 sum = 0;
    if (group == 0)
      for (u32 k = 0; k < 3; ++k) sum = sum * 7 + of_group([&](u32 t) { return (a[t] >> k & 1) != 0; });
    else if (group == 1)
      for (u32 k = 0; k < 5; ++k)
        sum = sum * 7 + of_group([&](u32 t) { return (a[t] >> k & 1) != 0; }) +
              (of_group([&](u32 t) { return (a[t] & 1) == 0; }) == 0);
    else
      sum =
          static_cast<u32>(std::popcount(of_group([&](u32 t) { return (a[t] & 4) != 0; }))) + a[base(i) + 8];
    sums[i] = sum;
  }
  for (u32 i = 0; i < threads; ++i) {
    const u32 odd = ballot(i, threads, [&](u32 t) { return !ended(t) && (sums[t] & 1) != 0; });
    EXPECT_EQ(result.buffers[1][i], ended(i) ? 1 : sums[i] + odd) << i;
  }
}

TEST_P(Warp, LanesThatEndedDoNotVote) {
  const u32 threads = 45, total = 3 * threads - 20;
  const Words a = random_words(total, 7);
  const auto result = Launch(kernel("votes_of_the_living"), {3, 1, 1}, {threads, 1, 1})
                          .buffer(a)
                          .buffer(Words(total))
                          .word(total)
                          .run();
  ASSERT_EQ(result.status, 0);
  for (u32 i = 0; i < total; ++i) {
    const u32 block = i / threads * threads, warp = block + (i - block) / 32 * 32,
              end = std::min({warp + 32, block + threads, total});
    u32 sum = 0;
    for (u32 round = 0; round <= a[i] % 4; ++round)
      for (u32 t = warp; t < end; ++t) sum += a[t] % 4 >= round;
    EXPECT_EQ(result.buffers[1][i], sum) << i;
  }
}

TEST_P(Warp, Matches) {
  Words a = random_words(n, 8), w;
  std::vector<u64> wide;
  for (u32 i = 0; i < n; ++i) {
    if (i >= 32 && i < 64) a[i] = 3;
    wide.push_back(u64{a[i] % 2} << 32 | a[i] / 7 % 2);
    w.push_back(static_cast<u32>(wide.back()));
    w.push_back(static_cast<u32>(wide.back() >> 32));
  }
  const auto result =
      Launch(kernel("matches"), {1, 1, 1}, {n, 1, 1}).buffer(a).buffer(w).buffer(Words(n)).run();
  ASSERT_EQ(result.status, 0);
  for (u32 i = 0; i < n; ++i) {
    u32 r = ballot(i, n, [&](u32 t) { return a[t] % 5 == a[i] % 5; });
    r ^= ballot(i, n, [&](u32 t) { return wide[t] == wide[i]; }) * 3;
    const u32 members = ballot(i, n, [&](u32 t) { return t % 2 == i % 2; });
    const bool same = i % 2 != 0 || ballot(i, n, [&](u32 t) { return t % 2 == 0 && a[t] != a[i]; }) == 0;
    r ^= (same ? members : 0) * 5;
    r += ballot(i, n, [](u32) { return true; }) * 7;
    EXPECT_EQ(result.buffers[2][i], r * 4 + same * 2 + 1) << i;
  }
}

TEST_P(Warp, Reductions) {
  const Words a = random_words(n, 9);
  const auto result = Launch(kernel("reductions"), {2, 1, 1}, {n, 1, 1}).buffer(a).buffer(Words(n)).run();
  ASSERT_EQ(result.status, 0);
  for (u32 i = 0; i < n; ++i) {
    const auto fold = [&](u32 start, const std::function<bool(u32)>& member,
                          const std::function<u32(u32, u32)>& f) {
      for (u32 t = base(i); t < std::min(base(i) + 32, n); ++t)
        if (member(t)) start = f(start, a[t]);
      return start;
    };
    const auto all = [](u32) { return true; };
    const auto as_signed = [](u32 x) { return static_cast<std::int32_t>(x); };
    const auto most = [&](u32 x, u32 y) { return as_signed(x) < as_signed(y) ? y : x; };
    const u32 r[] = {fold(0, all, std::plus<u32>()),
                     fold(0x7fffffff, all, [&](u32 x, u32 y) { return as_signed(x) < as_signed(y) ? x : y; }),
                     fold(0, all, [](u32 x, u32 y) { return std::max(x, y); }),
                     i % 4 == 1 ? fold(
                                      0, [](u32 t) { return t % 4 == 1; }, std::bit_xor<u32>())
                                : fold(
                                      0x80000000, [](u32 t) { return t % 4 != 1; }, most),
                     fold(~0u, all, std::bit_and<u32>()),
                     fold(0, all, std::bit_or<u32>())};
    u32 sum = 0;
    for (const u32 x : r) sum = sum * 11 + x;
    EXPECT_EQ(result.buffers[1][i], sum) << i;
  }
}

TEST_P(Warp, ActiveLanes) {
  const Words a = random_words(n, 11);
  const auto result =
      Launch(kernel("aggregated"), {1, 1, 1}, {n, 1, 1}).buffer(a).buffer(Words(1)).buffer(Words(n)).run();
  ASSERT_EQ(result.status, 0);
  std::multiset<u32> places;
  for (u32 i = 0; i < n; ++i) {
    const u32 place = result.buffers[2][i];
    if (a[i] % 3 == 0) places.insert(place);
    if (a[i] % 3 == 1) {
      EXPECT_EQ(place,
                1000 + static_cast<u32>(std::popcount(ballot(i, n, [&](u32 t) { return a[t] % 3 == 1; }))))
          << i;
    }
  }
  EXPECT_EQ(result.buffers[1][0], places.size());
  u32 next = 0;
  for (const u32 place : places) EXPECT_EQ(place, next++);
}

TEST_P(Warp, LaneMasks) {
  const auto result = Launch(kernel("lane_masks"), {1, 1, 1}, {n, 1, 1}).buffer(Words(n)).run();
  ASSERT_EQ(result.status, 0);
  for (u32 i = 0; i < n; ++i) {
    const u32 eq = 1u << i % 32, lt = eq - 1;
    EXPECT_EQ(result.buffers[0][i], eq + lt * 3 + (eq | lt) * 5 + ~(eq | lt) * 7 + ~lt * 11 + 3 * 13) << i;
  }
}

TEST_P(Warp, Barriers) {
  Words a = random_words(64, 12);
  const auto result =
      Launch(kernel("warp_barriers"), {1, 1, 1}, {64, 1, 1}).buffer(a).buffer(Words(64)).run();
  ASSERT_EQ(result.status, 0);
  for (u32 step = 1; step < 32; step *= 2) {
    const Words before = a;
    for (u32 i = 0; i < 64; ++i) a[i] += before[i ^ step] * step;
  }
  EXPECT_EQ(result.buffers[1], a);
}

TEST_P(Warp, LanesOfALoopStayTogetherWhereOnlyHalfOfThemMeet) {
  Words a = random_words(64, 11);
  constexpr u32 rounds = 5;
  const auto result =
      Launch(kernel("halves"), {1, 1, 1}, {64, 1, 1}).buffer(a).buffer(Words(64)).word(rounds).run();
  ASSERT_EQ(result.status, 0);
  for (u32 round = 0; round < rounds; ++round) {
    Words before = a;
    for (u32 i = 0; i < 64; ++i) a[i] += 3 * before[i ^ 31];
    before = a;
    for (u32 i = 0; i < 64; ++i)
      if (i % 32 < 16) a[i] ^= before[i ^ 5];
  }
  EXPECT_EQ(result.buffers[1], a);
}

TEST_P(Warp, LockWithVotes) {
  const auto result =
      Launch(kernel("lock_with_votes"), {1, 1, 1}, {n, 1, 1}).buffer(Words(1)).buffer(Words(1)).run();
  ASSERT_EQ(result.status, 0);
  EXPECT_EQ(result.buffers[1][0], n * (n - 1) / 2);
}

INSTANTIATE_TEST_SUITE_P(Compilers, Warp, testing::Values("clang", "nvcc"));

}  // namespace
}  // namespace qwengpu
