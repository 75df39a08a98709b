// The transcript as lines that a person reads.
#pragma once

#include <string>

#include "isa/kernel.h"
#include "launch/block_state.h"
#include "launch/steps.h"

namespace qwengpu::launch {

class Printer {
 public:
  // VERBOSE also shows the firmware's own instructions, how warps meet, and the source line of each
  // instruction.
  explicit Printer(const isa::Kernel& kernel, bool verbose = false)
      : kernel_(kernel), verbose_(verbose), state_(kernel) {}

  // The line of a step, without a line break at its end; empty when it is not shown. A launch that ends
  // because its threads wait for each other has more lines, which say where each warp waits.
  std::string line(const Step& step);

  // An API call alone: "cudaMalloc(buffer 0, 512 bytes) = 0x100  cudaSuccess".
  std::string api_line(const Step& step) const;

 private:
  std::string describe(const Step& step) const;
  std::string event_line(const Step& step) const;
  std::string instruction_line(const Step& step) const;
  std::string effect(const Step& step, const isa::Instruction& instruction) const;
  std::string stored_text(const Step& step, const isa::Instruction& instruction) const;
  std::string updated_text(const Step& step) const;

  const isa::Kernel& kernel_;
  bool verbose_;
  BlockState state_;  // for the operands of what accesses memory
};

}  // namespace qwengpu::launch
