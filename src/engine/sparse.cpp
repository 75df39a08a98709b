// The fast engine: work proportional to active synapses (non-zero weights of non-zero activations).

#include <algorithm>
#include <stdexcept>

#include "engine/engine.h"
#include "engine/sparse_forward.h"

// One function per instruction set, chosen at load time by the CPU. Without sanitizers only: they run before
// the choice is made.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define QWENGPU_HOT __attribute__((target_clones("avx2", "default"), flatten))
#else
#define QWENGPU_HOT
#endif

namespace qwengpu::engine {

Scratch::Scratch(const SparseModel& m) {
  const qwen::Geometry& g = m.geometry;
  const auto hidden = static_cast<std::size_t>(g.hidden);
  const auto H = static_cast<std::size_t>(g.gdn_heads);
  const auto V = static_cast<std::size_t>(g.gdn_value_dim);
  const auto K = static_cast<std::size_t>(g.gdn_key_dim);
  const std::size_t most = std::max({static_cast<std::size_t>(g.intermediate), H * V, K, 2 * H});
  rows = Accumulator<std::uint16_t>(most);
  zeros.resize(most);
  hits = Hits(hidden);
  columns = Accumulator<std::uint16_t>(hidden);
  logits = Accumulator<std::uint32_t>(static_cast<std::size_t>(g.vocab));
  neuron.resize(static_cast<std::size_t>(g.intermediate));
  activation.resize(static_cast<std::size_t>(g.intermediate));
  z_row.resize(H * V);
  z_value.resize(H * V);
  z_count.resize(H);
  beta.resize(H);
  decay.resize(H);
  key.resize(K);
  key_value.resize(K);
  query.resize(std::max(K, V));
  query_value.resize(std::max(K, V));
  v.resize(V);
  delta.resize(V);
  o.resize(V);
}

namespace {

QWENGPU_HOT void forward(SparseModel& m, SparseState& s, Scratch& t) {
  for (Layer& layer : m.layers) {
    if (layer.is_attention) {
      run_attention(m, layer.attention, s, t);
    } else {
      run_gdn(m, layer.gdn, s, t);
    }
    run_mlp(m, layer.mlp, s, t);
  }
}

// The same with a look at every sublayer.
void forward_watched(SparseModel& m, SparseState& s, Scratch& t, const SublayerHook& hook) {
  std::vector<float> residual;
  int sublayer = -1;
  const auto report = [&] {
    residual_into(m, s, residual);
    hook(sublayer++, residual);
  };
  report();
  for (Layer& layer : m.layers) {
    if (layer.is_attention) {
      run_attention(m, layer.attention, s, t);
    } else {
      run_gdn(m, layer.gdn, s, t);
    }
    report();
    run_mlp(m, layer.mlp, s, t);
    report();
  }
}

// Greedy choice among touched rows and the best of the untouched ones, which have their baseline as logit.
QWENGPU_HOT int best_token(const SparseModel& m, const SparseState& s, Scratch& t, float scale) {
  const LmHead& head = m.lm_head;
  const std::uint32_t touched = push(head.columns, s.x.data(), s.active.data(), t.hits, t.logits, 0);
  const auto vocab = static_cast<std::uint32_t>(m.geometry.vocab);
  std::uint32_t best = vocab;
  float best_logit = 0;
  const auto offer = [&](std::uint32_t token, float logit) {
    if (best == vocab || logit > best_logit || (logit == best_logit && token < best)) {
      best = token;
      best_logit = logit;
    }
  };
  if (head.baseline.empty()) {
    std::uint32_t token = 0;
    while (token < vocab && t.logits.mark[token] != 0) ++token;
    if (token < vocab) offer(token, 0.0f);
  } else {
    bool found = false;
    float highest = 0;
    for (const std::uint32_t token : head.by_baseline) {
      if (t.logits.mark[token] != 0) continue;
      const float logit = head.baseline[token] * scale;
      if (found && logit != highest) break;
      found = true;
      highest = logit;
      offer(token, logit);
    }
  }
  for (std::uint32_t i = 0; i < touched; ++i) {
    const std::uint32_t token = t.logits.list[i];
    const float base = head.baseline.empty() ? 0.0f : head.baseline[token];
    offer(token, (base + t.logits.sum[token]) * scale);
    t.logits.sum[token] = 0;
    t.logits.mark[token] = 0;
  }
  return static_cast<int>(best);
}

// A snapshot keeps the used rows of the recurrent state only: constructed models use a small part of it.
struct SparseSnapshot : Snapshot {
  SparseState state;        // with an empty `gdn`
  std::vector<float> rows;  // [used keys, value dim]
  std::size_t gdn_size = 0;
};

class Sparse : public Engine {
 public:
  explicit Sparse(const qwen::Checkpoint& checkpoint)
      : Engine(checkpoint.geometry), m_(compile(checkpoint)), t_(m_) {
    s_.x.resize(static_cast<std::size_t>(geometry_.hidden));
    s_.active.resize(set_words(geometry_.hidden));
    s_.gdn.resize(m_.gdn_size);
    s_.used_keys.resize(m_.used_size);
    s_.history.resize(m_.history_size);
    s_.history_live.resize(m_.history_blocks);
    s_.attention.resize(m_.attention_layers);
  }

  void reset() override {
    clear_residual();
    clear_state();
    s_.position = 0;
    std::fill(s_.history.begin(), s_.history.end(), 0.0f);
    std::fill(s_.history_live.begin(), s_.history_live.end(), 0);
    for (KvCache& cache : s_.attention) cache = KvCache();
  }

  void append(int token) override {
    check_token(token);
    clear_residual();
    const ListMatrix& e = m_.embedding;
    for (std::uint32_t i = e.start[token]; i < e.start[token + 1]; ++i) {
      s_.x[e.synapses[i].row] = e.synapses[i].weight;
      insert(s_.active, e.synapses[i].row);
    }
    s_.energy = m_.token_energy[token];
    run();
  }

  void append_embedding(std::span<const float> hidden) override {
    check_embedding(hidden);
    clear_residual();
    s_.energy = 0;
    for (std::size_t c = 0; c < hidden.size(); ++c) {
      s_.energy += double{hidden[c]} * hidden[c];
      s_.x[c] = hidden[c] - m_.constant_of[c];
      if (s_.x[c] != 0) insert(s_.active, c);
    }
    run();
  }

  int argmax() override {
    check_not_empty();
    return best_token(m_, s_, t_, norm_scale(m_, s_, t_));
  }

  std::vector<float> logits() override {
    check_not_empty();
    const float scale = norm_scale(m_, s_, t_);
    const LmHead& head = m_.lm_head;
    std::vector<float> out(static_cast<std::size_t>(geometry_.vocab));
    for (std::size_t i = 0; i < head.baseline.size(); ++i) out[i] = head.baseline[i] * scale;
    const std::uint32_t touched = push(head.columns, s_.x.data(), s_.active.data(), t_.hits, t_.logits, 0);
    for (std::uint32_t i = 0; i < touched; ++i) {
      const std::uint32_t token = t_.logits.list[i];
      const float base = head.baseline.empty() ? 0.0f : head.baseline[token];
      out[token] = (base + t_.logits.sum[token]) * scale;
      t_.logits.sum[token] = 0;
      t_.logits.mark[token] = 0;
    }
    return out;
  }

  std::span<const float> residual() const override {
    residual_into(m_, s_, residual_);
    return residual_;
  }

  std::span<const float> gdn_state(int layer, int head) const override {
    check_head(layer, head);
    return std::span(s_.gdn).subspan(m_.layers[layer].gdn.state_at + head * head_size(), head_size());
  }

  int position() const override { return s_.position; }

  std::shared_ptr<const Snapshot> save() const override {
    auto snapshot = std::make_shared<SparseSnapshot>();
    SparseState& to = snapshot->state;
    to.position = s_.position;
    to.x = s_.x;
    to.active = s_.active;
    to.energy = s_.energy;
    to.used_keys = s_.used_keys;
    to.history = s_.history;
    to.history_live = s_.history_live;
    to.attention = s_.attention;
    snapshot->gdn_size = s_.gdn.size();
    for_used_rows([&](std::size_t at, std::size_t size) {
      const auto row = s_.gdn.begin() + static_cast<std::ptrdiff_t>(at);
      snapshot->rows.insert(snapshot->rows.end(), row, row + static_cast<std::ptrdiff_t>(size));
    });
    return snapshot;
  }

  void restore(const Snapshot& from) override {
    const auto* snapshot = dynamic_cast<const SparseSnapshot*>(&from);
    if (snapshot == nullptr || snapshot->gdn_size != s_.gdn.size() ||
        snapshot->state.x.size() != s_.x.size() || snapshot->state.history.size() != s_.history.size() ||
        snapshot->state.used_keys.size() != s_.used_keys.size()) {
      throw std::invalid_argument("the snapshot is not of this kind of engine and model");
    }
    clear_state();
    std::vector<float> gdn = std::move(s_.gdn);
    s_ = snapshot->state;
    s_.gdn = std::move(gdn);
    std::size_t next = 0;
    for_used_rows([&](std::size_t at, std::size_t size) {
      std::copy_n(&snapshot->rows[next], size, &s_.gdn[at]);
      next += size;
    });
  }

 private:
  std::size_t head_size() const {
    return static_cast<std::size_t>(geometry_.gdn_key_dim) *
           static_cast<std::size_t>(geometry_.gdn_value_dim);
  }

  // visit(offset in gdn, length) for every row that may be non-zero
  template <typename Visit>
  void for_used_rows(Visit visit) const {
    const auto V = static_cast<std::size_t>(geometry_.gdn_value_dim);
    for (std::size_t w = 0; w < s_.used_keys.size(); ++w) {
      const std::size_t head = w / m_.key_words;
      for (std::uint64_t keys = s_.used_keys[w]; keys != 0; keys &= keys - 1) {
        const std::size_t key = w % m_.key_words * 64 + static_cast<std::size_t>(std::countr_zero(keys));
        visit(head * head_size() + key * V, V);
      }
    }
  }

  void clear_residual() {
    for (std::size_t w = 0; w < s_.active.size(); ++w) {
      for (std::uint64_t bits = s_.active[w]; bits != 0; bits &= bits - 1) {
        s_.x[w * 64 + static_cast<std::size_t>(std::countr_zero(bits))] = 0;
      }
      s_.active[w] = 0;
    }
  }

  void clear_state() {
    for_used_rows([&](std::size_t at, std::size_t size) { std::fill_n(&s_.gdn[at], size, 0.0f); });
    std::fill(s_.used_keys.begin(), s_.used_keys.end(), 0);
  }

  void run() {
    if (hook_) {
      forward_watched(m_, s_, t_, hook_);
    } else {
      forward(m_, s_, t_);
    }
    ++s_.position;
  }

  SparseModel m_;
  SparseState s_;
  Scratch t_;
  mutable std::vector<float> residual_;
};

}  // namespace

std::unique_ptr<Engine> make_sparse(const qwen::Checkpoint& checkpoint) {
  return std::make_unique<Sparse>(checkpoint);
}

}  // namespace qwengpu::engine
