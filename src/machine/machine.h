// The machine as a circuit, and as the weights of a Qwen3.5 model.
#pragma once

#include <memory>

#include "circuit/compile.h"
#include "machine/units.h"

namespace qwengpu::machine {

struct Machine {
  std::unique_ptr<Circuit> circuit;
  Wires wires;
  Speech speech;
  FloorPlan plan;
};

// The whole machine with the launch firmware in its read-only memory. Nothing is scheduled yet.
Machine make_machine();

// Its weights. Throws circuit::Error when the machine would not fit or could not be exact.
circuit::Compiled compile(const Machine& machine);

}  // namespace qwengpu::machine
