// The architectural state of the machine (docs/machine.md, Shape).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "isa/encoding.h"
#include "isa/instructions.h"
#include "isa/parameters.h"

namespace qwengpu::emulator {

using isa::Parameters;
using isa::Row;
constexpr int lanes = Parameters::lanes;

struct QuadState {
  std::array<int, lanes> pc{};
  std::array<bool, lanes> dead{};
  std::array<int, Parameters::predicates> predicates{};  // masks: bit l is lane l
  std::array<int, isa::wait_letters.size()> waits{};      // masks by isa::WaitKind
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
  std::vector<std::uint32_t> shared = std::vector<std::uint32_t>(Parameters::shared_bytes / 4);
  std::uint32_t limit = 0;         // first global address that is not allocated
  std::uint32_t shared_limit = 0;  // the same of shared memory, counted from 0
  std::vector<std::uint32_t> put = std::vector<std::uint32_t>(Parameters::max_threads);  // SHFL.PUT, by thread
  std::vector<bool> votes = std::vector<bool>(Parameters::max_threads);                  // VOTE.PUT, by thread
  int register_class = 0;   // R = 16 << class
  int last_thread = -1;     // of the block; -1 before the first RUN
  int fault_code = 0;       // CUDA's, of the last RUN
  int quad = system;        // that issues

  // Who waits in the block (docs/machine.md, Waiting).
  std::optional<int> meet;      // lowest instruction at which lanes of the warp wait, as far as spoken
  std::optional<int> released;  // lanes of the warp that wait there go on
  std::optional<isa::WaitKind> released_kind;  // lanes of the block that wait for this go on
  bool barrier_waits = false, named_waits = false, yield_waits = false;  // some lane does
  bool warp_yields = false;  // a lane of the warp has yielded in this round

  static constexpr int system = -1;  // quad S
};

}  // namespace qwengpu::emulator
