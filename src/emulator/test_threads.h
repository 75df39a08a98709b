// A second interpreter for the tests: one thread after another, no quads, no tokens. It is written without
// looking at the emulator's: each instruction's meaning stands again, in the words of the PTX ISA.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "emulator/case.h"

namespace qwengpu::emulator {

struct ThreadsResult {
  int launch_status = 0;              // what refuses the launch, or 0
  std::set<int> faults;               // of the threads of the first block that has any
  std::vector<std::uint32_t> global;  // words, from address 0
  std::uint32_t limit = 256;
};

ThreadsResult run_threads(const Case& launch);

}  // namespace qwengpu::emulator
