// Numbers of the GGUF format, version 3 (ggml's docs/gguf.md).
#pragma once

#include <cstdint>

namespace qwengpu::qwen::gguf {

constexpr std::uint32_t kVersion = 3;
constexpr std::uint64_t kAlignment = 32;
constexpr const char* kArchitecture = "qwen35";

// Types of metadata values
enum Value : std::uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12,
};

// ggml_type of tensors
constexpr std::uint32_t kTensorF32 = 0;
constexpr std::uint32_t kTensorF16 = 1;
constexpr std::uint32_t kTensorBf16 = 30;

// llama_ftype and llama_token_type
constexpr std::uint32_t kFileF32 = 0;
constexpr std::uint32_t kFileBf16 = 32;
constexpr std::int32_t kTokenControl = 3;
constexpr std::int32_t kTokenUserDefined = 4;

constexpr std::uint64_t aligned(std::uint64_t size, std::uint64_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

}  // namespace qwengpu::qwen::gguf
