// Binary addition as gates: three MLPs for any width, in groups of four bits, so that every number on the way stays small.
#pragma once

#include "machine/wires.h"

namespace qwengpu::machine {

// A sum before the last step: bit i is without[i] if no carry enters its group of four, with[i] if one does, and carry[i] tells.
struct ConditionalSum {
  Word without, with, carry;
};
ConditionalSum conditional_sum(Circuit& c, const std::string& name, const Word& a, const Word& b, const Linear& carry_in);

// bus[i] += the sum where `when` is 1. The third MLP.
void add_sum(Circuit& c, const ConditionalSum& sum, const Linear& when, const Signals& bus);
// Bits first .. of the sum only.
void add_sum(Circuit& c, const ConditionalSum& sum, int first, const Linear& when, const Signals& bus);

// a < b and a == b as small numbers: less - greater of the nibbles, weighted. Two MLPs.
struct Comparison {
  Linear order;    // > 0 when a < b, < 0 when a > b, 0 when equal (after one MLP)
  Linear differs;  // number of nibbles that differ
};
// `is_signed` 0 or 1: bit 31 counts negative. For words of 32 bits; shorter words are unsigned.
Comparison compare(Circuit& c, const std::string& name, const Word& a, const Word& b, const Linear& is_signed);

}  // namespace qwengpu::machine
