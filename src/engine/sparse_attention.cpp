#include "engine/sparse_attention.h"

#include <algorithm>
#include <cmath>

#include "engine/activations.h"

namespace qwengpu::engine {

namespace {

std::vector<float> project(const ListMatrix& w, const std::vector<float>& y) {
  std::vector<float> out(w.start.size() - 1);
  for (std::size_t r = 0; r < out.size(); ++r) {
    for (std::uint32_t e = w.start[r]; e < w.start[r + 1]; ++e)
      out[r] += w.synapses[e].weight * y[w.synapses[e].row];
  }
  return out;
}

// RMSNorm of one head, then rotary embedding in the pairs (i, i + rotary / 2).
void norm_and_rotate(const qwen::Geometry& g, float* head, const std::vector<float>& weight, int position) {
  double energy = 0;
  for (int i = 0; i < g.head_dim; ++i) energy += double{head[i]} * head[i];
  const float scale = 1.0f / std::sqrt(static_cast<float>(energy / g.head_dim) + g.rms_eps);
  for (int i = 0; i < g.head_dim; ++i) head[i] *= scale * weight[i];
  const int half = g.rotary_dim / 2;
  for (int i = 0; i < half; ++i) {
    const auto frequency = static_cast<float>(std::pow(g.rope_theta, -2.0 * i / g.rotary_dim));
    const float angle = static_cast<float>(position) * frequency;
    const float cosine = std::cos(angle), sine = std::sin(angle);
    const float low = head[i], high = head[i + half];
    head[i] = low * cosine - high * sine;
    head[i + half] = high * cosine + low * sine;
  }
}

}  // namespace

std::vector<float> attend(const qwen::Geometry& g, const Attention& w, std::span<const float> x, float scale,
                          int position, KvCache& cache) {
  std::vector<float> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * scale * w.input_norm[i];
  std::vector<float> qg = project(w.q, y);  // [heads, query | gate, head dim]
  std::vector<float> k = project(w.k, y);
  const std::vector<float> v = project(w.v, y);
  for (int h = 0; h < g.kv_heads; ++h) norm_and_rotate(g, &k[h * g.head_dim], w.k_norm, position);
  cache.keys.insert(cache.keys.end(), k.begin(), k.end());
  cache.values.insert(cache.values.end(), v.begin(), v.end());

  const std::size_t stride = k.size();
  const std::size_t positions = cache.keys.size() / stride;
  const float root = std::sqrt(static_cast<float>(g.head_dim));
  std::vector<float> out(static_cast<std::size_t>(g.attention_heads) * g.head_dim);
  std::vector<float> weight(positions);
  for (int h = 0; h < g.attention_heads; ++h) {
    float* q = &qg[2 * h * g.head_dim];
    norm_and_rotate(g, q, w.q_norm, position);
    const std::size_t kv = static_cast<std::size_t>(h / (g.attention_heads / g.kv_heads)) * g.head_dim;
    float largest = -HUGE_VALF;
    for (std::size_t t = 0; t < positions; ++t) {
      const float* key = &cache.keys[t * stride + kv];
      float dot = 0;
      for (int i = 0; i < g.head_dim; ++i) dot += q[i] * key[i];
      weight[t] = dot / root;
      largest = std::max(largest, weight[t]);
    }
    float total = 0;
    for (float& e : weight) {
      e = std::exp(e - largest);
      total += e;
    }
    float* o = &out[static_cast<std::size_t>(h) * g.head_dim];
    for (std::size_t t = 0; t < positions; ++t) {
      const float* value = &cache.values[t * stride + kv];
      const float share = weight[t] / total;
      for (int i = 0; i < g.head_dim; ++i) o[i] += share * value[i];
    }
    const float* gate = q + g.head_dim;
    for (int i = 0; i < g.head_dim; ++i) o[i] *= sigmoid(gate[i]);
  }
  return out;
}

}  // namespace qwengpu::engine
