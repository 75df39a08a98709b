// Multi-axis rotary embedding divides the rotary pairs among time, height and width. Text gives all three the
// same position, so the division has no effect; files must name one all the same.
#pragma once

#include <array>

#include "qwen/geometry.h"

namespace qwengpu::qwen {

inline std::array<int, 3> rope_sections(const Geometry& g) {  // 11, 11, 10 for 64 rotary dimensions
  const int pairs = g.rotary_dim / 2;
  const int time = (pairs + 2) / 3;
  const int height = (pairs - time + 1) / 2;
  return {time, height, pairs - time - height};
}

}  // namespace qwengpu::qwen
