// What the arithmetic instructions compute, for one lane, in plain C++.
#pragma once

#include <cstdint>

#include "isa/encoding.h"

namespace qwengpu::emulator {

// Ops that write a register, MOV to SHF.R. The operands are as they were read: signs are changed here.
// `selected` is the predicate of SEL.
std::uint32_t calculate(const isa::Instruction& instruction, std::uint32_t a, std::uint32_t b,
                        std::uint32_t c, bool selected = false);

// ISETP, FSETP.
bool compare(const isa::Instruction& instruction, std::uint32_t a, std::uint32_t b);

}  // namespace qwengpu::emulator
