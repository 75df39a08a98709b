// Where an instruction comes from.
#pragma once

#include <string>

#include "isa/kernel.h"

namespace qwengpu::launch {

// "vecadd.cu:4"; empty when the kernel does not know.
std::string source_line(const isa::Kernel& kernel, int pc);

}  // namespace qwengpu::launch
