#include "qwen/tensors.h"

#include <fmt/format.h>

#include <stdexcept>

#include "qwen/checkpoint.h"

namespace qwengpu::qwen {

namespace {

class Table {
 public:
  void matrix(const std::string& name, const std::string& gguf_name, int rows, int cols) {
    specs.push_back({prefix + name, gguf_prefix + gguf_name, rows, cols, false, false, GgufForm::same});
  }
  void vector(const std::string& name, const std::string& gguf_name, int rows, GgufForm form) {
    specs.push_back({prefix + name, gguf_prefix + gguf_name, rows, 1, true, false, form});
  }
  void conv(const std::string& name, const std::string& gguf_name, int channels, int kernel) {
    specs.push_back({prefix + name, gguf_prefix + gguf_name, channels, kernel, false, true, GgufForm::same});
  }

  std::string prefix;
  std::string gguf_prefix;
  std::vector<TensorSpec> specs;
};

void gdn_mixer(Table& table, const Geometry& g) {
  table.matrix("linear_attn.in_proj_qkv.weight", "attn_qkv.weight", g.gdn_conv_width(), g.hidden);
  table.matrix("linear_attn.in_proj_z.weight", "attn_gate.weight", g.gdn_value_width(), g.hidden);
  table.matrix("linear_attn.in_proj_b.weight", "ssm_beta.weight", g.gdn_heads, g.hidden);
  table.matrix("linear_attn.in_proj_a.weight", "ssm_alpha.weight", g.gdn_heads, g.hidden);
  table.conv("linear_attn.conv1d.weight", "ssm_conv1d.weight", g.gdn_conv_width(), g.conv_kernel);
  table.vector("linear_attn.dt_bias", "ssm_dt.bias", g.gdn_heads, GgufForm::same);
  table.vector("linear_attn.A_log", "ssm_a", g.gdn_heads, GgufForm::minus_exp);
  table.vector("linear_attn.norm.weight", "ssm_norm.weight", g.gdn_value_dim, GgufForm::same);
  table.matrix("linear_attn.out_proj.weight", "ssm_out.weight", g.hidden, g.gdn_value_width());
}

void attention_mixer(Table& table, const Geometry& g) {
  const int query_width = g.attention_heads * g.head_dim;
  table.matrix("self_attn.q_proj.weight", "attn_q.weight", 2 * query_width, g.hidden);
  table.matrix("self_attn.k_proj.weight", "attn_k.weight", g.kv_heads * g.head_dim, g.hidden);
  table.matrix("self_attn.v_proj.weight", "attn_v.weight", g.kv_heads * g.head_dim, g.hidden);
  table.matrix("self_attn.o_proj.weight", "attn_output.weight", g.hidden, query_width);
  table.vector("self_attn.q_norm.weight", "attn_q_norm.weight", g.head_dim, GgufForm::one_plus);
  table.vector("self_attn.k_norm.weight", "attn_k_norm.weight", g.head_dim, GgufForm::one_plus);
}

}  // namespace

std::vector<TensorSpec> tensors_of(const Geometry& g) {
  Table table;
  table.matrix("model.embed_tokens.weight", "token_embd.weight", g.vocab, g.hidden);
  for (int layer = 0; layer < g.layers; ++layer) {
    table.prefix = layer_tensor(layer, "");
    table.gguf_prefix = fmt::format("blk.{}.", layer);
    table.vector("input_layernorm.weight", "attn_norm.weight", g.hidden, GgufForm::one_plus);
    if (g.is_attention(layer)) {
      attention_mixer(table, g);
    } else {
      gdn_mixer(table, g);
    }
    table.vector("post_attention_layernorm.weight", "post_attention_norm.weight", g.hidden,
                 GgufForm::one_plus);
    table.matrix("mlp.gate_proj.weight", "ffn_gate.weight", g.intermediate, g.hidden);
    table.matrix("mlp.up_proj.weight", "ffn_up.weight", g.intermediate, g.hidden);
    table.matrix("mlp.down_proj.weight", "ffn_down.weight", g.hidden, g.intermediate);
  }
  table.prefix.clear();
  table.gguf_prefix.clear();
  table.vector("model.norm.weight", "output_norm.weight", g.hidden, GgufForm::one_plus);
  if (!g.tie_embeddings) table.matrix("lm_head.weight", "output.weight", g.vocab, g.hidden);
  return table.specs;
}

void check_geometry(const Geometry& g) {
  const auto range = [](const char* what, std::int64_t value, std::int64_t low, std::int64_t high) {
    if (value < low || value > high) {
      throw std::invalid_argument(
          fmt::format("model geometry: {} is {}, expected {} to {}", what, value, low, high));
    }
  };
  range("the number of layers", g.layers, 1, 1024);
  range("the vocabulary size", g.vocab, 1, 1 << 22);
  range("the hidden size", g.hidden, 1, 1 << 16);
  range("the intermediate size", g.intermediate, 1, 1 << 18);
  range("full_attention_interval", g.full_attention_interval, 1, 1 << 16);
  range("the number of linear-attention heads", g.gdn_heads, 1, 1024);
  range("the linear-attention key dimension", g.gdn_key_dim, 1, 4096);
  range("the linear-attention value dimension", g.gdn_value_dim, 1, 4096);
  range("the convolution kernel", g.conv_kernel, 1, 64);
  range("the number of attention heads", g.attention_heads, 1, 1024);
  range("the number of key-value heads", g.kv_heads, 1, g.attention_heads);
  range("the attention head dimension", g.head_dim, 1, 4096);
  range("the rotary dimension", g.rotary_dim, 0, g.head_dim);
  if (g.attention_heads % g.kv_heads != 0) {
    throw std::invalid_argument(
        fmt::format("model geometry: {} attention heads cannot share {} key-value heads evenly",
                    g.attention_heads, g.kv_heads));
  }
  if (g.rotary_dim % 2 != 0) {
    throw std::invalid_argument(
        fmt::format("model geometry: the rotary dimension is {}, it must be even", g.rotary_dim));
  }
}

}  // namespace qwengpu::qwen
