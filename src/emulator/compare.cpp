#include "emulator/compare.h"

#include <fmt/format.h>

#include <deque>

#include "emulator/emulator.h"
#include "emulator/grammar.h"
#include "isa/assembly.h"
#include "isa/firmware.h"
#include "isa/tokens.h"

namespace qwengpu::emulator {
namespace {

std::string spelling_of(int id) {
  return id >= 0 && id < isa::vocabulary_size() ? isa::spelling(id) : fmt::format("token id {}", id);
}

// The last instructions of a transcript, a line each.
class Context {
 public:
  explicit Context(const Emulator& emulator) : emulator_(emulator) {}

  void add(int token) {
    const isa::TokenKind kind = isa::token_of(token).kind;
    const bool header = kind == isa::TokenKind::Quad || kind == isa::TokenKind::System ||
                        kind == isa::TokenKind::Pc || kind == isa::TokenKind::FirmwarePc;
    if (header) lines_.emplace_back();
    if (lines_.size() > lines_kept) lines_.pop_front();
    lines_.back().push_back(token);
    grammar_.accept(token);
  }

  // "quad 3, pc 12: @P0 IADD R1, R2, R3, lane 1 byte 2"
  std::string place() const {
    std::string text =
        grammar_.quad() == Grammar::system ? "firmware" : fmt::format("quad {}", grammar_.quad());
    text += fmt::format(", pc {}: {}", grammar_.pc(), instruction());
    if (const auto position = grammar_.row_position())
      text += fmt::format(", lane {} byte {}", position->lane, position->byte);
    return text;
  }

  std::string lines() const {
    std::string text;
    for (const std::vector<int>& line : lines_) text += "    " + isa::detokenize(line) + "\n";
    return text;
  }

 private:
  std::string instruction() const {
    const auto pc = static_cast<std::size_t>(grammar_.pc());
    if (grammar_.quad() != Grammar::system) return isa::disassemble(emulator_.instruction(grammar_.pc()));
    return pc < isa::firmware().size() ? isa::disassemble(isa::firmware()[pc]) : "none";
  }

  static constexpr std::size_t lines_kept = 6;
  const Emulator& emulator_;
  Grammar grammar_;
  std::deque<std::vector<int>> lines_;
};

}  // namespace

Comparison compare(std::span<const int> prompt, const TokenSource& source, std::size_t limit) {
  Emulator emulator(prompt);
  Context context(emulator);
  Comparison result;
  int last = prompt.back();
  while (result.steps < limit) {
    const std::optional<int> expected = emulator.next();
    if (!expected) {
      result.ended = true;
      break;
    }
    const int got = source(last);
    if (got != *expected) {
      result.difference =
          Difference{result.steps, *expected, got,
                     fmt::format("step {} ({}): expected {}, got {}; before it:\n{}", result.steps,
                                 context.place(), spelling_of(*expected), spelling_of(got), context.lines())};
      break;
    }
    context.add(got);
    last = got;
    ++result.steps;
  }
  return result;
}

}  // namespace qwengpu::emulator
