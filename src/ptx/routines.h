// Operations that the machine does not have, as sequences of those it has.
#pragma once

#include "ptx/emitter.h"

namespace qwengpu::ptx::ir {

struct Quotient {
  Value quotient, remainder;
};
// 32-bit division. PTX leaves division by zero open; unsigned, it gives the quotient 0xffffffff here, as on
// NVIDIA's GPUs, and the dividend as the remainder. Signed, the same is done to the absolute values: the
// quotient is -1, or 1 for a negative dividend.
Quotient divide(Emitter& e, Value dividend, Value divisor, bool is_signed);

Value population_count(Emitter& e, Value value);
Value leading_zeros(Emitter& e, Value value);
Value reversed_bits(Emitter& e, Value value);
// The high word of {hi, lo} << amount, and the low word of {hi, lo} >> amount, for amounts of 0 to 32.
Value funnel_left(Emitter& e, Value lo, Value hi, Value amount);
Value funnel_right(Emitter& e, Value lo, Value hi, Value amount);
// Any function of three bits: table bit 4 a + 2 b + c (PTX ISA, lop3).
Value logic3(Emitter& e, Value a, Value b, Value c, unsigned table);

}  // namespace qwengpu::ptx::ir
