#include "machine/adder.h"

#include <fmt/format.h>

#include <algorithm>

namespace qwengpu::machine {
namespace {
constexpr int group_bits = 4;
}

ConditionalSum conditional_sum(Circuit& c, const std::string& name, const Word& a, const Word& b,
                               const Linear& carry_in) {
  const auto scope = c.scope(name);
  const int width = static_cast<int>(a.size());
  ConditionalSum result;
  Word generate, propagate;  // of the groups, exclusive: carries out in any case; only if one comes in

  for (int first = 0; first < width; first += group_bits) {
    const int end = std::min(width, first + group_bits);
    Linear sum = 0;  // of the bits of the group so far, at most 30
    for (int i = first; i < end; ++i) {
      const int place = i - first, weight = 1 << place;
      sum += weight * (a[static_cast<std::size_t>(i)] + b[static_cast<std::size_t>(i)]);
      const int most = 2 * (2 * weight - 1);
      const auto bit_at = [place](int offset) { return [place, offset](int s) { return (s + offset) >> place & 1; }; };
      result.without.push_back(circuit::pwl(c, fmt::format("without[{}]", i), sum, 0, most, bit_at(0)));
      result.with.push_back(circuit::pwl(c, fmt::format("with[{}]", i), sum, 0, most, bit_at(1)));
    }
    const int full = (1 << (end - first)) - 1, most = 2 * full;
    const auto g = static_cast<int>(generate.size());
    generate.push_back(circuit::pwl(c, fmt::format("generate[{}]", g), sum, 0, most, [full](int s) { return s > full; }));
    propagate.push_back(circuit::pwl(c, fmt::format("propagate[{}]", g), sum, 0, most, [full](int s) { return s == full; }));
  }

  // The carry into group g comes from the one group below that generates it with all between propagating: these cases exclude
  // each other, so their sum is a bit.
  for (std::size_t g = 0; g < generate.size(); ++g) {
    const bool possible = g > 0 || !(carry_in == Linear(0));
    const Signal carry = possible ? c.bus(fmt::format("carry[{}]", g)) : Signal{};
    Word between;
    for (std::size_t from = g; from-- > 0; between.push_back(propagate[from])) {
      Word factors = between;
      factors.push_back(generate[from]);
      c.add(carry, 1, all(factors));
    }
    if (!(carry_in == Linear(0))) {
      between.push_back(carry_in);
      c.add(carry, 1, all(between));
    }
    const int first = static_cast<int>(g) * group_bits;
    for (int i = first; i < std::min(width, first + group_bits); ++i)
      result.carry.push_back(possible ? Linear(carry) : Linear(0));
  }
  return result;
}

void add_sum(Circuit& c, const ConditionalSum& sum, int first, const Linear& when, const Signals& bus) {
  for (std::size_t i = 0; i < bus.size(); ++i) {
    const std::size_t s = static_cast<std::size_t>(first) + i;
    c.add(bus[i], 1, all({when, sum.without[s], 1 - sum.carry[s]}));
    c.add(bus[i], 1, all({when, sum.with[s], sum.carry[s]}));
  }
}

void add_sum(Circuit& c, const ConditionalSum& sum, const Linear& when, const Signals& bus) {
  add_sum(c, sum, 0, when, bus);
}

Comparison compare(Circuit& c, const std::string& name, const Word& a, const Word& b, const Linear& is_signed) {
  const auto scope = c.scope(name);
  const int width = static_cast<int>(a.size());
  Comparison result;
  for (int first = 0; first < width; first += group_bits) {
    const auto nibble = [first](const Word& word) { return circuit::number(slice(word, first, group_bits)); };
    const int digit = first / group_bits;
    const Signal less = c.bus(fmt::format("less[{}]", digit)), greater = c.bus(fmt::format("greater[{}]", digit));
    const Linear difference = nibble(b) - nibble(a);
    if (first + group_bits == word_bits) {
      // The top bit of a signed word weighs -8 instead of 8 in its nibble.
      const Linear signed_difference = difference - 16 * b[word_bits - 1] + 16 * a[word_bits - 1];
      add_positive(c, less, difference, 1 - is_signed);
      add_positive(c, less, signed_difference, is_signed);
      add_positive(c, greater, -difference, 1 - is_signed);
      add_positive(c, greater, -signed_difference, is_signed);
    } else {
      add_positive(c, less, difference, 1);
      add_positive(c, greater, -difference, 1);
    }
    result.order += (1 << digit) * (less - Linear(greater));
    result.differs += less + Linear(greater);
  }
  return result;
}

}  // namespace qwengpu::machine
