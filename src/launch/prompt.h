// The launch request as the model reads it: kernel, geometry, parameters and host data (docs/machine.md,
// Launch request).
#pragma once

#include <vector>

#include "isa/kernel.h"
#include "launch/description.h"

namespace qwengpu::launch {

struct Prompt {
  std::vector<int> tokens;  // ends with <GO>
  // The kernel argument of buffer first_buffer + n. Buffer 0 are the module's variables, if it has any.
  std::vector<std::size_t> arguments;
  std::size_t first_buffer = 0;
};

// Throws UsageError when the arguments do not fit the kernel, or the launch does not fit the machine's
// staging. What a CUDA launch itself refuses (a grid of 0, too many threads, too little global, shared or
// local memory) is left to the model.
Prompt make_prompt(const Description& description, const isa::Kernel& kernel);

}  // namespace qwengpu::launch
