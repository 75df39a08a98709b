// What the machine's integer and bit instructions compute, for folding constants (the table of
// isa/instructions.h in C++).
#pragma once

#include <cstdint>
#include <optional>

#include "isa/instructions.h"

namespace qwengpu::ptx::ir {

// Of an instruction that writes a register from a, b (and c); nothing for the others.
std::optional<std::uint32_t> compute(isa::Op op, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                     unsigned table = 0);
bool compare(isa::Op op, std::uint32_t a, std::uint32_t b);
// The compare with its operands exchanged.
isa::Op swapped(isa::Op compare);
bool commutes(isa::Op op);

}  // namespace qwengpu::ptx::ir
