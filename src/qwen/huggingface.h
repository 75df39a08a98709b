// The model as a directory of Hugging Face transformers: config, tokenizer and safetensors of class
// Qwen3_5ForCausalLM.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "qwen/checkpoint.h"
#include "qwen/progress.h"

namespace qwengpu::qwen {

struct HuggingFaceOptions {
  DType type = DType::bf16;                   // f32 or bf16
  std::uint64_t shard_bytes = 2'000'000'000;  // a shard is larger only if one tensor is
};

// Streams the tensors into DIRECTORY.partial and renames it at the end; a failure leaves nothing.
// std::runtime_error when the directory exists and is not empty, when a weight is not exact in this type
// (naming the tensor), or when a file cannot be written.
void write_huggingface(const Checkpoint& checkpoint, const std::filesystem::path& directory,
                       const HuggingFaceOptions& options = {}, const Progress& progress = {});

// Types F32, F16 and BF16, one file or shards. std::runtime_error naming the file, the byte or tensor, and
// what is wrong.
Checkpoint read_huggingface(const std::filesystem::path& directory, const Progress& progress = {});

// The parts of the directory, as texts.
std::string config_json(const Checkpoint& checkpoint, DType type);
std::string generation_config_json(const Checkpoint& checkpoint);
std::string tokenizer_json(const Checkpoint& checkpoint);
std::string tokenizer_config_json(const Checkpoint& checkpoint);
// Geometry (without the vocabulary's spellings), eos and pad. `file` names the text in errors.
Checkpoint parse_config(const std::string& text, const std::string& file);
std::vector<std::string> parse_tokenizer(const std::string& text, const std::string& file, int vocab);

}  // namespace qwengpu::qwen
