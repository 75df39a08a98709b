// A transcript taken apart into instructions, for the tests.
#pragma once

#include <optional>
#include <stdexcept>
#include <vector>

#include "emulator/case.h"
#include "emulator/emulator.h"
#include "isa/tokens.h"

namespace qwengpu::emulator {

struct Spoken {
  int quad = State::system, pc = 0;
  isa::Op op = isa::Op::Illegal;
  int mask = 0, exec = 0;
  isa::Row row{};
  std::optional<isa::Fault> fault;
  std::vector<int> tokens;
};

inline std::vector<int> transcript_of(const Case& launch, std::size_t limit = 20'000'000) {
  const std::vector<int> prompt = prompt_of(launch);
  Emulator emulator(prompt);
  std::vector<int> tokens;
  while (const auto token = emulator.next()) {
    tokens.push_back(*token);
    if (tokens.size() > limit) throw std::runtime_error("the launch does not end");
  }
  return tokens;
}

inline std::vector<Spoken> instructions_of(const std::vector<int>& transcript) {
  std::vector<Spoken> result;
  int quad = State::system;
  for (int id : transcript) {
    const isa::Token& token = isa::token_of(id);
    switch (token.kind) {
      case isa::TokenKind::System:
        quad = State::system;
        continue;
      case isa::TokenKind::Quad:
        quad = token.a;
        continue;
      case isa::TokenKind::Pc:
      case isa::TokenKind::FirmwarePc:
        result.emplace_back();
        result.back().quad = quad;
        result.back().pc = token.a;
        break;
      case isa::TokenKind::Op:
        result.back().op = static_cast<isa::Op>(token.a);
        result.back().mask = token.b;
        result.back().exec = token.c;
        break;
      case isa::TokenKind::Value:
      case isa::TokenKind::LastValue:
        result.back().row[static_cast<std::size_t>(token.a)] |= static_cast<std::uint32_t>(token.c)
                                                                << (8 * token.b);
        break;
      case isa::TokenKind::Fault:
        result.back().fault = static_cast<isa::Fault>(token.a);
        break;
      default:
        break;
    }
    result.back().tokens.push_back(id);
  }
  return result;
}

// The rows of an API op, in order.
inline std::vector<isa::Row> rows_of(const std::vector<Spoken>& instructions, isa::Op op) {
  std::vector<isa::Row> rows;
  for (const Spoken& spoken : instructions)
    if (spoken.op == op && spoken.exec != 0) rows.push_back(spoken.row);
  return rows;
}

// The words that OUT speaks: the executing lanes'.
inline std::vector<std::uint32_t> results_of(const std::vector<Spoken>& instructions) {
  std::vector<std::uint32_t> words;
  for (const Spoken& spoken : instructions)
    if (spoken.op == isa::Op::Out)
      for (std::size_t lane = 0; lane < 4; ++lane)
        if (spoken.exec >> lane & 1) words.push_back(spoken.row[lane]);
  return words;
}

// Of cudaStreamSynchronize.
inline int status_of(const std::vector<Spoken>& instructions) {
  return static_cast<int>(rows_of(instructions, isa::Op::Synchronize).at(0)[3]);
}

}  // namespace qwengpu::emulator
