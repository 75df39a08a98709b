// Makes a failing launch small.
#pragma once

#include <functional>

#include "emulator/case.h"

namespace qwengpu::emulator {

// Removes and simplifies whatever `fails` does not need, until nothing more goes or after ATTEMPTS tries.
// `fails` must be true for LAUNCH and has to bound its steps: a loop may lose its end on the way.
Case shrink(Case launch, const std::function<bool(const Case&)>& fails, int attempts = 5000);

}  // namespace qwengpu::emulator
