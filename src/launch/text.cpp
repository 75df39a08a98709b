#include "launch/text.h"

#include <fmt/format.h>

#include "isa/parameters.h"

namespace qwengpu::launch {

std::string mask_text(int mask) {
  std::string text;
  for (int lane = 0; lane < isa::Parameters::lanes; ++lane) text += (mask >> lane & 1) != 0 ? '1' : '0';
  return text;
}

std::string address_text(std::uint32_t address) {
  const std::uint32_t offset = address - isa::Parameters::shared_window;
  return offset < isa::Parameters::shared_window ? fmt::format("shared[0x{:x}]", offset)
                                                 : fmt::format("0x{:x}", address);
}

}  // namespace qwengpu::launch
