// One launch for a test: a kernel and its request.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "isa/kernel.h"

namespace qwengpu::emulator {

struct CaseBuffer {
  std::uint32_t bytes = 0;
  bool copy_in = false, copy_out = false;
  std::vector<std::uint32_t> data{};  // of copy_in: one word each 4 bytes, rounded up
  bool keep = false;                  // for later launches of the sequence
  bool again = false;                 // an earlier launch kept it
};

struct CaseArgument {
  std::uint32_t value = 0;  // or the number of a buffer
  bool is_buffer = false;
};

struct Case {
  isa::Kernel kernel;
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t device = 0, dynamic_shared = 0;
  std::vector<CaseBuffer> buffers;
  std::vector<CaseArgument> arguments;  // words from constant bank address 0x40 on
};

// Host staging as the launch tool would write it. Throws std::invalid_argument when the request does not fit.
std::vector<isa::Row> host_lines(const Case& launch);
std::vector<int> prompt_of(const Case& launch);

// The kernel's assembly and the request, for a person.
std::string text_of(const Case& launch);

}  // namespace qwengpu::emulator
