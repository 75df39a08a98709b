// What a transcript has said so far about the threads of the block that runs: their registers, and who waits
// where.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isa/kernel.h"
#include "launch/steps.h"

namespace qwengpu::launch {

class BlockState {
 public:
  explicit BlockState(const isa::Kernel& kernel) : kernel_(kernel) {}

  // What the step said. Ask about a step's operands before it is pushed: it may overwrite them.
  void push(const Step& step);

  // The instruction of a step; null when the kernel has another one there.
  const isa::Instruction* instruction(const Step& step) const;
  // Register REG of the thread in LANE of the step's quad.
  std::uint32_t register_word(const Step& step, int reg, int lane) const;
  // The address of a step that accesses memory.
  std::uint32_t address(const Step& step, int lane) const;

  // Lanes of one warp that wait at the same instruction, in quads with the same lanes.
  struct Waiting {
    int warp = 0;
    std::vector<int> quads;
    int pc = 0;
    int mask = 0;
    isa::WaitKind kind = isa::WaitKind::Barrier;
    bool operator==(const Waiting&) const = default;
  };
  std::vector<Waiting> waiting() const;
  int ended_threads() const;
  // A line for each of waiting(), indented, and one for the threads that have ended:
  //   warp 0 quads 0-3,5: pc 12 [1111] BAR.NAMED, sum.cu:9
  std::string waiting_text() const;

 private:
  using Registers = std::array<isa::Row, isa::Parameters::max_registers>;
  struct Wait {
    isa::WaitKind kind;
    int pc;
  };
  struct Quad {
    Registers registers{};
    std::array<std::optional<Wait>, isa::Parameters::lanes> waits;
    int ended = 0;  // lanes
  };
  Quad& quad_of(const Step& step);

  const isa::Kernel& kernel_;
  std::vector<Quad> quads_;
  Registers firmware_registers_{};
};

}  // namespace qwengpu::launch
