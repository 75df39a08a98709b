#include "isa/rows.h"

namespace qwengpu::isa {

bool WordReader::push(int byte, int value, Ending ending) {
  if (complete() || byte < next_byte() || byte > 3) return false;
  spoken_[count_++] = {byte, value, ending};
  word_ |= spoken_bits(byte_token(0, byte, value, ending));
  if (ending == Ending::More) return byte < 3;
  std::size_t equal = 0, spelled = 0;
  spell_word(word_, [&](int b, int v, Ending e) {
    if (spelled < count_ && spoken_[spelled] == Spoken{b, v, e}) ++equal;
    ++spelled;
  });
  return equal == count_ && spelled == count_;
}

bool RowReader::push(const Token& token) {
  const auto ending = ending_of(token);
  if (complete() || !ending || is_new_value(token) || token.a != lane_) return false;
  if (!word_.push(token.b, token.c, *ending)) return false;
  row_[static_cast<std::size_t>(lane_)] = word_.word();
  if (!word_.complete()) return true;
  word_.clear();
  ++lane_;
  return true;
}

std::uint32_t spoken_bits(const Token& token) {
  const std::uint32_t above = token.b < 3 && ending_of(token) == Ending::Ones ? ~0u << 8 * (token.b + 1) : 0;
  return static_cast<std::uint32_t>(token.c) << 8 * token.b | above;
}

std::optional<Ending> ending_of(const Token& token) {
  switch (token.kind) {
    case TokenKind::Value:
    case TokenKind::NewValue:
      return Ending::More;
    case TokenKind::LastValue:
    case TokenKind::LastNewValue:
      return Ending::Zeros;
    case TokenKind::OnesValue:
    case TokenKind::OnesNewValue:
      return Ending::Ones;
    default:
      return std::nullopt;
  }
}

Token byte_token(int lane, int byte, int value, Ending ending, bool is_new) {
  static constexpr TokenKind kinds[2][3] = {{TokenKind::Value, TokenKind::LastValue, TokenKind::OnesValue},
                                            {TokenKind::NewValue, TokenKind::LastNewValue, TokenKind::OnesNewValue}};
  return {kinds[is_new ? 1 : 0][static_cast<int>(ending)], lane, byte, value};
}

}  // namespace qwengpu::isa
