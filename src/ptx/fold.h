// Rewrites one instruction to a simpler one with the same result.
#pragma once

#include "ptx/facts.h"

namespace qwengpu::ptx::ir {

bool fold(Instruction& instruction, Site here, const Facts& facts);

}  // namespace qwengpu::ptx::ir
