// Laws of the instructions, for folding and for choosing operands; what they compute is in isa/arithmetic.h.
#pragma once

#include "isa/arithmetic.h"
#include "isa/instructions.h"

namespace qwengpu::ptx::ir {

using isa::compute;

// The compare with its operands exchanged.
isa::Op swapped(isa::Op compare);
bool commutes(isa::Op op);
// What does the same to memory as the atomic operation and gives no result; the operation itself where there
// is none.
isa::Op without_result(isa::Op atomic);

}  // namespace qwengpu::ptx::ir
