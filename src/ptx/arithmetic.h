// Laws of the instructions, for folding and for choosing operands; what they compute is in isa/arithmetic.h.
#pragma once

#include "isa/arithmetic.h"
#include "isa/instructions.h"

namespace qwengpu::ptx::ir {

using isa::compute;

// The compare with its operands exchanged.
isa::Op swapped(isa::Op compare);
bool commutes(isa::Op op);

}  // namespace qwengpu::ptx::ir
