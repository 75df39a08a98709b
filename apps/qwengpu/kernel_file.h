// A kernel from a file of any kind the tools read.
#pragma once

#include <filesystem>
#include <string>

#include "isa/kernel.h"

namespace qwengpu {

constexpr const char* kernel_file_help = "kernel: CUDA C++ (.cu), PTX (.ptx) or assembly (.asm)";

// NAME may be empty when the file has one kernel. Throws launch::UsageError for a name or a kind of file that
// does not exist, std::runtime_error for what is wrong inside the file.
isa::Kernel load_kernel(const std::filesystem::path& file, const std::string& name);

}  // namespace qwengpu
