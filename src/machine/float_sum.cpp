// The magnitude of the sum in the window. Four MLPs.
#include <fmt/format.h>

#include <algorithm>

#include "machine/float_stages.h"

namespace qwengpu::machine::float_stages {
namespace {

constexpr int carry_group = 4;
constexpr int width = window_bits + 1;  // bit 79 only takes part in carries

// Two rows instead of three, two places at a time. Where the addend is subtracted, 3 is added to every pair
// so that none is negative: 2^80 - 1 in all, so the sum is one more than these rows say, modulo 2^80.
// Elsewhere nothing is added and zeros stay silent.
struct Rows {
  Signals bits;           // [80] of 0 .. 2
  std::vector<int> most;  // [80]
};
Rows two_rows(Circuit& c, const Window& window, const Linear& subtract) {
  std::vector<int> pair_most(width / 2);
  Rows rows;
  rows.most.resize(width);
  const auto value = [&](int i) { return i < window_bits ? Linear(window.bits[at(i)]) : Linear(0); };
  for (int i = 0; i < width; ++i) {
    // rows of the product, and one of the addend or of the 3
    const int height = 1 + (i < window_bits ? window.rows[at(i)] : 0);
    pair_most[at(i / 2)] += height << (i % 2);
  }
  const auto for_each_digit = [&](const auto& f) {
    for (int pair = 0; pair < width / 2; ++pair)
      for (int digit = 0; pair_most[at(pair)] >> digit != 0; ++digit) f(pair, digit);
  };
  for_each_digit([&](int pair, int digit) { ++rows.most[at(2 * pair + digit)]; });
  for (int i = 0; i < width; ++i)
    rows.bits.push_back(c.bus(fmt::format("rows[{}]", i), {0, static_cast<double>(rows.most[at(i)])}));
  for_each_digit([&](int pair, int digit) {
    const Linear sum = value(2 * pair) + 2 * value(2 * pair + 1) + 3 * subtract;
    add_function(c, rows.bits[at(2 * pair + digit)], sum, pair_most[at(pair)],
                 [digit](int n) { return n >> digit & 1; });
  });
  return rows;
}

// Groups of four places: bits without and with a carry into the group; whether it sends a carry on.
struct Groups {
  Word without, with;          // [80]
  Word generate, propagate;    // [20] in any case; only if one comes in
  std::vector<bool> possible;  // [20] it can generate a carry at all
};
Groups add_groups(Circuit& c, const Rows& rows) {
  Groups out;
  for (int first = 0; first < width; first += carry_group) {
    Linear sum = 0;
    int most = 0;
    for (int place = 0; place < carry_group; ++place) {
      const int i = first + place;
      sum += (1 << place) * Linear(rows.bits[at(i)]);
      most += rows.most[at(i)] << place;
      const auto bit_of = [&](const std::string& name, int carry) -> Linear {
        const Signal bit = c.bus(fmt::format("{}[{}]", name, i));
        add_function(c, bit, sum, most, [=](int n) { return (n + carry) >> place & 1; });
        return bit;
      };
      // Nothing but ones below and here: the sum is the bits themselves.
      out.without.push_back(most < 2 << place ? Linear(rows.bits[at(i)]) : bit_of("without", 0));
      // At a group's lowest place a carry inverts.
      out.with.push_back(place == 0 ? 1 - out.without.back() : bit_of("with", 1));
    }
    constexpr int full = (1 << carry_group) - 1;
    const Signal propagate = c.bus(fmt::format("propagate[{}]", first / carry_group));
    add_function(c, propagate, sum, most, [](int n) { return n == full; });
    out.propagate.push_back(propagate);
    out.possible.push_back(most > full);
    out.generate.push_back(0);
    if (!out.possible.back()) continue;
    const Signal generate = c.bus(fmt::format("generate[{}]", first / carry_group));
    add_function(c, generate, sum, most, [](int n) { return n > full; });
    out.generate.back() = generate;
  }
  return out;
}

// f(gate) for each of the exclusive ways in which a carry comes to group `to`; `carry_in` enters group 0.
void for_each_way(const Groups& parts, std::size_t to, const Linear& carry_in,
                  const std::function<void(const Linear& gate)>& f) {
  Word between;
  for (std::size_t from = to; from-- > 0; between.push_back(parts.propagate[from])) {
    if (!parts.possible[from]) continue;
    Word factors = between;
    factors.push_back(parts.generate[from]);
    f(all(factors));
  }
  between.push_back(carry_in);
  if (carry_in != Linear(0)) f(all(between));
}

}  // namespace

Magnitude add_window(Circuit& c, const Window& window, const Classes& classes) {
  const auto scope = c.scope("sum");
  const Linear subtract = classes.subtract, special = classes.special;
  const Rows rows = two_rows(c, window, subtract);
  const Groups parts = add_groups(c, rows);

  // Where the addend is subtracted, a carry out of the window says that the product outweighs it. Then the
  // sum is rows + 1. Otherwise its magnitude, -(rows + 1), is the complement of the rows.
  Magnitude out;
  out.negative = c.bus("negative");
  c.add(out.negative, 1, subtract);
  for_each_way(parts, parts.propagate.size(), subtract,
               [&](const Linear& gate) { c.add(out.negative, -1, gate); });

  for (std::size_t g = 0; g < parts.propagate.size(); ++g) {
    const auto until = static_cast<std::ptrdiff_t>(g);
    // The carry into this group if none enters group 0, and one more if one does.
    Linear plain = 0, added = subtract;
    if (std::count(parts.possible.begin(), parts.possible.begin() + until, true) > 0) {
      const Signal signal = c.bus(fmt::format("carry[{}]", g));
      for_each_way(parts, g, 0, [&](const Linear& gate) { c.add(signal, 1, gate); });
      plain = signal;
    }
    if (g > 0) {
      Word below(parts.propagate.begin(), parts.propagate.begin() + until);
      below.push_back(subtract);
      added = circuit::and_(c, fmt::format("through[{}]", g), below);
    }
    const Linear carry = plain + added, negative = out.negative;
    const int first = static_cast<int>(g) * carry_group;
    for (int i = first; i < std::min(first + carry_group, window_bits); ++i) {
      const Linear &without = parts.without[at(i)], &with = parts.with[at(i)];
      const Signal bit = c.bus(fmt::format("magnitude[{}]", i));
      c.add(bit, 1, without - carry - negative - special);
      c.add(bit, 1, both(with, carry) - negative - special);
      c.add(bit, 1, negative - plain - without - special);
      if (plain != Linear(0)) c.add(bit, 1, both(negative, plain) - with - special);
      out.bits.push_back(bit);
    }
  }
  return out;
}

}  // namespace qwengpu::machine::float_stages
