// The 128-bit instruction word.
#pragma once

#include <array>
#include <cstdint>

#include "isa/instructions.h"

namespace qwengpu::isa {

using Row = std::array<std::uint32_t, 4>;  // 128 bits: an instruction word, a register row, a line of memory

constexpr int rz = 128;  // the register that reads 0 and is not written
constexpr int pt = 7;    // the predicate that is always true

struct PredicateOperand {
  int index = pt;
  bool negated = false;
  bool operator==(const PredicateOperand&) const = default;
};

enum class Rounding { NearestEven, TowardZero, Down, Up };  // PTX .rn .rz .rm .rp

struct Instruction {
  Op op = Op::Illegal;
  PredicateOperand guard;
  int rd = rz, ra = rz, rb = rz, rc = rz;
  int pd = 0;
  PredicateOperand pa, pb;
  BSource b_source = BSource::Register;
  std::uint32_t immediate = 0;  // B operand, offset of a memory operand, address of a constant, number of a special register
  int target = 0;               // instruction number
  // Modifiers, for ops whose table entry has F, N or l.
  Rounding rounding = Rounding::NearestEven;
  bool flush = false, saturate = false;                            // .FTZ, .SAT
  bool negate_a = false, negate_b = false, negate_c = false;      // after the absolute value
  bool absolute_a = false, absolute_b = false;
  int table = 0;                                                   // of LOP3
  bool operator==(const Instruction&) const = default;
};

// Bit positions of the fields in the word; the circuits read them from here too.
struct Field {
  int first;
  int bits;
};
namespace field {
constexpr Field op{0, 8};
constexpr Field guard{8, 3}, guard_negated{11, 1};
constexpr Field rd{16, 8}, ra{24, 8}, rb{32, 8}, rc{40, 8};  // bit 7 set: RZ
constexpr Field pd{48, 3};
constexpr Field pa{52, 3}, pa_negated{55, 1};
constexpr Field pb{56, 3}, pb_negated{59, 1};
constexpr Field b_source{60, 2};
constexpr Field immediate{64, 32};
constexpr Field target{96, 11};
constexpr Field rounding{108, 2}, flush{110, 1}, saturate{111, 1};
constexpr Field negate_a{112, 1}, negate_b{113, 1}, negate_c{114, 1}, absolute_a{115, 1}, absolute_b{116, 1};
constexpr Field table{117, 8};
}  // namespace field

// Throws std::invalid_argument when a field does not fit.
Row encode(const Instruction& instruction);
// Throws std::invalid_argument for a word that no instruction encodes to. The all-zero word decodes to Illegal.
Instruction decode(const Row& word);

}  // namespace qwengpu::isa
