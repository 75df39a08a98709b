// The named signals that the units of the machine exchange. A unit reads the wires of those before it and fills in its own.
#pragma once

#include <array>
#include <bit>

#include "circuit/circuit.h"
#include "circuit/gates.h"
#include "circuit/memory.h"
#include "isa/encoding.h"
#include "isa/parameters.h"
#include "machine/control.h"

namespace qwengpu::machine {

using circuit::Circuit;
using circuit::HeadSpec;
using circuit::Linear;
using circuit::Signal;
using circuit::Signals;
using circuit::Word;
using isa::Parameters;

inline constexpr int lanes = Parameters::lanes;
inline constexpr int word_bits = 32;
inline constexpr int row_bits = lanes * word_bits;  // 128: a row of registers, a line, an instruction word

inline constexpr int shared_bit = std::countr_zero(Parameters::shared_window);  // of an address

inline std::size_t at(int i) { return static_cast<std::size_t>(i); }

// What a token says: set by its embedding, so known before layer 0.
struct TokenInputs {
  // number carried by <I> <H> <Q> <PC> <FW> <TI> <CB>
  Signals number_low;   // [128] one-hot of number mod 128
  Signals number_high;  // [32] one-hot of number / 128
  Signals number_bits;  // [11] binary, for <Q> <PC> <FW>
  Signal quad, system, pc, firmware_pc;  // <Q n>; <Q S>; <PC> or <FW>; <FW>
  Signal index;                          // <I> <H> <TI> <CB>
  Signal op, operand_c, keep, store, copy;
  // value tokens
  Signals said;            // [32] bits of the word that this token says: of its byte, and the ones above it
  Signals lane;            // [4] one-hot: where it stands; none for new bytes
  Signal of_all;           // it says them of all lanes
  Signals stage;           // [4] bytes that this token says
  Signal renewed;          // it is a new byte
  Signal begins_prompt;    // <I 0>
  Signal go;               // <GO>
  Signal begins_row;       // bytes of a row that are not spoken from here on are 0
  Signal last_value;       // last token of a lane
  Signal row_end;          // last token of lane 3
  Signals recall;          // [4] the staged word of this lane is read
  Signal renewing;         // a new byte of an atomic operation, more follow
  Signal commit;           // its last new byte: the word is stored
  // waiting
  Signals waiting;         // [3] one-hot kind, <WAIT k mask>
  Signals wait_for;        // [3] one-hot kind, op tokens that wait and execute
  Signal named_barrier;    // of these, BAR.NAMED
  Signal meet, meet_none, release, release_barrier, release_yield;
  Signal first_quad;       // <Q 8 w>
  Signal enters;           // <Q n>
  // <Pn mask>
  Signals predicate;  // [7] one-hot n
  Signals mask;       // [4]
  // op tokens
  Signals at, executing;  // [4] masks
  Signals control;        // [control_count]; also set by <I> and <H>, which say where their rows go
  Signal sets_control;
  Signals register_class;  // [4] one-hot, <RC>
  Signal sets_register_class;
  Signals fault_code;  // [10] CUDA code, <FAULT>
  Signal sets_fault;   // <FAULT>, and RUN with code 0
  // flags that follow from the kind of token
  Signal use_state;        // quad, pc, number, class are read
  Signal use_control;      // the control word is read
  Signal use_instruction;  // the instruction at pc is read
  Signal use_predicates;   // the quad's predicates are read
  Signal use_pcs;          // the quad's program counters are read
  Signal reads_register;   // <PC> <FW> <C> <KEEP>: operand registers (op tokens: reads_b)
  Signal reads_b;          // op tokens with a B operand
  Signal b_is_offset;      // op tokens whose B operand is the immediate offset of a memory operand
  Signal sets_offset;      // op tokens whose offset is not B
  Signal check;            // op tokens that access memory and execute
  Signal may_broadcast;    // op tokens that load in all lanes
  Signal may_be_number;    // MOV in all lanes
  Signal compare;          // op tokens that compare and execute
  Signal writes_predicate; // op tokens that compute a predicate and execute
  Signal predicate_sources;  // op tokens that read q (and r)
  Signal sets_choice;      // op tokens that keep a predicate for the value tokens
  Signal puts;             // op tokens that show a word or a predicate to the warp
  Signal branch, exit, run, limit, shared_limit;
  // the lane whose operands are selected in this pass, and the byte that is spoken next
  Signals select;     // [4] one-hot
  Signals next_byte;  // [4] one-hot
  // what comes next, as far as the token alone decides it
  Signal want_next, want_c, want_keep, want_value, want_thread_index, want_constant, want_class, want_end, want_system,
      want_first_quad, want_illegal, want_new_value, want_all_values, want_release_barrier;
  Signals want_store, want_copy;  // [4] first executing lane
  Signals want_read;              // [4] lane
};

// An address decoded in two one-hot halves, whose product a projection takes for free.
struct SplitOneHot {
  Signals high, low;
  // row i of a head is on when both halves say i
  std::vector<HeadSpec::Row> rows() const;
};

struct Wires {
  TokenInputs token;

  // latches (layer 0)
  Signals quad_low;   // [128] one-hot of quad mod 128; all 0 in S
  Signals quad_bits;  // [8]; all 0 in S
  Signal system;      // S issues
  Signals pc_low;     // [128] one-hot
  Signals pc_high;    // [16] one-hot
  Signals pc_bits;    // [11]
  Signal firmware;    // pc counts firmware instructions
  Signals number_low, number_high;  // [128], [32] of the last <I> <H> <TI> <CB>
  Signals class_is;                 // [4] register class
  Signals fault_code;               // [10]
  Signals executing;                // [4]
  Signals warp_bits;                // [5] of the quad, also at value tokens
  Signals control;                  // [control_count]
  Signals staged;                   // [128] the row, complete at row_end
  Signals stored;                   // [32] the new word of an atomic operation, complete at commit
  Signals meet, released;           // [11] program counters
  Signal meet_holds, released_holds;
  Signal releases_barrier, releases_yield;  // what the lanes of the block are released from
  Signal yield_waits, warp_yields, barrier_waits, named_waits;

  // atomic operations: an executing lane's word is complete, or new bytes of it are: the data path works on it
  Signal turn;                      // its last old byte was spoken
  Signals recalled;                 // [32] the old word
  Linear renews() const { return turn + Linear(token.renewing); }
  Signals next_byte;                // [4] one-hot: byte that is spoken next
  Signals select;                   // [4] one-hot: lane whose operands are read and whose byte is spoken next

  // fetch (layer 2)
  Signals instruction;  // [128]

  // predicates (layer 1) and what is computed from them
  std::array<Signals, Parameters::predicates> predicates;  // [7][4]
  Signals guard;      // [4] guard predicate before negation
  Signals source_q, source_r;  // [4] after negation
  Signals old_predicate;       // [4] P d

  // program counters (layer 4)
  std::array<Signals, lanes> lane_pc;  // [4][11]
  Signals dead;                        // [4]

  // operands
  Signals operand;                         // [128] the row that is read in this pass
  Signals a, b, c;                         // [32] of the selected lane
  Signals result;                          // [32] of the data path
  Signals old;                             // [32] the old destination, for a lane that sits out
  std::array<Word, lanes> a_lanes, b_lanes;  // [4][32]
  Signal chosen;                           // predicate of SEL, selected lane
  // modifiers of the op
  Signals rounding;                        // [4] one-hot: nearest even, toward zero, down, up
  Signal flush, saturate, negate_a, negate_b, negate_c, absolute_a, absolute_b;
  Signals table;                           // [8] of LOP3
  Signals last_thread;                     // [10] threads - 1
  Signals limit, shared_limit;             // [10] bits 8 .. 17
  Signals offset;                          // [32] immediate of a memory operand whose B is data
  Signal lane_executes;                    // the selected lane executes
  Signal address_used;                     // memory is accessed in this pass
  Signals address;                         // [18] of that access
  Signal in_shared;                        // it is in shared memory
  Signals address_low;                     // [2] of operand A of the selected lane, when a part of a word is stored
  Signal counts;                           // INC, DEC: the word counts
  Signals host_line;                       // [128]
  Signals loaded;                          // [32] memory
  Signals shown;                           // [32] what threads show to the warp

  // decisions
  Signals bad, misaligned;  // [4] lanes whose address is refused
  Signals first_bad;        // [4]
  Signal uniform;           // an op begins whose word is the same in all lanes
  Signals new_predicate;    // [4] comparison result before merging
  std::array<Signals, isa::wait_letters.size()> waiting;  // [3][4] lanes that wait
  Signals runnable;         // [4] lanes that live and do not wait
  SplitOneHot quad_key;     // the quad, mod 128, where program counters are read
  Signal last_quad;         // this quad is the block's last
  Signal warp_end;          // or the last of its warp

  const Signal& control_bit(Control bit) const { return control[static_cast<std::size_t>(bit)]; }
  Linear user() const { return 1 - Linear(system); }  // a quad of the kernel issues
  // Heads that keep a word a quad hold 128 quads: 1 for the half, 0 or 1, that the quad is in.
  Linear in_half(int half) const { return half == 0 ? 1 - Linear(quad_bits[7]) : Linear(quad_bits[7]); }
  Word field(isa::Field where) const {
    return {instruction.begin() + where.first, instruction.begin() + where.first + where.bits};
  }
};

// Forms of an AND for rows of heads and for relu: 1 when all are 1, else at most 0.
inline Linear all(const Word& bits) { return sum(bits) - static_cast<double>(bits.size()) + 1; }
inline Linear both(const Linear& a, const Linear& b) { return a + b - 1; }

// bus += [form >= 1] where `when` is 1.
inline void add_positive(Circuit& c, Signal bus, const Linear& form, const Linear& when) {
  c.add(bus, 1, form, when);
  c.add(bus, -1, form - 1, when);
}

// The op has this control bit and the selected lane executes it: a bit of its own, for units that use it as a factor.
Signal executes(Circuit& c, const Wires& w, Control control);

// Decodes bits (least significant first; the low half takes `low_bits` of them); silent when `enable` is 0. One MLP.
SplitOneHot split_decode(Circuit& c, const std::string& name, const Word& bits, int low_bits, const Linear& enable);

}  // namespace qwengpu::machine
