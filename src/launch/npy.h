// NumPy's .npy files, format versions 1 to 3 (numpy.lib.format): C order, little endian, the types of
// array.h.
#pragma once

#include <filesystem>

#include "launch/array.h"

namespace qwengpu::launch {

// Throws std::runtime_error naming the file and what to do.
Array read_npy(const std::filesystem::path& path);

// Writes a temporary file first, so that PATH is either whole or not there.
void write_npy(const std::filesystem::path& path, const Array& array);

}  // namespace qwengpu::launch
