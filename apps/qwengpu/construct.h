// The one place where the command line meets the floor plan.
#pragma once

#include <string>

#include "qwen/checkpoint.h"

namespace qwengpu {

struct Construction {
  qwen::Checkpoint checkpoint;
  std::string report;  // layers, neurons, columns, heads: what `qwengpu build` prints
};
Construction construct();

// What each layer does and which state holds what: the text of `qwengpu explain`.
std::string explanation();

}  // namespace qwengpu
