// Where the machine's state lives: which head, key and value dimensions hold a register, a word of memory, a program counter.
// What tests, `explain` and debuggers read the recurrent state with. A bit that is 1 is stored as 128, one that is 0 as 0.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "circuit/compile.h"
#include "machine/wires.h"

namespace qwengpu::machine {

struct Cell {
  std::string head;  // name in circuit::Placement
  int key = 0;       // row of the head's state
  int dim = 0;       // first value dimension
  int bits = 0;
};

Cell register_row(int row);              // of the register file: quad * R + register; four lanes x 32 bits
Cell firmware_register_row(int number);
Cell predicate(int quad, int number);    // mask of four lanes
Cell firmware_predicate(int number);
Cell program_counter(int quad, int lane);  // pc (11 bits), dead
Cell firmware_program_counter();
Cell thread_indices(int quad);             // four lanes x 32 bits
Cell constant_word(int address);           // byte address, a multiple of 4
Cell instruction_word(int number);
Cell host_line(int number);
Cell global_word(std::uint32_t address);   // byte address, a multiple of 4
Cell shared_word(std::uint32_t offset);    // from the start of shared memory
Cell waiting_lanes(int quad, isa::WaitKind kind);  // mask of four lanes
Cell shown_word(int thread);                       // SHFL.PUT
Cell shown_vote(int thread);                       // VOTE.PUT

// State of a head: [key][value dimension], as engine::Engine::gdn_state gives it.
using StateReader = std::function<std::span<const float>(int layer, int head)>;

// The bits of a cell, least significant first. Throws circuit::Error when a stored value is neither 0 nor 128.
std::vector<bool> read_cell(const circuit::Placement& placement, const StateReader& state, const Cell& cell);
std::uint32_t read_word(const circuit::Placement& placement, const StateReader& state, const Cell& cell);  // first 32 bits
isa::Row read_row(const circuit::Placement& placement, const StateReader& state, const Cell& cell);        // 128 bits

}  // namespace qwengpu::machine
