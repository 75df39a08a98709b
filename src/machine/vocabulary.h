// How tokens enter the machine (embedding) and how it speaks (unembedding).
#pragma once

#include <array>

#include "machine/wires.h"

namespace qwengpu::machine {

TokenInputs make_token_inputs(Circuit& c);
void embed_vocabulary(Circuit& c, const TokenInputs& t);

// What the machine says next: exactly one class is 1, and the digits that the class takes. A token's logit is the sum of its class and
// its digits, so the right one leads by a whole digit or class.
struct Speech {
  Signals digit0, digit1;  // [16] one-hot
  Signals pc;              // [16] number / 128; digits: the next 3 bits, the low 4
  Signals firmware_pc;     // [4]  the same
  Signals op;              // [op_count]; digits: mask, executing mask
  Signals predicate;       // [7]; digit 0: mask
  Signal quad, system;     // quad: digits: high, low nibble
  std::array<Signals, lanes> value, last_value;  // [4][3], [4][4] lane and byte; digits: high, low nibble
  Signals store, copy;            // [4]
  Signal thread_index, constant_line;  // digits: high, low nibble
  Signals register_class;         // [4]
  std::array<Signals, isa::fault_table.size()> fault;  // [.][4]
  Signal operand_c, keep, end;
};

Speech make_speech(Circuit& c);
void unembed_vocabulary(Circuit& c, const Speech& s);

}  // namespace qwengpu::machine
