// What the arithmetic instructions compute, for one lane, in plain C++.
#pragma once

#include <cstdint>

#include "isa/encoding.h"

namespace qwengpu::emulator {

// Ops that write a register, MOV to SHF.R. The operands are as they were read: signs are changed here.
// `selected` is the predicate of SEL, IADD.X and ISUB.X.
std::uint32_t calculate(const isa::Instruction& instruction, std::uint32_t a, std::uint32_t b,
                        std::uint32_t c, bool selected = false);

// What a word of memory becomes: ATOM, RED, ST.8 and ST.16 at this byte address.
std::uint32_t update(const isa::Instruction& instruction, std::uint32_t address, std::uint32_t old, std::uint32_t b,
                     std::uint32_t c);

// ISETP, FSETP.
bool compare(const isa::Instruction& instruction, std::uint32_t a, std::uint32_t b);

}  // namespace qwengpu::emulator
