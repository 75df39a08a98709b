// Where two transcripts of the same launch part.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "isa/kernel.h"

namespace qwengpu::launch {

struct Difference {
  std::size_t token = 0;      // index of the first token that differs
  std::size_t step = 0;       // of its instruction, counted from 0
  std::string where;          // "block (0,0,0) quad 2, pc 7, lane 1"
  std::string first, second;  // spelling and line of each, or "ends here"
};

// Nothing when they are equal.
std::optional<Difference> first_difference(std::span<const int> first, std::span<const int> second,
                                           const isa::Kernel& kernel);

}  // namespace qwengpu::launch
