#include "isa/rows.h"

namespace qwengpu::isa {

bool WordReader::push(int byte, int value, Ending ending) {
  if (complete() || byte < next_byte() || byte > 3) return false;
  spoken_[count_++] = {byte, value, ending};
  word_ |= spoken_bits(byte_token(Said::Word, 0, byte, value, ending));
  if (ending == Ending::More) return byte < 3;
  std::size_t equal = 0, spelled = 0;
  spell_word(word_, [&](int b, int v, Ending e) {
    if (spelled < count_ && spoken_[spelled] == Spoken{b, v, e}) ++equal;
    ++spelled;
  });
  return equal == count_ && spelled == count_;
}

bool RowReader::push(const Token& token) {
  const auto said = said_byte(token);
  if (complete() || !said || said->what == Said::NewWord) return false;
  const bool all = said->what == Said::AllWords;
  if (word_.next_byte() == 0 && lane_ == 0) all_ = all;
  if (all != all_ || token.a != lane_ || !word_.push(token.b, token.c, said->ending)) return false;
  row_[static_cast<std::size_t>(lane_)] = word_.word();
  if (!word_.complete()) return true;
  if (all) row_.fill(word_.word());
  lane_ = all ? Parameters::lanes : lane_ + 1;
  word_.clear();
  return true;
}

std::optional<SaidByte> said_byte(const Token& token) {
  switch (token.kind) {
    case TokenKind::Value:
      return SaidByte{Said::Word, Ending::More};
    case TokenKind::LastValue:
      return SaidByte{Said::Word, Ending::Zeros};
    case TokenKind::OnesValue:
      return SaidByte{Said::Word, Ending::Ones};
    case TokenKind::NewValue:
      return SaidByte{Said::NewWord, Ending::More};
    case TokenKind::LastNewValue:
      return SaidByte{Said::NewWord, Ending::Zeros};
    case TokenKind::OnesNewValue:
      return SaidByte{Said::NewWord, Ending::Ones};
    case TokenKind::AllValue:
      return SaidByte{Said::AllWords, Ending::More};
    case TokenKind::LastAllValue:
      return SaidByte{Said::AllWords, Ending::Zeros};
    case TokenKind::OnesAllValue:
      return SaidByte{Said::AllWords, Ending::Ones};
    default:
      return std::nullopt;
  }
}

std::uint32_t spoken_bits(const Token& token) {
  const auto said = said_byte(token);
  const bool ones = said && said->ending == Ending::Ones && token.b < 3;
  return static_cast<std::uint32_t>(token.c) << 8 * token.b | (ones ? ~0u << 8 * (token.b + 1) : 0);
}

Token byte_token(Said what, int lane, int byte, int value, Ending ending) {
  static constexpr TokenKind kinds[3][3] = {
      {TokenKind::Value, TokenKind::LastValue, TokenKind::OnesValue},
      {TokenKind::NewValue, TokenKind::LastNewValue, TokenKind::OnesNewValue},
      {TokenKind::AllValue, TokenKind::LastAllValue, TokenKind::OnesAllValue}};
  return {kinds[static_cast<int>(what)][static_cast<int>(ending)], lane, byte, value};
}

}  // namespace qwengpu::isa
