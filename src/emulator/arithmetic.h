// What the arithmetic instructions compute, for one lane, in plain C++.
#pragma once

#include <cstdint>

#include "isa/instructions.h"

namespace qwengpu::emulator {

// Move to Select. `selected` is the predicate of SEL.
std::uint32_t calculate(isa::Unit unit, isa::Mode mode, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                        bool selected);

// ISETP.
bool compare(isa::Mode mode, std::uint32_t a, std::uint32_t b);

}  // namespace qwengpu::emulator
