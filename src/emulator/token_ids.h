// Token ids by their fields, as arrays: isa::token_id is a search, too slow for every step.
#pragma once

#include <array>
#include <vector>

#include "isa/tokens.h"

namespace qwengpu::emulator {

struct TokenIds {
  static constexpr int masks = 1 << isa::Parameters::lanes;

  std::array<std::array<std::array<int, masks>, masks>, isa::op_count> op;  // [op][mask][exec]
  std::array<std::array<std::array<std::array<int, 256>, 3>, 4>, isa::Parameters::lanes>
      value, new_value, all_value;  // [lane][byte][isa::Ending][value]; all_value: lane 0 only
  std::array<std::array<int, masks>, isa::Parameters::predicates> predicate;
  std::array<std::array<int, masks>, isa::wait_letters.size()> wait;
  std::array<std::array<int, isa::Parameters::lanes>, isa::fault_table.size()> fault;
  std::vector<int> quad, pc, firmware_pc, thread_index, constant_line, store, copy, read, register_class, meet, release;
  std::array<int, isa::wait_letters.size()> release_kind;
  int system, keep, operand_c, meet_none, stuck, end;

  TokenIds();
  static const TokenIds& instance();
};

}  // namespace qwengpu::emulator
