// The recurrent state of the model against the state of the emulator.
#pragma once

#include <string>

#include "emulator/state.h"

namespace qwengpu {

// What is compared: the quads 0 .. quads - 1 with their registers, predicates, program counters and waiting
// lanes, the constant bank, and the first words of global and of shared memory. The first difference, or
// nothing.
struct StateExtent {
  int quads = 1, registers = 16, constant_lines = 8, global_words = 64, shared_words = 0;
};
std::string state_difference(const emulator::State& expected, const StateExtent& extent);

}  // namespace qwengpu
