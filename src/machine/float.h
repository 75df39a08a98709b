// The binary32 multiply-add as gates: a * b + c with one rounding, as IEEE 754 and
// fma.{rn,rz,rm,rp}{.ftz}{.sat}.f32 of the PTX ISA define it. Thirteen MLPs from operand bits to result bits.
// Silent, that is without a neuron that fires, while it is off.
#pragma once

#include "machine/wires.h"

namespace qwengpu::machine {

struct FloatOperands {
  Word a, b, c;  // 32 bits each
};

// Bits. The others are looked at only while multiply_add is 1.
struct FloatMode {
  Linear multiply_add;                         // the unit is on
  Linear nearest_even, toward_zero, down, up;  // exactly one
  Linear flush;     // .ftz: subnormal operands and results become zeros of their sign
  Linear saturate;  // .sat: the result is clamped to [0, 1], NaN and -0 become +0
};

// What the multiply-add is used for, and what happens to the registers on their way into it. Bits; absolute
// value before negation.
struct FloatOp {
  Linear add;       // a + b:  a * 1 + b
  Linear multiply;  // a * b:  plus a zero of the product's sign, which is right in every rounding mode
  Linear negate_a, negate_b, negate_c;
  Linear absolute_a, absolute_b, absolute_c;
};

struct UnpackedFloat {
  Signals fraction;  // [23]
  Signals exponent;  // [8], biased
  Signal normal;     // the exponent field is not 0: the significand has its leading bit
  Signal flushed;    // the fraction counts as 0, whatever it says
  Signal sign;
  Word significand() const;  // [24]
};

struct FloatInputs {
  UnpackedFloat a, b, c;
  Linear no_addend;  // c is 0 and its sign does not matter
};

// One MLP: chooses and negates operands, finds those to flush; all signals are 0 while the unit is off.
FloatInputs float_front(Circuit& c, const FloatOperands& registers, const FloatOp& op, const FloatMode& mode);
// Twelve MLPs: result[i] += bit i.
void build_float(Circuit& c, const FloatInputs& in, const FloatMode& mode, const Signals& result);
// Both for a plain a * b + c.
void build_float(Circuit& c, const FloatOperands& in, const FloatMode& mode, const Signals& result);

}  // namespace qwengpu::machine
