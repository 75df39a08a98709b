#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "qwen/huggingface.h"
#include "qwen/rope_sections.h"
#include "qwen/tensors.h"

namespace qwengpu::qwen {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kModelType = "qwen3_5_text";
constexpr int kContext = 262144;

Json token_or_null(int token) { return token >= 0 ? Json(token) : Json(nullptr); }

}  // namespace

std::string config_json(const Checkpoint& c, DType type) {
  const Geometry& g = c.geometry;
  Json layer_types = Json::array();
  for (int layer = 0; layer < g.layers; ++layer) {
    layer_types.push_back(g.is_attention(layer) ? "full_attention" : "linear_attention");
  }
  const double rotary = static_cast<double>(g.rotary_dim) / g.head_dim;
  Json j;
  j["architectures"] = {"Qwen3_5ForCausalLM"};
  j["model_type"] = kModelType;
  j["dtype"] = type == DType::f32 ? "float32" : "bfloat16";
  j["vocab_size"] = g.vocab;
  j["hidden_size"] = g.hidden;
  j["intermediate_size"] = g.intermediate;
  j["num_hidden_layers"] = g.layers;
  j["layer_types"] = layer_types;
  j["full_attention_interval"] = g.full_attention_interval;
  j["hidden_act"] = "silu";
  j["rms_norm_eps"] = std::stod(fmt::format("{}", g.rms_eps));  // 1e-6, not the decimals of the nearest float
  j["linear_num_key_heads"] = g.gdn_heads;
  j["linear_num_value_heads"] = g.gdn_heads;
  j["linear_key_head_dim"] = g.gdn_key_dim;
  j["linear_value_head_dim"] = g.gdn_value_dim;
  j["linear_conv_kernel_dim"] = g.conv_kernel;
  j["num_attention_heads"] = g.attention_heads;
  j["num_key_value_heads"] = g.kv_heads;
  j["head_dim"] = g.head_dim;
  j["attention_bias"] = false;
  j["attention_dropout"] = 0.0;
  j["attn_output_gate"] = true;
  j["partial_rotary_factor"] = rotary;
  j["rope_parameters"] = {{"rope_type", "default"},
                          {"rope_theta", g.rope_theta},
                          {"partial_rotary_factor", rotary},
                          {"mrope_interleaved", true},
                          {"mrope_section", rope_sections(g)}};
  j["max_position_embeddings"] = kContext;
  j["initializer_range"] = 0.02;
  j["tie_word_embeddings"] = g.tie_embeddings;
  j["use_cache"] = true;
  j["bos_token_id"] = nullptr;
  j["eos_token_id"] = token_or_null(c.eos_token);
  j["pad_token_id"] = token_or_null(c.pad_token);
  return j.dump(2) + "\n";
}

std::string generation_config_json(const Checkpoint& c) {
  Json j;
  j["do_sample"] = false;
  j["eos_token_id"] = token_or_null(c.eos_token);
  j["pad_token_id"] = token_or_null(c.pad_token);
  return j.dump(2) + "\n";
}

Checkpoint parse_config(const std::string& text, const std::string& file) {
  const auto fail = [&](const std::string& what) {
    throw std::runtime_error(fmt::format("{}: {}", file, what));
  };
  Geometry g;
  int eos = -1, pad = -1;
  try {
    Json j = Json::parse(text);
    const std::string type = j.at("model_type");
    if (type != kModelType) fail(fmt::format("the model type is {}, {} is wanted", type, kModelType));
    g.vocab = j.at("vocab_size");
    g.hidden = j.at("hidden_size");
    g.intermediate = j.at("intermediate_size");
    g.layers = j.at("num_hidden_layers");
    g.gdn_heads = j.at("linear_num_key_heads");
    g.gdn_key_dim = j.at("linear_key_head_dim");
    g.gdn_value_dim = j.at("linear_value_head_dim");
    g.conv_kernel = j.at("linear_conv_kernel_dim");
    g.attention_heads = j.at("num_attention_heads");
    g.kv_heads = j.at("num_key_value_heads");
    g.head_dim = j.at("head_dim");
    g.rms_eps = j.at("rms_norm_eps");
    g.tie_embeddings = j.value("tie_word_embeddings", false);
    const Json& rope = j.at("rope_parameters");
    g.rope_theta = rope.at("rope_theta");
    const double rotary = rope.value("partial_rotary_factor", 0.25);
    if (!(rotary >= 0 && rotary <= 1)) fail(fmt::format("partial_rotary_factor is {}", rotary));
    g.rotary_dim = static_cast<int>(g.head_dim * rotary + 1e-6);
    if (rope.value("rope_type", "default") != "default") fail("only the default rope_type can be run");
    if (j.value("hidden_act", "silu") != "silu") fail("only the activation silu can be run");
    if (j.value("attention_bias", false)) fail("attention with biases cannot be run");
    if (j.at("linear_num_value_heads") != g.gdn_heads) {
      fail(fmt::format("the model has {} key heads and {} value heads; equal numbers are wanted", g.gdn_heads,
                       j.at("linear_num_value_heads").get<int>()));
    }
    g.full_attention_interval = j.value("full_attention_interval", 4);
    try {
      check_geometry(g);
    } catch (const std::invalid_argument& error) {
      fail(error.what());
    }
    if (j.contains("layer_types")) {
      const auto types = j.at("layer_types").get<std::vector<std::string>>();
      if (types.size() != static_cast<std::size_t>(g.layers)) {
        fail(fmt::format("{} layer_types are given for {} layers", types.size(), g.layers));
      }
      for (int layer = 0; layer < g.layers; ++layer) {
        const char* wanted = g.is_attention(layer) ? "full_attention" : "linear_attention";
        if (types[layer] != wanted) {
          fail(fmt::format("layer {} is {}; with full_attention_interval {} it must be {}", layer,
                           types[layer], g.full_attention_interval, wanted));
        }
      }
    }
    const auto token = [&](const char* name) {
      const auto found = j.find(name);
      return found != j.end() && found->is_number_integer() ? found->get<int>() : -1;
    };
    eos = token("eos_token_id");
    pad = token("pad_token_id");
  } catch (const nlohmann::json::exception& error) {
    fail(error.what());
  }
  Checkpoint c(g);
  c.eos_token = eos;
  c.pad_token = pad;
  return c;
}

}  // namespace qwengpu::qwen
