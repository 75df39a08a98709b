// What the integer and bit instructions of the table compute, in plain C++: the one place that says it, for the emulator and for folding
// constants. (The circuits in src/machine are written apart from it, and tested against it.)
#pragma once

#include <cstdint>
#include <optional>

#include "isa/instructions.h"

namespace qwengpu::isa {

// Of an op that writes a register from a, b (and c, and the table of LOP3); nothing for others: predicates, floats, memory.
std::optional<std::uint32_t> compute(Op op, std::uint32_t a, std::uint32_t b, std::uint32_t c, unsigned table = 0);

// ISETP. Throws std::logic_error for another op.
bool compare(Op op, std::uint32_t a, std::uint32_t b);

}  // namespace qwengpu::isa
