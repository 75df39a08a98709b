// Random launches from a seed: structured kernels with loops, divergence, memory traffic, barriers and
// meetings. All of them end.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/case.h"

namespace qwengpu::emulator {

struct RandomOptions {
  int instructions = 50;     // about; of the body of the kernel. Fewer when there are many quads
  int quads = 24;            // most blocks are not larger
  bool faults = true;        // now and then an access or instruction that faults
  bool bad_launches = true;  // now and then a launch that is refused
  // Threads read what others write at any time, wait in divergent code, take locks and count at named
  // barriers: results depend on the machine's order. Without: each thread writes words of its own, words are
  // exchanged between barriers and puts that all living threads come to, and words that several threads
  // update are sums that are the same in every order.
  bool races = true;
};

Case random_case(std::uint64_t seed, const RandomOptions& options = {});

// A random launch again and again, with buffers that are kept, used again and freed along the way.
std::vector<Case> random_sequence(std::uint64_t seed, int launches, const RandomOptions& options = {});

}  // namespace qwengpu::emulator
