// The units of the machine, in the order in which the signals of one token pass them. Each fills in its wires.
#pragma once

#include <vector>

#include "isa/encoding.h"
#include "machine/vocabulary.h"
#include "machine/wires.h"

namespace qwengpu::machine {

// The floor plan: which GDN layer holds what. Layers 3, 7, ... 43 have no state.
struct FloorPlan {
  int latches = 0;
  int predicates = 1;
  int instructions = 2;
  int state = 4;  // program counters, thread indices, constant bank, registers of the firmware
  std::vector<int> registers = {5, 6, 8, 9};
  int operands = 10;
  int warp = 12;  // waiting lanes, words and votes that a warp exchanges
  std::vector<int> host = {13, 14};
  std::vector<int> shared = {16, 17, 18, 20, 21, 22};
  std::vector<int> global = {24, 25, 26, 28, 29, 30, 32, 33, 34, 36, 37, 38, 40, 41, 42};
};

void build_latches(Circuit& c, Wires& w, const FloorPlan& plan);
void build_fetch(Circuit& c, Wires& w, const FloorPlan& plan, const std::vector<isa::Instruction>& firmware);
void build_predicates(Circuit& c, Wires& w, const FloorPlan& plan);
void build_program_counters(Circuit& c, Wires& w, const FloorPlan& plan);
void build_registers(Circuit& c, Wires& w, const FloorPlan& plan);   // register file, constants, special registers -> operand
void build_operands(Circuit& c, Wires& w, const FloorPlan& plan);    // latches A, B, C, D, limits
void build_integer(Circuit& c, Wires& w);                            // data path of the selected lane -> result
void build_floating(Circuit& c, Wires& w);                           // binary32 and conversions -> result
void build_bit_units(Circuit& c, Wires& w);                          // counts, fields, permutes -> result
void build_compare(Circuit& c, Wires& w);                            // all lanes -> new predicate
void build_host(Circuit& c, Wires& w, const FloorPlan& plan);
void build_address_check(Circuit& c, Wires& w);                      // all lanes -> bad, misaligned
void build_memory(Circuit& c, Wires& w, const FloorPlan& plan);      // global and shared
void build_scheduler(Circuit& c, Wires& w, const FloorPlan& plan);   // who runs, who waits, last quad
void build_warp(Circuit& c, Wires& w, const FloorPlan& plan);        // what threads show to their warp
void build_speech(Circuit& c, Wires& w, const Speech& s);            // the next token

}  // namespace qwengpu::machine
