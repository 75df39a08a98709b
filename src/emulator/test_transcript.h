// A transcript taken apart into instructions, for the tests.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulator/case.h"
#include "emulator/emulator.h"
#include "isa/rows.h"
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
      case isa::TokenKind::OnesValue:
        result.back().row[static_cast<std::size_t>(token.a)] |= isa::spoken_bits(token);
        break;
      case isa::TokenKind::AllValue:
      case isa::TokenKind::LastAllValue:
      case isa::TokenKind::OnesAllValue:
        for (std::uint32_t& word : result.back().row) word |= isa::spoken_bits(token);
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

// The kernel's part of the transcript, a line per instruction, quad and meeting.
inline std::string kernel_text(const std::vector<int>& transcript) {
  std::string text;
  bool system = true, joined = true;  // to the token before
  for (int id : transcript) {
    const isa::TokenKind kind = isa::token_of(id).kind;
    const bool meets = kind == isa::TokenKind::Meet || kind == isa::TokenKind::MeetNone ||
                       kind == isa::TokenKind::ReleaseKind || kind == isa::TokenKind::Stuck;
    if (kind == isa::TokenKind::System) system = true;
    if (kind == isa::TokenKind::Quad) system = false;
    if (system) continue;
    const bool heads = kind == isa::TokenKind::Quad || kind == isa::TokenKind::Pc || meets;
    if (heads && !text.empty() && !(joined && kind == isa::TokenKind::Quad)) text += "\n";
    text += isa::spelling(id);
    joined = meets;
  }
  return text;
}
inline std::string kernel_text(const Case& launch) { return kernel_text(transcript_of(launch)); }

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
