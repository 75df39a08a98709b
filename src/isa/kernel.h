// A kernel in machine code: what the PTX front end makes, and what a launch loads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isa/encoding.h"

namespace qwengpu::isa {

struct KernelParameter {
  std::string name;
  std::string ptx_type;  // "u32", "u64", "f32", ...: as the PTX declares it
  int offset = 0;        // bytes from the start of the parameters; constant bank address = constant::parameters + offset
  int bytes = 4;
  bool pointer = false;  // known to be used as a global address
};

struct SourceLine {
  std::string file;
  int line = 0;  // 0: unknown
};

struct Kernel {
  std::string name;
  std::vector<Instruction> code;
  std::vector<SourceLine> lines;  // one per instruction, or empty
  std::vector<KernelParameter> parameters;
  int parameter_bytes = 0;
  int registers = 16;     // 16, 32, 64 or 128: the class it needs
  int shared_bytes = 0;   // static; dynamic shared memory begins behind it, at the next multiple of 16
  int local_bytes = 0;    // of a thread, a multiple of 16
  // Variables of the module in global and constant memory, with their initial bytes. The launch copies them to the first allocation: they
  // begin at device address Parameters::first_allocation.
  std::vector<std::uint8_t> variables;
  std::uint32_t named_barriers = 0;  // device address of the table of named barriers (request.h), within the variables; 0: none
};

// 0 .. 3 for 16, 32, 64, 128 registers; throws std::invalid_argument for another number.
int register_class(int registers);

}  // namespace qwengpu::isa
