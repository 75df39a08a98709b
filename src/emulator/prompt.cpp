#include "emulator/prompt.h"

#include <fmt/format.h>

#include <stdexcept>

#include "isa/parameters.h"
#include "isa/rows.h"
#include "isa/tokens.h"

namespace qwengpu::emulator {
namespace {

using isa::Parameters;
using isa::Token;
using isa::TokenKind;

class Reader {
 public:
  explicit Reader(std::span<const int> tokens) : tokens_(tokens) {}

  Token take() {
    if (at_ == tokens_.size()) fail("the prompt ends before <GO>");
    const int id = tokens_[at_++];
    if (id < 0 || id >= isa::vocabulary_size()) fail(fmt::format("token id {} is not in the vocabulary", id));
    return isa::token_of(id);
  }

  isa::Row row() {
    isa::RowReader reader;
    while (!reader.complete()) {
      const int lane = reader.lane(), byte = reader.next_byte();
      if (!reader.push(take())) fail(fmt::format("expected byte {} or a later one of lane {}", byte, lane));
    }
    return reader.row();
  }

  bool at_end() const { return at_ == tokens_.size(); }

  // About the token that was taken last.
  [[noreturn]] void fail(const std::string& what) const {
    const std::size_t position = at_ == 0 ? 0 : at_ - 1;
    const bool known =
        position < tokens_.size() && tokens_[position] >= 0 && tokens_[position] < isa::vocabulary_size();
    throw std::invalid_argument(fmt::format("prompt token {}{}: {}", position,
                                            known ? " " + isa::spelling(tokens_[position]) : "", what));
  }

 private:
  std::span<const int> tokens_;
  std::size_t at_ = 0;
};

isa::Instruction instruction(const Reader& reader, const isa::Row& word) {
  try {
    const isa::Instruction result = isa::decode(word);
    if (isa::info(result.op).privileged())
      throw std::invalid_argument(fmt::format("{} is the firmware's", isa::info(result.op).mnemonic));
    return result;
  } catch (const std::invalid_argument& error) {
    reader.fail(error.what());
  }
}

}  // namespace

Prompt parse_prompt(std::span<const int> tokens) {
  Prompt prompt;
  prompt.code.resize(Parameters::instructions);
  prompt.host.resize(Parameters::host_lines);
  Reader reader(tokens);
  while (true) {
    const Token header = reader.take();
    const auto index = static_cast<std::size_t>(header.a);
    if (header.kind == TokenKind::Go) break;
    if (header.kind == TokenKind::Instruction)
      prompt.code[index] = instruction(reader, reader.row());
    else if (header.kind == TokenKind::HostLine)
      prompt.host[index] = reader.row();
    else
      reader.fail("expected <I n>, <H n> or <GO>");
  }
  if (!reader.at_end()) {
    reader.take();
    reader.fail("nothing may follow <GO>");
  }
  return prompt;
}

}  // namespace qwengpu::emulator
