// The transcript as lines that a person reads.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "isa/kernel.h"
#include "launch/steps.h"

namespace qwengpu::launch {

class Printer {
 public:
  // VERBOSE also shows the firmware's own instructions and the source line of each instruction.
  explicit Printer(const isa::Kernel& kernel, bool verbose = false) : kernel_(kernel), verbose_(verbose) {}

  // The line of a step, without a line break; empty when it is not shown.
  std::string line(const Step& step);

  // An API call alone: "cudaMalloc(buffer 0, 512 bytes) = 0x100  cudaSuccess".
  std::string api_line(const Step& step) const;

 private:
  const isa::Instruction* instruction(const Step& step) const;
  std::string instruction_line(const Step& step) const;
  std::string effect(const Step& step, const isa::Instruction& instruction) const;
  void remember(const Step& step);

  const isa::Kernel& kernel_;
  bool verbose_;
  // What the model said the registers are: row of register r of quad q. Only to show what a store writes.
  std::vector<std::array<isa::Row, isa::Parameters::max_registers>> registers_;
};

}  // namespace qwengpu::launch
