// How tokens enter the machine (embedding) and how it speaks (unembedding).
#pragma once

#include <array>

#include "machine/wires.h"

namespace qwengpu::machine {

TokenInputs make_token_inputs(Circuit& c);
void embed_vocabulary(Circuit& c, const TokenInputs& t);

// Two one-hot digits.
struct Digits {
  Signals high, low;  // [16]
};

// What the machine says next: exactly one class is 1, and the digits that the class takes. A token's logit is the sum of its class and
// its digits, so the right one leads by a whole digit or class. Families of tokens have digits of their own, so that a digit
// reaches few rows of the lm_head.
struct Speech {
  Digits pc_digits;     // the middle 3 bits, the low 4
  Signals pc;           // [16] number / 128
  Signals firmware_pc;  // [4]  the same
  Signals meet, release;  // [16] the same
  Signals op;           // [op_count]
  std::array<Signals, 1 << lanes> masks;  // [16][16] one-hot over both masks; invalid where executing is not a part of the other
  Digits value_digits;
  std::array<Signals, lanes> value, last_value;  // [4][3], [4][4] lane and byte
  std::array<Signals, lanes> new_value, last_new_value;
  std::array<Signals, lanes> ones_value, ones_new_value;  // [4][3]
  Signals all_value, last_all_value, ones_all_value;      // [3], [4], [3] byte
  Digits digits;                                 // of the classes that follow
  Signals predicate;                             // [7]; high: mask
  Signals wait;                                  // [3]; high: mask
  Signal quad, system;
  Signal thread_index, constant_line;
  // classes without digits
  Signals store, copy;            // [4]
  Signals register_class;         // [4]
  Signals read;                   // [4]
  std::array<Signals, isa::fault_table.size()> fault;  // [.][4]
  Signal operand_c, keep, end;
  Signal meet_none, release_barrier, release_yield, stuck;
};

Speech make_speech(Circuit& c);
void unembed_vocabulary(Circuit& c, const Speech& s);

}  // namespace qwengpu::machine
