// What is wrong with a command line, a launch description or a kernel's arguments: the user changes the
// command. Everything else that fails is a std::runtime_error.
#pragma once

#include <stdexcept>

namespace qwengpu::launch {

struct UsageError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

}  // namespace qwengpu::launch
