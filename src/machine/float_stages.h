// The stages of the multiply-add, for float*.cpp alone.
//
// Sums are formed in a window of 79 bits. Bit 23 of the addend stands at window bit 78 - d, where d is how
// far the addend lies below the window's top; the product, 48 bits, stands at bits 3 .. 50, so that its
// leading place (46) is at bit 49. Addends that would stand higher are put at the top: then the product is
// too small to matter except as 'not zero'. What the addend loses below bit 1 is a one at bit 0, 'not zero'
// again. Three bits are needed below the product: when one factor is subnormal, the product of the other's
// leading bit may be as low as window bit 26, a borrow takes it to 25, and below 24 bits of result rounding
// needs two more.
//
// Every number on the way is small: exponents are taken apart in digits of 3 and 5 bits.
#pragma once

#include <functional>

#include "machine/float.h"

namespace qwengpu::machine::float_stages {

inline constexpr int fraction_bits = 23, significand_bits = 24, exponent_bits = 8;
inline constexpr int window_bits = 79;
inline constexpr int product_place = 3;  // window bit of the product's lowest bit
inline constexpr int group = 8;          // window bits that are shifted at once
inline constexpr int groups = 10;
inline constexpr int most_high = 51;  // high digit of the largest exponent: 2 * 255 - 98 = 8 * 51 + 4

inline std::size_t at(int i) { return static_cast<std::size_t>(i); }

// bus += coef * relu(gate) * up, unless the gate can never fire (an option that the caller left out).
void add_if_possible(Circuit& c, Signal bus, double coef, const Linear& gate, const Linear& up = 1);
// bus += f(x) for x in 0 .. most, f(0) = 0; functions of one x share their neurons. Silent where x is 0.
void add_function(Circuit& c, Signal bus, const Linear& x, int most, const std::function<int(int)>& f,
                  const Linear& when = 1);
// bus += [x >= t] where all conditions are 1: two neurons. `most` bounds x - t + 1.
void add_threshold(Circuit& c, Signal bus, const Linear& x, int t, const Word& conditions, int most);

// Signs, zeros, infinities and NaNs of the operands.
struct Classes {
  Signal product_sign;
  Signal subtract;  // the addend's sign differs from the product's
  Signal a_is_zero, b_is_zero;
  Signal special;       // an operand is infinite or NaN: the sum of the window is not the result
  Signal nan;           // the result is NaN
  Signal infinite;      // the result is infinite by its operands
  Signal special_sign;  // of that infinity
};
Classes classify(Circuit& c, const FloatInputs& in, const Linear& on);

// The terms of the sum in one window; where a sum of exponent digits is wanted, its value is 8 * high + low.
struct Window {
  Signals bits;  // [79] of -1 .. 3: two rows of the product and the addend, which counts -1 where it is
                 // subtracted
  std::vector<int> rows;  // [79] rows of the product, at most 2
  Signal high, low;       // biased exponent that a one at window bit 78 would have
};
Window align(Circuit& c, const FloatInputs& in, const Classes& classes, const Linear& on);

struct Magnitude {
  Signals bits;     // [79] |sum|; 0 for special operands
  Signal negative;  // the addend outweighed the product
};
Magnitude add_window(Circuit& c, const Window& window, const Classes& classes);

struct Normalised {
  Signals significand;  // [24], bit 23 is 0 for subnormal results and zeros
  Signal guard;         // the bit below
  Signal rest;          // 0 .. 8, not 0 when there are ones below the guard
  Signals lead_group;   // [10] where the leading bit of the significand stands in the window: group
  Signals lead_place;   // [8] and places below the top of the group
};
Normalised normalise(Circuit& c, const Magnitude& magnitude, const Window& window, const Linear& on);

// Sign, rounding, exponent, overflow, saturation.
void round_and_pack(Circuit& c, const Classes& classes, const Window& window, const Magnitude& magnitude,
                    const Normalised& value, const FloatMode& mode, const Signals& result);

}  // namespace qwengpu::machine::float_stages
