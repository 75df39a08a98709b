#include "isa/kernel.h"

#include <fmt/format.h>

#include <stdexcept>

#include "isa/parameters.h"

namespace qwengpu::isa {

int register_class(int registers) {
  for (int c = 0; c < Parameters::register_classes; ++c)
    if (registers_of_class(c) == registers) return c;
  throw std::invalid_argument(fmt::format("a thread has 16, 32, 64 or 128 registers, not {}", registers));
}

}  // namespace qwengpu::isa
