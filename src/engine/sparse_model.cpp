#include "engine/sparse_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "qwen/tensors.h"

namespace qwengpu::engine {

namespace {

using qwen::Entry;
using qwen::Geometry;
using qwen::SparseTensor;
using Entries = std::vector<Entry>;

std::vector<float> dense(const SparseTensor& t) {
  std::vector<float> v(static_cast<std::size_t>(t.rows) * static_cast<std::size_t>(t.cols));
  for (const Entry& e : t.entries) v[std::size_t{e.row} * static_cast<std::size_t>(t.cols) + e.col] = e.value;
  return v;
}

std::vector<float> one_plus(std::vector<float> w) {
  for (float& x : w) x += 1.0f;
  return w;
}

// Lists by row -> column, or by column -> row.
ListMatrix lists(const Entries& entries, int count, bool by_row) {
  ListMatrix m;
  m.start.assign(static_cast<std::size_t>(count) + 1, 0);
  m.synapses.resize(entries.size());
  for (const Entry& e : entries) ++m.start[(by_row ? e.row : e.col) + 1];
  std::partial_sum(m.start.begin(), m.start.end(), m.start.begin());
  std::vector<std::uint32_t> next(m.start.begin(), m.start.end() - 1);
  for (const Entry& e : entries) {
    const std::uint32_t at = next[by_row ? e.row : e.col]++;
    m.synapses[at] = {e.value, static_cast<std::uint16_t>(by_row ? e.col : e.row)};
  }
  return m;
}

class Compiler {
 public:
  explicit Compiler(const qwen::Checkpoint& checkpoint) : c_(checkpoint), g_(checkpoint.geometry) {}

  SparseModel compile() {
    m_.geometry = g_;
    m_.key_words = set_words(g_.gdn_key_dim);
    find_constants();
    embedding();
    for (int layer = 0; layer < g_.layers; ++layer) {
      Layer& l = m_.layers.emplace_back();
      l.is_attention = g_.is_attention(layer);
      const auto norm = one_plus(dense(tensor(layer, "input_layernorm.weight")));
      if (l.is_attention) {
        attention(layer, norm, l.attention);
      } else {
        gdn(layer, norm, l.gdn);
      }
      mlp(layer, one_plus(dense(tensor(layer, "post_attention_layernorm.weight"))), l.mlp);
    }
    lm_head();
    return std::move(m_);
  }

 private:
  const SparseTensor& tensor(int layer, const char* name) const {
    return c_.at(qwen::layer_tensor(layer, name));
  }

  void find_constants() {
    const auto hidden = static_cast<std::size_t>(g_.hidden);
    std::vector<float> value(hidden);
    std::vector<int> count(hidden);
    std::vector<bool> varies(hidden);
    for (const Entry& e : c_.at("model.embed_tokens.weight").entries) {
      if (count[e.col]++ == 0) value[e.col] = e.value;
      if (value[e.col] != e.value) varies[e.col] = true;
    }
    for (int layer = 0; layer < g_.layers; ++layer) {
      const char* mixer = g_.is_attention(layer) ? "self_attn.o_proj.weight" : "linear_attn.out_proj.weight";
      for (const Entry& e : tensor(layer, mixer).entries) varies[e.row] = true;
      for (const Entry& e : tensor(layer, "mlp.down_proj.weight").entries) varies[e.row] = true;
    }
    m_.constant_of.assign(hidden, 0);
    for (std::size_t col = 0; col < hidden; ++col) {
      if (count[col] != g_.vocab || varies[col]) continue;
      m_.constants.push_back({static_cast<std::uint16_t>(col), value[col]});
      m_.constant_of[col] = value[col];
    }
  }

  void embedding() {
    Entries varying;
    m_.token_energy.assign(static_cast<std::size_t>(g_.vocab), 0);
    for (const Entry& e : c_.at("model.embed_tokens.weight").entries) {
      m_.token_energy[e.row] += double{e.value} * e.value;
      if (m_.constant_of[e.col] == 0) varying.push_back(e);
    }
    m_.embedding = lists(varying, g_.vocab, true);
  }

  // Folds the norm into the columns, drops what became zero, and sums the constant columns into the baseline.
  // The entries keep the constant columns too: an arbitrary embedding vector may differ from the constant.
  Entries fold(const Entries& raw, const std::vector<float>& norm, std::vector<float>& baseline,
               int rows) const {
    Entries folded;
    std::vector<double> sum(static_cast<std::size_t>(rows));
    for (Entry e : raw) {
      e.value *= norm[e.col];
      if (e.value == 0) continue;
      sum[e.row] += double{e.value} * m_.constant_of[e.col];
      folded.push_back(e);
    }
    baseline.assign(sum.begin(), sum.end());
    return folded;
  }

  Bank bank(const Entries& raw, const std::vector<float>& norm, int rows) const {
    Bank b;
    b.rows = rows;
    b.columns = column_matrix<std::uint16_t>(fold(raw, norm, b.baseline, rows), g_.hidden);
    for (int r = 0; r < rows; ++r) {
      if (b.baseline[r] != 0) b.baseline_rows.push_back(static_cast<std::uint16_t>(r));
    }
    if (b.baseline_rows.empty()) b.baseline.clear();
    return b;
  }

  void mlp(int layer, const std::vector<float>& norm, Mlp& out) const {
    const Entries& gate = tensor(layer, "mlp.gate_proj.weight").entries;
    const Entries& up = tensor(layer, "mlp.up_proj.weight").entries;
    const Entries& down = tensor(layer, "mlp.down_proj.weight").entries;
    std::vector<int> parts(static_cast<std::size_t>(g_.intermediate));
    for (const Entry& e : gate) parts[e.row] |= 1;
    for (const Entry& e : up) parts[e.row] |= 2;
    for (const Entry& e : down) parts[e.col] |= 4;
    std::vector<std::uint32_t> number(parts.size());
    std::uint32_t neurons = 0;
    for (std::size_t n = 0; n < parts.size(); ++n) number[n] = parts[n] == 7 ? neurons++ : 0;

    const auto renumber = [&](const Entries& from, std::uint32_t Entry::*neuron) {
      Entries to;
      for (Entry e : from) {
        if (parts[e.*neuron] != 7) continue;
        e.*neuron = number[e.*neuron];
        to.push_back(e);
      }
      return to;
    };
    const int rows = static_cast<int>(neurons);
    out.gate = bank(renumber(gate, &Entry::row), norm, rows);
    std::vector<float> up_baseline;
    ListMatrix live_up = lists(fold(renumber(up, &Entry::row), norm, up_baseline, rows), rows, true);
    ListMatrix live_down = lists(renumber(down, &Entry::col), rows, false);
    for (std::uint32_t n = 0; n < neurons; ++n) {
      const float gate_baseline = out.gate.baseline.empty() ? 0.0f : out.gate.baseline[n];
      out.neurons.push_back({gate_baseline, up_baseline[n], live_up.start[n], live_down.start[n]});
    }
    out.neurons.push_back({0, 0, live_up.start[neurons], live_down.start[neurons]});
    out.up = std::move(live_up.synapses);
    out.down = std::move(live_down.synapses);
  }

  // Rows first..first+rows-1 of in_proj_qkv with their convolution channels.
  Block block(const std::vector<Entries>& qkv_rows, const std::vector<float>& conv,
              const std::vector<float>& norm, int first, int rows) {
    const int kernel = g_.conv_kernel;
    Block b;
    Entries entries;
    for (int r = 0; r < rows; ++r) {
      const float* taps = &conv[static_cast<std::size_t>(first + r) * kernel];
      if (std::all_of(taps, taps + kernel, [](float t) { return t == 0; })) continue;
      const Entries& row = qkv_rows[first + r];
      if (!row.empty() && std::any_of(taps, taps + kernel - 1, [](float t) { return t != 0; }))
        b.history = true;
      for (Entry e : row) {
        e.row = static_cast<std::uint32_t>(r);
        entries.push_back(e);
      }
    }
    if (b.history) {
      b.taps.assign(conv.begin() + first * kernel, conv.begin() + (first + rows) * kernel);
      b.history_at = m_.history_size;
      m_.history_size += static_cast<std::size_t>(kernel - 1) * static_cast<std::size_t>(rows);
      b.history_index = m_.history_blocks++;
    } else {
      for (Entry& e : entries) e.value *= conv[static_cast<std::size_t>(first + e.row) * kernel + kernel - 1];
    }
    b.bank = bank(entries, norm, rows);
    return b;
  }

  void gdn(int layer, const std::vector<float>& norm, Gdn& out) {
    const int H = g_.gdn_heads, K = g_.gdn_key_dim, V = g_.gdn_value_dim;
    Entries ba = tensor(layer, "linear_attn.in_proj_b.weight").entries;
    for (Entry e : tensor(layer, "linear_attn.in_proj_a.weight").entries) {
      e.row += static_cast<std::uint32_t>(H);
      ba.push_back(e);
    }
    out.ba = column_matrix<std::uint16_t>(fold(ba, norm, out.ba_baseline, 2 * H), g_.hidden);
    out.dt_bias = dense(tensor(layer, "linear_attn.dt_bias"));
    out.rate = dense(tensor(layer, "linear_attn.A_log"));
    for (float& a : out.rate) a = std::exp(a);
    out.idle_beta.resize(H);
    out.idle_decay.resize(H);

    out.norm = dense(tensor(layer, "linear_attn.norm.weight"));
    const Entries& out_proj = tensor(layer, "linear_attn.out_proj.weight").entries;
    out.out = lists(out_proj, g_.gdn_value_width(), false);
    Entries z;
    std::vector<bool> head_is_read(H);
    for (const Entry& e : tensor(layer, "linear_attn.in_proj_z.weight").entries) {
      const bool read = out.out.start[e.row] != out.out.start[e.row + 1] && out.norm[e.row % V] != 0;
      if (!read) continue;
      z.push_back(e);
      head_is_read[e.row / V] = true;
    }
    out.z = bank(z, norm, g_.gdn_value_width());

    std::vector<Entries> qkv_rows(static_cast<std::size_t>(g_.gdn_conv_width()));
    for (const Entry& e : tensor(layer, "linear_attn.in_proj_qkv.weight").entries)
      qkv_rows[e.row].push_back(e);
    const std::vector<float> conv = dense(tensor(layer, "linear_attn.conv1d.weight"));
    out.heads.resize(H);
    for (int h = 0; h < H; ++h) {
      GdnHead& head = out.heads[h];
      head.q = block(qkv_rows, conv, norm, h * K, K);
      head.k = block(qkv_rows, conv, norm, (H + h) * K, K);
      head.v = block(qkv_rows, conv, norm, 2 * H * K + h * V, V);
      head.can_write = !head.k.bank.dead();
      head.can_read = head_is_read[h] && !head.q.bank.dead() && head.can_write;
      head.has_history = head.q.history || head.k.history || head.v.history;
      const std::uint64_t bit = std::uint64_t{1} << h;
      if (head.can_write) out.writing_heads |= bit;
      if (head.can_read) out.reading_heads |= bit;
      if (head.has_history) out.history_heads |= bit;
    }
    out.state_at = m_.gdn_size;
    m_.gdn_size += static_cast<std::size_t>(H) * K * V;
    out.used_at = m_.used_size;
    m_.used_size += static_cast<std::size_t>(H) * m_.key_words;
  }

  void attention(int layer, const std::vector<float>& norm, Attention& out) {
    const Entries& o = tensor(layer, "self_attn.o_proj.weight").entries;
    out.inert = o.empty();
    out.cache = m_.attention_layers++;
    if (out.inert) return;
    const auto rows = [&](const char* name) {
      const SparseTensor& t = tensor(layer, name);
      return lists(t.entries, t.rows, true);
    };
    out.input_norm = norm;
    out.q = rows("self_attn.q_proj.weight");
    out.k = rows("self_attn.k_proj.weight");
    out.v = rows("self_attn.v_proj.weight");
    out.o = lists(o, g_.attention_heads * g_.head_dim, false);
    out.q_norm = one_plus(dense(tensor(layer, "self_attn.q_norm.weight")));
    out.k_norm = one_plus(dense(tensor(layer, "self_attn.k_norm.weight")));
  }

  void lm_head() {
    LmHead& head = m_.lm_head;
    const auto norm = one_plus(dense(c_.at("model.norm.weight")));
    const char* name = g_.tie_embeddings ? "model.embed_tokens.weight" : "lm_head.weight";
    head.columns =
        column_matrix<std::uint32_t>(fold(c_.at(name).entries, norm, head.baseline, g_.vocab), g_.hidden);
    if (std::all_of(head.baseline.begin(), head.baseline.end(), [](float b) { return b == 0; })) {
      head.baseline.clear();
      return;
    }
    head.by_baseline.resize(static_cast<std::size_t>(g_.vocab));
    std::iota(head.by_baseline.begin(), head.by_baseline.end(), 0u);
    std::stable_sort(head.by_baseline.begin(), head.by_baseline.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return head.baseline[a] > head.baseline[b]; });
  }

  const qwen::Checkpoint& c_;
  const Geometry& g_;
  SparseModel m_;
};

}  // namespace

SparseModel compile(const qwen::Checkpoint& checkpoint) {
  const Geometry& g = checkpoint.geometry;
  qwen::check_geometry(g);
  if (g.gdn_heads > 64) {
    throw std::invalid_argument(
        fmt::format("the sparse engine runs at most 64 heads a layer, not {}", g.gdn_heads));
  }
  if (g.gdn_value_width() > 65536 || g.intermediate > 65536) {
    throw std::invalid_argument("the sparse engine runs at most 65536 value rows and neurons a layer");
  }
  return Compiler(checkpoint).compile();
}

}  // namespace qwengpu::engine
