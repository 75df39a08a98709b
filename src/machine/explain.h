// The floor plan in words: what each layer does and which state holds what.
#pragma once

#include <string>

#include "circuit/compile.h"

namespace qwengpu::machine {

std::string explain(const circuit::Compiled& compiled);

}  // namespace qwengpu::machine
