// A hand-made GDN layer that is a memory: every read is exact after thousands of random writes, in both
// engines.

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "engine/engine.h"
#include "engine/test_models.h"

namespace qwengpu::engine {
namespace {

struct MemoryCase {
  std::vector<MemoryToken> tokens;
  int head = 0;
};

std::vector<MemoryToken> random_tokens(std::mt19937& random, int count) {
  const auto some = [&](int most) {
    std::vector<int> dims;
    for (int i = 0; i < 128; ++i) {
      if (random() % 128 < static_cast<unsigned>(most)) dims.push_back(i);
    }
    return dims;
  };
  std::vector<MemoryToken> tokens;
  for (int i = 0; i < count; ++i) {
    MemoryToken t;
    if (random() % 3 != 0) t.write_key = static_cast<int>(random() % 128);
    t.value = some(static_cast<int>(random() % 40));  // written only with a key
    if (random() % 2 == 0) t.read_key = static_cast<int>(random() % 128);
    if (random() % 3 != 0) t.read_dims = some(64);
    t.clear = random() % 100 == 0;
    tokens.push_back(t);
  }
  return tokens;
}

void check_memory(bool sparse, int positions) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto tokens = random_tokens(random, 600);
  const MemoryModel m = memory_model(tokens);
  const auto engine = sparse ? make_sparse(m.checkpoint) : make_reference(m.checkpoint);
  std::array<std::array<bool, 128>, 128> memory{};
  int reads = 0;
  // At least so many positions, and on until enough ones were read: a clear may leave little to read for a while.
  for (int position = 0; position < positions || (reads <= positions / 2 && position < 20 * positions); ++position) {
    const auto id = random() % tokens.size();
    const MemoryToken& t = tokens[id];
    engine->append(static_cast<int>(id));
    if (t.clear) memory = {};
    if (t.write_key >= 0) {
      memory[t.write_key] = {};
      for (const int dim : t.value) memory[t.write_key][dim] = true;
    }
    // The amplitude of a read of n ones is sqrt(128 / n), known to fp32 rounding; zeros are exact.
    const auto x = engine->residual();
    int ones = 0;
    if (t.read_key >= 0)
      ones = static_cast<int>(std::count(memory[t.read_key].begin(), memory[t.read_key].end(), true));
    std::array<bool, 128> open{};
    for (const int dim : t.read_dims) open[dim] = true;
    int expected_token = 0;
    for (int dim = 127; dim >= 0; --dim) {
      const float got = x[m.result_column + dim];
      if (t.read_key >= 0 && open[dim] && memory[t.read_key][dim]) {
        ASSERT_NEAR(got, std::sqrt(128.0f / static_cast<float>(ones)), 1e-5f) << "position " << position;
        expected_token = dim;
        ++reads;
      } else {
        ASSERT_EQ(got, 0.0f) << "position " << position << " dim " << dim;
      }
    }
    ASSERT_EQ(engine->argmax(), expected_token);
  }
  EXPECT_GT(reads, positions / 2);
  const auto state = engine->gdn_state(0, m.head);
  for (int key = 0; key < 128; ++key) {
    for (int dim = 0; dim < 128; ++dim) ASSERT_EQ(state[key * 128 + dim], memory[key][dim] ? 128.0f : 0.0f);
  }
}

TEST(Memory, SparseEngineReadsExactlyAfterThousandsOfWrites) { check_memory(true, 20000); }
TEST(Memory, ReferenceReadsExactly) { check_memory(false, 400); }

TEST(Memory, BothEnginesAgreeBitForBitOnTheResidualStream) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const MemoryModel m = memory_model(random_tokens(random, 300), 4);
  const auto sparse = make_sparse(m.checkpoint), reference = make_reference(m.checkpoint);
  for (int position = 0; position < 150; ++position) {
    const int token = static_cast<int>(random() % 300);
    sparse->append(token);
    reference->append(token);
    const auto a = sparse->residual(), b = reference->residual();
    for (std::size_t c = 0; c < a.size(); ++c) {
      if (c >= static_cast<std::size_t>(m.result_column)) {
        ASSERT_NEAR(a[c], b[c], 1e-5f) << c;
      } else {
        ASSERT_EQ(a[c], b[c]) << c;
      }
    }
    ASSERT_EQ(sparse->argmax(), reference->argmax());
  }
}

}  // namespace
}  // namespace qwengpu::engine
