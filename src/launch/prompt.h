// The launch request as the model reads it: kernel, geometry, parameters and host data (docs/machine.md,
// Launch request).
#pragma once

#include <vector>

#include "isa/kernel.h"
#include "launch/description.h"
#include "launch/kept.h"

namespace qwengpu::launch {

struct Prompt {
  std::vector<int> tokens;  // ends with <GO>
  struct Buffer {
    std::size_t argument = 0;  // of the kernel
    std::uint32_t number = 0;
    Shape shape;
    bool operator==(const Buffer&) const = default;
  };
  std::vector<Buffer> buffers;  // of the arguments that are one, in their order
  Kept kept;                    // after the launch, if it succeeds
};

// KEPT is what the launches before keep. Throws UsageError when the arguments do not fit the kernel or what
// is kept, or the launch does not fit the machine's staging. What a CUDA launch itself refuses (a grid of 0,
// too many threads, too little global, shared or local memory) is left to the model.
Prompt make_prompt(const Description& description, const isa::Kernel& kernel, const Kept& kept = {});

}  // namespace qwengpu::launch
