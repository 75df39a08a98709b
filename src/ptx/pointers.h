// Which parameters are used as global addresses.
#pragma once

#include <vector>

#include "isa/kernel.h"
#include "ptx/ir.h"
#include "ptx/syntax.h"

namespace qwengpu::ptx {

// In the code as it is lowered, before any of it is taken away; and those that the PTX converts to addresses
// of another space.
void mark_pointers(const ir::Function& function, std::vector<isa::KernelParameter>& parameters);
void mark_converted(const syntax::Function& kernel, std::vector<isa::KernelParameter>& parameters);

}  // namespace qwengpu::ptx
