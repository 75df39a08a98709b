// The sparse engine against the reference on random checkpoints.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "engine/engine.h"
#include "engine/test_models.h"

namespace qwengpu::engine {
namespace {

// Differences are held against the largest value of the vector.
void expect_near(std::span<const float> expected, std::span<const float> got, const std::string& what,
                 float tolerance) {
  ASSERT_EQ(expected.size(), got.size()) << what;
  float size = 1e-3f;
  for (const float x : expected) size = std::max(size, std::abs(x));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(expected[i], got[i], tolerance * size) << what << " [" << i << "]";
  }
}

void expect_agreement(const qwen::Checkpoint& c, std::mt19937& random, int positions,
                      float tolerance = 1e-4f) {
  const auto reference = make_reference(c);
  const auto sparse = make_sparse(c);
  std::vector<std::vector<float>> expected;
  reference->on_sublayer([&](int, std::span<const float> x) { expected.emplace_back(x.begin(), x.end()); });
  for (int position = 0; position < positions; ++position) {
    const std::string at = fmt::format("position {}", position);
    expected.clear();
    if (position % 3 == 2) {  // without the hook the sparse engine takes another path
      sparse->on_sublayer({});
    } else {
      sparse->on_sublayer([&](int sublayer, std::span<const float> x) {
        expect_near(expected.at(sublayer + 1), x, fmt::format("{} sublayer {}", at, sublayer), tolerance);
      });
    }
    if (position % 7 == 5) {
      std::normal_distribution<float> normal;
      std::vector<float> embedding(static_cast<std::size_t>(c.geometry.hidden));
      for (float& x : embedding) x = random() % 2 == 0 ? 0.0f : normal(random);
      reference->append_embedding(embedding);
      sparse->append_embedding(embedding);
    } else {
      const int token = static_cast<int>(random() % static_cast<unsigned>(c.geometry.vocab));
      reference->append(token);
      sparse->append(token);
    }
    expect_near(reference->residual(), sparse->residual(), at + " residual", tolerance);
    const auto logits = reference->logits();
    expect_near(logits, sparse->logits(), at + " logits", tolerance);
    const int best = sparse->argmax();
    float size = 1e-3f;
    for (const float x : logits) size = std::max(size, std::abs(x));
    EXPECT_NEAR(logits[best], logits[reference->argmax()], 2 * tolerance * size) << at;
    for (int layer = 0; layer < c.geometry.layers; ++layer) {
      if (c.geometry.is_attention(layer)) continue;
      for (int head = 0; head < c.geometry.gdn_heads; ++head) {
        expect_near(reference->gdn_state(layer, head), sparse->gdn_state(layer, head),
                    fmt::format("{} state {} {}", at, layer, head), tolerance);
      }
    }
    if (testing::Test::HasFailure()) return;
  }
}

// Sparse rows and large gains have ill-conditioned norms (a key or a read near 0), where rounding differences
// grow.
constexpr float kSparseTolerance = 5e-3f;

// About one random model in a thousand is so ill-conditioned that the reference, its input moved by one part in 2^23, differs from
// itself by more than the tolerance. The default run is therefore always the same one; QWENGPU_TEST_SEED makes others.
unsigned agreement_seed() {
  const char* seed = std::getenv("QWENGPU_TEST_SEED");
  return seed != nullptr ? static_cast<unsigned>(std::strtoul(seed, nullptr, 10)) : 1;
}

// Adds a column that is the same for every token and never written, as constructed models have; projections
// read it.
void make_constant(qwen::Checkpoint& c, std::uint32_t column, float value) {
  for (auto& [name, t] : c.tensors) {
    const bool writes = name.find("out_proj") != std::string::npos ||
                        name.find("o_proj") != std::string::npos ||
                        name.find("down_proj") != std::string::npos;
    if (writes) std::erase_if(t.entries, [&](const auto& e) { return e.row == column; });
  }
  auto& embedding = c.at("model.embed_tokens.weight");
  std::erase_if(embedding.entries, [&](const auto& e) { return e.col == column; });
  for (int token = 0; token < embedding.rows; ++token) {
    embedding.entries.push_back({static_cast<std::uint32_t>(token), column, value});
  }
  c.finish();
}

// Convolutions of which some channels look back and others do not.
void thin_out_convolutions(qwen::Checkpoint& c, std::mt19937& random) {
  for (auto& [name, t] : c.tensors) {
    if (name.find("conv1d") == std::string::npos) continue;
    const auto last = static_cast<std::uint32_t>(t.cols - 1);
    std::vector<bool> identity(static_cast<std::size_t>(t.rows));
    const auto run = 1 + random() % 40;
    for (std::size_t r = 0; r < identity.size(); ++r) identity[r] = r / run % 2 == 0;
    std::erase_if(t.entries, [&](const auto& e) { return identity[e.row] && e.col != last; });
  }
}

TEST(Agreement, RandomDenseCheckpoints) {
  const unsigned seed = agreement_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 12 && !HasFailure(); ++i) {
    const auto g = random_geometry(random);
    expect_agreement(qwen::random_checkpoint(g, random(), 1.0), random, 12);
  }
}

TEST(Agreement, RandomSparseCheckpointsWithConstantColumnsAndMixedConvolutions) {
  const unsigned seed = agreement_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 25 && !HasFailure(); ++i) {
    const auto g = random_geometry(random);
    qwen::Checkpoint c = qwen::random_checkpoint(g, random(), i % 2 == 0 ? 0.3 : 0.03);
    if (i % 3 != 0) {
      make_constant(c, 1, 2.5f);
      make_constant(c, static_cast<std::uint32_t>(g.hidden - 1), -0.75f);
    }
    if (i % 5 != 0) thin_out_convolutions(c, random);
    expect_agreement(c, random, 20, kSparseTolerance);
  }
}

// Gates that are on, off or undecided by their constant alone, at the gain of constructed models.
TEST(Agreement, LargeGainsSwitchRowsOffExactly) {
  const unsigned seed = agreement_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 15 && !HasFailure(); ++i) {
    const auto g = random_geometry(random);
    qwen::Checkpoint c = qwen::random_checkpoint(g, random(), 0.1);
    make_constant(c, 0, 1.0f);
    const auto has = [](const std::string& name, std::initializer_list<const char*> parts) {
      return std::any_of(parts.begin(), parts.end(),
                         [&](const char* p) { return name.find(p) != std::string::npos; });
    };
    for (auto& [name, t] : c.tensors) {
      // The gain is taken back behind the gate, or rounding differences would grow from layer to layer.
      if (has(name, {"down_proj", "out_proj"})) {
        for (auto& e : t.entries) e.value /= 256;
      }
      if (!has(name, {"gate_proj", "in_proj_z", "in_proj_a", "in_proj_b"})) continue;
      std::erase_if(t.entries, [](const auto& e) { return e.col == 0; });
      for (int r = 0; r < t.rows; ++r) {
        const float bias = static_cast<float>(static_cast<int>(random() % 5) - 3) * 200.0f;
        if (bias != 0) t.entries.push_back({static_cast<std::uint32_t>(r), 0, bias});
      }
    }
    c.finish();
    expect_agreement(c, random, 12, kSparseTolerance);
  }
}

TEST(Agreement, AllZeroCheckpoint) {
  std::mt19937 random(1);
  qwen::Geometry g = qwen::small_geometry();
  qwen::Checkpoint c(g);
  c.finish();
  expect_agreement(c, random, 5);
}

class BothEngines : public testing::TestWithParam<bool> {
 protected:
  static std::unique_ptr<Engine> make(const qwen::Checkpoint& c) {
    return GetParam() ? make_sparse(c) : make_reference(c);
  }
};

TEST_P(BothEngines, PrefillEqualsAppendingOneByOne) {
  const auto c = qwen::random_checkpoint(qwen::small_geometry(), 3);
  const auto a = make(c), b = make(c);
  const std::vector<int> tokens = {1, 5, 5, 0, 39, 2};
  a->prefill(tokens);
  for (const int t : tokens) b->append(t);
  EXPECT_EQ(a->logits(), b->logits());
  EXPECT_EQ(a->position(), 6);
}

TEST_P(BothEngines, SnapshotBringsTheWholeStateBack) {
  const auto c = qwen::random_checkpoint(qwen::small_geometry(), 4);
  const auto engine = make(c);
  engine->prefill(std::vector<int>{1, 2, 3, 4, 5});
  const auto snapshot = engine->save();
  const auto at_save = engine->logits();
  engine->prefill(std::vector<int>{6, 7, 8});
  const auto expected = engine->logits();
  engine->prefill(std::vector<int>{9, 10});
  engine->restore(*snapshot);
  EXPECT_EQ(engine->position(), 5);
  EXPECT_EQ(engine->logits(), at_save);
  engine->prefill(std::vector<int>{6, 7, 8});
  EXPECT_EQ(engine->logits(), expected);
  const auto other = make(c);
  other->append(0);
  other->restore(*snapshot);
  other->prefill(std::vector<int>{6, 7, 8});
  EXPECT_EQ(other->logits(), expected);
}

TEST_P(BothEngines, ResetStartsAnew) {
  const auto c = qwen::random_checkpoint(qwen::small_geometry(), 5);
  const auto a = make(c), b = make(c);
  a->prefill(std::vector<int>{1, 2, 3, 4, 5});
  a->append_embedding(std::vector<float>(64, 0.5f));
  a->reset();
  EXPECT_EQ(a->position(), 0);
  a->prefill(std::vector<int>{6, 7});
  b->prefill(std::vector<int>{6, 7});
  EXPECT_EQ(a->logits(), b->logits());
}

TEST_P(BothEngines, RefuseWhatCannotBe) {
  const auto c = qwen::random_checkpoint(qwen::small_geometry(), 6);
  const auto engine = make(c);
  EXPECT_THROW(engine->argmax(), std::logic_error);
  EXPECT_THROW(engine->logits(), std::logic_error);
  EXPECT_THROW(engine->append(-1), std::invalid_argument);
  EXPECT_THROW(engine->append(40), std::invalid_argument);
  EXPECT_THROW(engine->prefill(std::vector<int>{1, 40}), std::invalid_argument);
  EXPECT_EQ(engine->position(), 0);
  EXPECT_THROW(engine->append_embedding(std::vector<float>(63)), std::invalid_argument);
  EXPECT_THROW(engine->gdn_state(3, 0), std::invalid_argument);
  EXPECT_THROW(engine->gdn_state(4, 0), std::invalid_argument);
  EXPECT_THROW(engine->gdn_state(0, 2), std::invalid_argument);
  const auto other = GetParam() ? make_reference(c) : make_sparse(c);
  EXPECT_THROW(engine->restore(*other->save()), std::invalid_argument);
  qwen::Geometry g = qwen::small_geometry();
  g.kv_heads = 3;
  EXPECT_THROW(make(qwen::Checkpoint(g)), std::invalid_argument);
}

TEST_P(BothEngines, ReportEverySublayerInOrder) {
  const auto c = qwen::random_checkpoint(qwen::small_geometry(), 6);
  const auto engine = make(c);
  std::vector<int> order;
  engine->on_sublayer([&](int sublayer, std::span<const float> x) {
    order.push_back(sublayer);
    EXPECT_EQ(x.size(), 64u);
  });
  engine->append(1);
  EXPECT_EQ(order, (std::vector<int>{-1, 0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_P(BothEngines, AnEmbeddingVectorEqualsItsToken) {
  auto c = qwen::random_checkpoint(qwen::small_geometry(), 8, 0.3);
  make_constant(c, 2, 1.0f);
  const auto a = make(c), b = make(c);
  std::vector<float> row(64);
  for (const auto& e : c.at("model.embed_tokens.weight").entries) {
    if (e.row == 9) row[e.col] = e.value;
  }
  a->prefill(std::vector<int>{3, 9});
  b->append(3);
  b->append_embedding(row);
  EXPECT_EQ(a->logits(), b->logits());
  // The difference of another constant must not outlive its position.
  row[2] = 7;
  a->append_embedding(row);
  a->reset();
  b->reset();
  a->append(3);
  b->append(3);
  EXPECT_EQ(a->logits(), b->logits());
}

// Logits by hand: embedding passes through zero layers, the lm_head reads two columns.
qwen::Checkpoint head_model(const std::vector<std::pair<float, float>>& rows, bool constant) {
  qwen::Geometry g = qwen::small_geometry();
  g.vocab = static_cast<int>(rows.size());
  qwen::Checkpoint c(g);
  for (std::uint32_t token = 0; token < rows.size(); ++token) {
    if (constant) c.at("model.embed_tokens.weight").entries.push_back({token, 0, 1.0f});
    c.at("model.embed_tokens.weight").entries.push_back({token, 1, static_cast<float>(token + 1)});
    c.at("lm_head.weight").entries.push_back({token, 0, rows[token].first});
    c.at("lm_head.weight").entries.push_back({token, 1, rows[token].second});
  }
  c.finish();
  return c;
}

TEST_P(BothEngines, GreedyChoiceIsRightWhenAllTouchedLogitsAreNegativeOrTied) {
  const auto greedy = [&](const std::vector<std::pair<float, float>>& rows, bool constant) {
    const auto engine = make(head_model(rows, constant));
    engine->append(0);
    return engine->argmax();
  };
  EXPECT_EQ(greedy({{0, -1}, {0, -2}, {0, 0}, {0, 0}}, false), 2);
  EXPECT_EQ(greedy({{0, -3}, {0, -2}, {0, -2}, {0, -4}}, false), 1);
  EXPECT_EQ(greedy({{0, 2}, {0, 0}, {0, 3}, {0, 3}}, false), 2);
  EXPECT_EQ(greedy({{-1, 0}, {-2, 0}, {-1, 0}, {0, -5}}, true), 0);
  EXPECT_EQ(greedy({{-2, 0}, {-1, 0}, {-1, 0}, {5, -9}}, true), 1);
  EXPECT_EQ(greedy({{1, 0}, {2, 0}, {2, 0}, {1, 1}}, true), 1);
  EXPECT_EQ(greedy({{1, 0}, {1, 0}, {2, 0}, {1, 1}}, true), 2);
  EXPECT_EQ(greedy({{0, 0}, {0, 0}}, true), 0);
}

INSTANTIATE_TEST_SUITE_P(Engines, BothEngines, testing::Bool(),
                         [](const auto& which) { return which.param ? "Sparse" : "Reference"; });

}  // namespace
}  // namespace qwengpu::engine
