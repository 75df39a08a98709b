// The project's own checkpoint file: the non-zeros only, guarded by a checksum. Made to be read back by the
// same program; the formats for others are in huggingface.h and gguf.h.
#pragma once

#include <filesystem>

#include "qwen/checkpoint.h"

namespace qwengpu::qwen {

// The checkpoint must be `finish`ed. An older file of this name is replaced at once or not at all.
void save_sparse(const Checkpoint& checkpoint, const std::filesystem::path& path);

// std::runtime_error naming the file when it is not such a file, of another version, cut short or corrupt.
Checkpoint load_sparse(const std::filesystem::path& path);

}  // namespace qwengpu::qwen
