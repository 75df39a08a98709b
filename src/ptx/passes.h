// The passes between lowering and machine code, in the order in which optimise() and generate() run them.
#pragma once

#include <string>
#include <vector>

#include "isa/kernel.h"
#include "ptx/ir.h"

namespace qwengpu::ptx::ir {

// Removes unreachable and empty blocks, joins chains, resolves branches with fixed conditions. Guards a
// single instruction that is branched around, and turns a branch to an exit into a guarded one.
bool clean_control_flow(Function& function);

// Copies and constants go to where they are used; instructions with fixed operands are computed.
bool simplify(Function& function);

// Instructions that compute again what a dominating one computed become copies of it.
bool share_common_values(Function& function);

// Removes what no store, exit or branch depends on.
bool eliminate_dead_code(Function& function);

// A shift or product and a sum become one IMAD.
bool combine(Function& function);

void optimise(Function& function);

// A loop that may go on until another thread writes something lets the other threads have their turn in every
// round.
void yield_in_waiting_loops(Function& function);

// Lanes of a warp that wait at several places are released at the lowest one first. Where a loop has a place that some lanes pass by, the others
// could wait there still when those come round to the loop's first place: then the warp meets at the end of every round.
void meet_before_next_round(Function& function);

// Lanes that have voted take their vote back when they end: the warp's votes are of the lanes that are there.
// Run before optimise(), while every exit is the end of a block.
void take_votes_back(Function& function);

// Afterwards A and C operands are registers, B operands what the machine can read there.
void legalise(Function& function);

// Function::layout: a topological order of the blocks in which every loop is contiguous. A quad executes its
// lowest program counter, so lanes meet again after a branch when the place where they meet stands behind
// both ways.
void order_blocks(Function& function);

// Numbers of registers and predicates become machine ones. Throws TooLarge.
struct Allocation {
  int registers = 0;  // highest used + 1
  int predicates = 0;
};
Allocation allocate(Function& function, const std::string& kernel);

// Puts the blocks one after another. `files` names the files of Function::lines.
struct Code {
  std::vector<isa::Instruction> instructions;
  std::vector<Line> lines;
};
Code emit_code(const Function& function);

// For tests and for looking at: one line an instruction.
std::string to_text(const Function& function);

}  // namespace qwengpu::ptx::ir
