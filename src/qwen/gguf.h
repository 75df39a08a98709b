// The model as a GGUF file of llama.cpp's architecture `qwen35`.
#pragma once

#include <filesystem>

#include "qwen/checkpoint.h"
#include "qwen/progress.h"

namespace qwengpu::qwen {

struct GgufOptions {
  DType type = DType::bf16;  // of the matrices (f32 or bf16); 1-D tensors and convolutions are always f32
  std::string name = "qwenGPU";
};

// Streams the tensors; an older file of this name is replaced at the end. std::runtime_error naming the
// tensor when a weight is not exact in this type, naming the file when it cannot be written.
void write_gguf(const Checkpoint& checkpoint, const std::filesystem::path& path,
                const GgufOptions& options = {}, const Progress& progress = {});

// Types F32, F16 and BF16. std::runtime_error naming file, byte or tensor, and what is wrong. A_log comes
// back through a logarithm, exact when it is 0.
Checkpoint read_gguf(const std::filesystem::path& path, const Progress& progress = {});

}  // namespace qwengpu::qwen
