// Bit manipulation of 32-bit words (PTX ISA 9.7.1 integer, 9.7.8 logic and shift, 9.7.9 prmt). Every unit
// adds its result to a bus of 32 bits and is silent, whatever its operands and modifiers, unless its mode or
// `on` is 1. Modes and modifiers are 0 or 1.
#pragma once

#include "machine/wires.h"

namespace qwengpu::machine {

// popc: the number of ones. One MLP.
void build_population_count(Circuit& c, const Word& a, const Linear& on, const Signals& result);

// brev: the word with its bits in reverse order. One MLP.
void build_bit_reverse(Circuit& c, const Word& a, const Linear& on, const Signals& result);

// Two MLPs.
struct FindMode {
  // At most one.
  Linear leading_zeros;  // clz: 0 .. 32
  Linear position;       // bfind: the bit that ends the sign, 0 .. 31, or 0xffffffff when there is none
  Linear shift_amount;   // bfind.shiftamt: 31 - position
  Linear is_signed;      // bfind.s32: in negative words, the highest 0. Not with leading_zeros
};
void build_find(Circuit& c, const Word& a, const FindMode& mode, const Signals& result);

// lop3: bit i is table[4 a[i] + 2 b[i] + d[i]], `table` being the eight bits of immLut. One MLP.
void build_logic3(Circuit& c, const Word& a, const Word& b, const Word& d, const Word& table,
                  const Linear& on, const Signals& result);

// prmt, default mode: each nibble of `selector` picks one of the bytes of a (0 .. 3) and b (4 .. 7); its bit
// 3 replicates the sign of that byte instead. Two MLPs.
void build_permute(Circuit& c, const Word& a, const Word& b, const Word& selector, const Linear& on,
                   const Signals& result);

// Everything that moves bits by a variable distance. Amounts and positions are in b. Four MLPs, five for the
// sign of an extract.
struct ShiftMode {
  // At most one.
  Linear left, right;                          // shl.b32; shr.u32, shr.s32 with is_signed: a by b, at most 32
  Linear funnel_left, funnel_right;            // shf.{l,r}.clamp.b32: low word a, high word d, by b
  Linear funnel_left_wrap, funnel_right_wrap;  // shf.{l,r}.wrap.b32: by b mod 32
  Linear extract;                              // bfe: length d (8 bits) at position b (8 bits) of a
  Linear insert;                               // bfi: a into d at position b[0 .. 7], length b[8 .. 15]
  Linear is_signed;                            // of right and extract
};
void build_shift_unit(Circuit& c, const Word& a, const Word& b, const Word& d, const ShiftMode& mode,
                      const Signals& result);

// |a - b|, signed or not: sad (9.7.1) without its addition, abs with b = 0. Three MLPs.
void build_absolute_difference(Circuit& c, const Word& a, const Word& b, const Linear& is_signed,
                               const Linear& on, const Signals& result);

// addend += b << shift, for an adder that makes a + (b << shift) of it (the address of an array element). One
// MLP; 2 or 3 bits of shift are cheap.
void build_scaled_addend(Circuit& c, const Word& b, const Word& shift, const Linear& on,
                         const Signals& addend);

}  // namespace qwengpu::machine
