// The launch firmware: the instructions that S executes (docs/machine.md, What the firmware does).
#pragma once

#include <vector>

#include "isa/encoding.h"

namespace qwengpu::isa {

// Assembled once; at most Parameters::firmware_instructions.
const std::vector<Instruction>& firmware();

}  // namespace qwengpu::isa
