// The shapes of a Qwen3.5 text model (Hugging Face config class Qwen3_5TextConfig).
#pragma once

namespace qwengpu::qwen {

// Defaults are Qwen3.5-2B's own decoder layers; `layers` is ours and `vocab` is set by the model's builder.
struct Geometry {
  int layers = 45;
  int vocab = 0;
  int hidden = 2048;                // width of the residual stream
  int intermediate = 6144;          // SwiGLU neurons of one MLP
  int full_attention_interval = 4;  // layer i is full attention when (i + 1) % interval == 0, else GDN

  // Gated DeltaNet mixer: `gdn_heads` key heads and as many value heads.
  int gdn_heads = 16;
  int gdn_key_dim = 128;
  int gdn_value_dim = 128;
  int conv_kernel = 4;

  // Gated full attention.
  int attention_heads = 8;
  int kv_heads = 2;
  int head_dim = 256;
  int rotary_dim = 64;  // partial_rotary_factor 0.25
  double rope_theta = 1e7;

  float rms_eps = 1e-6f;
  bool tie_embeddings = false;

  bool is_attention(int layer) const { return (layer + 1) % full_attention_interval == 0; }
  int gdn_key_width() const { return gdn_heads * gdn_key_dim; }                   // 2048
  int gdn_value_width() const { return gdn_heads * gdn_value_dim; }               // 2048
  int gdn_conv_width() const { return 2 * gdn_key_width() + gdn_value_width(); }  // 6144: q | k | v

  bool operator==(const Geometry&) const = default;
};

}  // namespace qwengpu::qwen
