// The oracle: Qwen3.5 as its equations say (modeling_qwen3_5.py of transformers), one position at a time, in
// fp32. Weights are kept as the non-zeros of each row, because 45 dense layers would be 10 GB; nothing else
// here is clever.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "engine/activations.h"
#include "engine/engine.h"
#include "qwen/tensors.h"

namespace qwengpu::engine {

namespace {

using qwen::Geometry;
using Vector = std::vector<float>;

// The non-zeros of a [rows, cols] matrix, row by row.
struct Matrix {
  std::vector<std::size_t> row_start;  // [rows + 1]
  std::vector<std::uint32_t> col;      // [non-zeros]
  Vector value;                        // [non-zeros]
};

struct MlpWeights {
  Vector norm;  // [hidden]
  Matrix gate;  // [intermediate, hidden]
  Matrix up;    // [intermediate, hidden]
  Matrix down;  // [hidden, intermediate]
};

struct GdnWeights {
  Matrix qkv;      // [conv width, hidden]
  Matrix z;        // [value width, hidden]
  Matrix b;        // [heads, hidden]
  Matrix a;        // [heads, hidden]
  Vector conv;     // [conv width, kernel], the last tap is the current token
  Vector dt_bias;  // [heads]
  Vector A_log;    // [heads]
  Vector norm;     // [value dim]
  Matrix out;      // [hidden, value width]
};

struct AttentionWeights {
  Matrix q;       // [heads * (query | gate) head dim, hidden]
  Matrix k;       // [kv heads * head dim, hidden]
  Matrix v;       // [kv heads * head dim, hidden]
  Matrix o;       // [hidden, heads * head dim]
  Vector q_norm;  // [head dim]
  Vector k_norm;  // [head dim]
};

struct LayerWeights {
  Vector norm;  // [hidden]
  GdnWeights gdn;
  AttentionWeights attention;
  MlpWeights mlp;
};

struct Weights {
  Matrix embedding;  // [vocab, hidden]
  std::vector<LayerWeights> layers;
  Vector norm;     // [hidden]
  Matrix lm_head;  // [vocab, hidden]
};

struct LayerState {
  Vector conv;                 // [kernel - 1, conv width]: the last inputs of the convolution, oldest first
  Vector gdn;                  // [heads, key dim, value dim]
  std::vector<Vector> keys;    // one [kv heads * head dim] a position
  std::vector<Vector> values;  // one [kv heads * head dim] a position
};

struct State : Snapshot {
  int position = 0;
  Vector x;  // [hidden] the residual stream
  std::vector<LayerState> layers;
};

Matrix matrix(const qwen::SparseTensor& t) {
  Matrix m;
  m.row_start.assign(static_cast<std::size_t>(t.rows) + 1, 0);
  for (const qwen::Entry& e : t.entries) {
    ++m.row_start[e.row + 1];
    m.col.push_back(e.col);
    m.value.push_back(e.value);
  }
  std::partial_sum(m.row_start.begin(), m.row_start.end(), m.row_start.begin());
  return m;
}

Vector dense(const qwen::SparseTensor& t) {
  Vector v(static_cast<std::size_t>(t.rows) * static_cast<std::size_t>(t.cols));
  for (const qwen::Entry& e : t.entries)
    v[std::size_t{e.row} * static_cast<std::size_t>(t.cols) + e.col] = e.value;
  return v;
}

// W x
Vector matvec(const Matrix& w, std::span<const float> x) {
  Vector y(w.row_start.size() - 1);
  for (std::size_t row = 0; row < y.size(); ++row) {
    for (std::size_t i = w.row_start[row]; i < w.row_start[row + 1]; ++i) y[row] += w.value[i] * x[w.col[i]];
  }
  return y;
}

// rsqrt(mean(x^2) + eps). The sum is in double, so that it does not depend on the order of the columns.
float inverse_rms(std::span<const float> x, float eps) {
  double sum = 0;
  for (const float v : x) sum += double{v} * v;
  return 1.0f / std::sqrt(static_cast<float>(sum / static_cast<double>(x.size())) + eps);
}

// Qwen3_5RMSNorm: x * rsqrt(mean(x^2) + eps) * (1 + w)
Vector rmsnorm(std::span<const float> x, const Vector& w, float eps) {
  const float scale = inverse_rms(x, eps);
  Vector y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * scale * (1.0f + w[i]);
  return y;
}

// x * rsqrt(sum(x^2) + 1e-6)
void l2norm(std::span<float> x) {
  float sum = 0;
  for (const float v : x) sum += v * v;
  const float scale = 1.0f / std::sqrt(sum + 1e-6f);
  for (float& v : x) v *= scale;
}

void add(Vector& x, const Vector& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

// Depthwise causal convolution over the last `kernel` inputs, without bias, then SiLU. x: [conv width]
Vector causal_conv_silu(const Geometry& g, const GdnWeights& w, LayerState& state, const Vector& x) {
  const std::size_t width = x.size();
  const auto kernel = static_cast<std::size_t>(g.conv_kernel);
  Vector& window = state.conv;
  window.insert(window.end(), x.begin(), x.end());  // [kernel, conv width]
  Vector y(width);
  for (std::size_t c = 0; c < width; ++c) {
    for (std::size_t tap = 0; tap < kernel; ++tap) y[c] += w.conv[c * kernel + tap] * window[tap * width + c];
    y[c] = silu(y[c]);
  }
  window.erase(window.begin(), window.begin() + static_cast<std::ptrdiff_t>(width));
  return y;
}

// One head of the gated delta rule. S: [key dim, value dim]; q, k: [key dim]; v: [value dim]; returns o:
// [value dim].
Vector gated_delta_rule(std::span<float> S, std::span<float> q, std::span<float> k, std::span<const float> v,
                        float decay, float beta) {
  const std::size_t keys = q.size();
  const std::size_t values = v.size();
  l2norm(q);
  l2norm(k);
  for (float& x : q) x /= std::sqrt(static_cast<float>(keys));

  for (float& s : S) s *= decay;
  Vector delta(values);  // beta (v - S^T k)
  for (std::size_t i = 0; i < keys; ++i) {
    for (std::size_t j = 0; j < values; ++j) delta[j] += S[i * values + j] * k[i];
  }
  for (std::size_t j = 0; j < values; ++j) delta[j] = (v[j] - delta[j]) * beta;
  Vector o(values);
  for (std::size_t i = 0; i < keys; ++i) {
    for (std::size_t j = 0; j < values; ++j) {
      S[i * values + j] += k[i] * delta[j];
      o[j] += S[i * values + j] * q[i];
    }
  }
  return o;
}

// Qwen3_5GatedDeltaNet. y: [hidden], returns [hidden].
Vector gdn_mixer(const Geometry& g, const GdnWeights& w, LayerState& state, const Vector& y) {
  const auto K = static_cast<std::size_t>(g.gdn_key_dim);
  const auto V = static_cast<std::size_t>(g.gdn_value_dim);
  Vector qkv = causal_conv_silu(g, w, state, matvec(w.qkv, y));  // [q | k | v]
  const std::span<float> q = std::span(qkv).first(static_cast<std::size_t>(g.gdn_key_width()));
  const std::span<float> k = std::span(qkv).subspan(q.size(), q.size());
  const std::span<float> v = std::span(qkv).subspan(2 * q.size());
  const Vector z = matvec(w.z, y);  // [value width]
  const Vector b = matvec(w.b, y);  // [heads]
  const Vector a = matvec(w.a, y);  // [heads]

  Vector out(v.size());  // [value width]
  for (std::size_t h = 0; h < static_cast<std::size_t>(g.gdn_heads); ++h) {
    const float beta = sigmoid(b[h]);
    const float decay = std::exp(-std::exp(w.A_log[h]) * softplus(a[h] + w.dt_bias[h]));
    const std::span<float> S = std::span(state.gdn).subspan(h * K * V, K * V);
    const Vector o =
        gated_delta_rule(S, q.subspan(h * K, K), k.subspan(h * K, K), v.subspan(h * V, V), decay, beta);
    // Qwen3_5RMSNormGated: here the weight is not zero-centred.
    const float scale = inverse_rms(o, g.rms_eps);
    for (std::size_t j = 0; j < V; ++j) out[h * V + j] = w.norm[j] * (o[j] * scale) * silu(z[h * V + j]);
  }
  return matvec(w.out, out);
}

// Rotary embedding of the first `rotary_dim` values of a head, in pairs (i, i + rotary_dim / 2). For text the
// three sections of mrope have equal positions, so it is the ordinary one.
void rotate(const Geometry& g, std::span<float> head, int position) {
  const int half = g.rotary_dim / 2;
  for (int i = 0; i < half; ++i) {
    const auto frequency = static_cast<float>(1.0 / std::pow(g.rope_theta, 2.0 * i / g.rotary_dim));
    const float angle = static_cast<float>(position) * frequency;
    const float a = head[i], b = head[i + half];
    head[i] = a * std::cos(angle) - b * std::sin(angle);
    head[i + half] = b * std::cos(angle) + a * std::sin(angle);
  }
}

// Qwen3_5Attention. y: [hidden], returns [hidden].
Vector attention_mixer(const Geometry& g, const AttentionWeights& w, LayerState& state, int position,
                       const Vector& y) {
  const auto D = static_cast<std::size_t>(g.head_dim);
  const auto heads = static_cast<std::size_t>(g.attention_heads);
  const auto kv_heads = static_cast<std::size_t>(g.kv_heads);
  const Vector qg = matvec(w.q, y);  // [heads, query | gate, head dim]
  Vector k = matvec(w.k, y);         // [kv heads, head dim]
  for (std::size_t h = 0; h < kv_heads; ++h) {
    const Vector normed = rmsnorm(std::span(k).subspan(h * D, D), w.k_norm, g.rms_eps);
    std::copy(normed.begin(), normed.end(), k.begin() + static_cast<std::ptrdiff_t>(h * D));
    rotate(g, std::span(k).subspan(h * D, D), position);
  }
  state.keys.push_back(k);
  state.values.push_back(matvec(w.v, y));

  Vector out(heads * D);
  for (std::size_t h = 0; h < heads; ++h) {
    Vector q = rmsnorm(std::span(qg).subspan(2 * h * D, D), w.q_norm, g.rms_eps);
    rotate(g, q, position);
    const std::size_t kv = h / (heads / kv_heads) * D;  // offset of the shared key-value head
    Vector weight(state.keys.size());                   // softmax(q k^T / sqrt(head dim))
    for (std::size_t t = 0; t < weight.size(); ++t) {
      for (std::size_t i = 0; i < D; ++i) weight[t] += q[i] * state.keys[t][kv + i];
      weight[t] /= std::sqrt(static_cast<float>(D));
    }
    const float largest = *std::max_element(weight.begin(), weight.end());
    float total = 0;
    for (float& x : weight) total += x = std::exp(x - largest);
    for (std::size_t t = 0; t < weight.size(); ++t) {
      for (std::size_t i = 0; i < D; ++i) out[h * D + i] += weight[t] / total * state.values[t][kv + i];
    }
    for (std::size_t i = 0; i < D; ++i) out[h * D + i] *= sigmoid(qg[(2 * h + 1) * D + i]);
  }
  return matvec(w.o, out);
}

// down(silu(gate y) * up y). y: [hidden], returns [hidden].
Vector mlp(const MlpWeights& w, const Vector& y) {
  Vector gate = matvec(w.gate, y);    // [intermediate]
  const Vector up = matvec(w.up, y);  // [intermediate]
  for (std::size_t n = 0; n < gate.size(); ++n) gate[n] = silu(gate[n]) * up[n];
  return matvec(w.down, gate);
}

Weights load(const qwen::Checkpoint& c) {
  const Geometry& g = c.geometry;
  Weights w;
  w.embedding = matrix(c.at("model.embed_tokens.weight"));
  w.norm = dense(c.at("model.norm.weight"));
  w.lm_head = g.tie_embeddings ? w.embedding : matrix(c.at("lm_head.weight"));
  for (int layer = 0; layer < g.layers; ++layer) {
    const auto tensor = [&](const char* name) -> const qwen::SparseTensor& {
      return c.at(qwen::layer_tensor(layer, name));
    };
    LayerWeights& l = w.layers.emplace_back();
    l.norm = dense(tensor("input_layernorm.weight"));
    if (g.is_attention(layer)) {
      l.attention.q = matrix(tensor("self_attn.q_proj.weight"));
      l.attention.k = matrix(tensor("self_attn.k_proj.weight"));
      l.attention.v = matrix(tensor("self_attn.v_proj.weight"));
      l.attention.o = matrix(tensor("self_attn.o_proj.weight"));
      l.attention.q_norm = dense(tensor("self_attn.q_norm.weight"));
      l.attention.k_norm = dense(tensor("self_attn.k_norm.weight"));
    } else {
      l.gdn.qkv = matrix(tensor("linear_attn.in_proj_qkv.weight"));
      l.gdn.z = matrix(tensor("linear_attn.in_proj_z.weight"));
      l.gdn.b = matrix(tensor("linear_attn.in_proj_b.weight"));
      l.gdn.a = matrix(tensor("linear_attn.in_proj_a.weight"));
      l.gdn.conv = dense(tensor("linear_attn.conv1d.weight"));
      l.gdn.dt_bias = dense(tensor("linear_attn.dt_bias"));
      l.gdn.A_log = dense(tensor("linear_attn.A_log"));
      l.gdn.norm = dense(tensor("linear_attn.norm.weight"));
      l.gdn.out = matrix(tensor("linear_attn.out_proj.weight"));
    }
    l.mlp.norm = dense(tensor("post_attention_layernorm.weight"));
    l.mlp.gate = matrix(tensor("mlp.gate_proj.weight"));
    l.mlp.up = matrix(tensor("mlp.up_proj.weight"));
    l.mlp.down = matrix(tensor("mlp.down_proj.weight"));
  }
  return w;
}

class Reference : public Engine {
 public:
  explicit Reference(const qwen::Checkpoint& c) : Engine(c.geometry), w_(load(c)) { reset(); }

  void reset() override {
    s_ = State();
    s_.x.assign(static_cast<std::size_t>(geometry_.hidden), 0.0f);
    s_.layers.resize(w_.layers.size());
    for (int layer = 0; layer < geometry_.layers; ++layer) {
      if (geometry_.is_attention(layer)) continue;
      s_.layers[layer].conv.assign(
          static_cast<std::size_t>(geometry_.conv_kernel - 1) * geometry_.gdn_conv_width(), 0);
      s_.layers[layer].gdn.assign(static_cast<std::size_t>(geometry_.gdn_heads) * head_size(), 0);
    }
  }

  void append(int token) override {
    check_token(token);
    std::fill(s_.x.begin(), s_.x.end(), 0.0f);
    const Matrix& e = w_.embedding;
    for (std::size_t i = e.row_start[token]; i < e.row_start[token + 1]; ++i) s_.x[e.col[i]] = e.value[i];
    forward();
  }

  void append_embedding(std::span<const float> hidden) override {
    check_embedding(hidden);
    s_.x.assign(hidden.begin(), hidden.end());
    forward();
  }

  int argmax() override {
    const Vector y = logits();
    return static_cast<int>(std::max_element(y.begin(), y.end()) - y.begin());
  }

  std::vector<float> logits() override {
    check_not_empty();
    return matvec(w_.lm_head, rmsnorm(s_.x, w_.norm, geometry_.rms_eps));
  }

  std::span<const float> residual() const override { return s_.x; }

  std::span<const float> gdn_state(int layer, int head) const override {
    check_head(layer, head);
    return std::span(s_.layers[layer].gdn).subspan(head * head_size(), head_size());
  }

  int position() const override { return s_.position; }
  std::shared_ptr<const Snapshot> save() const override { return std::make_shared<State>(s_); }
  void restore(const Snapshot& snapshot) override {
    const auto* state = dynamic_cast<const State*>(&snapshot);
    if (state == nullptr || state->layers.size() != s_.layers.size() || state->x.size() != s_.x.size()) {
      throw std::invalid_argument("the snapshot is not of this kind of engine and model");
    }
    s_ = *state;
  }

 private:
  std::size_t head_size() const {
    return static_cast<std::size_t>(geometry_.gdn_key_dim) *
           static_cast<std::size_t>(geometry_.gdn_value_dim);
  }

  void report(int sublayer) {
    if (hook_) hook_(sublayer, s_.x);
  }

  // Qwen3_5DecoderLayer, for all layers
  void forward() {
    const Geometry& g = geometry_;
    report(-1);
    for (int layer = 0; layer < g.layers; ++layer) {
      const LayerWeights& l = w_.layers[layer];
      LayerState& state = s_.layers[layer];
      const Vector y = rmsnorm(s_.x, l.norm, g.rms_eps);
      add(s_.x, g.is_attention(layer) ? attention_mixer(g, l.attention, state, s_.position, y)
                                      : gdn_mixer(g, l.gdn, state, y));
      report(2 * layer);
      add(s_.x, mlp(l.mlp, rmsnorm(s_.x, l.mlp.norm, g.rms_eps)));
      report(2 * layer + 1);
    }
    ++s_.position;
  }

  Weights w_;
  State s_;
};

}  // namespace

std::unique_ptr<Engine> make_reference(const qwen::Checkpoint& checkpoint) {
  qwen::check_geometry(checkpoint.geometry);
  return std::make_unique<Reference>(checkpoint);
}

}  // namespace qwengpu::engine
