// Assembly text: `@!P0 IADD R1, R2, 0x10`.
//
//   operands     R0 .. R127, RZ | P0 .. P6, PT, !P0 | 12, -1, 0x10, a name | c[0x40] | SR_TID.X | [R2+0x8]
//   FADD.RZ.FTZ  modifiers of floating point: .RZ .RM .RP, .FTZ, .SAT
//   -R1, |R1|, -|R1|, -c[0x40]   sign of an operand of floating point; of a number with - alone: -(0.5)
//   1.5, -1e-3   the bits of a binary32, where an op reads floating point, and for MOV. A number without '.'
//                or exponent is an integer there too: 1.0 is 0x3f800000, but -1 is 0xffffffff
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
