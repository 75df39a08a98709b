// How a 32-bit word is spoken: its bytes that are not 0, least significant first; the last one says that the
// bytes above it are 0, or that they are ff. 0 is spoken as one byte 00.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "isa/tokens.h"

namespace qwengpu::isa {

// What the bytes above a spoken one are.
enum class Ending { More, Zeros, Ones };

// Calls say(byte, value, ending) for each spoken byte.
template <typename Say>
void spell_word(std::uint32_t word, Say say) {
  int byte = 0;
  do {
    while (word != 0 && (word >> 8 * byte & 0xff) == 0) ++byte;
    const std::uint32_t rest = word >> 8 * byte, above = rest >> 8,
                        ones = byte < 3 ? 0xffffffu >> 8 * byte : 0;
    const Ending ending = above == 0 ? Ending::Zeros : above == ones ? Ending::Ones : Ending::More;
    say(byte, static_cast<int>(rest & 0xff), ending);
    if (ending != Ending::More) return;
    ++byte;
  } while (true);
}

// The inverse. It takes exactly the spelling above.
class WordReader {
 public:
  void clear() { *this = {}; }
  // False when the byte cannot stand here, or when it ends a word that is spelled in another way.
  bool push(int byte, int value, Ending ending);
  bool complete() const { return count_ > 0 && spoken_[count_ - 1].ending != Ending::More; }
  std::uint32_t word() const { return word_; }
  int next_byte() const {
    return count_ == 0 ? 0 : spoken_[count_ - 1].byte + 1;
  }  // the lowest that may come

 private:
  struct Spoken {
    int byte, value;
    Ending ending;
    bool operator==(const Spoken&) const = default;
  };
  std::array<Spoken, 4> spoken_{};
  std::size_t count_ = 0;
  std::uint32_t word_ = 0;
};

// The words of four lanes, one after another, or all at once.
class RowReader {
 public:
  // False when the token is not the next byte of the row.
  bool push(const Token& token);
  bool complete() const { return lane_ == Parameters::lanes; }
  const Row& row() const { return row_; }
  int lane() const { return lane_; }
  int next_byte() const { return word_.next_byte(); }

 private:
  Row row_{};
  WordReader word_;
  int lane_ = 0;
  bool all_ = false;  // all lanes at once
};

// What a token that says a byte says it of: a lane's word, what the word of a lane becomes, the word of all
// lanes.
enum class Said { Word, NewWord, AllWords };

// Of tokens that say a byte of a word (a lane, b byte, c value): how they end, and of what it is; nothing for
// other tokens.
struct SaidByte {
  Said what;
  Ending ending;
};
std::optional<SaidByte> said_byte(const Token& token);
// The bits of the word that such a token says: its byte, and the ones above.
std::uint32_t spoken_bits(const Token& token);
// The token that says a byte; lane is 0 for AllWords.
Token byte_token(Said what, int lane, int byte, int value, Ending ending);

}  // namespace qwengpu::isa
