// Binary32 arithmetic as the machine has it (docs/machine.md, Floating point), for one lane. It is made of
// integers alone: exact values that are rounded once. So neither the CPU's rounding mode nor the compiler's
// idea of floating point matters.
#pragma once

#include <cstdint>

#include "isa/encoding.h"

namespace qwengpu::emulator {

struct FloatModifiers {
  isa::Rounding rounding = isa::Rounding::NearestEven;
  bool flush = false, saturate = false;
};

// The operand with its sign changed: |x| is taken before the negation, also of a NaN.
std::uint32_t with_sign(std::uint32_t x, bool absolute, bool negate);

// FADD, FMUL, FFMA: a + b, a * b, a * b + c.
std::uint32_t float_arithmetic(isa::Mode mode, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                               const FloatModifiers& modifiers);
// FMIN, FMAX.
std::uint32_t float_min_max(isa::Mode mode, std::uint32_t a, std::uint32_t b, bool flush);
// FSETP.
bool float_compare(isa::Mode mode, std::uint32_t a, std::uint32_t b, bool flush);

// I2F, F2I and FRND. The mode says whether the integer is signed.
std::uint32_t convert_to_float(isa::Mode mode, std::uint32_t x, isa::Rounding rounding);
std::uint32_t convert_to_integer(isa::Mode mode, std::uint32_t x, const FloatModifiers& modifiers);
std::uint32_t round_to_integral(std::uint32_t x, const FloatModifiers& modifiers);

}  // namespace qwengpu::emulator
