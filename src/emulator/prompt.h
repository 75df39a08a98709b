// The prompt of a launch, taken apart: the kernel's instructions and host staging.
#pragma once

#include <span>
#include <vector>

#include "isa/encoding.h"

namespace qwengpu::emulator {

struct Prompt {
  std::vector<isa::Instruction> code;  // all Parameters::instructions; what the prompt leaves out is ILLEGAL
  std::vector<isa::Row> host;          // all Parameters::host_lines
};

// Throws std::invalid_argument, with the number of the token, for a prompt that is not `<I n>` and `<H n>`
// rows and a final `<GO>`, and for words that are no instructions of a kernel.
Prompt parse_prompt(std::span<const int> tokens);

}  // namespace qwengpu::emulator
