// Which parameters are used as global addresses.
#pragma once

#include <vector>

#include "isa/kernel.h"
#include "ptx/ir.h"

namespace qwengpu::ptx {

void mark_pointers(const ir::Function& function, std::vector<isa::KernelParameter>& parameters);

}  // namespace qwengpu::ptx
