// Last pass: a plan becomes tensors. The norms multiply by 2^-16 and every projection that reads the residual
// by 2^16.
//   gate_proj  2^16 * 128 * gate     silu(128 n) is exactly 128 n for n >= 1 and exactly 0 for n <= 0
//   up_proj    2^16 * up
//   down_proj  coef / 128
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "circuit/bounds.h"
#include "circuit/plan.h"
#include "qwen/bf16.h"

namespace qwengpu::circuit {

namespace {

constexpr double norm_gain = 1 << norm_exponent;
constexpr double silu_gain = 128;
// A one-hot key has to become exactly 1. By the definition, x * rsqrt(sum(x^2) + eps), it does with any gain of few bits; llama.cpp
// takes an RMS norm and multiplies by 1 / sqrt(128), which in fp32 makes 1 of 384 but 1 - 2^-24 of 128.
constexpr double key_gain = 384;

class Writer {
 public:
  Writer(const Plan& plan, const TokenTable& tokens)
      : plan_(plan),
        circuit_(plan.circuit),
        geometry_(circuit_.geometry()),
        checkpoint_(sized(geometry_, tokens)) {
    checkpoint_.token_spellings = tokens.spellings;
    checkpoint_.eos_token = tokens.eos;
    checkpoint_.pad_token = tokens.pad;
  }

  qwen::Checkpoint run() {
    embeddings();
    for (int layer = 0; layer < geometry_.layers; ++layer) mlp(layer);
    heads();
    checkpoint_.finish();
    return std::move(checkpoint_);
  }

 private:
  static qwen::Checkpoint sized(qwen::Geometry geometry, const TokenTable& tokens) {
    geometry.vocab = static_cast<int>(tokens.spellings.size());
    if (geometry.vocab == 0) throw Error("the token table is empty");
    return qwen::Checkpoint(geometry);
  }

  // A weight that bf16 holds exactly.
  template <typename Describe>
  static void put(qwen::SparseTensor& tensor, int row, int col, double value, const Describe& describe) {
    const auto weight = static_cast<float>(value);
    if (static_cast<double>(weight) != value || !qwen::exactly_representable(weight)) {
      throw Error(
          fmt::format("{} needs the weight {}, which has more than the 8 significant bits of bf16; split it",
                      describe(), value));
    }
    if (weight != 0)
      tensor.entries.push_back({static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(col), weight});
  }

  template <typename Describe>
  void put_form(qwen::SparseTensor& tensor, int row, const Linear& form, double gain,
                const Describe& describe) {
    for (const Linear::Term& t : form.terms()) {
      if (plan_.column[t.signal] < 0) continue;  // the constant 0
      put(tensor, row, plan_.column[t.signal], gain * t.coef, [&] {
        return fmt::format("{}, coefficient {} of signal \"{}\",", describe(), t.coef, plan_.name(t.signal));
      });
    }
    const double constant = form.constant();
    if (constant == 0) return;
    // The constants column carries 8 bits, its twin the rest.
    int exponent = 0;
    std::frexp(constant, &exponent);
    const double unit = std::ldexp(1, exponent - 8);
    const double high = std::trunc(constant / unit) * unit;
    const auto describe_constant = [&] { return fmt::format("{}, constant {},", describe(), constant); };
    put(tensor, row, plan_.constants.one, gain * high, describe_constant);
    if (constant != high)
      put(tensor, row, plan_.constants.one_low, gain * (constant - high), describe_constant);
  }

  void check_token(int token, const char* what) const {
    if (token >= geometry_vocab()) {
      throw Error(fmt::format("{} names token {}, the token table has {}", what, token, geometry_vocab()));
    }
  }
  int geometry_vocab() const { return checkpoint_.geometry.vocab; }

  void embeddings() {
    auto& embedding = checkpoint_.at("model.embed_tokens.weight");
    for (int token = 0; token < geometry_vocab(); ++token) {
      const auto describe = [] { return "the embedding of the constants"; };
      for (const int column : plan_.constants.ballast_columns) {
        put(embedding, token, column, plan_.constants.ballast, describe);
      }
      put(embedding, token, plan_.constants.one, 1, describe);
      if (plan_.constants.one_low >= 0) put(embedding, token, plan_.constants.one_low, 1, describe);
    }
    for (const Circuit::Embed& e : circuit_.embeds()) {
      check_token(e.token, "embed()");
      if (!plan_.live_signal[e.signal]) continue;
      put(embedding, e.token, plan_.column[e.signal], e.value, [&] {
        return fmt::format("the embedding of signal \"{}\" in token {}", plan_.name(e.signal), e.token);
      });
    }
    // Final norm: x * 2^-16 * (1 + w); w = -1 keeps the ballast out of the logits.
    auto& norm = checkpoint_.at("model.norm.weight");
    for (const int column : plan_.constants.ballast_columns)
      put(norm, column, 0, -1, [] { return "the final norm"; });
    auto& lm_head = checkpoint_.at("lm_head.weight");
    for (const auto& [token, form] : circuit_.unembeds()) {
      check_token(token, "unembed()");
      put_form(lm_head, token, form, norm_gain,
               [t = token] { return fmt::format("the logit of token {}", t); });
    }
  }

  void mlp(int layer) {
    auto& gate = checkpoint_.at(qwen::layer_tensor(layer, "mlp.gate_proj.weight"));
    auto& up = checkpoint_.at(qwen::layer_tensor(layer, "mlp.up_proj.weight"));
    auto& down = checkpoint_.at(qwen::layer_tensor(layer, "mlp.down_proj.weight"));
    int row = 0;
    for (const std::uint32_t n : neurons_of(layer)) {
      const auto& neuron = circuit_.neurons()[n];
      const auto describe = [&] { return fmt::format("{} in MLP {}", plan_.describe_neuron(n), layer); };
      put_form(gate, row, neuron.gate, norm_gain * silu_gain, describe);
      put_form(up, row, neuron.up, norm_gain, describe);
      for (const auto& out : neuron.outputs) {
        if (plan_.live_signal[out.signal])
          put(down, plan_.column[out.signal], row, out.coef / silu_gain, describe);
      }
      ++row;
    }
    // y += -sign * relu(sign * x - offset) on one column
    const auto subtract = [&](SignalId s, double sign, double offset) {
      const auto describe = [&] {
        return fmt::format("the restored or cleared signal \"{}\"", plan_.name(s));
      };
      const int column = plan_.column[s];
      put(gate, row, column, norm_gain * silu_gain * sign, describe);
      put(gate, row, plan_.constants.one, -norm_gain * silu_gain * offset, describe);
      put(up, row, plan_.constants.one, norm_gain, describe);
      put(down, column, row, -sign / silu_gain, describe);
      ++row;
    };
    const auto l = static_cast<std::size_t>(layer);
    // A raw read is 0 or at least 2: x - relu(x - 1) is exactly 0 or 1.
    for (const SignalId s : plan_.restores[l]) subtract(s, 1, 1);
    for (const SignalId s : plan_.clears[l]) {
      if (plan_.ranges[s].hi > 0) subtract(s, 1, 0);
      if (plan_.ranges[s].lo < 0) subtract(s, -1, 0);
    }
    if (row > geometry_.intermediate) {
      throw std::logic_error(
          fmt::format("MLP {} was given {} neurons of {}", layer, row, geometry_.intermediate));
    }
  }

  const std::vector<std::uint32_t>& neurons_of(int layer) {
    if (neurons_by_layer_.empty()) {
      neurons_by_layer_.resize(static_cast<std::size_t>(geometry_.layers));
      for (std::uint32_t n = 0; n < circuit_.neurons().size(); ++n) {
        if (plan_.live_neuron[n])
          neurons_by_layer_[static_cast<std::size_t>(layer_of(plan_.neuron_at[n]))].push_back(n);
      }
    }
    return neurons_by_layer_[static_cast<std::size_t>(layer)];
  }

  // q, v = silu(128 form): 0 or 128, k = silu(384 form). The L2 norm makes a one-hot key exactly 1; S <- S + k (beta (v - S^T
  // k))^T then replaces a word exactly. A read passes q / sqrt(128), the RMSNorm and silu(z) = 128: sqrt(128
  // / ones) * 128, times 2 / 128 in out_proj.
  void heads() {
    for (std::uint32_t h = 0; h < circuit_.heads().size(); ++h) {
      if (!plan_.live_head[h]) continue;
      const HeadSpec& head = circuit_.heads()[h];
      const int layer = layer_of(plan_.head_at[h]);
      const int index = plan_.head_index[h];
      const auto describe = [&] { return fmt::format("head \"{}\" of layer {}", head.name, layer); };
      const auto tensor = [&](const char* name) -> qwen::SparseTensor& {
        return checkpoint_.at(qwen::layer_tensor(layer, std::string("linear_attn.") + name));
      };
      auto& qkv = tensor("in_proj_qkv.weight");
      auto& conv = tensor("conv1d.weight");
      const auto channels = [&](const std::vector<HeadSpec::Row>& rows, int first, double gain) {
        for (const HeadSpec::Row& row : rows) {
          put_form(qkv, first + row.dim, row.form, norm_gain * gain, describe);
          put(conv, first + row.dim, geometry_.conv_kernel - 1, 1,
              describe);  // identity: the current token's tap
        }
      };
      channels(head.query, index * geometry_.gdn_key_dim, silu_gain);
      channels(head.key, geometry_.gdn_key_width() + index * geometry_.gdn_key_dim, key_gain);
      channels(head.value, 2 * geometry_.gdn_key_width() + index * geometry_.gdn_value_dim, silu_gain);
      const int first_value = index * geometry_.gdn_value_dim;
      for (const HeadSpec::Row& row : head.z) {
        put_form(tensor("in_proj_z.weight"), first_value + row.dim, row.form, norm_gain * silu_gain,
                 describe);
      }
      // beta = sigmoid(+-128 n) is exactly 1 or 0; g = -softplus(256 clear - 128) is exactly 0, or -128 and
      // exp(g) = 0.
      put_form(tensor("in_proj_b.weight"), index, head.write_enable, norm_gain * silu_gain, describe);
      put_form(tensor("in_proj_a.weight"), index, head.clear, norm_gain * 256, describe);
      put(tensor("dt_bias"), index, 0, -128, describe);
      auto& norm = tensor("norm.weight");
      if (norm.entries.empty()) {
        for (int i = 0; i < geometry_.gdn_value_dim; ++i) put(norm, i, 0, 1, describe);
      }
      for (const HeadSpec::Output& out : head.outputs) {
        if (!plan_.live_signal[out.signal.id]) continue;
        put(tensor("out_proj.weight"), plan_.column[out.signal.id], first_value + out.dim, 2 / silu_gain,
            describe);
      }
    }
  }

  const Plan& plan_;
  const Circuit& circuit_;
  const qwen::Geometry& geometry_;
  qwen::Checkpoint checkpoint_;
  std::vector<std::vector<std::uint32_t>> neurons_by_layer_;
};

}  // namespace

qwen::Checkpoint write_weights(const Plan& plan, const TokenTable& tokens) {
  return Writer(plan, tokens).run();
}

}  // namespace qwengpu::circuit
