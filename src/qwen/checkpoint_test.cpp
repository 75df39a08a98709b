#include "qwen/checkpoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "qwen/bf16.h"
#include "qwen/tensors.h"
#include "qwen/test_checkpoint.h"

namespace qwengpu::qwen {
namespace {

TEST(Checkpoint, HoldsEveryTensorOfTheGeometryAsZero) {
  const Geometry g = small_geometry();
  const Checkpoint c(g);
  EXPECT_EQ(c.tensors.size(), tensors_of(g).size());
  EXPECT_EQ(c.at(layer_tensor(0, "linear_attn.in_proj_qkv.weight")).rows, g.gdn_conv_width());
  EXPECT_EQ(c.at(layer_tensor(0, "linear_attn.conv1d.weight")).cols, g.conv_kernel);
  EXPECT_TRUE(c.at(layer_tensor(3, "self_attn.q_norm.weight")).one_dimensional);
  EXPECT_THROW(c.at(layer_tensor(3, "linear_attn.norm.weight")), std::out_of_range);
}

TEST(Checkpoint, OfTheFullGeometryHasThePublishedShapes) {
  Geometry g;
  g.vocab = 1000;
  const Checkpoint c(g);
  std::uint64_t parameters = 0;
  for (const auto& [name, t] : c.tensors)
    parameters += static_cast<std::uint64_t>(t.rows) * static_cast<std::uint64_t>(t.cols);
  EXPECT_EQ(c.at("model.layers.3.self_attn.q_proj.weight").rows, 4096);
  EXPECT_EQ(c.at("model.layers.0.linear_attn.in_proj_qkv.weight").rows, 6144);
  EXPECT_GT(parameters, 2'500'000'000u);
}

TEST(Checkpoint, TiedModelHasNoLmHead) {
  Geometry g = small_geometry();
  g.tie_embeddings = true;
  EXPECT_EQ(Checkpoint(g).tensors.count("lm_head.weight"), 0u);
}

TEST(Checkpoint, FinishSortsAndDropsZeros) {
  Checkpoint c(small_geometry());
  auto& t = c.at("lm_head.weight");
  t.entries = {{2, 1, 5.f}, {0, 3, 0.f}, {0, 1, -1.f}};
  c.finish();
  EXPECT_EQ(t.entries, (std::vector<Entry>{{0, 1, -1.f}, {2, 1, 5.f}}));
}

TEST(Checkpoint, FinishRefusesDoubledOutsideAndInfiniteEntries) {
  const auto message = [](std::vector<Entry> entries) -> std::string {
    Checkpoint c(small_geometry());
    c.at("lm_head.weight").entries = std::move(entries);
    try {
      c.finish();
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message({{1, 1, 1.f}, {1, 1, 2.f}}).find("lm_head.weight: entry [1, 1] is given twice"),
            std::string::npos);
  EXPECT_NE(message({{1, 64, 1.f}}).find("outside its shape"), std::string::npos);
  EXPECT_NE(message({{1, 1, std::numeric_limits<float>::infinity()}}).find("inf"), std::string::npos);
}

TEST(Checkpoint, HashDependsOnContentAndNotOnOrder) {
  const Checkpoint original = random_checkpoint(small_geometry(), 7);
  Checkpoint c = original;
  for (auto& [name, t] : c.tensors) std::reverse(t.entries.begin(), t.entries.end());
  EXPECT_EQ(c.hash(), original.hash());
  EXPECT_EQ(c.hash().size(), 16u);
  c.at("lm_head.weight").entries.front().value += 1;
  EXPECT_NE(c.hash(), original.hash());
  c = original;
  c.token_spellings[0] += "x";
  EXPECT_NE(c.hash(), original.hash());
  c = original;
  c.geometry.rms_eps *= 2;
  EXPECT_NE(c.hash(), original.hash());
}

TEST(Geometry, ImpossibleDimensionsAreNamed) {
  Geometry g = small_geometry();
  g.kv_heads = 3;
  EXPECT_THROW(check_geometry(g), std::invalid_argument);
  g = small_geometry();
  g.hidden = -1;
  EXPECT_THROW(check_geometry(g), std::invalid_argument);
  EXPECT_NO_THROW(check_geometry(small_geometry()));
}

TEST(Bf16, RoundsToNearestEven) {
  EXPECT_EQ(to_bf16(1.0f), 0x3f80);
  EXPECT_EQ(from_bf16(to_bf16(257.0f)), 256.0f);  // tie, to even
  EXPECT_EQ(from_bf16(to_bf16(259.0f)), 260.0f);  // tie, to even
  EXPECT_EQ(from_bf16(to_bf16(257.1f)), 258.0f);
  EXPECT_TRUE(std::isnan(from_bf16(to_bf16(std::numeric_limits<float>::signaling_NaN()))));
  EXPECT_TRUE(exactly_representable(255.0f));
  EXPECT_TRUE(exactly_representable(1048576.0f));
  EXPECT_FALSE(exactly_representable(257.0f));
  for (std::uint32_t h = 0; h < 65536; ++h) {
    const float f = from_bf16(static_cast<std::uint16_t>(h));
    if (std::isnan(f)) continue;
    ASSERT_EQ(to_bf16(f), h);
  }
}

TEST(Fp16, ConvertsAllKindsOfNumbers) {
  EXPECT_EQ(from_fp16(0x3c00), 1.0f);
  EXPECT_EQ(from_fp16(0xc000), -2.0f);
  EXPECT_EQ(from_fp16(0x0001), std::ldexp(1.0f, -24));
  EXPECT_EQ(from_fp16(0x7bff), 65504.0f);
  EXPECT_TRUE(std::isinf(from_fp16(0x7c00)));
  EXPECT_TRUE(std::isnan(from_fp16(0x7e00)));
}

}  // namespace
}  // namespace qwengpu::qwen
