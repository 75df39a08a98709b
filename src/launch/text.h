// Spellings that several printed lines share.
#pragma once

#include <cstdint>
#include <string>

namespace qwengpu::launch {

// "1101": a mask of lanes, lane 0 first.
std::string mask_text(int mask);
// "0x100", or "shared[0x40]" for an address of shared memory.
std::string address_text(std::uint32_t address);

}  // namespace qwengpu::launch
