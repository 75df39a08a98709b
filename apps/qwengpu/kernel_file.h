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

// What a kernel has besides its code, as the comments that assembly text says it in, a line each:
//   ; parameter TYPE NAME          TYPE is pointer or a PTX type such as u32
//   ; shared BYTES                 static shared memory
//   ; local BYTES                  local memory of a thread, a multiple of 16
//   ; variable-bytes HEX ...       the module's variables from device address 0x100 on; more such lines
//   continue them ; named-barriers ADDRESS       of the table of named barriers, which is part of the
//   variables
std::string assembly_header(const isa::Kernel& kernel);

}  // namespace qwengpu
