#include "engine/activations.h"

#include <gtest/gtest.h>

#include <random>

namespace qwengpu::engine {
namespace {

// The constructed weights rest on these (gain 128, see the design's "Exactness by discipline").
TEST(Activations, AreExactAtGain128) {
  EXPECT_EQ(silu(-128.0f), 0.0f);
  EXPECT_EQ(silu(128.0f), 128.0f);
  EXPECT_EQ(silu(0.0f), 0.0f);
  EXPECT_EQ(sigmoid(128.0f), 1.0f);
  EXPECT_EQ(sigmoid(-128.0f), 0.0f);
  EXPECT_EQ(softplus(-128.0f), 0.0f);
  EXPECT_EQ(softplus(128.0f), 128.0f);
}

TEST(Activations, FastFormsEqualThePlainOnesBitForBit) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> wide(-130, 130), high(17, 19), low(-90, -88);
  for (int i = 0; i < 300000; ++i) {
    for (const float x : {wide(random), high(random), low(random)}) {
      ASSERT_EQ(fast_silu(x), silu(x)) << x;
      ASSERT_EQ(fast_sigmoid(x), sigmoid(x)) << x;
    }
  }
  for (const float x : {18.0f, -89.0f, 0.0f, 1e30f, -1e30f}) ASSERT_EQ(fast_silu(x), silu(x)) << x;
  for (float x = -200; x < 200; x += 0.37f) {
    ASSERT_EQ(fast_softplus(x), softplus(x)) << x;
    ASSERT_EQ(fast_decay(std::abs(x)), std::exp(-std::abs(x))) << x;
  }
  for (const float x : {-103.9f, -104.0f, -104.1f, 0.0f}) ASSERT_EQ(fast_softplus(x), softplus(x)) << x;
}

}  // namespace
}  // namespace qwengpu::engine
