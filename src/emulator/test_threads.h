// A second interpreter for the tests: one thread after another, each as far as the next barrier or SHFL.PUT
// or VOTE.PUT, no quads, no tokens. It is written without looking at the emulator's: each instruction's
// meaning stands again, in the words of the PTX ISA. It is right for kernels whose results do not depend on
// the order of threads and whose barriers and puts all living threads of the block come to
// (RandomOptions::races = false).
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "emulator/case.h"

namespace qwengpu::emulator {

struct ThreadsResult {
  int launch_status = 0;             // what refuses the launch, or 0
  std::set<int> faults;              // of the threads of the first block that has any
  std::vector<std::uint8_t> global;  // bytes, from address 0
  std::uint32_t limit = 256;
};

// Of a little-endian word in memory.
inline std::uint32_t word_in(const std::vector<std::uint8_t>& bytes, std::uint32_t address) {
  std::uint32_t word = 0;
  for (std::uint32_t n = 4; n-- > 0;) word = word << 8 | bytes[address + n];
  return word;
}

ThreadsResult run_threads(const Case& launch);

}  // namespace qwengpu::emulator
