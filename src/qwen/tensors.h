// Every tensor of a Qwen3.5 text model: the one table that readers, writers and engines follow.
#pragma once

#include <string>
#include <vector>

#include "qwen/geometry.h"

namespace qwengpu::qwen {

// How llama.cpp's `qwen35` architecture stores a Hugging Face value w.
enum class GgufForm {
  same,       // w
  one_plus,   // 1 + w: the zero-centred RMSNorm weights
  minus_exp,  // -exp(w): A_log
};

struct TensorSpec {
  std::string name;       // Hugging Face, class Qwen3_5ForCausalLM
  std::string gguf_name;  // llama.cpp, architecture qwen35
  int rows = 0;           // output width; the length of a 1-D tensor
  int cols = 1;           // input width
  bool one_dimensional = false;
  bool depthwise_conv = false;  // published as [rows, 1, cols]
  GgufForm gguf_form = GgufForm::same;
};

// In the order of the model: embedding, layers, final norm, lm_head (absent when tied).
std::vector<TensorSpec> tensors_of(const Geometry& geometry);

// Throws std::invalid_argument saying which dimension cannot be that of a model.
void check_geometry(const Geometry& geometry);

}  // namespace qwengpu::qwen
