// Small checkpoints for tests and benchmarks.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "qwen/bf16.h"
#include "qwen/checkpoint.h"

namespace qwengpu::qwen {

// All kinds of layers and no two dimensions alike where the architecture lets them differ.
inline Geometry small_geometry() {
  Geometry g;
  g.layers = 4;
  g.vocab = 40;
  g.hidden = 64;
  g.intermediate = 96;
  g.gdn_heads = 2;
  g.gdn_key_dim = 16;
  g.gdn_value_dim = 16;
  g.attention_heads = 4;
  g.kv_heads = 2;
  g.head_dim = 24;
  g.rotary_dim = 8;
  return g;
}

inline void add_random_spellings(Checkpoint& c) {
  for (int token = 0; token < c.geometry.vocab; ++token) {
    c.token_spellings.push_back(token % 3 == 0 ? fmt::format("<w {}>\n", token)
                                               : fmt::format("\"t\\{}é", token));
  }
  c.eos_token = c.geometry.vocab - 1;
  c.pad_token = c.geometry.vocab - 2;
}

// Ordinary random weights: every projection has the given share of non-zeros, scaled so that activations stay
// near 1. All values are exact in bf16.
inline Checkpoint random_checkpoint(const Geometry& g, std::uint_fast32_t seed, double density = 0.5) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<double> uniform;
  Checkpoint c(g);
  for (auto& [name, t] : c.tensors) {
    const bool conv = name.find("conv1d") != std::string::npos;
    const double share = t.one_dimensional || conv ? 1.0 : density;
    const auto fan_in = static_cast<float>(std::max(1.0, t.cols * share));
    const float size = t.one_dimensional                         ? 0.3f
                       : conv                                    ? 0.6f
                       : name.find("embed") != std::string::npos ? 1.0f
                                                                 : 1.5f / std::sqrt(fan_in);
    for (int r = 0; r < t.rows; ++r) {
      for (int k = 0; k < t.cols; ++k) {
        if (uniform(random) < share) {
          t.entries.push_back({static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(k),
                               from_bf16(to_bf16(size * normal(random)))});
        }
      }
    }
  }
  add_random_spellings(c);
  c.finish();
  return c;
}

}  // namespace qwengpu::qwen
