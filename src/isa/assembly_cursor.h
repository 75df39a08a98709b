// The characters of a line of assembly text.
#pragma once

#include <fmt/format.h>

#include <cctype>
#include <stdexcept>
#include <string_view>

namespace qwengpu::isa {

inline bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }
inline bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
inline bool is_number(std::string_view word) { return !word.empty() && is_digit(word[0]); }

// One line, consumed from the left.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool at_end() {
    skip_space();
    return text_.empty();
  }
  bool accept(char c) {
    if (at_end() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) throw std::invalid_argument(fmt::format("expected '{}' before '{}'", c, text_));
  }
  // Letters, digits, '_' and '.'; empty if there are none.
  std::string_view word() {
    skip_space();
    std::size_t length = 0;
    while (length < text_.size() && is_word(text_[length])) ++length;
    const std::string_view result = text_.substr(0, length);
    text_.remove_prefix(length);
    return result;
  }
  // Digits with a fraction or an exponent: 1.5, 1e-3; empty if something else stands here.
  std::string_view decimal() {
    skip_space();
    std::size_t length = digits(0);
    if (length == 0) return {};
    const std::size_t whole = length;
    if (at(length) == '.') length = digits(length + 1);
    if ((at(length) | 32) == 'e') {
      const std::size_t exponent = length + (at(length + 1) == '+' || at(length + 1) == '-' ? 2 : 1);
      if (is_digit(at(exponent))) length = digits(exponent);
    }
    if (length == whole || is_word(at(length))) return {};
    const std::string_view result = text_.substr(0, length);
    text_.remove_prefix(length);
    return result;
  }
  std::string_view rest() {
    skip_space();
    return text_;
  }

 private:
  char at(std::size_t index) const { return index < text_.size() ? text_[index] : '\0'; }
  std::size_t digits(std::size_t from) const {  // the end of the digits there
    while (is_digit(at(from))) ++from;
    return from;
  }
  void skip_space() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_.front()))) text_.remove_prefix(1);
  }
  std::string_view text_;
};

}  // namespace qwengpu::isa
