// Gated full attention for the sparse engine. Constructed weights leave it inert, so it is written for
// clarity, not speed.
#pragma once

#include <span>
#include <vector>

#include "engine/sparse_model.h"

namespace qwengpu::engine {

struct KvCache {
  std::vector<float> keys;    // [positions, kv heads, head dim], normed and rotated
  std::vector<float> values;  // [positions, kv heads, head dim]
};

// x: the residual stream [hidden]; scale: rsqrt(mean(x^2) + eps). Appends to the cache; returns the gated
// values [heads, head dim] that o_proj reads.
std::vector<float> attend(const qwen::Geometry& geometry, const Attention& weights, std::span<const float> x,
                          float scale, int position, KvCache& cache);

}  // namespace qwengpu::engine
