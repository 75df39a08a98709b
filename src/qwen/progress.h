// Progress of long reads and writes, in bytes.
#pragma once

#include <cstdint>
#include <functional>

namespace qwengpu::qwen {

using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

// Element types of weights in files.
enum class DType { f32, f16, bf16 };  // f16 can be read only

inline std::uint64_t bytes_of(DType type) { return type == DType::f32 ? 4 : 2; }

}  // namespace qwengpu::qwen
