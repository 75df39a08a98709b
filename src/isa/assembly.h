// Assembly text: `@!P0 IADD R1, R2, 0x10`.
//
//   operands     R0 .. R127, RZ | P0 .. P6, PT, !P0 | 12, -1, 0x10, a name | c[0x40] | SR_TID.X | [R2+0x8]
//   label:       a branch target; a number as label states the instruction's own number
//   name = 12    a constant; a number may be a sum of numbers and names: descriptors+4
//   name = R1    another name for a register or a predicate
//   ; text       a comment, as is // text
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/encoding.h"

namespace qwengpu::isa {

using Constants = std::map<std::string, std::uint32_t, std::less<>>;

// Throws std::invalid_argument with the line number and what is wrong with it.
std::vector<Instruction> assemble(std::string_view text, const Constants& constants = {});

// One instruction; branch targets as instruction numbers.
std::string disassemble(const Instruction& instruction);
// A line per instruction with its number, and who branches there as a comment. Assembles to the same code.
std::string listing(std::span<const Instruction> code);

}  // namespace qwengpu::isa
