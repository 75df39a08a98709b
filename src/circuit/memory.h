// Common uses of a memory head.
#pragma once

#include <string>
#include <vector>

#include "circuit/circuit.h"

namespace qwengpu::circuit {

// Rows dim, dim + 1, ... from a word of forms; constants 0 make no row.
std::vector<HeadSpec::Row> rows(const Word& forms, int first_dim = 0);
// Rows that decode an address inside the projection (free): row i is on when the bits spell i and `when`
// is 1.
std::vector<HeadSpec::Row> decoded_rows(const Word& address, const Linear& when = 1);
// Rows first .. first + count - 1, all with one form.
std::vector<HeadSpec::Row> same_rows(const Linear& form, int count, int first_dim = 0);

// One word of up to 128 bits: `write` (0 or 1) stores `data`; the outputs name[i] show the stored word at
// every token, the token that writes it included (the write comes before the read).
struct LatchSpec {
  std::string name;
  int layer = HeadSpec::earliest;
  Linear write;
  Word data;
  Linear read = 1;  // 0: the outputs are 0
  Linear clear = 0;
};
Signals latch(Circuit& c, const LatchSpec& spec);

// A RAM of up to 128 words: one write and one read a token, addresses as one-hot words (rows(...)) or binary
// (decoded_rows(...)).
struct RamSpec {
  std::string name;
  int layer = HeadSpec::earliest;
  std::vector<HeadSpec::Row> write_address, read_address;
  Word data;
  Linear write = 1;  // 0 or 1
  Linear read = 1;   // 0 or 1
  Linear clear = 0;
};
Signals ram(Circuit& c, const RamSpec& spec);  // new outputs name[i]
void ram_into(Circuit& c, const RamSpec& spec,
              const Signals& outputs);  // reads into buses of the caller (banks over layers)

}  // namespace qwengpu::circuit
