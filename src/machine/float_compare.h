// Order of binary32 numbers: setp (PTX ISA 9.7.6) in two MLPs, min and max (9.7.3) in three.
#pragma once

#include <string>

#include "machine/wires.h"

namespace qwengpu::machine {

// A binary32 operand with the modifiers of its sign bit, absolute value before negation; the sign is 0 unless `on` is 1. One MLP.
Word with_sign(Circuit& c, const std::string& name, const Word& word, const Linear& absolute, const Linear& negate,
               const Linear& on);

// Bits, at most one of them 1; a > b is what is left. -0 equals +0, and a NaN is unordered with everything.
struct FloatOrder {
  Linear less, equal, unordered;
};
// All 0 and silent unless `on` is 1. `flush` (.ftz): subnormal operands count as zero.
FloatOrder float_order(Circuit& c, const std::string& name, const Word& a, const Word& b, const Linear& flush,
                       const Linear& on);

// Every member is 0 or 1. min and max put -0 below +0.
struct FloatMinMaxMode {
  Linear minimum, maximum;  // at most one; the unit is silent when both are 0
  // .NaN: one NaN makes the result NaN. Else it takes two, and of a NaN and a number the number is the
  // result.
  Linear propagate_nan;
  Linear flush;  // .ftz: subnormal operands count as zero of their sign
};
// result[0 .. 31] += the smaller or larger of a and b; NaN is 0x7fffffff.
void build_float_min_max(Circuit& c, const Word& a, const Word& b, const FloatMinMaxMode& mode,
                         const Signals& result);

}  // namespace qwengpu::machine
