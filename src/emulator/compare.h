// Holds another source of tokens, the model, against the emulator.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>

namespace qwengpu::emulator {

// Told the last token of the sequence, answers with the next; the first call is told the <GO> that ends the
// prompt.
using TokenSource = std::function<int(int last)>;

struct Difference {
  std::size_t step = 0;  // tokens of the transcript before it
  int expected = 0, got = 0;
  std::string text;  // where it is, both spellings, and the lines before it
};

struct Comparison {
  std::size_t steps = 0;  // tokens that are equal
  bool ended = false;     // with <END>
  std::optional<Difference> difference;
};

// Stops at the first difference, after <END> or after LIMIT tokens.
Comparison compare(std::span<const int> prompt, const TokenSource& source,
                   std::size_t limit = std::numeric_limits<std::size_t>::max());

}  // namespace qwengpu::emulator
