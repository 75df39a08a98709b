// The architectural state of the machine (docs/machine.md, Shape).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "isa/encoding.h"
#include "isa/parameters.h"

namespace qwengpu::emulator {

using isa::Parameters;
using isa::Row;
constexpr int lanes = Parameters::lanes;

struct QuadState {
  std::array<int, lanes> pc{};
  std::array<bool, lanes> dead{};
  std::array<int, Parameters::predicates> predicates{};  // masks: bit l is lane l
  bool operator==(const QuadState&) const = default;
};

struct State {
  std::vector<Row> registers = std::vector<Row>(Parameters::register_rows);  // row quad * R + register
  std::array<Row, Parameters::max_registers> system_registers{};
  std::vector<QuadState> quads = std::vector<QuadState>(Parameters::max_quads);
  std::array<int, Parameters::predicates> system_predicates{};
  int system_pc = 0;
  std::vector<Row> thread_indices =
      std::vector<Row>(Parameters::max_quads);  // x | y << 10 | z << 20, one row a quad
  std::vector<Row> constants = std::vector<Row>(Parameters::constant_lines);
  std::vector<Row> host = std::vector<Row>(Parameters::host_lines);
  std::vector<std::uint32_t> global = std::vector<std::uint32_t>(Parameters::global_bytes / 4);
  std::uint32_t limit = 0;  // first global address that is not allocated
  int register_class = 0;   // R = 16 << class
  int last_thread = -1;     // of the block; -1 before the first RUN
  int fault_code = 0;       // CUDA's, of the last RUN
  int quad = system;        // that issues

  static constexpr int system = -1;  // quad S
};

}  // namespace qwengpu::emulator
