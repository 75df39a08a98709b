// Checkpoints that exercise the engines: random ones of every shape, and a hand-made memory.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "qwen/checkpoint.h"
#include "qwen/test_checkpoint.h"

namespace qwengpu::engine {

// A geometry drawn at random, with both kinds of layers.
inline qwen::Geometry random_geometry(std::mt19937& random) {
  const auto pick = [&](std::initializer_list<int> choices) {
    return *(choices.begin() + random() % choices.size());
  };
  qwen::Geometry g;
  g.layers = pick({4, 5, 8});
  g.vocab = pick({17, 40, 130});
  g.hidden = pick({24, 64, 100});
  g.intermediate = pick({32, 96, 200});
  g.full_attention_interval = pick({2, 4});
  g.gdn_heads = pick({1, 2, 3});
  g.gdn_key_dim = pick({8, 16, 72});
  g.gdn_value_dim = pick({8, 16, 20});
  g.conv_kernel = pick({1, 2, 4});
  g.kv_heads = pick({1, 2});
  g.attention_heads = g.kv_heads * pick({1, 2});
  g.head_dim = pick({8, 24});
  g.rotary_dim = pick({4, 8});
  g.tie_embeddings = pick({0, 1}) != 0;
  return g;
}

// One tensor's entries by place, for models written by hand.
class Writer {
 public:
  Writer(qwen::Checkpoint& c, int layer) : c_(c), layer_(layer) {}
  void set(const char* suffix, int row, int col, float value) {
    c_.at(qwen::layer_tensor(layer_, suffix))
        .entries.push_back({static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(col), value});
  }

 private:
  qwen::Checkpoint& c_;
  int layer_;
};

// What one token of the memory model does; -1 is nothing.
struct MemoryToken {
  int write_key = -1;
  std::vector<int> value;  // value dims written as 1
  int read_key = -1;
  std::vector<int> read_dims;  // value dims let through by z
  bool clear = false;
};

// One GDN layer whose head `head` is a memory of gdn_key_dim words, in the way of the design's "Exactness by
// discipline": ballast 2^20 in two columns gives the norm x 2^-15 at width 2048, gain 128, one-hot keys, beta
// from +-128, clear by +256 over dt_bias -128. What is read appears in the columns from `result_column` on.
struct MemoryModel {
  qwen::Checkpoint checkpoint;
  int head = 0;
  int result_column = 0;
};

inline MemoryModel memory_model(const std::vector<MemoryToken>& tokens, int layers = 1) {
  constexpr float kScale = 32768.0f;  // 2^15 in the projections undoes the norm
  constexpr float kGain = 128.0f * kScale;
  qwen::Geometry g;
  g.layers = layers;
  g.vocab = static_cast<int>(tokens.size());
  const int K = g.gdn_key_dim, V = g.gdn_value_dim;
  const int one = 2, writes = 3, clears = 4, keys = 64, queries = keys + K, values = queries + K,
            gates = values + V;
  MemoryModel m{qwen::Checkpoint(g), 5, gates + V};
  qwen::Checkpoint& c = m.checkpoint;
  auto& embedding = c.at("model.embed_tokens.weight").entries;
  for (std::uint32_t id = 0; id < tokens.size(); ++id) {
    const MemoryToken& t = tokens[id];
    const auto on = [&](int column, float value) {
      embedding.push_back({id, static_cast<std::uint32_t>(column), value});
    };
    on(0, 1048576.0f);
    on(1, 1048576.0f);
    on(one, 1);
    if (t.write_key >= 0) {
      on(writes, 1);
      on(keys + t.write_key, 1);
    }
    for (const int dim : t.value) on(values + dim, 1);
    if (t.read_key >= 0) on(queries + t.read_key, 1);
    for (const int dim : t.read_dims) on(gates + dim, 1);
    if (t.clear) on(clears, 1);
  }
  Writer w(c, 0);
  const int H = g.gdn_heads, P = m.head;
  for (int i = 0; i < K; ++i) {
    w.set("linear_attn.in_proj_qkv.weight", P * K + i, queries + i, kGain);
    w.set("linear_attn.in_proj_qkv.weight", (H + P) * K + i, keys + i, kGain);
  }
  for (int j = 0; j < V; ++j) {
    w.set("linear_attn.in_proj_qkv.weight", 2 * H * K + P * V + j, values + j, kGain);
    w.set("linear_attn.in_proj_z.weight", P * V + j, gates + j, kGain);
    w.set("linear_attn.norm.weight", j, 0, 1);
    w.set("linear_attn.out_proj.weight", m.result_column + j, P * V + j, 1 / 128.0f);
  }
  for (int channel = 0; channel < g.gdn_conv_width(); ++channel) {
    w.set("linear_attn.conv1d.weight", channel, g.conv_kernel - 1, 1);
  }
  for (int h = 0; h < H; ++h) {
    w.set("linear_attn.in_proj_b.weight", h, one, -kGain);
    w.set("linear_attn.dt_bias", h, 0, -128);
  }
  w.set("linear_attn.in_proj_b.weight", P, writes, 2 * kGain);
  w.set("linear_attn.in_proj_a.weight", P, clears, 2 * kGain);
  // Logit of token `id` is what was read in value dim id.
  for (int id = 0; id < std::min(g.vocab, V); ++id) {
    c.at("lm_head.weight")
        .entries.push_back(
            {static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(m.result_column + id), kScale});
  }
  qwen::add_random_spellings(c);
  c.finish();
  return m;
}

}  // namespace qwengpu::engine
