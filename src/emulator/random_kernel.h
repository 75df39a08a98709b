// Random launches: structured kernels with loops, divergence and memory traffic, from a seed. Each thread
// writes only words of its own and reads only words that no other thread writes, so the results do not depend
// on the order of threads.
#pragma once

#include <cstdint>

#include "emulator/case.h"

namespace qwengpu::emulator {

struct RandomOptions {
  int instructions = 50;     // about; of the body of the kernel
  int quads = 3;             // most blocks are not larger
  bool faults = true;        // now and then an access or instruction that faults
  bool bad_launches = true;  // now and then a launch that is refused
};

Case random_case(std::uint64_t seed, const RandomOptions& options = {});

}  // namespace qwengpu::emulator
