// The forward pass of the sparse engine over a compiled model. All functions are inline: they are compiled
// into one function per instruction set (sparse.cpp).
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "engine/activations.h"
#include "engine/engine.h"
#include "engine/sparse_attention.h"
#include "engine/sparse_model.h"

namespace qwengpu::engine {

struct SparseState : Snapshot {
  int position = 0;
  std::vector<float> x;  // [hidden] the residual stream; constant columns as difference to their constant
  ColumnSet active;      // columns of x that are not 0
  double energy = 0;     // sum of squares of the true residual stream

  std::vector<float> gdn;      // all heads of all layers, [key dim, value dim] each, as laid out by the model
  ColumnSet used_keys;         // keys whose row of `gdn` may be non-zero, a set per head
  std::vector<float> history;  // inputs of convolutions that look back
  std::vector<int> history_live;  // per such block: positions until all its history is 0
  std::vector<KvCache> attention;
};

// Working memory of one position; nothing in it outlives the position.
struct Scratch {
  explicit Scratch(const SparseModel& m);

  Hits hits;
  Accumulator<std::uint16_t> rows;     // pushes into projections
  Accumulator<std::uint16_t> columns;  // pushes into the residual stream
  std::uint32_t column_count = 0;
  Accumulator<std::uint32_t> logits;
  std::vector<std::uint16_t> neuron;  // neurons that fire, and their activations
  std::vector<float> activation;
  std::vector<std::uint16_t> z_row;  // [heads, value dim] per head: value dims with silu(z) != 0
  std::vector<float> z_value;
  std::vector<std::uint32_t> z_count;  // [heads]
  std::vector<float> beta, decay;      // [heads]
  std::vector<std::uint16_t> key, query;
  std::vector<float> key_value, query_value;  // [key dim]
  std::vector<float> v, delta, o;             // [value dim]
  std::vector<float> zeros;                   // stands for an absent baseline
  std::vector<float> dense;                   // [hidden] for attention

  double mean = -1;  // memory of the last scale
  float scale = 0;
};

// rsqrt(mean(x^2) + eps)
inline float norm_scale(const SparseModel& m, const SparseState& s, Scratch& t) {
  const double mean = s.energy / m.geometry.hidden;
  if (mean != t.mean) {
    t.mean = mean;
    t.scale = 1.0f / std::sqrt(static_cast<float>(mean) + m.geometry.rms_eps);
  }
  return t.scale;
}

// Lists in t.rows the rows of the bank that may be non-zero; returns their number. The caller takes every one
// with `take`.
inline std::uint32_t touch(Bank& bank, const SparseState& s, Scratch& t, float scale) {
  std::uint32_t count = 0;
  if (!bank.baseline.empty()) {
    if (bank.always_scale != scale) {
      bank.always_scale = scale;
      bank.always.clear();
      for (const std::uint16_t r : bank.baseline_rows) {
        if (fast_silu(bank.baseline[r] * scale) != 0) bank.always.push_back(r);
      }
    }
    for (const std::uint16_t r : bank.always) {
      t.rows.mark[r] = 1;
      t.rows.list[count++] = r;
    }
  }
  return push(bank.columns, s.x.data(), s.active.data(), t.hits, t.rows, count);
}

inline const float* baseline_of(const Bank& bank, const Scratch& t) {
  return bank.baseline.empty() ? t.zeros.data() : bank.baseline.data();
}

// The scaled sum of a listed row, which leaves the list.
inline float take(Scratch& t, std::uint16_t row, float baseline, float scale) {
  const float pre = (baseline + t.rows.sum[row]) * scale;
  t.rows.sum[row] = 0;
  t.rows.mark[row] = 0;
  return pre;
}

// Adds value times the weights of synapses to the residual columns; takes effect in `update_residual`.
inline void push_out(const Synapse<std::uint16_t>* __restrict first, const Synapse<std::uint16_t>* last,
                     float value, Scratch& t) {
  float* __restrict sum = t.columns.sum.data();
  std::uint8_t* __restrict mark = t.columns.mark.data();
  std::uint16_t* __restrict list = t.columns.list.data();
  std::uint32_t count = t.column_count;
  for (; first != last; ++first) {
    const std::uint16_t c = first->row;
    sum[c] += first->weight * value;
    list[count] = c;
    count += mark[c] ^ 1u;
    mark[c] = 1;
  }
  t.column_count = count;
}
inline void push_out(const ListMatrix& m, std::size_t index, float value, Scratch& t) {
  push_out(m.synapses.data() + m.start[index], m.synapses.data() + m.start[index + 1], value, t);
}

inline void update_residual(SparseState& s, Scratch& t) {
  for (std::uint32_t i = 0; i < t.column_count; ++i) {
    const std::uint16_t c = t.columns.list[i];
    const float before = s.x[c];
    const float after = before + t.columns.sum[c];
    t.columns.sum[c] = 0;
    t.columns.mark[c] = 0;
    s.x[c] = after;
    s.energy += double{after} * after - double{before} * before;
    const std::uint64_t bit = std::uint64_t{1} << (c % 64);
    std::uint64_t& word = s.active[c / 64];
    word = after != 0 ? word | bit : word & ~bit;
  }
  t.column_count = 0;
}

// down(silu(gate y) * up y)
inline void run_mlp(const SparseModel& m, Mlp& mlp, SparseState& s, Scratch& t) {
  if (mlp.gate.rows == 0) return;
  const float scale = norm_scale(m, s, t);
  const std::uint32_t count = touch(mlp.gate, s, t, scale);
  const Neuron* neurons = mlp.neurons.data();
  std::uint32_t open = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint16_t n = t.rows.list[i];
    const float gate = fast_silu(take(t, n, neurons[n].gate_baseline, scale));
    if (gate == 0) continue;
    __builtin_prefetch(mlp.up.data() + neurons[n].up);
    __builtin_prefetch(mlp.down.data() + neurons[n].down);
    t.neuron[open] = n;
    t.activation[open] = gate;
    ++open;
  }
  for (std::uint32_t i = 0; i < open; ++i) {
    const Neuron* n = neurons + t.neuron[i];
    float up = n[0].up_baseline;
    for (std::uint32_t e = n[0].up; e < n[1].up; ++e) up += mlp.up[e].weight * s.x[mlp.up[e].row];
    const float activation = t.activation[i] * (up * scale);
    if (activation != 0) push_out(mlp.down.data() + n[0].down, mlp.down.data() + n[1].down, activation, t);
  }
  update_residual(s, t);
}

// Convolution with history and SiLU: every row, in full.
inline std::uint32_t run_history_block(const SparseModel& m, Block& block, SparseState& s, Scratch& t,
                                       float scale, std::uint16_t* index, float* value) {
  const auto rows = static_cast<std::size_t>(block.bank.rows);
  const auto kernel = static_cast<std::size_t>(m.geometry.conv_kernel);
  const std::uint32_t touched = push(block.bank.columns, s.x.data(), s.active.data(), t.hits, t.rows, 0);
  int& live = s.history_live[block.history_index];
  if (touched != 0 || !block.bank.baseline.empty()) live = static_cast<int>(kernel);
  if (live == 0) return 0;
  --live;
  const float* baseline = baseline_of(block.bank, t);
  float* history = &s.history[block.history_at];
  std::uint32_t count = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    const float* taps = &block.taps[r * kernel];
    const float now = take(t, static_cast<std::uint16_t>(r), baseline[r], scale);
    float sum = 0;
    for (std::size_t tap = 0; tap + 1 < kernel; ++tap) {
      float& past = history[tap * rows + r];
      sum += taps[tap] * past;
      past = tap + 2 < kernel ? history[(tap + 1) * rows + r] : now;
    }
    const float out = fast_silu(sum + taps[kernel - 1] * now);
    if (out == 0) continue;
    index[count] = static_cast<std::uint16_t>(r);
    value[count] = out;
    ++count;
  }
  return count;
}

// Lists the non-zero rows of a block after convolution and SiLU; returns their number.
inline std::uint32_t run_block(const SparseModel& m, Block& block, SparseState& s, Scratch& t, float scale,
                               std::uint16_t* index, float* value) {
  if (block.history) return run_history_block(m, block, s, t, scale, index, value);
  const std::uint32_t touched = touch(block.bank, s, t, scale);
  const float* baseline = baseline_of(block.bank, t);
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < touched; ++i) {
    const std::uint16_t r = t.rows.list[i];
    const float out = fast_silu(take(t, r, baseline[r], scale));
    if (out == 0) continue;
    index[count] = r;
    value[count] = out;
    ++count;
  }
  return count;
}

// x * rsqrt(sum(x^2) + 1e-6) * factor; zeros do not count
inline void l2_normalise(float* x, std::uint32_t count, float divisor) {
  float sum = 0;
  for (std::uint32_t i = 0; i < count; ++i) sum += x[i] * x[i];
  const float scale = 1.0f / std::sqrt(sum + 1e-6f);
  for (std::uint32_t i = 0; i < count; ++i) x[i] = x[i] * scale / divisor;
}

inline void head_decay(const SparseModel& m, float* S, std::uint64_t* used, float decay) {
  const auto V = static_cast<std::size_t>(m.geometry.gdn_value_dim);
  for (std::size_t w = 0; w < m.key_words; ++w) {
    for (std::uint64_t keys = used[w]; keys != 0; keys &= keys - 1) {
      float* __restrict row = S + (w * 64 + static_cast<std::size_t>(std::countr_zero(keys))) * V;
      if (decay == 0) {
        std::memset(row, 0, V * sizeof(float));
      } else {
        for (std::size_t j = 0; j < V; ++j) row[j] *= decay;
      }
    }
    if (decay == 0) used[w] = 0;
  }
}

// S <- S + k (beta (v - S^T k))^T
inline void head_write(const SparseModel& m, float* S, std::uint64_t* used, float beta, std::uint32_t keys,
                       std::uint32_t values, Scratch& t) {
  const auto V = static_cast<std::size_t>(m.geometry.gdn_value_dim);
  float* __restrict delta = t.delta.data();
  l2_normalise(t.key_value.data(), keys, 1.0f);
  for (std::size_t j = 0; j < V; ++j) delta[j] = 0;
  for (std::uint32_t i = 0; i < keys; ++i) {
    const std::uint16_t key = t.key[i];
    if ((used[key / 64] >> (key % 64) & 1) == 0) continue;
    const float* __restrict row = S + key * V;
    const float k = t.key_value[i];
    for (std::size_t j = 0; j < V; ++j) delta[j] += row[j] * k;
  }
  for (std::uint32_t i = 0; i < values; ++i) t.v[t.query[i]] = t.query_value[i];
  const float* __restrict v = t.v.data();
  for (std::size_t j = 0; j < V; ++j) delta[j] = (v[j] - delta[j]) * beta;
  for (std::uint32_t i = 0; i < values; ++i) t.v[t.query[i]] = 0;
  for (std::uint32_t i = 0; i < keys; ++i) {
    const std::uint16_t key = t.key[i];
    used[key / 64] |= std::uint64_t{1} << (key % 64);
    float* __restrict row = S + key * V;
    const float k = t.key_value[i];
    for (std::size_t j = 0; j < V; ++j) row[j] += k * delta[j];
  }
}

// o = S^T q, RMSNorm over all value dims, gate by silu(z), out_proj
inline void head_read(const SparseModel& m, const Gdn& gdn, std::size_t head, const float* S,
                      const std::uint64_t* used, std::uint32_t queries, Scratch& t) {
  const auto V = static_cast<std::size_t>(m.geometry.gdn_value_dim);
  float* __restrict o = t.o.data();
  bool any = false;
  l2_normalise(t.query_value.data(), queries, std::sqrt(static_cast<float>(m.geometry.gdn_key_dim)));
  for (std::uint32_t i = 0; i < queries; ++i) {
    const std::uint16_t key = t.query[i];
    if ((used[key / 64] >> (key % 64) & 1) == 0) continue;
    if (!any) {
      for (std::size_t j = 0; j < V; ++j) o[j] = 0;
      any = true;
    }
    const float* __restrict row = S + key * V;
    const float q = t.query_value[i];
    for (std::size_t j = 0; j < V; ++j) o[j] += row[j] * q;
  }
  if (!any) return;
  // Eight partial sums, so that the compiler may use vector instructions.
  float part[8] = {};
  std::size_t j = 0;
  for (; j + 8 <= V; j += 8) {
    for (std::size_t lane = 0; lane < 8; ++lane) part[lane] += o[j + lane] * o[j + lane];
  }
  float sum = 0;
  for (; j < V; ++j) sum += o[j] * o[j];
  for (const float p : part) sum += p;
  const float scale = 1.0f / std::sqrt(sum / static_cast<float>(V) + m.geometry.rms_eps);
  for (std::uint32_t i = 0; i < t.z_count[head]; ++i) {
    const std::size_t dim = t.z_row[head * V + i];
    const float out = gdn.norm[dim] * (o[dim] * scale) * t.z_value[head * V + i];
    if (out != 0) push_out(gdn.out, head * V + dim, out, t);
  }
}

inline void set_beta_decay(Gdn& gdn, std::size_t heads, std::size_t h, float b, float a, float scale,
                           float& beta, float& decay) {
  beta = fast_sigmoid((gdn.ba_baseline[h] + b) * scale);
  decay = fast_decay(gdn.rate[h] * fast_softplus((gdn.ba_baseline[heads + h] + a) * scale + gdn.dt_bias[h]));
}

struct HeadSets {
  std::uint64_t writing = 0;   // beta != 0
  std::uint64_t decaying = 0;  // decay != 1
};

// beta = sigmoid(b), decay = exp(-exp(A_log) softplus(a + dt_bias)) into t.beta, t.decay
inline HeadSets run_beta_decay(const SparseModel& m, Gdn& gdn, const SparseState& s, Scratch& t,
                               float scale) {
  const auto H = static_cast<std::size_t>(m.geometry.gdn_heads);
  if (gdn.idle_scale != scale) {
    gdn.idle_scale = scale;
    gdn.idle_beta_heads = gdn.idle_decay_heads = 0;
    for (std::size_t h = 0; h < H; ++h) {
      set_beta_decay(gdn, H, h, 0, 0, scale, gdn.idle_beta[h], gdn.idle_decay[h]);
      if (gdn.idle_beta[h] != 0) gdn.idle_beta_heads |= std::uint64_t{1} << h;
      if (gdn.idle_decay[h] != 1) gdn.idle_decay_heads |= std::uint64_t{1} << h;
    }
  }
  HeadSets sets{gdn.idle_beta_heads, gdn.idle_decay_heads};
  const std::uint32_t touched = push(gdn.ba, s.x.data(), s.active.data(), t.hits, t.rows, 0);
  std::uint64_t changed = 0;
  for (std::uint32_t i = 0; i < touched; ++i) changed |= std::uint64_t{1} << (t.rows.list[i] % H);
  for (std::uint64_t heads = sets.writing | sets.decaying; heads != 0; heads &= heads - 1) {
    const auto h = static_cast<std::size_t>(std::countr_zero(heads));
    t.beta[h] = gdn.idle_beta[h];
    t.decay[h] = gdn.idle_decay[h];
  }
  for (std::uint64_t heads = changed; heads != 0; heads &= heads - 1) {
    const auto h = static_cast<std::size_t>(std::countr_zero(heads));
    set_beta_decay(gdn, H, h, t.rows.sum[h], t.rows.sum[H + h], scale, t.beta[h], t.decay[h]);
    t.rows.sum[h] = t.rows.sum[H + h] = 0;
    t.rows.mark[h] = t.rows.mark[H + h] = 0;
    const std::uint64_t bit = std::uint64_t{1} << h;
    sets.writing = t.beta[h] != 0 ? sets.writing | bit : sets.writing & ~bit;
    sets.decaying = t.decay[h] != 1 ? sets.decaying | bit : sets.decaying & ~bit;
  }
  return sets;
}

// silu(z) by head into t.z_*; returns the heads with any
inline std::uint64_t run_z(const SparseModel& m, Gdn& gdn, const SparseState& s, Scratch& t, float scale) {
  const auto V = static_cast<std::uint32_t>(m.geometry.gdn_value_dim);
  const std::uint32_t count = touch(gdn.z, s, t, scale);
  const float* baseline = baseline_of(gdn.z, t);
  std::uint64_t heads = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint16_t r = t.rows.list[i];
    const float z = fast_silu(take(t, r, baseline[r], scale));
    if (z == 0) continue;
    const std::uint32_t h = r / V;
    if ((heads >> h & 1) == 0) t.z_count[h] = 0;
    heads |= std::uint64_t{1} << h;
    const std::uint32_t at = h * V + t.z_count[h]++;
    t.z_row[at] = static_cast<std::uint16_t>(r % V);
    t.z_value[at] = z;
  }
  return heads;
}

inline void run_gdn(const SparseModel& m, Gdn& gdn, SparseState& s, Scratch& t) {
  if ((gdn.writing_heads | gdn.history_heads) == 0) return;  // a state that is never written stays 0
  const auto K = static_cast<std::size_t>(m.geometry.gdn_key_dim);
  const auto V = static_cast<std::size_t>(m.geometry.gdn_value_dim);
  const float scale = norm_scale(m, s, t);
  const HeadSets sets = run_beta_decay(m, gdn, s, t, scale);
  const std::uint64_t reading = run_z(m, gdn, s, t, scale) & gdn.reading_heads;
  const std::uint64_t writing = sets.writing & gdn.writing_heads;
  for (std::uint64_t heads = (sets.decaying & gdn.writing_heads) | writing | reading | gdn.history_heads;
       heads != 0; heads &= heads - 1) {
    const auto h = static_cast<std::size_t>(std::countr_zero(heads));
    GdnHead& head = gdn.heads[h];
    float* S = &s.gdn[gdn.state_at + h * K * V];
    std::uint64_t* used = &s.used_keys[gdn.used_at + h * m.key_words];
    if ((sets.decaying >> h & 1) != 0) head_decay(m, S, used, t.decay[h]);
    const bool writes = (writing >> h & 1) != 0;
    if (writes || head.k.history || head.v.history) {
      const std::uint32_t keys = run_block(m, head.k, s, t, scale, t.key.data(), t.key_value.data());
      if ((writes && keys != 0) || head.v.history) {
        const std::uint32_t values = run_block(m, head.v, s, t, scale, t.query.data(), t.query_value.data());
        if (writes && keys != 0) head_write(m, S, used, t.beta[h], keys, values, t);
      }
    }
    const bool reads = (reading >> h & 1) != 0;
    if (reads || head.q.history) {
      const std::uint32_t queries = run_block(m, head.q, s, t, scale, t.query.data(), t.query_value.data());
      if (reads && queries != 0) head_read(m, gdn, h, S, used, queries, t);
    }
  }
  update_residual(s, t);
}

// The true residual stream, constant columns included.
inline void residual_into(const SparseModel& m, const SparseState& s, std::vector<float>& out) {
  out.assign(s.x.begin(), s.x.end());
  for (const Constant& c : m.constants) out[c.column] += c.value;
}

inline void run_attention(const SparseModel& m, const Attention& attention, SparseState& s, Scratch& t) {
  if (attention.inert) return;
  residual_into(m, s, t.dense);
  const std::vector<float> values =
      attend(m.geometry, attention, t.dense, norm_scale(m, s, t), s.position, s.attention[attention.cache]);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0) push_out(attention.o, i, values[i], t);
  }
  update_residual(s, t);
}

}  // namespace qwengpu::engine
